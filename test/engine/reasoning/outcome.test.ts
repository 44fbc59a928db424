import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reasoningVerdictSchema } from '../../../shared/contract/verdicts.ts';
import { type Reply, read } from './support.ts';

const PLAN = 'The user asks whether the number is prime. Let me test the small divisors one by one.';
const length = { doneReason: 'length' } as const;

describe('what became of the reply', () => {
  test.each<[string, Reply, readonly [string, string | null, boolean | null]]>([
    ['an answer', { content: 'Yes.' }, ['answered', null, true]],
    ['an answer that was cut', { content: 'Yes, bec', end: { ...length, evalCount: 120 } }, ['answered', null, false]],
    ['a tool call', { toolCalls: 1 }, ['tool-only', null, true]],
    ['thinking and a tool call', { thinking: PLAN, toolCalls: 1 }, ['tool-only', null, true]],
    [
      'thinking in tags and a tool call',
      { content: `<think>${PLAN}</think>`, toolCalls: 2 },
      ['tool-only', null, true],
    ],
    ['an answer beside a tool call', { content: 'I look it up.', toolCalls: 1 }, ['answered', null, true]],
    ['thinking up to the cap', { thinking: PLAN, end: { ...length, evalCount: 120 } }, ['starved', 'cap', false]],
    ['thinking that ended by itself', { thinking: PLAN }, ['starved', 'stop', true]],
    ['nothing', {}, ['empty', null, true]],
    ['blanks', { content: '\n \n' }, ['empty', null, true]],
    ['tags around nothing', { content: '<think>\n</think>\n' }, ['empty', null, true]],
    ['a model that was only loaded', { end: { doneReason: 'load' } }, ['empty', null, null]],
    ['no last line', { content: 'Yes', end: { ending: 'cut', doneReason: null } }, ['cut', null, false]],
    ['a client that left', { thinking: PLAN, end: { ending: 'aborted', doneReason: null } }, ['cut', null, false]],
    [
      'an error in mid-stream',
      { content: 'Ye', end: { ending: 'error-line', doneReason: null, error: 'unexpected EOF' } },
      ['error-mid-stream', null, false],
    ],
    [
      'a refusal',
      { end: { ending: 'refused', status: 400, doneReason: null, error: '"m" does not support thinking' } },
      ['refused', 'capability', null],
    ],
    [
      'another refusal',
      { end: { ending: 'refused', status: 400, doneReason: null, error: 'model is required' } },
      ['refused', null, null],
    ],
    [
      'a prompt over the window',
      { end: { ending: 'refused', status: 400, doneReason: null, error: 'too long', needs: 1_421 } },
      ['refused', 'prompt-too-long', null],
    ],
    [
      'a runner that died',
      { end: { ending: 'refused', status: 500, doneReason: null, error: 'unexpected EOF' } },
      ['refused', 'server', null],
    ],
    ['no server', { end: { ending: 'unreachable', status: null, doneReason: null } }, ['refused', null, null]],
  ])('%s', (_name, reply, expected) => {
    const { outcome, cause, complete } = read(reply);
    expect([outcome, cause, complete]).toEqual(expected);
  });
});

