/** One run of the properties: takes steps, and after each holds the store against a second ledger (auditor.ts). */
import { expect } from 'vitest';
import type { Result } from '../../../shared/contract/denials.ts';
import type { Book, LedgerEntry } from '../../../shared/contract/ledger.ts';
import type { LedgerStore, ReserveAnswer, ReserveAsk, ResolveAsk } from '../../../shared/engine/ledger/store.ts';
import { Auditor } from './auditor.ts';
import { kinds, lineFor, owners, reserveAsk, resolveAsk, tenants } from './ledger-world.ts';
import type { Who } from './ledger-world.ts';

export interface OpenStore {
  readonly store: LedgerStore;
  /** As after a crash: nothing was said to the store before. Left out where nothing would outlive it. */
  reopen?(): Promise<LedgerStore>;
  close(): Promise<void>;
}

export interface Ask {
  readonly who: Who;
  readonly mask: number;
  readonly limits: readonly (number | null)[];
  readonly tokens: number;
  readonly ttlMs: number;
  readonly owner: number;
}
export type Step =
  | { readonly kind: 'reserve'; readonly ask: Ask }
  | { readonly kind: 'burst'; readonly asks: readonly Ask[] }
  | { readonly kind: 'resolve'; readonly operation: Ending; readonly pick: number; readonly share: number }
  | {
      readonly kind: 'twice';
      readonly operations: readonly [Ending, Ending];
      readonly pick: number;
      readonly share: number;
    }
  | { readonly kind: 'again'; readonly operation: Ending; readonly pick: number }
  | { readonly kind: 'retry'; readonly pick: number }
  | { readonly kind: 'anew'; readonly pick: number }
  | { readonly kind: 'reuse'; readonly pick: number }
  | { readonly kind: 'expire'; readonly max: number }
  | { readonly kind: 'crash'; readonly owner: number }
  | {
      readonly kind: 'grant';
      readonly who: Who;
      readonly line: number;
      readonly amount: number;
      readonly limit: number;
    }
  | { readonly kind: 'advance'; readonly ms: number };
export type Ending = ResolveAsk['operation'];

const DAY_MS = 86_400_000;
/** Shortly before a midnight, a month's end and a year's end in one of the zones. */
const START_MS = Date.parse('2026-12-31T07:59:30.250Z');

/** A store, a second ledger for each book, and what was said to them. */
export class LedgerRun {
  private opened!: OpenStore;
  private store!: LedgerStore;
  private readonly auditors: Record<Book, Auditor> = { real: new Auditor(), simulated: new Auditor() };
  private readonly held: { ask: ReserveAsk; tokens: number }[] = [];
  private readonly closed = new Set<string>();
  private nowMs = START_MS;
  private ids = 0;

  private readonly overruns: boolean;
  private readonly count: (what: string) => void;

  constructor(overruns: boolean, count: (what: string) => void) {
    this.overruns = overruns;
    this.count = count;
  }

  async start(open: (clock: { nowMs(): number }) => Promise<OpenStore>): Promise<void> {
    this.opened = await open({ nowMs: () => this.nowMs });
    this.store = this.opened.store;
  }

