/** Real sockets that fail in every way there is, on each route: the hold is always closed, and charged as the table says. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CallRecord, CallRequest } from '../../shared/contract/calls.ts';
import type { Plan } from '../../shared/contract/plans.ts';
import { createOllamaDoor } from '../../shared/node/ollama/door.ts';
import { systemClock } from '../../shared/node/runtime.ts';
import { type Simulator, startSimulator } from '../../shared/node/simulator/index.ts';
import type { FaultName } from '../../shared/node/simulator/options.ts';
import { request } from '../engine/budgets/bench.ts';
import { type BudgetedEngine, budgetedEngine, callOn, userDay } from './budgeted-engine.ts';

const LIMIT = 100_000_000;
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ port: 0, timeScale: 0 });
});
afterAll(() => simulator.stop());

function over(url: string, onCancel: Plan['onCancel'], connectTimeoutMs = 5_000): BudgetedEngine {
  const door = createOllamaDoor({ url, clock: systemClock, limits: { connectTimeoutMs } });
  return budgetedEngine({ door, simulator: null, plan: { onCancel, budgets: [userDay(LIMIT)] } });
}

/** Nothing open, all adds up, and the user's balance is what the records say was charged. */
async function settled({ store }: BudgetedEngine, records: readonly CallRecord[]): Promise<void> {
  expect(await store.audit(Date.now())).toMatchObject({ ok: true, value: { sound: true, openHolds: 0, faults: [] } });
  const charged = records.reduce(
    (sum, { budget }) => sum + (budget?.chargedInputTokens ?? 0) + (budget?.chargedOutputTokens ?? 0),
    0,
  );
  const accounts = await store.current({ book: 'simulated', atMs: Date.now(), limit: 10 });
  expect(accounts).toMatchObject({ ok: true, value: [{ spent: charged, held: 0 }] });
}

const long: CallRequest = {
  ...request,
  model: 'sim-reader',
  numPredict: 200,
  messages: [{ role: 'user', content: 'Write down all that you know of harbours.' }],
};
const shapes = (['chat', 'generate'] as const).flatMap((route) => [
  { route, stream: true },
  { route, stream: false },
]);

/** What is charged, and from where, under forfeit and under observed; for calls that stream and those that do not. */
const faults: readonly [FaultName, forfeit: string, observed: string][] = [
  ['error-line', 'forfeited reserved', 'settled observed'],
  ['cut-stream', 'forfeited reserved', 'settled observed'],
  ['drop-connection', 'forfeited reserved', 'settled observed'],
  ['busy', 'settled none', 'settled none'],
  ['client-closed', 'settled none', 'settled none'],
  ['server-error', 'forfeited reserved', 'settled observed'],
  ['missing-metrics', 'settled observed', 'settled observed'],
  ['torn-bytes', 'settled reported', 'settled reported'],
  ['glued-lines', 'settled reported', 'settled reported'],
  ['no-last-newline', 'settled reported', 'settled reported'],
  ['huge-line', 'settled reported', 'settled reported'],
];

describe('a server that fails', () => {
  test.each(faults)('%s: %s, or %s', async (fault, forfeit, observed) => {
    simulator.setFaults([fault]);
    onTestFinished(() => simulator.setFaults([]));
    for (const [onCancel, expected] of [
      ['forfeit', forfeit],
      ['observed', observed],
    ] as const) {
      const made = over(simulator.url, onCancel);
      const records: CallRecord[] = [];
      for (const shape of shapes) records.push(await callOn(made.engine, { ...long, ...shape }));
      await settled(made, records);
      for (const {
        budget,
        request: { stream },
        reply,
      } of records) {
        // Faults that strike in the middle of a stream have none to strike in a reply of one piece.
        if (!stream && reply.ending === 'done') continue;
        if (!stream && budget?.source === 'reserved') continue;
        expect(`${budget?.resolution} ${budget?.source}`).toBe(expected);
        if (reply.ending === 'done') expect(budget?.chargedInputTokens).toBeGreaterThan(0);
      }
    }
  });
});

describe('a server that is not there', () => {
  const onListening = async (listen: (socket: import('node:net').Socket) => void): Promise<string> => {
    const server = createServer(listen);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test.each([
    ['a closed port', async () => 'http://127.0.0.1:1'],
    ['a name that is nobody’s', async () => 'http://nobody.invalid:11434'],
  ])('%s: void, nothing is charged, on each route', async (_what, urlOf) => {
    const made = over(await urlOf(), 'forfeit');
    const records: CallRecord[] = [];
    for (const shape of shapes) records.push(await callOn(made.engine, { ...long, ...shape }));
    for (const { budget, reply } of records) {
      expect(reply.ending).toBe('unreachable');
      expect(budget).toMatchObject({
        resolution: 'voided',
        source: 'none',
        chargedInputTokens: 0,
        chargedOutputTokens: 0,
      });
    }
    await settled(made, records);
  });

  test('one that took the request and hangs up without a word may have worked: forfeited', async () => {
    const url = await onListening((socket) => socket.on('error', () => undefined).once('data', () => socket.end()));
    const made = over(url, 'forfeit');
    const records = await Promise.all(shapes.map((shape) => callOn(made.engine, { ...long, ...shape })));
    for (const { budget } of records) expect(budget).toMatchObject({ resolution: 'forfeited', source: 'reserved' });
    await settled(made, records);
  });

  test('a time limit reaches the socket, and the hold', async () => {
    let open = 0;
    const url = await onListening((socket) => {
      open += 1;
      socket
        .on('error', () => undefined)
        .on('close', () => (open -= 1))
        .resume();
    });
    for (const [onCancel, resolution] of [
      ['forfeit', 'forfeited'],
      ['observed', 'settled'],
    ] as const) {
      const made = over(url, onCancel);
      const records = await Promise.all(
        shapes.map((shape) => callOn(made.engine, { ...long, ...shape, timeoutMs: 150 as never })),
      );
      for (const { budget, reply } of records) {
        expect(reply).toMatchObject({ ending: 'aborted', abortedBy: 'timeout' });
        expect(budget).toMatchObject({ resolution, reason: 'its time was over' });
        expect(budget?.chargedInputTokens).toBeGreaterThan(0);
      }
      await settled(made, records);
    }
    for (let turn = 0; open > 0 && turn < 1_000; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(open).toBe(0);
  });
});

test('twenty streams that are stopped: no hold is left, and the server sees every one of them go', async () => {
  const slow = await startSimulator({ port: 0, timeScale: 1, numParallel: 20 });
  onTestFinished(() => slow.stop());
  const made = over(slow.url, 'forfeit');
  const calls = Array.from({ length: 20 }, () => {
    const opened = made.engine.open({ ...long, model: 'sim-overthink', numPredict: 2_000 });
    if (!opened.ok) throw new Error(opened.denial.message);
    return opened.value;
  });
  for (let turn = 0; turn < 3_000; turn += 1) {
    if (made.engine.openCalls().filter(({ phase }) => phase !== 'estimating').length === 20) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const holds = await made.store.reservations({ book: 'simulated', closed: 0 });
  expect(holds.ok ? holds.value.filter(({ state }) => state === 'open') : []).toHaveLength(20);
  for (const { id } of calls) made.engine.cancel(id, 'person');
  const records = await Promise.all(calls.map(async ({ done }) => (await done).record));
  for (const { budget, reply } of records) {
    expect(reply.abortedBy).toBe('person');
    expect(['forfeited', 'voided']).toContain(budget?.resolution);
  }
  await settled(made, records);
});
