import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextCell } from '../../../shared/contract/experiments.ts';
import type { CallSummary } from '../../../shared/contract/calls.ts';
import { labRows, rowFigures } from '../../../renderer/pages/context/lab-rows.ts';
import { labOf } from '../../../renderer/pages/context/trials.ts';
import { cutSize, endedCell, sweepCells, tokensOf } from './make-cells.ts';

const sweeps = fc.record({
  windows: fc.uniqueArray(fc.option(fc.integer({ min: 256, max: 60_000 })), { minLength: 1, maxLength: 4 }),
  sizes: fc.uniqueArray(fc.integer({ min: 400, max: 400_000 }), { minLength: 1, maxLength: 6 }),
  repeats: fc.integer({ min: 1, max: 4 }),
  warmUp: fc.boolean(),
  models: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
});

describe('trials', () => {
  test('every cell stands in exactly one trial or is a warm-up, in running order, whatever the order they came in', () => {
    fc.assert(
      fc.property(sweeps, fc.infiniteStream(fc.nat()), (sweep, numbers) => {
        const cells = sweepCells(sweep);
        const shuffled = cells
          .map((cell) => [numbers.next().value ?? 0, cell] as const)
          .sort((a, b) => a[0] - b[0])
          .map(([, cell]) => cell);
        const lab = labOf(shuffled);
        const placed = [...lab.warmUps, ...lab.trials.flatMap(({ readings }) => readings)].map(({ cell }) => cell);
        expect(placed.map(({ plan }) => plan.key).sort()).toEqual(cells.map(({ plan }) => plan.key).sort());
        expect(lab.trials.every(({ readings }) => readings.length === sweep.repeats)).toBe(true);
        const order = lab.trials.map(({ plan }) => plan.index);
        expect(order).toEqual([...order].sort((a, b) => a - b));
        expect(labOf(cells)).toEqual(lab);
      }),
      { numRuns: 50 },
    );
  });

  test('what was lost is counted where the same text went whole elsewhere, else estimated', () => {
    fc.assert(
      fc.property(sweeps, (sweep) => {
        const cells = sweepCells(sweep);
        for (const trial of labOf(cells).trials)
          for (const { cell, sent, lost } of trial.readings) {
            const whole = tokensOf(cell.plan.size as number) + cell.plan.repeat;
            const known = sweep.windows.some((window) => whole <= (window ?? 4_096));
            const read = cell.call?.promptEvalCount ?? -1;
            expect(sent?.counted).toBe(known);
            expect(lost).toEqual({
              tokens: known ? whole - read : whole + 3 - read,
              counted: known,
              atLeast: false,
            });
          }
      }),
      { numRuns: 50 },
    );
  });

  test('the text of another seed is another text: its count is not borrowed', () => {
    const cut = endedCell({ model: 'm', window: 1_000, size: 40_000, repeat: 0, warmUp: false });
    const whole = endedCell({ model: 'm', window: 20_000, size: 40_000, repeat: 1, warmUp: false });
    const [trial] = labOf([cut, whole]).trials;
    expect(trial?.shown.sent).toMatchObject({ counted: false });
  });

  test('an unsure "intact" counts nothing', () => {
    const cut = endedCell({ model: 'm', window: 1_000, size: 40_000, repeat: 0, warmUp: false });
    const whole = endedCell({ model: 'm', window: 20_000, size: 40_000, repeat: 0, warmUp: false });
    const unsure = changed(whole, (call) => ({ truncation: { ...call.truncation, confidence: 'likely', sent: null } }));
    expect(labOf([cut, unsure]).trials[0]?.shown.sent?.counted).toBe(false);
  });

  test('the worst reading stands for the trial; every repeat keeps its mark', () => {
    const cells = [0, 1, 2].map((repeat) =>
      endedCell({ model: 'm', window: 1_000, size: 40_000, repeat, warmUp: false }),
    );
    const mixed = cells.map((cell, index) => changed(cell, () => ({ needle: index === 1 ? 'invented' : 'lost' })));
    const [trial] = labOf(mixed).trials;
    expect(trial?.marks).toEqual(['lost', 'invented', 'lost']);
    expect(trial?.shown.cell.plan.repeat).toBe(1);
  });

  test('unknown stays unknown: a reply without a count loses nothing that can be told', () => {
    const cell = changed(endedCell({ model: 'm', window: 1_000, size: 40_000, repeat: 0, warmUp: false }), (call) => ({
      promptEvalCount: null,
      truncation: { ...call.truncation, kinds: ['unknown'], kept: null, lost: null },
    }));
    expect(labOf([cell]).trials[0]?.shown.lost).toBeNull();
  });
});

describe('rows', () => {
  test('warm-ups are rows of their own and never part of an average', () => {
    const cells = sweepCells({ windows: [1_000], sizes: [2_000], repeats: 2, warmUp: true }).map((cell) =>
      changed(cell, () => ({
        timeToFirstTokenMs: (cell.plan.warmUp ? 9_000 : 100) as CallSummary['timeToFirstTokenMs'],
      })),
    );
    const rows = labRows(labOf(cells), 'trial');
    expect(rows.map((row) => [row.trial === null, rowFigures.firstTokenMs(row)])).toEqual([
      [false, 100],
      [true, 9_000],
    ]);
  });

  test('newest on top; keys are unique; a row each call says which repeat it is', () => {
    fc.assert(
      fc.property(sweeps, fc.constantFrom('trial' as const, 'call' as const), (sweep, each) => {
        const cells = sweepCells(sweep);
        const rows = labRows(labOf(cells), each);
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
        expect(rows.map(({ order }) => order)).toEqual(rows.map(({ order }) => order).sort((a, b) => b - a));
        if (each === 'call') expect(rows).toHaveLength(cells.length);
      }),
      { numRuns: 40 },
    );
  });

  test('a missing duration is no rate', () => {
    const cell = changed(endedCell({ model: 'm', window: null, size: 2_000, repeat: 0, warmUp: false }), () => ({
      promptEvalDurationMs: null,
    }));
    const [row] = labRows(labOf([cell]), 'trial');
    expect(row === undefined ? 'no row' : rowFigures.promptRate(row)).toBeNull();
  });
});

test('the cut of this test is the one of the servers it follows', () => {
  expect(cutSize(4_096)).toBe(2_051);
});

function changed(cell: ContextCell, patch: (call: CallSummary) => Partial<CallSummary>): ContextCell {
  return cell.call === null ? cell : { ...cell, call: { ...cell.call, ...patch(cell.call) } };
}
