/** The runner walks reasoning cells as it walks the others: stopped in mid-thought, resumed, kept over a restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isReasoningCell } from '../../../shared/contract/experiments.ts';
import type { RunSummary } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  requests,
} from '../../../shared/contract/requests.ts';
import { type Runtime, createRuntime } from '../../../shared/node/runtime.ts';
import { must } from './sweep-experiment.ts';

function freshHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'spillway-reasoning-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

async function start(home: string, timeScale: number): Promise<Runtime> {
  const runtime = must(
    await createRuntime({
      host: 'test',
      home,
      simulate: true,
      simulatorTimeScale: timeScale,
      environment: { OLLAMA_HOST: '127.0.0.1:1' },
    }),
  );
  onTestFinished(() => runtime.stop());
  await runtime.ready;
  return runtime;
}

async function ask<Name extends RequestName>(
  of: Runtime,
  name: Name,
  params: RequestParams<Name>,
): Promise<RequestResult<Name>> {
  const context = { screenId: 'test', signal: new AbortController().signal };
  return requests[name].result.parse(
    must(await of.handle(name, requests[name].params.parse(params), context)),
  ) as never;
}

const ended = (of: Runtime, runId: RunId): Promise<RunSummary> =>
  new Promise((resolve) => {
    const release = of.subscribe((event) => {
      if (event.type !== 'run-changed' || event.run.id !== runId || event.run.state === 'running') return;
      release();
      resolve(event.run);
    });
  });

const experiment = {
  kind: 'reasoning' as const,
  axes: {
    models: ['sim-overthink'],
    variants: [
      { think: true, numPredict: 40 },
      { think: true, numPredict: 8_000 },
    ],
    repeats: 2,
  },
  prompt: 'Is 1000003 a prime number? Answer only yes or no.',
  numCtx: 16_384,
  warmUp: false,
};

test('a stop in mid-thought leaves the finished cells; a resume, also after a restart, does the rest', async () => {
  const home = freshHome();
  const first = await start(home, 0.3);
  const thinking = new Promise<void>((resolve) => {
    const release = first.subscribe((event) => {
      if (event.type !== 'call-delta' || event.thinkingChunks < 45) return;
      release();
      resolve();
    });
  });
  const { runId } = await ask(first, 'reasoning.start', experiment);
  await thinking;
  const stopped = ended(first, runId);
  await ask(first, 'run.cancel', { runId });
  expect(await stopped).toMatchObject({ kind: 'reasoning', state: 'cancelled', cellsDone: 1 });
  const { cells } = await ask(first, 'run.get', { runId });
  expect(cells.map(({ state }) => state)).toEqual(['done', 'cancelled', 'waiting', 'waiting']);
  expect(cells[1]?.call?.reasoning).toMatchObject({ outcome: 'cut', endedBy: 'client' });
  await first.stop();

  const second = await start(home, 0);
  const done = ended(second, runId);
  await ask(second, 'run.resume', { runId });
  expect(await done).toMatchObject({ state: 'done', cellsDone: 4, cellsFailed: 0 });
  const after = (await ask(second, 'run.get', { runId })).cells.filter(isReasoningCell);
  expect(after[0]?.call?.id).toBe(cells[0]?.call?.id);
  expect(after.map(({ plan, call }) => [plan.variant, call?.reasoning?.outcome, call?.reasoning?.cause])).toEqual([
    ['on/40', 'starved', 'cap'],
    ['on/8000', 'starved', 'cap'],
    ['on/40', 'starved', 'cap'],
    ['on/8000', 'starved', 'cap'],
  ]);
  const { record } = await ask(second, 'cell.get', { runId, cellKey: after[1]?.plan.key ?? ('' as never) });
  expect(record?.reasoning).toEqual(after[1]?.call?.reasoning);
  expect(record?.reply.thinking).toContain('left over');
});

describe('the cap search', () => {
  const searching = {
    ...experiment,
    axes: { ...experiment.axes, models: ['sim-think'], variants: [], repeats: 1 },
    findCap: { think: true, capMin: 16, capMax: 1_000, inARow: 2, within: 1 },
  };

  test('finds the smallest cap: it answers so often in a row, and one token less does not', async () => {
    const home = freshHome();
    const runtime = await start(home, 0);
    expect(await ask(runtime, 'reasoning.plan', searching)).toMatchObject({ cells: 24, calls: 24 });
    const { runId } = await ask(runtime, 'reasoning.start', searching);
    expect(await ended(runtime, runId)).toMatchObject({ state: 'done', cellsFailed: 0 });
    const { run, cells } = await ask(runtime, 'run.get', { runId });
    expect(run.cellsTotal).toBe(cells.length);
    expect(cells.length).toBeLessThanOrEqual(24);
    const { lanes, caps } = await ask(runtime, 'reasoning.summary', { runId });
    expect(lanes).toEqual([]);
    const [found] = caps ?? [];
    expect(found).toMatchObject({ model: 'sim-think', state: 'found', runsMade: cells.length });
    expect(found?.notEnough).toBe((found?.cap ?? 0) - 1);
    const tries = cells
      .filter(isReasoningCell)
      .map(({ plan, call }) => ({ cap: plan.numPredict, done: call?.doneReason }));
    expect(tries.filter(({ cap }) => cap === found?.cap).map(({ done }) => done)).toEqual(['stop', 'stop']);
    expect(tries.filter(({ cap }) => cap === found?.notEnough).map(({ done }) => done)).toEqual(['length']);
  });

  test('stopped and resumed it asks no try twice and comes to the same end', async () => {
    const home = freshHome();
    const first = await start(home, 0.05);
    const third = new Promise<void>((resolve) => {
      const release = first.subscribe((event) => {
        if (event.type !== 'cell-changed' || event.cell.state !== 'running' || event.cell.plan.repeat < 3) return;
        release();
        resolve();
      });
    });
    const { runId } = await ask(first, 'reasoning.start', searching);
    await third;
    const stopped = ended(first, runId);
    await ask(first, 'run.cancel', { runId });
    await stopped;
    const before = (await ask(first, 'run.get', { runId })).cells;
    expect(before.filter(({ state }) => state === 'done').length).toBeGreaterThanOrEqual(3);
    expect((await ask(first, 'reasoning.summary', { runId })).caps?.[0]?.state).toBe('searching');
    const done = ended(first, runId);
    await ask(first, 'run.resume', { runId });
    expect((await done).state).toBe('done');
    const { cells } = await ask(first, 'run.get', { runId });
    expect(cells.slice(0, 3).map(({ call }) => call?.id)).toEqual(before.slice(0, 3).map(({ call }) => call?.id));
    expect((await ask(first, 'reasoning.summary', { runId })).caps?.[0]).toMatchObject({
      state: 'found',
      runsMade: cells.length,
    });
  });

  test('a model that never answers is told after one try', async () => {
    const runtime = await start(freshHome(), 0);
    const never = { ...searching, axes: { ...searching.axes, models: ['sim-overthink'] } };
    const { runId } = await ask(runtime, 'reasoning.start', never);
    await ended(runtime, runId);
    expect((await ask(runtime, 'reasoning.summary', { runId })).caps).toMatchObject([
      {
        state: 'not-found',
        cap: null,
        notEnough: 1_000,
        runsMade: 1,
        sentence: 'think on: not even 1,000 tokens answered 2 times in a row.',
      },
    ]);
  });
});
