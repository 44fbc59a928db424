/**
 * Pairs (reserve and settle, on a user's day and a tenant's month) a second: over SQLite one at a time and grouped, beside raw
 * better-sqlite3 that does the same writes without any law, one transaction each, on a file of the same schema in the same run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { createMemoryStore } from '../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore } from '../../shared/engine/ledger/store.ts';
import { closeDatabase, openDatabase } from '../../shared/node/storage/database.ts';
import { openLedgerStore } from '../../shared/node/storage/ledger-store.ts';
import type { SynchronousMode } from '../../shared/node/storage/ledger-store.ts';
import { START_MS, detailOf, reserveOf, settleOf } from '../node/ledger/asks.ts';
import { value } from '../node/storage/records.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';

/** How many calls are under way at once where pairs are grouped. */
const LANES = 500;
const USERS = 50;
/** Short rounds by turns, so that whatever else the machine does hits all of them alike. */
const ROUNDS = 15;
const PAIRS_ALONE = 150;
const PAIRS_GROUPED = 3_000;

export async function benchLedger(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-bench-'));
  try {
    return await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a store does of pairs a second, `lanes` calls at once. Every answer is looked at, so that none is counted that failed. */
export async function pairsPerSecond(store: LedgerStore, pairs: number, lanes: number): Promise<number> {
  // Of every store its own ids, and nothing of making them is timed.
  const asks = Array.from({ length: pairs }, (_, index) => benchAsk(index));
  const beganMs = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let index = lane; index < pairs; index += lanes) {
        const ask = asks[index];
        if (ask === undefined) return;
        if (value(await store.reserve(ask)).outcome !== 'reserved') throw new Error('a reservation was refused');
        if (value(await store.resolve(settleOf(ask, 1_969))).repeated) throw new Error('a hold was resolved before');
      }
    }),
  );
  return (pairs / (performance.now() - beganMs)) * 1_000;
}

export function benchAsk(index: number): ReturnType<typeof reserveOf> {
  const user = `user-${index % USERS}`;
  const amount = 2_434;
  return reserveOf(
    [
      { scope: 'user', name: user, window: 'day', amount, limit: 1e12 },
      { scope: 'tenant', name: 'acme', window: 'month', amount, limit: 1e12 },
    ],
    { detail: detailOf({ user }) },
  );
}

async function measure(folder: string): Promise<Figure[]> {
  const file = (name: string): string => freshFile(join(folder, `${name}.sqlite`));
  const raw = rawPairs(file('raw'));
  const open = (name: string, synchronous: SynchronousMode): LedgerStore =>
    value(openLedgerStore({ file: file(name), nowMs: () => START_MS, synchronous }));
  const contestants = {
    raw: { run: async () => raw.run(PAIRS_ALONE), close: async () => raw.close() },
    alone: laned(open('alone', 'full'), PAIRS_ALONE, 1),
    grouped: laned(open('grouped', 'full'), PAIRS_GROUPED, LANES),
    normal: laned(open('normal', 'normal'), PAIRS_GROUPED, LANES),
    memory: laned(createMemoryStore({ nowMs: () => START_MS }), PAIRS_GROUPED, LANES),
  };
  const rates = { raw: [], alone: [], grouped: [], normal: [], memory: [] } as Record<
    keyof typeof contestants,
    number[]
  >;
  const names = Object.keys(contestants) as (keyof typeof contestants)[];
  for (const name of names) await contestants[name].run();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) rates[name].push(await contestants[name].run());
  }
  for (const name of names) await contestants[name].close();
  return figures(rates);
}

function laned(store: LedgerStore, pairs: number, lanes: number): { run(): Promise<number>; close(): Promise<void> } {
  return { run: () => pairsPerSecond(store, pairs, lanes), close: () => store.close() };
}

function figures(
  rates: Readonly<Record<'raw' | 'alone' | 'grouped' | 'normal' | 'memory', readonly number[]>>,
): Figure[] {
  const raw = median(rates.raw);
  const rate = (name: string, of: readonly number[]): Figure => ({
    name,
    value: median(of),
    unit: 'pairs/s',
    limit: null,
    beside: `raw better-sqlite3, one at a time, FULL: ${Math.round(raw)} pairs/s`,
  });
  // Limits are upper bounds, so a share of the raw figure is told as how many times as long a pair takes.
  const time = (name: string, of: readonly number[], limit: number): Figure => ({
    name,
    value: raw / median(of),
    unit: 'x the time',
    limit,
    beside: `${(median(of) / raw).toFixed(2)} x the pairs of raw`,
  });
  return [
    rate('Ledger in SQLite, one at a time, FULL', rates.alone),
    time('Ledger, one at a time, against raw', rates.alone, 1 / 0.8),
    rate(`Ledger in SQLite, ${LANES} at once, FULL`, rates.grouped),
    time(`Ledger, ${LANES} at once, against raw`, rates.grouped, 1 / 10),
    rate(`Ledger in SQLite, ${LANES} at once, NORMAL`, rates.normal),
    rate(`Ledger in memory, ${LANES} at once`, rates.memory),
  ];
}

