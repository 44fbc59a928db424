/** The ledger's operations over rows: they decide by the law (`decide.ts`) first, and write only when nothing can be refused any more. */
import type { Result } from '../../contract/denials.ts';
import { ok } from '../../contract/denials.ts';
import type { Book, LedgerEntry, Reservation } from '../../contract/ledger.ts';
import { AMOUNT_MAX } from '../../contract/plans.ts';
import {
  chargeOf,
  crossingsOf,
  effectiveLimit,
  limitMaxAfter,
  refusalOf,
  rollingFrom,
  secondOf,
} from '../../engine/ledger/decide.ts';
import type { Bucket } from '../../engine/ledger/decide.ts';
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
  resolveEntry,
  sameLines,
} from '../../engine/ledger/records.ts';
import type {
  AccountState,
  GrantAsk,
  LedgerLine,
  LineRefusal,
  ReserveAnswer,
  ReserveAsk,
  ResolveAnswer,
  ResolveAsk,
} from '../../engine/ledger/store.ts';
import { must } from '../../engine/must.ts';
import { newestOfKey, openingAt, openingOfId, reservationOf, seqOfId } from './ledger-reads.ts';
import type { Opening } from './ledger-reads.ts';
import type { AccountRow, LedgerUnit } from './ledger-unit.ts';

export function reserveLines(unit: LedgerUnit, ask: ReserveAsk): Result<ReserveAnswer> {
  const earlier = newestOfKey(unit.statements, ask);
  if (earlier?.isVoided === false) return repeatedly(unit, openingAt(unit.statements, earlier.seq), ask);
  if (seqOfId(unit.statements, ask.id) !== null) return idReused(ask.id);
  const refusals = ask.lines.flatMap((line, index) => refusalIn(unit, line, index, ask.atMs) ?? []);
  if (refusals.length > 0) {
    const accounts = ask.lines.flatMap(({ key }) => {
      const row = unit.account(key);
      return row === null ? [] : [unit.stateOf(row, ask.atMs)];
    });
    return ok({ outcome: 'refused', refusals, accounts });
  }
  const rows = ask.lines.map((line, position) => hold(unit, line, position, ask.atMs));
  unit.writeReserve(ask, earlier?.seq ?? null);
  return ok({
    outcome: 'reserved',
    repeated: false,
    reservation: openReservation(ask),
    accounts: rows.map((row) => unit.stateOf(row, ask.atMs)),
  });
}

export function resolveHold(unit: LedgerUnit, ask: ResolveAsk): Result<ResolveAnswer> {
  const opening = openingOfId(unit.statements, ask.id);
  if (opening?.reservation.book !== ask.book || opening.tenant !== ask.tenant) return noSuchReservation(ask.id);
  return resolve(unit, opening, ask);
}

/** Charged as reserved, oldest first. */
export function expireHolds(
  unit: LedgerUnit,
  { book, atMs, max }: { readonly book: Book; readonly atMs: number; readonly max: number },
): Result<readonly ResolveAnswer[]> {
  const due = unit.statements.all<{ seq: number }>(
    `SELECT seq FROM ledger_holds CROSS JOIN ledger_journal USING (seq)
     WHERE ledger_holds.expires_at_ms <= ? AND book = ? ORDER BY ledger_holds.expires_at_ms, seq LIMIT ?`,
    atMs,
    book,
    max,
  );
  return ok(
    due.map(({ seq }) => {
      const opening = openingAt(unit.statements, seq);
      const { id, detail } = opening.reservation;
      const answer = resolve(unit, opening, expiry({ id, book, tenant: opening.tenant, detail }, atMs));
      must(answer.ok, 'a charge as reserved always fits');
      return answer.value;
    }),
  );
}

export function grantTo(unit: LedgerUnit, ask: GrantAsk): Result<AccountState> {
  if ((unit.account(ask.key)?.granted ?? 0) + ask.amount > AMOUNT_MAX) return refusedGrant();
  const before = unit.account(ask.key);
  const row = before ?? unit.accountOf(ask);
  row.granted += ask.amount;
  if (before === null) {
    row.limit = ask.limit;
    row.limitMax = effectiveLimit({ limit: ask.limit, granted: row.granted });
  }
  unit.changed(row, 0);
  unit.write({ ...grantEntry(ask), atMs: ask.atMs, resolves: null, nanoDollars: null });
  return ok(unit.stateOf(row, ask.atMs));
}

function repeatedly(unit: LedgerUnit, opening: Opening, ask: ReserveAsk): Result<ReserveAnswer> {
  const rows = rowsOf(unit, opening.reservation);
  const lines = rows.map(({ account }, index) => ({ account, amount: lineAt(opening.reservation, index).amount }));
  if (!sameLines({ lines }, ask)) return keyReused(ask.key);
  const reservation = reservationOf(unit.statements, opening);
  return ok({
    outcome: 'reserved',
    repeated: true,
    reservation,
    accounts: rows.map((row) => unit.stateOf(row, ask.atMs)),
  });
}