  end(): Promise<void> {
    return this.opened.close();
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'advance') this.nowMs += step.ms;
    else if (step.kind === 'reserve') await this.reserve(step.ask);
    else if (step.kind === 'burst') await this.burst(step.asks);
    else if (step.kind === 'resolve') await this.resolve(step.operation, step.pick, step.share);
    else if (step.kind === 'twice') await this.resolveTwice(step.operations, step.pick, step.share);
    else if (step.kind === 'again') await this.resolveAgain(step.operation, step.pick);
    else if (step.kind === 'retry') await this.retry(step.pick);
    else if (step.kind === 'anew') await this.anew(step.pick);
    else if (step.kind === 'reuse') await this.reuse(step.pick);
    else if (step.kind === 'expire') await this.expire(step.max);
    else if (step.kind === 'crash') await this.crash(step.owner);
    else await this.grant(step);
    await this.check();
  }

  private reserveAskOf(ask: Ask, key?: string): ReserveAsk {
    const lines = kinds.flatMap((_kind, index) =>
      (ask.mask >> index) % 2 === 0 ? [] : [lineFor(ask.who, index, ask.tokens, ask.limits[index]!, this.nowMs)],
    );
    this.ids += 1;
    const made = reserveAsk(ask.who, lines, {
      id: `r${this.ids}`,
      key: key ?? `k${this.ids}`,
      atMs: this.nowMs,
      expiresAtMs: this.nowMs + ask.ttlMs,
      owner: owners[ask.owner]!,
    });
    this.auditors[made.book].ask(made.id, {
      ...made,
      lines: lines.map((line) => ({ ...line, rolling: line.account.window === 'minute' })),
    });
    return made;
  }

  private async reserve(asked: Ask): Promise<void> {
    const ask = this.reserveAskOf(asked);
    const auditor = this.auditors[ask.book];
    const refusals = ask.lines.flatMap((line, index) => {
      const rolling = line.account.window === 'minute';
      if (auditor.fits({ ...line, rolling }, ask.atMs)) return [];
      const { spent, held } = rolling ? auditor.minute(line.key, ask.atMs) : auditor.sums(line.key);
      const limit = (line.limit ?? 0) + auditor.sums(line.key).granted;
      return [{ index, limit, spent, held }];
    });
    const answer = value(await this.store.reserve(ask));
    this.note(ask, asked.tokens, answer);
    if (refusals.length === 0) {
      expect(answer).toMatchObject({
        outcome: 'reserved',
        repeated: false,
        reservation: { id: ask.id, state: 'open' },
      });
      return;
    }
    expect(answer).toMatchObject({ outcome: 'refused', refusals });
    if (answer.outcome !== 'refused') return;
    expect(answer.refusals).toHaveLength(refusals.length);
    for (const refusal of answer.refusals) this.checkWaiting(ask, refusal);
  }

  /** The times a refusal names: the first hold to expire, and the end of enough of a rolling minute. */
  private checkWaiting(
    ask: ReserveAsk,
    { index, earliestExpiryMs, freeAtMs }: { index: number; earliestExpiryMs: number | null; freeAtMs: number | null },
  ): void {
    const line = { ...ask.lines[index]!, rolling: ask.lines[index]!.account.window === 'minute' };
    const auditor = this.auditors[ask.book];
    const expiries = this.held
      .filter(
        (one) => this.isOpen(one.ask.id) && one.ask.lines.some(({ key, amount }) => key === line.key && amount > 0),
      )
      .map((one) => one.ask.expiresAtMs);
    expect(earliestExpiryMs).toBe(expiries.length === 0 ? null : Math.min(...expiries));
    if (!line.rolling) return expect(freeAtMs).toBeNull();
    if (freeAtMs === null) return expect(auditor.fits(line, ask.atMs + DAY_MS)).toBe(false);
    expect(auditor.fits(line, freeAtMs)).toBe(true);
    expect(auditor.fits(line, freeAtMs - 1)).toBe(false);
  }

  private async burst(asks: readonly Ask[]): Promise<void> {
    const made = asks.map((ask) => this.reserveAskOf(ask));
    // Every second hold is settled as soon as it stands, in between the others.
    await Promise.all(
      made.map(async (ask, index) => {
        const tokens = asks[index]!.tokens;
        const answer = value(await this.store.reserve(ask));
        this.note(ask, tokens, answer);
        if (answer.outcome !== 'reserved' || index % 2 === 0) return;
        value(await this.store.resolve(resolveAsk(ask, 'settle', Math.floor(tokens / 2), this.nowMs)));
        this.closed.add(ask.id);
      }),
    );
  }

  private note(ask: ReserveAsk, tokens: number, answer: ReserveAnswer): void {
    this.count(answer.outcome);
    if (answer.outcome === 'reserved' && !answer.repeated) this.held.push({ ask, tokens });
  }

  private isOpen = (id: string): boolean => !this.closed.has(id);

  private picked(which: 'open' | 'closed' | 'any', at: number): (typeof this.held)[number] | undefined {
    const found = this.held.filter(({ ask }) => which === 'any' || this.isOpen(ask.id) === (which === 'open'));
    return found[at % Math.max(1, found.length)];
  }

  private chargeOf(tokens: number, percent: number): number {
    return Math.floor((tokens * (this.overruns ? percent : Math.min(percent, 100))) / 100) + (this.overruns ? 1 : 0);
  }

  private async resolve(operation: Ending, at: number, percent: number): Promise<void> {
    const hold = this.picked('open', at);
    if (hold === undefined) {
      const unknown = { id: 'never', book: 'real', tenant: tenants[0] } as const;
      const answer = await this.store.resolve(resolveAsk(unknown, operation, 1, this.nowMs));
      expect(answer).toMatchObject({ ok: false, denial: { code: 'not-found' } });
      return;
    }
    const ask = resolveAsk(hold.ask, operation, this.chargeOf(hold.tokens, percent), this.nowMs);
    const before = await this.journal(ask.book);
    const answer = value(await this.store.resolve(ask));
    this.closed.add(ask.id);
    const states = { settle: 'settled', forfeit: 'forfeited', void: 'voided', expire: 'expired' };
    expect(answer).toMatchObject({ repeated: false, reservation: { id: ask.id, state: states[operation] } });
    const added = (await this.journal(ask.book)).slice(before.length);
    expect(added.map((entry) => entry.operation)).toEqual([operation, ...answer.crossed.map(() => 'alert')]);
    const alerted = added.slice(1).map((entry) => [entry.lines[0]?.account, Number.parseInt(entry.reason, 10)]);
    expect(alerted).toEqual(answer.crossed.map((crossing) => [crossing.key, crossing.percent]));
    await this.check();
    expect(this.auditors[ask.book].untold(hold.ask.lines.map((line) => line.key))).toEqual([]);
  }

  private async resolveTwice([first, second]: readonly [Ending, Ending], at: number, percent: number): Promise<void> {
    const hold = this.picked('open', at);
    if (hold === undefined) return;
    const tokens = this.chargeOf(hold.tokens, percent);
    const answers = await Promise.all([
      this.store.resolve(resolveAsk(hold.ask, first, tokens, this.nowMs)),
      this.store.resolve(resolveAsk(hold.ask, second, tokens, this.nowMs)),
    ]);
    this.closed.add(hold.ask.id);
    expect(answers.map((answer) => value(answer).repeated).sort()).toEqual([false, true]);
    expect(value(answers[0]).reservation).toEqual(value(answers[1]).reservation);
  }

  private async resolveAgain(operation: Ending, at: number): Promise<void> {
    const hold = this.picked('closed', at);
    if (hold === undefined) return;
    const before = await this.journal(hold.ask.book);
    const answer = value(await this.store.resolve(resolveAsk(hold.ask, operation, 5, this.nowMs)));
    expect(answer).toMatchObject({ repeated: true, crossed: [], reservation: { id: hold.ask.id } });
    expect(await this.journal(hold.ask.book)).toEqual(before);
  }

  /** The same call again, later and with an id of its own: one hold. */
  private async retry(at: number): Promise<void> {
    const hold = this.picked('any', at);
    if (hold === undefined) return;
    const auditor = this.auditors[hold.ask.book];
    const holder = auditor.holderOf(hold.ask);
    if (holder === null) return this.retryVoided(hold);
    // Of a key that was given back the holder is a later one, and so are its lines.
    if (holder !== hold.ask.id) return;
    this.ids += 1;
    const before = await this.journal(hold.ask.book);
    const again = { ...hold.ask, id: `r${this.ids}`, atMs: this.nowMs, lines: [...hold.ask.lines].reverse() };
    const answers = await Promise.all([this.store.reserve(again), this.store.reserve(again)]);
    this.count('retried');
    for (const answer of answers) {
      expect(value(answer)).toMatchObject({ outcome: 'reserved', repeated: true, reservation: { id: hold.ask.id } });
    }
    expect(await this.journal(hold.ask.book)).toEqual(before);
  }

  /** A server that was not there, and the same call once more. */
  private async anew(at: number): Promise<void> {
    const hold = this.picked('open', at);
    if (hold === undefined) return;
    await this.resolve('void', at, 0);
    await this.retryVoided(hold);
  }

  /** What was given back may come again under its key: anew, with what it needs now, and once. */
  private async retryVoided({ ask, tokens }: { ask: ReserveAsk; tokens: number }): Promise<void> {
    const made = [0, 1].map(() => {
      this.ids += 1;
      const again = { ...ask, id: `r${this.ids}`, atMs: this.nowMs, expiresAtMs: this.nowMs + 60_000 };
      this.auditors[ask.book].ask(again.id, {
        ...again,
        lines: ask.lines.map((line) => ({ ...line, rolling: line.account.window === 'minute' })),
      });
      return again;
    });
    const fits = ask.lines.every((line) =>
      this.auditors[ask.book].fits({ ...line, rolling: line.account.window === 'minute' }, this.nowMs),
    );
    const answers = await Promise.all(made.map((again) => this.store.reserve(again)));
    answers.forEach((answer, index) => this.note(made[index]!, tokens, value(answer)));
    if (!fits) return expect(value(answers[0]!).outcome).toBe('refused');
    this.count('retried anew');
    expect(answers.map(value)).toMatchObject([
      { repeated: false, reservation: { id: made[0]!.id, state: 'open' } },
      { repeated: true, reservation: { id: made[0]!.id } },
    ]);
  }

  /** Another call under a key that was used. */
  private async reuse(at: number): Promise<void> {
    const hold = this.picked('any', at);
    if (hold === undefined || this.auditors[hold.ask.book].holderOf(hold.ask) !== hold.ask.id) return;
    this.ids += 1;
    const lines = hold.ask.lines.map((line) => ({ ...line, amount: line.amount + 1 }));
    const answer = await this.store.reserve({ ...hold.ask, id: `r${this.ids}`, lines });
    expect(answer).toMatchObject({ ok: false, denial: { code: 'key-used', field: 'key' } });
  }

  private async expire(max: number): Promise<void> {
    for (const book of ['real', 'simulated'] as const) {
      const due = this.held
        .filter(({ ask }) => ask.book === book && this.isOpen(ask.id) && ask.expiresAtMs <= this.nowMs)
        .map(({ ask }) => ask.expiresAtMs)
        .sort((a, b) => a - b)
        .slice(0, max);
      const answers = value(await this.store.expire({ book, atMs: this.nowMs, max }));
      expect(answers.map((answer) => Date.parse(answer.reservation.expiresAt))).toEqual(due);
      for (const { reservation, repeated } of answers) {
        expect([reservation.state, repeated]).toEqual(['expired', false]);
        this.closed.add(reservation.id);
      }
    }
  }

  /** All of an owner's holds were open when it fell; by rule their work may have been done. */
  private async crash(at: number): Promise<void> {
    this.store = (await this.opened.reopen?.()) ?? this.store;
    for (const book of ['real', 'simulated'] as const) {
      const found = value(await this.store.reservations({ book, closed: 0 }));
      for (const { id, owner, detail } of found.filter((one) => one.owner === owners[at])) {
        value(await this.store.resolve(resolveAsk({ id, book, tenant: detail.tenant }, 'forfeit', 0, this.nowMs)));
        this.closed.add(id);
        this.count('crashed');
        expect(owner).toBe(owners[at]);
      }
    }
  }

  private async grant(step: Extract<Step, { kind: 'grant' }>): Promise<void> {
    const line = lineFor(step.who, step.line, 0, step.limit, this.nowMs);
    const before = this.auditors[step.who.book].sums(line.key).granted;
    const ask = { ...line, amount: step.amount, atMs: this.nowMs, owner: owners[0], reason: 'more' };
    const state = value(await this.store.grant(ask));
    expect([state.key, state.granted]).toEqual([line.key, before + step.amount]);
  }

  private async journal(book: Book): Promise<LedgerEntry[]> {
    const entries = value(await this.store.entries({ book, tenant: null, limit: 10_000 }));
    return [...entries].reverse();
  }

  private async check(): Promise<void> {
    let entries = 0;
    let accounts = 0;
    let openHolds = 0;
    for (const book of ['real', 'simulated'] as const) {
      const auditor = this.auditors[book];
      const journal = await this.journal(book);
      for (const entry of auditor.readJournal(journal)) {
        this.count(entry.operation);
        if (entry.lines.some((line) => line.overrun > 0)) this.count('overrun');
      }
      expect(auditor.faults).toEqual([]);
      const open = this.held.filter(({ ask }) => ask.book === book && this.isOpen(ask.id)).map(({ ask }) => ask.id);
      expect(auditor.open().sort()).toEqual(open.sort());
      const shown = value(await this.store.reservations({ book, closed: 5 }));
      expect(shown.flatMap((one) => (one.state === 'open' ? [one.id] : [])).sort()).toEqual(open);
      const keys = auditor.accounts();
      const states = value(await this.store.accounts({ book, keys, atMs: this.nowMs }));
      const said = states.map(({ key, spent, held, overrun, granted }) => ({ key, spent, held, overrun, granted }));
      expect(said).toEqual(
        keys.map((key) => ({
          key,
          ...auditor.sums(key),
          ...(key.includes(':minute:') ? auditor.minute(key, this.nowMs) : {}),
        })),
      );
      entries += journal.length;
      accounts += keys.length;
      openHolds += open.length;
    }
    expect(value(await this.store.audit(this.nowMs))).toMatchObject({
      sound: true,
      entries,
      accounts,
      openHolds,
      faults: [],
    });
  }

  /** Slides over all admissions: no minute that ends with one holds more than the limit it was admitted under. */
  checkRollingMinutes(): void {
    if (this.overruns) return;
    for (const auditor of Object.values(this.auditors)) {
      for (const key of auditor.accounts().filter((one) => one.includes(':minute:'))) {
        const admissions = auditor.admissions(key);
        const { granted } = auditor.sums(key);
        for (const [index, last] of admissions.entries()) {
          if (last.limit === null) continue;
          const span = admissions.slice(0, index + 1).filter((one) => one.atMs > last.atMs - 60_000);
          if (span.length > 1) this.count('rolling');
          expect(span.reduce((sum, one) => sum + one.amount, 0)).toBeLessThanOrEqual(last.limit + granted);
        }
      }
    }
  }
}

function value<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`${result.denial.code}: ${result.denial.message}`);
  return result.value;
}
