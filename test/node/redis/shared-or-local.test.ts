/** A real Redis that comes and goes, and a ledger in memory beside it. */
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore } from '../../../shared/engine/ledger/store.ts';
import { type SharedOrLocalState, createSharedOrLocal } from '../../../shared/node/redis/shared-or-local.ts';
import { openRedisStore } from '../../../shared/node/redis/store.ts';
import { type RedisServer, startRedis, until } from '../../support/redis.ts';
import { START_MS, goldenLines, grantOf, lineOf, reserveOf, settleOf, voidOf } from '../ledger/asks.ts';
import { value } from '../storage/records.ts';

interface Setup {
  readonly server: RedisServer;
  readonly store: ReturnType<typeof createSharedOrLocal>;
  readonly local: LedgerStore;
  readonly told: SharedOrLocalState['state'][];
  lose(): Promise<void>;
  back(): Promise<void>;
}

async function setup(loss: 'refuse' | 'local-share', percent = 10): Promise<Setup> {
  // On disk, so that what was held is there when it is back.
  const server = await startRedis({ options: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const redis = value(await openRedisStore({ url: server.url, timeoutMs: 1_000 }));
  const local = createMemoryStore({ nowMs: () => START_MS });
  const store = createSharedOrLocal({ redis, local, loss: () => loss, sharePercent: () => percent });
  onTestFinished(async () => {
    await store.close();
    await server.close();
  });
  const told: SharedOrLocalState['state'][] = [];
  store.onState(({ state }) => told.push(state));
  return {
    server,
    store,
    local,
    told,
    async lose() {
      await server.kill();
      await until(() => store.state().state !== 'ready');
    },
    async back() {
      await server.restart();
      await until(() => store.state().state === 'ready');
    },
  };
}

test('refuse: while Redis is away nothing is opened, and the state says why and what next', async () => {
  const { store, lose, back, told } = await setup('refuse');
  expect(store.state()).toEqual({ store: 'redis', state: 'ready', problem: null, next: null });
  const ask = reserveOf();
  value(await store.reserve(ask));
  await lose();
  expect(store.state()).toMatchObject({ state: 'unavailable', next: expect.stringMatching(/Start it/) });
  for (const answer of [
    await store.reserve(reserveOf()),
    await store.resolve(settleOf(ask, 5)),
    await store.current({ book: 'simulated', atMs: START_MS, limit: 5 }),
    await store.reservations({ book: 'simulated', closed: 5 }),
    await store.audit(START_MS),
  ]) {
    expect(answer).toMatchObject({ ok: false, denial: { code: 'ledger-unavailable' } });
  }
  await back();
  expect(value(await store.resolve(settleOf(ask, 5))).repeated).toBe(false);
  expect(told).toEqual(['unavailable', 'ready']);
});

test('local share: a tenth of each limit is used here, holds end where they began, and new ones go to Redis again', async () => {
  const { store, local, lose, back, told } = await setup('local-share');
  const shared = reserveOf(goldenLines('ada', 500));
  value(await store.reserve(shared));
  await lose();
  expect(store.state()).toMatchObject({ state: 'local-share', problem: expect.stringMatching(/10 % of each limit/) });

  const here = reserveOf(goldenLines('ada', 600));
  const answer = value(await store.reserve(here));
  expect(answer).toMatchObject({ outcome: 'reserved', accounts: [{ limit: 600 }, { limit: 900 }] });
  expect(value(await store.reserve(reserveOf(goldenLines('ada', 1))))).toMatchObject({
    outcome: 'refused',
    refusals: [{ index: 0, limit: 600, held: 600 }],
  });
  expect(value(await store.reserve(reserveOf([{ limit: 9, name: 'low', amount: 1 }])))).toMatchObject({
    refusals: [{ limit: 0 }],
  });
  expect(value(await store.reserve(reserveOf([{ limit: null, name: 'free', amount: 1e9 }])))).toMatchObject({
    accounts: [{ limit: null }],
  });
  // What Redis holds only Redis can end; what is retried there is not opened a second time here.
  expect(await store.resolve(settleOf(shared, 5))).toMatchObject({ denial: { code: 'ledger-unavailable' } });
  expect(await store.reserve(shared)).toMatchObject({ denial: { code: 'ledger-unavailable' } });
  expect(await store.grant(grantOf(5))).toMatchObject({ denial: { code: 'ledger-unavailable' } });
  expect(value(await store.current({ book: 'simulated', atMs: START_MS, limit: 9 }))).toHaveLength(3);

  await back();
  expect(value(await store.reserve(here))).toMatchObject({ repeated: true, reservation: { id: here.id } });
  const again = reserveOf(goldenLines('ada', 700));
  expect(value(await store.reserve(again))).toMatchObject({
    accounts: [{ limit: 6_000, held: 1_200 }, { held: 1_200 }],
  });
  const open = value(await store.reservations({ book: 'simulated', closed: 0 })).map(({ id }) => id);
  expect(open).toEqual(expect.arrayContaining([here.id, again.id, shared.id]));
  expect(value(await store.resolve(settleOf(here, 550))).accounts).toMatchObject([
    { limit: 600, spent: 550, held: 0 },
    {},
  ]);
  expect(value(await store.resolve(settleOf(shared, 400))).accounts).toMatchObject([{ spent: 400, held: 700 }, {}]);
  expect(value(await local.audit(START_MS)).faults).toEqual([]);
  expect(value(await store.audit(START_MS))).toMatchObject({ sound: true });
  expect(told).toEqual(['local-share', 'ready']);
});

test('what Redis took and never answered is given back when it returns', async () => {
  const { server, store } = await setup('local-share');
  value(await store.reserve(reserveOf([{ name: 'other', amount: 1 }])));
  // It does the work, and its answer never comes.
  const ask = reserveOf([{ amount: 100 }]);
  const before = store.reserve(reserveOf([{ name: 'other', amount: 1 }]));
  await before;
  server.freeze();
  const answer = value(await store.reserve(ask));
  expect(answer).toMatchObject({ outcome: 'reserved', accounts: [{ limit: 600, held: 100 }] });
  server.thaw();
  await until(() => store.state().state === 'ready');
  await until(async () => {
    const [state] = value(await store.accounts({ book: 'simulated', keys: [lineOf().key], atMs: START_MS }));
    return state === undefined || state.held === 0;
  });
  // The one here goes on.
  expect(value(await store.resolve(voidOf(ask))).accounts).toMatchObject([{ limit: 600, held: 0 }]);
});

test('a hold of an earlier start is found in both, and one of nowhere in neither', async () => {
  const { store, local, server } = await setup('local-share');
  const here = reserveOf([{ amount: 5 }]);
  value(await local.reserve(here));
  const there = reserveOf([{ amount: 7 }]);
  const other = value(await openRedisStore({ url: server.url }));
  onTestFinished(() => other.close());
  value(await other.reserve(there));
  expect(value(await store.resolve(settleOf(here, 5))).reservation.id).toBe(here.id);
  expect(value(await store.resolve(settleOf(there, 5))).reservation.id).toBe(there.id);
  expect(await store.resolve(settleOf({ ...here, id: 'never' }, 5))).toMatchObject({ denial: { code: 'not-found' } });
});

test('shares are whole numbers, rounded down, up to the largest limit', async () => {
  const { store, lose } = await setup('local-share', 33);
  await lose();
  for (const [limit, share] of [
    [0, 0],
    [1, 0],
    [100, 33],
    [101, 33],
    [103, 33],
    [104, 34],
    [1e15, 330_000_000_000_000],
    [999_999_999_999_999, 329_999_999_999_999],
  ] as const) {
    const answer = value(await store.reserve(reserveOf([{ name: `l${limit}`, amount: 0, limit }])));
    expect(answer).toMatchObject({ accounts: [{ limit: share }] });
  }
});
