import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { calibrationRowSchema } from '../../../shared/contract/estimates.ts';
import {
  type LearnedRatio,
  type RatioSample,
  calibrationRows,
  estimateMessages,
  estimateText,
  learnRatio,
  learnedRange,
} from '../../../shared/engine/estimate/estimate.ts';

interface Recorded {
  readonly name: string;
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
  readonly counted: number;
}

/** The recorded calls whose prompts went in whole, as the server's log tells. */
const fitted: readonly Recorded[] = (
  JSON.parse(readFileSync('test/golden/truncation_real.json', 'utf8')) as {
    rows: { name: string; kind: string[]; prompt_eval_count?: number }[];
  }
).rows.flatMap(({ name, kind, prompt_eval_count: counted }) => {
  if (kind.join() !== 'intact' || counted === undefined) return [];
  const { body } = (
    JSON.parse(readFileSync(`test/fixtures/real/${name}.json`, 'utf8')) as {
      request: { body: { model: string; messages?: { content: string }[]; prompt?: string } };
    }
  ).request;
  return [{ name, model: body.model, messages: body.messages ?? [{ content: body.prompt ?? '' }], counted }];
});

function sampleOf({ messages, counted }: Recorded): RatioSample {
  const { script, tableTokens, total } = estimateMessages(messages);
  return { script, tableTokens, countedTokens: counted, messages: messages.length, characters: total.characters };
}

/** What a door tells that does not know of messages and characters. */
function scantSampleOf(call: Recorded): RatioSample {
  const { script, tableTokens, countedTokens } = sampleOf(call);
  return { script, tableTokens, countedTokens };
}

function learnAll(calls: readonly Recorded[], sample = sampleOf): Map<string, LearnedRatio> {
  const models = new Map<string, LearnedRatio>();
  for (const call of calls) models.set(call.model, learnRatio(models.get(call.model) ?? null, sample(call)));
  return models;
}

const text = (countedTokens: number, tableTokens = 1_008, more: Partial<RatioSample> = {}): RatioSample => ({
  script: 'latin',
  tableTokens,
  countedTokens,
  messages: 1,
  characters: 4_000,
  ...more,
});
const learn = (samples: readonly RatioSample[], before: LearnedRatio | null = null): LearnedRatio =>
  samples.reduce<LearnedRatio>((ratio, one) => learnRatio(ratio, one), before ?? { scripts: {} });
const latin = (learned: LearnedRatio) => {
  const ratio = learned.scripts.latin;
  if (ratio === undefined) throw new Error('nothing learned');
  return ratio;
};

describe('the recorded calls that fitted', () => {
  test('are 46, of two models and four scripts', () => {
    expect(fitted.length).toBe(46);
    expect(new Set(fitted.map((call) => call.model)).size).toBe(2);
    expect([...new Set(fitted.map((call) => sampleOf(call).script))].sort()).toEqual(['cjk', 'code', 'emoji', 'latin']);
  });

  for (const [told, sample] of [
    ['with messages and characters', sampleOf],
    ['with the counts alone', scantSampleOf],
  ] as const) {
    test(`after any ten of them the others are in their own bands, ${told}`, () => {
      fc.assert(
        fc.property(fc.shuffledSubarray([...fitted], { minLength: 46 }), (calls) => {
          const models = learnAll(calls.slice(0, 10), sample);
          for (const { name, model, messages, counted } of calls.slice(10)) {
            const learned = models.get(model) ?? null;
            const { total, script } = estimateMessages(messages, learned);
            const range = learnedRange(total, script, learned) ?? total;
            expect([name, total.low <= counted, counted <= total.high]).toEqual([name, true, true]);
            expect([name, range.low <= counted, counted <= range.high]).toEqual([name, true, true]);
            expect(total.low).toBeLessThanOrEqual(estimateMessages(messages).total.low);
          }
        }),
        // An order does not get simpler by shrinking.
        { numRuns: 150, endOnFailure: true },
      );
    });
  }

  test.each(['english-sample', 'code-sample', 'unicode-cjk', 'unicode-emoji'])(
    'the band of %s shrinks on both sides',
    (name) => {
      const call = fitted.find((one) => one.name === name)!;
      const sample = sampleOf(call);
      const widths = [0, 1, 2, 3, 5].map((count) => {
        // As many other texts of this script, counted a per cent up or down.
        const others = Array.from({ length: count }, (_, index) => ({
          ...sample,
          tableTokens: sample.tableTokens + 100 * (index + 1),
          countedTokens: Math.round((sample.tableTokens + 100 * (index + 1)) * (index % 2 === 0 ? 1.01 : 0.99)),
        }));
        const learned = learn(others);
        const { total, script } = estimateMessages(call.messages, learned);
        const range = learnedRange(total, script, learned) ?? total;
        expect(range.low <= call.counted && call.counted <= range.high).toBe(true);
        return range.high - range.low;
      });
      expect([...widths].sort((a, b) => b - a)).toEqual(widths);
      expect(widths[4]).toBeLessThan((widths[0] ?? 0) * 0.75);
    },
  );
});

