/**
 * The rows that one transaction works with. Each account is read once and written once, at the end, however many operations
 * of the group touch it; entries and holds are written at once. Nothing of it is kept for the next transaction, since another
 * process may have written in between.
 */
import type { Account, Book, LedgerEntry } from '../../contract/ledger.ts';
import type { BudgetUnit, BudgetWindow } from '../../contract/plans.ts';
import type { BudgetScope } from '../../contract/plans.ts';
import { brokenRuleOf, rollingFrom } from '../../engine/ledger/decide.ts';
import { must } from '../../engine/must.ts';
import type { AccountState, CurrentAsk, LedgerLine, ReserveAsk } from '../../engine/ledger/store.ts';
import { linesText } from './ledger-reads.ts';
import { entryChecksum, insertEntry } from './ledger-rows.ts';
import type { SqlValue, Statements } from './statements.ts';

export interface AccountRow {
  readonly account: Account;
  readonly key: string;
  /** null until it is saved for the first time. */
  id: number | null;
  endsAtMs: number | null;
  timeZone: string;
  alertsPercent: readonly number[];
  limit: number | null;
  /** undefined: nothing was reserved or granted yet. */
  limitMax: number | null | undefined;
  granted: number;
  spent: number;
  held: number;
  overrun: number;
  readonly raised: number[];
  touched: number;
  changed: boolean;
  /** The rolling minute's, read when they are asked for. */
  buckets: Map<number, BucketRow> | null;
  /** undefined: not looked up since its holds changed. */
  earliestExpiryMs: number | null | undefined;
}

export interface BucketRow {
  spent: number;
  held: number;
  changed: boolean;
}

/** An entry as the journal keeps it, beside what only its table needs. */
export type NewEntry = Omit<LedgerEntry, 'seq' | 'at'> & {
  readonly atMs: number;
  /** The number of the entry `reserve` that it ends; null for grants and alerts. */
  readonly resolves: number | null;
  readonly nanoDollars: number | null;
};

export interface LedgerUnit {
  readonly statements: Statements;
  /** Forgets all rows. The first thing after BEGIN. */
  start(): void;
  account(key: string): AccountRow | null;
  /** The account of a line, made where there is none. Alerts, end and zone become the line's. */
  accountOf(line: AccountLine): AccountRow;
  current(ask: CurrentAsk): AccountRow[];
  /** Of the rolling minute what still counts. */
  usedOf(row: AccountRow, atMs: number): { spent: number; held: number };
  stateOf(row: AccountRow, atMs: number): AccountState;
  bucketsOf(row: AccountRow): Map<number, BucketRow>;
  bucketOf(row: AccountRow, second: number): BucketRow;
  /** Those before this second, but for the ones that still hold something. */
  dropBuckets(row: AccountRow, before: number): void;
  earliestExpiry(row: AccountRow): number | null;
  /** Marks it as changed by the entry that is written next, its holds too. Checks what must hold of an account. */
  changed(row: AccountRow, position: number): void;
  /** follows: the voided reservation that had the key before. Answers the entry's number. */
  writeReserve(ask: ReserveAsk, follows: number | null): number;
  write(entry: NewEntry): void;
  isOpen(seq: number): boolean;
  /** False: it was not open. */
  takeHold(seq: number): boolean;
  /** Writes the accounts. The last thing before COMMIT. */
  save(): void;
}

type AccountLine = Omit<LedgerLine, 'amount' | 'limit' | 'startsAtMs'>;

/** More lines than a reservation has: `touched` is the entry's number times this, and the position of the line. */
const linesPerEntry = 128;

