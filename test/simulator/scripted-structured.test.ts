/** `format` on models that think: two passes, and the cases where there is only one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { BrainAsk, Simulator } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';
import { rawRequest } from './raw-http.ts';

let simulator: Simulator;
const asks: BrainAsk[] = [];
let texts: readonly (readonly string[])[] = [];

beforeAll(async () => {
  simulator = await startSimulator({
    port: 0,
    timeScale: 0,
    profiles: [
      profileOf({ name: 'deep:latest', family: 'template', template: 'chatml' }),
      profileOf({ name: 'oss:latest', family: 'harmony', template: 'chatml' }),
      profileOf({ name: 'flat:latest', template: 'chatml' }),
      profileOf({ name: 'native:latest', family: 'template', mode: 'native', template: 'chatml' }),
    ],
    brain: (ask) => {
      asks.push(ask);
      return { pieces: texts[asks.length - 1] ?? [] };
    },
  });
});
afterAll(() => simulator.stop());

interface Said {
  status: number;
  error?: string;
  message?: { content: string; thinking?: string };
  done_reason?: string;
  prompt_eval_count?: number;
  eval_count?: number;
}

async function chat(body: object, ...passes: (readonly string[])[]): Promise<Said> {
  asks.length = 0;
  texts = passes;
  const reply = await rawRequest(simulator.url, {
    method: 'POST',
    path: '/api/chat',
    body: { messages: [{ role: 'user', content: 'Is it prime?' }], stream: false, ...body },
  });
  return { status: reply.status, ...(JSON.parse(reply.body) as Omit<Said, 'status'>) };
}

const thinkThenAnswer = ['<think>', 'Let', ' me', ' see.', '</think>', 'It', ' is'];
const json = ['{"prime"', ':true}'];

describe('two passes', () => {
  test('the answer of pass 1 is thrown away; the counts are those of pass 2', async () => {
    const free = await chat({ model: 'deep' }, thinkThenAnswer);
    const said = await chat({ model: 'deep', format: 'json' }, thinkThenAnswer, json);
    expect(said).toMatchObject({
      message: { content: '{"prime":true}', thinking: 'Let me see.' },
      done_reason: 'stop',
      eval_count: 3,
    });
    expect(asks.map((ask) => ask.pass)).toEqual([1, 2]);
    expect(said.prompt_eval_count).toBeGreaterThan(free.prompt_eval_count ?? 0);
    expect(asks[1]?.promptText).toContain('Let me see.');
  });

  test('harmony: the prompt of pass 2 opens the answer', async () => {
    const first = [
      '<|channel|>',
      'analysis',
      '<|message|>',
      'hm',
      '<|end|>',
      '<|start|>',
      'assistant',
      '<|channel|>',
      'final',
      '<|message|>',
      'Yes',
    ];
    const said = await chat({ model: 'oss', format: { type: 'object' } }, first, json);
    expect(said.message).toEqual({ role: 'assistant', content: '{"prime":true}', thinking: 'hm' });
    expect(asks[1]?.promptText.endsWith('<|channel|>final<|message|>')).toBe(true);
  });

  test('num_predict holds for each pass', async () => {
    const said = await chat({ model: 'deep', format: 'json', options: { num_predict: 6 } }, thinkThenAnswer, [
      '{',
      '"a"',
      ':',
      '1',
      '}',
      ' ',
      ' ',
    ]);
    expect(said).toMatchObject({ done_reason: 'length', eval_count: 6, message: { content: '{"a":1} ' } });
  });
});

describe('one pass', () => {
  test('a bound inside the thinking ends the reply', async () => {
    const said = await chat({ model: 'deep', format: 'json', options: { num_predict: 3 } }, thinkThenAnswer, json);
    expect(said).toMatchObject({ done_reason: 'length', message: { content: '', thinking: 'Let me' }, eval_count: 3 });
    expect(asks).toHaveLength(1);
  });

  test('a model that answers without thinking is never bound to the format', async () => {
    const said = await chat({ model: 'deep', format: 'json' }, ['No', ' JSON.'], json);
    expect(said).toMatchObject({ message: { content: 'No JSON.' }, eval_count: 3 });
    expect(asks).toHaveLength(1);
  });

  test.each([
    ['thinking is off', { model: 'deep', think: false }],
    ['the model does not think', { model: 'flat' }],
    ['the runner renders the prompt', { model: 'native' }],
  ])('%s', async (_why, body) => {
    await chat({ ...body, format: 'json' }, json, ['never']);
    expect(asks).toHaveLength(1);
  });
});

test.each([['yaml'], [5], [['json']]])('format %j is refused', async (format) => {
  const said = await chat({ model: 'flat', format }, json);
  expect(said).toEqual({
    status: 500,
    error: `invalid format: ${JSON.stringify(JSON.stringify(format))}; expected "json" or a valid JSON Schema object`,
  });
});

test('null and an empty text are no format', async () => {
  expect((await chat({ model: 'flat', format: null }, ['Yes.'])).status).toBe(200);
  expect((await chat({ model: 'flat', format: '' }, ['Yes.'])).status).toBe(200);
});

describe('/api/generate', () => {
  /** Texts of the chunks before the last. */
  async function chunksOf(model: string, pieces: readonly string[]): Promise<[string, string | undefined][]> {
    asks.length = 0;
    texts = [pieces];
    const reply = await rawRequest(simulator.url, {
      method: 'POST',
      path: '/api/generate',
      body: { model, prompt: 'hi' },
    });
    const lines = reply.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { response: string; thinking?: string });
    return lines.slice(0, -1).map(({ response, thinking }) => [response, thinking]);
  }

  test('without a parser of the family every token has its chunk, also one that is hidden', async () => {
    expect(await chunksOf('deep', ['<think>', '\n', 'hm', '</think>', 'Yes.'])).toEqual([
      ['', undefined],
      ['', undefined],
      ['', 'hm'],
      ['', undefined],
      ['Yes.', undefined],
    ]);
  });

  test('a parser of the family leaves hidden tokens out', async () => {
    expect(
      await chunksOf('oss', [
        '<|channel|>',
        'analysis',
        '<|message|>',
        'hm',
        '<|end|>',
        '<|start|>assistant<|channel|>final<|message|>',
        'Yes.',
      ]),
    ).toEqual([
      ['', 'hm'],
      ['Yes.', undefined],
    ]);
  });
});
