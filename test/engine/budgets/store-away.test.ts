/** A ledger that does not answer: nothing leaves without a hold, and nothing that was used is lost or charged twice. */
import { describe, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { LedgerStore, ReserveAnswer } from '../../../shared/engine/ledger/store.ts';
import { type Bench, START_MS, away, bench, conserved, head, reply, until } from './bench.ts';
import type { PriceSet } from '../../../shared/contract/costs.ts';

const budgets = [{ scope: 'user', window: 'day', unit: 'tokens', limit: 10_000 }] as const;

describe('reserving', () => {
  test('a store that is away: refused, counted, nothing sent, and it goes on when the store is back', async () => {
    let isAway = true;
    const made = bench({
      plan: { budgets: [...budgets] },
      scripts: [reply(20, 3)],
      wrap: (store) => ({ ...store, reserve: async (ask) => (isAway ? away() : store.reserve(ask)) }),
    });
    const { denial, record } = await made.call({ idempotencyKey: 'k' });
    expect(denial).toMatchObject({ code: 'ledger-unavailable', next: 'Try again.' });
    expect(record).toMatchObject({
      budget: null,
      denial: { code: 'ledger-unavailable' },
      reply: { ending: 'not-sent' },
    });
    expect(made.model.asked).toEqual([]);
    expect(await made.refusals()).toMatchObject([{ code: 'ledger-unavailable', count: 1 }]);
    isAway = false;
    expect((await made.call({ idempotencyKey: 'k' })).denial).toBeNull();
    await conserved(made);
  });

  test('a hold that was made and whose answer was lost is given back when the store answers again', async () => {
    const made = bench({
      plan: { budgets: [...budgets] },
      wrap: (store) => ({
        ...store,
        reserve: async (ask) => {
          await store.reserve(ask);
          return away('The answer was lost.');
        },
      }),
    });
    const { denial, record } = await made.call();
    expect([denial?.code, record.reply.ending]).toEqual(['ledger-unavailable', 'not-sent']);
    expect(await made.holds()).toHaveLength(1);
    await made.ledger.tend();
    expect(await made.balance('user')).toMatchObject({ spent: 0, held: 0 });
    await conserved(made);
  });

  test('a clock of the store that is ahead: asked again for the period it says', async () => {
    const made = bench({
      plan: { budgets: [...budgets] },
      scripts: [reply(20, 3)],
      wrap: (store) => clockOf(store, Date.parse('2026-11-15T00:00:00.500Z')),
    });
    await made.call();
    const { account, spent } = await made.balance('user');
    expect([account.period, spent]).toEqual(['2026-11-15', 23]);
    await conserved(made);
  });

  test('a clock that never stands still: refused after a few tries, nothing sent', async () => {
    let asked = 0;
    const made = bench({
      plan: { budgets: [...budgets] },
      wrap: (store) => ({
        ...store,
        reserve: async () => ok<ReserveAnswer>({ outcome: 'clock-moved', nowMs: START_MS + (asked += 1) * 86_400_000 }),
      }),
    });
    expect((await made.call()).denial?.code).toBe('ledger-unavailable');
    expect(asked).toBe(3);
    expect(made.model.asked).toEqual([]);
  });
});

const closedIn = ({ events }: Bench): number => events.filter(({ type }) => type === 'reservation-closed').length;

/** Says once that it is later than the engine thinks. */
function clockOf(store: LedgerStore, nowMs: number): LedgerStore {
  return {
    ...store,
    reserve: async (ask) => (ask.atMs < nowMs ? ok({ outcome: 'clock-moved', nowMs }) : store.reserve(ask)),
  };
}

describe('settling', () => {
  test('a store that is away for a while: the record says so, the hold stands, and is settled once when it is back', async () => {
    let tries = 0;
    let isAway = true;
    const prices = {
      name: 'p',
      date: null,
      source: 's',
      cachedNanoDollarsPerToken: null,
      inputNanoDollarsPerToken: 2_000,
      outputNanoDollarsPerToken: 8_000,
    };
    const made = bench({
      plan: { budgets: [...budgets], prices: { name: 'p', date: null } },
      prices: prices as PriceSet,
      scripts: [reply(20, 3)],
      wrap: (store) => ({
        ...store,
        resolve: async (ask) => ((tries += 1), isAway ? away() : store.resolve(ask)),
      }),
    });
    const { record, denial } = await made.call();
    expect(denial).toBeNull();
    // What it will be charged is known already, money too.
    expect(record.budget).toMatchObject({
      resolution: 'unresolved',
      source: 'reported',
      chargedInputTokens: 20,
      chargedOutputTokens: 3,
      chargedNanoDollars: 64_000,
    });
    expect(await made.holds()).toHaveLength(1);
    await made.ledger.tend();
    expect(await made.holds()).toHaveLength(1);
    isAway = false;
    await made.ledger.tend();
    await made.ledger.tend();
    expect(tries).toBe(3);
    expect(await made.balance('user')).toMatchObject({ spent: 23, held: 0 });
    expect(closedIn(made)).toBe(1);
    await conserved(made);
  });

  test('a store that took it and whose answer was lost: settled once', async () => {
    let isLost = true;
    const made = bench({
      plan: { budgets: [...budgets] },
      scripts: [reply(20, 3)],
      wrap: (store) => ({
        ...store,
        resolve: async (ask) => {
          const answer = await store.resolve(ask);
          return isLost ? away('The answer was lost.') : answer;
        },
      }),
    });
    expect((await made.call()).record.budget?.resolution).toBe('unresolved');
    expect(closedIn(made)).toBe(0);
    isLost = false;
    await made.ledger.tend();
    await made.ledger.tend();
    expect(closedIn(made)).toBe(1);
    expect(await made.balance('user')).toMatchObject({ spent: 23, held: 0 });
    await conserved(made);
  });

  test('a hold whose time is over meanwhile is expired, and what comes later changes nothing', async () => {
    let isAway = true;
    const made = bench({
      plan: { budgets: [...budgets] },
      scripts: [reply(20, 3)],
      wrap: (store) => ({ ...store, resolve: async (ask) => (isAway ? away() : store.resolve(ask)) }),
    });
    const { record } = await made.call();
    made.advance(179_000);
    await made.ledger.tend();
    expect(await made.holds()).toHaveLength(1);
    made.advance(2_000);
    await made.ledger.tend();
    expect(await made.holds()).toHaveLength(0);
    const reserved = (record.budget?.reservedInputTokens ?? 0) + 100;
    expect(await made.balance('user')).toMatchObject({ spent: reserved, held: 0 });
    isAway = false;
    await made.ledger.tend();
    expect(closedIn(made)).toBe(1);
    expect(await made.balance('user')).toMatchObject({ spent: reserved, held: 0 });
    await conserved(made);
  });

  test('a call that outlives its hold: expired, charged as reserved, and its record says that', async () => {
    const made = bench({ plan: { budgets: [...budgets] }, scripts: [[...head, 'wait']] });
    const { id, done } = made.open();
    await until(() => made.model.asked.length === 1);
    made.advance(400_000);
    await made.ledger.tend();
    made.engine.cancel(id, 'person');
    const { budget } = (await done).record;
    expect(budget).toMatchObject({
      resolution: 'expired',
      source: 'reserved',
      chargedOutputTokens: 100,
      reason: 'its time was over',
    });
    expect(closedIn(made)).toBe(1);
    await conserved(made);
  });

  test('a store that knows nothing of the hold: said so, and not tried for ever', async () => {
    let tries = 0;
    const made = bench({
      plan: { budgets: [...budgets] },
      scripts: [reply(20, 3)],
      wrap: (store) => ({
        ...store,
        resolve: async () => ((tries += 1), denied('not-found', 'There is no such reservation.')),
      }),
    });
    expect((await made.call()).record.budget?.resolution).toBe('unresolved');
    await made.ledger.tend();
    expect(tries).toBe(1);
  });
});
