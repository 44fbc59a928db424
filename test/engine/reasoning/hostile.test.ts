import { describe, expect, test } from 'vitest';
import { createReasoningReader, FIELD_CHARACTERS_MAX } from '../../../shared/engine/reasoning/reader.ts';
import { ended, read, settings } from './support.ts';

/** Long texts in shapes that make careless patterns slow. A pass over one takes well under a second; a slow one takes minutes. */
const long = (text: string, characters = 400_000) => text.repeat(Math.ceil(characters / text.length));

describe('hostile texts end', () => {
  test.each([
    ['opening tags', long('<think>')],
    ['closing tags in code', `<think>${long('`</think>` ')}`],
    ['unclosed tags', long('<think ')],
    ['ticks of growing length', Array.from({ length: 800 }, (_, at) => '`'.repeat(at + 1)).join(' ')],
    ['open fences', long('```\n<think>\n~~~\n')],
    ['angles', long('<')],
    ['brackets', long('[ think')],
    ['channels', long('<|channel|>')],
    ['blanks', long(' ')],
    ['lines', long('\n')],
    ['quotes', long('"')],
    ['one letter', long('a')],
    ['the same doubt', long('maybe check again ')],
    ['analysis', `analysis${long('X')}`],
    ['words with marks', long('write </think> to close. ')],
  ])(
    '%s',
    (_name, text) => {
      for (const reply of [{ content: text }, { thinking: text }, { content: text, end: { ending: 'cut' as const } }])
        expect(
          read({ ...reply, end: { evalCount: 10, ...('end' in reply ? reply.end : {}) } }).split,
        ).not.toBeUndefined();
    },
    20_000,
  );

  test('what is over the bound is dropped, and counted', () => {
    const reader = createReasoningReader(settings);
    const piece = 'x'.repeat(FIELD_CHARACTERS_MAX / 2);
    for (let times = 0; times < 3; times += 1) reader.push({ content: piece });
    expect(reader.charactersDropped).toBe(FIELD_CHARACTERS_MAX / 2);
    expect(reader.finish(ended).outcome).toBe('answered');
  });
});
