import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { partsOf } from '../../../shared/engine/reasoning/parts.ts';
import { heldLength } from '../../../shared/engine/reasoning/tags.ts';
import { createReasoningReader } from '../../../shared/engine/reasoning/reader.ts';
import { read, readPieces, readings, settings } from './support.ts';

/** Opening and closing in the same spelling, of families that are known and of one that is not. */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ['<think>', '</think>'],
  ['<THINK>', '</Think>'],
  ['<thinking>', '</thinking>'],
  ['<reasoning>', '</reasoning>'],
  ['<thought>\n', '\n</thought>\n'],
  ['<seed:think>', '</seed:think>'],
  ['<newfamily_think>', '</newfamily_think>'],
  ['[THINK]', '[/THINK]'],
  ['[reasoning]', '[/reasoning]'],
  ['◁think▷', '◁/think▷'],
  ['<|think|>', '<|/think|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<｜begin▁of▁thinking｜>', '<｜end▁of▁thinking｜>'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
  ['<unused94>thought\n', '<unused95>'],
  ['<|channel>thought\n', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
];

/** Text in which no tag, code or quote can arise by chance. */
const plain = fc
  .array(fc.constantFrom('alpha', 'Beta', '7', 'né', '日本', '🙂', 'x+y', 'end.', '\n'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((words) => words.join(' '))
  .filter((text) => text.trim() !== '');

describe('tags in the answer', () => {
  test('what is between them is thinking, whatever the spelling and the text', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPELLINGS), plain, plain, ([open, close], thought, answer) => {
        const verdict = read({ content: `${open}${thought}${close}\n${answer}`, settings: { think: false } });
        expect([verdict.outcome, verdict.places, verdict.obedience, verdict.answer]).toEqual([
          'answered',
          ['answer-tagged'],
          'not-obeyed',
          answer.trim(),
        ]);
      }),
    );
  });

  test('a closing tag alone makes the text before it thinking', () => {
    const closes = SPELLINGS.map(([, close]) => close.trim());
    fc.assert(
      fc.property(fc.constantFrom(...closes), plain, plain, (close, thought, answer) => {
        const verdict = read({ content: `${thought}${close}\n\n${answer}`, settings: { think: false } });
        expect([verdict.places, verdict.answer]).toEqual([['answer-tagged'], answer.trim()]);
      }),
    );
  });

  test('an opening tag that is never closed leaves no answer', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPELLINGS), plain, ([open], thought) => {
        const verdict = read({
          content: `${open}${thought}`,
          end: { doneReason: 'length', evalCount: 40 },
          settings: { numPredict: 40 },
        });
        expect([verdict.outcome, verdict.cause, verdict.places[0], verdict.answer]).toEqual([
          'starved',
          'cap',
          'answer-tagged',
          '',
        ]);
      }),
    );
  });

  test('tags around nothing are no thinking', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPELLINGS), plain, ([open, close], answer) => {
        const verdict = read({ content: `${open}\n\n${close}\n\n${answer}`, settings: { think: false } });
        expect([verdict.places, verdict.obedience, verdict.answer]).toEqual([['none'], 'obeyed', answer.trim()]);
      }),
    );
  });

  test('any number of blocks', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, plain), { minLength: 1, maxLength: 5 }), (blocks) => {
        const content = blocks.map(([thought, answer]) => `<think>${thought}</think>${answer}\n`).join('');
        const parts = partsOf('', content);
        expect(parts.answer).toBe(blocks.map(([, answer]) => `${answer}\n`).join(''));
        expect(parts.taggedThinking).toBe(blocks.map(([thought]) => thought).join(''));
      }),
    );
  });

  test.each([
    ['a tag opened in one name and closed in another', '<think>a</thinking>b', 'a', 'b'],
    ['closed twice', '<think>a</think>b</think>c', 'ab', 'c'],
    ['closed once more at the end', '<think>a</think>Yes.\n</think>', 'a', 'Yes.\n'],
    ['a stray opening tag at the head of the thinking', '<think><think>a</think>b', 'a', 'b'],
    [
      'several channels',
      '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|start|>assistant<|channel|>final<|message|>c',
      'ab',
      'c',
    ],
    ['channel words without their control tokens', 'analysisWe add them.assistantfinal4', 'We add them.', '4'],
    [
      'a solution with its own borders',
      '<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>',
      'a',
      'b',
    ],
    ['sentences as borders', 'Here is my thought process:\nAdd.\n\nHere is my response:\n4', '\nAdd.\n\n', '\n4'],
    ['attributes', '<think budget="2">a</think>b', 'a', 'b'],
    [
      'a fence that is opened in the thinking and never closed there',
      '<think>run ```js\nx</think>\nCode:\n```js\ny\n```',
      'run ```js\nx',
      '\nCode:\n```js\ny\n```',
    ],
  ])('%s', (_name, content, thinking, answer) => {
    const parts = partsOf('', content);
    expect([parts.taggedThinking, parts.answer]).toEqual([thinking, answer]);
  });
});

