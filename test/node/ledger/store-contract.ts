/**
 * What every store of the ledger promises, said once: memory, SQLite and Redis run it. `open` gives an empty store whose clock
 * stands where the test puts it; `reopen`, where the store outlives its process, gives another one over the same data.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LedgerStore, ReserveAnswer, ReserveAsk } from '../../../shared/engine/ledger/store.ts';
import { value } from '../storage/records.ts';
import { START_MS, forfeitOf, goldenLines, lineOf, reserveOf, settleOf, voidOf } from './asks.ts';
import type { LineAsk } from './asks.ts';
import { testHolding } from './contract-holding.ts';
import { testJournal } from './contract-journal.ts';
import { testRandomly } from './contract-random.ts';

export interface OpenLedger {
  readonly store: LedgerStore;
  setNow(ms: number): void;
  readonly reopen?: () => Promise<LedgerStore>;
  close(): Promise<void>;
}

export type OpenLedgerStore = () => Promise<OpenLedger>;

/** Opens a store at START_MS and closes it when the test has ended. */
export type FreshLedger = () => Promise<OpenLedger>;

export function storeContract(
  name: string,
  open: OpenLedgerStore,
  { outlivesProcess = false }: { readonly outlivesProcess?: boolean } = {},
): void {
  const fresh: FreshLedger = async () => {
    const opened = await open();
    onTestFinished(() => opened.close());
    opened.setNow(START_MS);
    return opened;
  };
  describe(`the ledger in ${name}`, () => {
    testReserving(fresh);
    testHolding(fresh);
    testJournal(fresh, outlivesProcess);
    testConcurrency(fresh);
    testRandomly(fresh);
  });
}

export async function reserved(
  store: LedgerStore,
  ask: ReserveAsk,
): Promise<Extract<ReserveAnswer, { outcome: 'reserved' }>> {
  const answer = value(await store.reserve(ask));
  if (answer.outcome !== 'reserved') throw new Error(`not reserved: ${JSON.stringify(answer)}`);
  return answer;
}

export async function refused(
  store: LedgerStore,
  ask: ReserveAsk,
): Promise<Extract<ReserveAnswer, { outcome: 'refused' }>> {
  const answer = value(await store.reserve(ask));
  if (answer.outcome !== 'refused') throw new Error(`not refused: ${JSON.stringify(answer)}`);
  return answer;
}

/** Spent and held of the accounts of these lines, in their order; null where an account was never touched. */
export async function sums(
  store: LedgerStore,
  ask: Pick<ReserveAsk, 'lines' | 'book' | 'atMs'>,
): Promise<(readonly [spent: number, held: number] | null)[]> {
  const { lines, book, atMs } = ask;
  const states = value(await store.accounts({ book, keys: lines.map((line) => line.key), atMs }));
  return lines.map(({ key }) => {
    const state = states.find((one) => one.key === key);
    return state === undefined ? null : [state.spent, state.held];
  });
}

export async function expectSound(store: LedgerStore): Promise<void> {
  const audit = value(await store.audit(START_MS));
  expect(audit.faults).toEqual([]);
  expect(audit.sound).toBe(true);
}

