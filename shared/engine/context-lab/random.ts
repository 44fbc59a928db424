/**
 * Randomness from a seed: splitmix32 fills the state, xoshiro128** v1.1 draws. The same seed gives the same draws on every
 * machine, because everything is 32-bit integer arithmetic.
 */
import { item } from './item.ts';

/** next: 0 .. 2^32-1. below(n): 0 .. n-1 without bias, n a whole number from 1 to 2^32. unit: [0, 1). */
export interface Random {
  next(): number;
  below(n: number): number;
  unit(): number;
  /** Throws RangeError for an empty list. */
  pick<Item>(items: readonly Item[]): Item;
  /** A new list in random order (Fisher-Yates). */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** Any finite number is a seed; its lower 32 bits count. */
export function createRandom(seed: number): Random {
  return randomFromState(seedState(seed));
}

/** A seed for a named use, so that two uses of one seed do not walk the same path. */
export function seedFor(seed: number, use: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < use.length; index++) hash = Math.imul(hash ^ use.charCodeAt(index), 0x01000193) >>> 0;
  return splitMix(hash).out;
}

export type RandomState = readonly [number, number, number, number];

/** The four state words that a seed expands to. */
export function seedState(seed: number): RandomState {
  const first = splitMix(seed >>> 0);
  const second = splitMix(first.next);
  const third = splitMix(second.next);
  const fourth = splitMix(third.next);
  return [first.out, second.out, third.out, fourth.out];
}

export function randomFromState(state: RandomState): Random {
  let [s0, s1, s2, s3] = state;
  const next = (): number => {
    const drawn = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = rotateLeft(s3, 11);
    return drawn;
  };
  const below = (n: number): number => {
    if (!Number.isInteger(n) || n < 1 || n > TWO_32)
      throw new RangeError(`below(n) needs a whole number from 1 to 2^32: ${n}`);
    const limit = TWO_32 - (TWO_32 % n);
    let drawn = next();
    while (drawn >= limit) drawn = next();
    return drawn % n;
  };
  return {
    next,
    below,
    unit: () => next() / TWO_32,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return item(items, below(items.length));
    },
    shuffle: (items) => {
      const mixed = [...items];
      for (let index = mixed.length - 1; index > 0; index--) {
        const other = below(index + 1);
        const kept = item(mixed, index);
        mixed[index] = item(mixed, other);
        mixed[other] = kept;
      }
      return mixed;
    },
  };
}

const TWO_32 = 4_294_967_296;

const rotateLeft = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

function splitMix(state: number): { out: number; next: number } {
  const next = (state + 0x9e3779b9) >>> 0;
  let mixed = next ^ (next >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  mixed ^= mixed >>> 15;
  return { out: mixed >>> 0, next };
}
