import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  barsOf,
  endedPoints,
  laneTop,
  livePoints,
  pointAt,
  tickText,
  timeScale,
  totalOf,
} from '../../../renderer/charts/burn-model.ts';
import type { BurnCall, SeenPoint } from '../../../renderer/charts/burn-model.ts';

const call = (patch: Partial<BurnCall>): BurnCall => ({
  ttftMs: 1_000,
  wallMs: 11_000,
  tokens: 0,
  thinking: 0,
  leaked: 0,
  hidden: 0,
  answer: 0,
  ...patch,
});

const parts = fc.record({
  thinking: fc.integer({ min: 0, max: 5_000 }),
  leaked: fc.integer({ min: 0, max: 5_000 }),
  hidden: fc.integer({ min: 0, max: 5_000 }),
  answer: fc.integer({ min: 0, max: 5_000 }),
});
const steps = fc.array(fc.record({ ms: fc.integer({ min: 1, max: 900 }), thinking: fc.nat(20), answer: fc.nat(20) }), {
  maxLength: 60,
});

/** A course that rises, as the store keeps it. */
function seenOf(list: readonly { ms: number; thinking: number; answer: number }[]): SeenPoint[] {
  let [atMs, thinkingChunks, answerChunks] = [1_000, 0, 0];
  return list.map((step) => {
    atMs += step.ms;
    thinkingChunks += step.thinking;
    answerChunks += step.answer;
    return { atMs, thinkingChunks, answerChunks };
  });
}

describe('a call that ended', () => {
  test('seen or not, it ends with the parts of the reading, and no part ever falls', () => {
    fc.assert(
      fc.property(parts, steps, (split, list) => {
        const seen = seenOf(list);
        const points = endedPoints(call({ ...split, wallMs: (seen.at(-1)?.atMs ?? 1_000) + 10_000 }), seen);
        if (totalOf(split) === 0) return expect(points).toEqual([]);
        const { atMs: _atMs, ...last } = points.at(-1) ?? { atMs: 0 };
        expect(last).toEqual(split);
        for (const name of ['thinking', 'leaked', 'hidden', 'answer'] as const)
          for (const [index, point] of points.entries())
            expect(point[name]).toBeGreaterThanOrEqual((points[index - 1]?.[name] ?? 0) - 1e-6);
      }),
    );
  });

  test('not seen: nothing before the first token, thinking before the answer, straight in between', () => {
    const points = endedPoints(call({ thinking: 800, answer: 200 }), []);
    expect(totalOf(pointAt(points, 999))).toBe(0);
    expect(pointAt(points, 6_000)).toMatchObject({ thinking: 500, answer: 0 });
    expect(pointAt(points, 10_000)).toMatchObject({ thinking: 800, answer: 100 });
  });

  test('seen: it follows the chunks, stretched to the count of the server', () => {
    const points = endedPoints(call({ thinking: 200, answer: 100 }), [
      { atMs: 2_000, thinkingChunks: 50, answerChunks: 0 },
      { atMs: 3_000, thinkingChunks: 100, answerChunks: 0 },
      { atMs: 4_000, thinkingChunks: 100, answerChunks: 50 },
    ]);
    expect(pointAt(points, 2_000)).toMatchObject({ thinking: 100, answer: 0 });
    expect(pointAt(points, 3_500)).toMatchObject({ thinking: 200, answer: 50 });
  });

  test('thinking that leaked into the answer comes before the answer itself', () => {
    const points = endedPoints(call({ leaked: 60, answer: 40 }), [
      { atMs: 2_000, thinkingChunks: 0, answerChunks: 50 },
      { atMs: 3_000, thinkingChunks: 0, answerChunks: 100 },
    ]);
    expect(pointAt(points, 2_000)).toMatchObject({ leaked: 50, answer: 0 });
    expect(pointAt(points, 3_000)).toMatchObject({ leaked: 60, answer: 40 });
  });
});

test('a call under way that was not seen from its beginning starts at 0', () => {
  const late = [{ atMs: 60_000, thinkingChunks: 3_000, answerChunks: 0 }];
  expect(totalOf(pointAt(livePoints(late, false), 30_000))).toBe(1_500);
  expect(livePoints([{ atMs: 900, thinkingChunks: 2, answerChunks: 0 }], false)).toHaveLength(1);
});

test('what looks like leaking thinking is drawn as that', () => {
  const [point] = livePoints([{ atMs: 900, thinkingChunks: 1, answerChunks: 9 }], true);
  expect(point).toMatchObject({ thinking: 1, leaked: 9, answer: 0 });
});

test('bars never show more than had come, and stop at the end of the lane', () => {
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 4_000 }), (split, stepMs) => {
      const points = endedPoints(call(split), []);
      const bars = barsOf(points, 11_000, stepMs);
      expect(bars.length).toBeLessThanOrEqual(600);
      for (const bar of bars) {
        expect(bar.toMs).toBeLessThanOrEqual(11_000);
        expect(totalOf(bar.point)).toBeLessThanOrEqual(totalOf(split) + 1e-6);
      }
    }),
  );
});

test('the time scale holds every lane and has at most nine ticks', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e13, noNaN: true }), { maxLength: 5 }), (ends) => {
      const { spanMs, ticksMs } = timeScale(ends.map((endMs) => ({ endMs })));
      for (const endMs of ends) expect(endMs).toBeLessThanOrEqual(spanMs);
      expect(ticksMs.length).toBeLessThanOrEqual(9);
      expect(ticksMs.length).toBeGreaterThan(1);
    }),
  );
  expect(timeScale([{ endMs: 216_800 }]).ticksMs).toEqual([
    0, 30_000, 60_000, 90_000, 120_000, 150_000, 180_000, 210_000,
  ]);
});

test('ticks say their unit', () => {
  expect([tickText(500, 2_000), tickText(30_000, 200_000), tickText(120_000, 900_000)]).toEqual([
    '0.5 s',
    '30 s',
    '2 min',
  ]);
});

test('the cap is the ceiling, unless the reply stays far below it or two steps go above', () => {
  const points = (total: number): { points: ReturnType<typeof endedPoints>; capTokens: number } => ({
    capTokens: 8_000,
    points: endedPoints(call({ answer: total }), []),
  });
  expect([8_000, 3_000, 100, 9_000, 0].map((total) => laneTop(points(total)))).toEqual([
    8_000, 8_000, 125, 9_000, 8_000,
  ]);
});