export function createLedgerUnit(statements: Statements): LedgerUnit {
  const rows = new Map<string, AccountRow | null>();
  let nextSeq: number | null = null;

  const upcomingSeq = (): number =>
    (nextSeq ??=
      (statements.get<{ last: number | null }>('SELECT max(seq) AS last FROM ledger_journal')?.last ?? 0) + 1);

  function takeSeq(): number {
    const seq = upcomingSeq();
    nextSeq = seq + 1;
    return seq;
  }

  function insert(values: SqlValue[]): void {
    values.push(entryChecksum(values));
    statements.run(insertEntry, ...values);
  }

  function account(key: string): AccountRow | null {
    const known = rows.get(key);
    if (known !== undefined) return known;
    const found = statements.get<StoredAccount>(`${selectAccount} WHERE key = ?`, key);
    const row = found === undefined ? null : rowOf(found);
    rows.set(key, row);
    return row;
  }

  function accountOf(line: AccountLine): AccountRow {
    const found = account(line.key);
    if (found !== null) {
      found.alertsPercent = line.alertsPercent;
      found.endsAtMs = line.endsAtMs;
      found.timeZone = line.timeZone;
      return found;
    }
    const fresh = freshRow(line);
    rows.set(line.key, fresh);
    return fresh;
  }

  function bucketsOf(row: AccountRow): Map<number, BucketRow> {
    if (row.buckets !== null) return row.buckets;
    row.buckets = new Map();
    if (row.id === null) return row.buckets;
    const sql = 'SELECT second, spent, held FROM ledger_buckets WHERE account_id = ?';
    for (const { second, spent, held } of statements.all<{ second: number; spent: number; held: number }>(
      sql,
      row.id,
    )) {
      row.buckets.set(second, { spent, held, changed: false });
    }
    return row.buckets;
  }

  function usedOf(row: AccountRow, atMs: number): { spent: number; held: number } {
    if (row.account.window !== 'minute') return { spent: row.spent, held: row.held };
    let spent = 0;
    let held = 0;
    const from = rollingFrom(atMs);
    for (const [second, sums] of bucketsOf(row)) {
      if (second < from) continue;
      spent += sums.spent;
      held += sums.held;
    }
    return { spent, held };
  }

  function saveAccount(row: AccountRow): void {
    const { limit, granted, spent, held, overrun, touched } = row;
    const limitMax = row.limitMax ?? null;
    const alerts = JSON.stringify(row.alertsPercent);
    const raised = JSON.stringify(row.raised);
    if (row.id !== null) {
      statements.run(
        updateAccount,
        row.endsAtMs,
        row.timeZone,
        alerts,
        limit,
        limitMax,
        granted,
        spent,
        held,
        overrun,
        raised,
        touched,
        row.id,
      );
    } else {
      const { book, tenant, scope, name, window, period, unit } = row.account;
      const identity = [row.key, book, tenant, scope, name, window, period, unit, row.endsAtMs, row.timeZone, alerts];
      const { lastInsertRowid } = statements.run(
        insertAccount,
        ...identity,
        ...[limit, limitMax, granted, spent, held, overrun, raised, touched],
      );
      row.id = Number(lastInsertRowid);
    }
    if (row.buckets !== null) saveBuckets(row.id, row.buckets);
  }

  function saveBuckets(id: number, buckets: Map<number, BucketRow>): void {
    for (const [second, bucket] of buckets) {
      if (!bucket.changed) continue;
      statements.run(
        'INSERT INTO ledger_buckets VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET spent = excluded.spent, held = excluded.held',
        id,
        second,
        bucket.spent,
        bucket.held,
      );
    }
  }

  return {
    statements,
    start: () => {
      rows.clear();
      nextSeq = null;
    },
    account,
    accountOf,
    bucketsOf,
    bucketOf: (row, second) => {
      const buckets = bucketsOf(row);
      const bucket = buckets.get(second) ?? { spent: 0, held: 0, changed: false };
      buckets.set(second, bucket);
      return bucket;
    },
    dropBuckets: (row, before) => {
      for (const [second, { held }] of bucketsOf(row)) {
        if (second >= before || held > 0) continue;
        row.buckets?.delete(second);
        if (row.id === null) continue;
        statements.run('DELETE FROM ledger_buckets WHERE account_id = ? AND second = ?', row.id, second);
      }
    },
    current: ({ book, atMs, limit, words = [] }) =>
      (words.length === 0
        ? statements.all<{ key: string }>(`${selectCurrent} ORDER BY touched DESC LIMIT ?`, book, atMs, limit)
        : statements.all<{ key: string }>(selectFound, book, atMs, JSON.stringify(words), limit)
      ).flatMap(({ key }) => account(key) ?? []),
    usedOf,
    stateOf: (row, atMs) => {
      const { spent, held } = usedOf(row, atMs);
      return {
        account: row.account,
        key: row.key,
        limit: row.limit,
        granted: row.granted,
        spent,
        held,
        overrun: row.overrun,
        endsAtMs: row.endsAtMs,
        timeZone: row.timeZone,
        alerts: row.alertsPercent.map((percent) => ({ percent, raised: row.raised.includes(percent) })),
      };
    },
    earliestExpiry: (row) => {
      // Stops at the first that is one of this account's, in the order of their ends.
      if (row.held === 0) return null;
      if (row.earliestExpiryMs !== undefined) return row.earliestExpiryMs;
      const line = JSON.stringify([row.key, row.account.unit]).slice(1, -1);
      const found = statements.get<{ expires_at_ms: number }>(
        `SELECT ledger_holds.expires_at_ms FROM ledger_holds CROSS JOIN ledger_journal USING (seq)
         WHERE instr(lines, ?) > 0 AND instr(lines, ?) = 0 ORDER BY ledger_holds.expires_at_ms LIMIT 1`,
        `[${line},`,
        `[${line},0,`,
      );
      row.earliestExpiryMs = found?.expires_at_ms ?? null;
      return row.earliestExpiryMs;
    },
    changed: (row, position) => {
      row.changed = true;
      row.earliestExpiryMs = undefined;
      row.touched = upcomingSeq() * linesPerEntry + position;
      const rolling = row.account.window === 'minute';
      const { key, spent, held, overrun, limitMax = null } = row;
      const broken = brokenRuleOf({ key, spent, held, overrun, limitMax: rolling ? null : limitMax });
      must(broken === null, broken ?? '');
    },
    writeReserve: (ask, follows) => {
      const { detail, lines } = ask;
      const text = linesText(
        lines.map((line) => ({ account: line.key, unit: line.account.unit, amount: line.amount, overrun: 0 })),
      );
      const seq = takeSeq();
      insert([
        ...[
          seq,
          ask.atMs,
          'reserve',
          ask.book,
          ask.id,
          null,
          ask.key,
          ask.owner,
          ask.tenant,
          detail.user,
          detail.model,
        ],
        ...[text, detail.inputTokens, detail.outputTokens, null, null, ''],
        ...[ask.expiresAtMs, JSON.stringify(detail), follows],
      ]);
      statements.run('INSERT INTO ledger_holds VALUES (?, ?)', seq, ask.expiresAtMs);
      return seq;
    },
    write: (entry) => {
      const { atMs, operation, book, reservationId, resolves, key, owner, tenant, user, model } = entry;
      insert([
        ...[takeSeq(), atMs, operation, book, reservationId, resolves, key, owner, tenant, user, model],
        ...[
          linesText(entry.lines),
          entry.inputTokens,
          entry.outputTokens,
          entry.nanoDollars,
          entry.source,
          entry.reason,
        ],
        ...[null, null, null],
      ]);
    },
    isOpen: (seq) => statements.get('SELECT seq FROM ledger_holds WHERE seq = ?', seq) !== undefined,
    takeHold: (seq) => statements.run('DELETE FROM ledger_holds WHERE seq = ?', seq).changes === 1,
    save: () => {
      for (const row of rows.values()) if (row?.changed === true) saveAccount(row);
    },
  };
}