function testReserving(fresh: FreshLedger): void {
  test('a reservation holds its amount on every scope, and says what it is', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    const answer = await reserved(store, ask);
    expect(answer.repeated).toBe(false);
    expect(answer.reservation).toEqual({
      id: ask.id,
      key: ask.key,
      owner: 'home-1/start-1',
      book: 'simulated',
      openedAt: '2026-11-14T22:44:02.000Z',
      expiresAt: '2026-11-14T22:46:02.000Z',
      detail: ask.detail,
      lines: ask.lines.map(({ key }) => ({ account: key, unit: 'tokens', amount: 2_434 })),
      state: 'open',
      closedAt: null,
      charge: null,
    });
    expect(answer.accounts).toEqual(
      ask.lines.map(({ account, key, limit, endsAtMs }) => ({
        account,
        key,
        limit,
        granted: 0,
        spent: 0,
        held: 2_434,
        overrun: 0,
        endsAtMs,
        timeZone: 'UTC',
        alerts: [{ percent: 80, raised: false }],
      })),
    );
    expect(await sums(store, ask)).toEqual([
      [0, 2_434],
      [0, 2_434],
    ]);
    await expectSound(store);
  });

  test('all scopes or none: what does not fit on one is held on none, and every line that does not fit is told', async () => {
    const { store } = await fresh();
    const first = reserveOf(goldenLines('ada', 5_000));
    await reserved(store, first);
    await reserved(store, reserveOf([{ scope: 'tenant', name: 'acme', window: 'month', amount: 1_000, limit: 9_000 }]));

    const next = reserveOf([{ scope: 'model', name: 'llama3.2:3b', limit: null }, ...goldenLines('ada', 4_000)]);
    const answer = await refused(store, next);
    expect(answer.refusals).toEqual([
      { index: 1, limit: 6_000, spent: 0, held: 5_000, earliestExpiryMs: START_MS + 120_000, freeAtMs: null },
      { index: 2, limit: 9_000, spent: 0, held: 6_000, earliestExpiryMs: START_MS + 120_000, freeAtMs: null },
    ]);
    expect(answer.accounts.map(({ key, held }) => [key, held])).toEqual([
      [first.lines[0]?.key, 5_000],
      [first.lines[1]?.key, 6_000],
    ]);
    // The model's account was not made by a refusal, and nothing was written.
    expect(await sums(store, next)).toEqual([null, [0, 5_000], [0, 6_000]]);
    expect(value(await store.entries({ book: 'simulated', limit: 10 })).map((entry) => entry.operation)).toEqual([
      'reserve',
      'reserve',
    ]);
    // The key of a refused ask is free: the same call may come again.
    await store.resolve(settleOf(first, 10));
    await reserved(store, { ...next, lines: next.lines.slice(0, 2) });
    await expectSound(store);
  });

  test('to the last token: the amount that is left fits, and one more does not', async () => {
    const { store } = await fresh();
    await reserved(store, reserveOf([{ amount: 5_999 }]));
    expect((await refused(store, reserveOf([{ amount: 2 }]))).refusals).toHaveLength(1);
    await reserved(store, reserveOf([{ amount: 1 }]));
    expect((await refused(store, reserveOf([{ amount: 1 }]))).refusals).toHaveLength(1);
    // Nothing fits into nothing.
    await reserved(store, reserveOf([{ amount: 0 }]));
  });

  test('no limit is no limit, 0 is nothing at all', async () => {
    const { store } = await fresh();
    await reserved(store, reserveOf([{ name: 'free', amount: 1_000_000_000, limit: null }]));
    expect((await refused(store, reserveOf([{ name: 'none', amount: 1, limit: 0 }]))).refusals).toEqual([
      { index: 0, limit: 0, spent: 0, held: 0, earliestExpiryMs: null, freeAtMs: null },
    ]);
    await reserved(store, reserveOf([{ name: 'none', amount: 0, limit: 0 }]));
    await expectSound(store);
  });

  test('the first hold to expire is one that holds something: a hold of nothing frees nothing when it goes', async () => {
    const { store } = await fresh();
    const full = (): ReserveAsk => reserveOf([{ amount: 6_000 }]);
    const hold = async (amount: number, expiresAtMs: number): Promise<ReserveAsk> => {
      const ask = reserveOf([{ amount }], { expiresAtMs });
      await reserved(store, ask);
      return ask;
    };
    await hold(0, START_MS + 1_000);
    expect((await refused(store, reserveOf([{ amount: 6_001 }]))).refusals).toMatchObject([{ earliestExpiryMs: null }]);
    await hold(5, START_MS + 9_000);
    const middle = await hold(5, START_MS + 5_000);
    await hold(5, START_MS + 7_000);
    // Another account's holds say nothing about this one.
    await reserved(store, reserveOf([{ name: 'grace', amount: 5 }], { expiresAtMs: START_MS + 2_000 }));
    // All at once: the answer changes with the holds, also within one group.
    const [before, , after] = await Promise.all([
      refused(store, full()),
      store.resolve(settleOf(middle, 1)),
      refused(store, full()),
    ]);
    expect(before.refusals).toMatchObject([{ held: 15, earliestExpiryMs: START_MS + 5_000 }]);
    expect(after.refusals).toMatchObject([{ spent: 1, held: 10, earliestExpiryMs: START_MS + 7_000 }]);
    await expectSound(store);
  });

  test('a scope without a limit ends at the largest amount there is, so that every sum stays exact', async () => {
    const { store } = await fresh();
    const most = reserveOf([{ amount: 1e15, limit: null }]);
    await reserved(store, most);
    expect((await refused(store, reserveOf([{ amount: 1, limit: null }]))).refusals).toMatchObject([
      { index: 0, limit: 1e15, spent: 0, held: 1e15 },
    ]);
    value(await store.resolve(settleOf(most, 1e15 - 1)));
    expect(await sums(store, most)).toEqual([[1e15 - 1, 0]]);
    const small = reserveOf([{ amount: 1, limit: null }]);
    await reserved(store, small);
    // More than can be counted is not charged: the hold stays, and is charged as reserved when its time is over.
    expect(await store.resolve(settleOf(small, 2))).toMatchObject({
      ok: false,
      denial: { code: 'bad-input', field: 'charge.tokens' },
    });
    expect(await sums(store, small)).toEqual([[1e15 - 1, 1]]);
    value(await store.expire({ book: 'simulated', atMs: small.expiresAtMs, max: 10 }));
    expect(await sums(store, small)).toEqual([[1e15, 0]]);
    expect(value(await store.resolve(settleOf(small, 2)))).toMatchObject({
      repeated: true,
      reservation: { state: 'expired' },
    });
    await expectSound(store);
  });

  test('the same key with the same lines is the same reservation, once; with other lines it is refused', async () => {
    const { store } = await fresh();
    const ask = reserveOf(goldenLines('ada'), { key: 'run7/step3' });
    const first = await reserved(store, ask);
    const again = await reserved(store, { ...reserveOf(goldenLines('ada'), { key: 'run7/step3' }) });
    expect(again).toMatchObject({ repeated: true, reservation: first.reservation, accounts: first.accounts });
    expect(await sums(store, ask)).toEqual([
      [0, 2_434],
      [0, 2_434],
    ]);
    expect(await store.reserve(reserveOf(goldenLines('ada', 2_433), { key: 'run7/step3' }))).toMatchObject({
      ok: false,
      denial: { code: 'key-used', field: 'key' },
    });
    expect(await store.reserve(reserveOf(goldenLines('grace'), { key: 'run7/step3' }))).toMatchObject({
      denial: { code: 'key-used' },
    });

    // After midnight the same call is still the same call, and so it is when it was resolved.
    const late = START_MS + 3 * 3_600_000;
    const settled = value(await store.resolve(settleOf(ask, 1_969)));
    const next = await reserved(store, reserveOf(goldenLines('ada'), { key: 'run7/step3', atMs: late }));
    expect(next).toMatchObject({ repeated: true, reservation: settled.reservation });
    expect(next.reservation).toMatchObject({ id: ask.id, state: 'settled' });

    // Keys are the tenant's own, and each book's.
    const other = { key: 'run7/step3', tenant: 'globex' };
    expect((await reserved(store, reserveOf([{}], other))).repeated).toBe(false);
    const real = reserveOf([{ window: 'run' }], { key: 'run7/step3', book: 'real', atMs: store.nowMs() });
    expect((await reserved(store, real)).repeated).toBe(false);
    expect((await reserved(store, reserveOf([{}], other))).repeated).toBe(true);
    await expectSound(store);
  });

  test('a void sets its key free, once: the next one under it is a new reservation, and what was sent keeps its key', async () => {
    const { store } = await fresh();
    const key = 'run7/step3';
    const of = (amount = 2_434): ReserveAsk => reserveOf(goldenLines('ada', amount), { key });
    const voided = of();
    await reserved(store, voided);
    const first = value(await store.resolve(voidOf(voided)));
    // Other lines too: of the first nothing is left.
    const second = of(1_000);
    const answer = await reserved(store, second);
    expect([answer.repeated, answer.reservation.id, answer.reservation.state]).toEqual([false, second.id, 'open']);
    expect(answer.accounts.map(({ spent, held }) => [spent, held])).toEqual([
      [0, 1_000],
      [0, 1_000],
    ]);
    // The first stays what it was, also when its end is told again.
    expect(value(await store.resolve(voidOf(voided)))).toMatchObject({
      repeated: true,
      reservation: first.reservation,
    });
    expect(await reserved(store, of(1_000))).toMatchObject({ repeated: true, reservation: { id: second.id } });
    expect(await store.reserve(of())).toMatchObject({ ok: false, denial: { code: 'key-used', field: 'key' } });
    expect(await store.reserve({ ...of(1_000), id: voided.id, key: 'another' })).toMatchObject({
      denial: { code: 'key-used', field: 'id' },
    });

    value(await store.resolve(voidOf(second)));
    expect((await refused(store, of(6_001))).refusals).toHaveLength(1);
    const third = of(1_000);
    expect((await reserved(store, third)).repeated).toBe(false);
    value(await store.resolve(settleOf(third, 900)));
    expect(await reserved(store, of(1_000))).toMatchObject({
      repeated: true,
      reservation: { id: third.id, state: 'settled' },
    });
    expect(await sums(store, third)).toEqual([
      [900, 0],
      [900, 0],
    ]);
    const entries = value(await store.entries({ book: 'simulated', limit: 10 }));
    expect(entries.map((entry) => [entry.operation, entry.key, entry.reservationId])).toEqual([
      ['settle', key, third.id],
      ['reserve', key, third.id],
      ['void', key, second.id],
      ['reserve', key, second.id],
      ['void', key, voided.id],
      ['reserve', key, voided.id],
    ]);
    await expectSound(store);
  });

  test.each([
    ['forfeited', (ask: ReserveAsk) => forfeitOf(ask)],
    ['settled with nothing', (ask: ReserveAsk) => settleOf(ask, 0)],
    ['expired', null],
  ])('a key whose reservation was %s is not free', async (_how, end) => {
    const { store } = await fresh();
    const ask = reserveOf([{}], { key: 'once' });
    await reserved(store, ask);
    if (end !== null) value(await store.resolve(end(ask)));
    else value(await store.expire({ book: 'simulated', atMs: ask.expiresAtMs, max: 1 }));
    const again = await reserved(store, reserveOf([{}], { key: 'once' }));
    expect(again).toMatchObject({ repeated: true, reservation: { id: ask.id } });
    await expectSound(store);
  });

  test('an id is given once', async () => {
    const { store } = await fresh();
    const ask = reserveOf([{ amount: 5 }]);
    await reserved(store, ask);
    expect(await store.reserve({ ...ask, key: 'another' })).toMatchObject({
      ok: false,
      denial: { code: 'key-used', field: 'id' },
    });
    expect(await sums(store, ask)).toEqual([[0, 5]]);
  });

  test('what a limit is now counts, not what it was: lowered, raised, taken away within its period', async () => {
    const { store } = await fresh();
    const of = (limit: number | null, amount: number, alertsPercent = [80]): ReserveAsk =>
      reserveOf([{ limit, amount, alertsPercent }]);
    const first = of(6_000, 5_000);
    await reserved(store, first);
    expect((await refused(store, of(4_000, 1))).refusals).toMatchObject([{ limit: 4_000, held: 5_000 }]);
    await reserved(store, of(10_000, 4_000));
    const unlimited = await reserved(store, of(null, 50_000, [50, 90]));
    expect(unlimited.accounts).toMatchObject([
      {
        limit: null,
        held: 59_000,
        alerts: [
          { percent: 50, raised: false },
          { percent: 90, raised: false },
        ],
      },
    ]);
    expect((await refused(store, of(59_000, 1))).refusals).toHaveLength(1);
    value(await store.resolve(settleOf(first, 5_000)));
    await expectSound(store);
  });

  test('amounts that are no whole numbers from 0 to 10^15 are refused by the name of their field', async () => {
    const { store } = await fresh();
    const bad: unknown[] = [NaN, Infinity, -Infinity, -5, -0, 0.5, 1e15 + 1, 2 ** 60, '0.05', '5', null, undefined, 5n];
    for (const amount of bad) {
      const line = { ...lineOf(), amount: amount as number };
      expect(await store.reserve({ ...reserveOf(), lines: [lineOf({ name: 'x' }), line] })).toMatchObject({
        ok: false,
        denial: { code: 'bad-input', field: 'lines[1].amount' },
      });
    }
    for (const limit of bad.filter((one) => one !== null)) {
      const line = { ...lineOf(), limit: limit as number };
      expect(await store.reserve({ ...reserveOf(), lines: [line] })).toMatchObject({
        denial: { code: 'bad-input', field: 'lines[0].limit' },
      });
    }
    const held = reserveOf([{}]);
    await reserved(store, held);
    for (const tokens of bad) {
      const charge = { tokens: tokens as number, 'nano-dollars': 0, requests: 1 };
      expect(await store.resolve(settleOf(held, 0, { charge }))).toMatchObject({
        denial: { code: 'bad-input', field: 'charge.tokens' },
      });
      const line = lineOf();
      expect(
        await store.grant({ ...line, amount: tokens as number, atMs: START_MS, owner: 'o', reason: '' }),
      ).toMatchObject({ denial: { code: 'bad-input', field: 'amount' } });
    }
    const others: [Partial<ReserveAsk>, string][] = [
      [{ lines: [] }, 'lines'],
      [{ lines: [lineOf(), lineOf()] }, 'lines[1].account'],
      [{ lines: [lineOf({}, { tenant: 'globex' })] }, 'lines[0].account'],
      [{ lines: [lineOf({ alertsPercent: [101] })] }, 'lines[0].alertsPercent[0]'],
      [{ key: '' }, 'key'],
      [{ atMs: NaN }, 'atMs'],
      [{ expiresAtMs: 1.5 }, 'expiresAtMs'],
    ];
    for (const [change, field] of others) {
      expect(await store.reserve({ ...reserveOf([{}]), ...change })).toMatchObject({
        ok: false,
        denial: { code: 'bad-input', field },
      });
    }
    expect(await sums(store, held)).toEqual([[0, 2_434]]);
    expect(value(await store.entries({ book: 'simulated', limit: 10 }))).toHaveLength(1);
    await expectSound(store);
  });

  const hostile = [
    'a:b',
    'a',
    'b:day',
    '{acme}',
    '}{',
    '"quoted"',
    "it's; DROP TABLE ledger_accounts; --",
    '%3a',
    '🦙🏽 llama',
    'ａda',
    '[80]',
    'a\\"b',
    'x'.repeat(200),
    '𝔘'.repeat(100),
    '__proto__',
    ' ada',
  ];
  test('names are only names: no two share an account, whatever they hold', async () => {
    const { store } = await fresh();
    const asks = [
      ...hostile.map((name) => reserveOf([{ name, amount: 7 }])),
      ...hostile.map((tenant) => reserveOf([{ name: 'ada', amount: 7 }], { tenant, owner: tenant, key: tenant })),
    ];
    for (const ask of asks) await reserved(store, ask);
    for (const ask of asks) {
      expect(await sums(store, ask)).toEqual([[0, 7]]);
      const found = value(await store.entries({ book: 'simulated', account: ask.lines[0]?.key ?? '', limit: 10 }));
      expect(found.map((entry) => entry.reservationId)).toEqual([ask.id]);
    }
    for (const tenant of hostile) {
      expect(value(await store.entries({ book: 'simulated', tenant, limit: 100 }))).toHaveLength(1);
    }
    for (const ask of asks) value(await store.resolve(settleOf(ask, 5)));
    for (const ask of asks) expect(await sums(store, ask)).toEqual([[5, 0]]);
    await expectSound(store);
  });
}

