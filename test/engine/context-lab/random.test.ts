import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { createRandom, randomFromState, seedFor, seedState } from '../../../shared/engine/context-lab/random.ts';

interface Golden {
  readonly xoshiro_state_1_2_3_4: number[];
  readonly seeds: {
    readonly seed: number;
    readonly state: number[];
    readonly next16: number[];
    readonly intBelow9: number[];
    readonly intBelow40: number[];
    readonly intBelow3e9: number[];
    readonly unit4: number[];
    readonly next_10000th: number;
  }[];
}
const golden = JSON.parse(readFileSync(new URL('../../golden/prng.json', import.meta.url), 'utf8')) as Golden;

describe('the golden vectors', () => {
  test('xoshiro128** v1.1 from state 1, 2, 3, 4', () => {
    const random = randomFromState([1, 2, 3, 4]);
    expect(golden.xoshiro_state_1_2_3_4.map(() => random.next())).toEqual(golden.xoshiro_state_1_2_3_4);
  });

  test.each(golden.seeds)('seed $seed', (row) => {
    expect(seedState(row.seed)).toEqual(row.state);
    const raw = createRandom(row.seed);
    expect(row.next16.map(() => raw.next())).toEqual(row.next16);
    for (let drawn = row.next16.length; drawn < 9_999; drawn++) raw.next();
    expect(raw.next()).toBe(row.next_10000th);
    const draw = (n: number, count: number): number[] => {
      const random = createRandom(row.seed);
      return Array.from({ length: count }, () => random.below(n));
    };
    expect(draw(9, row.intBelow9.length)).toEqual(row.intBelow9);
    expect(draw(40, row.intBelow40.length)).toEqual(row.intBelow40);
    expect(draw(3_000_000_000, row.intBelow3e9.length)).toEqual(row.intBelow3e9);
    const units = createRandom(row.seed);
    expect(row.unit4.map(() => units.unit())).toEqual(row.unit4);
  });
});

test('bounded numbers stay below their bound, and every one of a few comes up', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 2 ** 32 }), (seed, n) => {
      const random = createRandom(seed);
      for (let draw = 0; draw < 20; draw++) {
        const drawn = random.below(n);
        expect(Number.isInteger(drawn) && drawn >= 0 && drawn < n).toBe(true);
      }
    }),
  );
  const random = createRandom(5);
  expect(new Set(Array.from({ length: 200 }, () => random.below(6))).size).toBe(6);
});

test('a bound that is no whole number from 1 to 2^32 is a bug', () => {
  for (const bound of [0, -1, 1.5, Number.NaN, 2 ** 32 + 1])
    expect(() => createRandom(1).below(bound)).toThrow(RangeError);
});

test('a shuffle keeps every item, leaves the list alone and follows the seed', () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(fc.integer(), { maxLength: 50 }), (seed, items) => {
      const before = [...items];
      const mixed = createRandom(seed).shuffle(items);
      expect(items).toEqual(before);
      expect([...mixed].sort((a, b) => a - b)).toEqual([...items].sort((a, b) => a - b));
      expect(createRandom(seed).shuffle(items)).toEqual(mixed);
    }),
  );
});

test('two uses of one seed are two paths', () => {
  expect(seedFor(7, 'needles')).not.toBe(seedFor(7, 'filler'));
  expect(seedFor(7, 'needles')).not.toBe(seedFor(8, 'needles'));
});