describe('tags that are only spoken about', () => {
  test.each([
    'Write `</think>` to close.',
    'Write </think> to close.',
    'The <think> tag starts the reasoning and </think> ends it.',
    'Use "<think>" and "</think>".',
    'Models wrap reasoning in <think>...</think> tags.',
    'Put your reasoning between <think> and </think>.',
    'Schreibe </think> um den Block zu schließen.',
    'Mit <think> und </think> umschließt das Modell sein Denken.',
    'Le modèle écrit <think> puis </think> avant de répondre.',
    '```\n<think>\nplan\n</think>\nYes\n```\nThat is how it looks.',
    '```xml\n<reasoning>a</reasoning>\n```',
    '~~~\n[THINK]a[/THINK]b\n~~~',
    'One family writes <think> tags, another [THINK] and [/THINK].',
    'Example: `<think>a</think>b`',
    '<think> tags mark the reasoning of a model.',
    'An opening <think> without a closing </think> breaks parsers.',
    'The tags <think></think> are empty here.',
    '</think> closes the block.',
    '- `<think>` opens\n- `</think>` closes',
    'See [reasoning](https://example.org).',
    'A bare <|channel|> in prose.',
  ])('%s', (content) => {
    const { outcome, places, obedience, answer } = read({ content, settings: { think: false } });
    expect([outcome, places, obedience, answer]).toEqual(['answered', ['none'], 'obeyed', content]);
  });

  test('in code and in quotes, whatever the spelling and the text around', () => {
    const wraps: readonly ((tag: string) => string)[] = [
      (tag) => `\`${tag}\``,
      (tag) => `"${tag}"`,
      (tag) => `“${tag}”`,
      (tag) => `\n\`\`\`\n${tag}\n\`\`\`\n`,
    ];
    const tags = SPELLINGS.flatMap(([open, close]) => [open.trim(), close.trim()]);
    fc.assert(
      fc.property(fc.constantFrom(...wraps), fc.constantFrom(...tags), plain, plain, (wrap, tag, before, after) => {
        const content = `${before} ${wrap(tag)} ${after}`;
        const { places, obedience, answer } = read({ content, settings: { think: false } });
        expect([places, obedience, answer]).toEqual([['none'], 'obeyed', content.trim()]);
      }),
    );
  });

  test('inside thinking they do not end it', () => {
    for (const inner of [
      'I close with `</think>` later.',
      'The </think> tag ends it.',
      '```\n<think>\na\n</think>\n```',
    ])
      expect(partsOf('', `<think>\n${inner}\n</think>\nDone`).answer).toBe('\nDone');
  });

  test('an end token of other families closes no channel that was never opened', () => {
    for (const content of ['Yes.<|end|>', 'Yes.<|end_of_solution|>']) {
      const { answer, places, strayMarkers } = read({ content, settings: { think: false } });
      expect([answer, places, strayMarkers]).toEqual([content, ['none'], [content.slice(4)]]);
    }
  });

  test('what no table knows stays in the answer and is reported', () => {
    const { answer, strayMarkers, places } = read({ content: 'Yes.<|im_end|><|endoftext|>' });
    expect({ answer, strayMarkers, places }).toEqual({
      answer: 'Yes.<|im_end|><|endoftext|>',
      strayMarkers: ['<|im_end|>', '<|endoftext|>'],
      places: ['none'],
    });
  });
});

