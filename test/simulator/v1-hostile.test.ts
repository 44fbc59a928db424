/** Any JSON at all, in any field of the compatibility and embedding routes: an answer or a refusal, never a failed handler. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator } from '../../shared/node/simulator/options.ts';
import { rawRequest } from './raw-http.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ port: 0, timeScale: 0 });
});
afterAll(() => simulator.stop());

const odd = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const part = fc.oneof(
  fc.record(
    {
      type: fc.constantFrom('text', 'image_url', 'image', 'tool_use', 'tool_result', 'thinking'),
      text: odd,
      source: odd,
      content: odd,
      id: odd,
      name: odd,
      input: odd,
      image_url: odd,
    },
    { requiredKeys: ['type'] },
  ),
  odd,
);
const message = fc.oneof(
  fc.record(
    {
      role: fc.oneof(fc.constantFrom('user', 'assistant', 'tool', 'system'), odd),
      content: fc.oneof(fc.string(), fc.array(part, { maxLength: 3 }), odd),
      tool_calls: odd,
      tool_call_id: odd,
      name: odd,
      type: odd,
      call_id: odd,
      arguments: odd,
    },
    { requiredKeys: [] },
  ),
  odd,
);
const fields = fc.record(
  {
    messages: fc.oneof(fc.array(message, { minLength: 1, maxLength: 3 }), odd),
    input: fc.oneof(fc.string(), fc.array(message, { maxLength: 3 }), odd),
    prompt: fc.oneof(fc.string(), odd),
    system: odd,
    max_tokens: fc.oneof(fc.integer({ min: 1, max: 20 }), odd),
    stream: fc.oneof(fc.boolean(), odd),
    tools: fc.oneof(
      fc.array(
        fc.oneof(
          fc.record({
            type: fc.constant('function'),
            name: fc.string(),
            function: odd,
            input_schema: odd,
            parameters: odd,
          }),
          odd,
        ),
        { maxLength: 2 },
      ),
      odd,
    ),
    stop: odd,
    temperature: odd,
    response_format: odd,
    reasoning: odd,
    reasoning_effort: odd,
    thinking: odd,
    text: odd,
    stream_options: odd,
    logprobs: odd,
    dimensions: odd,
    encoding_format: odd,
    truncate: odd,
    options: odd,
    keep_alive: odd,
  },
  { requiredKeys: [] },
);
const routes = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/api/embed',
  '/api/embeddings',
];

test('no body makes a handler fail', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.constantFrom('sim-loop', 'sim-think', 'sim-harmony', 'sim-embed'),
      fields,
      async (path, model, body) => {
        const logged = simulator.logLines().length;
        const bounded = { max_tokens: 20, max_output_tokens: 20, ...body };
        const reply = await rawRequest(simulator.url, { method: 'POST', path, body: { model, ...bounded } });
        expect(
          simulator
            .logLines()
            .slice(logged)
            .filter((line) => line.includes('handler failed')),
        ).toEqual([]);
        expect(reply.status).toBeGreaterThanOrEqual(200);
        if (reply.status !== 200) expect(JSON.parse(reply.body)).toHaveProperty('error');
      },
    ),
    { numRuns: 400 },
  );
}, 60_000);
