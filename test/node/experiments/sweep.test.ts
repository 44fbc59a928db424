/** Sweeps through the whole runtime against the simulator, as a server of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { isContextCell } from '../../../shared/contract/experiments.ts';
import type { ContextCell, RunSummary } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  requests,
} from '../../../shared/contract/requests.ts';
import { type Runtime, createRuntime } from '../../../shared/node/runtime.ts';
import { startSimulator } from '../../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../../shared/node/simulator/options.ts';
import { experiment, must } from './sweep-experiment.ts';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-sweep-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A simulator that tells how long the prompts were that it read. */
async function server(options: SimulatorOptions = {}): Promise<Simulator & { readonly prompts: number[] }> {
  const prompts: number[] = [];
  const pinTokens = (text: string): null => {
    prompts.push(text.length);
    return null;
  };
  const started = await startSimulator({ port: 0, timeScale: 0, pinTokens, ...options });
  onTestFinished(() => started.stop());
  return Object.assign(started, { prompts });
}

async function runtime(ollamaUrl: string, home = freshFolder()): Promise<Runtime> {
  const made = must(await createRuntime({ host: 'test', home, ollamaUrl, environment: {} }));
  onTestFinished(() => made.stop());
  await made.ready;
  return made;
}

async function ask<Name extends RequestName>(
  of: Runtime,
  name: Name,
  params: RequestParams<Name>,
): Promise<RequestResult<Name>> {
  const parsed = requests[name].params.parse(params);
  const answered = must(await of.handle(name, parsed, { screenId: 'test', signal: new AbortController().signal }));
  return requests[name].result.parse(answered) as RequestResult<Name>;
}

function ended(of: Runtime): Promise<RunSummary> {
  return new Promise((resolve) => {
    const release = of.subscribe((event: EngineEvent) => {
      if (event.type !== 'run-changed' || event.run.state === 'running') return;
      release();
      resolve(event.run);
    });
  });
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 4_000 && !condition(); turn++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(condition()).toBe(true);
}

const cellsOf = async (of: Runtime, runId: RunId): Promise<ContextCell[]> =>
  (await ask(of, 'run.get', { runId })).cells.filter(isContextCell);
const slowSizes = { models: ['sim-reader'], numCtx: [40_960], sizes: [500, 600, 100_000, 700, 800] };

test('every cell has its running window, its verdict and its needle', async () => {
  const of = await runtime((await server()).url);
  const done = ended(of);
  const { runId } = await ask(
    of,
    'context.start',
    experiment({
      models: ['sim-reader', 'sim-native'],
      numCtx: ['default', 512],
      sizes: [1_000, 20_000],
      policies: ['warn', 'refuse'],
    }),
  );
  expect(await done).toMatchObject({ state: 'done', cellsTotal: 24, cellsFailed: 0, simulated: true });
  const cells = (await cellsOf(of, runId)).filter((cell) => !cell.plan.warmUp);
  for (const { plan, call, documentCharacters } of cells) {
    const fits = plan.size === 1_000;
    const refused = !fits && (plan.policy === 'refuse' || plan.model === 'sim-native');
    expect({
      window: refused ? 'as asked' : call?.numCtxRunning,
      kind: call?.truncation.kinds[0],
      needle: call?.needle === 'found',
      documentCharacters,
    }).toEqual({
      window: refused ? 'as asked' : (plan.numCtx ?? 4_096),
      kind: fits ? 'intact' : refused ? 'refused' : 'halved',
      needle: fits,
      documentCharacters: plan.size,
    });
  }
});

