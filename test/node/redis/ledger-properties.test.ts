/** The properties of any ledger, over a real Redis; a crash loses the connection. */
import { afterAll, beforeAll } from 'vitest';
import { openRedisStore } from '../../../shared/node/redis/store.ts';
import { ledgerProperties } from '../../engine/ledger/ledger-properties.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { value } from '../storage/records.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

ledgerProperties({
  name: 'Redis',
  runs: 15,
  open: async ({ nowMs }) => {
    await server.client.flushall();
    let store = value(await openRedisStore({ url: server.url, nowMs }));
    return {
      store,
      reopen: async () => {
        await store.close();
        store = value(await openRedisStore({ url: server.url, nowMs }));
        return store;
      },
      close: () => store.close(),
    };
  },
});
