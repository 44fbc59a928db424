import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTokenizer } from '../../shared/node/simulator/tokenizer.ts';

const tokenizer = createTokenizer();
const anyText = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1 }),
    fc.constantFrom('a', 'B', ' ', '\n', '1', '<', '|', '>', '今', 'は', '🙂', '\ud83d', 'é', '한'),
  ),
  maxLength: 300,
});

describe('any text', () => {
  test('the pieces joined are the text', () => {
    fc.assert(
      fc.property(
        anyText,
        (text) => tokenizer.pieces(text).join('') === text && tokenizer.pieces(text).every((piece) => piece !== ''),
      ),
    );
  });

  test('ends, pieces and count agree', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const ends = [...tokenizer.ends(text)];
        expect(ends.length).toBe(tokenizer.count(text));
        let start = 0;
        expect(ends.map((end) => text.slice(start, (start = end)))).toEqual(tokenizer.pieces(text));
      }),
    );
  });

  test('counting up to a bound says whether there are more', () => {
    fc.assert(
      fc.property(anyText, fc.nat(50), (text, atMost) => {
        const count = tokenizer.count(text);
        expect(tokenizer.count(text, atMost)).toBe(Math.min(count, atMost + 1));
      }),
    );
  });

  test('a piece has one number, inside the vocabulary', () => {
    fc.assert(
      fc.property(anyText, (text) =>
        tokenizer
          .pieces(text)
          .every((piece) => tokenizer.idOf(piece) === tokenizer.idOf(piece) && tokenizer.idOf(piece) < 262_144),
      ),
    );
  });
});

/** What a real server counted for these texts (template and BOS are nine tokens). */
describe('measured samples', () => {
  test.each(['english-sample', 'code-sample', 'unicode-cjk', 'unicode-emoji'])('%s', (name) => {
    const recording = JSON.parse(readFileSync(new URL(`../fixtures/real/${name}.json`, import.meta.url), 'utf8')) as {
      request: { body: { messages: { content: string }[] } };
      response: { body: string };
    };
    const counted = Number(/"prompt_eval_count":(\d+)/.exec(recording.response.body)?.[1]);
    expect(tokenizer.count(recording.request.body.messages[0]?.content ?? '') + 9).toBe(counted);
  });
});

test('chat tags are one token, look-alikes are not', () => {
  expect(tokenizer.pieces('<|im_start|>user\n<end_of_turn>')).toEqual(['<|im_start|>', 'user', '\n', '<end_of_turn>']);
  expect(tokenizer.pieces('<start_of_line>').length).toBeGreaterThan(1);
});