describe('what starved it', () => {
  test.each<[string, Reply, string | null]>([
    ['the cap', { end: { ...length, evalCount: 120 } }, 'cap'],
    [
      'the window: 21 + 235 = 256, far under the cap of 600',
      { settings: { numPredict: 600, window: 256 }, end: { ...length, promptEvalCount: 21, evalCount: 235 } },
      'window',
    ],
    [
      'the padded window: 27 + 485 = 512 for 300',
      {
        settings: { numPredict: 600, window: 300, shift: false },
        end: { ...length, promptEvalCount: 27, evalCount: 485 },
      },
      'window',
    ],
    [
      'the window asked for, where the running one is not known',
      {
        settings: { numPredict: 600, window: null, numCtx: 256 },
        end: { ...length, promptEvalCount: 21, evalCount: 235 },
      },
      'window',
    ],
    [
      'cap and window at once: the cap',
      { settings: { numPredict: 235, window: 256 }, end: { ...length, promptEvalCount: 21, evalCount: 235 } },
      'cap',
    ],
    [
      'the window shifted: 27 + 600 is over 256',
      { settings: { numPredict: 600, window: 256 }, end: { ...length, promptEvalCount: 27, evalCount: 600 } },
      'shift',
    ],
    [
      'ten windows, without a cap',
      { settings: { numPredict: -1, window: 64 }, end: { ...length, promptEvalCount: 14, evalCount: 640 } },
      'shift',
    ],
    [
      'shifts the log knows of',
      { more: { shifts: 2 }, settings: { window: null }, end: { ...length, evalCount: 90 } },
      'shift',
    ],
    [
      'a cap of the model, where the call has none',
      { settings: { numPredict: null }, end: { ...length, evalCount: 128 } },
      'cap',
    ],
    [
      'under the cap, and the window is not known',
      { settings: { window: null }, end: { ...length, evalCount: 90 } },
      'window',
    ],
    ['under the cap and the window: not known', { end: { ...length, evalCount: 90 } }, null],
    ['without counts: the cap, where it does not reach the window', { end: { ...length } }, 'cap'],
    [
      'without counts: the window, where the cap is beyond it',
      { settings: { numPredict: 8_000 }, end: { ...length } },
      'window',
    ],
    ['by itself', {}, 'stop'],
    ['an old server that gives no reason, at the cap', { end: { doneReason: null, evalCount: 120 } }, 'cap'],
    ['an old server that gives no reason', { end: { doneReason: null, evalCount: 30 } }, 'stop'],
  ])('%s', (_name, reply, cause) => {
    const verdict = read({ thinking: PLAN.repeat(6), ...reply });
    expect([verdict.outcome, verdict.cause]).toEqual(['starved', cause]);
  });

  test('a cap of 0 or below bounds nothing', () => {
    for (const numPredict of [0, -1, -2])
      expect(read({ thinking: PLAN.repeat(6), settings: { numPredict, window: null }, end: length }).cause).toBeNull();
  });
});

describe('where the thinking was', () => {
  test.each<[string, Reply, readonly string[], string | null]>([
    ['its own field', { thinking: PLAN, content: 'Yes.' }, ['field'], null],
    ['in the answer, in tags', { content: `<think>${PLAN}</think>Yes.` }, ['answer-tagged'], null],
    ['before a lone closing tag', { content: `${PLAN}</think>\n\nYes.` }, ['answer-tagged'], null],
    ['both', { thinking: PLAN, content: `<think>${PLAN}</think>Yes.` }, ['answer-tagged', 'field'], null],
    [
      'in the answer, without tags',
      { content: `Okay, the user wants to know. ${PLAN}\n\nYes.` },
      [],
      'answer-untagged',
    ],
    [
      'a thought that goes round until the cap',
      { content: 'Once more from 7, to be sure. '.repeat(20), end: length },
      [],
      'answer-untagged',
    ],
    ['a song that does the same', { content: 'Row, row, row your boat. '.repeat(20), end: length }, ['none'], null],
    ['nowhere, though counted', { content: 'Yes.', end: { evalCount: 29 } }, ['hidden'], null],
    ['nowhere, without any text', { end: { evalCount: 120, doneReason: 'length' } }, ['hidden'], null],
    ['nowhere', { content: 'Yes.', end: { evalCount: 2 } }, ['none'], null],
    ['only maybe: all of it in the field', { thinking: 'Yes.' }, ['field'], 'answer-in-field'],
    ['not shown before it broke off', { content: 'Yes', end: { ending: 'cut', doneReason: null } }, [], null],
  ])('%s', (_name, reply, places, suspected) => {
    const verdict = read(reply);
    expect([verdict.places, verdict.suspected]).toEqual([places, suspected]);
  });

  test('eight tokens that nothing visible explains are hidden, seven are not', () => {
    expect(read({ content: 'Yes.', end: { evalCount: 2 + 7 } }).places).toEqual(['none']);
    expect(read({ content: 'Yes.', end: { evalCount: 2 + 8 } }).places).toEqual(['hidden']);
  });

  test('what a text can need at most is never called hidden', () => {
    // Tokens a sign takes in vocabularies that have no word for it: digits alone, rare signs in bytes.
    const worst: Readonly<Record<string, number>> = { '7': 1, π: 1, é: 0.5, 日: 2, ก: 2, '🙂': 4, '👩‍👩‍👧': 16 };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.keys(worst)), { minLength: 1, maxLength: 60 }), (signs) => {
        const tokens = Math.ceil(signs.reduce((sum, sign) => sum + (worst[sign] ?? 0), 0));
        expect(read({ content: signs.join(''), end: { evalCount: tokens + 1 } }).places).toEqual(['none']);
      }),
    );
  });

  test('the text of tool calls counts as visible', () => {
    const more = { toolCharacters: 90 };
    expect(read({ toolCalls: 2, more, end: { evalCount: 60 } }).places).toEqual(['none']);
    expect(read({ toolCalls: 2, more, end: { evalCount: 400 } }).places).toEqual(['hidden']);
  });
});

