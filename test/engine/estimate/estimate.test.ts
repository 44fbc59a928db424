import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { estimateSchema } from '../../../shared/contract/estimates.ts';
import {
  countedEstimate,
  createEstimator,
  estimateMessages,
  estimateText,
} from '../../../shared/engine/estimate/estimate.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        'word',
        'Section 12: ',
        'getElementById',
        '今日は',
        '🙂',
        '👩‍👩‍👧‍👦',
        '\r\n',
        '    ',
        'Ж',
        'é',
        '한국어',
        '\ud800',
        'नमस्ते',
        '=====',
        '0.25',
      ),
    )
    .map((parts) => parts.join('')),
);

describe('the band', () => {
  test('is ordered, whole and fits the contract, for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const estimate = estimateSchema.parse(estimateText(text));
        expect(estimate.low).toBeLessThanOrEqual(estimate.likely);
        expect(estimate.likely).toBeLessThanOrEqual(estimate.high);
        expect(estimate.characters).toBe(text.length);
      }),
      { numRuns: 500 },
    );
  });

  test('is the same in slices that end anywhere', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat({ max: 300 }), { maxLength: 12 }), (text, cuts) => {
        const estimator = createEstimator();
        let from = 0;
        for (const to of [...cuts].sort((a, b) => a - b)) {
          estimator.push(text.slice(from, Math.max(from, to)));
          from = Math.max(from, to);
          estimator.estimate();
        }
        estimator.push(text.slice(from));
        expect(estimator.estimate()).toEqual(estimateText(text));
      }),
      { numRuns: 500 },
    );
  });

  test('never shrinks when text is added', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, more) => {
        const [shorter, longer] = [estimateText(text), estimateText(`${text}\n${more}`)];
        expect(longer.high).toBeGreaterThanOrEqual(shorter.high);
        expect(longer.low).toBeGreaterThanOrEqual(shorter.low);
      }),
    );
  });

  test('of nothing is nothing, with a ratio that can still be shown', () => {
    expect(estimateText('')).toEqual({
      low: 0,
      likely: 0,
      high: 0,
      characters: 0,
      charactersPerToken: 3.6,
      source: 'script-table',
    });
  });
});

interface Row {
  readonly name: string;
  readonly kind: readonly string[];
  readonly prompt_tokens?: number;
  readonly prompt_eval_count?: number;
  readonly needs?: number;
  readonly also?: readonly string[];
}
const wholeCounts = (['real', 'old'] as const).flatMap((set) =>
  (JSON.parse(readFileSync(`test/golden/truncation_${set}.json`, 'utf8')) as { rows: Row[] }).rows.flatMap((row) => {
    const isWhole = row.kind.every((kind) => ['intact', 'shifted', 'window-full'].includes(kind));
    const isRefused = row.kind[0] === 'refused' && row.also?.length === 0;
    // The truth about what remained after messages were dropped says nothing about all of them.
    const tokens = isWhole
      ? row.prompt_eval_count
      : isRefused
        ? row.needs
        : row.kind[0] === 'messages-dropped'
          ? undefined
          : row.prompt_tokens;
    return tokens === undefined ? [] : [[`${set}/${row.name}`, tokens] as const];
  }),
);

describe('against counts of real servers', () => {
  test.each(wholeCounts)('%s: %i tokens lie in the band', (name, tokens) => {
    const { request } = JSON.parse(readFileSync(`test/fixtures/${name}.json`, 'utf8')) as {
      request: { body: { messages?: { content: string }[]; prompt?: string } };
    };
    const { total } = estimateMessages(request.body.messages ?? [{ content: request.body.prompt ?? '' }]);
    expect([total.low <= tokens, tokens <= total.high]).toEqual([true, true]);
  });

  test.each([
    ['real/english-sample', 3.6],
    ['real/code-sample', 2.6],
    ['real/unicode-cjk', 1.7],
    // One token an emoji, which is two UTF-16 units.
    ['real/unicode-emoji', 2],
  ])('%s: %d characters a token', (name, ratio) => {
    const { request } = JSON.parse(readFileSync(`test/fixtures/${name}.json`, 'utf8')) as {
      request: { body: { messages: { content: string }[] } };
    };
    expect(Math.abs(estimateText(request.body.messages[0]?.content ?? '').charactersPerToken / ratio - 1)).toBeLessThan(
      0.06,
    );
  });

  const documents = (
    JSON.parse(readFileSync('test/golden/truncation.json', 'utf8')) as {
      charsPerToken: { chars: number; tokens: number }[];
    }
  ).charsPerToken;
  test.each(documents)('prose of $chars characters needs $tokens tokens at most', ({ chars, tokens }) => {
    const prose = 'Requests about parking are answered by the desk within two working days. ';
    const estimate = estimateText(prose.repeat(Math.ceil(chars / prose.length)).slice(0, chars));
    expect(estimate.high).toBeGreaterThanOrEqual(tokens);
    expect(estimate.high).toBeLessThan(tokens * 1.2);
  });
});

test('CJK and emoji are not counted as a quarter of their characters', () => {
  expect(estimateText('人'.repeat(100)).likely).toBeGreaterThanOrEqual(60);
  expect(estimateText('🙂🙂🙂').likely).toBe(3);
});

test('a message brings about eight tokens of template, and 24 where markers are spelt out', () => {
  const estimate = estimateMessages([{ content: 'Hi' }]);
  expect(estimate.templateTokens).toBe(8);
  expect(estimate.total.likely - estimate.messages[0]!.likely).toBe(8);
  expect(estimate.total.high).toBeGreaterThanOrEqual(25);
});

test('a counted prompt has a band without width', () => {
  expect(countedEstimate(6_869, 24_063)).toEqual({
    low: 6_869,
    likely: 6_869,
    high: 6_869,
    characters: 24_063,
    charactersPerToken: 24_063 / 6_869,
    source: 'counted',
  });
});

test('5 MB are one pass: a thousand times the text is not much more than a thousand times the work', () => {
  const piece = 'Section 12: requests about travel go to desk 137. for (let i = 0;) 今日は 🙂 '.repeat(70);
  const timeOf = (text: string): number => {
    const times = [0, 1, 2].map(() => {
      const began = performance.now();
      estimateText(text);
      return performance.now() - began;
    });
    return Math.min(...times);
  };
  timeOf(piece);
  const small = timeOf(piece.repeat(20));
  expect(timeOf(piece.repeat(1_000))).toBeLessThan(Math.max(small, 0.5) * 50 * 20);
});
