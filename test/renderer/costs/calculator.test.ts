/** The calculator as it is typed, the curve it draws, and the price form. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallsCost, ConversationCost, ResendSeries } from '../../../shared/contract/costs.ts';
import { resendSeriesSchema } from '../../../shared/contract/costs.ts';
import { largeWord, resendModel, spreadLabels, ticksTo } from '../../../renderer/charts/resend-model.ts';
import {
  calculatorPresets,
  firstCalculator,
  headline,
  readCalculator,
  sentOnce,
  timesWord,
} from '../../../renderer/pages/costs/calculator.ts';
import type { CalculatorLine } from '../../../renderer/pages/costs/calculator.ts';
import { asIfWord, unknownWords } from '../../../renderer/pages/costs/calls-as-if.tsx';
import { pricesFor } from '../../../renderer/pages/costs/costs-page.tsx';
import { emptyPriceText, problemsOf, readPriceText } from '../../../renderer/pages/costs/price-form.ts';

const ask = { turns: 20, sizes: [500, 40_000], base: 3_000, answer: 200, perDay: 10, days: 30 };

describe('what is typed', () => {
  test('the first calculator and every preset read', () => {
    expect(readCalculator(firstCalculator)).toEqual({ ok: true, ask });
    for (const { name, set } of calculatorPresets)
      expect([name, readCalculator({ ...firstCalculator, ...set }).ok]).toEqual([name, true]);
  });

  test('nothing to compare with, and the same size twice, are one line', () => {
    const sizes = (against: string): unknown => {
      const read = readCalculator({ ...firstCalculator, against });
      return read.ok ? read.ask.sizes : read.problems;
    };
    expect([sizes(' '), sizes('500'), sizes('4k')]).toEqual([[500], [500], [500, 4_000]]);
  });

  test.each([
    ['turns', '0', 'Turns: give a whole number from 1 to 100,000.'],
    ['turns', '1.5', 'Turns: "1.5" is not a whole number.'],
    ['added', '-3', 'Tokens a turn adds: give a whole number from 0 to 1,000,000,000,000.'],
    ['base', '', 'First prompt: an empty value is not a whole number.'],
    ['answer', 'few', 'Answer tokens: "few" is not a whole number.'],
    ['days', '32', 'Days: give a whole number from 0 to 31.'],
  ] as const)('%s %j names its field', (field, text, problem) => {
    expect(readCalculator({ ...firstCalculator, [field]: text })).toEqual({
      ok: false,
      problems: { [field]: problem },
    });
  });
});

describe('figures', () => {
  const line = (size: number, inputTokens: number): CalculatorLine => {
    const cost = { inputTokens } as ConversationCost;
    return { size, conversation: cost, month: cost };
  };

  test('sent once is the first prompt and what every turn but the last added', () => {
    expect([sentOnce(20, 3_000, 500), sentOnce(1, 3_000, 500), sentOnce(20, 3_000, 40_000)]).toEqual([
      12_500, 3_000, 763_000,
    ]);
  });

  test('the headline compares two sizes, or says how often a token goes', () => {
    expect(headline([line(500, 155_000), line(40_000, 7_660_000)], ask)).toBe('49.4 times');
    expect(headline([line(40_000, 7_660_000), line(500, 155_000)], ask)).toBe('49.4 times');
    expect(headline([line(500, 155_000)], ask)).toBe('12.4 times');
    expect(headline([], ask)).toBeNull();
    expect(headline([line(0, 0), line(1, 5)], ask)).toBeNull();
    expect([timesWord(1), timesWord(123.4), timesWord(null)]).toEqual(['1 time', '123 times', '–']);
  });
});

describe('the curve', () => {
  const series: ResendSeries = resendSeriesSchema.parse({
    turns: [1, 2, 3],
    lines: [
      {
        toolOutputTokens: 500,
        inputTokens: [3_000, 6_500, 10_500],
        costs: [0, 0, 0],
        totalTokens: 10_500,
        totalCost: 0,
        timesFirst: 1,
      },
      {
        toolOutputTokens: 900,
        inputTokens: [3_000, 6_900, 11_700],
        costs: [0, 0, 0],
        totalTokens: 11_700,
        totalCost: 0,
        timesFirst: 1.1,
      },
    ],
  });

  test('each size has a line of sums and one of the same tokens sent once', () => {
    const model = resendModel(series, 3_000);
    expect(model.lines.map(({ kind, size, most, end }) => [kind, size, most, end])).toEqual([
      ['resent', 500, false, 10_500],
      ['once', 500, false, 4_000],
      ['resent', 900, true, 11_700],
      ['once', 900, true, 4_800],
    ]);
    expect(model.lines[1]?.points).toEqual([
      [1, 3_000],
      [2, 3_500],
      [3, 4_000],
    ]);
    expect([model.turns, model.tokensMax]).toEqual([3, 11_700]);
    expect(model.summary).toBe(
      '500 tokens a turn: 10,500 tokens sent over 3 turns; 900 tokens a turn: 11,700 tokens sent over 3 turns',
    );
  });

  test('large sums have short words on the axis', () => {
    expect([500, 40_000, 7_660_000, 2_000_000_000, 1_500_000_000_000].map(largeWord)).toEqual([
      '500',
      '40k',
      '7.7M',
      '2bn',
      '1.5tn',
    ]);
  });

  test('property: ticks are few, rise evenly and stay on the axis', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), fc.constantFrom(3, 4), (max, parts) => {
        const ticks = ticksTo(max, parts);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeLessThanOrEqual(3 * parts);
        expect(ticks.at(-1)).toBeLessThanOrEqual(max);
        expect(ticks.every(Number.isSafeInteger)).toBe(true);
      }),
    );
  });

  test('property: labels never touch and keep their order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 4 }), (wanted) => {
        const placed = spreadLabels(wanted, 30, 300);
        const sorted = placed.toSorted((a, b) => a - b);
        for (const [index, place] of sorted.entries()) {
          expect(place).toBeLessThanOrEqual(300);
          if (index > 0) expect(place - (sorted[index - 1] ?? 0)).toBeGreaterThanOrEqual(30);
        }
        for (const [a, first] of wanted.entries())
          for (const [b, second] of wanted.entries())
            if (first < second) expect(placed[a]).toBeLessThan(placed[b] ?? 0);
      }),
    );
  });
});

describe('prices', () => {
  const sonnet = { name: 'Claude Sonnet 5.5', date: '2026-11-14' };
  const set = (name: string, date: string | null) => ({
    set: {
      name,
      date,
      source: 's',
      inputNanoDollarsPerToken: 0,
      outputNanoDollarsPerToken: 0,
      cachedNanoDollarsPerToken: null,
    } as never,
    own: false,
  });
  const list = [set('local', null), set(sonnet.name, sonnet.date), set('mine', '2026-11-20')];

  test('the typed set goes before the one of the settings, and that before the first that is not local', () => {
    const mine = { name: 'mine', date: '2026-11-20' };
    expect(pricesFor(list, mine, sonnet)).toEqual(mine);
    expect(pricesFor(list, null, mine)).toEqual(mine);
    expect(pricesFor(list, { name: 'gone', date: '2026-11-20' }, null)).toEqual(sonnet);
    expect(pricesFor([], null, null)).toBeNull();
  });

  test('empty boxes and a date that is none are said at once, each beside its field', () => {
    expect(readPriceText({ ...emptyPriceText('2026-02-30'), name: ' ' })).toEqual({
      problems: {
        name: 'Name is empty. Give the set a name.',
        source: 'Source is empty. Say where the prices were read.',
        date: 'Date is not a day. Give it as 2026-11-14.',
        inputPerMillion: 'Input price is empty. Give dollars per million tokens, such as 2 or 0.05.',
        outputPerMillion: 'Output price is empty. Give dollars per million tokens, such as 2 or 0.05.',
      },
    });
    const text = {
      ...emptyPriceText('2026-11-20'),
      name: ' mine ',
      source: 'a bill',
      inputPerMillion: '2',
      outputPerMillion: '3',
    };
    expect(readPriceText(text)).toEqual({
      input: {
        name: 'mine',
        date: '2026-11-20',
        source: 'a bill',
        inputPerMillion: '2',
        outputPerMillion: '3',
        cachedPerMillion: null,
      },
    });
  });

  test('a refusal stands beside the field it names, in the words on screen', () => {
    const refusal = { code: 'bad-input', message: 'outputPerMillion is negative.', next: 'Give dollars.' } as const;
    expect(problemsOf({ ...refusal, field: 'outputPerMillion' })).toEqual({
      outputPerMillion: 'Output price is negative. Give dollars.',
    });
    expect(problemsOf({ ...refusal, field: 'other' })).toBeNull();
    expect(problemsOf(refusal)).toBeNull();
  });
});

test('a sum that misses counts says at least; without any count it is a dash', () => {
  const sum = (patch: object): CallsCost =>
    ({
      since: '2026-11-14T09:00:00.000Z',
      calls: 2,
      callsUnknown: 0,
      inputTokens: 10,
      outputTokens: 1,
      cost: { input: 20_000, output: 10_000, total: 30_000 },
      ...patch,
    }) as CallsCost;
  const none = { calls: 0, inputTokens: null, outputTokens: null, cost: { input: null, output: null, total: null } };
  expect(asIfWord(sum({}))).toBe('$0.00003');
  expect(asIfWord(sum({ callsUnknown: 1 }))).toBe('at least $0.00003');
  expect(
    asIfWord(sum({ callsUnknown: 2, outputTokens: null, cost: { input: 20_000, output: null, total: null } })),
  ).toBe('at least $0.00002');
  expect(asIfWord(sum(none))).toBe('–');
  expect(unknownWords(sum(none), sum(none))).toBe('No calls yet. Counts are those that the server reports.');
  expect(unknownWords(sum({}), sum({}))).toBe('Every call reported its counts.');
  expect(unknownWords(sum({ callsUnknown: 3 }), sum({}))).toMatch(/^3 calls reported no counts or only one:/);
});
