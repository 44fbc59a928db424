import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  type Conversation,
  type NanoDollars,
  callCostSchema,
  conversationCostSchema,
  decimalDollars,
  exactDollars,
  nanoDollars,
  resendQuestionSchema,
  resendSeriesSchema,
  shortDollars,
} from '../../../shared/contract/costs.ts';
import type { Tokens } from '../../../shared/contract/units.ts';
import {
  attemptsPerCall,
  costOfCall,
  costOfConversation,
  costOfLocalCall,
  costOfMonth,
  delegationTree,
  resendSeries,
  simulateConversation,
  sumOfCosts,
} from '../../../shared/engine/costs/costs.ts';
import { SONNET, denialOf, valueOf } from './samples.ts';

const used = (inputTokens: number | null, outputTokens: number | null, cachedTokens?: number | null) => ({
  inputTokens: inputTokens as Tokens | null,
  outputTokens: outputTokens as Tokens | null,
  ...(cachedTokens === undefined ? {} : { cachedTokens: cachedTokens as Tokens | null }),
});
const CACHED = { ...SONNET, cachedNanoDollarsPerToken: nanoDollars(200) };

describe('the cost of a call', () => {
  test.each([
    ['both reported', used(1_930, 39), SONNET, { input: 3_860_000, output: 390_000, total: 4_250_000 }],
    ['an explicit 0 is 0', used(0, 0), SONNET, { input: 0, output: 0, total: 0 }],
    ['input unknown', used(null, 39), SONNET, { input: null, output: 390_000, total: null }],
    ['output unknown', used(1_930, null), SONNET, { input: 3_860_000, output: null, total: null }],
    ['cached part', used(1_000, 0, 400), CACHED, { input: 1_280_000, output: 0, total: 1_280_000 }],
    ['cached part unknown: as input', used(1_000, 0, null), CACHED, { input: 2_000_000, output: 0, total: 2_000_000 }],
    ['no cached price: as input', used(1_000, 0, 400), SONNET, { input: 2_000_000, output: 0, total: 2_000_000 }],
  ])('%s', (_, usage, prices, cost) => {
    expect(valueOf(costOfCall(usage, prices))).toEqual(cost);
  });

  test('local is 0, as if elsewhere is not, and unknown is neither', () => {
    const { source } = SONNET;
    const found = valueOf(costOfLocalCall(used(1_930, 39), SONNET));
    expect(callCostSchema.parse(found)).toEqual({
      local: { input: 0, output: 0, total: 0 },
      asIf: {
        name: 'Claude Sonnet 5.5',
        date: '2026-11-14',
        source,
        cost: { input: 3_860_000, output: 390_000, total: 4_250_000 },
      },
    });
    expect(valueOf(costOfLocalCall(used(1_930, null), null))).toEqual({
      local: { input: 0, output: null, total: null },
      asIf: null,
    });
  });

  test.each([
    ['inputTokens', used(-1, 0)],
    ['inputTokens', used(Number.NaN, 0)],
    ['outputTokens', used(0, 1.5)],
    ['outputTokens', used(0, Number.POSITIVE_INFINITY)],
    ['cachedTokens', used(10, 0, 11)],
    ['cachedTokens', used(10, 0, -1)],
  ])('wrong %s are refused by name', (field, usage) => {
    expect(denialOf(costOfCall(usage, SONNET))).toMatchObject({ code: 'bad-input', field });
  });

  test('too much money is refused, not rounded', () => {
    expect(denialOf(costOfCall(used(Number.MAX_SAFE_INTEGER, 0), SONNET)).message).toContain('9,007,199 dollars');
    // Each part can be kept, their sum cannot.
    expect(costOfCall(used(4_000_000_000_000, 200_000_000_000), SONNET).ok).toBe(false);
  });

  test('10,000 calls add up to the cost of their sum', () => {
    const one = valueOf(costOfCall(used(3, 7), CACHED)).total;
    const sum = valueOf(sumOfCosts(Array.from({ length: 10_000 }, () => one)));
    expect(sum).toEqual({
      known: 760_000_000,
      unknownCount: 0,
      total: valueOf(costOfCall(used(30_000, 70_000), CACHED)).total,
    });
  });

  test('a sum with unknown calls has a lower bound and no total', () => {
    const amounts = [nanoDollars(5), null, nanoDollars(7), null];
    expect(valueOf(sumOfCosts(amounts))).toEqual({ known: 12, unknownCount: 2, total: null });
    expect(valueOf(sumOfCosts([]))).toEqual({ known: 0, unknownCount: 0, total: 0 });
    expect(sumOfCosts([nanoDollars(Number.MAX_SAFE_INTEGER), nanoDollars(1)]).ok).toBe(false);
  });
});

