/** The part of the stores' contract about holds: how they end, what is charged and where, alerts, grants, the rolling minute. */
import { describe, expect, test } from 'vitest';
import type { ReserveAsk } from '../../../shared/engine/ledger/store.ts';
import { value } from '../storage/records.ts';
import { START_MS, forfeitOf, goldenLines, grantOf, lineOf, reserveOf, settleOf, voidOf } from './asks.ts';
import { expectSound, refused, reserved, sums } from './store-contract.ts';
import type { FreshLedger } from './store-contract.ts';

export function testHolding(fresh: FreshLedger): void {
  testEndings(fresh);
  testAlerts(fresh);
  testGrants(fresh);
  testRollingMinute(fresh);
}

function testEndings(fresh: FreshLedger): void {
  test('settled under its hold: what was used is charged, the rest is free again', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    const { reservation } = await reserved(store, ask);
    const answer = value(await store.resolve(settleOf(ask, 1_969)));
    expect(answer).toMatchObject({ repeated: false, crossed: [] });
    expect(answer.reservation).toEqual({
      ...reservation,
      state: 'settled',
      closedAt: '2026-11-14T22:44:03.000Z',
      charge: {
        inputTokens: 1_930,
        outputTokens: 39,
        nanoDollars: 0,
        source: 'reported',
        overrunTokens: 0,
        reason: '',
      },
    });
    expect(answer.accounts).toMatchObject([
      { key: ask.lines[0]?.key, spent: 1_969, held: 0, overrun: 0 },
      { key: ask.lines[1]?.key, spent: 1_969, held: 0, overrun: 0 },
    ]);
    await expectSound(store);
  });

  test('settled over its hold: all of it counts, and what was over is marked', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    await reserved(store, ask);
    const answer = value(await store.resolve(settleOf(ask, 6_500)));
    expect(answer.reservation.charge).toMatchObject({ overrunTokens: 4_066 });
    expect(answer.accounts[0]).toMatchObject({ spent: 6_500, held: 0, overrun: 4_066, limit: 6_000 });
    expect((await refused(store, reserveOf([{ amount: 1 }]))).refusals).toEqual([
      { index: 0, limit: 6_000, spent: 6_500, held: 0, earliestExpiryMs: null, freeAtMs: null },
    ]);
    const [entry] = value(await store.entries({ book: 'simulated', operations: ['settle'], limit: 1 }));
    expect(entry?.lines.map(({ amount, overrun }) => [amount, overrun])).toEqual([
      [6_500, 4_066],
      [6_500, 4_066],
    ]);
    await expectSound(store);
  });

  test('every unit is charged by itself', async () => {
    const { store } = await fresh();
    const ask = reserveOf([
      { unit: 'tokens', amount: 100 },
      { unit: 'nano-dollars', amount: 200_000, limit: 1_000_000 },
      { unit: 'requests', amount: 1, window: 'month' },
    ]);
    await reserved(store, ask);
    const charge = { tokens: 60, 'nano-dollars': 250_000, requests: 1 };
    const { reservation, accounts } = value(await store.resolve(settleOf(ask, 60, { charge })));
    expect(accounts.map(({ spent, held, overrun }) => [spent, held, overrun])).toEqual([
      [60, 0, 0],
      [250_000, 0, 50_000],
      [1, 0, 0],
    ]);
    expect(reservation.charge).toMatchObject({ nanoDollars: 250_000, overrunTokens: 0 });
  });

  test('forfeited: all of it stays charged; void: nothing is', async () => {
    const { store } = await fresh();
    const lost = reserveOf();
    const never = reserveOf(goldenLines('grace'));
    await reserved(store, lost);
    await reserved(store, never);
    const forfeited = value(await store.resolve(forfeitOf(lost)));
    expect(forfeited.reservation).toMatchObject({
      state: 'forfeited',
      charge: { source: 'reserved', reason: 'cancelled' },
    });
    expect(value(await store.resolve(voidOf(never))).reservation).toMatchObject({
      state: 'voided',
      charge: { inputTokens: 0, outputTokens: 0, source: 'none' },
    });
    expect(await sums(store, lost)).toEqual([
      [2_434, 0],
      [2_434, 0],
    ]);
    expect(await sums(store, never)).toEqual([
      [0, 0],
      [2_434, 0],
    ]);
    await expectSound(store);
  });

  test('expired: open holds whose time is over are charged as reserved, oldest first, so many at a time', async () => {
    const { store, setNow } = await fresh();
    const asks = [300, 100, 200, 400].map((delay, index) =>
      reserveOf([{ name: `user-${index}`, amount: 10 + index }], { expiresAtMs: START_MS + delay }),
    );
    for (const ask of asks) await reserved(store, ask);
    const atMs = START_MS + 300;
    setNow(atMs);
    const ask = { book: 'simulated', atMs, max: 2 } as const;
    expect(value(await store.expire({ ...ask, book: 'real' }))).toEqual([]);
    const first = value(await store.expire(ask));
    expect(first.map((answer) => answer.reservation.id)).toEqual([asks[1]?.id, asks[2]?.id]);
    expect(first[0]?.reservation).toMatchObject({
      state: 'expired',
      closedAt: '2026-11-14T22:44:02.300Z',
      charge: { source: 'reserved', inputTokens: 2_034, outputTokens: 400 },
    });
    expect(value(await store.expire(ask)).map((answer) => answer.reservation.id)).toEqual([asks[0]?.id]);
    expect(value(await store.expire(ask))).toEqual([]);
    for (const [index, one] of asks.entries()) {
      expect(await sums(store, one)).toEqual([index === 3 ? [0, 13] : [10 + index, 0]]);
    }
    await expectSound(store);
  });

  test('resolved at most once: whoever comes later is told how it was', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    await reserved(store, ask);
    const first = value(await store.resolve(settleOf(ask, 1_969)));
    for (const later of [settleOf(ask, 5), forfeitOf(ask), voidOf(ask), settleOf(ask, 1_969)]) {
      expect(value(await store.resolve(later))).toMatchObject({
        repeated: true,
        reservation: first.reservation,
        accounts: first.accounts,
        crossed: [],
      });
    }
    expect(value(await store.expire({ book: 'simulated', atMs: START_MS + 1e9, max: 10 }))).toEqual([]);
    expect(value(await store.entries({ book: 'simulated', limit: 10 }))).toHaveLength(2);
    await expectSound(store);
  });

  test('what was never reserved cannot be resolved, nor what is of another tenant or book', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    await reserved(store, ask);
    for (const of of [
      { ...ask, id: 'never' },
      { ...ask, tenant: 'globex' },
      { ...ask, book: 'real' as const },
    ]) {
      expect(await store.resolve(settleOf(of, 5))).toMatchObject({ ok: false, denial: { code: 'not-found' } });
    }
    expect(await sums(store, ask)).toEqual([
      [0, 2_434],
      [0, 2_434],
    ]);
  });

  test('a call over midnight is charged to the day in which it was reserved', async () => {
    const { store, setNow } = await fresh();
    const before = Date.UTC(2026, 10, 30, 23, 59, 59, 500);
    const after = Date.UTC(2026, 11, 1, 0, 0, 0, 500);
    setNow(before);
    const ask = reserveOf(goldenLines('ada'), { atMs: before });
    await reserved(store, ask);
    setNow(after);
    const answer = value(await store.resolve(settleOf(ask, 1_969, { atMs: after })));
    expect(answer.accounts.map(({ account, spent, held }) => [account.period, spent, held])).toEqual([
      ['2026-11-30', 1_969, 0],
      ['2026-11', 1_969, 0],
    ]);
    const next = reserveOf(goldenLines('ada'), { atMs: after });
    expect(await sums(store, next)).toEqual([null, null]);
    expect((await reserved(store, next)).accounts.map(({ account, spent }) => [account.period, spent])).toEqual([
      ['2026-12-01', 0],
      ['2026-12', 0],
    ]);
    await expectSound(store);
  });
}

