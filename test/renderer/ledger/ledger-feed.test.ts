import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { LedgerView } from '../../../shared/contract/ledger.ts';
import { createEngineClient } from '../../../renderer/stores/engine-store.ts';
import { dueInMs, followLedger } from '../../../renderer/stores/ledger-feed.ts';
import { applyLedgerView, emptyLedger } from '../../../renderer/stores/ledger-state.ts';
import { fakeTransport } from '../support/fake-transport.ts';
import { makeSnapshot } from '../support/make.ts';
import { makeBalance, makeGoldenView, makeLedgerState } from './make-ledger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp(view: () => ReturnType<typeof ok<LedgerView>> | ReturnType<typeof denied>) {
  const transport = fakeTransport({ 'snapshot.get': () => ok(makeSnapshot()), 'ledger.get': view });
  const client = createEngineClient(transport, { soon: (run) => run(), nowMs: () => Date.now() });
  const stop = followLedger(client);
  const asked = (): number => transport.asked.filter(({ name }) => name === 'ledger.get').length;
  return { transport, client, stop, asked };
}

const passes = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

test('asked at once, then only when something makes it untrue', async () => {
  const { asked, client } = setUp(() => ok(makeGoldenView()));
  await passes(0);
  expect(asked()).toBe(1);
  expect(client.store.getState().ledger.loaded).toBe(true);
  await passes(600_000);
  expect(asked()).toBe(1);
});

test('however often the ledger changes, it is asked at most once a second', async () => {
  const { asked, transport } = setUp(() => ok(makeGoldenView()));
  await passes(0);
  for (let index = 0; index < 50; index += 1) {
    transport.emit({ type: 'ledger-changed', state: makeLedgerState() });
    await passes(20);
  }
  expect(asked()).toBe(2);
  transport.emit({ type: 'ledger-changed', state: makeLedgerState() });
  await passes(900);
  expect(asked()).toBe(2);
  await passes(100);
  expect(asked()).toBe(3);
});

test('the end of a period asks again, by the clock of the ledger', async () => {
  let now = '2026-11-14T23:59:50.000Z';
  const { asked } = setUp(() => ok(makeGoldenView({ state: makeLedgerState({ now }), balances: [makeBalance()] })));
  await passes(0);
  now = '2026-11-15T00:00:00.000Z';
  await passes(9_900);
  expect(asked()).toBe(1);
  await passes(200);
  expect(asked()).toBe(2);
});

test('a refusal is kept and asked again after a while; stopping ends it', async () => {
  const { asked, client, stop } = setUp(() => denied('ledger-unavailable', 'Redis does not answer.'));
  await passes(0);
  expect(client.store.getState().ledger.denial?.code).toBe('ledger-unavailable');
  await passes(4_000);
  expect(asked()).toBe(1);
  await passes(1_100);
  expect(asked()).toBe(2);
  stop();
  await passes(60_000);
  expect(asked()).toBe(2);
});

test('how long figures stay true: to the end of a period, or briefly in a rolling minute', () => {
  const of = (balances: ReturnType<typeof makeBalance>[]): number | null =>
    dueInMs(applyLedgerView(emptyLedger, makeGoldenView({ balances }), emptyLedger, 0), 8_000);
  expect(dueInMs(emptyLedger, 0)).toBeNull();
  expect(of([makeBalance()])).toBe(4_550_000);
  expect(of([makeBalance({ window: 'minute', period: 'rolling' }, { spent: 5 }), makeBalance()])).toBe(2_000);
  expect(of([makeBalance({ window: 'minute', period: 'rolling' })])).toBeNull();
  expect(of([makeBalance({ window: 'run', period: 'run' }, { spent: 5 })])).toBeNull();
});
