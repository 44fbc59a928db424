import { describe, expect, test } from 'vitest';
import { parseGoJson, parseGoJsonObject } from '../../shared/node/simulator/families/go-json.ts';
import { createFamilyParser } from '../../shared/node/simulator/families/index.ts';
import type { FamilyPiece } from '../../shared/node/simulator/families/index.ts';

const lookup = {
  type: 'function',
  function: {
    name: 'lookup',
    parameters: {
      type: 'object',
      properties: {
        q: { type: 'string' },
        limit: { type: 'integer' },
        deep: { type: 'boolean' },
        tags: { type: 'array' },
      },
    },
  },
};

/** All pieces of a reply, the last one from the end of the text. */
function read(family: string, pieces: readonly string[], tools: readonly unknown[] = [lookup]): FamilyPiece[] {
  const parser = createFamilyParser(family, { think: undefined, tools });
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

const callsOf = (pieces: readonly FamilyPiece[]) => pieces.flatMap((piece) => piece.toolCalls);
const call = (index: number, name: string, given: Record<string, unknown>) => ({
  function: { index, name, arguments: given },
});
const nothing = { thinking: '', content: '', toolCalls: [] };

describe('calls that can be read', () => {
  const one = [call(0, 'lookup', { q: 'x' })];

  test('qwen3: JSON between tags, in a chunk of its own', () => {
    const pieces = read('qwen3', [
      'Let me look. ',
      '<tool_call>',
      '\n',
      '{"name": "lookup", ',
      '"arguments": {"q": "x"}}',
      '\n',
      '</tool_call>',
    ]);
    expect(pieces.map((piece) => piece.content).join('')).toBe('Let me look.');
    expect(pieces.map((piece) => piece.toolCalls)).toEqual([[], [], [], [], [], [], one, []]);
  });

  test('several calls count up, each with its own chunk', () => {
    const text = '<tool_call>{"name":"lookup","arguments":{"q":"x"}}</tool_call>';
    const pieces = read('qwen3', [text, '\n', text.replace('x', 'y')]);
    expect(pieces.map((piece) => piece.toolCalls)).toEqual([one, [], [call(1, 'lookup', { q: 'y' })], []]);
    expect(pieces.map((piece) => piece.content).join('')).toBe('');
  });

  test('qwen3.5: elements, values typed by the schema; a call ends the thinking', () => {
    const text =
      '<tool_call>\n<function=lookup>\n<parameter=q>\na < b\n</parameter>\n<parameter=limit>\n3\n</parameter>\n<parameter=deep>\nTrue\n</parameter>\n<parameter=tags>\n["a"]\n</parameter>\n</function>\n</tool_call>';
    const pieces = read('qwen3.5', ['I should look. ', text]);
    expect(pieces.map((piece) => piece.thinking).join('')).toBe('I should look.');
    expect(callsOf(pieces)).toEqual([call(0, 'lookup', { q: 'a < b', limit: 3, deep: true, tags: ['a'] })]);
  });

  test('glm-4.7: pairs of keys and values', () => {
    const text =
      'hm</think><tool_call>lookup\n<arg_key>q</arg_key><arg_value>x & y</arg_value><arg_key>limit</arg_key><arg_value>2</arg_value></tool_call>';
    expect(callsOf(read('glm-4.7', [text]))).toEqual([call(0, 'lookup', { q: 'x & y', limit: 2 })]);
  });

  test('deepseek3: a list, each call delivered when it is complete', () => {
    const pieces = read('deepseek3', [
      'hm</think>Ok',
      '<｜tool▁calls▁begin｜>',
      '<｜tool▁call▁begin｜>lookup<｜tool▁sep｜>{"q":"x"}<｜tool▁call▁end｜>',
      '<｜tool▁call▁begin｜>lookup<｜tool▁sep｜>{"q":"y"}<｜tool▁call▁end｜>',
      '<｜tool▁calls▁end｜>',
      'Done.',
    ]);
    expect(pieces.map((piece) => piece.toolCalls.length)).toEqual([0, 0, 1, 1, 0, 0, 0]);
    expect(pieces.map((piece) => piece.content).join('')).toBe('OkDone.');
  });

  test('lfm2: Python, with quotes, numbers and nested lists', () => {
    const text =
      '<think>hm</think><|tool_call_start|>[lookup(q=\'it, is\', limit=3), lookup(q="b", tags=["a", "b"])]<|tool_call_end|>';
    expect(callsOf(read('lfm2', [text]))).toEqual([
      call(0, 'lookup', { q: 'it, is', limit: 3 }),
      call(1, 'lookup', { q: 'b', tags: ['a', 'b'] }),
    ]);
  });

  test('gemma4: bare keys, also without the close tag', () => {
    expect(
      callsOf(read('gemma4', ['<|tool_call>', 'call:lookup{q:<|"|>say "x"<|"|>,limit:3}', '<tool_call|>'])),
    ).toEqual([call(0, 'lookup', { q: 'say "x"', limit: 3 })]);
    expect(callsOf(read('gemma4', ['<|tool_call>call:lookup{q:<|"|>x<|"|>}']))).toEqual(one);
  });

  test('qwen3-vl-thinking: a call ends the thinking, white space behind it is eaten', () => {
    const pieces = read('qwen3-vl-thinking', [
      'hm ',
      '<tool_call>',
      '{"name":"lookup","arguments":{"q":"x"}}',
      '</tool_call>',
      '\n',
      ' ',
      'Done.',
    ]);
    expect(callsOf(pieces)).toEqual(one);
    expect(pieces.map((piece) => piece.thinking + piece.content).join('|')).toBe('hm||||||Done.|');
  });

  test('harmony: at the end of the reply, so in the done chunk', () => {
    const pieces = read('harmony', [
      '<|channel|>',
      'commentary',
      ' to=functions.lookup ',
      '<|constrain|>',
      'json',
      '<|message|>',
      '{"q"',
      ':"x"}',
    ]);
    expect(pieces.slice(0, -1)).toEqual(pieces.slice(0, -1).map(() => nothing));
    expect(pieces.at(-1)?.toolCalls).toEqual(one);
  });

  test('template: an offered name and an object with its properties', () => {
    const pieces = read('template', [
      'Sure. ',
      '<tool_',
      'call>',
      '{"name": "lookup", "arguments": {"q": "x"}}',
      '</tool_call>',
    ]);
    expect(pieces.map((piece) => piece.content).join('')).toBe('Sure. ');
    expect(callsOf(pieces)).toEqual(one);
  });
});

describe('calls that cannot be read', () => {
  test.each([
    [
      'qwen3',
      ['<tool_call>', '{"name": "lookup", "arguments": {"q": ', '</tool_call>'],
      'failed to parse JSON: unexpected end of JSON input',
    ],
    ['qwen3', ['<tool_call>{"arguments": {}}</tool_call>'], 'empty function name'],
    ['qwen3.5', ['<tool_call>\n{"name": "lookup"}\n</tool_call>'], 'EOF'],
    [
      'qwen3.5',
      ['<tool_call><function=lookup>\n<parameter=q>x</function></tool_call>'],
      'XML syntax error on line 2: element <parameter> closed by </function>',
    ],
    ['qwen3.5', ['<tool_call><function=lookup>\n\n</tool_call>'], 'XML syntax error on line 3: unexpected EOF'],
    [
      'qwen3-vl-thinking',
      ['a</think><tool_call>nope</tool_call>'],
      "invalid character 'o' in literal null (expecting 'u')",
    ],
    [
      'glm-4.7',
      ['a</think><tool_call>lookup<arg_key>q</arg_key></tool_call>'],
      'mismatched arg_key and arg_value counts: 1 keys, 0 values',
    ],
    [
      'harmony',
      ['<|channel|>commentary to=functions.lookup<|message|>{"q"'],
      `error parsing tool call: raw='{"q"', err=unexpected end of JSON input`,
    ],
  ])('%s %j', (family, pieces, error) => {
    expect(read(family, pieces).find((piece) => piece.error !== undefined)?.error).toBe(error);
  });

  test('a broken call takes the text of its piece with it and is logged', () => {
    const [piece] = read('qwen3', ['Text before <tool_call>{</tool_call>']);
    expect(piece).toEqual({
      ...nothing,
      error: 'failed to parse JSON: unexpected end of JSON input',
      warnings: [
        {
          source: 'qwen3.go:117',
          message: 'qwen3 tool call parsing failed',
          fields: { error: 'failed to parse JSON: unexpected end of JSON input' },
        },
      ],
    });
  });

  test('template, lfm2, deepseek3, gemma4 swallow it without an error', () => {
    for (const [family, text] of [
      ['template', '<tool_call>{"name": "lookup", "arguments": {</tool_call>'],
      ['lfm2', '<|tool_call_start|>[lookup(<|tool_call_end|>'],
      [
        'deepseek3',
        '</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lookup{<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      ],
      ['gemma4', '<|tool_call>call:lookup{q<tool_call|>'],
    ] as const) {
      const pieces = read(family, [text]);
      expect({ family, errors: pieces.filter((piece) => piece.error !== undefined), calls: callsOf(pieces) }).toEqual({
        family,
        errors: [],
        calls: [],
      });
    }
  });
});

describe("JSON with Go's words", () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['nope', "invalid character 'o' in literal null (expecting 'u')"],
    ['hello', "invalid character 'h' looking for beginning of value"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\q"', "invalid character 'q' in string escape code"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
  ])('%j', (text, error) => {
    expect(parseGoJson(text)).toEqual({ ok: false, error });
  });

  test('valid texts come out as JSON.parse gives them', () => {
    for (const value of [null, true, [], {}, -1.5e3, 'Zürich 🙂 "', { a: [1, { b: null }] }])
      expect(parseGoJson(` ${JSON.stringify(value)}\n`)).toEqual({ ok: true, value });
  });

  test('an object is asked for', () => {
    expect(parseGoJsonObject('[1]')).toEqual({
      ok: false,
      error: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
    });
  });
});
