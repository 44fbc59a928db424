/** Replies that end without a done line or in an error, streamed and not, on Ollama's own route and on the compatibility routes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { ModelText, Simulator } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';
import { rawRequest, type ChunkedReply } from './raw-http.ts';

let simulator: Simulator;
let text: ModelText = { pieces: [] };
const tools = [
  {
    type: 'function',
    function: { name: 'lookup', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
  },
];
const messages = [{ role: 'user', content: 'hi' }];

beforeAll(async () => {
  simulator = await startSimulator({
    port: 0,
    timeScale: 0,
    debug: true,
    profiles: [
      profileOf({ name: 'flat:latest', template: 'chatml' }),
      profileOf({ name: 'native:latest', template: 'chatml', mode: 'native' }),
      profileOf({ name: 'caller:latest', family: 'qwen3', template: 'chatml' }),
      profileOf({ name: 'native-caller:latest', family: 'qwen3', template: 'chatml', mode: 'native' }),
      profileOf({ name: 'oss:latest', family: 'harmony', template: 'chatml' }),
    ],
    brain: () => text,
  });
});
afterAll(() => simulator.stop());

function play(said: ModelText, body: object, path = '/api/chat'): Promise<ChunkedReply> {
  text = said;
  return rawRequest(simulator.url, { method: 'POST', path, body: { messages, ...body } });
}

const lines = (reply: ChunkedReply): unknown[] =>
  reply.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('a call that cannot be read', () => {
  const brokenHarmony: ModelText = {
    pieces: [
      '<|channel|>analysis<|message|>',
      'hm',
      '<|end|>',
      '<|start|>assistant<|channel|>commentary to=functions.lookup<|message|>',
      '{"q"',
    ],
  };

  test('after the first chunk: an error line, and nothing behind it', async () => {
    const reply = await play(
      { pieces: ['Let me look. ', 'So:', '<tool_call>{"name":</tool_call>', 'never said'] },
      { model: 'caller', tools },
    );
    expect(reply.status).toBe(200);
    expect(lines(reply).slice(-1)).toEqual([{ error: 'failed to parse JSON: unexpected end of JSON input' }]);
    expect(reply.body).not.toContain('never said');
  });

  test('harmony reads it at the end: thinking first, then the error line', async () => {
    const reply = await play(brokenHarmony, { model: 'oss', tools });
    expect(lines(reply)).toMatchObject([
      { message: { thinking: 'hm' }, done: false },
      { error: `error parsing tool call: raw='{"q"', err=unexpected end of JSON input` },
    ]);
  });

  test('not streamed: a status', async () => {
    const reply = await play(brokenHarmony, { model: 'oss', tools, stream: false });
    expect({ status: reply.status, lines: lines(reply) }).toEqual({
      status: 500,
      lines: [{ error: `error parsing tool call: raw='{"q"', err=unexpected end of JSON input` }],
    });
  });
});

describe('calls that can be read', () => {
  const call: ModelText = { pieces: ['<tool_call>{"name":"lookup","arguments":{"q":"x"}}</tool_call>'] };
  const doneWithCalls = (reply: ChunkedReply): [boolean, number][] =>
    (lines(reply) as { done: boolean; message: { tool_calls?: unknown[] } }[]).map(({ done, message }) => [
      done,
      message.tool_calls?.length ?? 0,
    ]);

  test('rendered: a chunk of their own; native: in the done chunk', async () => {
    expect(doneWithCalls(await play(call, { model: 'caller', tools }))).toEqual([
      [false, 1],
      [true, 0],
    ]);
    expect(doneWithCalls(await play(call, { model: 'native-caller', tools }))).toEqual([[true, 1]]);
  });
});

describe('the repeat guard', () => {
  const stuck: ModelText = { pieces: Array.from({ length: 200 }, () => 'ha ') };

  test('31 equal tokens, then the stream ends', async () => {
    const reply = await play(stuck, { model: 'flat' });
    expect(lines(reply)).toHaveLength(31);
    expect(lines(reply).every((line) => (line as { done: boolean }).done === false)).toBe(true);
  });

  test('leading blank tokens count', async () => {
    const reply = await play({ pieces: [...Array.from({ length: 40 }, () => ' '), 'x'] }, { model: 'flat' });
    expect(lines(reply)).toHaveLength(30);
  });

  test('a native model has none', async () => {
    const reply = await play(stuck, { model: 'native' });
    expect(lines(reply).at(-1)).toMatchObject({ done: true, eval_count: 201 });
  });

  test('OpenAI route: no [DONE]; not streamed, no reason and no counts', async () => {
    const streamed = await play(stuck, { model: 'flat', stream: true }, '/v1/chat/completions');
    expect({ status: streamed.status, chunks: streamed.chunks.length, done: streamed.body.includes('[DONE]') }).toEqual(
      { status: 200, chunks: 31, done: false },
    );
    const whole = await play(stuck, { model: 'flat' }, '/v1/chat/completions');
    expect(lines(whole)).toMatchObject([
      { choices: [{ finish_reason: null }], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    ]);
  });
});

describe('a runner that dies', () => {
  const dying: ModelText = { pieces: ['one '], dies: true };

  test('before the first token of a stream: a status', async () => {
    const reply = await play({ pieces: [], dies: true }, { model: 'flat' });
    expect({ status: reply.status, lines: lines(reply) }).toEqual({
      status: 500,
      lines: [{ error: 'an error was encountered while running the model: unexpected EOF' }],
    });
  });

  test('the next call loads the model again', async () => {
    await play(dying, { model: 'flat' });
    const running = await rawRequest(simulator.url, { method: 'GET', path: '/api/ps' });
    expect(running.body).not.toContain('flat:latest');
    expect((await play({ pieces: ['fine'] }, { model: 'flat', stream: false })).status).toBe(200);
  });

  test('Anthropic route: the stream just ends', async () => {
    const reply = await play(dying, { model: 'flat', max_tokens: 9, stream: true }, '/v1/messages');
    expect({ status: reply.status, ended: reply.body.includes('message_stop') }).toEqual({ status: 200, ended: false });
  });
});
