/** Failures of files and of SQLite, put into words. What is not one of theirs is a bug and is thrown on. */
import { denied } from '../../contract/denials.ts';
import type { Denial } from '../../contract/denials.ts';

/** The code of a system error (`EACCES`), or null when it is none. */
export function systemCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : null;
}

/** The primary result code of an SQLite error (`SQLITE_FULL`), or null when it is none. */
export function sqliteCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return /^SQLITE_[A-Z]+/.exec(error.code)?.[0] ?? null;
}

/** True where the file itself is broken, as against not reachable. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';
}

/** A refusal for what the outside did (full, locked, read-only, broken); throws what is a bug of ours. */
export function storageDenial(error: unknown, file: string): { ok: false; denial: Denial } {
  switch (sqliteCodeOf(error)) {
    case 'SQLITE_FULL':
      return denied('storage-full', `The disk is full: ${file} cannot grow. Nothing that was saved is lost.`, {
        next: 'Free some space on that disk, then try again.',
      });
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return denied('busy', `Another program holds ${file}.`, {
        next: 'Close the program that has it open, then try again.',
        retryAfterMs: 1_000,
      });
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
    case 'SQLITE_AUTH':
      return denied('storage-failed', `${file} cannot be written.`, { next: 'Check who owns it and its folder.' });
    case 'SQLITE_CANTOPEN':
      return denied('storage-failed', `${file} cannot be opened.`, {
        next: 'Check that its folder is there and yours.',
      });
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return denied('storage-failed', `${file} is damaged.`, {
        next: 'Start Spillway again: it moves the file aside and makes a new one.',
      });
    case 'SQLITE_IOERR':
    case 'SQLITE_PROTOCOL':
    case 'SQLITE_NOLFS':
      return denied('storage-failed', `The system failed to read or write ${file}.`, {
        next: 'Check the disk, or set SPILLWAY_HOME to a folder on another one.',
      });
    default:
      throw error;
  }
}
