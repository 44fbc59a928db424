/** What is asked of the ledger in Redis without changing it, over all known tenants of a book. */
import { type Result, ok } from '../../contract/denials.ts';
import { type Book, type LedgerEntry, type Reservation, isAccountFound } from '../../contract/ledger.ts';
import { accountOfKey } from '../../engine/ledger/balances.ts';
import type { AccountState, CurrentAsk, EntryQuery } from '../../engine/ledger/store.ts';
import {
  type EntryRead,
  type Whose,
  accountOf,
  endOf,
  listOf,
  numberOf,
  readEntry,
  readStates,
  reservationOf,
  textOf,
  unpackAsk,
} from './codec.ts';
import type { Connection } from './connection.ts';
import { accountRedisKey, restOfKey, tenantKeys } from './keys.ts';
import type { Tenants } from './tenants.ts';

/** Entries read at a time, and accounts asked for in one script: neither keeps Redis from others for long. */
export const PAGE = 500;
const TENANTS_AT_ONCE = 32;
const HOLDS_MAX = 10_000;

export async function readAccounts(
  connection: Connection,
  { book, keys, atMs }: { readonly book: Book; readonly keys: readonly string[]; readonly atMs: number },
): Promise<Result<readonly AccountState[]>> {
  const byTenant = new Map<string, string[]>();
  for (const key of keys) {
    const account = accountOfKey(key);
    if (account === null || account.book !== book) continue;
    const list = byTenant.get(account.tenant) ?? [];
    byTenant.set(account.tenant, [...list, key]);
  }
  const found = await overAll([...byTenant], ([tenant, list]) =>
    statesOf(connection, { book, tenant }, list.map(restOfKey), atMs),
  );
  if (!found.ok) return found;
  const states = new Map(found.value.flat().map((state) => [state.key, state]));
  return ok(keys.flatMap((key) => states.get(key) ?? []));
}

/** Holds whose time is over: how many of each tenant belong to the `max` oldest. */
export async function readDue(
  connection: Connection,
  tenants: Tenants,
  book: Book,
  atMs: number,
  max: number,
): Promise<Result<ReadonlyMap<string, number>>> {
  const counts = new Map<string, number>();
  if (max <= 0) return ok(counts);
  const known = await tenants.of(book);
  if (!known.ok) return known;
  const found = await overAll(known.value, async (tenant) => {
    const { open } = tenantKeys(book, tenant);
    const due = await connection.command(
      'ZRANGEBYSCORE',
      open,
      '-inf',
      String(atMs),
      'WITHSCORES',
      'LIMIT',
      '0',
      String(max),
    );
    if (!due.ok) return due;
    const scores = listOf(due.value).flatMap((part, index) => (index % 2 === 1 ? [Number(textOf(part))] : []));
    return ok(scores.map((expiresAtMs) => ({ tenant, expiresAtMs })));
  });
  if (!found.ok) return found;
  const oldest = found.value.flat().sort((a, b) => a.expiresAtMs - b.expiresAtMs);
  for (const { tenant } of oldest.slice(0, max)) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return ok(counts);
}

export async function readCurrent(
  connection: Connection,
  tenants: Tenants,
  { book, atMs, limit, words = [] }: CurrentAsk,
): Promise<Result<readonly AccountState[]>> {
  const known = await tenants.of(book);
  if (!known.ok) return known;
  const found = await overAll(known.value, async (tenant) => {
    const { touched } = tenantKeys(book, tenant);
    const kept: { state: AccountState; seq: number }[] = [];
    for (let from = 0; kept.length < limit; from += PAGE) {
      const range = await connection.command('ZREVRANGE', touched, String(from), String(from + PAGE - 1), 'WITHSCORES');
      if (!range.ok) return range;
      const pairs = pairsOf(listOf(range.value).map(textOf));
      const rests = pairs.map(([rest]) => rest).filter((rest) => isFound({ book, tenant }, rest, words));
      const states = await statesOf(connection, { book, tenant }, rests, atMs);
      if (!states.ok) return states;
      const seqs = new Map(pairs.map(([rest, seq]) => [rest, Number(seq)]));
      for (const state of states.value) {
        if (state.endsAtMs === null || state.endsAtMs > atMs) {
          kept.push({ state, seq: seqs.get(restOfKey(state.key)) ?? 0 });
        }
      }
      if (pairs.length < PAGE) break;
    }
    return ok(kept);
  });
  if (!found.ok) return found;
  const newest = found.value.flat().sort((a, b) => b.seq - a.seq);
  return ok(newest.slice(0, limit).map(({ state }) => state));
}