const conversations: fc.Arbitrary<Conversation> = fc.record({
  turns: fc.integer({ min: 0, max: 300 }),
  baseTokens: fc.integer({ min: 0, max: 1_000_000 }),
  addedTokensPerTurn: fc.integer({ min: 0, max: 100_000 }),
  outputTokensPerTurn: fc.integer({ min: 0, max: 100_000 }),
  historyCached: fc.boolean(),
});
const prices = fc
  .tuple(fc.nat({ max: 100_000 }), fc.nat({ max: 100_000 }), fc.option(fc.nat({ max: 100_000 })))
  .map(([input, output, cached]) => ({
    ...SONNET,
    inputNanoDollarsPerToken: nanoDollars(input),
    outputNanoDollarsPerToken: nanoDollars(output),
    cachedNanoDollarsPerToken: cached === null ? null : nanoDollars(cached),
  }));

describe('the cost of a conversation', () => {
  test('the closed form is what the turns add up to', () => {
    fc.assert(
      fc.property(conversations, prices, (conversation, set) => {
        const found = costOfConversation(conversation, set);
        expect(found).toEqual(simulateConversation(conversation, set));
        if (found.ok) expect(conversationCostSchema.parse(found.value)).toEqual(found.value);
      }),
      { numRuns: 300 },
    );
  });

  test('is what its calls cost one by one', () => {
    const conversation = {
      turns: 3,
      baseTokens: 100,
      addedTokensPerTurn: 10,
      outputTokensPerTurn: 5,
      historyCached: true,
    };
    const calls = [used(100, 5, 0), used(110, 5, 100), used(120, 5, 110)].map(
      (usage) => valueOf(costOfCall(usage, CACHED)).total,
    );
    expect(valueOf(costOfConversation(conversation, CACHED)).total).toBe(valueOf(sumOfCosts(calls)).total);
  });

  test('a month is that many conversations', () => {
    fc.assert(
      fc.property(
        conversations,
        prices,
        fc.nat({ max: 50 }),
        fc.integer({ min: 0, max: 31 }),
        (conversation, set, daily, days) => {
          const one = costOfConversation(conversation, set);
          const month = costOfMonth(conversation, { conversationsPerDay: daily, days }, set);
          if (!one.ok || !month.ok) return;
          expect(BigInt(month.value.total)).toBe(BigInt(one.value.total) * BigInt(daily * days));
        },
      ),
    );
  });

  const usual: Conversation = {
    turns: 20,
    baseTokens: 3_000,
    addedTokensPerTurn: 500,
    outputTokensPerTurn: 0,
    historyCached: false,
  };
  test.each([
    ['turns', { turns: -1 }, 'turns is negative.'],
    ['turns', { turns: 100_001 }, 'turns is too large.'],
    ['baseTokens', { baseTokens: Number.NaN }, 'baseTokens is not a number.'],
    ['addedTokensPerTurn', { addedTokensPerTurn: 0.5 }, 'addedTokensPerTurn is not a whole number.'],
    ['outputTokensPerTurn', { outputTokensPerTurn: 2e12 }, 'outputTokensPerTurn is too large.'],
  ])('wrong %s: refused by name', (field, wrong, message) => {
    for (const refuse of [
      costOfConversation({ ...usual, ...wrong }, SONNET),
      simulateConversation({ ...usual, ...wrong }, SONNET),
      costOfMonth({ ...usual, ...wrong }, { conversationsPerDay: 1, days: 1 }, SONNET),
    ]) {
      expect(denialOf(refuse)).toMatchObject({ code: 'bad-input', field, message });
    }
  });

  test('what cannot be kept exactly is refused', () => {
    expect(denialOf(costOfConversation({ ...usual, turns: 100_000, addedTokensPerTurn: 1e12 }, SONNET)).next).toContain(
      'fewer turns',
    );
    expect(denialOf(costOfMonth(usual, { conversationsPerDay: -1, days: 30 }, SONNET)).field).toBe(
      'conversationsPerDay',
    );
    expect(denialOf(costOfMonth(usual, { conversationsPerDay: 1, days: 32 }, SONNET)).field).toBe('days');
    expect(costOfMonth(usual, { conversationsPerDay: 1_000_000_000, days: 31 }, SONNET).ok).toBe(false);
  });
});

