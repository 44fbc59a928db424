import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { migrate, migrations, schemaVersion, versionOf } from '../../../shared/node/storage/migrations.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import { clock, freshHome, sampleRecord, value } from './samples.ts';

function migrated(): BetterSqlite3.Database {
  const database = new BetterSqlite3(':memory:');
  database.pragma('foreign_keys = ON');
  migrate(database);
  return database;
}

test('a database is brought to the newest version once, and every table is strict', () => {
  const database = migrated();
  expect(versionOf(database)).toBe(schemaVersion);
  expect(schemaVersion).toBe(migrations.length);
  migrate(database);
  const tables = database
    .prepare("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'")
    .all();
  expect(tables.length).toBeGreaterThan(8);
  expect(tables.filter((table) => (table as { strict: number }).strict !== 1)).toEqual([]);
});

test('an old database without tables is brought up to date in place', () => {
  const home = freshHome();
  const old = new BetterSqlite3(home.databaseFile);
  old.exec('VACUUM');
  old.close();
  const opened = value(openStore({ home, clock }));
  expect([opened.notices, opened.movedTo]).toEqual([[], null]);
  value(opened.store.callClosed(sampleRecord()));
  opened.store.close();
});

describe('the database holds the law itself', () => {
  const run = `INSERT INTO runs (id, created_at, state, simulated, cells_total, search_text, json, checksum) VALUES `;
  const call = `INSERT INTO calls (id, run_id, cell_key, started_at, simulated, prompt_tokens, summary, checksum) VALUES `;
  test.each([
    ['a state that there is not', `${run} ('a', 't', 'paused', 0, 1, '', '{}', 0)`, 'CHECK'],
    ['text that is no JSON', `${run} ('a', 't', 'done', 0, 1, '', '{', 0)`, 'CHECK'],
    ['a text where a number belongs', `${run} ('a', 't', 'done', 0, 'many', '', '{}', 0)`, 'cannot store TEXT'],
    ['negative tokens', `${call} ('c', NULL, NULL, 't', 0, -1, '{}', 0)`, 'CHECK'],
    ['a call of a run that is not there', `${call} ('c', 'none', NULL, 't', 0, 1, '{}', 0)`, 'FOREIGN KEY'],
    ['a cell without its run', `${call} ('c', NULL, 'cell', 't', 0, 1, '{}', 0)`, 'CHECK'],
    [
      'more cells done than there are',
      `${run} ('a', 't', 'done', 0, 0, '', '{}', 0); UPDATE runs SET cells_done = 1`,
      'CHECK',
    ],
    ['a second row of settings', `INSERT INTO settings VALUES (2, '{}')`, 'CHECK'],
    ['a text of no pieces', `INSERT INTO text_pieces VALUES (1, 0, 1)`, 'FOREIGN KEY'],
  ])('%s is refused', (_name, sql, reason) => {
    expect(() => migrated().exec(sql)).toThrow(reason);
  });
});
