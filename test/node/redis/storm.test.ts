import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountKey } from '../../../shared/contract/ledger.ts';
import { openRedisStore } from '../../../shared/node/redis/store.ts';
import { type RedisClusterNodes, type RedisServer, startCluster, startRedis } from '../../support/redis.ts';
import { forfeitOf, settleOf } from '../ledger/asks.ts';
import { value } from '../storage/records.ts';

const child = fileURLToPath(new URL('storm-child.ts', import.meta.url));
let server: RedisServer;
let cluster: RedisClusterNodes;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis({ tcp: true }), startCluster()]);
});
afterAll(() => Promise.all([server.close(), cluster.close()]));

describe.each([
  ['one Redis', () => ({ url: server.url, nodes: [server.client] as readonly (Redis | Cluster)[] })],
  ['a cluster of three', () => ({ url: cluster.url, nodes: cluster.nodes as readonly (Redis | Cluster)[] })],
])('20 users at once from two processes on %s', (_name, of) => {
  const flushScripts = async (): Promise<void> => {
    await Promise.all(of().nodes.map((node) => node.script('FLUSH')));
  };

  test('reserved first: exactly 3 are let in, not one token over, also when the scripts are flushed meanwhile', async () => {
    const { url } = of();
    const outcomes = await storm(url, 'reserve-first', flushScripts);
    expect(outcomes).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(17);

    const store = value(await openRedisStore({ url }));
    const tenant = async (): Promise<unknown> => {
      const current = value(await store.current({ book: 'real', atMs: store.nowMs(), limit: 100 }));
      const state = current.find(({ account }) => account.scope === 'tenant');
      return state === undefined
        ? null
        : [state.spent, state.held, state.limit, state.key === accountKey(state.account)];
    };
    expect(await tenant()).toEqual([0, 7_302, 9_000, true]);
    const open = value(await store.reservations({ book: 'real', closed: 0 }));
    expect(open).toHaveLength(3);
    const [first, second, third] = open.map(({ id }) => ({ id, book: 'real', tenant: 'acme' }) as const);
    if (first === undefined || second === undefined || third === undefined) throw new Error('three are open');
    await flushScripts();
    value(await store.resolve(settleOf(first, 1_969)));
    value(await store.resolve(settleOf(second, 1_969)));
    value(await store.resolve(forfeitOf(third)));
    expect(await tenant()).toEqual([1_969 + 1_969 + 2_434, 0, 9_000, true]);
    expect(value(await store.audit(store.nowMs()))).toMatchObject({
      sound: true,
      faults: [],
      entries: 6,
      openHolds: 0,
    });
    await store.close();
  });

  test('checked before and charged after: all 20 pass, 39,380 of 9,000', async () => {
    const { url, nodes } = of();
    const outcomes = await storm(url, 'check-after', async () => undefined);
    expect(outcomes).toHaveLength(20);
    const sums = await Promise.all(nodes.map((node) => node.get('naive').catch(() => null)));
    expect(sums.filter((sum) => sum !== null)).toEqual(['39380']);
  });
});

async function storm(url: string, how: string, between: () => Promise<void>): Promise<string[]> {
  const consoles = ['0', '10'].map((first) => {
    const one = spawn(process.execPath, [child, url, how, first, '10'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: one.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<string> => String((await lines.next()).value);
    return { one, next, go: () => one.stdin.write('go\n') };
  });
  try {
    for (const { next } of consoles) expect(await next()).toBe('ready');
    for (const { go } of consoles) go();
    for (const { next } of consoles) expect(await next()).toBe('half');
    await between();
    for (const { go } of consoles) go();
    const outcomes: string[] = [];
    for (const { next } of consoles) outcomes.push(...(JSON.parse(await next()) as string[]));
    return outcomes;
  } finally {
    for (const { one } of consoles) one.kill();
  }
}
