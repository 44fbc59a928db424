import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFamilyParser, familyCapabilities, familyNames } from '../../shared/node/simulator/families/index.ts';
import type { FamilyPiece } from '../../shared/node/simulator/families/index.ts';
import type { ThinkSetting } from '../../shared/node/simulator/options.ts';
import { familyOfScriptModel } from './scripted-models.ts';

interface MatrixRow {
  family: string;
  script: string;
  think: boolean | null;
  num_predict: number;
  status: number;
  reply: {
    error?: string;
    message?: { content: string; thinking?: string };
    done_reason?: string;
    eval_count?: number;
  };
}
interface Matrix {
  scripts: Record<string, string[]>;
  rows: MatrixRow[];
}

const matrix = JSON.parse(
  readFileSync(new URL('../fixtures/scripted/thinking-matrix.json', import.meta.url), 'utf8'),
) as Matrix;

describe('every row of the recorded matrix', () => {
  test('there are 222', () => {
    expect(matrix.rows).toHaveLength(222);
  });

  for (const row of matrix.rows) {
    test(`${row.family} ${row.script} think ${String(row.think)}`, () => {
      const family = familyOfScriptModel(`s-${row.family}`);
      if (row.status === 400) {
        expect(familyCapabilities(family).thinking).toBe(false);
        return;
      }
      const script = matrix.scripts[row.script] ?? [];
      const sampled = script.slice(0, row.num_predict);
      const said = joined(family, row.think ?? undefined, sampled);
      const ended = script.length < row.num_predict;
      expect({ ...said, doneReason: ended ? 'stop' : 'length', evalCount: sampled.length + (ended ? 1 : 0) }).toEqual({
        content: row.reply.message?.content,
        thinking: row.reply.message?.thinking ?? '',
        doneReason: row.reply.done_reason,
        evalCount: row.reply.eval_count,
      });
    });
  }
});

describe('a request that ends with an assistant turn', () => {
  test.each(['qwen3.5', 'deepseek3', 'qwen3-vl-thinking', 'olmo3-think', 'lfm2', 'harmony'])(
    '%s goes on in the answer',
    (family) => {
      expect(joined(family, true, [' and', ' so on'], { role: 'assistant', content: 'Well,' })).toEqual({
        thinking: '',
        content: ' and so on',
      });
    },
  );

  test('glm-4.7 does not look at it; an empty turn is none', () => {
    expect(joined('glm-4.7', true, ['a', 'b'], { role: 'assistant', content: 'Well,' })).toEqual({
      thinking: 'ab',
      content: '',
    });
    expect(joined('qwen3.5', true, ['a', 'b'], { role: 'assistant', content: '' })).toEqual({
      thinking: 'ab',
      content: '',
    });
  });

  test('harmony goes on in the thought', () => {
    expect(joined('harmony', true, ['hm', '<|end|>'], { role: 'assistant', content: '', thinking: 'So' })).toEqual({
      thinking: 'hm',
      content: '',
    });
  });
});

describe('what is still held when the reply ends', () => {
  test.each([
    ['template', '<think>a</thi', { thinking: 'a', content: '' }],
    ['template', '<thi', { thinking: '', content: '' }],
    ['qwen3.5', 'a \n</thi', { thinking: 'a', content: '' }],
    ['qwen3.5', 'a</think>b \n', { thinking: 'a', content: 'b' }],
    ['qwen3', 'b <tool_', { thinking: '', content: 'b' }],
    ['harmony', '<|channel|>final<|message|>b<|en', { thinking: '', content: 'b' }],
  ])('is lost: %s %j', (family, text, said) => {
    expect(joined(family, undefined, [text])).toEqual(said);
  });

  test('lfm2 settles what could have become a thought, without its leading white space', () => {
    expect(joined('lfm2', true, [' ', '<thi'])).toEqual({ thinking: '', content: '<thi' });
    expect(joined('lfm2', true, [' \n', 'Yes. '])).toEqual({ thinking: '', content: 'Yes. ' });
  });

  test('gemma4 delivers it', () => {
    expect(joined('gemma4', true, ['<|channel>thought\na <chan'])).toEqual({ thinking: 'a <chan', content: '' });
    expect(joined('gemma4', true, ['b <|chan'])).toEqual({ thinking: '', content: 'b <|chan' });
  });
});

describe('how the text is torn into pieces does not matter', () => {
  /** These trim white space after the close tag only within one piece, as recorded; the comparison folds it there. */
  const trimsByPiece = new Set(['deepseek3', 'olmo3-think', 'gemma4']);
  const parts = fc.constantFrom(
    '<think>',
    '</think>',
    '\n',
    '\n\n',
    ' ',
    'a',
    'Let me see.',
    ' Seven',
    '<',
    '</',
    'think>',
    '日本',
    '🙂',
    '<|channel>',
    'thought\n',
    '<channel|>',
    '<|channel|>',
    'analysis',
    'final',
    '<|message|>',
    '<|end|>',
    '<|start|>assistant',
  );
  const think = fc.constantFrom<ThinkSetting>(undefined, true, false, 'high');

  for (const family of familyNames) {
    test(family, () => {
      fc.assert(
        fc.property(
          fc.array(parts, { maxLength: 14 }),
          think,
          fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 40 }),
          (texts, setting, sizes) => {
            const text = texts.join('');
            const fold = (said: { content: string; thinking: string }) =>
              trimsByPiece.has(family)
                ? { thinking: said.thinking.replace(/\s+/g, ''), content: said.content.replace(/\s+/g, '') }
                : said;
            expect(fold(joined(family, setting, torn(text, sizes)))).toEqual(fold(joined(family, setting, [text])));
          },
        ),
        { numRuns: 400 },
      );
    });
  }
});

function joined(
  family: string,
  think: ThinkSetting,
  pieces: readonly string[],
  last?: { role: string; content: string; thinking?: string },
): { content: string; thinking: string } {
  const parser = createFamilyParser(family, { think, tools: [], last });
  const said: FamilyPiece[] = pieces.flatMap((piece) => parser.push(piece));
  said.push(...parser.end());
  return {
    content: said.map((piece) => piece.content).join(''),
    thinking: said.map((piece) => piece.thinking).join(''),
  };
}

/** Cuts anywhere between code points. */
function torn(text: string, sizes: readonly number[]): string[] {
  const points = [...text];
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < points.length; turn++) {
    const size = 1 + (sizes[turn % sizes.length] ?? 0);
    pieces.push(points.slice(at, at + size).join(''));
    at += size;
  }
  return pieces;
}
