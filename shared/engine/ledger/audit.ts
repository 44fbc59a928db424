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

/** An entry as a store reads it back. `faults`: what the store found wrong with it, such as a checksum that does not match. */
export interface AuditedEntry extends LedgerEntry {
  readonly faults?: readonly string[];
}

export interface AuditAsk {
  readonly at: string;
  /** In the order of their numbers; they are read once, so an iterator over a table will do. */
  readonly entries: Iterable<AuditedEntry>;
  readonly balances: Iterable<AuditedBalance>;
  /** Ids of the holds that the store says are open. */
  readonly open: Iterable<string>;
}

const FAULTS_MAX = 100;
/** Steps of work (entries, balances, holds) between two pauses: some milliseconds. */
const PAUSE_STEPS = 500;

export function auditJournal(ask: AuditAsk): Audit {
  const audit = auditInTurns(ask);
  for (;;) {
    const turn = audit.next();
    if (turn.done === true) return turn.value;
  }
}

/**
 * The same in turns: pauses again and again, so that whoever runs it can let others in. It remembers a sum for each account and
 * what is open, however long the journal is; so a hold that is resolved twice and one that was never reserved look alike here,
 * and of a key only the holds that are open at one time can be told apart. Stores keep those laws themselves.
 */
export function* auditInTurns(ask: AuditAsk): Generator<undefined, Audit> {
  const replay = new Replay();
  for (const entry of paused(ask.entries)) {
    if (entry === null) yield;
    else replay.take(entry);
  }
  let accounts = 0;
  for (const balance of paused(ask.balances)) {
    if (balance === null) yield;
    else {
      accounts += 1;
      replay.compare(balance);
    }
  }
  for (const sum of paused(replay.sums)) {
    if (sum === null) yield;
    else replay.compareMissing(...sum);
  }
  const open = new Set<string>();
  for (const id of paused(ask.open)) {
    if (id === null) yield;
    else open.add(id);
  }
  for (const id of paused(replay.holds.keys())) {
    if (id === null) yield;
    else if (!open.delete(id)) replay.fault(`${id} is open in the journal and not among the holds`);
  }
  for (const id of open) replay.fault(`${id} is held and not open in the journal`);
  const { faults, count, holds } = replay;
  return { at: ask.at, sound: faults.length === 0, entries: count, accounts, openHolds: holds.size, faults };
}

/** null = time for a pause. */
function* paused<Item>(items: Iterable<Item>): Generator<Item | null> {
  let steps = 0;
  for (const item of items) {
    steps += 1;
    if (steps % PAUSE_STEPS === 0) yield null;
    yield item;
  }
}

interface Sum {
  spent: number;
  held: number;
  overrun: number;
  granted: number;
}

/** The journal added up anew. */
class Replay {
  readonly faults: string[] = [];
  readonly sums = new Map<string, Sum>();
  /** Open ones, by their id. */
  readonly holds = new Map<string, { readonly lines: LedgerEntry['lines']; readonly key: string }>();
  count = 0;
  private readonly keys = new Set<string>();
  private lastSeq = 0;

  fault(text: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push(text);
  }

  take(entry: AuditedEntry): void {
    this.count += 1;
    const { seq, operation, reservationId, lines } = entry;
    for (const text of entry.faults ?? []) this.fault(`entry ${seq} ${text}`);
    if (seq <= this.lastSeq) this.fault(`entry ${seq} comes after ${this.lastSeq}`);
    this.lastSeq = seq;
    for (const line of lines) {
      for (const amount of [line.amount, line.overrun]) {
        if (!Number.isSafeInteger(amount) || amount < 0) this.fault(`entry ${seq}: ${amount} on ${line.account}`);
      }
    }
    const id = reservationId ?? '';
    if (operation === 'reserve') this.takeHold(entry, id);
    else if (operation === 'grant') for (const line of lines) this.sumOf(line.account).granted += line.amount;
    else if (operation !== 'alert') this.takeResolution(entry, id);
  }

  private takeHold({ seq, lines, book, tenant, key }: AuditedEntry, id: string): void {
    if (this.holds.has(id)) this.fault(`entry ${seq}: ${id} was reserved before`);
    const whose = JSON.stringify([book, tenant, key]);
    if (this.keys.has(whose)) this.fault(`entry ${seq}: the key ${key ?? ''} of ${id} is another hold's`);
    this.keys.add(whose);
    this.holds.set(id, { lines, key: whose });
    for (const line of lines) this.sumOf(line.account).held += line.amount;
  }

  private takeResolution(entry: AuditedEntry, id: string): void {
    const hold = this.holds.get(id);
    if (hold === undefined) {
      this.fault(`entry ${entry.seq}: ${id} was never reserved or was resolved before`);
      return;
    }
    this.holds.delete(id);
    this.keys.delete(hold.key);
    for (const line of hold.lines) this.sumOf(line.account).held -= line.amount;
    for (const line of entry.lines) {
      const sum = this.sumOf(line.account);
      sum.spent += line.amount;
      sum.overrun += line.overrun;
    }
    for (const text of chargeFaults(entry, hold.lines)) this.fault(`entry ${entry.seq}: ${id} ${text}`);
  }

  compare(balance: AuditedBalance): void {
    const sum = this.sums.get(balance.key) ?? { spent: 0, held: 0, overrun: 0, granted: 0 };
    this.sums.delete(balance.key);
    for (const name of ['spent', 'held', 'overrun', 'granted'] as const) {
      if (sum[name] === balance[name]) continue;
      this.fault(`${balance.key}: ${name} is ${balance[name]}, its entries sum to ${sum[name]}`);
    }
    const broken = brokenRuleOf(balance.rolling ? { ...balance, limitMax: null } : balance);
    if (broken !== null) this.fault(broken);
  }

  /** Of an account that no balance was said of. */
  compareMissing(key: string, { spent, held, overrun, granted }: Sum): void {
    if (spent + held + overrun + granted > 0) this.fault(`${key}: entries, but no balance`);
  }

  private sumOf(key: string): Sum {
    const known = this.sums.get(key);
    if (known !== undefined) return known;
    const fresh = { spent: 0, held: 0, overrun: 0, granted: 0 };
    this.sums.set(key, fresh);
    return fresh;
  }
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
