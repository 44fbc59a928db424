import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stormAskSchema } from '../../../shared/contract/ledger.ts';
import {
  costWord,
  firstStorm,
  guessEach,
  heldWord,
  limitOf,
  readStorm,
  scaleOf,
  spentWord,
  squareColumns,
  textOfAsk,
  throughWord,
} from '../../../renderer/pages/ledger/storm-model.ts';
import { makeSide, makeStorm } from './make-storm.ts';

const ask = (patch: Record<string, unknown> = {}) => stormAskSchema.parse(patch);

describe('the form', () => {
  test('any storm that can be asked for comes back from its text', () => {
    const limit = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: null });
    fc.assert(
      fc.property(
        fc.record({
          calls: fc.integer({ min: 1, max: 200 }),
          users: fc.constantFrom('one' as const, 'one-each' as const),
          messageCharacters: fc.integer({ min: 1, max: 100_000 }),
          outputTokensMax: fc.integer({ min: 1, max: 10_000 }),
          userLimit: limit,
          tenantLimit: limit,
        }),
        (one) => {
          expect(readStorm(textOfAsk(one))).toEqual({ ask: one });
        },
      ),
    );
  });

  test.each([
    ['calls', '0'],
    ['calls', '201'],
    ['calls', '2.5'],
    ['calls', ''],
    ['messageCharacters', '-1'],
    ['messageCharacters', '100001'],
    ['outputTokensMax', '0'],
    ['userLimit', '-5'],
    ['tenantLimit', 'NaN'],
  ] as const)('%s %j is refused in words', (field, text) => {
    const read = readStorm({ ...firstStorm, [field]: text });
    expect('problems' in read && Object.keys(read.problems)).toEqual([field]);
  });
});

describe('whose limit decides', () => {
  test.each([
    [{}, { tokens: 9_000, of: 'tenant' }],
    [{ users: 'one' }, { tokens: 6_000, of: 'user' }],
    [{ userLimit: 100 }, { tokens: 2_000, of: 'users' }],
    [{ tenantLimit: null }, { tokens: 120_000, of: 'users' }],
    [{ userLimit: null, tenantLimit: null }, null],
    [
      { userLimit: null, tenantLimit: 0 },
      { tokens: 0, of: 'tenant' },
    ],
  ])('%j', (patch, limit) => expect(limitOf(ask(patch))).toEqual(limit));
});

describe('the figures in words', () => {
  test('the golden storm', () => {
    expect(guessEach(ask())).toBe(2_418);
    expect(spentWord(makeSide({ spentTokens: 39_380 }), ask())).toBe('spent, 4.4 times the limit');
    expect(heldWord(makeSide({ heldTokensMax: 7_302 }), ask())).toBe('held at most, under the limit');
    expect(throughWord(makeSide({ admitted: 20 }), ask())).toBe('20 of 20 calls let through, none refused');
    expect(throughWord(makeSide({ admitted: 3, refused: 17 }), ask())).toBe('3 of 20 calls let through, 17 refused');
  });
  test.each([
    [9_000, {}, 'spent, exactly the limit'],
    [9_001, {}, 'spent, 1 over the limit'],
    [9_001, { userLimit: null, tenantLimit: null }, 'spent, and there is no limit'],
    [5, { tenantLimit: 0 }, 'spent, and nothing is allowed'],
    [0, { tenantLimit: 0 }, 'spent, exactly the limit'],
  ])('%d under %j', (spentTokens, patch, words) =>
    expect(spentWord(makeSide({ spentTokens }), ask(patch))).toBe(words),
  );

  test('the time is claimed only after a storm was seen, and grows with the calls', () => {
    expect(costWord(ask(), null)).toBe('20 calls twice · simulator only · at most 96,720 simulated tokens');
    const last = makeStorm({
      state: 'done',
      startedAt: '2026-11-30T00:00:00.000Z',
      endedAt: '2026-11-30T00:00:04.000Z',
    });
    expect(costWord(ask(), last)).toBe('20 calls twice · simulator only · about 4 s');
    expect(costWord(ask({ calls: 200 }), last)).toBe('200 calls twice · simulator only · about 40 s');
  });
});

test('the scale holds the worst case and the limit, has few marks, and does not depend on what was spent', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 200_000 }),
      fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: null }),
      (calls, each, tenantLimit) => {
        const one = ask({ calls, tenantLimit, userLimit: null });
        const { max, ticks } = scaleOf(one, each);
        expect(max).toBeGreaterThanOrEqual(Math.max(calls * each, tenantLimit ?? 0));
        expect(ticks.length).toBeLessThanOrEqual(7);
        expect(ticks.at(-1)).toBe(max);
      },
    ),
  );
  expect(scaleOf(ask(), 2_434).max).toBe(50_000);
});

test.each([
  [1, 1],
  [20, 20],
  [40, 40],
  [41, 21],
  [200, 40],
])('%d squares stand in rows of %d', (calls, columns) => expect(squareColumns(calls)).toBe(columns));
