import { afterAll, beforeAll } from 'vitest';
import { openRedisStore } from '../../../shared/node/redis/store.ts';
import { type RedisClusterNodes, type RedisServer, startCluster, startRedis } from '../../support/redis.ts';
import { START_MS } from '../ledger/asks.ts';
import { type OpenLedger, storeContract } from '../ledger/store-contract.ts';
import { value } from '../storage/records.ts';

let server: RedisServer;
let cluster: RedisClusterNodes;

beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startCluster()]);
});
afterAll(() => Promise.all([server.close(), cluster.close()]));

storeContract(
  'Redis',
  async () => {
    await server.client.flushall();
    return open(server.url);
  },
  { outlivesProcess: true },
);

storeContract(
  'a cluster of three',
  async () => {
    await Promise.all(cluster.nodes.map((node) => node.flushall()));
    return open(cluster.url);
  },
  { outlivesProcess: true },
);

async function open(url: string): Promise<OpenLedger> {
  let localMs = START_MS;
  const nowMs = (): number => localMs;
  const store = value(await openRedisStore({ url, nowMs }));
  const others: (typeof store)[] = [];
  return {
    store,
    setNow: (ms) => {
      localMs = ms;
    },
    reopen: async () => {
      const again = value(await openRedisStore({ url, nowMs }));
      others.push(again);
      return again;
    },
    close: async () => {
      for (const one of [store, ...others]) await one.close();
    },
  };
}