interface StoredAccount {
  readonly id: number;
  readonly key: string;
  readonly book: Book;
  readonly tenant: string;
  readonly scope: BudgetScope;
  readonly name: string;
  readonly window: BudgetWindow;
  readonly period: string;
  readonly unit: BudgetUnit;
  readonly ends_at_ms: number | null;
  readonly time_zone: string;
  readonly alerts_percent: string;
  readonly limit_now: number | null;
  readonly limit_max: number | null;
  readonly granted: number;
  readonly spent: number;
  readonly held: number;
  readonly overrun: number;
  readonly alerts_raised: string;
  readonly touched: number;
}

const columns = `key, book, tenant, scope, name, window, period, unit, ends_at_ms, time_zone, alerts_percent, limit_now,
  limit_max, granted, spent, held, overrun, alerts_raised, touched`;
const selectAccount = `SELECT id, ${columns} FROM ledger_accounts`;
const insertAccount = `INSERT INTO ledger_accounts (${columns}) VALUES (${'?, '.repeat(18)}?)`;
const selectCurrent = `SELECT key, tenant || ' ' || scope || ' ' || name || ' ' || window || ' ' || unit AS words,
  touched FROM ledger_accounts WHERE book = ? AND (ends_at_ms IS NULL OR ends_at_ms > ?)`;
// SQLite's own lower() knows ASCII only and is many times as fast as a call out to lower_case (ledger-store.ts).
const selectFound = `SELECT key FROM (${selectCurrent}) AS current WHERE NOT EXISTS (
    SELECT 1 FROM json_each(?) AS word WHERE instr(
      CASE WHEN length(words) = octet_length(words) THEN lower(words) ELSE lower_case(words) END, word.value) = 0
  ) ORDER BY touched DESC LIMIT ?`;
const updateAccount = `UPDATE ledger_accounts SET ends_at_ms = ?, time_zone = ?, alerts_percent = ?, limit_now = ?,
  limit_max = ?, granted = ?, spent = ?, held = ?, overrun = ?, alerts_raised = ?, touched = ? WHERE id = ?`;

function rowOf(stored: StoredAccount): AccountRow {
  const { id, key, book, tenant, scope, name, window, period, unit, granted, spent, held, overrun, touched } = stored;
  return {
    account: { book, tenant, scope, name, window, period, unit },
    key,
    id,
    endsAtMs: stored.ends_at_ms,
    timeZone: stored.time_zone,
    alertsPercent: JSON.parse(stored.alerts_percent) as number[],
    limit: stored.limit_now,
    limitMax: stored.limit_max,
    granted,
    spent,
    held,
    overrun,
    raised: JSON.parse(stored.alerts_raised) as number[],
    touched,
    changed: false,
    buckets: null,
    earliestExpiryMs: undefined,
  };
}

function freshRow({ account, key, endsAtMs, timeZone, alertsPercent }: AccountLine): AccountRow {
  const amounts = { granted: 0, spent: 0, held: 0, overrun: 0, touched: 0 };
  const unset = { id: null, limit: null, limitMax: undefined, buckets: null, earliestExpiryMs: undefined };
  return { account, key, endsAtMs, timeZone, alertsPercent, ...amounts, ...unset, raised: [], changed: false };
}
