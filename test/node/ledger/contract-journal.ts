/** The part of the stores' contract about what can be read: journal, views of accounts and holds, audit, what a restart finds. */
import { expect, test } from 'vitest';
import { ledgerEntrySchema, reservationSchema, searchWords } from '../../../shared/contract/ledger.ts';
import { value } from '../storage/records.ts';
import { START_MS, detailOf, forfeitOf, goldenLines, grantOf, lineOf, reserveOf, settleOf, voidOf } from './asks.ts';
import type { LineAsk } from './asks.ts';
import { expectSound, reserved } from './store-contract.ts';
import type { FreshLedger } from './store-contract.ts';

export function testJournal(fresh: FreshLedger, outlivesProcess: boolean): void {
  test('the journal keeps every operation in its order, whole', async () => {
    const { store } = await fresh();
    const ask = reserveOf();
    await reserved(store, ask);
    value(await store.resolve(settleOf(ask, 1_969, { reason: 'done' })));
    value(await store.grant(grantOf(5)));
    const entries = value(await store.entries({ book: 'simulated', limit: 10 }));
    for (const entry of entries) ledgerEntrySchema.parse(entry);
    expect(entries.map((entry) => entry.operation)).toEqual(['grant', 'settle', 'reserve']);
    const [grant, settle, reserve] = entries;
    expect((grant?.seq ?? 0) > (settle?.seq ?? 0) && (settle?.seq ?? 0) > (reserve?.seq ?? 0)).toBe(true);
    const about = {
      book: 'simulated',
      reservationId: ask.id,
      key: ask.key,
      owner: 'home-1/start-1',
      tenant: 'acme',
      user: 'ada',
      model: 'llama3.2:3b',
    };
    const lines = (amount: number): unknown =>
      ask.lines.map(({ key }) => ({ account: key, unit: 'tokens', amount, overrun: 0 }));
    expect(reserve).toEqual({
      seq: reserve?.seq,
      at: '2026-11-14T22:44:02.000Z',
      operation: 'reserve',
      ...about,
      lines: lines(2_434),
      inputTokens: 2_034,
      outputTokens: 400,
      source: null,
      reason: '',
    });
    expect(settle).toEqual({
      seq: settle?.seq,
      at: '2026-11-14T22:44:03.000Z',
      operation: 'settle',
      ...about,
      lines: lines(1_969),
      inputTokens: 1_930,
      outputTokens: 39,
      source: 'reported',
      reason: 'done',
    });
  });

  test('entries by tenant, user, operation and account, in pages from the newest', async () => {
    const { store } = await fresh();
    for (const [tenant, user] of [
      ['acme', 'ada'],
      ['acme', 'grace'],
      ['globex', 'ada'],
      ['acme', 'ada'],
    ] as const) {
      const ask = reserveOf([{ name: user, amount: 1 }], { tenant, detail: detailOf({ tenant, user }) });
      await reserved(store, ask);
      value(await store.resolve(voidOf(ask)));
    }
    const book = 'simulated';
    const count = async (query: object): Promise<number> =>
      value(await store.entries({ book, limit: 100, ...query })).length;
    expect(await count({})).toBe(8);
    expect(await count({ book: 'real' })).toBe(0);
    expect(await count({ tenant: null, user: null, account: null, beforeSeq: null })).toBe(8);
    expect(await count({ tenant: 'acme' })).toBe(6);
    expect(await count({ user: 'ada' })).toBe(6);
    expect(await count({ tenant: 'acme', user: 'ada' })).toBe(4);
    expect(await count({ operations: ['void'] })).toBe(4);
    expect(await count({ operations: [] })).toBe(0);
    expect(await count({ operations: ['void', 'reserve'], tenant: 'globex' })).toBe(2);
    expect(await count({ account: lineOf({ name: 'ada' }).key })).toBe(4);
    expect(await count({ account: 'no such account' })).toBe(0);

    const all = value(await store.entries({ book, tenant: 'acme', limit: 100 }));
    const paged = [];
    let beforeSeq: number | null = null;
    for (;;) {
      const page: typeof all = value(await store.entries({ book, tenant: 'acme', beforeSeq, limit: 4 }));
      paged.push(...page);
      const last = page.at(-1);
      if (last === undefined) break;
      beforeSeq = last.seq;
    }
    expect(paged).toEqual(all);
  });

  test('holds: the open ones, youngest first, then the last that were resolved; each book for itself', async () => {
    const { store } = await fresh();
    const asks = Array.from({ length: 6 }, (_, index) =>
      reserveOf([{ amount: 1 }], { atMs: START_MS + index * 1_000 }),
    );
    for (const ask of asks) await reserved(store, ask);
    const real = reserveOf([{ window: 'run', amount: 1 }], { book: 'real', atMs: store.nowMs() });
    await reserved(store, real);
    const [a, b, c, d, e, f] = asks.map((ask) => ask.id);
    for (const [index, resolve] of [settleOf, forfeitOf, voidOf].entries()) {
      const ask = asks[index] ?? reserveOf();
      value(
        await store.resolve(
          resolve === settleOf ? settleOf(ask, 1) : resolve === forfeitOf ? forfeitOf(ask) : voidOf(ask),
        ),
      );
    }
    value(await store.resolve(settleOf(real, 1)));
    const ids = async (closed: number, book: 'real' | 'simulated' = 'simulated'): Promise<string[]> => {
      const found = value(await store.reservations({ book, closed }));
      for (const one of found) reservationSchema.parse(one);
      return found.map((one) => one.id);
    };
    expect(await ids(0)).toEqual([f, e, d]);
    expect(await ids(2)).toEqual([f, e, d, c, b]);
    expect(await ids(100)).toEqual([f, e, d, c, b, a]);
    expect(await ids(1, 'real')).toEqual([real.id]);
    expect(await ids(0, 'real')).toEqual([]);
    const states = value(await store.reservations({ book: 'simulated', closed: 3 })).map((one) => one.state);
    expect(states).toEqual(['open', 'open', 'open', 'voided', 'forfeited', 'settled']);
  });

  test('accounts of now: those whose period goes on, the last touched first', async () => {
    const { store, setNow } = await fresh();
    const dayMs = 86_400_000;
    for (const [index, name] of ['ada', 'grace', 'linus'].entries()) {
      await reserved(store, reserveOf([{ name, amount: 1 }], { atMs: START_MS + index }));
    }
    await reserved(
      store,
      reserveOf([{ scope: 'tenant', name: 'acme', window: 'month', amount: 1 }], { atMs: START_MS + 4 }),
    );
    await reserved(
      store,
      reserveOf([{ scope: 'experiment', name: 'run-1', window: 'run', amount: 1 }], { atMs: START_MS + 5 }),
    );
    await reserved(store, reserveOf([{ name: 'ada', amount: 1 }], { atMs: START_MS + 6 }));
    const names = async (atMs: number, limit = 10): Promise<string[]> =>
      value(await store.current({ book: 'simulated', atMs, limit })).map((state) => state.account.name);
    expect(await names(START_MS + 10)).toEqual(['ada', 'run-1', 'acme', 'linus', 'grace']);
    expect(await names(START_MS + 10, 2)).toEqual(['ada', 'run-1']);
    setNow(START_MS + dayMs);
    expect(await names(START_MS + dayMs)).toEqual(['run-1', 'acme']);
    expect(value(await store.current({ book: 'real', atMs: START_MS, limit: 10 }))).toEqual([]);

    const keys = ['none', lineOf({ name: 'grace' }).key, lineOf({ name: 'ada' }).key];
    const found = value(await store.accounts({ book: 'simulated', keys, atMs: START_MS }));
    expect(found.map(({ key, held }) => [key, held])).toEqual([
      [keys[1], 1],
      [keys[2], 2],
    ]);
    expect(value(await store.accounts({ book: 'real', keys, atMs: START_MS }))).toEqual([]);
  });

  test('current accounts are found by words in tenant, scope, name, window and unit, in any order and case', async () => {
    const { store, setNow } = await fresh();
    const hold = async (line: LineAsk, tenant: string): Promise<void> =>
      void (await reserved(store, reserveOf([{ amount: 1, limit: null, ...line }], { tenant })));
    await hold({ name: 'Ada Lovelace' }, 'acme');
    await hold({ name: 'grace', window: 'month' }, 'acme');
    await hold({ name: 'ada', unit: 'requests' }, 'Globex');
    await hold({ name: 'ÄNNE %_', scope: 'conversation' }, 'globex');
    await hold({ name: 'a:b' }, 'globex');
    const names = async (words: string, change: { readonly limit?: number; readonly atMs?: number } = {}) =>
      value(
        await store.current({ book: 'simulated', atMs: START_MS, limit: 10, ...change, words: searchWords(words) }),
      ).map(({ account }) => account.name);
    expect(await names('ADA')).toEqual(['ada', 'Ada Lovelace']);
    expect(await names('lovelace acME')).toEqual(['Ada Lovelace']);
    expect(await names('ada glob')).toEqual(['ada']);
    expect(await names('änne')).toEqual(['ÄNNE %_']);
    expect(await names('Än conversation')).toEqual(['ÄNNE %_']);
    expect(await names('%')).toEqual(['ÄNNE %_']);
    expect(await names('a:b')).toEqual(['a:b']);
    expect(await names('acme month')).toEqual(['grace']);
    expect(await names('requests')).toEqual(['ada']);
    // Of the five the last one that was touched; no words are all, a word of nobody is none.
    expect(await names('a', { limit: 1 })).toEqual(['a:b']);
    expect(await names(' ')).toHaveLength(5);
    for (const hostile of ['nobody', '2026', 'simulated', `'`, '"', '\\', '\0', '\ud83d', '[]', '{"a":1}']) {
      expect(await names(hostile)).toEqual([]);
    }
    // What is over is not found any more.
    const dayMs = 86_400_000;
    setNow(START_MS + dayMs);
    expect(await names('acme', { atMs: START_MS + dayMs })).toEqual(['grace']);
  });

  test('a search finds what was touched long before the last ones', async () => {
    const { store } = await fresh();
    const asks = Array.from({ length: 1_200 }, (_, index) =>
      reserveOf([{ name: index === 3 ? 'needle' : `user-${index}`, amount: 1, limit: null }]),
    );
    await Promise.all(asks.map((ask) => store.reserve(ask)));
    const found = value(await store.current({ book: 'simulated', atMs: START_MS, limit: 5, words: ['needle'] }));
    expect(found.map(({ account, held }) => [account.name, held])).toEqual([['needle', 1]]);
  });

  test('the audit counts what it read and finds a full ledger sound', async () => {
    const { store } = await fresh();
    expect(value(await store.audit(START_MS))).toMatchObject({ sound: true, entries: 0, accounts: 0, openHolds: 0 });
    for (let index = 0; index < 20; index += 1) {
      const ask = reserveOf(goldenLines(`user-${index}`, 100));
      await reserved(store, ask);
      if (index % 4 === 0) value(await store.resolve(settleOf(ask, 150)));
      if (index % 4 === 1) value(await store.resolve(forfeitOf(ask)));
      if (index % 4 === 2) value(await store.resolve(voidOf(ask)));
    }
    expect(value(await store.audit(START_MS))).toEqual({
      at: '2026-11-14T22:44:02.000Z',
      sound: true,
      entries: 35,
      accounts: 21,
      openHolds: 5,
      faults: [],
    });
  });

  if (!outlivesProcess) return;
  test('it outlives its process: all of it is there after a restart', async () => {
    const { store, reopen } = await fresh();
    if (reopen === undefined) throw new Error('a store that outlives its process is opened with a way to reopen it');
    const done = reserveOf(goldenLines('ada'), { key: 'done' });
    const open = reserveOf(goldenLines('grace'), { key: 'open' });
    await reserved(store, done);
    value(await store.resolve(settleOf(done, 1_969)));
    await reserved(store, open);
    const look = async (of: typeof store): Promise<unknown> => [
      value(await of.reservations({ book: 'simulated', closed: 10 })),
      value(await of.entries({ book: 'simulated', limit: 100 })),
      value(await of.current({ book: 'simulated', atMs: START_MS, limit: 100 })),
    ];
    const before = await look(store);
    const again = await reopen();
    expect(await look(again)).toEqual(before);
    expect(await reserved(again, { ...done, id: 'another' })).toMatchObject({
      repeated: true,
      reservation: { id: done.id },
    });
    expect(value(await again.resolve(settleOf(done, 7))).repeated).toBe(true);
    expect(value(await again.resolve(forfeitOf(open))).repeated).toBe(false);
    await expectSound(again);
  });
}
