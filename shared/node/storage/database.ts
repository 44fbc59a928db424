/**
 * Opens the database file: made where it is missing, checked where it is there, brought up to date, or moved aside when it
 * is damaged. A damaged file is never deleted, and one from a newer Spillway is not touched.
 */
import { chmodSync, closeSync, existsSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { denied, ok } from '../../contract/denials.ts';
import type { Denial, Result } from '../../contract/denials.ts';
import { isDamage, sqliteCodeOf, storageDenial, systemCodeOf } from './failures.ts';
import { firstDamage, isMarkedClosed, markClosed, unmark } from './integrity.ts';
import { migrate, schemaVersion, versionOf } from './migrations.ts';
import type { StoreNotice } from './store-types.ts';

export interface OpenedDatabase {
  readonly database: Database;
  readonly notices: readonly StoreNotice[];
  readonly movedTo: string | null;
}

/** How long a write waits for another connection, such as a person's own sqlite3, before it is denied. */
const busyTimeoutMs = 2_000;

/** nowIso dates the name of a file that is moved aside. */
export function openDatabase(file: string, nowIso: string): Result<OpenedDatabase> {
  try {
    const opened = openSound(file);
    if (opened.kind === 'open') return ok({ database: opened.database, notices: opened.notices, movedTo: null });
    if (opened.kind === 'denied') return opened.refusal;
    const movedTo = moveAside(file, nowIso);
    const fresh = openSound(file);
    if (fresh.kind !== 'open') return denied('storage-failed', `A new database could not be made at ${file}.`);
    const notice: StoreNotice = {
      level: 'error',
      text: `The database was damaged (${opened.reason}). It was moved to ${movedTo}, and a new one was made.`,
      next: 'Earlier runs are not shown. Keep the moved file if you want to recover them.',
    };
    return ok({ database: fresh.database, notices: [notice, ...fresh.notices], movedTo });
  } catch (error) {
    if (systemCodeOf(error) !== null) {
      return denied('storage-failed', `${file} cannot be used: the system answered ${systemCodeOf(error)}.`, {
        next: 'Check that the data folder is yours and has free space.',
      });
    }
    return storageDenial(error, file);
  }
}

/** The last write is in the file, and the file is marked as sound. Again is allowed and does nothing. */
export function closeDatabase(database: Database): void {
  if (!database.open) return;
  database.close();
  // Another reader that is still open keeps the log; then the next start looks for itself.
  markClosed(database.name);
}

/** Turns WAL on and looks whether it took: some network file systems cannot share the memory that it needs. */
export function useWal(database: Database): StoreNotice | null {
  const mode = walModeOf(database);
  if (mode === 'wal') return null;
  return {
    level: 'warning',
    text: `The file system of ${database.name} does not take write-ahead logging (mode ${mode}). Saving is slower.`,
    next: 'Set SPILLWAY_HOME to a folder on a local disk.',
  };
}

/** Of this connection: a write that would make the file larger fails as on a full disk. */
export function limitFile(database: Database, fileBytesMax: number): void {
  const pageBytes = Number(database.pragma('page_size', { simple: true }));
  database.pragma(`max_page_count = ${Math.max(1, Math.floor(fileBytesMax / pageBytes))}`);
}

type Opening =
  | { readonly kind: 'open'; readonly database: Database; readonly notices: readonly StoreNotice[] }
  | { readonly kind: 'denied'; readonly refusal: { ok: false; denial: Denial } }
  | { readonly kind: 'damaged'; readonly reason: string };

function openSound(file: string): Opening {
  if (!existsSync(file)) create(file);
  // Databases get their name only when they are complete, so an empty one under that name has lost what was in it.
  if (statSync(file).size === 0) return { kind: 'damaged', reason: 'the file is empty' };
  const header = headerOf(file);
  // Looked at before SQLite is: it would delete the log that belongs to such a file.
  if (header === null) return { kind: 'damaged', reason: 'it does not begin as a database does' };
  if (header.version > schemaVersion) return { kind: 'denied', refusal: fromTheFuture(file, header.version) };
  const looked = lookOnly(file);
  if (looked !== null) return looked;

  const database = new BetterSqlite3(file, { timeout: busyTimeoutMs, fileMustExist: true });
  try {
    unmark(file);
    return { kind: 'open', database, notices: prepare(database) };
  } catch (error) {
    database.close();
    if (isDamage(error)) return { kind: 'damaged', reason: reasonOf(error) };
    throw error;
  }
}

/**
 * Checks without the right to write, so that a damaged or newer file and its log stay byte for byte what they were. null =
 * nothing is wrong with it.
 */
function lookOnly(file: string): Opening | null {
  const database = new BetterSqlite3(file, { readonly: true, timeout: busyTimeoutMs, fileMustExist: true });
  try {
    const version = versionOf(database);
    if (version > schemaVersion) return { kind: 'denied', refusal: fromTheFuture(file, version) };
    if (isMarkedClosed(file)) return null;
    const damage = firstDamage(database, version === schemaVersion);
    return damage === null ? null : { kind: 'damaged', reason: damage };
  } catch (error) {
    if (isDamage(error)) return { kind: 'damaged', reason: reasonOf(error) };
    // No table or column of that name: it says it has this version's layout, and has not.
    if (sqliteCodeOf(error) === 'SQLITE_ERROR') return { kind: 'damaged', reason: reasonOf(error) };
    // A journal of a crash waits to be rolled back, which takes the right to write: that is no damage.
    if (sqliteCodeOf(error) === 'SQLITE_READONLY') return null;
    throw error;
  } finally {
    database.close();
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function prepare(database: Database): StoreNotice[] {
  const notice = useWal(database);
  // FULL: a finished call is on the disk before anybody is told; at a few calls a second its price does not show.
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma('trusted_schema = OFF');
  migrate(database);
  return notice === null ? [] : [notice];
}

function walModeOf(database: Database): string {
  try {
    return String(database.pragma('journal_mode = WAL', { simple: true }));
  } catch (error) {
    if (!['SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_PROTOCOL'].includes(sqliteCodeOf(error) ?? '')) throw error;
    return String(database.pragma('journal_mode = DELETE', { simple: true }));
  }
}

/** Built under another name and renamed: a crash in between leaves no half-made database. */
function create(file: string): void {
  const parts = `${file}.new`;
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${parts}${suffix}`, { force: true });
  // A log that outlived its database must not be played into the new one.
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, freeName(`${file}-orphan`, suffix));
  }
  const database = new BetterSqlite3(parts);
  try {
    migrate(database);
  } finally {
    database.close();
  }
  chmodSync(parts, 0o600);
  renameSync(parts, file);
}

/** What the first page says, read without opening the database; null where it is no such page. */
function headerOf(file: string): { readonly version: number } | null {
  const header = Buffer.alloc(100);
  const handle = openSync(file, 'r');
  try {
    if (readSync(handle, header, 0, 100, 0) < 100) return null;
  } finally {
    closeSync(handle);
  }
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' ? { version: header.readInt32BE(60) } : null;
}

function fromTheFuture(file: string, version: number): { ok: false; denial: Denial } {
  return denied(
    'storage-newer',
    `${file} was made by a newer Spillway (version ${version}; this one knows up to ${schemaVersion}). It was left as it is.`,
    { next: 'Update Spillway, or set SPILLWAY_HOME to another folder.' },
  );
}

/** The file and what belongs to it, under one dated name. Answers where the database itself went. */
function moveAside(file: string, nowIso: string): string {
  const date = nowIso.replace(/\.\d+/, '').replaceAll(':', '-');
  const target = freeName(`${file.replace(/\.sqlite$/, '')}.damaged-${date}`, '.sqlite');
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${target}${suffix}`);
  }
  renameSync(file, target);
  return target;
}

function freeName(stem: string, ending: string): string {
  if (!existsSync(`${stem}${ending}`)) return `${stem}${ending}`;
  for (let number = 2; number < 10_000; number += 1) {
    if (!existsSync(`${stem}-${number}${ending}`)) return `${stem}-${number}${ending}`;
  }
  throw new Error(`no free name beside ${stem}${ending}`);
}
