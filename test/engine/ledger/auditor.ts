/**
 * A second ledger, written apart from the first: it knows the journal's words and plain sums, and nothing of how stores decide.
 * Every balance is added up anew from all entries, each time it is asked for.
 */
import type { LedgerEntry } from '../../../shared/contract/ledger.ts';

/** What a hold was asked with; the journal does not repeat it. */
export interface Asked {
  readonly atMs: number;
  readonly expiresAtMs: number;
  readonly owner: string;
  readonly lines: readonly {
    readonly key: string;
    readonly amount: number;
    readonly limit: number | null;
    readonly alertsPercent: readonly number[];
    readonly rolling: boolean;
  }[];
}

export interface Sums {
  readonly spent: number;
  readonly held: number;
  readonly overrun: number;
  readonly granted: number;
}

const CLOSING = ['settle', 'forfeit', 'void', 'expire'];

export class Auditor {
  /** What is wrong, in words. */
  readonly faults: string[] = [];
  private readonly read: LedgerEntry[] = [];
  private readonly asked = new Map<string, Asked>();
  /** Accounts as they were last reserved on. */
  private readonly last = new Map<string, Asked['lines'][number]>();
  private readonly largestLimit = new Map<string, number | null>();
  private readonly told = new Set<string>();
  private readonly closings = new Map<string, LedgerEntry>();

  /** To be called before the store is asked; the outcome is read from the journal. */
  ask(id: string, asked: Asked): void {
    this.asked.set(id, asked);
  }

  /** The journal so far, oldest first. Entries that were read before must be there unchanged. Answers the new ones. */
  readJournal(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
    const known = this.read.length;
    for (const [index, entry] of entries.entries()) {
      const before = this.read[index];
      if (before === undefined) this.take(entry);
      else if (JSON.stringify(before) !== JSON.stringify(entry)) this.fault(entry, 'was changed afterwards');
    }
    if (entries.length < this.read.length) this.faults.push('entries are gone');
    return entries.slice(known);
  }

  sums(key: string): Sums {
    let [spent, held, overrun, granted] = [0, 0, 0, 0];
    for (const { entry, line } of this.linesOf(key)) {
      if (entry.operation === 'grant') granted += line.amount;
      else if (entry.operation === 'reserve') held += this.isOpen(entry.reservationId) ? line.amount : 0;
      else {
        spent += line.amount;
        overrun += line.overrun;
      }
    }
    return { spent, held, overrun, granted };
  }

  /** The rolling minute at this time: of holds opened in one of the last 61 seconds (or later, where the clock went back). */
  minute(key: string, atMs: number): { readonly spent: number; readonly held: number } {
    let [spent, held] = [0, 0];
    for (const { entry, line } of this.linesOf(key)) {
      if (entry.operation === 'grant') continue;
      const openedSecond = Math.floor((this.asked.get(entry.reservationId ?? '')?.atMs ?? NaN) / 1_000);
      if (Math.floor(atMs / 1_000) - openedSecond >= 61) continue;
      if (entry.operation !== 'reserve') spent += line.amount;
      else if (this.isOpen(entry.reservationId)) held += line.amount;
    }
    return { spent, held };
  }

  /** Whether a line can be held now: the whole rule. */
  fits({ key, amount, limit, rolling }: Asked['lines'][number], atMs: number): boolean {
    if (limit === null) return true;
    const { spent, held } = rolling ? this.minute(key, atMs) : this.sums(key);
    return spent + held + amount <= limit + this.sums(key).granted;
  }

  open(): string[] {
    return this.read
      .filter((entry) => entry.operation === 'reserve' && this.isOpen(entry.reservationId))
      .map((entry) => entry.reservationId ?? '');
  }

  accounts(): string[] {
    return [...new Set(this.read.flatMap((entry) => entry.lines.map((line) => line.account)))];
  }

  /** Charged, or still held, of everything admitted on an account, with the time and the limit it was admitted under. */
  admissions(key: string): { readonly atMs: number; readonly limit: number | null; readonly amount: number }[] {
    return this.read
      .filter((entry) => entry.operation === 'reserve')
      .flatMap((entry) => {
        const asked = this.asked.get(entry.reservationId ?? '');
        const line = asked?.lines.find((one) => one.key === key);
        if (asked === undefined || line === undefined) return [];
        const charged = this.closing(entry.reservationId)?.lines.find((one) => one.account === key);
        return [{ atMs: asked.atMs, limit: line.limit, amount: charged?.amount ?? line.amount }];
      });
  }

  private take(entry: LedgerEntry): void {
    // Numbers are a tenant's own where tenants are kept apart.
    const previous = this.read.findLast((one) => one.tenant === entry.tenant);
    if (previous !== undefined && entry.seq <= previous.seq) this.fault(entry, `comes after ${previous.seq}`);
    if (entry.operation === 'reserve') this.takeHold(entry);
    else if (CLOSING.includes(entry.operation)) this.takeClosing(entry);
    else if (entry.operation === 'alert') this.takeAlert(entry);
    this.read.push(entry);
    for (const line of entry.lines) this.conserves(entry, line.account);
  }