function freshFile(file: string): string {
  closeDatabase(value(openDatabase(file, '2026-11-14T22:44:02.000Z')).database);
  return file;
}

/** The writes of the store for a pair: entry, hold, two balances; entry, hold away, two balances. Nothing is read or decided. */
function rawPairs(file: string): { run(pairs: number): number; close(): void } {
  const database = new BetterSqlite3(file, { fileMustExist: true });
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  const account = database.prepare(`INSERT INTO ledger_accounts VALUES (?, ?, 'simulated', 'acme', 'user', ?, 'day',
    '2026-11-14', 'tokens', 1794700800000, 'UTC', '[80]', 1000000000000, 1000000000000, 0, 0, 0, 0, '[]', 0)`);
  for (let id = 1; id <= USERS + 1; id += 1)
    account.run(id, benchAsk(id).lines[0]?.key.concat(String(id)), `user-${id}`);
  const reserve = database.prepare(`INSERT INTO ledger_journal (seq, at_ms, operation, book, reservation_id, key, owner,
    tenant, user, model, lines, input_tokens, output_tokens, reason, expires_at_ms, detail, follows, checksum)
    VALUES (?, ?, 'reserve', 'simulated', ?, ?, ?, 'acme', ?, ?, ?, ?, ?, '', ?, ?, NULL, 3234567890)`);
  const settle =
    database.prepare(`INSERT INTO ledger_journal (seq, at_ms, operation, book, reservation_id, resolves, key,
    owner, tenant, user, model, lines, input_tokens, output_tokens, nano_dollars, source, reason, follows, checksum)
    VALUES (?, ?, 'settle', 'simulated', ?, ?, ?, ?, 'acme', ?, ?, ?, ?, ?, 0, 'reported', '', NULL, 3234567890)`);
  const hold = database.prepare('INSERT INTO ledger_holds VALUES (?, ?)');
  const release = database.prepare('DELETE FROM ledger_holds WHERE seq = ?');
  const balance = database.prepare(`UPDATE ledger_accounts SET ends_at_ms = ?, time_zone = ?, alerts_percent = ?,
    limit_now = ?, limit_max = ?, granted = ?, spent = spent + ?, held = held + ?, overrun = ?, alerts_raised = ?,
    touched = ? WHERE id = ?`);
  const balances = (spent: number, held: number, seq: number, user: number): void => {
    for (const id of [user, USERS + 1]) {
      balance.run(1_794_700_800_000, 'UTC', '[80]', 1e12, 1e12, 0, spent, held, 0, '[]', seq * 128, id);
    }
  };
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let seq = -1;
  function pair({ id, key, owner, atMs, expiresAtMs, detail, lines }: ReturnType<typeof benchAsk>, user: number): void {
    const text = JSON.stringify(lines.map((line) => [line.key, line.account.unit, line.amount, 0]));
    const { user: name, model, inputTokens, outputTokens } = detail;
    const about = [key, owner, name, model, text] as const;
    seq += 2;
    begin.run();
    reserve.run(seq, atMs, id, ...about, inputTokens, outputTokens, expiresAtMs, JSON.stringify(detail));
    hold.run(seq, expiresAtMs);
    balances(0, 2_434, seq, user);
    commit.run();
    begin.run();
    settle.run(seq + 1, atMs, id, seq, ...about, 1_930, 39);
    release.run(seq);
    balances(1_969, -2_434, seq + 1, user);
    commit.run();
  }
  return {
    run: (pairs) => {
      const asks = Array.from({ length: pairs }, (_, index) => benchAsk(index));
      const beganMs = performance.now();
      asks.forEach((ask, index) => pair(ask, (index % USERS) + 1));
      return (pairs / (performance.now() - beganMs)) * 1_000;
    },
    close: () => {
      database.close();
    },
  };
}
