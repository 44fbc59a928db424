/** The law by itself, at its edges. What it does inside a store is in the properties. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AMOUNT_MAX } from '../../../shared/contract/plans.ts';
import {
  brokenRuleOf,
  chargeOf,
  crossingsOf,
  effectiveLimit,
  limitMaxAfter,
  refusalOf,
  rollingFrom,
} from '../../../shared/engine/ledger/decide.ts';
import { lineFor, resolveAsk } from './ledger-world.ts';

const start = Date.parse('2026-11-14T22:44:02Z');
const DAY = 1;
const MODEL_MINUTE = 4;
const line = (kind: number, amount: number, limit: number | null): ReturnType<typeof lineFor> =>
  lineFor({ book: 'real', tenant: 0, user: 0, model: 0 }, kind, amount, limit, start);
const standing = { granted: 0, spent: 0, held: 0, earliestExpiryMs: null };

describe('whether a line fits', () => {
  test.each([
    [100, 60, 30, 10, 0, true],
    [100, 60, 30, 11, 0, false],
    [100, 60, 30, 11, 1, true],
    [0, 0, 0, 0, 0, true],
    [0, 0, 0, 1, 0, false],
    [100, 120, 0, 0, 0, false],
    [null, 120, 5, 1, 0, true],
    [null, AMOUNT_MAX - 1, 1, 0, 0, true],
    [null, AMOUNT_MAX - 1, 1, 1, 0, false],
    [AMOUNT_MAX, AMOUNT_MAX, 0, 1, 5, false],
  ])('limit %s, spent %i, held %i, needed %i, granted %i: %s', (limit, spent, held, amount, granted, fits) => {
    const refusal = refusalOf(line(DAY, amount, limit), 3, { ...standing, granted, spent, held });
    expect(refusal === null).toBe(fits);
    if (refusal !== null) {
      expect(refusal).toEqual({
        index: 3,
        limit: limit === null ? AMOUNT_MAX : Math.min(AMOUNT_MAX, limit + granted),
        spent,
        held,
        earliestExpiryMs: null,
        freeAtMs: null,
      });
    }
  });

  test('a rolling minute names the first second at which it would fit, found by trying every one', () => {
    const bucket = fc.record({ second: fc.nat(60), spent: fc.nat(20), held: fc.nat(20) });
    const now = Math.floor(start / 1_000);
    fc.assert(
      fc.property(
        fc.uniqueArray(bucket, { selector: ({ second }) => second, maxLength: 8 }),
        fc.nat(60),
        fc.nat(60),
        (ages, limit, amount) => {
          const buckets = ages.map((one) => ({ ...one, second: now - one.second }));
          const usedAt = (second: number): number =>
            buckets.filter((one) => one.second > second - 61).reduce((sum, one) => sum + one.spent + one.held, 0);
          const refusal = refusalOf(line(MODEL_MINUTE, amount, limit), 0, {
            ...standing,
            spent: usedAt(now),
            buckets,
          });
          let second = now;
          while (second <= now + 61 && usedAt(second) + amount > limit) second += 1;
          const free = second > now + 61 ? null : second * 1_000;
          if (second === now) expect(refusal).toBeNull();
          else expect(refusal?.freeAtMs).toBe(free);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('the minute begins 60 whole seconds back, so that any part of the oldest still counts', () => {
    expect(rollingFrom(120_000)).toBe(60);
    expect(rollingFrom(120_999)).toBe(60);
    expect(rollingFrom(121_000)).toBe(61);
  });
});

describe('what a resolution charges', () => {
  const hold = { id: 'h', book: 'real', tenant: 'acme' } as const;
  test.each([
    ['settle', 7, { amount: 7, overrun: 0 }],
    ['settle', 10, { amount: 10, overrun: 0 }],
    ['settle', 13, { amount: 13, overrun: 3 }],
    ['settle', 0, { amount: 0, overrun: 0 }],
    ['void', 0, { amount: 0, overrun: 0 }],
    ['forfeit', 0, { amount: 10, overrun: 0 }],
    ['expire', 0, { amount: 10, overrun: 0 }],
  ] as const)('%s of %i', (operation, tokens, charge) => {
    expect(chargeOf({ unit: 'tokens', amount: 10 }, resolveAsk(hold, operation, tokens, start))).toEqual(charge);
  });

  test.each([-1, NaN, 0.5, AMOUNT_MAX + 1, Infinity])('never %s', (tokens) => {
    expect(() => chargeOf({ unit: 'tokens', amount: 10 }, resolveAsk(hold, 'settle', tokens, start))).toThrow(
      'Broken rule',
    );
  });
});

describe('what must hold of an account', () => {
  const sound = { key: 'k', spent: 70, held: 30, overrun: 0, limitMax: 100 };
  test.each([
    [{}, null],
    [{ held: 31 }, /over the limit 100/],
    [{ held: 31, overrun: 1 }, null],
    [{ held: 32, overrun: 1 }, /over the limit 100 with an overrun of 1/],
    [{ held: 1_000, limitMax: null }, null],
    [{ spent: -1 }, /spent is -1/],
    [{ held: -1 }, /held is -1/],
    [{ overrun: -1 }, /overrun is -1/],
    [{ spent: 0.5 }, /spent is 0.5/],
    [{ held: NaN }, /held is NaN/],
    [{ spent: 2 ** 53, limitMax: null }, /spent is/],
  ])('%o', (change, broken) => {
    const found = brokenRuleOf({ ...sound, ...change });
    if (broken === null) expect(found).toBeNull();
    else expect(found).toMatch(broken);
  });

  test.each([
    [undefined, 5, 5],
    [undefined, null, null],
    [5, 3, 5],
    [5, 8, 8],
    [5, null, null],
    [null, 3, null],
  ])('the largest limit after %s and %s is %s', (before, limit, after) => {
    expect(limitMaxAfter(before, limit)).toBe(after);
  });

  test('a grant comes on top of a limit, never on top of none, and never over the largest amount', () => {
    expect(effectiveLimit({ limit: 100, granted: 20 })).toBe(120);
    expect(effectiveLimit({ limit: null, granted: 20 })).toBeNull();
    expect(effectiveLimit({ limit: AMOUNT_MAX, granted: 20 })).toBe(AMOUNT_MAX);
  });
});

test('a threshold is told where it is reached, once, and counts what was granted', () => {
  const { account, key } = line(DAY, 0, 100);
  const percents = (spent: number, limit: number | null, granted: number, raised: readonly number[] = []): number[] =>
    crossingsOf({
      account,
      key,
      limit,
      granted,
      spent,
      held: 500,
      overrun: 0,
      endsAtMs: null,
      timeZone: 'UTC',
      alerts: [50, 80, 100].map((percent) => ({ percent, raised: raised.includes(percent) })),
    }).map((crossing) => crossing.percent);
  expect(percents(49, 100, 0)).toEqual([]);
  expect(percents(50, 100, 0)).toEqual([50]);
  expect(percents(99, 100, 0)).toEqual([50, 80]);
  expect(percents(100, 100, 0)).toEqual([50, 80, 100]);
  expect(percents(100, 100, 100)).toEqual([50]);
  expect(percents(100, 100, 0, [50, 80])).toEqual([100]);
  expect(percents(100, 100, 0, [50, 80, 100])).toEqual([]);
  expect(percents(100, null, 0)).toEqual([]);
  expect(percents(0, 0, 0)).toEqual([]);
  expect(percents(AMOUNT_MAX - 1, AMOUNT_MAX, 0)).toEqual([50, 80]);
});
