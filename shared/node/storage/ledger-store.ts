/**
 * The ledger's store over SQLite, on a connection of its own to the database file. Another process may write to the same file,
 * so every operation decides by the rows as they stand in its transaction. Promises are kept (resolved) only after COMMIT.
 */
import BetterSqlite3 from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { denied, ok } from '../../contract/denials.ts';
import type { Result } from '../../contract/denials.ts';
import type { Audit } from '../../contract/ledger.ts';
import { checkGrant, checkReserve, checkResolve } from '../../engine/ledger/checks.ts';
import type { LedgerStore } from '../../engine/ledger/store.ts';
import { limitFile } from './database.ts';
import { storageDenial } from './failures.ts';
import { auditFile } from './ledger-audit.ts';
import { createLedgerGroup } from './ledger-group.ts';
import type { Schedule } from './ledger-group.ts';
import { expireHolds, grantTo, reserveLines, resolveHold } from './ledger-operations.ts';
import { createLedgerReads } from './ledger-reads.ts';
import { schemaVersion, versionOf } from './migrations.ts';
import { createStatements } from './statements.ts';

export type SynchronousMode = 'full' | 'normal';

export interface SqliteLedgerStore extends LedgerStore {
  readonly kind: 'sqlite';
  /** full: an answer is on the disk before it is given. normal: a power cut may take the last ones back, never half of one. */
  setSynchronous(mode: SynchronousMode): void;
}

/** How long a write waits for another connection, such as the command line, before it is denied. */
const busyTimeoutMs = 2_000;

/** The file is there and up to date: `openStore` made it so before. */
export function openLedgerStore(ask: {
  readonly file: string;
  readonly nowMs: () => number;
  readonly synchronous: SynchronousMode;
  /** false: every operation has a transaction of its own. Default true: all of one turn of the event loop share one. */
  readonly group?: boolean;
  /** The file never grows over this; writes that would are denied with `storage-full`. Default: the disk. */
  readonly fileBytesMax?: number;
  /** When a group is committed. Default: when the turn of the event loop has ended. */
  readonly schedule?: Schedule;
}): Result<SqliteLedgerStore> {
  const opened = openLedgerDatabase(ask.file);
  if (!opened.ok) return opened;
  const database = opened.value;
  if (ask.fileBytesMax !== undefined) limitFile(database, ask.fileBytesMax);
  const setSynchronous = (mode: SynchronousMode): void => {
    database.pragma(`synchronous = ${mode === 'full' ? 'FULL' : 'NORMAL'}`);
  };
  setSynchronous(ask.synchronous);
  return ok(createStore(database, ask, setSynchronous));
}

function openLedgerDatabase(file: string): Result<Database> {
  let database: Database | null = null;
  try {
    database = new BetterSqlite3(file, { timeout: busyTimeoutMs, fileMustExist: true });
    const version = versionOf(database);
    if (version !== schemaVersion) {
      database.close();
      return denied(
        version > schemaVersion ? 'storage-newer' : 'storage-failed',
        `${file} has version ${version} of the database, and the ledger needs ${schemaVersion}.`,
        { next: version > schemaVersion ? 'Update Spillway.' : 'Start Spillway again: it brings the file up to date.' },
      );
    }
    database.pragma('foreign_keys = ON');
    database.pragma('trusted_schema = OFF');
    database.function('lower_case', { deterministic: true }, (text) => String(text).toLowerCase());
    return ok(database);
  } catch (error) {
    database?.close();
    return storageDenial(error, file);
  }
}

function createStore(
  database: Database,
  { nowMs, group: grouped = true, schedule }: Parameters<typeof openLedgerStore>[0],
  setSynchronous: (mode: SynchronousMode) => void,
): SqliteLedgerStore {
  const statements = createStatements(database);
  const reads = createLedgerReads(statements);
  const group = createLedgerGroup(database, statements, { grouped, ...(schedule === undefined ? {} : { schedule }) });
  let isClosed = false;
  let audits: Promise<unknown> = Promise.resolve();
  return {
    kind: 'sqlite',
    nowMs,
    reserve: async (ask) => {
      const checked = checkReserve(ask);
      return checked.ok ? group.write((unit) => reserveLines(unit, ask)) : checked;
    },
    resolve: async (ask) => {
      const checked = checkResolve(ask);
      return checked.ok ? group.write((unit) => resolveHold(unit, ask)) : checked;
    },
    grant: async (ask) => {
      const checked = checkGrant(ask);
      return checked.ok ? group.write((unit) => grantTo(unit, ask)) : checked;
    },
    expire: async (ask) => group.write((unit) => expireHolds(unit, ask)),
    accounts: async ({ book, keys, atMs }) =>
      group.read((unit) =>
        ok(
          keys.flatMap((key) => {
            const found = unit.account(key);
            return found === null || found.account.book !== book ? [] : [unit.stateOf(found, atMs)];
          }),
        ),
      ),
    current: async (ask) => group.read((unit) => ok(unit.current(ask).map((found) => unit.stateOf(found, ask.atMs)))),
    reservations: async ({ book, closed }) =>
      group.read(() => ok([...reads.open(book), ...reads.closed(book, closed)])),
    entries: async (query) => group.read(() => ok(reads.entries(query))),
    audit: (atMs) => {
      // One after another, each after what was asked before it.
      const after = Promise.all([group.read(() => ok(null)), audits]);
      const audit = after.then(([flushed]): Promise<Result<Audit>> | Result<never> =>
        flushed.ok ? auditFile({ file: database.name, atMs, busyTimeoutMs, isClosed: () => isClosed }) : flushed,
      );
      audits = audit.catch(() => null);
      return audit;
    },
    setSynchronous: (mode) => {
      // What was asked for before is committed as it was asked for.
      group.flush();
      setSynchronous(mode);
    },
    close: async () => {
      isClosed = true;
      group.close();
      // Each ends at its next turn.
      await audits;
      database.close();
    },
  };
}
