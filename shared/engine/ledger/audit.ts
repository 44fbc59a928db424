/** Replays a journal from nothing and compares the outcome with what a store says: balances, holds, one resolution each. */
import type { Audit, LedgerEntry } from '../../contract/ledger.ts';
import { brokenRuleOf } from './decide.ts';

export interface AuditedBalance {
  readonly key: string;
  readonly spent: number;
  readonly held: number;
  readonly overrun: number;
  readonly granted: number;
  /** The largest limit ever reserved under; null = it was unlimited at some time. */
  readonly limitMax: number | null;
  /** The rolling minute: its sums are of all time, and its limit is one of each minute. */
  readonly rolling: boolean;
}

const FAULTS_MAX = 100;

/** `entries` in the order of their numbers; they are read once, so an iterator over a table will do. */
export function auditJournal(ask: {
  readonly at: string;
  readonly entries: Iterable<LedgerEntry>;
  readonly balances: Iterable<AuditedBalance>;
  /** Ids of the holds that the store says are open. */
  readonly open: Iterable<string>;
}): Audit {
  const faults: string[] = [];
  const fault = (text: string): void => {
    if (faults.length < FAULTS_MAX) faults.push(text);
  };
  const sums = new Map<string, { spent: number; held: number; overrun: number; granted: number }>();
  const sumOf = (key: string): { spent: number; held: number; overrun: number; granted: number } => {
    const known = sums.get(key) ?? { spent: 0, held: 0, overrun: 0, granted: 0 };
    sums.set(key, known);
    return known;
  };
  const holds = new Map<string, LedgerEntry['lines']>();
  const resolved = new Set<string>();
  let count = 0;
  let lastSeq = 0;

  for (const entry of ask.entries) {
    count += 1;
    if (entry.seq <= lastSeq) fault(`entry ${entry.seq} comes after ${lastSeq}`);
    lastSeq = entry.seq;
    const id = entry.reservationId ?? '';
    if (entry.operation === 'reserve') {
      if (holds.has(id) || resolved.has(id)) fault(`entry ${entry.seq}: ${id} was reserved before`);
      holds.set(id, entry.lines);
      for (const line of entry.lines) sumOf(line.account).held += line.amount;
    } else if (entry.operation === 'grant') {
      for (const line of entry.lines) sumOf(line.account).granted += line.amount;
    } else if (entry.operation !== 'alert') {
      const hold = holds.get(id);
      if (hold === undefined) {
        fault(`entry ${entry.seq}: ${id} ${resolved.has(id) ? 'was resolved before' : 'was never reserved'}`);
        continue;
      }
      holds.delete(id);
      resolved.add(id);
      for (const line of hold) sumOf(line.account).held -= line.amount;
      for (const line of entry.lines) {
        const sum = sumOf(line.account);
        sum.spent += line.amount;
        sum.overrun += line.overrun;
        const reserved = hold.find((one) => one.account === line.account)?.amount;
        if (reserved === undefined)
          fault(`entry ${entry.seq}: ${id} is charged on ${line.account}, where it held nothing`);
        else if (line.overrun !== Math.max(0, line.amount - reserved)) {
          fault(
            `entry ${entry.seq}: ${line.account} says an overrun of ${line.overrun}, charged ${line.amount} of ${reserved}`,
          );
        }
      }
    }
  }

  let accounts = 0;
  for (const balance of ask.balances) {
    accounts += 1;
    const sum = sums.get(balance.key) ?? { spent: 0, held: 0, overrun: 0, granted: 0 };
    sums.delete(balance.key);
    for (const name of ['spent', 'held', 'overrun', 'granted'] as const) {
      if (sum[name] !== balance[name])
        fault(`${balance.key}: ${name} is ${balance[name]}, its entries sum to ${sum[name]}`);
    }
    const broken = brokenRuleOf(balance.rolling ? { ...balance, limitMax: null } : balance);
    if (broken !== null) fault(broken);
  }
  for (const [key, sum] of sums) {
    if (sum.spent + sum.held + sum.overrun + sum.granted > 0) fault(`${key}: entries, but no balance`);
  }
  const open = new Set(ask.open);
  for (const id of holds.keys()) if (!open.delete(id)) fault(`${id} is open in the journal and not among the holds`);
  for (const id of open) fault(`${id} is held and not open in the journal`);
  return { at: ask.at, sound: faults.length === 0, entries: count, accounts, openHolds: holds.size, faults };
}