function testAlerts(fresh: FreshLedger): void {
  test('the golden trace: one alert at 7,877 of 9,000, and two refusals', async () => {
    const { store } = await fresh();
    const crossed: unknown[] = [];
    const call = async (user: string, tokens: number): Promise<unknown> => {
      const ask = reserveOf(goldenLines(user));
      const held = value(await store.reserve(ask));
      if (held.outcome !== 'reserved') return held;
      crossed.push(...value(await store.resolve(settleOf(ask, tokens))).crossed);
      return await sums(store, ask);
    };
    const both = (user: number, tenant: number): unknown => [
      [user, 0],
      [tenant, 0],
    ];
    expect(await call('ada', 1_969)).toEqual(both(1_969, 1_969));
    expect(await call('ada', 1_968)).toEqual(both(3_937, 3_937));
    expect(await call('ada', 1)).toMatchObject({
      refusals: [{ index: 0, limit: 6_000, spent: 3_937, held: 0, earliestExpiryMs: null }],
    });
    expect(await call('grace', 1_968)).toEqual(both(1_968, 5_905));
    expect(crossed).toEqual([]);
    expect(await call('grace', 1_972)).toEqual(both(3_940, 7_877));
    const { account, key } = lineOf({ scope: 'tenant', name: 'acme', window: 'month' });
    expect(crossed).toEqual([{ key, account, percent: 80, spent: 7_877, limit: 9_000 }]);
    expect(await call('linus', 1)).toMatchObject({ refusals: [{ index: 1, limit: 9_000, spent: 7_877, held: 0 }] });

    // Told once: more of the same period says nothing again, and the journal has it.
    const small = reserveOf([{ scope: 'tenant', name: 'acme', window: 'month', amount: 100, limit: 9_000 }]);
    const again = await reserved(store, small);
    expect(again.accounts[0]?.alerts).toEqual([{ percent: 80, raised: true }]);
    expect(value(await store.resolve(settleOf(small, 100))).crossed).toEqual([]);
    const alerts = value(await store.entries({ book: 'simulated', operations: ['alert'], limit: 10 }));
    expect(alerts).toMatchObject([
      {
        at: '2026-11-14T22:44:03.000Z',
        user: 'ada',
        tenant: 'acme',
        lines: [{ account: key, unit: 'tokens', amount: 7_877, overrun: 0 }],
        reason: '80 % of 9000',
      },
    ]);
    await expectSound(store);
  });

  test('every threshold once, several at one time, each scope and period for itself; none of a limit of nothing', async () => {
    const { store } = await fresh();
    const charge = async (name: string, tokens: number, limit: number | null = 1_000): Promise<number[]> => {
      const ask = reserveOf([{ name, amount: 1, limit, alertsPercent: [50, 80, 100] }]);
      await reserved(store, ask);
      return value(await store.resolve(settleOf(ask, tokens))).crossed.map(({ percent }) => percent);
    };
    expect(await charge('ada', 499)).toEqual([]);
    expect(await charge('ada', 1)).toEqual([50]);
    expect(await charge('ada', 500)).toEqual([80, 100]);
    expect(await charge('grace', 999)).toEqual([50, 80]);
    expect(await charge('linus', 5_000, null)).toEqual([]);
    const nothing = reserveOf([{ name: 'none', amount: 0, limit: 0, alertsPercent: [80] }]);
    await reserved(store, nothing);
    expect(value(await store.resolve(settleOf(nothing, 0))).crossed).toEqual([]);
  });

  test('held is not spent: no alert before a charge', async () => {
    const { store } = await fresh();
    const ask = reserveOf([{ amount: 6_000 }]);
    expect((await reserved(store, ask)).accounts[0]?.alerts).toEqual([{ percent: 80, raised: false }]);
    expect(value(await store.resolve(voidOf(ask))).crossed).toEqual([]);
  });
}

