/** The audit over Redis: what was tampered with is found, what was forgotten by rule is said and is no fault. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Audit } from '../../../shared/contract/ledger.ts';
import { JOURNAL_MAX } from '../../../shared/node/redis/script.ts';
import { type RedisStore, openRedisStore } from '../../../shared/node/redis/store.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { goldenLines, grantOf, lineOf, reserveOf, settleOf } from '../ledger/asks.ts';
import { value } from '../storage/records.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());
beforeEach(() => server.client.flushall());

async function open(): Promise<RedisStore> {
  const store = value(await openRedisStore({ url: server.url, timeoutMs: 10_000 }));
  onTestFinished(() => store.close());
  return store;
}

const key = async (pattern: string): Promise<string> => {
  const keys = await server.client.keys(pattern);
  expect(keys, pattern).toHaveLength(1);
  return keys[0] ?? '';
};

describe('the audit finds', () => {
  const tampered: [string, () => Promise<unknown>, RegExp][] = [
    ['a balance that was changed', async () => server.client.hset(await key('*:a:user:*'), 's', '7'), /spent is 7/],
    ['a hold that was changed', async () => server.client.hset(await key('*:a:tenant:*'), 'h', '7'), /held is 7/],
    ['a balance that is gone', async () => server.client.del(await key('*:a:user:*')), /entries, but no balance/],
    ['a hold that is gone', async () => server.client.del(await key('*}:open')), /open in the journal/],
    [
      'a reservation that is gone',
      async () => server.client.del(await key('*:r:open')),
      /is among the open holds and is missing/,
    ],
    [
      'a resolution that is gone',
      async () => {
        const journal = await key('*:journal');
        const last = (await server.client.xrevrange(journal, '+', '-', 'COUNT', 1))[0]?.[0] ?? '';
        return server.client.xdel(journal, last);
      },
      /1 of 3 entries are missing/,
    ],
    ['a journal that is gone', async () => server.client.del(await key('*:journal')), /3 of 3 entries are missing/],
    [
      'a resolution that came twice',
      async () => {
        const journal = await key('*:journal');
        const [last] = await server.client.xrevrange(journal, '+', '-', 'COUNT', 1);
        const seq = Number(last?.[0].split('-')[0]) + 1;
        await server.client.xadd(journal, `${seq}-0`, ...(last?.[1] ?? []));
        const meta = await key('*:meta');
        await server.client.hset(meta, 'seq', String(seq), 'count', '4');
      },
      /was resolved before/,
    ],
  ];
  test.each(tampered)('%s', async (_what, tamper, words) => {
    const store = await open();
    const done = reserveOf(goldenLines('ada', 100), { id: 'done' });
    const held = reserveOf(goldenLines('ada', 100), { id: 'open' });
    value(await store.reserve(done));
    value(await store.reserve(held));
    value(await store.resolve(settleOf(done, 120)));
    expect(value(await store.audit(0))).toMatchObject({ sound: true, entries: 3, openHolds: 1, faults: [] });
    await tamper();
    const audit = value(await store.audit(0));
    expect(audit.sound).toBe(false);
    expect(audit.faults.join('\n')).toMatch(words);
  });
});

test('a journal that was cut: nothing is claimed of what was dropped, and the rest is checked', async () => {
  const store = await open();
  const old = reserveOf([{ name: 'old', amount: 5 }], { id: 'old' });
  const oldOpen = reserveOf([{ name: 'old', amount: 7 }], { id: 'old-open' });
  value(await store.reserve(old));
  value(await store.reserve(oldOpen));
  const line = lineOf({ window: 'run', scope: 'experiment', name: 'x' });
  const grants = JOURNAL_MAX + 500;
  for (let from = 0; from < grants; from += 1_000) {
    const some = Array.from({ length: Math.min(1_000, grants - from) }, () => store.grant(grantOf(1, line)));
    for (const answer of await Promise.all(some)) value(answer);
  }
  const fresh = reserveOf([{ name: 'fresh', amount: 3 }], { id: 'fresh' });
  value(await store.reserve(fresh));
  value(await store.resolve(settleOf(old, 5)));

  const audit = value(await store.audit(0));
  expect(audit.faults).toEqual([]);
  expect(audit.entries).toBeGreaterThanOrEqual(JOURNAL_MAX);
  expect(audit.entries).toBeLessThan(grants + 4);
  expect(audit).toMatchObject({ sound: true, accounts: 3, openHolds: 2 } satisfies Partial<Audit>);
  expect(audit.notes).toEqual([expect.stringMatching(/^acme: \d+ entries before \d+ were dropped/)]);

  await server.client.hset(await key('*:a:user:old:*'), 'h', '9');
  expect(value(await store.audit(0)).faults).toEqual([
    expect.stringMatching(/user:old.*held is 9, its open holds sum to 7/),
  ]);
  await server.client.hset(await key('*:a:user:old:*'), 'h', '7');
  await server.client.hset(await key('*:a:user:fresh:*'), 's', '9');
  expect(value(await store.audit(0)).faults).toEqual([expect.stringMatching(/user:fresh.*spent is 9/)]);
});
