import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinTokens } from '../../../shared/engine/reasoning/token-text.ts';
import type { LogprobEntry } from '../../../shared/engine/reasoning/types.ts';
import { read, readPieces } from './support.ts';

const encoder = new TextEncoder();

/** A sampled token as the server lists it. */
function entry(bytes: readonly number[]): LogprobEntry {
  return { token: new TextDecoder().decode(new Uint8Array(bytes)), bytes };
}

const entries = (texts: readonly string[]) => texts.map((text) => entry([...encoder.encode(text)]));

const word = fc.constantFrom('plan', ' prime', ' check', ' é', ' 日本', '🙂', ' 7', ',', ' it.');
const words = fc.array(word, { minLength: 1, maxLength: 20 });

describe('counted by log probabilities', () => {
  test('thinking in its field, answer in its own, markers in neither', () => {
    fc.assert(
      fc.property(words, words, (thought, answer) => {
        const logprobs = entries(['<think>', '\n', ...thought, '\n', '</think>', '\n\n', ...answer]);
        const { split } = read({
          thinking: thought.join(''),
          content: answer.join(''),
          more: { logprobs },
          end: { evalCount: logprobs.length + 1 },
        });
        expect(split).toMatchObject({
          source: 'counted',
          thinkingTokens: thought.length,
          answerTokens: answer.length,
          hiddenTokens: 0,
          otherTokens: 6,
          errorTokens: 0,
        });
      }),
    );
  });

  test('hidden thinking is a count, and shows that off was not obeyed', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 4, maxLength: 20 }), words, (thought, answer) => {
        const logprobs = entries(['<|channel>', 'thought', '\n', ...thought, '<channel|>', ...answer]);
        const verdict = read({
          content: answer.join(''),
          settings: { think: false },
          more: { logprobs },
          end: { evalCount: logprobs.length + 1 },
        });
        expect(verdict.split?.hiddenTokens).toBe(thought.length);
        expect([verdict.places, verdict.obedience]).toEqual([['hidden'], 'not-obeyed']);
      }),
    );
  });

  test('a reply that ended by length has no end token', () => {
    const logprobs = entries(['a', ' b']);
    const { split } = read({ content: 'a b', more: { logprobs }, end: { doneReason: 'length', evalCount: 2 } });
    expect(split).toMatchObject({ answerTokens: 2, otherTokens: 0, errorTokens: 0, thinkingOutsideCount: false });
  });

  test('to which chunk an entry was attached does not matter', () => {
    const tokens = entries(['<think>', '\n', 'a', ' b', '</think>', '\n\n', 'Yes', '.']);
    const late = readPieces([{ thinking: 'a b' }, { content: 'Yes.' }, { logprobs: tokens }], {
      end: { evalCount: 9 },
    });
    const early = readPieces(
      [{ logprobs: tokens }, { thinking: 'a' }, { thinking: ' b' }, { content: 'Yes' }, { content: '.' }],
      { end: { evalCount: 9 } },
    );
    expect(late.split).toEqual(early.split);
    expect(late.split).toMatchObject({ thinkingTokens: 2, answerTokens: 2, otherTokens: 5 });
  });

  test('where the tokens do not spell the visible text it is an estimate', () => {
    const { split } = read({
      content: 'Something else.',
      more: { logprobs: entries(['Yes', '.']) },
      end: { evalCount: 3 },
    });
    expect(split).toMatchObject({ source: 'estimated', basis: 'characters' });
  });
});

test('letters torn between tokens come together again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 3 }), (text, size) => {
      fc.pre(text.isWellFormed());
      const bytes = [...encoder.encode(text)];
      const torn = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        entry(bytes.slice(at * size, at * size + size)),
      );
      expect(joinTokens(torn).text).toBe(text);
    }),
  );
});

describe('estimated', () => {
  test('chunks scaled to the count: each part within one token of its share', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (thought, answer, markers) => {
          const pieces = [
            ...Array.from({ length: thought }, () => ({ thinking: ' plan' })),
            ...Array.from({ length: answer }, () => ({ content: ' word' })),
          ];
          const evalCount = Math.min(2 * (thought + answer), thought + answer + markers);
          const { split } = readPieces(pieces, { end: { evalCount } });
          expect(split).toMatchObject({
            source: 'estimated',
            basis: 'chunks',
            errorTokens: evalCount - thought - answer,
          });
          const share = ((evalCount - 1) * thought) / (thought + answer);
          expect(Math.abs((split?.thinkingTokens ?? 0) - share)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  test('chunks that a proxy has joined are not taken for tokens', () => {
    const { split } = readPieces([{ thinking: 'a long plan '.repeat(20) }, { content: 'Yes.' }], {
      end: { evalCount: 90 },
    });
    expect(split?.basis).toBe('characters');
  });

  test('tagged thinking is found chunk by chunk', () => {
    const pieces = ['<think>', 'a', ' b', ' c', '</think>', 'Yes', '.'].map((content) => ({ content }));
    const { split } = readPieces(pieces, { end: { evalCount: 8, doneReason: 'length' } });
    expect(split).toMatchObject({ basis: 'chunks', thinkingTokens: 5, answerTokens: 3, errorTokens: 3 });
  });

  test('a refused call has none', () => {
    expect(read({ end: { ending: 'refused', status: 400 } }).split).toBeNull();
  });
});
