/** Cutting rules and vectors of the embedding routes beyond the recordings. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';
import { rawRequest } from './raw-http.ts';

interface Embedded {
  embeddings: number[][];
  prompt_eval_count?: number;
  error?: string;
}

let simulator: Simulator;
/** One token a word, so that sizes can be foretold. */
const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

beforeAll(async () => {
  simulator = await startSimulator({
    port: 0,
    timeScale: 0,
    pinTokens: words,
    profiles: [
      profileOf({
        name: 'vectors:latest',
        capabilities: ['embedding'],
        architecture: 'bert',
        trainedContext: 64,
        embeddingLength: 96,
        addBos: false,
      }),
      profileOf({ name: 'chat:latest' }),
    ],
  });
});
afterAll(() => simulator.stop());

async function embed(body: object): Promise<{ status: number } & Embedded> {
  const reply = await rawRequest(simulator.url, {
    method: 'POST',
    path: '/api/embed',
    body: { model: 'vectors', ...body },
  });
  return { status: reply.status, ...(JSON.parse(reply.body) as Embedded) };
}

const dot = (a: readonly number[] = [], b: readonly number[] = []): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

test('every input is cut to the window by itself, and only the sum is told', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 4, max: 100 }),
      async (sizes, numCtx) => {
        const input = sizes.map((size) => Array.from({ length: size }, (_, index) => `w${index}`).join(' '));
        const window = Math.min(numCtx, 64);
        const reply = await embed({ input, options: { num_ctx: numCtx } });
        expect({ status: reply.status, count: reply.prompt_eval_count, vectors: reply.embeddings.length }).toEqual({
          status: 200,
          count: sizes.reduce((sum, size) => sum + Math.min(size + 2, window), 0),
          vectors: sizes.length,
        });
        const refused = await embed({ input, options: { num_ctx: numCtx }, truncate: false });
        expect(refused.status).toBe(sizes.some((size) => size + 2 > window) ? 400 : 200);
      },
    ),
    { numRuns: 40 },
  );
});

test('vectors have length 1, also after dimensions; the same text has the same one, common words bring texts closer', async () => {
  const { embeddings } = await embed({ input: ['the red fox jumps', 'the red fox sleeps', 'quarterly tax report'] });
  const [fox, sleeping, tax] = embeddings;
  for (const vector of embeddings) expect(dot(vector, vector)).toBeCloseTo(1, 5);
  expect(dot(fox, sleeping)).toBeGreaterThan(dot(fox, tax) + 0.2);
  const short = await embed({ input: 'the red fox jumps', dimensions: 8 });
  expect(short.embeddings[0]).toHaveLength(8);
  expect(dot(short.embeddings[0], short.embeddings[0])).toBeCloseTo(1, 5);
  expect((await embed({ input: 'the red fox jumps' })).embeddings[0]).toEqual(fox);
});

test('what was cut away is not in the vector', async () => {
  const head = Array.from({ length: 62 }, (_, index) => `w${index}`).join(' ');
  const tail = 'quarterly tax report '.repeat(20);
  const [cut, same, tailFirst] = (await embed({ input: [`${head} ${tail}`, head, `${tail} ${head}`] })).embeddings;
  expect(dot(cut, same)).toBeGreaterThan(0.8);
  expect(dot(tailFirst, same)).toBeLessThan(0.5);
});

test.each([
  [{ input: 5 }, 400, 'invalid input type'],
  [{ input: ['a', 5] }, 400, 'invalid input type'],
  [{ model: 'none', input: 'a' }, 404, 'model "none" not found, try pulling it first'],
  [{ model: '', input: 'a' }, 404, "model '' not found"],
  [{ model: 'chat', input: 'a' }, 501, 'This server does not support embeddings. Start it with `--embeddings`'],
  [{ input: 'a', options: { num_ctx: '4' } }, 500, 'option "num_ctx" must be of type integer'],
  [{ input: 'a', keep_alive: 'soon' }, 400, 'time: invalid duration "soon"'],
])('%j is refused', async (body, status, error) => {
  expect(await embed(body)).toEqual({ status, error });
});

test('faults refuse it too', async () => {
  simulator.setFaults(['busy']);
  expect((await embed({ input: 'a' })).status).toBe(503);
  simulator.setFaults([]);
});

test('numbers are 32-bit floats in their shortest form', async () => {
  const reply = await rawRequest(simulator.url, {
    method: 'POST',
    path: '/api/embed',
    body: { model: 'vectors', input: 'hello' },
  });
  const texts = reply.body.match(/-?\d+\.\d+(e-\d+)?/g) ?? [];
  expect(texts.length).toBe(96);
  for (const text of texts) expect(text.replace(/^-?0\.0*|e.*$|[-.]/g, '').length).toBeLessThanOrEqual(9);
});
