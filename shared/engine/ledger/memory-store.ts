/** The ledger's store in memory: for storms, tests and the share that is kept while a shared store is away. Nothing outlives it. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import { isAccountFound } from '../../contract/ledger.ts';
import type { Book, LedgerEntry, Reservation } from '../../contract/ledger.ts';
import { AMOUNT_MAX } from '../../contract/plans.ts';
import { isoOf } from './calendar.ts';
import { auditJournal } from './audit.ts';
import { checkGrant, checkReserve, checkResolve } from './checks.ts';
import {
  type Standing,
  brokenRuleOf,
  chargeOf,
  crossingsOf,
  effectiveLimit,
  limitMaxAfter,
  refusalOf,
  rollingFrom,
  secondOf,
} from './decide.ts';
import { must } from '../must.ts';
import {
  alertEntry,
  closedReservation,
  expiry,
  grantEntry,
  idReused,
  keyReused,
  noSuchReservation,
  openReservation,
  refusedCharge,
  refusedGrant,
  reserveEntry,
  resolveEntry,
  sameLines,
} from './records.ts';
import type {
  AccountState,
  GrantAsk,
  LedgerLine,
  LedgerStore,
  ReserveAnswer,
  ReserveAsk,
  ResolveAnswer,
  ResolveAsk,
} from './store.ts';

/** Accounts and reservations beyond this are refused, and grants beyond so many entries: memory has a bound. */
const RECORDS_MAX = 200_000;
const ENTRIES_MAX = 1_000_000;

interface StoredAccount {
  line: Omit<LedgerLine, 'amount' | 'limit'>;
  limit: number | null;
  limitMax: number | null;
  granted: number;
  spent: number;
  held: number;
  overrun: number;
  readonly raised: Set<number>;
  readonly buckets: Map<number, { spent: number; held: number }>;
  touched: number;
}

interface StoredReservation {
  readonly ask: ReserveAsk;
  readonly reservation: Reservation;
}