describe('the thinking field', () => {
  test('a closing tag in it marks where the answer begins, when the answer is nowhere else', () => {
    fc.assert(
      fc.property(plain, plain, (thought, answer) => {
        const { outcome, places, answerFrom, ...rest } = read({ thinking: `${thought}</think>\n\n${answer}` });
        expect([outcome, places, answerFrom, rest.answer]).toEqual(['answered', ['field'], 'field', answer.trim()]);
      }),
    );
  });

  test('with an answer in its own place it is a part of the thinking', () => {
    const { answer, answerFrom } = read({ thinking: 'a</think>b', content: 'c' });
    expect([answer, answerFrom]).toEqual(['c', 'content']);
  });

  test('a stray opening tag alone is no thinking', () => {
    const { outcome, places } = read({ thinking: '<think>', content: 'Yes.' });
    expect([outcome, places]).toEqual(['answered', ['none']]);
  });
});

describe('torn tags', () => {
  const texts = SPELLINGS.map(([open, close]) => `${open}a 🙂 plan${close}\n\nThe answer <b>é</b>`);

  test('cut in two at every place the reading is the same', () => {
    for (const content of texts) {
      const whole = readings(read({ content, settings: { think: false } }));
      for (let place = 1; place < content.length; place += 1) {
        const pieces = [{ content: content.slice(0, place) }, { content: content.slice(place) }];
        expect(readings(readPieces(pieces, { settings: { think: false } }))).toEqual(whole);
      }
    }
  });

  test('in the thinking field too', () => {
    const thinking = 'a plan</think>\n\nYes.';
    for (let place = 1; place < thinking.length; place += 1) {
      const verdict = readPieces([{ thinking: thinking.slice(0, place) }, { thinking: thinking.slice(place) }], {});
      expect([verdict.outcome, verdict.answer]).toEqual(['answered', 'Yes.']);
    }
  });

  test('no part of a tag is shown as answer while it streams', () => {
    for (const [open, close] of SPELLINGS) {
      const reader = createReasoningReader(settings);
      const content = `${open}plan${close}\nDone`;
      let shown = '';
      for (const unit of content) {
        reader.push({ content: unit });
        shown = reader.look().answer;
        expect(['', 'D', 'Do', 'Don', 'Done']).toContain(shown.trim());
      }
      expect(shown.trim()).toBe('Done');
    }
  });

  test('little is held back', () => {
    expect(['a < b and', '3 <', 'x</thi', 'list[0] = ', 'Hi [', '<b>', '', 'a <|chan'].map(heldLength)).toEqual([
      0, 1, 5, 0, 1, 0, 0, 6,
    ]);
  });

  test('live: thinking first, then the answer', () => {
    const reader = createReasoningReader(settings);
    reader.push({ content: '<think>Let me' });
    expect(reader.look()).toMatchObject({ thinking: 'Let me', answer: '', isThinking: true });
    reader.push({ content: ' see</thi' });
    expect(reader.look()).toMatchObject({ thinking: 'Let me see', answer: '', held: 5, isThinking: true });
    reader.push({ content: 'nk>Yes' });
    expect(reader.look()).toMatchObject({ thinking: 'Let me see', answer: 'Yes', held: 0, isThinking: false });
  });
});
