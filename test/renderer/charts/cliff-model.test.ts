import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LINES_MAX, POINTS_MAX, cliffModel, decimate, ticksBetween } from '../../../renderer/charts/cliff-model.ts';
import type { CliffPoint, CliffSeries } from '../../../renderer/charts/cliff-model.ts';

const point = (sent: number, evaluated: number, window: number | null, cut: boolean): CliffPoint => ({
  key: `${sent}/${window}`,
  sent,
  sentLow: sent,
  sentHigh: sent,
  evaluated,
  window,
  cut,
});

const series = fc.array(
  fc.record({
    key: fc.string(),
    name: fc.string(),
    points: fc.array(
      fc
        .tuple(
          fc.integer({ min: 0, max: 2_000_000 }),
          fc.integer({ min: 0, max: 2_000_000 }),
          fc.option(fc.integer({ min: 1, max: 1_000_000 })),
          fc.boolean(),
        )
        .map((parts) => point(...parts)),
      { maxLength: 300 },
    ),
  }),
  { maxLength: 30 },
);

describe('cliff', () => {
  test('the picture: along the diagonal to the window, straight down, then flat', () => {
    const model = cliffModel([
      {
        key: 'default',
        name: 'window default',
        points: [
          point(666, 666, 4_096, false),
          point(3_204, 3_204, 4_096, false),
          point(12_920, 2_051, 4_096, true),
          point(38_980, 2_051, 4_096, true),
        ],
      },
      {
        key: '40960',
        name: 'window 40,960',
        points: [point(38_980, 38_980, 40_960, false), point(666, 666, 40_960, false)],
      },
    ]);
    expect(model.lines.map(({ path, fallsTo }) => ({ path, fallsTo }))).toEqual([
      {
        path: [
          [666, 666],
          [3_204, 3_204],
          [4_096, 4_096],
          [4_096, 2_051],
          [12_920, 2_051],
          [38_980, 2_051],
        ],
        fallsTo: 2_051,
      },
      {
        path: [
          [666, 666],
          [38_980, 38_980],
        ],
        fallsTo: null,
      },
    ]);
    expect(model.windows).toEqual([4_096, 40_960]);
    expect(model.summary).toBe(
      'Tokens evaluated against tokens sent: at 4,096 the count falls to 2,051; at 40,960 nothing is lost.',
    );
  });

  test('what was refused stands on the axis and in the sentence, also when nothing was evaluated at all', () => {
    const refusals = [{ key: 'a', sent: 9_062, window: 4_096 }];
    const mixed = cliffModel([{ key: 'w', name: 'w', points: [point(666, 666, 4_096, false)], refusals }]);
    expect(mixed.refusals).toEqual(refusals);
    expect(mixed.to).toBeGreaterThan(9_062);
    expect(mixed.summary).toMatch(/at 4,096 nothing is lost\. 1 refused, from 9,062 tokens up\.$/u);
    expect(cliffModel([{ key: 'w', name: 'w', points: [], refusals }]).summary).toBe(
      '1 refused, from 9,062 tokens up.',
    );
  });

  test('without a known window nothing is made up: points are joined as they are', () => {
    const [line] = cliffModel([
      { key: 'a', name: 'a', points: [point(100, 100, null, false), point(9_000, 2_000, null, true)] },
    ]).lines;
    expect(line?.path).toEqual([
      [100, 100],
      [9_000, 2_000],
    ]);
  });

  test('however much comes in, what is drawn is bounded and inside of the frame', () => {
    fc.assert(
      fc.property(series, (all: CliffSeries[]) => {
        const model = cliffModel(all);
        expect(model.lines.length).toBeLessThanOrEqual(LINES_MAX);
        expect(model.pointsDrawn).toBeLessThanOrEqual(POINTS_MAX);
        expect(model.pointsAll).toBe(all.reduce((sum, { points }) => sum + points.length, 0));
        expect(model.from).toBeGreaterThan(0);
        expect(model.to).toBeGreaterThan(model.from);
        for (const { points } of model.lines)
          for (const { sent, evaluated } of points)
            expect(Math.min(sent, evaluated) >= model.from && Math.max(sent, evaluated) <= model.to).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('an empty chart says so', () => {
    expect(cliffModel([]).summary).toBe('No call has ended yet.');
  });

  test('thinning keeps both ends', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { minLength: 1, maxLength: 500 }),
        fc.integer({ min: 2, max: 60 }),
        (items, most) => {
          const kept = decimate(items, most);
          expect([kept.length, kept[0], kept.at(-1)]).toEqual([Math.min(items.length, most), items[0], items.at(-1)]);
        },
      ),
    );
  });

  test('ticks are 1, 2 and 5 times the powers of ten', () => {
    expect(ticksBetween(300, 12_000)).toEqual([500, 1_000, 2_000, 5_000, 10_000]);
  });
});