  private takeHold(entry: LedgerEntry): void {
    const id = entry.reservationId ?? '';
    const asked = this.asked.get(id);
    if (asked === undefined) return this.fault(entry, `${id} was never asked for`);
    if (this.read.some((one) => one.operation === 'reserve' && one.reservationId === id)) {
      this.fault(entry, `${id} is held twice`);
    }
    const holder = this.holderOf(entry);
    if (holder !== null) this.fault(entry, `the key ${entry.key} is the one of ${holder}`);
    const shown = entry.lines.map((line) => [line.account, line.amount, line.overrun]).sort();
    const wanted = asked.lines.map((line) => [line.key, line.amount, 0]).sort();
    if (JSON.stringify(shown) !== JSON.stringify(wanted)) this.fault(entry, 'holds something else than was asked');
    for (const line of asked.lines) {
      if (!this.fits(line, asked.atMs)) this.fault(entry, `does not fit into ${line.key}`);
      this.last.set(line.key, line);
      const limit = line.limit === null ? null : line.limit + this.sums(line.key).granted;
      const before = this.largestLimit.get(line.key);
      this.largestLimit.set(line.key, before === null || limit === null ? null : Math.max(before ?? 0, limit));
    }
  }

  /** The reservation that a key belongs to: one that was not given back. */
  holderOf(whose: Pick<LedgerEntry, 'key' | 'book' | 'tenant'>): string | null {
    const found = this.read.filter(
      (one) =>
        one.operation === 'reserve' &&
        one.key === whose.key &&
        sameBook(one, whose) &&
        this.closing(one.reservationId)?.operation !== 'void',
    );
    return found.at(-1)?.reservationId ?? null;
  }

  private takeClosing(entry: LedgerEntry): void {
    const id = entry.reservationId ?? '';
    const hold = this.read.find((one) => one.operation === 'reserve' && one.reservationId === id);
    if (hold === undefined) return this.fault(entry, `${id} was never held`);
    if (this.closing(id) !== undefined) this.fault(entry, `${id} is resolved twice`);
    const accounts = (one: LedgerEntry): string => JSON.stringify(one.lines.map((line) => line.account).sort());
    if (accounts(hold) !== accounts(entry)) this.fault(entry, 'charges other accounts than it held');
    this.closings.set(id, entry);
    for (const line of entry.lines) {
      const reserved = hold.lines.find((one) => one.account === line.account)?.amount ?? 0;
      if (line.overrun !== Math.max(0, line.amount - reserved)) this.fault(entry, 'marks a wrong overrun');
      if (entry.operation === 'void' && line.amount !== 0) this.fault(entry, 'charges for nothing');
      if (['forfeit', 'expire'].includes(entry.operation) && line.amount !== reserved) {
        this.fault(entry, 'keeps something else than was reserved');
      }
    }
  }

  private takeAlert(entry: LedgerEntry): void {
    const line = entry.lines[0];
    const percent = Number.parseInt(entry.reason, 10);
    if (line === undefined || !(percent >= 1 && percent <= 100)) return this.fault(entry, 'alerts nothing');
    const id = `${line.account} ${percent}`;
    if (this.told.has(id)) this.fault(entry, `${id} % is told twice`);
    this.told.add(id);
    const { spent, granted } = this.sums(line.account);
    const limit = this.last.get(line.account)?.limit ?? null;
    if (line.amount !== spent) this.fault(entry, `tells ${line.amount}, used are ${spent}`);
    if (limit === null || spent * 100 < (limit + granted) * percent) this.fault(entry, 'is told too early');
  }

  /** Thresholds that were reached and not told, of the accounts of a resolution. */
  untold(keys: readonly string[]): string[] {
    return keys.flatMap((key) => {
      const line = this.last.get(key);
      if (line === undefined || line.limit === null || line.rolling) return [];
      const { spent, granted } = this.sums(key);
      const limit = line.limit + granted;
      return line.alertsPercent
        .filter((percent) => limit > 0 && spent * 100 >= limit * percent && !this.told.has(`${key} ${percent}`))
        .map((percent) => `${key} ${percent}`);
    });
  }

  /** limit + overrun >= spent + held, nothing below zero. */
  private conserves(entry: LedgerEntry, key: string): void {
    const { spent, held, overrun, granted } = this.sums(key);
    if ([spent, held, overrun, granted].some((sum) => !Number.isSafeInteger(sum) || sum < 0)) {
      this.fault(entry, `${key} has a sum that is none`);
    }
    const limit = this.largestLimit.get(key) ?? null;
    if (this.last.get(key)?.rolling !== true && limit !== null && spent + held > limit + overrun) {
      this.fault(entry, `${key}: ${spent} + ${held} > ${limit} + ${overrun}`);
    }
  }

  private linesOf(key: string): { entry: LedgerEntry; line: LedgerEntry['lines'][number] }[] {
    return this.read
      .filter((entry) => entry.operation !== 'alert')
      .flatMap((entry) => entry.lines.filter((line) => line.account === key).map((line) => ({ entry, line })));
  }

  private isOpen(id: string | null): boolean {
    return this.closing(id) === undefined;
  }

  private closing(id: string | null): LedgerEntry | undefined {
    return this.closings.get(id ?? '');
  }

  private fault(entry: LedgerEntry, text: string): void {
    this.faults.push(`${entry.seq} ${entry.operation}: ${text}`);
  }
}

const sameBook = (a: Whose, b: Whose): boolean => a.book === b.book && a.tenant === b.tenant;

type Whose = Pick<LedgerEntry, 'book' | 'tenant'>;
