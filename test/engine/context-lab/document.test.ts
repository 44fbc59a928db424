import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { buildDocument, smallestDocument } from '../../../shared/engine/context-lab/document.ts';
import { contextMessages } from '../../../shared/engine/context-lab/prompt.ts';

const estimateTokens = (text: string): number => Math.ceil(text.length / 3.3);
const build = (size: number | { tokens: number }, depths: number[], seed: number, ownText: string | null = null) =>
  buildDocument({ size, depths, seed, ownText, estimateTokens });

const depthsArbitrary = fc.array(
  fc.oneof(fc.constantFrom(0, 25, 50, 75, 100), fc.double({ min: 0, max: 100, noNaN: true })),
  { minLength: 1, maxLength: 10 },
);
const seedArbitrary = fc.integer({ min: 0, max: 2_147_483_000 });
const count = (text: string, part: string): number => text.split(part).length - 1;

describe('a generated document', () => {
  test('has exactly the asked characters, whatever size, depths and seed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30_000 }), depthsArbitrary, seedArbitrary, (more, depths, seed) => {
        const size = smallestDocument(depths) + more;
        expect(build(size, depths, seed).text.length).toBe(size);
      }),
      { numRuns: 300 },
    );
  });

  test('has each needle once and each decoy once, and no other token of their shape', () => {
    fc.assert(
      fc.property(fc.integer({ min: 600, max: 20_000 }), depthsArbitrary, seedArbitrary, (size, depths, seed) => {
        fc.pre(size >= smallestDocument(depths));
        const { text, needles } = build(size, depths, seed);
        const tokens = needles.map((needle) => needle.token);
        const decoys = needles[0]?.decoys ?? [];
        expect(new Set([...tokens, ...decoys]).size).toBe(tokens.length + decoys.length);
        for (const token of [...tokens, ...decoys]) expect(count(text, token)).toBe(1);
        expect(text.match(/[A-Z]{3,}-\d{4}/g)).toHaveLength(tokens.length + decoys.length);
      }),
      { numRuns: 100 },
    );
  });

  test('starts with the needle at 0 and ends with the needle at 100', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 9_000 }), seedArbitrary, (size, seed) => {
        const { text, needles } = build(size, [0, 100], seed);
        expect(text.startsWith(`The launch code is ${needles[0]?.token}.\n`)).toBe(true);
        expect(text.endsWith(`\nThe vault word is ${needles[1]?.token}.`)).toBe(true);
      }),
    );
  });

  test('has the needle near its depth, behind a whole sentence', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5_000, max: 40_000 }),
        fc.double({ min: 1, max: 99, noNaN: true }),
        seedArbitrary,
        (size, depth, seed) => {
          const { text } = build(size, [depth], seed);
          const at = text.indexOf('The launch code');
          expect(Math.abs(at - (depth / 100) * size)).toBeLessThan(300);
          expect(text.slice(at - 2, at)).toMatch(/[.?] /);
        },
      ),
    );
  });

  test('is the same for the same ask, and shares no beginning with another size or seed', () => {
    const { text } = build(10_000, [50], 7);
    expect(build(10_000, [50], 7).text).toBe(text);
    expect(build(10_000, [50], 8).text.slice(0, 200)).not.toBe(text.slice(0, 200));
    expect(build(10_001, [50], 7).text.slice(0, 200)).not.toBe(text.slice(0, 200));
  });

  test('keeps the launch code of its seed over all sizes and depths', () => {
    const token = build(2_000, [0], 7).needles[0]?.token;
    expect(build(120_000, [100, 0], 7).needles[0]?.token).toBe(token);
    expect(build(2_000, [0], 8).needles[0]?.token).not.toBe(token);
  });

  test('of 5,000,000 characters is built, exact', () => {
    expect(build(5_000_000, [0], 7).text.length).toBe(5_000_000);
  });

  test('with several needles asks for each by its own subject', () => {
    expect(build(2_000, [0], 7).question).toBe('What is the launch code? Answer with the code only.');
    expect(build(2_000, [0, 50, 100], 7).question).toBe(
      'What is the launch code? What is the vault word? What is the harbour key? Answer with the codes only, one a line.',
    );
  });

  test('too small for its needles is a bug, smallest is not', () => {
    const smallest = smallestDocument([0, 50]);
    expect(build(smallest, [0, 50], 3).text.length).toBe(smallest);
    expect(() => build(50, [0, 50], 3)).toThrow(RangeError);
  });
});

describe('a size in tokens', () => {
  test('is met as well as the estimate can', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 40_000 }),
        fc.double({ min: 1.5, max: 6, noNaN: true }),
        seedArbitrary,
        (tokens, ratio, seed) => {
          const estimate = (text: string): number => Math.ceil(text.length / ratio);
          const { text } = buildDocument({
            size: { tokens },
            depths: [0],
            seed,
            ownText: null,
            estimateTokens: estimate,
          });
          expect(Math.abs(estimate(text) - tokens)).toBeLessThanOrEqual(Math.max(2, tokens * 0.01));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("the person's own text", () => {
  const textArbitrary = fc.oneof(
    fc.string({ minLength: 1, maxLength: 3_000, unit: 'grapheme' }),
    fc
      .array(fc.constantFrom('wind ', 'tide. ', 'sea\n', '海。', '🙂', ' '), { minLength: 1, maxLength: 800 })
      .map((parts) => parts.join('')),
  );

  test('is cut or repeated to at most the size, and holds each needle once', () => {
    fc.assert(
      fc.property(
        textArbitrary,
        fc.integer({ min: 500, max: 6_000 }),
        depthsArbitrary,
        seedArbitrary,
        (own, size, depths, seed) => {
          fc.pre(size >= smallestDocument(depths));
          const { text, needles } = build(size, depths, seed, own);
          expect(text.length).toBeLessThanOrEqual(size);
          for (const needle of needles) expect(count(text, needle.token)).toBe(1);
          expect(text.isWellFormed()).toBe(own.isWellFormed());
        },
      ),
      { numRuns: 200 },
    );
  });

  test('stays as it is but for the needle, when it fits exactly', () => {
    const own = 'First we sail. Then we row. At last we walk home.';
    const { text, needles } = build(own.length + 1 + `The launch code is .`.length + 11, [50], 7, own);
    expect(text.replace(` The launch code is ${needles[0]?.token}.`, '')).toBe(own);
    expect(text).toContain('Then we row. The launch code');
  });

  test('never holds the drawn token by itself', () => {
    const token = build(2_000, [0], 7).needles[0]?.token ?? '';
    const { needles } = build(2_000, [0], 7, `My own code is ${token.toLowerCase()}, keep it. `.repeat(100));
    expect(needles[0]?.token).not.toBe(token);
  });

  test('is cut between words', () => {
    const own = 'harbour '.repeat(1_000);
    expect(build(1_000, [0], 7, own).text.endsWith('harbour')).toBe(true);
  });
});

describe('the prompt', () => {
  test('has the question last or first, with the classic overhead', () => {
    for (const size of [2_000, 10_000, 40_000, 120_000]) {
      const { text, question } = build(size, [0], 7);
      const last = contextMessages({ document: text, question, position: 'last' })[0]?.content ?? '';
      const first = contextMessages({ document: text, question, position: 'first' })[0]?.content ?? '';
      expect(last.startsWith(text) && last.endsWith(question)).toBe(true);
      expect(first.includes(question) && first.endsWith(text)).toBe(true);
      expect(last.length - size).toBeGreaterThan(50);
      expect(last.length - size).toBeLessThan(83);
    }
  });
});