export async function readReservations(
  connection: Connection,
  tenants: Tenants,
  { book, closed: count }: { readonly book: Book; readonly closed: number },
): Promise<Result<readonly Reservation[]>> {
  const known = await tenants.of(book);
  if (!known.ok) return known;
  const found = await overAll(known.value, async (tenant): Promise<Result<ReservationRead[][]>> => {
    const keys = tenantKeys(book, tenant);
    const [open, closed] = await Promise.all([
      connection.command('ZRANGE', keys.open, '0', String(HOLDS_MAX - 1)),
      count === 0 ? ok<readonly string[]>([]) : connection.command('LRANGE', keys.closed, '0', String(count - 1)),
    ]);
    if (!open.ok) return open;
    if (!closed.ok) return closed;
    const parts = [
      ...listOf(open.value).map((member) => textOf(member).split('\n', 1)[0] ?? ''),
      ...listOf(closed.value).map(textOf),
    ];
    return overAll([...new Set(parts)], (part) =>
      readReservation(connection, { book, tenant }, `${keys.prefix}r:${part}`),
    );
  });
  if (!found.ok) return found;
  const all = found.value.flat(2);
  const open = all.filter(({ reservation }) => reservation.state === 'open').sort((a, b) => b.seq - a.seq);
  const closed = all
    .filter(({ reservation }) => reservation.state !== 'open')
    .sort((a, b) => b.closedSeq - a.closedSeq);
  return ok([...open, ...closed.slice(0, count)].map(({ reservation }) => reservation));
}

export async function readEntries(
  connection: Connection,
  tenants: Tenants,
  query: EntryQuery,
): Promise<Result<readonly LedgerEntry[]>> {
  const { book, user = null, tenant: only = null, account = null, operations } = query;
  const known = only === null ? await tenants.of(book) : ok([only]);
  if (!known.ok) return known;
  const wanted = (entry: LedgerEntry): boolean =>
    (user === null || entry.user === user) &&
    (operations === undefined || operations.includes(entry.operation)) &&
    (account === null || entry.lines.some((line) => line.account === account));
  const found = await overAll(known.value, async (tenant) => {
    const kept: LedgerEntry[] = [];
    let below = query.beforeSeq ?? null;
    while (kept.length < query.limit) {
      const page = await readPage(connection, { book, tenant }, below);
      if (!page.ok) return page;
      kept.push(...page.value.map(({ entry }) => entry).filter(wanted));
      below = page.value.at(-1)?.entry.seq ?? null;
      if (page.value.length < PAGE) break;
    }
    return ok(kept.slice(0, query.limit));
  });
  if (!found.ok) return found;
  const newest = found.value.flat().sort((a, b) => b.seq - a.seq);
  return ok(newest.slice(0, query.limit));
}

/** All results, or the first failure; a bounded number at a time. */
export async function overAll<Item, Value>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Result<Value>>,
): Promise<Result<Value[]>> {
  const values: Value[] = [];
  for (let from = 0; from < items.length; from += TENANTS_AT_ONCE) {
    for (const result of await Promise.all(items.slice(from, from + TENANTS_AT_ONCE).map(ask))) {
      if (!result.ok) return result;
      values.push(result.value);
    }
  }
  return ok(values);
}

/** Newest first, below a number. */
async function readPage(
  connection: Connection,
  whose: Whose,
  belowSeq: number | null,
): Promise<Result<readonly EntryRead[]>> {
  const { journal } = tenantKeys(whose.book, whose.tenant);
  const from = belowSeq === null ? '+' : `(${belowSeq}-0`;
  const page = await connection.command('XREVRANGE', journal, from, '-', 'COUNT', String(PAGE));
  if (!page.ok) return page;
  return ok(listOf(page.value).map((one) => readEntry(one as never, whose)));
}

async function statesOf(
  connection: Connection,
  whose: Whose,
  rests: readonly string[],
  atMs: number,
): Promise<Result<readonly AccountState[]>> {
  const keys = tenantKeys(whose.book, whose.tenant);
  const states: AccountState[] = [];
  for (let from = 0; from < rests.length; from += PAGE) {
    const some = rests.slice(from, from + PAGE);
    const answer = await connection.run({
      tenant: keys,
      keys: some.map((rest) => accountRedisKey(keys, rest)),
      args: ['accounts', String(atMs), ...some.flatMap((rest) => [rest, isRolling(rest) ? '1' : '0'])],
    });
    if (!answer.ok) return answer;
    states.push(...readStates(answer.value[2], whose));
  }
  return ok(states);
}

interface ReservationRead {
  readonly reservation: Reservation;
  readonly seq: number;
  readonly closedSeq: number;
}

async function readReservation(connection: Connection, whose: Whose, key: string): Promise<Result<ReservationRead[]>> {
  const found = await connection.command('HMGET', key, 'b', 'a', 'q', 'z');
  if (!found.ok) return found;
  const [blob, opened, seq, end = ''] = listOf(found.value).map(textOf);
  // It may have ended since the list was read.
  if (blob === undefined || blob === '') return ok([]);
  const ask = unpackAsk(blob, numberOf(opened), whose);
  const closedSeq = end === '' ? 0 : endOf(end).seq;
  return ok([{ reservation: reservationOf(ask, end), seq: numberOf(seq), closedSeq }]);
}

/** The list of accounts also holds a name that is none (`saveMeta`); the script passes it over. */
const isFound = (whose: Whose, rest: string, words: readonly string[]): boolean =>
  words.length === 0 || (rest.includes(':') && isAccountFound(accountOf(whose, rest).account, words));

/** `scope:name:window:period:unit` of a rolling minute. */
export const isRolling = (rest: string): boolean => rest.split(':')[2] === 'minute';

function pairsOf(flat: readonly string[]): [string, string][] {
  return flat.flatMap((one, index): [string, string][] => (index % 2 === 0 ? [[one, flat[index + 1] ?? '']] : []));
}
