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
    for (const line of entry.lines) {
      for (const amount of [line.amount, line.overrun]) {
        if (!Number.isSafeInteger(amount) || amount < 0) fault(`entry ${entry.seq}: ${amount} on ${line.account}`);
      }
    }
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
      }
      for (const text of chargeFaults(entry, hold)) fault(`entry ${entry.seq}: ${id} ${text}`);
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

/** What a resolution says must follow from what was held: on the same accounts, and as much as its kind allows. */
function chargeFaults({ operation, lines }: LedgerEntry, hold: LedgerEntry['lines']): string[] {
  const faults: string[] = [];
  const left = new Map(hold.map((line) => [line.account, line.amount]));
  for (const { account, amount, overrun } of lines) {
    const reserved = left.get(account);
    left.delete(account);
    if (reserved === undefined) faults.push(`is charged on ${account}, where it held nothing`);
    else if (overrun !== Math.max(0, amount - reserved)) {
      faults.push(`says an overrun of ${overrun} on ${account}, charged ${amount} of ${reserved}`);
    } else if (operation === 'void' && amount !== 0) faults.push(`is void and charged ${amount} on ${account}`);
    else if (operation !== 'void' && operation !== 'settle' && amount !== reserved) {
      faults.push(`keeps ${reserved} on ${account} and is charged ${amount}`);
    }
  }
  for (const account of left.keys()) faults.push(`is not charged on ${account}, where it held`);
  return faults;
}
