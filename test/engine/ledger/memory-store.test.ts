/** What random runs met in the memory store, each by itself. The promises that all stores share: test/node/ledger. */
import { expect, test } from 'vitest';
import { AMOUNT_MAX } from '../../../shared/contract/plans.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore } from '../../../shared/engine/ledger/store.ts';
import { lineFor, reserveAsk, resolveAsk } from './ledger-world.ts';
import type { Who } from './ledger-world.ts';

const ada: Who = { book: 'real', tenant: 0, user: 0, model: 0 };
const DAY = 1;
const MODEL_MINUTE = 4;
const start = Date.parse('2026-11-14T22:44:02Z');

function open(): {
  store: LedgerStore;
  hold(id: string, line: number, tokens: number, atMs?: number): ReturnType<LedgerStore['reserve']>;
} {
  const store = createMemoryStore({ nowMs: () => start });
  return {
    store,
    hold: (id, line, tokens, atMs = start) =>
      store.reserve(
        reserveAsk(ada, [lineFor(ada, line, tokens, line === DAY ? null : 100, atMs)], { id, key: id, atMs }),
      ),
  };
}

test('a clock that was set back opens an old second again, and its holds are still their own', async () => {
  const { store, hold } = open();
  await hold('first', MODEL_MINUTE, 60);
  await hold('later', MODEL_MINUTE, 10, start + 200_000);
  await hold('back', MODEL_MINUTE, 20);
  await store.resolve(resolveAsk({ id: 'first', book: 'real', tenant: 'acme' }, 'void', 0, start));
  const { key } = lineFor(ada, MODEL_MINUTE, 0, 100, start);
  const [state] = await store
    .accounts({ book: 'real', keys: [key], atMs: start })
    .then((answer) => (answer.ok ? answer.value : []));
  expect(state).toMatchObject({ spent: 0, held: 30 });
});

test('a hold of nothing that is charged long after its minute', async () => {
  const { store, hold } = open();
  await hold('nothing', MODEL_MINUTE, 0);
  await hold('later', MODEL_MINUTE, 1, start + 200_000);
  const answer = await store.resolve(
    resolveAsk({ id: 'nothing', book: 'real', tenant: 'acme' }, 'settle', 7, start + 200_000),
  );
  expect(answer).toMatchObject({
    ok: true,
    value: { reservation: { state: 'settled', charge: { overrunTokens: 7 } } },
  });
  expect(await store.audit(start)).toMatchObject({ value: { sound: true, faults: [] } });
});

test('where there is no limit, the sum of all holds still stays an amount', async () => {
  const { store, hold } = open();
  expect(await hold('all', DAY, AMOUNT_MAX)).toMatchObject({ ok: true, value: { outcome: 'reserved' } });
  for (const id of ['one', 'more']) {
    expect(await hold(id, DAY, 1)).toMatchObject({
      ok: true,
      value: { outcome: 'refused', refusals: [{ limit: AMOUNT_MAX }] },
    });
  }
  expect(await store.audit(start)).toMatchObject({ value: { sound: true, openHolds: 1 } });
});

test('an id is one reservation, whatever its key', async () => {
  const { store, hold } = open();
  await hold('one', DAY, 5);
  const line = lineFor(ada, DAY, 5, null, start);
  const again = await store.reserve(reserveAsk(ada, [line], { id: 'one', key: 'another', atMs: start }));
  expect(again).toMatchObject({ ok: false, denial: { code: 'key-used', field: 'id' } });
  expect(await store.audit(start)).toMatchObject({ value: { sound: true, openHolds: 1 } });
});

test.each([
  ['tenant', { book: 'real', tenant: 'globex' }],
  ['book', { book: 'simulated', tenant: 'acme' }],
] as const)('a hold of another %s cannot be resolved', async (_what, other) => {
  const { store, hold } = open();
  await hold('one', DAY, 5);
  const answer = await store.resolve(resolveAsk({ id: 'one', ...other }, 'void', 0, start));
  expect(answer).toMatchObject({ ok: false, denial: { code: 'not-found' } });
});

test('the last closed ones are those of the book, and no entries are none', async () => {
  const { store, hold } = open();
  await hold('real', DAY, 5);
  await store.resolve(resolveAsk({ id: 'real', book: 'real', tenant: 'acme' }, 'settle', 5, start));
  for (const id of ['s1', 's2', 's3']) {
    const other: Who = { ...ada, book: 'simulated' };
    await store.reserve(reserveAsk(other, [lineFor(other, DAY, 1, null, start)], { id, key: id, atMs: start }));
    await store.resolve(resolveAsk({ id, book: 'simulated', tenant: 'acme' }, 'settle', 1, start));
  }
  expect(await store.reservations({ book: 'real', closed: 1 })).toMatchObject({ value: [{ id: 'real' }] });
  expect(await store.reservations({ book: 'simulated', closed: 2 })).toMatchObject({
    value: [{ id: 's3' }, { id: 's2' }],
  });
  expect(await store.entries({ book: 'real', limit: 0 })).toEqual({ ok: true, value: [] });
});

test('holds expire at their millisecond, the one whose time was over first comes first, as many as asked for', async () => {
  const { store } = open();
  for (const [id, ttlMs] of [
    ['third', 3_000],
    ['first', 1_000],
    ['second', 2_000],
    ['fourth', 4_000],
  ] as const) {
    const line = lineFor(ada, DAY, 1, null, start);
    await store.reserve(reserveAsk(ada, [line], { id, key: id, atMs: start, expiresAtMs: start + ttlMs }));
  }
  const expired = async (atMs: number, max: number): Promise<string[]> => {
    const answer = await store.expire({ book: 'real', atMs, max });
    return answer.ok ? answer.value.map(({ reservation }) => reservation.id) : [];
  };
  expect(await expired(start + 999, 5)).toEqual([]);
  expect(await expired(start + 3_000, 2)).toEqual(['first', 'second']);
  expect(await expired(start + 3_000, 2)).toEqual(['third']);
  expect(await store.expire({ book: 'simulated', atMs: start + 9_000, max: 5 })).toEqual({ ok: true, value: [] });
});

test('a key is used once in each book', async () => {
  const { store, hold } = open();
  await hold('real', DAY, 5);
  const other: Who = { ...ada, book: 'simulated' };
  const line = lineFor(other, DAY, 5, null, start);
  const answer = await store.reserve(reserveAsk(other, [line], { id: 'simulated', key: 'real', atMs: start }));
  expect(answer).toMatchObject({ ok: true, value: { outcome: 'reserved', repeated: false } });
});
