/** The runner walks reasoning cells as it walks the others: stopped in mid-thought, resumed, kept over a restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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
  const home = mkdtempSync(join(tmpdir(), 'spillway-reasoning-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
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