function testConcurrency(fresh: FreshLedger): void {
  const together = async (store: LedgerStore, asks: readonly ReserveAsk[]): Promise<number> => {
    const answers = await Promise.all(asks.map((ask) => store.reserve(ask)));
    return answers.filter((answer) => value(answer).outcome === 'reserved').length;
  };

  test('20 users at once: exactly 3 of 2,434 are let in under 9,000', async () => {
    const { store } = await fresh();
    const asks = Array.from({ length: 20 }, (_, index) => reserveOf(goldenLines(`user-${index}`)));
    expect(await together(store, asks)).toBe(3);
    const [state] = value(
      await store.accounts({ book: 'simulated', keys: [asks[0]?.lines[1]?.key ?? ''], atMs: START_MS }),
    );
    expect(state).toMatchObject({ spent: 0, held: 7_302, limit: 9_000 });
    await expectSound(store);
  });

  test('a user nobody has seen cannot race its first limit', async () => {
    const { store } = await fresh();
    const asks = Array.from({ length: 50 }, () => reserveOf([{ name: 'new', amount: 100, limit: 250 }]));
    expect(await together(store, asks)).toBe(2);
    expect(await sums(store, asks[0] ?? reserveOf())).toEqual([[0, 200]]);
  });

  test('one key many times at once is one reservation', async () => {
    const { store } = await fresh();
    const asks = Array.from({ length: 30 }, () => reserveOf(goldenLines('ada'), { key: 'once' }));
    const answers = await Promise.all(asks.map((ask) => reserved(store, ask)));
    expect(answers.filter((answer) => !answer.repeated)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.reservation.id)).size).toBe(1);
    expect(await sums(store, asks[0] ?? reserveOf())).toEqual([
      [0, 2_434],
      [0, 2_434],
    ]);
  });

  test('a voided key many times at once is one new reservation', async () => {
    const { store } = await fresh();
    const ask = reserveOf([{}], { key: 'once' });
    const answers = await Promise.all([
      reserved(store, ask),
      store.resolve(voidOf(ask)),
      ...Array.from({ length: 20 }, () => reserved(store, reserveOf([{}], { key: 'once' }))),
    ]);
    const later = answers.slice(2) as Awaited<ReturnType<typeof reserved>>[];
    expect(later.filter((answer) => !answer.repeated)).toHaveLength(1);
    expect(new Set(later.map((answer) => answer.reservation.id)).size).toBe(1);
    expect(await sums(store, ask)).toEqual([[0, 2_434]]);
    await expectSound(store);
  });

  test('one hold resolved many times at once is resolved once', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    await reserved(store, ask);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.resolve(settleOf(ask, 100 + index))),
    );
    expect(answers.filter((answer) => !value(answer).repeated)).toHaveLength(1);
    expect((await sums(store, ask))[0]?.[1]).toBe(0);
    expect(value(await store.entries({ book: 'simulated', operations: ['settle'], limit: 50 }))).toHaveLength(1);
    await expectSound(store);
  });

  test('1,000 parallel holds: every one is there, and no token over', async () => {
    const { store } = await fresh();
    const lines: (index: number) => LineAsk[] = (index) => [
      { name: `user-${index % 40}`, amount: 10, limit: null },
      { scope: 'tenant', name: 'acme', window: 'month', amount: 10, limit: 10_000 },
    ];
    const asks = Array.from({ length: 1_050 }, (_, index) => reserveOf(lines(index)));
    expect(await together(store, asks)).toBe(1_000);
    const open = value(await store.reservations({ book: 'simulated', closed: 0 }));
    expect(open).toHaveLength(1_000);
    const tenantLine = asks[0]?.lines[1]?.key ?? '';
    const tenant = async (): Promise<unknown> =>
      value(await store.accounts({ book: 'simulated', keys: [tenantLine], atMs: START_MS }))[0];
    expect(await tenant()).toMatchObject({ spent: 0, held: 10_000 });
    const charges = await Promise.all(
      open.map(({ id }) => store.resolve(settleOf({ id, book: 'simulated', tenant: 'acme' }, 4))),
    );
    expect(charges.every((charge) => charge.ok && !charge.value.repeated)).toBe(true);
    expect(await tenant()).toMatchObject({ spent: 4_000, held: 0 });
    await expectSound(store);
  });
}
