/** What only Redis does: its clock, what it forgets and when, scripts that were flushed, sums at the edge of doubles. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore, ReserveAsk } from '../../../shared/engine/ledger/store.ts';
import { type RedisStore, openRedisStore } from '../../../shared/node/redis/store.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { HOLD_MS, START_MS, forfeitOf, grantOf, lineOf, reserveOf, settleOf, voidOf } from '../ledger/asks.ts';
import type { LineAsk } from '../ledger/asks.ts';
import { value } from '../storage/records.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());
beforeEach(() => server.client.flushall());

async function open(nowMs?: () => number): Promise<RedisStore> {
  const store = value(await openRedisStore({ url: server.url, ...(nowMs === undefined ? {} : { nowMs }) }));
  onTestFinished(() => store.close());
  return store;
}

async function redisMs(): Promise<number> {
  const [seconds = 0, microseconds = 0] = (await server.client.time()).map(Number);
  return seconds * 1_000 + Math.floor(microseconds / 1_000);
}

const real = (atMs: number, lines: readonly LineAsk[], change: Partial<ReserveAsk> = {}): ReserveAsk =>
  reserveOf(lines, { book: 'real', atMs, clockMoved: false, ...change });

describe('the clock is that of Redis', () => {
  test('however wrong the local one is', async () => {
    for (const wrong of [-400 * DAY_MS, 0, 3 * DAY_MS]) {
      const store = await open(() => Date.now() + wrong);
      const before = await redisMs();
      const now = store.nowMs();
      expect(now).toBeGreaterThan(before - 1_000);
      expect(now).toBeLessThan((await redisMs()) + 1_000);
    }
  });

  test('lines of another period are asked for again, and nothing is held; opened is when Redis says', async () => {
    const store = await open();
    const begun = await redisMs();
    for (const wrong of [begun - 32 * DAY_MS, begun + 32 * DAY_MS]) {
      const answer = value(await store.reserve(real(wrong, [{ window: 'run' }, { window: 'day' }])));
      if (answer.outcome !== 'clock-moved') throw new Error(answer.outcome);
      expect(answer.nowMs).toBeGreaterThanOrEqual(begun);
      expect(answer.nowMs).toBeLessThanOrEqual(await redisMs());
    }
    expect(value(await store.current({ book: 'real', atMs: begun, limit: 5 }))).toEqual([]);
    // The caller's time may be off within the period: what was opened when is Redis's word.
    const ask = real(begun, [{ window: 'run' }], { atMs: begun - 5_000 });
    const answer = value(await store.reserve(ask));
    if (answer.outcome !== 'reserved') throw new Error(answer.outcome);
    const openedMs = Date.parse(answer.reservation.openedAt);
    expect(openedMs).toBeGreaterThanOrEqual(begun);
    const [held] = value(await store.reservations({ book: 'real', closed: 0 }));
    expect(held).toEqual(answer.reservation);
    const [entry] = value(await store.entries({ book: 'real', limit: 1 }));
    expect(entry?.at).toBe(answer.reservation.openedAt);
    // Where the clock was moved, the caller's time is taken.
    expect(value(await store.reserve(reserveOf([{}], { atMs: START_MS - 700 * DAY_MS }))).outcome).toBe('reserved');
  });
});

describe('what Redis forgets', () => {
  const ttlOf = async (pattern: string): Promise<number> => {
    const keys = await server.client.keys(pattern);
    expect(keys).toHaveLength(1);
    return server.client.pttl(keys[0] ?? '');
  };
  const near = (actual: number, wanted: number): void => {
    expect(actual).toBeGreaterThan(wanted - 30_000);
    expect(actual).toBeLessThanOrEqual(wanted);
  };

  test('accounts end 48 hours after their period, or 400 days after their last use; keys with the longest period', async () => {
    const store = await open();
    const ask = reserveOf([
      { window: 'day', name: 'ada' },
      { window: 'month', scope: 'tenant', name: 'acme' },
      { window: 'run', scope: 'experiment', name: 'sweep' },
      { window: 'minute', name: 'ada' },
    ]);
    value(await store.reserve(ask));
    const [day, month] = ask.lines;
    near(await ttlOf('*:a:user:ada:day:*'), (day?.endsAtMs ?? 0) - START_MS + 48 * HOUR_MS);
    near(await ttlOf('*:a:tenant:acme:month:*'), (month?.endsAtMs ?? 0) - START_MS + 48 * HOUR_MS);
    near(await ttlOf('*:a:experiment:sweep:run:*'), 400 * DAY_MS);
    near(await ttlOf('*:a:user:ada:minute:*'), 400 * DAY_MS);
    near(await ttlOf('*:k:*'), 37 * DAY_MS);
    // An open hold outlives everything it is held on.
    near(await ttlOf('*:r:*'), 800 * DAY_MS);
    near(await ttlOf('*:open'), 800 * DAY_MS);
    value(await store.resolve(settleOf(ask, 5)));
    near(await ttlOf('*:r:*'), 37 * DAY_MS);
    near(await ttlOf('*:closed'), 400 * DAY_MS);

    const month2 = reserveOf([{ window: 'month' }], { tenant: 'globex' });
    value(await store.reserve(month2));
    near(await ttlOf('*{globex}:k:*'), (month2.lines[0]?.endsAtMs ?? 0) - START_MS + 48 * HOUR_MS);
    for (const key of await server.client.keys('*')) expect(await server.client.pttl(key), key).toBeGreaterThan(0);
  });

  test('an account that has ended is charged no more, and the ledger is sound without it', async () => {
    const store = await open();
    const ask = reserveOf([{ window: 'day' }, { window: 'run', scope: 'experiment', name: 'x' }]);
    const other = reserveOf([{ window: 'day' }]);
    value(await store.reserve(ask));
    value(await store.reserve(other));
    value(await store.resolve(settleOf(other, 9)));
    // As the expiry does it, of an account whose time is not over: missed by the audit.
    await server.client.del((await server.client.keys('*:a:user:ada:day:*'))[0] ?? '');
    const answer = value(await store.resolve(settleOf(ask, 7)));
    expect(answer.accounts.map(({ account, spent, held }) => [account.window, spent, held])).toEqual([['run', 7, 0]]);
    expect(value(await store.audit(0)).faults).toEqual([
      expect.stringMatching(/user:ada:day:.*entries, but no balance/),
    ]);
    // Opened anew, it starts from nothing, and what was held before is not taken off it.
    const again = reserveOf([{ window: 'day', amount: 3 }]);
    value(await store.reserve(again));
    expect(
      value(await store.accounts({ book: 'simulated', keys: [again.lines[0]?.key ?? ''], atMs: START_MS })),
    ).toMatchObject([{ spent: 0, held: 3 }]);
    expect(value(await store.audit(0)).faults).toEqual([]);
    expect(value(await store.resolve(voidOf(again))).accounts).toMatchObject([{ spent: 0, held: 0 }]);
  });

  test('an account that is opened anew in the call that resolves a hold of the ended one is charged its own only', async () => {
    const store = await open();
    const old = reserveOf([{ window: 'day', amount: 10 }]);
    value(await store.reserve(old));
    await server.client.del((await server.client.keys('*:a:user:ada:day:*'))[0] ?? '');
    const again = reserveOf([{ window: 'day', amount: 3 }]);
    const [, ended, charged] = await Promise.all([
      store.reserve(again),
      store.resolve(settleOf(old, 7)),
      store.resolve(settleOf(again, 2)),
    ]);
    expect(value(ended).accounts).toEqual([]);
    expect(value(charged).accounts).toMatchObject([{ spent: 2, held: 0 }]);
    expect(
      await store.accounts({ book: 'simulated', keys: [again.lines[0]?.key ?? ''], atMs: START_MS }),
    ).toMatchObject({
      value: [{ spent: 2, held: 0 }],
    });
    expect(value(await store.audit(0)).faults).toEqual([]);
  });

  test('accounts that have ended leave the lists when others come', async () => {
    const store = await open();
    for (let index = 0; index < 20; index += 1) value(await store.reserve(reserveOf([{ name: `old-${index}` }])));
    for (const key of await server.client.keys('*:a:*')) await server.client.del(key);
    const ends = (await server.client.keys('*:ends'))[0] ?? '';
    for (const member of await server.client.zrange(ends, '0', '-1')) await server.client.zadd(ends, 1, member);
    for (let index = 0; index < 6; index += 1) value(await store.reserve(reserveOf([{ name: `new-${index}` }])));
    expect(await server.client.zcard(ends)).toBe(6);
    const listed = await server.client.zrange(ends.replace(/:ends$/, ':accounts'), '0', '-1');
    expect(listed.filter((name) => name.includes(':'))).toHaveLength(6);
  });

  test('holds of the real book expire on the way of any operation, and are told by the next expire', async () => {
    const store = await open();
    const now = await redisMs();
    const due = Array.from({ length: 150 }, (_, index) =>
      real(now, [{ window: 'run', amount: 10, limit: null }], { expiresAtMs: now + 150 - index }),
    );
    const kept = real(now, [{ window: 'run', amount: 1, limit: null }], { expiresAtMs: now + HOLD_MS });
    await Promise.all([...due, kept].map(async (ask) => value(await store.reserve(ask))));
    await new Promise((resolve) => setTimeout(resolve, 200));
    // A settlement that comes late still counts, where it comes before the sweep; then a hundred at most are swept.
    const settled = value(await store.resolve(settleOf(due[0] ?? kept, 4, { atMs: store.nowMs() })));
    expect(settled).toMatchObject({ repeated: false, reservation: { state: 'settled' } });
    const openHolds = async (): Promise<number> => value(await store.reservations({ book: 'real', closed: 0 })).length;
    const after = await openHolds();
    expect(after).toBeLessThanOrEqual(51);
    value(await store.reserve(real(now, [{ window: 'run', amount: 1, limit: null }])));
    expect(await openHolds()).toBe(2);
    const told = value(await store.expire({ book: 'real', atMs: store.nowMs(), max: 1_000 }));
    expect(new Set(told.map(({ reservation }) => reservation.id))).toEqual(new Set(due.slice(1).map(({ id }) => id)));
    expect(told.every(({ reservation }) => reservation.state === 'expired')).toBe(true);
    expect(value(await store.expire({ book: 'real', atMs: store.nowMs(), max: 1_000 }))).toEqual([]);
    const [state] = value(await store.current({ book: 'real', atMs: now, limit: 1 }));
    expect(state).toMatchObject({ spent: 149 * 10 + 4, held: 2 });
    expect(value(await store.audit(now)).faults).toEqual([]);
  });
});

describe('scripts', () => {
  const callsOf = async (command: string): Promise<number> =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await server.client.info('commandstats'))?.[1] ?? 0);

  test('flushed in the middle of many calls: each is done once', async () => {
    const store = await open();
    const asks = Array.from({ length: 300 }, () => reserveOf([{ amount: 1, limit: 250 }]));
    const flushing = (async () => {
      for (let round = 0; round < 50; round += 1) await server.client.script('FLUSH');
    })();
    const answers: string[] = [];
    for (let from = 0; from < asks.length; from += 10) {
      const some = await Promise.all(asks.slice(from, from + 10).map((ask) => store.reserve(ask)));
      answers.push(...some.map((answer) => value(answer).outcome));
      await server.client.script('FLUSH');
    }
    await flushing;
    expect(answers.filter((outcome) => outcome === 'reserved')).toHaveLength(250);
    expect(value(await store.audit(0))).toMatchObject({ sound: true, entries: 250 });
  });

  test('operations of one turn share a call of the script, and one that fails leaves the others as they are', async () => {
    const store = await open();
    const lineAsk = (name: string, amount: number): LineAsk => ({ name, amount, limit: 1_000 });
    for (const name of ['ada', 'grace']) value(await store.reserve(reserveOf([lineAsk(name, 5)])));
    const [ada = ''] = await server.client.keys('*:a:user:ada:*');
    await server.client.hset(ada, 'h', '-30');
    const before = await callsOf('evalsha');
    const asks = ['grace', 'ada', 'ada', 'grace', 'ada'].map((name, index) =>
      reserveOf([lineAsk(name, 1 + 20 * index)]),
    );
    const answers = await Promise.allSettled(asks.map((ask) => store.reserve(ask)));
    expect((await callsOf('evalsha')) - before).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(
      asks.map((ask) => (ask === asks[1] ? 'rejected' : 'fulfilled')),
    );
    expect(String((answers[1] as PromiseRejectedResult).reason)).toMatch(
      /Broken rule: spent 0 and held -9 of user:ada/,
    );
    // What failed was not added to what came after it.
    expect(await server.client.hget(ada, 'h')).toBe(String(-30 + 41 + 81));
    expect(value(await store.entries({ book: 'simulated', limit: 50 }))).toHaveLength(2 + 4);
    await server.client.hset(ada, 'h', String(5 + 41 + 81));
    expect(value(await store.audit(0)).faults).toEqual([]);
    // Not more than some at once, so that Redis has time for others.
    const many = await callsOf('evalsha');
    await Promise.all(
      Array.from({ length: 100 }, async () => value(await store.reserve(reserveOf([{ limit: null }])))),
    );
    expect((await callsOf('evalsha')) - many).toBe(4);
  });

  test('calls of one turn go in one packet', async () => {
    const store = await open();
    value(await store.reserve(reserveOf()));
    const reads = async (): Promise<number> =>
      Number(/total_reads_processed:(\d+)/.exec(await server.client.info('stats'))?.[1] ?? 0);
    const before = await reads();
    await Promise.all(Array.from({ length: 100 }, () => store.reserve(reserveOf([{ limit: null }]))));
    // 100 asks of about a kilobyte each, in pieces of the socket's size.
    expect((await reads()) - before).toBeLessThan(30);
  });

  test('all keys of a tenant are in one hash slot, whatever its name', async () => {
    const store = await open();
    for (const tenant of ['acme', 'a{b}c', '{}', 'x:y', ' spaced out ', '%7b', '🦙', '}{']) {
      const ask = reserveOf([{}, { window: 'minute' }], { tenant });
      value(await store.reserve(ask));
      value(await store.resolve(settleOf(ask, 2_400)));
      value(await store.grant(grantOf(5, ask.lines[0] ?? lineOf())));
    }
    const tags = new Set<string>();
    for (const key of await server.client.keys('*')) {
      if (key === 'spillway:simulated:tenants') continue;
      const tag = /^spillway:simulated:\{([^{}]+)\}:[^{}]+$/.exec(key)?.[1];
      expect(tag, key).toBeDefined();
      tags.add(tag ?? '');
    }
    expect(tags.size).toBe(8);
    expect(value(await store.audit(0)).faults).toEqual([]);
  });
});

describe('amounts', () => {
  test('up to 10^15 nothing is rounded, in sums, thresholds and entries', async () => {
    const store = await open();
    const big = 999_999_999_999_999;
    const ask = reserveOf([{ amount: big - 1, limit: big }]);
    value(await store.reserve(ask));
    expect(value(await store.reserve(reserveOf([{ amount: 2, limit: big }])))).toMatchObject({
      outcome: 'refused',
      refusals: [{ limit: big, held: big - 1 }],
    });
    value(await store.reserve(reserveOf([{ amount: 1, limit: big }])));
    expect(value(await store.resolve(settleOf(ask, big - 1))).accounts).toMatchObject([{ spent: big - 1, held: 1 }]);
    const [entry] = value(await store.entries({ book: 'simulated', operations: ['settle'], limit: 1 }));
    expect(entry?.lines[0]?.amount).toBe(big - 1);
    expect(value(await store.grant(grantOf(1, lineOf({ limit: big }))))).toMatchObject({ granted: 1, limit: big });
    expect(value(await store.audit(0)).faults).toEqual([]);
  });

  test('a threshold is reached to the unit', async () => {
    const store = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1e15 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: -1, max: 1 }),
        async (limit, percent, off) => {
          const exact = Number((BigInt(limit) * BigInt(percent) + 99n) / 100n);
          const spent = Math.min(limit, Math.max(0, exact + off));
          const ask = reserveOf([{ name: `u${(names += 1)}`, amount: spent, limit, alertsPercent: [percent] }]);
          value(await store.reserve(ask));
          const { crossed } = value(await store.resolve(settleOf(ask, spent)));
          expect(crossed).toHaveLength(BigInt(spent) * 100n >= BigInt(limit) * BigInt(percent) ? 1 : 0);
        },
      ),
      { numRuns: 150 },
    );
  });
  let names = 0;

  test('large amounts, expiries and a clock that goes back: answered as in memory', async () => {
    const store = await open();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
        await server.client.flushall();
        await compare(store, `t${(runs += 1)}`, steps);
        expect(value(await store.audit(0)).faults).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

type Step =
  | { readonly do: 'reserve'; readonly line: LineAsk; readonly holdMs: number }
  | { readonly do: 'end'; readonly how: 'settle' | 'forfeit' | 'void'; readonly which: number; readonly amount: number }
  | { readonly do: 'grant'; readonly line: LineAsk; readonly amount: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'expire'; readonly max: number };

const amounts = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 1e15 }));
const lines = fc
  .record({
    name: fc.constantFrom('ada', 'grace'),
    window: fc.constantFrom('minute' as const, 'minute' as const, 'day' as const, 'run' as const),
    amount: amounts,
    limit: fc.option(fc.oneof(fc.constant(500), amounts)),
    alertsPercent: fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }),
  })
  .map((line): LineAsk => line);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('reserve' as const), line: lines, holdMs: fc.integer({ min: 1, max: 90_000 }) }),
  fc.record({
    do: fc.constant('end' as const),
    how: fc.constantFrom('settle' as const, 'forfeit' as const, 'void' as const),
    which: fc.nat(30),
    amount: amounts,
  }),
  fc.record({ do: fc.constant('grant' as const), line: lines, amount: amounts }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: -70_000, max: 70_000 }) }),
  fc.record({ do: fc.constant('expire' as const), max: fc.integer({ min: 1, max: 4 }) }),
);

async function compare(store: LedgerStore, tenant: string, steps: readonly Step[]): Promise<void> {
  let atMs = START_MS;
  const memory = createMemoryStore({ nowMs: () => atMs });
  const asks: ReserveAsk[] = [];
  for (const [index, one] of steps.entries()) {
    if (one.do === 'wait') atMs += one.ms;
    else if (one.do === 'reserve') {
      const id = `${tenant}-${index}`;
      // No two expire at one time, so that their order is known.
      const ask = reserveOf([one.line], { tenant, atMs, id, expiresAtMs: atMs + one.holdMs * 100 + index });
      expect(await store.reserve(ask)).toEqual(await memory.reserve(ask));
      asks.push(ask);
    } else if (one.do === 'grant') {
      const ask = grantOf(one.amount, lineOf(one.line, { tenant, atMs }), { atMs });
      expect(await store.grant(ask)).toEqual(await memory.grant(ask));
    } else if (one.do === 'expire') {
      const ask = { book: 'simulated' as const, atMs, max: one.max };
      expect(await store.expire(ask)).toEqual(await memory.expire(ask));
    } else {
      const of = asks[one.which % Math.max(1, asks.length)];
      if (of === undefined) continue;
      const ask = { settle: settleOf(of, one.amount), forfeit: forfeitOf(of), void: voidOf(of) }[one.how];
      expect(await store.resolve({ ...ask, atMs })).toEqual(await memory.resolve({ ...ask, atMs }));
    }
  }
  const query = { book: 'simulated' as const, tenant, limit: 1_000 };
  const entriesOf = async (of: LedgerStore): Promise<unknown> =>
    value(await of.entries(query)).map(({ seq: _seq, ...entry }) => entry);
  expect(await entriesOf(store)).toEqual(await entriesOf(memory));
  const all = { book: 'simulated' as const, closed: 100 };
  expect(value(await store.reservations(all))).toEqual(value(await memory.reservations(all)));
  const now = { book: 'simulated' as const, atMs, limit: 100 };
  expect(value(await store.current(now))).toEqual(value(await memory.current(now)));
}
