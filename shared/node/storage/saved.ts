/**
 * What a data folder's database holds, for a command that only looks while a console may be using the folder: a connection that
 * cannot write, no lock, nothing moved aside.
 */
import BetterSqlite3 from 'better-sqlite3';
import type { PriceSet } from '../../contract/costs.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { type Settings, settingsSchema } from '../../contract/settings.ts';
import { type StoredDirectory, createDirectoryRows } from './directory-rows.ts';
import { storageDenial } from './failures.ts';
import { schemaVersion, versionOf } from './migrations.ts';
import { createPriceRows } from './price-rows.ts';
import { type Statements, createStatements } from './statements.ts';

export interface Saved {
  readonly settings: Settings;
  /** null = never saved. */
  readonly directory: StoredDirectory | null;
  readonly priceSets: readonly PriceSet[];
}

/** The file is there. Denied where another version of Spillway made it. */
export function readSaved(file: string): Result<Saved> {
  let database: BetterSqlite3.Database | null = null;
  try {
    database = new BetterSqlite3(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    const version = versionOf(database);
    if (version > schemaVersion)
      return denied('storage-newer', `${file} was made by a newer Spillway.`, { next: 'Update Spillway.' });
    if (version < schemaVersion) {
      return denied('storage-failed', `${file} was made by an older Spillway.`, {
        next: 'Start the console once: it brings the file up to date.',
      });
    }
    const statements = createStatements(database);
    return ok({
      settings: readSettings(statements),
      directory: createDirectoryRows(statements).read(),
      priceSets: createPriceRows(statements).all(),
    });
  } catch (error) {
    return storageDenial(error, file);
  } finally {
    database?.close();
  }
}

/** Field by field: one that an older or newer Spillway wrote differently falls back to its default alone. */
export function readSettings(statements: Pick<Statements, 'get'>): Settings {
  const row = statements.get<{ json: string }>('SELECT json FROM settings WHERE id = 1');
  const saved = row === undefined ? {} : (JSON.parse(row.json) as Record<string, unknown>);
  const fields = Object.entries(settingsSchema.shape).map(([name, schema]) => {
    const read = schema.safeParse(saved[name]);
    return [name, read.success ? read.data : schema.parse(undefined)];
  });
  return settingsSchema.parse(Object.fromEntries(fields));
}

const BUSY_TIMEOUT_MS = 2_000;