export function createMemoryStore({ nowMs }: { readonly nowMs: () => number }): LedgerStore {
  const accounts = new Map<string, StoredAccount>();
  const reservations = new Map<string, StoredReservation>();
  const byKey = new Map<string, string>();
  const open = new Set<string>();
  const closed: string[] = [];
  const entries: LedgerEntry[] = [];
  let touches = 0;

  const keyOf = ({ book, tenant, key }: Pick<ReserveAsk, 'book' | 'tenant' | 'key'>): string =>
    JSON.stringify([book, tenant, key]);

  function account(line: Omit<LedgerLine, 'amount' | 'limit'>): StoredAccount {
    const before = accounts.get(line.key);
    if (before !== undefined) return before;
    const fresh: StoredAccount = {
      line,
      limit: null,
      limitMax: 0,
      granted: 0,
      spent: 0,
      held: 0,
      overrun: 0,
      raised: new Set(),
      buckets: new Map(),
      touched: 0,
    };
    accounts.set(line.key, fresh);
    return fresh;
  }

  function standing(line: LedgerLine, atMs: number): Standing {
    const found = accounts.get(line.key);
    if (found === undefined) return { granted: 0, spent: 0, held: 0, earliestExpiryMs: null };
    const { spent, held } = usedOf(found, atMs);
    const buckets =
      line.account.window === 'minute'
        ? [...found.buckets]
            .filter(([second]) => second >= rollingFrom(atMs))
            .map(([second, sums]) => ({ second, ...sums }))
        : undefined;
    return {
      granted: found.granted,
      spent,
      held,
      earliestExpiryMs: earliestExpiry(line.key),
      ...(buckets === undefined ? {} : { buckets }),
    };
  }

  function earliestExpiry(key: string): number | null {
    let earliest: number | null = null;
    for (const id of open) {
      const { ask } = known(reservations.get(id));
      // A hold of nothing frees nothing when it goes.
      if (!ask.lines.some((line) => line.key === key && line.amount > 0)) continue;
      if (earliest === null || ask.expiresAtMs < earliest) earliest = ask.expiresAtMs;
    }
    return earliest;
  }

  function usedOf(found: StoredAccount, atMs: number): { spent: number; held: number } {
    if (found.line.account.window !== 'minute') return { spent: found.spent, held: found.held };
    let spent = 0;
    let held = 0;
    for (const [second, sums] of found.buckets) {
      if (second < rollingFrom(atMs)) continue;
      spent += sums.spent;
      held += sums.held;
    }
    return { spent, held };
  }

  function stateOf(found: StoredAccount, atMs: number): AccountState {
    const { account: about, key, alertsPercent, endsAtMs, timeZone } = found.line;
    return {
      account: about,
      key,
      limit: found.limit,
      granted: found.granted,
      ...usedOf(found, atMs),
      overrun: found.overrun,
      endsAtMs,
      timeZone,
      alerts: alertsPercent.map((percent) => ({ percent, raised: found.raised.has(percent) })),
    };
  }

  function check(found: StoredAccount): void {
    const broken = brokenRuleOf({ ...found, key: found.line.key });
    must(broken === null, broken ?? '');
  }

  function write(entry: Omit<LedgerEntry, 'seq'>): void {
    entries.push({ seq: entries.length + 1, ...entry });
  }

  function reserve(ask: ReserveAsk): Result<ReserveAnswer> {
    const checked = checkReserve(ask);
    if (!checked.ok) return checked;
    const before = byKey.get(keyOf(ask));
    const earlier = before === undefined ? null : known(reservations.get(before));
    if (earlier !== null && earlier.reservation.state !== 'voided') {
      if (!sameLines(earlier.ask, ask)) return keyReused(ask.key);
      return ok({
        outcome: 'reserved',
        repeated: true,
        reservation: earlier.reservation,
        accounts: earlier.ask.lines.map((line) => stateOf(account(line), ask.atMs)),
      });
    }
    if (reservations.has(ask.id)) return idReused(ask.id);
    if (reservations.size >= RECORDS_MAX || accounts.size >= RECORDS_MAX) return full();
    const refusals = ask.lines.flatMap((line, index) => refusalOf(line, index, standing(line, ask.atMs)) ?? []);
    if (refusals.length > 0) {
      return ok({
        outcome: 'refused',
        refusals,
        accounts: ask.lines.flatMap((line) => {
          const found = accounts.get(line.key);
          return found === undefined ? [] : [stateOf(found, ask.atMs)];
        }),
      });
    }
    const reservation = openReservation(ask);
    for (const line of ask.lines) {
      const found = account(line);
      found.line = line;
      found.limit = line.limit;
      found.limitMax = limitMaxAfter(
        found.touched === 0 ? undefined : found.limitMax,
        effectiveLimit({ limit: line.limit, granted: found.granted }),
      );
      found.held += line.amount;
      found.touched = ++touches;
      if (line.account.window === 'minute') {
        const second = secondOf(ask.atMs);
        const sums = found.buckets.get(second) ?? { spent: 0, held: 0 };
        found.buckets.set(second, { ...sums, held: sums.held + line.amount });
        // One with a hold stays, so that a clock that was set back cannot open its second again and take the hold off that.
        for (const [old, { held }] of found.buckets) {
          if (old < rollingFrom(ask.atMs) && held === 0) found.buckets.delete(old);
        }
      } else check(found);
    }
    reservations.set(ask.id, { ask, reservation });
    byKey.set(keyOf(ask), ask.id);
    open.add(ask.id);
    write(reserveEntry(ask));
    return ok({
      outcome: 'reserved',
      repeated: false,
      reservation,
      accounts: ask.lines.map((line) => stateOf(account(line), ask.atMs)),
    });
  }

  function resolve(ask: ResolveAsk): Result<ResolveAnswer> {
    const checked = checkResolve(ask);
    if (!checked.ok) return checked;
    const held = reservations.get(ask.id);
    if (held === undefined || held.ask.book !== ask.book || held.ask.tenant !== ask.tenant) {
      return noSuchReservation(ask.id);
    }
    const states = (): AccountState[] => held.ask.lines.map((line) => stateOf(account(line), ask.atMs));
    if (!open.has(ask.id))
      return ok({ repeated: true, reservation: held.reservation, accounts: states(), crossed: [] });
    for (const { key, account: about, amount } of held.ask.lines) {
      const { spent, held: all } = known(accounts.get(key));
      const tooLarge = refusedCharge({ unit: about.unit, amount, spent, held: all }, ask);
      if (tooLarge !== null) return tooLarge;
    }
    let overrunTokens = 0;
    const lines = held.ask.lines.map((line) => {
      const found = account(line);
      const charge = chargeOf({ unit: line.account.unit, amount: line.amount }, ask);
      found.held -= line.amount;
      found.spent += charge.amount;
      found.overrun += charge.overrun;
      found.touched = ++touches;
      if (line.account.window === 'minute') {
        // Gone only where nothing was held in it any more.
        const second = secondOf(held.ask.atMs);
        const bucket = found.buckets.get(second) ?? { spent: 0, held: 0 };
        found.buckets.set(second, { spent: bucket.spent + charge.amount, held: bucket.held - line.amount });
      } else check(found);
      if (line.account.unit === 'tokens') overrunTokens = charge.overrun;
      return { account: line.key, unit: line.account.unit, ...charge };
    });
    const crossed = held.ask.lines.flatMap((line) => {
      const found = account(line);
      const crossings = line.account.window === 'minute' ? [] : crossingsOf(stateOf(found, ask.atMs));
      for (const { percent } of crossings) found.raised.add(percent);
      return crossings;
    });
    const reservation = closedReservation(held.reservation, ask, overrunTokens);
    reservations.set(ask.id, { ask: held.ask, reservation });
    open.delete(ask.id);
    closed.push(ask.id);
    write(resolveEntry(held.ask, ask, lines));
    for (const crossing of crossed) write(alertEntry(held.ask, ask.atMs, crossing));
    return ok({ repeated: false, reservation, accounts: states(), crossed });
  }

  function grant(ask: GrantAsk): Result<AccountState> {
    const checked = checkGrant(ask);
    if (!checked.ok) return checked;
    if (entries.length >= ENTRIES_MAX || accounts.size >= RECORDS_MAX) return full();
    if ((accounts.get(ask.key)?.granted ?? 0) + ask.amount > AMOUNT_MAX) return refusedGrant();
    const found = account(ask);
    if (found.touched === 0) found.limit = ask.limit;
    found.granted += ask.amount;
    if (found.touched === 0) found.limitMax = effectiveLimit({ limit: ask.limit, granted: found.granted });
    found.touched = ++touches;
    write(grantEntry(ask));
    return ok(stateOf(found, ask.atMs));
  }

  const mostRecent = (book: Book): StoredAccount[] =>
    [...accounts.values()].filter((one) => one.line.account.book === book).sort((a, b) => b.touched - a.touched);

  return {
    kind: 'memory',
    nowMs,
    reserve: async (ask) => reserve(ask),
    resolve: async (ask) => resolve(ask),
    grant: async (ask) => grant(ask),
    expire: async ({ book, atMs, max }) => {
      const due = [...open]
        .map((id) => known(reservations.get(id)).ask)
        .filter((ask) => ask.book === book && ask.expiresAtMs <= atMs)
        .sort((a, b) => a.expiresAtMs - b.expiresAtMs)
        .slice(0, max);
      const answers: ResolveAnswer[] = [];
      for (const ask of due) {
        const answer = resolve(expiry(ask, atMs));
        if (!answer.ok) return answer;
        answers.push(answer.value);
      }
      return ok(answers);
    },
    accounts: async ({ book, keys, atMs }) =>
      ok(
        keys.flatMap((key) => {
          const found = accounts.get(key);
          return found === undefined || found.line.account.book !== book ? [] : [stateOf(found, atMs)];
        }),
      ),
    current: async ({ book, atMs, limit, words = [] }) =>
      ok(
        mostRecent(book)
          .filter(({ line }) => line.endsAtMs === null || line.endsAtMs > atMs)
          .filter(({ line }) => isAccountFound(line.account, words))
          .slice(0, limit)
          .map((found) => stateOf(found, atMs)),
      ),
    reservations: async ({ book, closed: count }) => {
      const inBook = (ids: Iterable<string>): Reservation[] =>
        [...ids].map((id) => known(reservations.get(id)).reservation).filter((one) => one.book === book);
      return ok([...inBook(open).reverse(), ...inBook(closed).reverse().slice(0, count)]);
    },
    entries: async ({ book, tenant = null, user = null, operations, account: about = null, beforeSeq = null, limit }) =>
      ok(
        entries
          .filter(
            (entry) =>
              entry.book === book &&
              (tenant === null || entry.tenant === tenant) &&
              (user === null || entry.user === user) &&
              (operations === undefined || operations.includes(entry.operation)) &&
              (about === null || entry.lines.some((line) => line.account === about)) &&
              (beforeSeq === null || entry.seq < beforeSeq),
          )
          .reverse()
          .slice(0, limit),
      ),
    audit: async (atMs) =>
      ok(
        auditJournal({
          at: isoOf(atMs),
          entries,
          balances: [...accounts].map(([key, found]) => ({
            key,
            spent: found.spent,
            held: found.held,
            overrun: found.overrun,
            granted: found.granted,
            limitMax: found.limitMax,
            rolling: found.line.account.window === 'minute',
          })),
          open: [...open],
        }),
      ),
    close: async () => undefined,
  };
}

const full = (): Result<never> =>
  denied('storage-full', 'The ledger in memory is full.', { next: 'Use the database or Redis.' });

function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('Broken rule: an open hold has its reservation');
  return value;
}
