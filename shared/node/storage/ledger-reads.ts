/** The journal read back: as entries and as reservations. */
import type { Book, ChargeSource, LedgerEntry, LedgerOperation, Reservation } from '../../contract/ledger.ts';
import type { ReservationDetail } from '../../contract/ledger.ts';
import type { BudgetUnit } from '../../contract/plans.ts';
import { isoOf } from '../../engine/ledger/calendar.ts';
import { stateAfter } from '../../engine/ledger/decide.ts';
import { must } from '../../engine/must.ts';
import type { EntryQuery, ReserveAsk } from '../../engine/ledger/store.ts';
import type { Statements } from './statements.ts';

export interface LedgerReads {
  /** Youngest first. */
  open(book: Book): Reservation[];
  /** The last that were resolved, the last one first. */
  closed(book: Book, count: number): Reservation[];
  entries(query: EntryQuery): LedgerEntry[];
}

/** An entry `reserve`: the hold as it was opened. */
export interface Opening {
  readonly seq: number;
  readonly atMs: number;
  readonly tenant: string;
  /** `open`, whatever became of it. */
  readonly reservation: Reservation;
}

export function createLedgerReads(statements: Statements): LedgerReads {
  return {
    open: (book) => statements.all<OpeningRow>(openSql, book).map((row) => openingOf(row).reservation),
    closed: (book, count) =>
      statements
        .all<OpeningRow & ClosingRow>(closedSql, book, count)
        .map((row) => closedOf(openingOf(row).reservation, row)),
    entries: ({ book, tenant = null, user = null, operations, account = null, beforeSeq = null, limit }) =>
      statements
        .all<JournalRow>(
          entriesSql,
          book,
          beforeSeq ?? Number.MAX_SAFE_INTEGER,
          tenant,
          tenant,
          user,
          user,
          operations === undefined ? null : JSON.stringify(operations),
          operations === undefined ? null : JSON.stringify(operations),
          account === null ? null : `[${JSON.stringify(account)},`,
          limit,
        )
        .map(entryOf),
  };
}

/** The newest entry `reserve` with this key, and whether it was voided; null for a key that was never used. */
export function newestOfKey(
  statements: Statements,
  { book, tenant, key }: Pick<ReserveAsk, 'book' | 'tenant' | 'key'>,
): { readonly seq: number; readonly isVoided: boolean } | null {
  const anyOfKey = `SELECT seq FROM ledger_journal WHERE key = ? AND tenant = ? AND book = ? AND operation = 'reserve'`;
  // Nearly every key is new, and the order would take this question eight times as long.
  if (statements.get(anyOfKey, key, tenant, book) === undefined) return null;
  // By the words of the index: each follows one that is older, so the last of them is the newest.
  const newest = `${anyOfKey} ORDER BY ifnull(follows, 0) DESC LIMIT 1`;
  const found = statements.get<{ seq: number }>(newest, key, tenant, book);
  must(found !== undefined, `the key ${key} has a reservation`);
  const closing = statements.get<{ operation: string }>(
    'SELECT operation FROM ledger_journal WHERE resolves = ?',
    found.seq,
  );
  return { seq: found.seq, isVoided: closing?.operation === 'void' };
}

/** The number of the entry `reserve` with this id, or null. */
export function seqOfId(statements: Statements, id: string): number | null {
  const sql = `SELECT seq FROM ledger_journal WHERE reservation_id = ? AND operation = 'reserve'`;
  return statements.get<{ seq: number }>(sql, id)?.seq ?? null;
}

// One table at a time: the two joined took ten times as long, and this is what every settlement waits for.
export function openingOfId(statements: Statements, id: string): Opening | null {
  const row = statements.get<OpeningRow>(`${openingSql} WHERE reservation_id = ? AND operation = 'reserve'`, id);
  return row === undefined ? null : openingOf(row);
}

export function openingAt(statements: Statements, seq: number): Opening {
  const row = statements.get<OpeningRow>(`${openingSql} WHERE seq = ?`, seq);
  must(row !== undefined, `entry ${seq} is there`);
  return openingOf(row);
}

/** As it is now: open, or how it was resolved. */
export function reservationOf(statements: Statements, { seq, reservation }: Opening): Reservation {
  const row = statements.get<ClosingRow>(closingSql, seq);
  return row === undefined ? reservation : closedOf(reservation, row);
}

/** As the journal keeps them: short, and an account is found in them by its key in quotes, in which no quote can occur. */
export const linesText = (lines: LedgerEntry['lines']): string =>
  JSON.stringify(lines.map(({ account, unit, amount, overrun }) => [account, unit, amount, overrun]));

