import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainChunkAt } from '../../../shared/node/ollama/plain-line.ts';
import { bytesOf, parsedEvents, recordings, summed, tear } from './support.ts';

const at = '2026-11-29T19:44:07.3974922Z';
const chat = (message: object, done = false): string =>
  `${JSON.stringify({ model: 'qwen3:0.6b', created_at: at, message: { role: 'assistant', ...message }, done })}\n`;
const generate = (fields: object): string =>
  `${JSON.stringify({ model: 'qwen3:0.6b', created_at: at, ...fields, done: false })}\n`;

const chunk = (thinking: string, answer: string): object => ({
  kind: 'chunk',
  thinking,
  answer,
  toolCalls: 0,
  logprobEntries: null,
});

describe('a plain line', () => {
  test.each<[string, string, object]>([
    ['of an answer', chat({ content: ' fox' }), chunk('', ' fox')],
    ['of thinking', chat({ content: '', thinking: 'Okay' }), chunk('Okay', '')],
    ['of both', chat({ content: 'b', thinking: 'a' }), chunk('a', 'b')],
    ['without text', chat({ content: '' }), chunk('', '')],
    ['of a completion', generate({ response: '🦊 é' }), chunk('', '🦊 é')],
    ['of a longer text', chat({ content: 'internationalisation' }), chunk('', 'internationalisation')],
    ['with escapes', chat({ content: '"\\n\n\t\u0001', thinking: '\b' }), chunk('\b', '"\\n\n\t\u0001')],
    ['as it is escaped in Go', chat({ content: '@' }).replace('@', '\\u003c\\uD83E\\udd8a'), chunk('', '<🦊')],
    ['of a completion that thinks', generate({ response: '', thinking: 'Hm' }), chunk('Hm', '')],
  ])('%s', (_what, line, expected) => {
    expect(plainChunkAt(line, 0)).toEqual(expected);
    expect(plainChunkAt(`${line}${line}`, line.length)).toEqual(expected);
  });

  test.each<[string, string]>([
    ['an escape that is none', chat({ content: 'a' }).replace('"a"', '"\\x"')],
    ['half an escape', chat({ content: 'a' }).replace('"a"', '"\\u00e"')],
    ['a text longer than tokens are', chat({ content: 'x'.repeat(65) })],
    ['the end', chat({ content: 'a' }, true)],
    ['a tool call', chat({ content: 'a', tool_calls: [] })],
    ['logprobs', generate({ response: 'a', logprobs: [] })],
    ['another role', chat({ content: 'a' }).replace('assistant', 'user')],
    ['a wrong type', chat({ content: 7 })],
    ['space in front', ` ${chat({ content: 'a' })}`],
    ['a carriage return', chat({ content: 'a' }).replace('\n', '\r\n')],
    ['no newline yet', chat({ content: 'a' }).trimEnd()],
    ['a raw control character', chat({ content: 'a' }).replace('"a"', '"\t"')],
  ])('is none with %s', (_what, line) => {
    expect(plainChunkAt(line, 0)).toBeNull();
  });

  test('is what recorded servers send for nearly every text', () => {
    const lines = recordings()
      .flatMap(({ response }) => response.body.split('\n'))
      .filter((line) => /"done":false\}$/.test(line) && line.startsWith('{"model"'));
    const plain = lines.filter((line) => plainChunkAt(`${line}\n`, 0) !== null);
    expect(lines.length).toBeGreaterThan(50);
    expect(plain.length / lines.length).toBeGreaterThan(0.9);
  });
});

test('a line that is nearly plain, broken at any place, is read as the parser of JSON reads it', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '<', 'é', '🦊', '\ud83e', '\u2028'),
    maxLength: 70,
  });
  const line = fc.oneof(
    fc.record({ content: text }).map((message) => chat(message)),
    fc.record({ content: text, thinking: text }).map((message) => chat(message)),
    fc.record({ response: text }).map(generate),
    fc.record({ response: text, thinking: text }).map(generate),
  );
  const slip = fc.record({
    at: fc.nat(200),
    cut: fc.nat(3),
    put: fc.constantFrom(
      '',
      '"',
      '\\',
      '\\u00e',
      '\\/',
      '\n',
      '\r',
      '\t',
      ',',
      '}',
      '{',
      'é',
      '\u0000',
      '\uFEFF',
      '"done":true,',
    ),
  });
  const broken = fc.tuple(fc.array(line, { minLength: 1, maxLength: 4 }), fc.option(slip)).map(([lines, how]) => {
    const whole = lines.join('');
    return how === null ? whole : whole.slice(0, how.at) + how.put + whole.slice(how.at + how.cut);
  });
  fc.assert(
    fc.property(broken, fc.array(fc.nat(500), { maxLength: 3 }), (reply, cuts) => {
      // A space in front changes nothing for JSON, and is no plain line.
      const slow = reply.replace(/^|\n/g, '$& ');
      const read = (of: string, pieces: readonly number[]): object => {
        const { end, ...texts } = summed(
          parsedEvents(
            tear(
              bytesOf(of),
              [...pieces].sort((a, b) => a - b),
            ),
          ),
        );
        return { ...texts, end: { ...end, raw: '', rawBytes: 0 } };
      };
      expect(read(reply, cuts)).toEqual(read(slow, []));
    }),
    { numRuns: 2_000 },
  );
});
