/** Measured rows about a server that answers: what the console makes of odd settings, refusals and queues, against the simulator. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, defaultProfiles, profileOf, startSimulator } from '../../shared/node/simulator/index.ts';
import { rawRequest } from '../simulator/raw-http.ts';
import { withSimulator } from '../simulator/with-simulator.ts';
import { ask, askChat, prose, recorded } from './behaviour-cases.ts';

let simulator: Simulator;
beforeAll(async () => {
  const bare = profileOf({ name: 'sim-bare:latest', capabilities: ['completion'] });
  simulator = await startSimulator({ port: 0, timeScale: 0, profiles: [...defaultProfiles, bare] });
});
afterAll(() => simulator.stop());

const answerOf = (text: string): string => (JSON.parse(text) as { message: { content: string } }).message.content;

describe('needle at the head', () => {
  const document = `The launch code is ZEBRA-7741. ${prose(300)}\n\nWhat is the launch code? Answer with the code only.`;
  test.each([
    ['lost at 4,096', document, { num_ctx: 4_096 }, 'halved', false],
    ['found at 8,192', document, { num_ctx: 8_192 }, 'intact', true],
    ['found with num_keep 40 at 512', document, { num_ctx: 512, num_keep: 40 }, 'halved', true],
  ] as const)('%s', async (_name, content, options, kind, isFound) => {
    const { truncation, text } = await askChat(simulator, content, { options: { ...options, num_predict: 20 } });
    expect(truncation).toMatchObject({ kinds: [kind], confidence: 'certain' });
    expect(answerOf(text).includes('ZEBRA-7741')).toBe(isFound);
  });
});

describe('num_ctx odd values', () => {
  test.each([
    ['0 is 4', 'sim-reader', { num_ctx: 0 }, 4],
    ['-5 is 4', 'sim-reader', { num_ctx: -5 }, 4],
    ['512.5 is 512', 'sim-reader', { num_ctx: 512.5 }, 512],
    ['100,000 is what the model was trained for', 'sim-sliding', { num_ctx: 100_000 }, 32_768],
    ['an unknown option is ignored', 'sim-reader', { num_ctx: 512, num_ctxx: 9 }, 512],
  ] as const)('%s', async (_name, model, options, window) => {
    const call = await askChat(simulator, prose(60), {
      model,
      keep_alive: 60,
      options: { ...options, num_predict: 1 },
    });
    expect([call.status, windowOf(await running(), model)]).toEqual([200, window]);
    const kinds = { 4: 'cut-to-window', 512: 'halved', 32_768: 'intact' } as const;
    expect(call.truncation).toMatchObject({ kinds: [kinds[window]], confidence: 'certain' });
  });

  test('a text is refused: nothing is said of the prompt', async () => {
    const call = await askChat(simulator, prose(60), { options: { num_ctx: '4096' } });
    expect([call.status, JSON.parse(call.text)]).toEqual([500, { error: 'option "num_ctx" must be of type integer' }]);
    expect(call.truncation).toMatchObject({ kinds: ['unknown'], confidence: 'none' });
    expect(call.reasoning).toMatchObject({ outcome: 'refused' });
  });
});

const hi = [{ role: 'user', content: 'Hi.' }];
const tool = {
  type: 'function',
  function: { name: 'f', description: '', parameters: { type: 'object', properties: {} } },
};

describe('errors', () => {
  test.each([
    ['unknown model', { model: 'nobody', messages: hi }, 404, "model 'nobody' not found", null],
    ['no model', { messages: hi }, 400, 'model is required', null],
    ['broken JSON', '{"model":', 400, 'unexpected EOF', null],
    ['empty body', '', 400, 'missing request body', null],
    [
      'think unsupported',
      { model: 'sim-reader', messages: hi, think: true },
      400,
      '"sim-reader" does not support thinking',
      'capability',
    ],
    [
      'tools unsupported',
      { model: 'sim-bare', messages: hi, tools: [tool] },
      400,
      'registry.ollama.ai/library/sim-bare:latest does not support tools',
      'capability',
    ],
    [
      'bad think level',
      { model: 'sim-think', messages: hi, think: 'much' },
      400,
      'invalid think value: "much" (must be "high", "medium", "low", "max", true, or false)',
      'think-value',
    ],
    [
      'chat on an embedding model',
      { model: 'sim-embed', messages: hi },
      400,
      '"sim-embed" does not support chat',
      'capability',
    ],
  ] as const)('%s', async (_name, body, status, error, cause) => {
    const call = await ask(simulator, '/api/chat', body);
    expect([call.status, JSON.parse(call.text)]).toEqual([status, { error }]);
    expect(call.truncation).toMatchObject({ kinds: ['unknown'], confidence: 'none', lost: null, needs: null });
    expect(call.reasoning).toMatchObject({ outcome: 'refused', cause, answer: '' });
  });

  test('show adds the tag to the name', async () => {
    const reply = await rawRequest(simulator.url, { method: 'POST', path: '/api/show', body: { model: 'nobody' } });
    expect([reply.status, JSON.parse(reply.body)]).toEqual([404, { error: "model 'nobody:latest' not found" }]);
  });

  test('embed on a chat model: 501 is no verdict about the text', async () => {
    const call = await ask(simulator, '/api/embed', { model: 'sim-reader', input: prose(60) });
    expect(call).toMatchObject({
      status: 501,
      truncation: { kinds: ['unknown'], confidence: 'none' },
      reasoning: null,
    });
  });

  test('a wrong method is refused with a text', async () => {
    const reply = await rawRequest(simulator.url, { method: 'GET', path: '/api/chat' });
    const { truncation, reasoning } = recorded({ status: reply.status, reply: reply.body });
    expect([reply.status, truncation.kinds, reasoning?.outcome]).toEqual([405, ['unknown'], 'refused']);
  });

  test.each([
    ['foreign Host', { Host: 'evil.example' }],
    ['foreign Origin', { Origin: 'https://evil.example' }],
    ['Origin null', { Origin: 'null' }],
  ])('%s: 403 with an empty body', async (_name, headers: Record<string, string>) => {
    const body = { model: 'sim-reader', messages: hi };
    const reply = await rawRequest(simulator.url, { method: 'POST', path: '/api/chat', headers, body });
    expect([reply.status, reply.body]).toEqual([403, '']);
    const { truncation, reasoning } = recorded({ body, status: 403, reply: reply.body });
    expect([truncation.kinds, reasoning?.outcome]).toEqual([['unknown'], 'refused']);
  });
});

test('OLLAMA_CONTEXT_LENGTH is the window of a call that asks for none', async () => {
  await withSimulator({ defaultNumCtx: 2_048 }, async (server) => {
    const call = await askChat(server, prose(200));
    expect(call.runningWindow).toBe(2_048);
    expect(call.truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain', kept: 1_027 });
  });
});

test('two slots: the window is per slot', async () => {
  await withSimulator({ numParallel: 2 }, async (server) => {
    const call = await askChat(server, prose(100), { options: { num_ctx: 1_024 } });
    expect([call.runningWindow, call.truncation.kinds, call.truncation.kept]).toEqual([1_024, ['halved'], 515]);
  });
});

test('cache: the same prompt again has the same count and the same verdict', async () => {
  const [first, again] = [await askChat(simulator, prose(20)), await askChat(simulator, prose(20))];
  expect(first.truncation).toMatchObject({ kinds: ['intact'], confidence: 'certain' });
  expect(again.truncation.kept).toBe(first.truncation.kept);
});

test('queue full: 503 without Retry-After, refused by the server and not for its length', async () => {
  await withSimulator({ faults: ['busy'] }, async (server) => {
    const reply = await rawRequest(server.url, {
      method: 'POST',
      path: '/api/chat',
      body: { model: 'sim-reader', messages: hi },
    });
    expect(Object.keys(reply.headers).map((name) => name.toLowerCase())).not.toContain('retry-after');
    const call = await askChat(server, 'Hi.');
    expect([call.status, JSON.parse(call.text)]).toEqual([
      503,
      { error: 'server busy, please try again.  maximum pending requests exceeded' },
    ]);
    expect(call).toMatchObject({
      truncation: { kinds: ['unknown'], confidence: 'none' },
      reasoning: { outcome: 'refused', cause: 'server' },
    });
  });
});

test('four at once, one slot: each has its own verdict', async () => {
  const counts = [5, 60, 10, 90];
  const calls = await Promise.all(
    counts.map((count) => askChat(simulator, prose(count), { options: { num_ctx: 512 } })),
  );
  expect(calls.map((call) => call.truncation.kinds)).toEqual([['intact'], ['halved'], ['intact'], ['halved']]);
});

test('embeddings: over the window cut without a word, chat counts none of it', async () => {
  const call = await ask(simulator, '/api/embed', { model: 'sim-embed', input: prose(60) });
  expect(call).toMatchObject({ status: 200, truncation: { kinds: ['cut-to-window'], kept: 512 }, reasoning: null });
});

interface Running {
  readonly name: string;
  readonly context_length: number;
}

async function running(): Promise<readonly Running[]> {
  return ((await (await fetch(`${simulator.url}/api/ps`)).json()) as { models: Running[] }).models;
}

function windowOf(models: readonly Running[], name: string): number | null {
  return models.find((one) => one.name === `${name}:latest`)?.context_length ?? null;
}
