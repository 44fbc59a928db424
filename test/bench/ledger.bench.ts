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
const ROUNDS = 3;
const PAIRS_ALONE = 1_500;
const PAIRS_GROUPED = 20_000;

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
  const raw: number[] = [];
  const alone: number[] = [];
  const grouped: number[] = [];
  const normal: number[] = [];
  const memory: number[] = [];
  // By turns, so that a machine that grows slower does so for all of them.
  for (let round = 0; round < ROUNDS; round += 1) {
    const file = (name: string): string => freshFile(join(folder, `${name}-${round}.sqlite`));
    raw.push(rawPairsPerSecond(file('raw'), PAIRS_ALONE));
    alone.push(await sqlite(file('alone'), 'full', PAIRS_ALONE, 1));
    grouped.push(await sqlite(file('grouped'), 'full', PAIRS_GROUPED, LANES));
    normal.push(await sqlite(file('normal'), 'normal', PAIRS_GROUPED, LANES));
    memory.push(await pairsPerSecond(createMemoryStore({ nowMs: () => START_MS }), PAIRS_GROUPED, LANES));
  }
  const rawMedian = median(raw);
  const beside = `raw better-sqlite3, one at a time, FULL: ${Math.round(rawMedian)} pairs/s`;
  const rate = (name: string, rates: readonly number[]): Figure => ({
    name,
    value: median(rates),
    unit: 'pairs/s',
    limit: null,
    beside,
  });
  // Limits are upper bounds, so shares of the raw figure are told as how many times it takes as long.
  const ratio = (name: string, rates: readonly number[], limit: number): Figure => ({
    name,
    value: rawMedian / median(rates),
    unit: 'x the time',
    limit,
    beside: `${(median(rates) / rawMedian).toFixed(2)} x the pairs of raw`,
  });
  return [
    rate('Ledger in SQLite, one at a time, FULL', alone),
    ratio('Ledger, one at a time, against raw', alone, 1 / 0.8),
    rate(`Ledger in SQLite, ${LANES} at once, FULL`, grouped),
    ratio(`Ledger, ${LANES} at once, against raw`, grouped, 1 / 10),
    rate(`Ledger in SQLite, ${LANES} at once, NORMAL`, normal),
    rate(`Ledger in memory, ${LANES} at once`, memory),
  ];
}

async function sqlite(file: string, synchronous: SynchronousMode, pairs: number, lanes: number): Promise<number> {
  const store = value(openLedgerStore({ file, nowMs: () => START_MS, synchronous }));
  try {
    await pairsPerSecond(store, lanes, lanes);
    return await pairsPerSecond(store, pairs, lanes);
  } finally {
    await store.close();
  }
}

function freshFile(file: string): string {
  closeDatabase(value(openDatabase(file, '2026-11-14T22:44:02.000Z')).database);
  return file;
}

/** The writes of the store for a pair: entry, hold, two balances; entry, hold away, two balances. Nothing is read or decided. */
function rawPairsPerSecond(file: string, pairs: number): number {
  const database = new BetterSqlite3(file, { fileMustExist: true });
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  const account = database.prepare(`INSERT INTO ledger_accounts VALUES (?, ?, 'simulated', 'acme', 'user', ?, 'day',
    '2026-11-14', 'tokens', 1794700800000, 'UTC', '[80]', 1000000000000, 1000000000000, 0, 0, 0, 0, '[]', 0)`);
  for (let id = 1; id <= USERS + 1; id += 1)
    account.run(id, benchAsk(id).lines[0]?.key.concat(String(id)), `user-${id}`);
  const reserve = database.prepare(`INSERT INTO ledger_journal (seq, at_ms, operation, book, reservation_id, key, owner,
    tenant, user, model, lines, input_tokens, output_tokens, reason, expires_at_ms, detail)
    VALUES (?, ?, 'reserve', 'simulated', ?, ?, ?, 'acme', ?, ?, ?, ?, ?, '', ?, ?)`);
  const settle = database.prepare(`INSERT INTO ledger_journal (seq, at_ms, operation, book, reservation_id, resolves, key,
    owner, tenant, user, model, lines, input_tokens, output_tokens, nano_dollars, source, reason)
    VALUES (?, ?, 'settle', 'simulated', ?, ?, ?, ?, 'acme', ?, ?, ?, ?, ?, 0, 'reported', '')`);
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
  const asks = Array.from({ length: pairs }, (_, index) => benchAsk(index));
  const beganMs = performance.now();
  for (const [index, ask] of asks.entries()) {
    const { id, key, owner, atMs, expiresAtMs, detail, lines } = ask;
    const text = JSON.stringify(lines.map((line) => [line.key, line.account.unit, line.amount, 0]));
    const seq = index * 2 + 1;
    const { user, model, inputTokens, outputTokens } = detail;
    begin.run();
    reserve.run(
      seq,
      atMs,
      id,
      key,
      owner,
      user,
      model,
      text,
      inputTokens,
      outputTokens,
      expiresAtMs,
      JSON.stringify(detail),
    );
    hold.run(seq, expiresAtMs);
    balances(0, 2_434, seq, (index % USERS) + 1);
    commit.run();
    begin.run();
    settle.run(seq + 1, atMs, id, seq, key, owner, user, model, text, 1_930, 39);
    release.run(seq);
    balances(1_969, -2_434, seq + 1, (index % USERS) + 1);
    commit.run();
  }
  const rate = (pairs / (performance.now() - beganMs)) * 1_000;
  database.close();
  return rate;
}