test('a cancel in mid-sweep aborts the call on the server; resume does the rest and only the rest', async () => {
  const at = await server({ timeScale: 0.4 });
  const of = await runtime(at.url);
  let done = ended(of);
  const { runId } = await ask(of, 'context.start', experiment(slowSizes, { warmUp: false }));
  await until(() => at.prompts.some((length) => length > 50_000));
  await ask(of, 'run.cancel', { runId });
  expect(await done).toMatchObject({ state: 'cancelled', cellsDone: 2 });
  await until(() => at.aborted.length === 1);
  expect((await cellsOf(of, runId)).map((cell) => cell.state)).toEqual([
    'done',
    'done',
    'cancelled',
    'waiting',
    'waiting',
  ]);

  done = ended(of);
  at.prompts.length = 0;
  await ask(of, 'run.resume', { runId });
  expect(await done).toMatchObject({ state: 'done', cellsDone: 5, cellsFailed: 0 });
  // The documents of 500 and 600 characters had their result.
  expect(at.prompts.filter((length) => length < 700)).toEqual([]);
});

test('a server that goes away ends the run with the reason; when it is back the run goes on', async () => {
  const at = await server();
  const of = await runtime(at.url);
  let done = ended(of);
  const sizes = Array.from({ length: 60 }, (_, index) => 20_000 + index);
  const { runId } = await ask(
    of,
    'context.start',
    experiment({ models: ['sim-reader'], numCtx: [8_192], sizes }, { warmUp: false }),
  );
  await until(() => at.prompts.length >= 5);
  await at.stop();
  const failed = await done;
  expect(failed).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('5 calls in a row did not reach the server') as string,
  });
  expect(failed.cellsDone).toBeGreaterThanOrEqual(1);

  await server({ port: at.port });
  done = ended(of);
  await ask(of, 'run.resume', { runId });
  const finished = await done;
  expect(finished).toMatchObject({ state: 'done', error: null });
  // A call that the stop cut in the middle had reached the server: it keeps its row.
  expect(finished.cellsDone + finished.cellsFailed).toBe(60);
  expect(finished.cellsFailed).toBeLessThanOrEqual(1);
});

test('kill -9 in a sweep: the finished cells are there, the run is interrupted and can be resumed', async () => {
  const at = await server({ timeScale: 0.4 });
  const home = freshFolder();
  const child = spawn(process.execPath, [fileURLToPath(new URL('./sweep-child.ts', import.meta.url)), home, at.url], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  await until(() => at.prompts.some((length) => length > 50_000));
  child.kill('SIGKILL');
  await closed;

  const of = await runtime(at.url, home);
  const [run] = await ask(of, 'run.list', {});
  expect(run).toMatchObject({ state: 'interrupted', cellsDone: 2, cellsTotal: 5 });
  const runId = run?.id as RunId;
  const before = await cellsOf(of, runId);
  expect(before.map((cell) => cell.state)).toEqual(['done', 'done', 'waiting', 'waiting', 'waiting']);
  const done = ended(of);
  await ask(of, 'run.resume', { runId });
  expect(await done).toMatchObject({ state: 'done', cellsDone: 5 });
  expect((await cellsOf(of, runId)).slice(0, 2).map((cell) => cell.call?.id)).toEqual(
    before.slice(0, 2).map((cell) => cell.call?.id),
  );
});

test('memory stays flat over 500 cells', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const of = await runtime((await server()).url);
  const heap: number[] = [];
  let cells = 0;
  of.subscribe((event) => {
    if (event.type !== 'cell-changed' || event.cell.state !== 'done') return;
    cells += 1;
    if (cells !== 100 && cells !== 500) return;
    collect();
    heap.push(process.memoryUsage().heapUsed);
  });
  const done = ended(of);
  const sizes = Array.from({ length: 100 }, (_, index) => 20_000 + index);
  await ask(
    of,
    'context.start',
    experiment({ models: ['sim-reader'], numCtx: [2_048], sizes, repeats: 5 }, { warmUp: false, numPredict: 5 }),
  );
  expect(await done).toMatchObject({ state: 'done', cellsDone: 500 });
  // 400 documents of 20,000 characters would be 8 MB, 16 MB with the bodies that were sent.
  expect((heap[1] ?? 0) - (heap[0] ?? 0)).toBeLessThan(5 * 1024 * 1024);
}, 120_000);
