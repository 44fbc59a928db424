/** Redis gone, silent, back, closed to us: answers come in bounded time, say where and what next, and never the password. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RedisState, type RedisStore, openRedisStore } from '../../../shared/node/redis/store.ts';
import { type RedisServer, freePort, startCluster, startRedis, until } from '../../support/redis.ts';
import { grantOf, lineOf, reserveOf, settleOf } from '../ledger/asks.ts';
import { value } from '../storage/records.ts';

async function start(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.close());
  return server;
}

async function open(url: string, timeoutMs = 2_000): Promise<RedisStore> {
  const store = value(await openRedisStore({ url, timeoutMs }));
  onTestFinished(() => store.close());
  return store;
}

describe('Redis is lost', () => {
  test('killed: every operation is refused at once with place and next step; it comes back by itself', async () => {
    const server = await start({ tcp: true });
    const store = await open(server.url);
    expect(store.state()).toEqual({ state: 'ready', problem: null, next: null });
    const told: RedisState[] = [];
    store.onState((state) => told.push(state));
    const ask = reserveOf();
    value(await store.reserve(ask));

    await server.kill();
    await until(() => store.state().state === 'lost');
    const place = server.url.replace('redis://', '');
    const gone = { ok: false, denial: { code: 'ledger-unavailable', message: `Redis at ${place} is not connected.` } };
    expect(await store.reserve(reserveOf())).toMatchObject(gone);
    expect(await store.resolve(settleOf(ask, 5))).toMatchObject(gone);
    expect(await store.grant(grantOf(5))).toMatchObject(gone);
    expect(await store.expire({ book: 'simulated', atMs: 1, max: 5 })).toMatchObject(gone);
    expect(await store.accounts({ book: 'simulated', keys: [lineOf().key], atMs: 1 })).toMatchObject(gone);
    expect(await store.current({ book: 'simulated', atMs: 1, limit: 5 })).toMatchObject(gone);
    expect(await store.reservations({ book: 'simulated', closed: 5 })).toMatchObject(gone);
    expect(await store.entries({ book: 'simulated', limit: 5 })).toMatchObject(gone);
    expect(await store.audit(1)).toMatchObject(gone);
    expect(store.state().next).toMatch(/Start it/);

    await server.restart();
    await until(() => store.state().state === 'ready');
    expect(value(await store.reserve(reserveOf())).outcome).toBe('reserved');
    expect(told.map(({ state }) => state)).toEqual(['lost', 'ready']);
    // The tenant was told to the Redis that is empty now, and is told again.
    expect(value(await store.entries({ book: 'simulated', limit: 5 }))).toHaveLength(1);
  });

  test('killed under load: whatever was answered is one reservation a key, and a retry is the same one', async () => {
    const server = await start({ tcp: true, options: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const store = await open(server.url, 10_000);
    const asks = Array.from({ length: 400 }, (_, index) =>
      reserveOf([{ name: `user-${index % 7}`, amount: 1, limit: null }]),
    );
    const early = asks.slice(0, 200).map((ask) => store.reserve(ask));
    const first = await early[0];
    const killing = server.kill();
    const late = asks.slice(200).map((ask) => store.reserve(ask));
    const answers = await Promise.all([...early, ...late]);
    await killing;
    expect(first?.ok).toBe(true);
    for (const answer of answers) if (!answer.ok) expect(answer.denial.code).toBe('ledger-unavailable');

    await server.restart();
    await until(() => store.state().state === 'ready');
    const again = await Promise.all(asks.map((ask) => store.reserve(ask)));
    for (const [index, answer] of again.entries()) {
      const { outcome } = value(answer);
      expect(outcome).toBe('reserved');
      // What was answered was on disk.
      if (answers[index]?.ok === true) expect(value(answer)).toMatchObject({ repeated: true });
    }
    const states = value(await store.accounts({ book: 'simulated', keys: keysOf(asks), atMs: asks[0]?.atMs ?? 0 }));
    expect(states.reduce((sum, { held }) => sum + held, 0)).toBe(400);
    expect(value(await store.audit(0))).toMatchObject({ sound: true, entries: 400, openHolds: 400 });
  });

  test('silent: nothing waits longer than the bound', async () => {
    const server = await start();
    const store = await open(server.url, 1_000);
    value(await store.reserve(reserveOf()));
    server.freeze();
    onTestFinished(() => server.thaw());
    const ask = reserveOf();
    const answer = await store.reserve(ask);
    expect(answer).toMatchObject({ ok: false, denial: { code: 'ledger-unavailable' } });
    expect(store.state().state).toBe('lost');
    server.thaw();
    await until(() => store.state().state === 'ready');
    // It may have been done after all: the same key is the same reservation.
    expect(value(await store.reserve(ask)).outcome).toBe('reserved');
    const held = value(await store.reservations({ book: 'simulated', closed: 0 }));
    expect(held.filter(({ id }) => id === ask.id)).toHaveLength(1);
  });

  test('not there at the start: the store opens as lost, and is ready when Redis is', async () => {
    const port = await freePort();
    const store = await open(`redis://:hunter2@127.0.0.1:${port}`, 1_000);
    expect(store.state()).toMatchObject({ state: 'lost' });
    expect(JSON.stringify([store.state(), await store.reserve(reserveOf())])).not.toContain('hunter2');
    const server = await start({ port });
    await server.client.config('SET', 'requirepass', 'hunter2');
    await until(() => store.state().state === 'ready');
    expect(value(await store.reserve(reserveOf())).outcome).toBe('reserved');
  });

  test('a wrong password is named as such, and not repeated', async () => {
    const server = await start({ tcp: true });
    await server.client.config('SET', 'requirepass', 'right');
    const store = await open(server.url.replace('redis://', 'redis://:hunter2@'));
    expect(store.state()).toMatchObject({
      state: 'lost',
      problem: `Redis at ${server.url.replace('redis://', '')} wants another user or password.`,
      next: 'Correct the user and password in redisUrl.',
    });
    expect(JSON.stringify([store.state(), await store.reserve(reserveOf())])).not.toMatch(/hunter2|right/);
    await server.client.config('SET', 'requirepass', 'hunter2');
    await until(() => store.state().state === 'ready');
  });

  test('a full Redis says so, and nothing of the operation is kept', async () => {
    const server = await start();
    const store = await open(server.url);
    value(await store.reserve(reserveOf([{ amount: 1 }])));
    await server.client.config('SET', 'maxmemory', '1');
    expect(await store.reserve(reserveOf([{ amount: 1 }]))).toMatchObject({ denial: { code: 'storage-full' } });
    await server.client.config('SET', 'maxmemory', '0');
    expect(value(await store.audit(0))).toMatchObject({ sound: true, entries: 1, openHolds: 1 });
  });

  test('a server that is part of a cluster, and a cluster that is none, are told apart', async () => {
    const [server, cluster] = await Promise.all([start({ tcp: true }), startCluster()]);
    onTestFinished(() => cluster.close());
    const wrong = await open(server.url.replace('redis://', 'redis-cluster://'));
    expect(wrong.state()).toMatchObject({ state: 'lost', next: 'Use redis:// in redisUrl.' });
    const one = cluster.url.replace('redis-cluster://', 'redis://').split(',')[0] ?? '';
    const single = await open(one);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((tenant) => single.reserve(reserveOf([{}], { tenant }))),
    );
    const denial = answers.find((answer) => !answer.ok);
    expect(denial).toMatchObject({ denial: { code: 'ledger-unavailable', next: 'Use redis-cluster:// in redisUrl.' } });
  });

  test('a node of the cluster is lost: refused in bounded time, the others go on as the cluster lets them', async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.close());
    const store = await open(cluster.url, 1_000);
    const tenants = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const reserve = (): Promise<unknown[]> =>
      Promise.all(tenants.map(async (tenant) => (await store.reserve(reserveOf([{ amount: 1 }], { tenant }))).ok));
    expect(await reserve()).toEqual(tenants.map(() => true));
    await cluster.kill(1);
    await until(async () => (await reserve()).includes(false));
    expect(store.state().state).toBe('lost');
  });
});

const keysOf = (asks: readonly ReturnType<typeof reserveOf>[]): string[] => [
  ...new Set(asks.flatMap((ask) => ask.lines.map((line) => line.key))),
];