describe('the median', () => {
  const factors = fc.uniqueArray(fc.integer({ min: 500, max: 2_000 }), { minLength: 1, maxLength: 20 });

  test('does not depend on the order of the samples that fit in', () => {
    fc.assert(
      fc.property(
        factors.chain((counts) =>
          fc.tuple(fc.constant(counts), fc.shuffledSubarray(counts, { minLength: counts.length })),
        ),
        fc.boolean(),
        ([counts, shuffled], withShort) => {
          const short = withShort ? [text(30, 10)] : [];
          const once = latin(learn([...counts.map((one) => text(one)), ...short]));
          const again = latin(learn([...short, ...shuffled.map((one) => text(one))]));
          expect([again.factor, again.spread, again.weight]).toEqual([once.factor, once.spread, once.weight]);
        },
      ),
    );
  });

  test('is the middle one, or between the middle two', () => {
    expect(latin(learn([text(1_208), text(908), text(1_108)])).factor).toBe(1.1);
    expect(latin(learn([text(1_208), text(908), text(1_108), text(1_008)])).factor).toBe(1.05);
  });

  test('of many is hardly moved by one that is far off, and neither is the band', () => {
    const many = Array.from({ length: 15 }, (_, index) => text(1_200 + index));
    const before = latin(learn(many));
    const after = latin(learn([...many, text(3_900)]));
    expect(Math.abs(after.factor / before.factor - 1)).toBeLessThan(0.001);
    expect(after.spread).toBeLessThan(0.02);
  });

  test('keeps the newest 20 and counts all', () => {
    const learned = latin(learn(Array.from({ length: 50 }, (_, index) => text(900 + index))));
    expect([learned.weight, learned.seen, learned.recent?.length]).toEqual([20, 50, 20]);
    expect(learned.recent?.map((one) => one.counted)).toEqual(Array.from({ length: 20 }, (_, index) => 930 + index));
  });

  test('the same prompt again teaches nothing', () => {
    const once = learn([text(1_208)]);
    expect(learnRatio(once, text(1_208))).toBe(once);
  });
});

describe('the template', () => {
  test('a system text of the model moves the whole, not the ratio', () => {
    // 500 tokens come on top of everything, and the text costs 1.2 of the table.
    const learned = learn([text(504, 12), text(504, 12), text(1_700, 1_008), text(1_100, 508)]);
    expect(learned.template).toMatchObject({ likely: 500, high: 500 });
    expect(latin(learned).factor).toBe(1.2);
    const { total } = estimateMessages([{ content: 'Requests are answered within two days. '.repeat(100) }], learned);
    const table = estimateMessages([{ content: 'Requests are answered within two days. '.repeat(100) }]);
    expect(Math.abs(total.likely - ((table.tableTokens - 8) * 1.2 + 500))).toBeLessThan(1);
    expect(total.high).toBeGreaterThan(total.likely);
    expect(total.low).toBe(table.total.low);
  });

  test('what is learned of it later is applied to the texts counted before', () => {
    const short = text(504, 12);
    expect(latin(learn([text(1_700), short])).factor).toBe(latin(learn([short, text(1_700)])).factor);
  });

  test('the pessimistic side never falls below the table, whatever a route without template taught', () => {
    const learned = learn(Array.from({ length: 20 }, () => text(1, 9)));
    expect(learned.template).toMatchObject({ likely: 0, high: 0 });
    const messages = [{ content: 'Hi' }];
    expect(estimateMessages(messages, learned).total.high).toBe(estimateMessages(messages).total.high);
  });
});

test('every text of a conversation is estimated by what is known of its own script', () => {
  const english = { content: 'Requests about parking are answered within two days. '.repeat(50) };
  const japanese = { content: 'きょうはとてもいいてんきです。'.repeat(20) };
  const learned = learn([text(1_208), text(1_209), text(1_210), text(1_211), text(1_212)]);
  const { total, messages } = estimateMessages([english, japanese], learned);
  expect(messages[1]).toEqual(estimateText(japanese.content));
  expect(total.high).toBeGreaterThan(Number(messages[0]?.high) + estimateText(japanese.content).high);
});

