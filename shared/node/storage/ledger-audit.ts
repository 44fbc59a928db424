/**
 * The audit over SQLite, on a connection of its own that cannot write. Balances, holds and the number of the newest entry are
 * read in one transaction; the entries up to that number are read after it, since entries are never changed. It lets others
 * in again and again, so that a long journal does not stop a screen.
 */
import BetterSqlite3 from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { denied, ok } from '../../contract/denials.ts';
import type { Result } from '../../contract/denials.ts';
import type { Audit, LedgerEntry } from '../../contract/ledger.ts';
import { auditInTurns } from '../../engine/ledger/audit.ts';
import type { AuditedBalance, AuditedEntry } from '../../engine/ledger/audit.ts';
import { isoOf } from '../../engine/ledger/calendar.ts';
import { storageDenial } from './failures.ts';
import { entryOf } from './ledger-reads.ts';
import type { JournalRow } from './ledger-reads.ts';
import { entryChecksum, journalColumns } from './ledger-rows.ts';
import type { SqlValue } from './statements.ts';

/** Rows read at a time: some milliseconds. */
const PAGE = 500;

/** `isClosed`: the ledger was closed meanwhile, and the file may go. `busyTimeoutMs`: how long it waits for another connection. */
export async function auditFile(ask: {
  readonly file: string;
  readonly atMs: number;
  readonly busyTimeoutMs: number;
  readonly isClosed: () => boolean;
}): Promise<Result<Audit>> {
  let database: Database | null = null;
  try {
    database = new BetterSqlite3(ask.file, { readonly: true, fileMustExist: true, timeout: ask.busyTimeoutMs });
    const snapshot = await inTurns(readSnapshot(database), ask.isClosed);
    if (snapshot === null) return closed();
    const { balances, open, lastSeq } = snapshot;
    const entries = readEntries(database, lastSeq);
    const audit = await inTurns(auditInTurns({ at: isoOf(ask.atMs), entries, balances, open }), ask.isClosed);
    return audit === null ? closed() : ok(audit);
  } catch (error) {
    return storageDenial(error, ask.file);
  } finally {
    database?.close();
  }
}

const closed = (): Result<never> =>
  denied('storage-failed', 'The ledger was closed while it was audited.', { next: 'Start Spillway again.' });

/** Runs it to its end, each turn in a turn of the event loop. null: it was closed before. */
async function inTurns<Value>(turns: Generator<undefined, Value>, isClosed: () => boolean): Promise<Value | null> {
  for (;;) {
    const turn = turns.next();
    if (turn.done === true) return turn.value;
    await new Promise((resolve) => setImmediate(resolve));
    if (isClosed()) return null;
  }
}

interface Snapshot {
  readonly lastSeq: number;
  readonly balances: readonly AuditedBalance[];
  readonly open: readonly string[];
}

function* readSnapshot(database: Database): Generator<undefined, Snapshot> {
  // Without a write-ahead log a reader keeps writers out: then it reads on without a pause.
  const pauses = String(database.pragma('journal_mode', { simple: true })) === 'wal';
  const balances: AuditedBalance[] = [];
  const open: string[] = [];
  database.exec('BEGIN');
  const last = database.prepare<[], { last: number | null }>('SELECT max(seq) AS last FROM ledger_journal').get();
  for (const page of pagesOf<BalanceRow>(database, balancesSql, Number.MAX_SAFE_INTEGER)) {
    balances.push(...page.map(balanceOf));
    if (pauses) yield;
  }
  for (const page of pagesOf<HoldRow>(database, holdsSql, Number.MAX_SAFE_INTEGER)) {
    open.push(...page.map(({ reservation_id: id }) => id));
    if (pauses) yield;
  }
  database.exec('COMMIT');
  return { lastSeq: last?.last ?? 0, balances, open };
}

/** A page is read when its first entry is asked for. */
function* readEntries(database: Database, lastSeq: number): Generator<AuditedEntry> {
  for (const page of pagesOf<AuditRow>(database, entriesSql, lastSeq)) {
    for (const row of page) yield auditedEntry(row);
  }
}

/** `sql`: rows with an `id` over the first value and up to the second, in their order, as many as the third says. */
function* pagesOf<Row extends { readonly id: number }>(
  database: Database,
  sql: string,
  lastId: number,
): Generator<Row[]> {
  const statement = database.prepare<[number, number, number], Row>(sql);
  for (let from = 0; ;) {
    const page = statement.all(from, lastId, PAGE);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    from = page.at(-1)?.id ?? lastId;
  }
}

interface BalanceRow {
  readonly id: number;
  readonly key: string;
  readonly window: string;
  readonly limit_max: number | null;
  readonly granted: number;
  readonly spent: number;
  readonly held: number;
  readonly overrun: number;
}
interface HoldRow {
  readonly id: number;
  readonly reservation_id: string;
}
type AuditRow = JournalRow & {
  readonly id: number;
  readonly checksum: number | null;
  /** 0: it has a key whose reservation before it is not voided. */
  readonly key_free: number;
};

const balancesSql = `SELECT id, key, window, limit_max, granted, spent, held, overrun FROM ledger_accounts
  WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`;
const holdsSql = `SELECT ledger_holds.seq AS id, reservation_id FROM ledger_holds CROSS JOIN ledger_journal USING (seq)
  WHERE ledger_holds.seq > ? AND ledger_holds.seq <= ? ORDER BY ledger_holds.seq LIMIT ?`;
const entriesSql = `SELECT seq AS id, ${journalColumns.join(', ')}, checksum,
  follows IS NULL OR EXISTS (
    SELECT 1 FROM ledger_journal AS closing
    WHERE closing.resolves = entry.follows AND closing.operation = 'void' AND closing.seq < entry.seq
  ) AS key_free
  FROM ledger_journal AS entry WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;

function balanceOf({ key, window, limit_max: limitMax, granted, spent, held, overrun }: BalanceRow): AuditedBalance {
  return { key, granted, spent, held, overrun, limitMax, rolling: window === 'minute' };
}

function auditedEntry(row: AuditRow): AuditedEntry {
  const faults: string[] = [];
  const values = journalColumns.map((column) => (row as unknown as Readonly<Record<string, SqlValue>>)[column] ?? null);
  if (row.checksum !== null && row.checksum !== entryChecksum(values)) faults.push('is not what was written');
  if (row.key_free === 0) faults.push('has a key of which something was sent');
  const entry = readable(row);
  if (entry === null) faults.push('cannot be read');
  return { ...(entry ?? { ...entryOf({ ...row, at_ms: 0, lines: '[]' }) }), faults };
}

/** null: noise stands where its time or its lines should. */
function readable(row: JournalRow): LedgerEntry | null {
  try {
    const entry = entryOf(row);
    return entry.lines.every((line) => typeof line.account === 'string') ? entry : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}