describe('whether off was obeyed', () => {
  const off: Reply = { settings: { think: false } };
  test.each<[string, Reply, string]>([
    ['no thinking', { content: 'Yes.' }, 'obeyed'],
    ['the answer explains tags', { content: 'Write `</think>` to close.' }, 'obeyed'],
    ['thinking in its field', { thinking: PLAN, content: 'Yes.' }, 'not-obeyed'],
    ['one letter of it', { thinking: 'a', content: 'Yes.' }, 'not-obeyed'],
    ['thinking in tags', { content: `<think>${PLAN}</think>Yes.` }, 'not-obeyed'],
    ['planning in its field and nothing else', { thinking: PLAN }, 'not-obeyed'],
    ['what may be the answer in the field', { thinking: 'The capital of France is Paris.' }, 'suspect'],
    ['planning without tags', { content: `Okay, the user wants to know. ${PLAN}` }, 'suspect'],
    ['hidden tokens', { content: 'Yes.', end: { evalCount: 29 } }, 'suspect'],
    ['a tool call and no thinking', { toolCalls: 1 }, 'obeyed'],
    ['broken off before thinking showed', { content: 'Ye', end: { ending: 'cut', doneReason: null } }, 'unknown'],
    ['broken off in the thinking', { thinking: PLAN, end: { ending: 'aborted', doneReason: null } }, 'not-obeyed'],
    ['refused', { end: { ending: 'refused', status: 400, doneReason: null } }, 'not-asked'],
  ])('%s', (_name, reply, obedience) => {
    expect(read({ ...off, ...reply }).obedience).toBe(obedience);
  });

  test('it is only asked where off was', () => {
    for (const think of [null, true, 'low', 'default'])
      expect(read({ thinking: PLAN, content: 'Yes.', settings: { think } }).obedience).toBe('not-asked');
  });
});

describe('the answer in the thinking field is offered', () => {
  test.each([
    ['a text that does not plan', 'Paris.', 'Paris.'],
    ['behind planning', 'Okay, the user wants the capital. Let me recall.\n\nParis.', 'Paris.'],
    ['planning alone', PLAN, null],
  ])('%s', (_name, thinking, probableAnswer) => {
    const verdict = read({ thinking });
    expect([verdict.answer, verdict.probableAnswer]).toEqual(['', probableAnswer]);
  });
});

test('every input gives a verdict of the contract, and parts that add up', () => {
  const count = fc.option(fc.nat(5_000), { nil: null });
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc
      .array(fc.constantFrom('<think>', '</think>', '`', '```\n', 'a ', 'Yes', '[/THINK]', '<|channel|>', '\n'), {
        maxLength: 15,
      })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(
      text,
      text,
      fc.nat(2),
      fc.constantFrom(null, true, false, 'high'),
      fc.constantFrom('done', 'cut', 'aborted', 'error-line', 'refused', 'unreachable', 'not-sent'),
      fc.constantFrom('stop', 'length', 'load', null),
      fc.tuple(count, count, count, count),
      fc.boolean(),
      (thinking, content, toolCalls, think, ending, doneReason, counts, structured) => {
        const [promptEvalCount, evalCount, window, numPredict] = counts;
        const verdict = read({
          thinking,
          content,
          toolCalls,
          settings: { think, window, numPredict, structured },
          end: { ending, doneReason, promptEvalCount, evalCount },
        });
        expect(reasoningVerdictSchema.safeParse(verdict).error).toBeUndefined();
        const { split } = verdict;
        if (split === null || evalCount === null || split.thinkingOutsideCount) return;
        const parts = [split.thinkingTokens, split.answerTokens, split.hiddenTokens, split.otherTokens];
        expect(parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)).toBe(evalCount);
      },
    ),
    { numRuns: 500 },
  );
});
