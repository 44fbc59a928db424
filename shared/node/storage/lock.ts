/**
 * One writer for each data folder. The lock is a real lock of the operating system, held through an exclusive transaction on
 * a small SQLite file: it ends with its process, also after kill -9, and no other process that happens to get the same
 * number can be taken for its holder. Who holds it stands beside it in `lock.json`, for the message only.
 */
import { readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { z } from 'zod';
import { denied, ok } from '../../contract/denials.ts';
import type { Result } from '../../contract/denials.ts';
import { isDamage, sqliteCodeOf, storageDenial, systemCodeOf } from './failures.ts';

const lockInfoSchema = z.object({
  pid: z.int().positive(),
  host: z.enum(['desktop', 'browser', 'proxy', 'command-line', 'test']),
  /** Where it can be opened; null until it listens, and for hosts that do not. */
  url: z.string().max(2_000).nullable(),
});
export type LockInfo = z.infer<typeof lockInfoSchema>;

export interface Lock {
  /** Once the address is known. */
  update(info: LockInfo): void;
  /** Again is allowed and does nothing. */
  release(): void;
}

/** Denied with `busy` when another process (or this one) has it, naming who and where. */
export function acquireLock(home: { readonly folder: string }, info: LockInfo): Result<Lock> {
  const file = join(home.folder, 'lock.sqlite');
  const held = holdFile(file);
  if (!held.ok) {
    if (held.denial.code === 'busy') return denied('busy', runsAlready(home), { next: nextStep(home) });
    return held;
  }
  const database = held.value;
  const update = (current: LockInfo): void => {
    if (database.open) writeInfo(home, current);
  };
  update(info);
  return ok({
    update,
    release: () => {
      if (!database.open) return;
      removeInfo(home);
      database.close();
    },
  });
}

/** Who wrote last that it holds the folder; meaningful only after `acquireLock` was denied. */
export function lockHolder(home: { readonly folder: string }): LockInfo | null {
  try {
    const read = lockInfoSchema.safeParse(JSON.parse(readFileSync(infoFile(home), 'utf8')));
    return read.success ? read.data : null;
  } catch {
    // No file, or half of one: the lock itself does not depend on it.
    return null;
  }
}

function holdFile(file: string): Result<BetterSqlite3.Database> {
  // The second try is for a lock file that is no database any more; it holds nothing, so a new one loses nothing.
  for (const lastTry of [false, true]) {
    let database: BetterSqlite3.Database | null = null;
    try {
      // A holder that is just closing needs a moment.
      database = new BetterSqlite3(file, { timeout: 300 });
      // Not WAL: there an exclusive transaction would still let others in to read.
      database.pragma('journal_mode = DELETE');
      database.exec('BEGIN EXCLUSIVE');
      return ok(database);
    } catch (error) {
      database?.close();
      if (lastTry || !isDamage(error)) return lockDenial(error, file);
      rmSync(file, { force: true });
    }
  }
  throw new Error('unreachable: the last try returns');
}

function lockDenial(error: unknown, file: string): Result<never> {
  if (sqliteCodeOf(error) !== null) return storageDenial(error, file);
  const code = systemCodeOf(error);
  if (code === null && !(error instanceof TypeError)) throw error;
  return denied('storage-failed', `The lock ${file} cannot be made.`, {
    next: 'Check that the data folder is there and yours.',
  });
}

function runsAlready(home: { readonly folder: string }): string {
  const holder = lockHolder(home);
  if (holder === null) return `Spillway already runs on the data folder ${home.folder}.`;
  return `Spillway already runs here (pid ${holder.pid}${holder.url === null ? `, ${holder.host}` : `, ${holder.url}`}).`;
}

function nextStep(home: { readonly folder: string }): string {
  const url = lockHolder(home)?.url ?? null;
  return url === null
    ? 'Use that one, or set SPILLWAY_HOME to another folder.'
    : 'Open that address, or set SPILLWAY_HOME to another folder.';
}

const infoFile = (home: { readonly folder: string }): string => join(home.folder, 'lock.json');

/** Written beside and renamed, so that a reader never sees half of it. */
function writeInfo(home: { readonly folder: string }, info: LockInfo): void {
  const parts = `${infoFile(home)}.${info.pid}`;
  try {
    writeFileSync(parts, `${JSON.stringify(info)}\n`, { mode: 0o600 });
    renameSync(parts, infoFile(home));
  } catch (error) {
    // A full disk: the lock holds all the same, only its message knows less.
    if (systemCodeOf(error) === null) throw error;
    rmSync(parts, { force: true });
  }
}

function removeInfo(home: { readonly folder: string }): void {
  try {
    unlinkSync(infoFile(home));
  } catch (error) {
    // There is none, or it cannot be removed: without the lock it says nothing.
    if (systemCodeOf(error) === null) throw error;
  }
}
