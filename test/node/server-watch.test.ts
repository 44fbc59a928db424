/** The picture of the model server, against real servers that come, go and change. */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { EngineEvent } from '../../shared/contract/events.ts';
import type { ServerStatus } from '../../shared/contract/server.ts';
import { serverStatusSchema } from '../../shared/contract/server.ts';
import { createCancel, never } from '../../shared/engine/cancel.ts';
import {
  type ServerWatch,
  type Target,
  createServerWatch,
  ollamaTarget,
} from '../../shared/node/server/server-watch.ts';

interface Ollama {
  readonly url: string;
  readonly port: number;
  /** Paths asked, in order. */
  readonly asked: string[];
  models: object[];
  running: object[];
  /** Paths that get no answer until this is cleared. */
  readonly silent: Set<string>;
  /** Paths that answer with a status of 500. */
  readonly failing: Set<string>;
  /** Answers what waited. */
  release(): void;
  stop(): Promise<void>;
}

const model = (name: string, digest: string): object => ({ name, model: name, digest, size: 1, details: {} });
const loaded = (contextLength: number, expiresAt: string): object => ({
  name: 'm:latest',
  digest: 'a',
  size: 5,
  size_vram: 0,
  context_length: contextLength,
  expires_at: expiresAt,
});

async function ollama(port = 0): Promise<Ollama> {
  const waiting: (() => void)[] = [];
  const made: Ollama = {
    url: '',
    port: 0,
    asked: [],
    models: [model('m:latest', 'a')],
    running: [],
    silent: new Set(),
    failing: new Set(),
    release: () => {
      made.silent.clear();
      for (const answer of waiting.splice(0)) answer();
    },
    stop: () => closed(server),
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    made.asked.push(path);
    const bodies: Record<string, object> = {
      '/api/version': { version: '0.33.0' },
      '/api/tags': { models: made.models },
      '/api/ps': { models: made.running },
      '/api/show': { model_info: { 'general.architecture': 'llama', 'llama.context_length': 8_192 }, capabilities: [] },
    };
    const answer = (): void => {
      const body = made.failing.has(path) ? { error: 'boom' } : bodies[path];
      response.writeHead(made.failing.has(path) ? 500 : body === undefined ? 404 : 200).end(JSON.stringify(body ?? {}));
    };
    if (made.silent.has(path)) waiting.push(answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => closed(server));
  const at = (server.address() as AddressInfo).port;
  return Object.assign(made, { port: at, url: `http://127.0.0.1:${at}` });
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function targetOf(url: string): Target {
  const target = ollamaTarget({ flag: url });
  if (!target.ok) throw new Error(target.denial.message);
  return target.value;
}

function watching(url: string): { watch: ServerWatch; told: ServerStatus[] } {
  const told: ServerStatus[] = [];
  const watch = createServerWatch({
    target: targetOf(url),
    clock: { now: () => new Date().toISOString(), monotonicMs: () => performance.now() },
    emit: (event: EngineEvent) => {
      if (event.type === 'server-changed') told.push(serverStatusSchema.parse(event.status));
    },
  });
  onTestFinished(() => watch.stop());
  return { watch, told };
}

const states = (told: readonly ServerStatus[]): string[] => told.map((status) => status.state);

test('up, down, up again: each is told once with why, and the models are there', async () => {
  const server = await ollama();
  const { watch, told } = watching(server.url);
  expect(watch.status()).toMatchObject({ state: 'looking', version: null, models: [] });
  expect(await watch.look()).toMatchObject({ state: 'up', version: '0.33.0', kind: 'ollama', problem: null });
  await server.stop();
  expect(await watch.look()).toMatchObject({
    state: 'down',
    version: null,
    models: [],
    problem: `No Ollama at 127.0.0.1:${server.port} (connection refused): start it, or use the simulator.`,
    looks: [{ address: `127.0.0.1:${server.port}`, outcome: 'connection refused' }],
  });
  await ollama(server.port);
  expect(await watch.look()).toMatchObject({ state: 'up', problem: null });
  expect(states(told)).toEqual(['up', 'down', 'up']);
  expect(told.map((status) => status.looksCount)).toEqual([1, 2, 3]);
});

test('nothing changed, nothing told: not by a later look, not by a later expiry', async () => {
  const server = await ollama();
  server.running = [loaded(4_096, '2026-01-01T00:00:00Z')];
  const { watch, told } = watching(server.url);
  await watch.look();
  server.running = [loaded(4_096, '2026-01-01T00:05:00Z')];
  const before = watch.status();
  await watch.look();
  await watch.refreshRunning();
  expect(states(told)).toEqual(['up']);
  // Whoever asks gets the newest picture all the same.
  expect(watch.status().running[0]?.expiresAt).toBe('2026-01-01T00:05:00Z');
  expect(watch.status().looksCount).toBe(before.looksCount + 1);

  server.running = [loaded(8_192, '2026-01-01T00:05:00Z')];
  await watch.refreshRunning();
  expect(told.map((status) => status.running[0]?.contextLength)).toEqual([4_096, 8_192]);
});

test('what is loaded is not asked into a server that is down', async () => {
  const server = await ollama();
  const { watch, told } = watching(server.url);
  await watch.look();
  await server.stop();
  await watch.refreshRunning();
  expect(states(told)).toEqual(['up']);
  await watch.look();
  await watch.refreshRunning();
  expect(watch.status()).toMatchObject({ state: 'down', running: [] });
});

test('the description of a model is read once, and again when the models change', async () => {
  const server = await ollama();
  const { watch } = watching(server.url);
  await watch.look();
  const shown = (): number => server.asked.filter((path) => path === '/api/show').length;
  expect(await watch.facts('m', never)).toMatchObject({ ok: true, value: { trainedContext: 8_192 } });
  await watch.facts('M:latest', never);
  await watch.look();
  await watch.facts('m', never);
  expect(shown()).toBe(1);

  server.models = [model('m:latest', 'b')];
  await watch.look();
  await watch.facts('m', never);
  expect(shown()).toBe(2);

  await watch.point(targetOf(server.url));
  await watch.facts('m', never);
  expect(shown()).toBe(3);
});

test('a refusal is not remembered, and a cancel ends the question', async () => {
  const server = await ollama();
  const { watch } = watching(server.url);
  await watch.look();
  server.silent.add('/api/show');
  const cancel = createCancel();
  const asked = watch.facts('m', cancel.signal);
  cancel.cancel('person');
  expect(await asked).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
  server.release();
  expect(await watch.facts('m', never)).toMatchObject({ ok: true });
});

test('pointing elsewhere does not wait for a server that hangs, and hears nothing of it any more', async () => {
  const [first, second] = [await ollama(), await ollama()];
  second.models = [model('other:latest', 'z')];
  const { watch, told } = watching(first.url);
  first.silent.add('/api/tags');
  const old = watch.look();
  const status = await watch.point(targetOf(second.url));
  expect(status).toMatchObject({ state: 'up', url: `127.0.0.1:${second.port}`, models: [{ name: 'other:latest' }] });
  first.release();
  await old;
  expect(watch.status()).toEqual(status);
  expect(told.map((each) => [each.state, each.url])).toEqual([
    ['looking', `127.0.0.1:${second.port}`],
    ['up', `127.0.0.1:${second.port}`],
  ]);
});

test('of two changes of address at once the last one counts, and is looked at', async () => {
  const [first, second, third] = [await ollama(), await ollama(), await ollama()];
  const { watch } = watching(first.url);
  const [, status] = await Promise.all([watch.point(targetOf(second.url)), watch.point(targetOf(third.url))]);
  expect(status).toMatchObject({ state: 'up', url: `127.0.0.1:${third.port}` });
  expect(watch.status()).toEqual(status);
});

test('a server that comes back is seen without anybody asking; after the stop nobody hears anything', async () => {
  const server = await ollama();
  await server.stop();
  const { watch, told } = watching(server.url);
  await watch.look();
  const back = await ollama(server.port);
  while (watch.status().state !== 'up') await new Promise((resolve) => setTimeout(resolve, 20));
  expect(states(told).at(-1)).toBe('up');
  const before = told.length;
  watch.stop();
  await back.stop();
  await watch.look();
  expect(told.length).toBe(before);
}, 60_000);

test('a list of models that cannot be read is said, and the server still counts as there', async () => {
  const server = await ollama();
  server.failing.add('/api/tags');
  const { watch } = watching(server.url);
  expect(await watch.look()).toMatchObject({ state: 'up', version: '0.33.0', models: [], problem: 'boom.' });
});