function testGrants(fresh: FreshLedger): void {
  test('a grant comes on top of the limit of its period, before the first call too', async () => {
    const { store } = await fresh();
    const line = lineOf({ limit: 1_000 });
    expect(value(await store.grant(grantOf(500, line)))).toEqual({
      account: line.account,
      key: line.key,
      limit: 1_000,
      granted: 500,
      spent: 0,
      held: 0,
      overrun: 0,
      endsAtMs: line.endsAtMs,
      timeZone: 'UTC',
      alerts: [{ percent: 80, raised: false }],
    });
    const all = reserveOf([{ limit: 1_000, amount: 1_500 }]);
    await reserved(store, all);
    expect((await refused(store, reserveOf([{ limit: 1_000, amount: 1 }]))).refusals).toMatchObject([{ limit: 1_500 }]);
    expect(value(await store.grant(grantOf(10, line)))).toMatchObject({ granted: 510, held: 1_500 });
    await reserved(store, reserveOf([{ limit: 1_000, amount: 10 }]));
    // 80 % of what it is with the grants.
    expect(value(await store.resolve(settleOf(all, 1_208))).crossed).toMatchObject([{ spent: 1_208, limit: 1_510 }]);
    const [entry] = value(await store.entries({ book: 'simulated', operations: ['grant'], limit: 1 }));
    expect(entry).toMatchObject({
      reservationId: null,
      key: null,
      user: 'ada',
      reason: 'for the workshop',
      lines: [{ account: line.key, amount: 10, overrun: 0 }],
    });
    expect(await store.grant(grantOf(1e15, line))).toMatchObject({ denial: { code: 'bad-input', field: 'amount' } });
    await expectSound(store);
  });

  test('a grant opens a limit of nothing', async () => {
    const { store } = await fresh();
    await refused(store, reserveOf([{ limit: 0, amount: 5 }]));
    value(await store.grant(grantOf(5, lineOf({ limit: 0 }))));
    await reserved(store, reserveOf([{ limit: 0, amount: 5 }]));
    await refused(store, reserveOf([{ limit: 0, amount: 1 }]));
    await expectSound(store);
  });
}