type StoredLine = readonly [account: string, unit: BudgetUnit, amount: number, overrun: number];
const linesOf = (text: string): StoredLine[] => JSON.parse(text) as StoredLine[];

export interface JournalRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly operation: LedgerOperation;
  readonly book: Book;
  readonly reservation_id: string | null;
  readonly key: string | null;
  readonly owner: string;
  readonly tenant: string;
  readonly user: string | null;
  readonly model: string | null;
  readonly lines: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly source: ChargeSource | null;
  readonly reason: string;
}

const entryColumns = `seq, at_ms, operation, book, reservation_id, key, owner, tenant, user, model, lines, input_tokens,
  output_tokens, source, reason`;
const entriesSql = `SELECT ${entryColumns} FROM ledger_journal
  WHERE book = ? AND seq < ? AND (? IS NULL OR tenant = ?) AND (? IS NULL OR user = ?)
    AND (? IS NULL OR operation IN (SELECT value FROM json_each(?))) AND instr(lines, ifnull(?, '')) > 0
  ORDER BY seq DESC LIMIT ?`;

export function entryOf(row: JournalRow): LedgerEntry {
  return {
    seq: row.seq,
    at: isoOf(row.at_ms),
    operation: row.operation,
    book: row.book,
    reservationId: row.reservation_id,
    key: row.key,
    owner: row.owner,
    tenant: row.tenant,
    user: row.user,
    model: row.model,
    lines: linesOf(row.lines).map(([account, unit, amount, overrun]) => ({ account, unit, amount, overrun })),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    source: row.source,
    reason: row.reason,
  };
}

interface OpeningRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly book: Book;
  readonly reservation_id: string;
  readonly key: string;
  readonly owner: string;
  readonly tenant: string;
  readonly lines: string;
  readonly expires_at_ms: number;
  readonly detail: string;
}

interface ClosingRow {
  readonly closed_operation: keyof typeof stateAfter;
  readonly closed_at_ms: number;
  readonly closed_lines: string;
  readonly closed_input: number;
  readonly closed_output: number;
  readonly closed_nano_dollars: number;
  readonly closed_source: ChargeSource;
  readonly closed_reason: string;
}

const openingSql =
  'SELECT seq, at_ms, book, reservation_id, key, owner, tenant, lines, expires_at_ms, detail FROM ledger_journal';
const openingColumns = `opening.seq, opening.at_ms, opening.book, opening.reservation_id, opening.key, opening.owner,
  opening.tenant, opening.lines, opening.expires_at_ms, opening.detail`;
const closingColumns = `closing.operation AS closed_operation, closing.at_ms AS closed_at_ms,
  closing.lines AS closed_lines, closing.input_tokens AS closed_input, closing.output_tokens AS closed_output,
  closing.nano_dollars AS closed_nano_dollars, closing.source AS closed_source, closing.reason AS closed_reason`;
const closingSql = `SELECT ${closingColumns} FROM ledger_journal AS closing WHERE closing.resolves = ?`;
// CROSS JOIN: from the few holds to their entries, never from all entries to the few that have one.
const openSql = `SELECT ${openingColumns} FROM ledger_holds CROSS JOIN ledger_journal AS opening USING (seq)
  WHERE opening.book = ? ORDER BY ledger_holds.seq DESC`;
const closedSql = `SELECT ${openingColumns}, ${closingColumns} FROM ledger_journal AS closing
  CROSS JOIN ledger_journal AS opening ON opening.seq = closing.resolves
  WHERE closing.book = ? AND closing.resolves IS NOT NULL ORDER BY closing.seq DESC LIMIT ?`;

function openingOf(row: OpeningRow): Opening {
  const reservation: Reservation = {
    id: row.reservation_id,
    key: row.key,
    owner: row.owner,
    book: row.book,
    openedAt: isoOf(row.at_ms),
    expiresAt: isoOf(row.expires_at_ms),
    detail: JSON.parse(row.detail) as ReservationDetail,
    lines: linesOf(row.lines).map(([account, unit, amount]) => ({ account, unit, amount })),
    state: 'open',
    closedAt: null,
    charge: null,
  };
  return { seq: row.seq, atMs: row.at_ms, tenant: row.tenant, reservation };
}

function closedOf(open: Reservation, row: ClosingRow): Reservation {
  const tokens = linesOf(row.closed_lines).findLast(([, unit]) => unit === 'tokens');
  return {
    ...open,
    state: stateAfter[row.closed_operation],
    closedAt: isoOf(row.closed_at_ms),
    charge: {
      inputTokens: row.closed_input,
      outputTokens: row.closed_output,
      nanoDollars: row.closed_nano_dollars,
      source: row.closed_source,
      overrunTokens: tokens?.[3] ?? 0,
      reason: row.closed_reason,
    },
  };
}
