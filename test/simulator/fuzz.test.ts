/** Whatever a client sends, the server answers with JSON it knows, keeps running, and no handler fails. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../shared/node/simulator/index.ts';
import { chat, logged } from './with-simulator.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ port: 0, timeScale: 0, debug: true });
});
afterAll(() => simulator.stop());

const paths = [
  '/api/chat',
  '/api/generate',
  '/api/show',
  '/api/embed',
  '/api/embeddings',
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
];

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, '', 'x', '🙂\ud800', [], {}, [null], [[]], [{}], {
    a: null,
  }),
  fc.string(),
  fc.jsonValue({ maxDepth: 2 }),
);
const model = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'sim-reader',
      'sim-native',
      'sim-think',
      'sim-harmony',
      'sim-gemma4',
      'sim-loop',
      'sim-embed',
      'sim-sliding',
    ),
  },
  { weight: 1, arbitrary: odd },
);
const message = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'WIZARD'),
      content: fc.string({ maxLength: 200 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { role: odd, content: odd, images: odd, tool_calls: odd, thinking: odd },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: odd },
);
const options = fc.oneof(
  fc.record(
    {
      num_ctx: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -5, max: 600 }) }, { weight: 1, arbitrary: odd }),
      num_predict: fc.integer({ min: -2, max: 40 }),
      num_keep: fc.integer({ min: -2, max: 900 }),
      stop: fc.array(fc.string({ maxLength: 2 }), { maxLength: 3 }),
      seed: fc.integer(),
    },
    { requiredKeys: ['num_predict'] },
  ),
  fc.record({ num_predict: fc.constant(5) }),
);
/** Left out nine times of ten, so that most bodies get past the door. */
const rarely = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd });
const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record({
    name: fc.string({ maxLength: 8 }),
    description: fc.string({ maxLength: 8 }),
    parameters: fc.constant({ type: 'object', properties: {} }),
  }),
});
const texts = fc.string({ maxLength: 400 });
const body = fc.record({
  model: mostly(model),
  messages: mostly(fc.array(message, { maxLength: 6 })),
  prompt: mostly(texts),
  input: mostly(fc.oneof(texts, fc.array(texts, { maxLength: 3 }))),
  max_tokens: fc.constantFrom(5, 9),
  max_output_tokens: fc.constant(7),
  system: rarely(fc.oneof(texts, odd)),
  template: rarely(fc.oneof(texts, odd)),
  context: rarely(fc.oneof(fc.array(fc.nat()), odd)),
  raw: rarely(fc.oneof(fc.boolean(), odd)),
  stream: mostly(fc.boolean()),
  options,
  think: rarely(fc.oneof(fc.boolean(), fc.constantFrom('low', 'high'), odd)),
  tools: rarely(fc.oneof(fc.array(tool, { maxLength: 2 }), odd)),
  format: rarely(
    fc.oneof(
      fc.constant('json'),
      fc.constant({ type: 'object', properties: { a: { type: 'array', items: { type: 'integer' } } } }),
      odd,
    ),
  ),
  keep_alive: rarely(fc.oneof(fc.constantFrom(-1, '5m', '10s'), odd)),
  truncate: rarely(fc.oneof(fc.boolean(), odd)),
  shift: rarely(fc.boolean()),
  logprobs: rarely(fc.oneof(fc.boolean(), odd)),
  top_logprobs: rarely(odd),
  suffix: rarely(odd),
  images: rarely(odd),
  _debug_render_only: rarely(fc.boolean()),
});

test('random bodies on every route', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, sent) => {
      const reply = await fetch(simulator.url + path, { method: 'POST', body: JSON.stringify(sent) });
      const text = await reply.text();
      expect([200, 400, 404, 500, 501], `${reply.status} ${text.slice(0, 200)}`).toContain(reply.status);
      if (reply.status !== 200)
        expect(Object.keys(JSON.parse(text) as object).some((key) => key === 'error' || key === 'type')).toBe(true);
    }),
    { numRuns: 800 },
  );
  expect(logged(simulator, 'handler failed')).toEqual([]);
  expect((await chat(simulator, 'Say hi.')).status).toBe(200);
});

test('random text as a body', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json().map((text) => text.slice(0, -1)),
      ),
      async (path, sent) => {
        const reply = await fetch(simulator.url + path, { method: 'POST', body: sent });
        await reply.text();
        expect([200, 400, 404, 500, 501]).toContain(reply.status);
      },
    ),
    { numRuns: 200 },
  );
  expect(logged(simulator, 'handler failed')).toEqual([]);
});