function testRollingMinute(fresh: FreshLedger): void {
  const at = (seconds: number, amount: number, change: Partial<ReserveAsk> = {}): ReserveAsk =>
    reserveOf([{ window: 'minute', amount, limit: 1_000 }], {
      atMs: START_MS + seconds * 1_000,
      expiresAtMs: START_MS + 3_600_000,
      ...change,
    });

  describe('the rolling minute', () => {
    test('counts what was opened in the last 61 seconds, and says when enough of it will have passed', async () => {
      const { store, setNow } = await fresh();
      const start = Math.floor(START_MS / 1_000);
      await reserved(store, at(0, 600));
      setNow(START_MS + 10_000);
      await reserved(store, at(10, 300));
      expect((await refused(store, at(10, 200))).refusals).toEqual([
        {
          index: 0,
          limit: 1_000,
          spent: 0,
          held: 900,
          earliestExpiryMs: START_MS + 3_600_000,
          freeAtMs: (start + 61) * 1_000,
        },
      ]);
      expect((await refused(store, at(10, 800))).refusals).toMatchObject([{ freeAtMs: (start + 71) * 1_000 }]);
      expect((await refused(store, at(10, 1_001))).refusals).toMatchObject([{ freeAtMs: null }]);
      setNow(START_MS + 60_999);
      expect((await refused(store, at(60.999, 200))).refusals).toHaveLength(1);
      setNow(START_MS + 61_000);
      const held = await reserved(store, at(61, 200));
      expect(held.accounts[0]).toMatchObject({ spent: 0, held: 500, endsAtMs: null });
      await expectSound(store);
    });

    test('a charge counts in the second of its reservation, and nothing of it once that has passed', async () => {
      const { store, setNow } = await fresh();
      const ask = at(0, 600);
      await reserved(store, ask);
      setNow(START_MS + 30_000);
      const answer = value(await store.resolve(settleOf(ask, 400, { atMs: START_MS + 30_000 })));
      expect(answer.accounts[0]).toMatchObject({ spent: 400, held: 0 });
      expect(answer.crossed).toEqual([]);
      await reserved(store, at(30, 600));
      const late = at(30, 0);
      await reserved(store, late);
      setNow(START_MS + 62_000);
      const key = ask.lines[0]?.key ?? '';
      const state = async (seconds: number): Promise<unknown> =>
        value(await store.accounts({ book: 'simulated', keys: [key], atMs: START_MS + seconds * 1_000 }))[0];
      expect(await state(62)).toMatchObject({ spent: 0, held: 600 });
      setNow(START_MS + 200_000);
      // Its second is long over: charged in the journal, not in the minute.
      const over = value(await store.resolve(settleOf(late, 50, { atMs: START_MS + 200_000 })));
      expect(over.accounts[0]).toMatchObject({ spent: 0, held: 0, overrun: 50 });
      await reserved(store, at(200, 1_000));
      await expectSound(store);
    });

    test('a hold whose second is long over stays with it, also when the clock is set back', async () => {
      const { store, setNow } = await fresh();
      const old = at(0, 300);
      await reserved(store, old);
      setNow(START_MS + 100_000);
      await reserved(store, at(100, 10));
      setNow(START_MS);
      const again = at(0, 200);
      expect((await reserved(store, again)).accounts[0]).toMatchObject({ spent: 0, held: 510 });
      expect(value(await store.resolve(settleOf(old, 300))).accounts[0]).toMatchObject({ spent: 300, held: 210 });
      expect(value(await store.resolve(voidOf(again))).accounts[0]).toMatchObject({ spent: 300, held: 10 });
      await expectSound(store);
    });

    test('requests a minute', async () => {
      const { store } = await fresh();
      const one = (): ReserveAsk => reserveOf([{ window: 'minute', unit: 'requests', amount: 1, limit: 3 }]);
      for (let count = 0; count < 3; count += 1) {
        const ask = one();
        await reserved(store, ask);
        // A minute has no alerts: it would tell the same every minute.
        expect(value(await store.resolve(settleOf(ask, 0))).crossed).toEqual([]);
      }
      expect((await refused(store, one())).refusals).toMatchObject([{ limit: 3, spent: 3, held: 0 }]);
    });
  });
}
