/** Which messages were kept: against the simulator's own rule of dropping, and against recorded renderings. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRenderings } from '../../../shared/engine/truncation/render-oracle.ts';
import { dropMessages } from '../../../shared/node/simulator/prompt.ts';
import { renderChat } from '../../../shared/node/simulator/templates.ts';
import { createTokenizer } from '../../../shared/node/simulator/tokenizer.ts';

type Sent = { role: 'system' | 'user' | 'assistant'; content: string };

/** Short, repeated and template-like words beside longer texts: what a search for texts falls over. */
const word = fc.constantFrom(
  'ok',
  'yes',
  'user',
  'model',
  'assistant',
  'end',
  'im_start',
  'be ok',
  'a < b & "c"',
  ' padded \n',
);
const content = fc.oneof(
  word,
  fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(' ')),
  fc.string({ maxLength: 60 }),
);
const role = fc.constantFrom('user' as const, 'assistant' as const, 'user' as const, 'system' as const);
const conversation = fc.array(fc.record({ role, content }), { minLength: 1, maxLength: 25 });

function simulated(messages: readonly Sent[], layout: 'turns' | 'chatml', numCtx: number) {
  const counter = { tokenizer: createTokenizer(), pin: null };
  const render = (kept: readonly Sent[]): string => renderChat(layout, kept);
  const dropped = dropMessages(messages, render as never, numCtx, counter as never);
  return { kept: dropped.text, uncut: render(messages), from: dropped.from };
}

describe('the simulator drops', () => {
  for (const layout of ['turns', 'chatml'] as const) {
    test(`${layout}: nothing wrong is ever said`, () => {
      fc.assert(
        fc.property(conversation, fc.integer({ min: 5, max: 200 }), (messages, numCtx) => {
          const { kept, uncut, from } = simulated(messages, layout, numCtx);
          const { messages: picture } = readRenderings({ messages, kept, uncut });
          expect(picture).toHaveLength(messages.length);
          for (const [index, each] of picture.entries()) {
            const isSystem = messages[index]?.role === 'system';
            // Where no question is left there is no place for the system text in this layout.
            if (isSystem && layout === 'turns' && !messages.slice(from).some(({ role }) => role === 'user')) continue;
            const stays = index >= from || isSystem;
            if (each.kept !== 'unknown') expect([index, each.kept]).toEqual([index, stays ? 'kept' : 'dropped']);
          }
        }),
        { numRuns: 1_000 },
      );
    });

    test(`${layout}: an ordinary conversation is told whole`, () => {
      const sentence = fc
        .integer({ min: 1, max: 9 })
        .map((times) => 'The harbour master writes it down. '.repeat(times).trim());
      const turns = fc.array(fc.tuple(sentence, sentence), { minLength: 1, maxLength: 12 }).map((pairs): Sent[] => [
        { role: 'system', content: 'You are terse.' },
        ...pairs.flatMap(([ask, reply], at): Sent[] => [
          { role: 'user', content: `Question ${at}: ${ask}` },
          { role: 'assistant', content: reply },
        ]),
        { role: 'user', content: 'And now?' },
      ]);
      fc.assert(
        fc.property(turns, fc.integer({ min: 20, max: 400 }), (messages, numCtx) => {
          const { kept, uncut, from } = simulated(messages, layout, numCtx);
          const { messages: picture, isWhole } = readRenderings({ messages, kept, uncut });
          expect(isWhole).toBe(true);
          expect(picture.map((each) => each.kept)).toEqual(
            messages.map((message, index) => (index >= from || message.role === 'system' ? 'kept' : 'dropped')),
          );
        }),
        { numRuns: 300 },
      );
    });
  }
});

test('texts that say nothing about their place leave the edge open', () => {
  const sent = (texts: readonly string[], system?: string): Sent[] => [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    ...texts.map((text): Sent => ({ role: 'user', content: text })),
  ];
  for (const [messages, numCtx, layout] of [
    [sent(['', 'ok ok', 'ok', '!'], 'ok'), 17, 'turns'],
    [sent(['ok', 'be ok', 'ok', 'ok'], 'ok'), 5, 'chatml'],
    [sent(['"', 'ok'], 'be ok'), 5, 'chatml'],
  ] as const) {
    const { kept, uncut, from } = simulated(messages, layout, numCtx);
    expect(from).toBeGreaterThan(0);
    for (const [index, each] of readRenderings({ messages, kept, uncut }).messages.entries()) {
      const is = index >= from || messages[index]?.role === 'system' ? 'kept' : 'dropped';
      expect([is, 'unknown']).toContain(each.kept);
    }
  }
});

describe('recorded renderings', () => {
  const read = (name: string): { messages: Sent[]; text: string } => {
    const file = JSON.parse(readFileSync(new URL(`../../fixtures/${name}.json`, import.meta.url), 'utf8')) as {
      request: { body: { messages: Sent[] } };
      response: { body: string };
    };
    const body = JSON.parse(file.response.body) as { _debug_info: { rendered_template: string } };
    return { messages: file.request.body.messages, text: body._debug_info.rendered_template };
  };

  for (const [name, kept, system] of [
    ['real/rendered-chat', 4, 'kept'],
    ['real/native-chat', 4, 'kept'],
    ['old/rendered-chat', 4, 'kept'],
    ['old/native-chat', 4, 'unknown'],
  ] as const) {
    test(name, () => {
      const sent = read(`${name}-render-only`);
      const whole = read(`${name}-render-only-uncut`);
      const { messages, isWhole } = readRenderings({ messages: sent.messages, kept: sent.text, uncut: whole.text });
      expect(isWhole).toBe(true);
      expect(messages[0]?.kept).toBe(system);
      const states = messages.slice(1).map((each) => each.kept);
      // Counted in the recording by the numbers of its turns, which each text begins with.
      const there = sent.messages.slice(1).map((message) => sent.text.includes(message.content));
      expect(states).toEqual(there.map((is) => (is ? 'kept' : 'dropped')));
      expect(states.filter((state) => state === 'kept').length).toBeGreaterThanOrEqual(kept);
      expect(states).toContain('dropped');
    });
  }
});

describe('what cannot be told', () => {
  const messages: Sent[] = [
    { role: 'user', content: 'first question' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'second question' },
  ];
  const states = (kept: string, uncut: string): string[] =>
    readRenderings({ messages, kept, uncut }).messages.map((each) => each.kept);

  test('a template that writes texts in another way, or not at all', () => {
    expect(states('A', 'AB')).toEqual(['unknown', 'unknown', 'unknown']);
  });
  test('a rendering that is longer than the whole one', () => {
    expect(states('first question, second question, more', 'first question, second question')).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
  });
  test('a server that dropped in both renderings: what is in neither is unknown', () => {
    const reading = readRenderings({ messages, kept: '<second question>', uncut: '<second question>' });
    expect(reading.messages.map((each) => each.kept)).toEqual(['unknown', 'unknown', 'kept']);
    expect(reading.isWhole).toBe(false);
  });
  test('a text that is trimmed, escaped as JSON or as HTML is found', () => {
    const escaped = [
      { role: 'user', content: ' say "no" \n' },
      { role: 'user', content: 'a < b' },
    ];
    const reading = readRenderings({ messages: escaped, kept: '[a &lt; b]', uncut: '[say \\"no\\"][a &lt; b]' });
    expect(reading.messages.map((each) => each.kept)).toEqual(['dropped', 'kept']);
  });
});
