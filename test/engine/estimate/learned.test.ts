import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  type LearnedRatio,
  estimateMessages,
  estimateText,
  learnRatio,
} from '../../../shared/engine/estimate/estimate.ts';

const sample = (countedTokens: number, tableTokens = 1_000): Parameters<typeof learnRatio>[1] => ({
  script: 'latin',
  tableTokens,
  countedTokens,
});
const learn = (...counts: readonly number[]): LearnedRatio =>
  counts.reduce<LearnedRatio>((ratio, one) => learnRatio(ratio, sample(one)), { scripts: {} });
const prose = 'Requests about parking are answered by the desk within two working days. '.repeat(200);

describe('what one model teaches', () => {
  test('moves the likely count to what was counted', () => {
    const { total, script, tableTokens } = estimateMessages([{ content: prose }]);
    // Three different texts: the same one again says nothing new.
    const learned = [1, 2, 3].reduce<LearnedRatio | null>(
      (ratio, part) =>
        learnRatio(ratio, {
          script,
          tableTokens: tableTokens / part,
          countedTokens: Math.round((tableTokens / part) * 1.3),
        }),
      null,
    );
    const after = estimateMessages([{ content: prose }], learned).total;
    expect(after.source).toBe('learned');
    expect(Math.abs(after.likely / (total.likely * 1.3) - 1)).toBeLessThan(0.01);
    expect(after.high - after.low).toBeLessThan((total.high - total.low) * 1.3);
  });

  test('says nothing about another script', () => {
    expect(estimateText('今日は天気がいい'.repeat(50), learn(1_300, 1_300)).source).toBe('script-table');
  });

  test.each([
    ['too short to tell text from template', sample(63)],
    ['four times off, which no vocabulary is', sample(4_100)],
    ['a quarter, which is a cut prompt', sample(240)],
    ['no number', sample(Number.NaN)],
    ['infinite', sample(1_000, Number.POSITIVE_INFINITY)],
  ])('not learned: %s', (_, one) => {
    const before = learn(1_200);
    expect(learnRatio(before, one)).toBe(before);
    expect(learnRatio(null, one)).toEqual({ scripts: {} });
  });

  test('is bounded, keeps its band ordered and survives storage as JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 64, max: 4_000 }), { maxLength: 60 }), (counts) => {
        const learned = JSON.parse(JSON.stringify(learn(...counts))) as LearnedRatio;
        const ratio = learned.scripts.latin;
        if (ratio !== undefined) {
          expect([ratio.factor >= 0.25, ratio.factor <= 4, ratio.weight <= 20]).toEqual([true, true, true]);
        }
        const { low, likely, high } = estimateText(prose, learned);
        expect(low <= likely && likely <= high).toBe(true);
        // Verdicts rest on the low side, so learning never raises it.
        expect(low).toBeLessThanOrEqual(estimateText(prose).low);
      }),
    );
  });

  test('holds its pessimistic side over the samples it learned from, once they agree', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.4, max: 2.5, noNaN: true }),
        fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), { minLength: 6, maxLength: 30 }),
        (factor, noise) => {
          const table = estimateMessages([{ content: prose }]);
          const counts = noise.map((one) => Math.round(table.tableTokens * factor * one));
          const learned = counts.reduce<LearnedRatio | null>(
            (ratio, countedTokens) =>
              learnRatio(ratio, { script: table.script, tableTokens: table.tableTokens, countedTokens }),
            null,
          );
          expect(estimateMessages([{ content: prose }], learned).total.high).toBeGreaterThanOrEqual(
            Math.max(...counts) * 0.99,
          );
        },
      ),
    );
  });

  test('a broken stored ratio is not used', () => {
    expect(estimateText(prose, { scripts: { latin: { factor: 0, spread: 0, weight: 3 } } }).source).toBe(
      'script-table',
    );
    expect(estimateText(prose, { scripts: { latin: { factor: Number.NaN, spread: 0, weight: 3 } } }).source).toBe(
      'script-table',
    );
  });
});