function refusalIn(unit: LedgerUnit, line: LedgerLine, index: number, atMs: number): LineRefusal | null {
  const row = unit.account(line.key);
  if (row === null) return refusalOf(line, index, { granted: 0, spent: 0, held: 0, earliestExpiryMs: null });
  const { granted } = row;
  const buckets = row.account.window === 'minute' ? { buckets: bucketsSince(unit, row, rollingFrom(atMs)) } : {};
  const refusal = refusalOf(line, index, { granted, ...unit.usedOf(row, atMs), earliestExpiryMs: null, ...buckets });
  // Looked up only when somebody is told.
  return refusal === null ? null : { ...refusal, earliestExpiryMs: unit.earliestExpiry(row) };
}

const bucketsSince = (unit: LedgerUnit, row: AccountRow, from: number): Bucket[] =>
  [...unit.bucketsOf(row)]
    .filter(([second]) => second >= from)
    .map(([second, { spent, held }]) => ({ second, spent, held }));

function hold(unit: LedgerUnit, line: LedgerLine, position: number, atMs: number): AccountRow {
  const row = unit.accountOf(line);
  row.limit = line.limit;
  row.limitMax = limitMaxAfter(row.limitMax, effectiveLimit({ limit: line.limit, granted: row.granted }));
  row.held += line.amount;
  if (line.account.window === 'minute') {
    unit.dropBuckets(row, rollingFrom(atMs));
    const bucket = unit.bucketOf(row, secondOf(atMs));
    bucket.held += line.amount;
    bucket.changed = true;
  }
  unit.changed(row, position);
  return row;
}

function resolve(unit: LedgerUnit, opening: Opening, ask: ResolveAsk): Result<ResolveAnswer> {
  const { reservation, seq, tenant } = opening;
  const rows = rowsOf(unit, reservation);
  const states = (): AccountState[] => rows.map((row) => unit.stateOf(row, ask.atMs));
  for (const [index, { spent, held }] of rows.entries()) {
    const tooLarge = refusedCharge({ ...lineAt(reservation, index), spent, held }, ask);
    if (tooLarge !== null && unit.isOpen(seq)) return tooLarge;
  }
  if (!unit.takeHold(seq)) {
    const closed = reservationOf(unit.statements, opening);
    must(closed.state !== 'open', `${closed.id} is open and has its hold`);
    return ok({ repeated: true, reservation: closed, accounts: states(), crossed: [] });
  }

  let overrunTokens = 0;
  const lines = rows.map((row, position) => {
    const line = lineAt(reservation, position);
    const charge = chargeOf(line, ask);
    charged(unit, row, line.amount, charge.amount, secondOf(opening.atMs));
    row.overrun += charge.overrun;
    unit.changed(row, position);
    if (line.unit === 'tokens') overrunTokens = charge.overrun;
    return { account: line.account, unit: line.unit, ...charge };
  });
  const closed = closedReservation(reservation, ask, overrunTokens);
  const about = { ...reservation, tenant };
  const nanoDollars = closed.charge?.nanoDollars ?? null;
  unit.write({ ...resolveEntry(about, ask, lines), atMs: ask.atMs, resolves: seq, nanoDollars });
  const crossed = rows
    .filter((row) => row.account.window !== 'minute')
    .flatMap((row) => {
      const crossings = crossingsOf(unit.stateOf(row, ask.atMs));
      for (const { percent } of crossings) row.raised.push(percent);
      return crossings;
    });
  for (const crossing of crossed) {
    unit.write({ ...alertEntry(about, ask.atMs, crossing), atMs: ask.atMs, resolves: null, nanoDollars: null });
  }
  return ok({ repeated: false, reservation: closed, accounts: states(), crossed });
}

function charged(unit: LedgerUnit, row: AccountRow, held: number, amount: number, second: number): void {
  row.held -= held;
  row.spent += amount;
  if (row.account.window !== 'minute') return;
  // Gone only where nothing was held in it any more: a hold of nothing can still be charged.
  const bucket = unit.bucketOf(row, second);
  bucket.held -= held;
  bucket.spent += amount;
  bucket.changed = true;
}

const rowsOf = (unit: LedgerUnit, { id, lines }: Reservation): AccountRow[] =>
  lines.map(({ account }) => {
    const row = unit.account(account);
    must(row !== null, `${id} has its account ${account}`);
    return row;
  });

function lineAt({ lines }: Reservation, index: number): LedgerEntry['lines'][number] {
  const line = lines[index];
  must(line !== undefined, 'every line has its account');
  return { ...line, overrun: 0 };
}
