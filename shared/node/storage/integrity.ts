/**
 * Whether a database holds what was written into it. SQLite has no checksums: a kilobyte of noise inside a text is no error
 * to it. So rows that matter carry a CRC-32 of their content, and all of them are read once at a start, unless the file is,
 * by size and time, the one that was closed in good order.
 */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { systemCodeOf } from './failures.ts';

/** CRC-32 over the parts, each as UTF-8 or bytes, in order. */
export const checksumOf = (...parts: readonly (string | Buffer)[]): number =>
  parts.reduce<number>((sum, part) => crc32(part, sum), 0);

/** What is wrong, in a few words, or null. Reads everything. withChecksums: false for a database of an older version. */
export function firstDamage(database: Database, withChecksums: boolean): string | null {
  const check = String(database.pragma('integrity_check(1)', { simple: true }));
  if (check !== 'ok') return check.replace(/\s+/g, ' ').slice(0, 200);
  if (!withChecksums) return null;
  for (const [table, columns] of Object.entries(checksummed)) {
    const rows = database
      .prepare(`SELECT checksum, ${columns.join(', ')} FROM ${table}`)
      .raw()
      .iterate();
    for (const [sum, ...parts] of rows as Iterable<[number, ...(string | Buffer)[]]>) {
      if (checksumOf(...parts) !== sum) return `a row of the table ${table} is not what was written`;
    }
  }
  return null;
}

/** Says that this file, as it is now, was closed in good order. */
export function markClosed(file: string): void {
  try {
    writeFileSync(markOf(file), JSON.stringify(stampOf(file)), { mode: 0o600 });
  } catch (error) {
    // A full disk, or the folder is gone: the next start then takes the time to look.
    if (systemCodeOf(error) === null) throw error;
  }
}

/** Taken away before the first write: after a crash there is none, and the file is looked at. */
export const unmark = (file: string): void => rmSync(markOf(file), { force: true });

export function isMarkedClosed(file: string): boolean {
  if (!existsSync(markOf(file)) || (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0)) return false;
  return readFileSync(markOf(file), 'utf8') === JSON.stringify(stampOf(file));
}

/** Columns that go into the `checksum` column of each table, in this order. */
const checksummed: Readonly<Record<string, readonly string[]>> = {
  pieces: ['bytes'],
  runs: ['json'],
  cells: ['plan'],
  calls: ['summary'],
  directory: ['json'],
  agent_runs: ['summary', 'view', "coalesce(restart, '')"],
  call_bodies: ['request', 'preflight', 'reply', 'messages', 'sent_body', 'thinking', 'answer', 'raw_reply'],
};

const markOf = (file: string): string => `${file}-closed`;

function stampOf(file: string): { size: string; modified: string } {
  const { size, mtimeNs } = statSync(file, { bigint: true });
  return { size: String(size), modified: String(mtimeNs) };
}