describe('storage', () => {
  const samples = fc.array(
    fc.record({
      script: fc.constantFrom('latin' as const, 'cjk' as const, 'code' as const),
      tableTokens: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.double()),
      countedTokens: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.double()),
      messages: fc.integer({ min: 0, max: 5 }),
      characters: fc.nat({ max: 20_000 }),
    }),
    { maxLength: 60 },
  );

  test('JSON and back is the same, bounded in size, and goes on the same way', () => {
    fc.assert(
      fc.property(samples, samples, (first, then) => {
        const learned = learn(first);
        const json = JSON.stringify(learned);
        expect(json.length).toBeLessThan(10_000);
        expect(learn(then, JSON.parse(json) as LearnedRatio)).toEqual(learn(then, learned));
        const { low, likely, high } = estimateText('Requests about parking. '.repeat(50), learned);
        expect(low <= likely && likely <= high).toBe(true);
        expect(low).toBeLessThanOrEqual(estimateText('Requests about parking. '.repeat(50)).low);
        for (const row of calibrationRows([{ model: 'm', learned }]))
          expect(calibrationRowSchema.parse(row)).toEqual(row);
      }),
    );
  });

  test('thousands of tokens for one character make no row', () => {
    const learned = learnRatio(null, {
      script: 'latin',
      tableTokens: 5_000,
      countedTokens: 20_000,
      messages: 0,
      characters: 1,
    });
    expect(calibrationRows([{ model: 'm', learned }])).toMatchObject([{ median: null, low: null, high: null }]);
  });

  test('a ratio stored without samples goes on as one sample', () => {
    const old: LearnedRatio = { scripts: { latin: { factor: 1.3, spread: 0.02, weight: 20 } } };
    expect(estimateText('Requests about parking. '.repeat(50), old).source).toBe('learned');
    expect(latin(learnRatio(old, text(1_108)))).toMatchObject({ factor: 1.2, weight: 2 });
  });

  test('damaged samples are left out', () => {
    const damaged = {
      scripts: { latin: { factor: 1, spread: 0, weight: 3, recent: [null, 7, { text: 0, messages: 1, counted: 9 }] } },
      template: { likely: 'x', high: -1, recent: 'none' },
    } as unknown as LearnedRatio;
    expect(latin(learnRatio(damaged, text(1_208)))).toMatchObject({ factor: 1.2, weight: 1 });
    expect(learnRatio(damaged, text(30, 10)).template).toEqual({ likely: 28, high: 28, recent: [28] });
    expect(estimateMessages([{ content: 'Hi' }], damaged).total.likely).toBe(9);
  });
});

describe('the table to export', () => {
  test('characters per token with a band, by model and script', () => {
    const rows = calibrationRows([...learnAll(fitted)].map(([model, learned]) => ({ model, learned })));
    expect(rows.map(({ model, script, samples }) => [model, script, samples])).toEqual([
      ['probe-native', 'latin', 1],
      ['probe-rendered', 'cjk', 1],
      ['probe-rendered', 'code', 1],
      ['probe-rendered', 'emoji', 1],
      ['probe-rendered', 'latin', 11],
    ]);
    // Measured: English 3.6, code 2.6, Japanese 1.7, emoji one token for two units.
    const measured = { latin: 3.6, code: 2.6, cjk: 1.7, emoji: 2 };
    for (const { model, script, median, low, high } of rows.filter((row) => row.model === 'probe-rendered')) {
      expect([model, script, Math.abs((median ?? 0) / measured[script as 'cjk'] - 1) < 0.06]).toEqual([
        model,
        script,
        true,
      ]);
      expect((low ?? 9) < (median ?? 0) && (median ?? 9) < (high ?? 0)).toBe(true);
    }
  });

  test('what was not told is unknown, not zero', () => {
    const learned = learn([{ script: 'latin', tableTokens: 1_008, countedTokens: 1_208 }]);
    expect(calibrationRows([{ model: 'm', learned }])).toEqual([
      { model: 'm', script: 'latin', samples: 1, samplesSeen: 1, median: null, low: null, high: null, factor: 1.2 },
    ]);
    expect(calibrationRows([{ model: 'm', learned: { scripts: {} } }])).toEqual([]);
  });
});