describe('the resend chart', () => {
  test('has a bounded number of points with the first and the last turn, rising, each the closed form', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 2, max: 1_000 }),
        fc.array(fc.nat({ max: 50_000 }), { minLength: 1, maxLength: 8 }),
        (turns, pointsMax, toolOutputTokens) => {
          const question = { turns, basePromptTokens: 3_000, toolOutputTokens, pointsMax };
          const series = resendSeriesSchema.parse(valueOf(resendSeries(question, SONNET)));
          expect([series.turns[0], series.turns.at(-1), series.turns.length]).toEqual([
            1,
            turns,
            Math.min(turns, pointsMax),
          ]);
          expect(series.turns.every((turn, index) => index === 0 || turn > (series.turns[index - 1] ?? turn))).toBe(
            true,
          );
          const middle = Math.floor(series.turns.length / 2);
          const turn = series.turns[middle] ?? 0;
          series.lines.forEach((line) => {
            expect(line.inputTokens[middle]).toBe(turn * 3_000 + (line.toolOutputTokens * turn * (turn - 1)) / 2);
            expect(line.costs[middle]).toBe((line.inputTokens[middle] ?? 0) * 2_000);
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([
    ['turns', { turns: 0 }],
    ['toolOutputTokens', { toolOutputTokens: [] }],
    ['toolOutputTokens[1]', { toolOutputTokens: [1, -1] }],
    ['basePromptTokens', { basePromptTokens: 0.5 }],
    ['pointsMax', { pointsMax: 1 }],
  ])('wrong %s: refused by name', (field, wrong) => {
    const question = resendQuestionSchema.parse({ turns: 20, toolOutputTokens: [500] });
    expect(denialOf(resendSeries({ ...question, ...wrong }, SONNET)).field).toBe(field);
  });

  test('nothing sent has no ratio', () => {
    const question = { turns: 1, basePromptTokens: 0, toolOutputTokens: [0], pointsMax: 2 };
    expect(valueOf(resendSeries(question, SONNET)).lines[0]?.timesFirst).toBe(null);
  });
});

test('what multiplies has bounds', () => {
  expect(denialOf(attemptsPerCall([3, 0])).field).toBe('attempts[1]');
  expect(denialOf(attemptsPerCall(Array.from({ length: 20 }, () => 1_000))).field).toBe('attempts');
  expect(denialOf(delegationTree(1_000, 20)).field).toBe('depth');
  expect(denialOf(delegationTree(Number.NaN, 1)).field).toBe('fanOut');
});

describe('money in words', () => {
  test.each([
    [0, '0', '$0', '$0'],
    [1, '0.000000001', '$0.000000001', '$0.000000001'],
    [2_560_000, '0.00256', '$0.00256', '$0.00256'],
    [8_068_000, '0.008068', '$0.008068', '$0.00807'],
    [77_960_000, '0.07796', '$0.07796', '$0.078'],
    [300_000_000, '0.3', '$0.30', '$0.30'],
    [999_500_000, '0.9995', '$0.9995', '$1'],
    [1_559_200_000, '1.5592', '$1.5592', '$1.56'],
    [1_005_000_000, '1.005', '$1.005', '$1.01'],
    [46_776_000_000_000, '46776', '$46,776', '$46,776'],
    [1_234_567_891_234_567, '1234567.891234567', '$1,234,567.891234567', '$1,234,567.89'],
    [Number.MAX_SAFE_INTEGER, '9007199.254740991', '$9,007,199.254740991', '$9,007,199.25'],
  ])('%i', (amount, decimal, exact, short) => {
    const money = nanoDollars(amount);
    expect([decimalDollars(money), exactDollars(money), shortDollars(money)]).toEqual([decimal, exact, short]);
  });

  test('unknown is a dash', () => {
    expect([exactDollars(null), shortDollars(null)]).toEqual(['–', '–']);
  });

  test('the exact forms lose nothing, the short one less than half a per cent and never everything', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 0, max: 15 }), (digits, shift) => {
        const money = nanoDollars(Math.floor(digits / 10 ** shift));
        const back = (text: string): number => {
          const [whole = '', fraction = ''] = text.replace(/[$,]/g, '').split('.');
          return Number(whole + fraction.padEnd(9, '0'));
        };
        expect([back(decimalDollars(money)), back(exactDollars(money))]).toEqual([money, money]);
        expect(Math.abs(back(shortDollars(money)) - money)).toBeLessThanOrEqual(money * 0.00501);
      }),
      { numRuns: 500 },
    );
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%d is no money', (amount) => {
    expect(() => nanoDollars(amount)).toThrow(RangeError);
  });

  test('minus zero is zero', () => {
    expect(Object.is(nanoDollars(-0) as NanoDollars, 0)).toBe(true);
  });
});
