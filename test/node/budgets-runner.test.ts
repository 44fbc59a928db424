/** A sweep under budgets: it waits for what passes by itself, ends where a period is used up, and goes on when there is more. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Denial } from '../../shared/contract/denials.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';
import type { RunSummary } from '../../shared/contract/experiments.ts';
import type { BudgetRefusal } from '../../shared/contract/ledger.ts';
import type { Budget } from '../../shared/contract/plans.ts';
import { type RequestName, type RequestParams, type RequestResult, requests } from '../../shared/contract/requests.ts';
import { EXHAUSTED_MAX, HELD_ATTEMPTS_MAX } from '../../shared/node/experiments/budget-refusals.ts';
import { createRuntime } from '../../shared/node/runtime.ts';
import { bench } from './experiments/bench.ts';
import { experiment, must } from './experiments/sweep-experiment.ts';

interface Screen {
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  ended(): Promise<RunSummary>;
}

async function start(budgets: readonly Budget[]): Promise<Screen> {
  const home = mkdtempSync(join(tmpdir(), 'spillway-budgets-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const runtime = must(
    await createRuntime({ host: 'test', home, environment: {}, simulate: true, simulatorTimeScale: 0 }),
  );
  onTestFinished(() => runtime.stop());
  const events: EngineEvent[] = [];
  runtime.subscribe((event) => events.push(event));
  await runtime.ready;
  const screen: Screen = {
    async ask(name, params) {
      const parsed = requests[name].params.parse(params);
      const context = { screenId: 'test', signal: new AbortController().signal };
      return requests[name].result.parse(must(await runtime.handle(name, parsed, context))) as never;
    },
    async ended() {
      for (let turn = 0; turn < 6_000; turn += 1) {
        const run = events.findLast((event) => event.type === 'run-changed')?.run;
        if (run !== undefined && run.state !== 'running') return run;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error('the run did not end');
    },
  };
  await allow(screen, budgets);
  return screen;
}

async function allow(screen: Screen, budgets: readonly Budget[]): Promise<void> {
  const { directory, revision } = await screen.ask('directory.get', {});
  const plans = directory.plans.map((plan) => (plan.name === 'lab' ? { ...plan, budgets: [...budgets] } : plan));
  await screen.ask('directory.set', { directory: { ...directory, plans }, revision });
}

const budget = (limit: number): Budget => ({
  scope: 'experiment',
  window: 'run',
  unit: 'tokens',
  limit,
  alertsPercent: [80],
  retryAfterSeconds: null,
});
/** Before the cells of a model and window comes one that warms up. */
const sweep = experiment({ models: ['sim-reader'], numCtx: [8_192], sizes: [1_000], repeats: 20 });

test('a budget of the run stops a sweep in the middle; with more of it, the rest is done', async () => {
  const screen = await start([budget(3_000)]);
  const { runId } = await screen.ask('context.start', sweep);
  const stopped = await screen.ended();
  expect(stopped).toMatchObject({ state: 'failed', cellsFailed: EXHAUSTED_MAX });
  expect(stopped.error).toBe(
    `5 cells in a row were refused: Token budget exhausted for experiment ${runId}. Raise the limit, then resume the run.`,
  );
  expect(stopped.cellsDone).toBeGreaterThan(3);
  const { cells } = await screen.ask('run.get', { runId });
  expect(new Set(cells.map(({ state }) => state))).toEqual(new Set(['done', 'failed', 'waiting']));
  for (const { state, call } of cells) {
    if (state === 'failed')
      expect(call).toMatchObject({
        ending: 'not-sent',
        budget: null,
        denial: { code: 'experiment-run-limit-reached' },
      });
  }
  const before = (await screen.ask('ledger.get', {})).balances.find(({ account }) => account.name === runId);
  expect(before).toMatchObject({ limit: 3_000, held: 0, endsAt: null });
  expect(before?.spent).toBeLessThanOrEqual(3_000);

  await allow(screen, [budget(1_000_000)]);
  await screen.ask('run.resume', { runId });
  expect(await screen.ended()).toMatchObject({ state: 'done', cellsFailed: 0, error: null });
  expect(await screen.ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0 });
});

test('what a plan does not let through at all fails cell by cell, and the run goes on with the others', async () => {
  const screen = await start([budget(1_200)]);
  await screen.ask('context.start', experiment({ models: ['sim-reader'], numCtx: [8_192], sizes: [20_000, 1_000] }));
  expect(await screen.ended()).toMatchObject({ state: 'done', cellsDone: 2, cellsFailed: 1 });
});

const refusal = (kind: BudgetRefusal['kind'], window: 'day' | 'minute', retryAfterMs?: number): Denial => ({
  code: `user-${window}-limit-${kind}`,
  message: 'Token budget.',
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  budget: {
    account: { book: 'real', tenant: 't', scope: 'user', name: 'u', window, period: 'p', unit: 'tokens' },
    kind,
    needed: 10,
    spent: 0,
    held: 95,
    limit: 100,
    free: 5,
    retryAfterSeconds: retryAfterMs === undefined ? null : retryAfterMs / 1_000,
    endsAt: '2026-11-15T00:00:00.000Z',
  },
});
const notSent = { reply: { ending: 'not-sent' as const, done: null, doneReason: null, promptEvalCount: null } };

describe('refusals that pass by themselves', () => {
  test('are waited for: what others hold in short steps, the rolling minute as long as it says', async () => {
    const says = [
      refusal('held', 'day', 90_000),
      refusal('held', 'day', 1_000),
      refusal('reached', 'minute', 36_000),
      null,
      null,
    ];
    let calls = 0;
    const { runner, pauses, asked, store } = bench((_asked, call) => (says[call] === null ? {} : notSent), {
      get denial() {
        return says[(calls += 1) - 1] ?? null;
      },
    });
    must(await runner.start(experiment({ sizes: [500], numCtx: [8_192], repeats: 1 })));
    await runner.idle();
    expect(pauses).toEqual([2_000, 1_000, 36_000]);
    expect(asked).toHaveLength(5);
    expect(store.runs()).toMatchObject([{ state: 'done', cellsDone: 2, cellsFailed: 0 }]);
  });

  test('not for ever: after so many tries the cell has failed, and the next one comes', async () => {
    const { runner, asked, store } = bench(() => notSent, { denial: refusal('held', 'day', 1_000) });
    must(await runner.start(experiment({ sizes: [500], numCtx: [8_192], repeats: 1 })));
    await runner.idle();
    expect(asked).toHaveLength(2 * (HELD_ATTEMPTS_MAX + 1));
    expect(store.runs()).toMatchObject([{ state: 'done', cellsFailed: 2 }]);
  });

  test.each([
    ['used up', refusal('reached', 'day', 4_558_000)],
    ['too large', refusal('too-small', 'day')],
    ['too large for a minute', refusal('too-small', 'minute')],
  ])('%s: not waited for', async (_what, denial) => {
    const { runner, pauses } = bench(() => notSent, { denial });
    must(await runner.start(experiment({ sizes: [500], numCtx: [8_192], repeats: 1 })));
    await runner.idle();
    expect(pauses).toEqual([]);
  });
});
