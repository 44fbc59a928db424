/** The cap search against models whose need is known. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CapBounds, type CapState, createCapFinder } from '../../../shared/engine/reasoning-lab/cap-finder.ts';

const search: CapBounds = { capMin: 16, capMax: 8_000, inARow: 3, within: 1, runsMax: 1_000 };

/** Walks the search; `answers` decides each run. */
function walk(of: CapBounds, answers: (cap: number, seedOffset: number) => boolean): { end: CapState; caps: number[] } {
  const finder = createCapFinder(of);
  const caps: number[] = [];
  for (
    let state = finder.state;
    state.kind === 'run';
    state = finder.next(answers(state.cap, state.seedOffset) ? 'answered' : 'not-answered')
  ) {
    caps.push(state.cap);
    if (caps.length > 100_000) throw new Error('the search does not end');
  }
  return { end: finder.state, caps };
}

test('property: finds exactly the need of a model that always needs the same, in few runs', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9_000 }), fc.integer({ min: 1, max: 5 }), (need, inARow) => {
      const { end, caps } = walk({ ...search, inARow }, (cap) => cap >= need);
      if (need > search.capMax) {
        expect(end).toEqual({ kind: 'not-found', runsMade: 1 });
        return;
      }
      const cap = Math.max(search.capMin, need);
      expect(end).toEqual({
        kind: 'found',
        cap,
        notEnough: cap === search.capMin ? null : cap - 1,
        runsMade: caps.length,
      });
      // Both ends and log2 of what lies between.
      expect(caps.length).toBeLessThanOrEqual(inARow * (2 + Math.ceil(Math.log2(8_000))));
    }),
  );
});

test('a cap counts only after so many answers in a row; the first failure ends its tries', () => {
  const { end, caps } = walk(
    { ...search, capMax: 64 },
    (cap, seedOffset) => cap >= 60 || (cap >= 30 && seedOffset % 3 !== 2),
  );
  expect(end).toMatchObject({ kind: 'found' });
  expect(caps.slice(0, 3)).toEqual([64, 64, 64]);
  expect(caps[3]).toBe(16);
});

test('every run gets a seed of its own', () => {
  const seeds: number[] = [];
  walk(search, (cap, seedOffset) => {
    seeds.push(seedOffset);
    return cap >= 500;
  });
  expect(seeds).toEqual([...seeds.keys()]);
});

test('property: whatever comes back, the search ends within its bound and never says what it did not see', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1, max: 60 }),
      (outcomes, runsMax) => {
        const seen = new Map<number, boolean[]>();
        const { end, caps } = walk({ ...search, runsMax }, (cap, index) => {
          const answered = outcomes[index % outcomes.length] === true;
          seen.set(cap, [...(seen.get(cap) ?? []), answered]);
          return answered;
        });
        expect(caps.length).toBeLessThanOrEqual(runsMax);
        if (end.kind === 'run') throw new Error('still running');
        expect(end.runsMade).toBe(caps.length);
        const cap = end.kind === 'not-found' ? null : end.cap;
        if (cap !== null) expect(seen.get(cap)).toEqual([true, true, true]);
      },
    ),
  );
});

test('a wider end is enough where nobody needs the last token', () => {
  const { end } = walk({ ...search, within: 100 }, (cap) => cap >= 1_000);
  if (end.kind !== 'found') throw new Error(end.kind);
  expect(end.cap - (end.notEnough ?? 0)).toBeLessThanOrEqual(100);
  expect(end.cap).toBeGreaterThanOrEqual(1_000);
});

test('asking on after the end is a bug', () => {
  const finder = createCapFinder({ ...search, capMin: 5, capMax: 5, inARow: 1 });
  expect(finder.next('answered')).toEqual({ kind: 'found', cap: 5, notEnough: null, runsMade: 1 });
  expect(() => finder.next('answered')).toThrow('Broken rule');
});
