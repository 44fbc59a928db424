/**
 * The ledger: reserve the worst case before a call, settle what was used after it. Decides nothing about storage (store.ts)
 * and nothing about what a call used (settlement.ts); knows plans, periods, refusals and alerts.
 */
import type { PriceSet, PriceSetName } from '../../contract/costs.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import {
  type Audit,
  type Balance,
  type Book,
  type ChargeSource,
  type LedgerView,
  type RefusalLine,
  type Reservation,
  type ReservationDetail,
  searchWords,
} from '../../contract/ledger.ts';
import { AMOUNT_MAX } from '../../contract/plans.ts';
import type { BudgetScope, BudgetUnit, BudgetWindow, Directory, Payer } from '../../contract/plans.ts';
import type { EventSink } from '../ports.ts';
import { alertOfEntry, alertsOf } from './alerts.ts';
import { balanceOf } from './balances.ts';
import { isoOf } from './calendar.ts';
import { type Policy, amountsOf, budgetsFor, lineOf, modelName, policyOf } from './lines.ts';
import { budgetDenial } from './refusals.ts';
import type { LedgerLine, LedgerStore, ReserveAsk, ResolveAnswer, ResolveAsk } from './store.ts';
import { untouchedBalances } from './untouched.ts';

export interface LedgerPorts {
  readonly store: LedgerStore;
  directory(): Directory;
  prices(name: PriceSetName): PriceSet | null;
  /** Ids of reservations. */
  newId(): string;
  /** `<console>/<start>`: holds of an owner that is gone are found by it. */
  readonly owner: string;
  /** How far the clock of the simulated book was moved. */
  clockOffsetMs(): number;
  readonly events: EventSink;
}

export interface ReservationAsk {
  readonly key: string;
  readonly book: Book;
  readonly payer: Payer;
  readonly model: string;
  readonly experiment: string | null;
  readonly callId: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly sentTokensEstimated: number | null;
  /** How long the call may take; the hold expires some time after it. */
  readonly wallClockMs: number;
  readonly strict: boolean;
}

export interface Held {
  readonly reservation: Reservation;
  readonly payer: Payer;
  readonly prices: PriceSet | null;
  /** The key was used before: this hold belongs to an earlier call, which was sent or is being sent. */
  readonly repeated: boolean;
}

export interface Settlement {
  readonly operation: 'settle' | 'forfeit' | 'void';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly source: ChargeSource;
  readonly reason: string;
}

export interface Ledger {
  readonly store: LedgerStore;
  policyOf(payer: Payer): Policy;
  nowMs(book: Book): number;
  /** Every scope or none. Denied with the most important refusal, its figures and the time after which a retry can pass. */
  reserve(ask: ReservationAsk): Promise<Result<Held>>;
  /** null: the store did not take it now; it is tried again by `tend`, and the hold stands until then. */
  resolve(held: Pick<Held, 'reservation' | 'prices'>, settlement: Settlement): Promise<Reservation | null>;
  /** A call that was refused by a limit of its own, before any balance: counted and told like the others. */
  countRefusal(ask: Pick<ReservationAsk, 'book' | 'payer' | 'model'>, denial: Denial): void;
  grant(ask: GrantRequest): Promise<Result<Balance>>;
  /** search: of all accounts whose period goes on those that have its words, in place of the ones touched last. */
  view(book: Book, search?: string): Promise<Result<Omit<LedgerView, 'state'>>>;
  audit(): Promise<Result<Audit>>;
  /** Open holds that this console left behind when it ended last: forfeited by rule. Answers what they were. */
  recover(isOwn: (owner: string) => boolean): Promise<Result<readonly Reservation[]>>;
  /** To be called about once a second: expires holds whose time is over, and retries settlements that the store did not take. */
  tend(): Promise<void>;
}

export interface GrantRequest {
  readonly book: Book;
  readonly tenant: string;
  readonly scope: BudgetScope;
  readonly name: string;
  readonly window: BudgetWindow;
  readonly unit: BudgetUnit;
  readonly amount: number;
  readonly reason: string;
}

/** A hold outlives its call by this much, so that a call that ends at its limit still settles itself. */
export const HOLD_GRACE_MS = 60_000;
/** A month; a longer time limit is as good as none, and no calendar has all of them. */
const HOLD_MS_MAX = 31 * 86_400_000;
const CLOCK_TRIES_MAX = 3;
const PENDING_MAX = 10_000;
const EXPIRED_AT_ONCE_MAX = 200;
const REFUSAL_LINES_MAX = 200;
const VIEW_ACCOUNTS_MAX = 500;
const VIEW_CLOSED_MAX = 100;
const VIEW_ALERTS_MAX = 50;

export function createLedger(ports: LedgerPorts): Ledger {
  const { store, events } = ports;
  const refusals = new Map<string, RefusalLine>();
  const pending = new Map<string, { readonly ask: ResolveAsk; readonly detail: ReservationDetail }>();

  const nowMs = (book: Book): number => store.nowMs() + (book === 'simulated' ? ports.clockOffsetMs() : 0);
  const balances = (accounts: Parameters<typeof balanceOf>[0][]): Balance[] =>
    accounts.map((state) => balanceOf(state, ports.directory()));

  async function reserve(ask: ReservationAsk): Promise<Result<Held>> {
    const { plan, tenantPlan } = policyOf(ports.directory(), ask.payer);
    // A user's plan without prices does not spend a tenant's money for nothing.
    const priced = plan.prices === null ? tenantPlan : plan;
    const prices = priced.prices === null ? null : ports.prices(priced.prices);
    if (priced.prices !== null && prices === null) {
      return denied('bad-input', `The plan ${priced.name} charges by prices that are gone: ${priced.prices.name}.`, {
        field: 'prices',
        next: 'Choose other prices in the plan.',
      });
    }
    const amounts = amountsOf(ask.inputTokens, ask.outputTokens, prices);
    const fault = Object.entries(amounts).find(([, amount]) => !Number.isSafeInteger(amount) || amount > AMOUNT_MAX);
    if (fault !== undefined)
      return denied('bad-input', `So many ${fault[0]} cannot be reserved.`, { field: 'numPredict' });
    const budgets = budgetsFor({ plan, tenantPlan }, ask);
    let atMs = nowMs(ask.book);
    for (let tries = 0; tries < CLOCK_TRIES_MAX; tries += 1) {
      const lines = budgets.map((one) => lineOf(one, { book: ask.book, tenant: ask.payer.tenant, atMs, amounts }));
      const asked = reserveAsk(ask, plan.name, lines, atMs);
      const answer = await store.reserve(asked);
      if (!answer.ok) {
        if (answer.denial.code === 'ledger-unavailable') giveBack(asked);
        return answer;
      }
      if (answer.value.outcome === 'clock-moved') {
        atMs = answer.value.nowMs;
        continue;
      }
      if (answer.value.outcome === 'refused') {
        const denial = budgetDenial({ refusals: answer.value.refusals, lines, budgets, nowMs: atMs });
        tellRefusal(ask, denial, balances([...answer.value.accounts]));
        return { ok: false, denial };
      }
      const { reservation, repeated, accounts } = answer.value;
      if (!repeated) events.emit({ type: 'reservation-opened', reservation, balances: balances([...accounts]) });
      return ok({ reservation, payer: ask.payer, prices, repeated });
    }
    return denied('ledger-unavailable', 'The clock of the ledger moved while this was reserved.', {
      next: 'Try again.',
    });
  }

  function reserveAsk(ask: ReservationAsk, plan: string, lines: readonly LedgerLine[], atMs: number): ReserveAsk {
    return {
      id: ports.newId(),
      key: ask.key,
      book: ask.book,
      tenant: ask.payer.tenant,
      owner: ports.owner,
      atMs,
      expiresAtMs: atMs + Math.min(ask.wallClockMs, HOLD_MS_MAX) + HOLD_GRACE_MS,
      lines,
      detail: {
        user: ask.payer.user,
        tenant: ask.payer.tenant,
        plan,
        model: ask.model,
        callId: ask.callId,
        inputTokens: ask.inputTokens,
        outputTokens: ask.outputTokens,
        sentTokensEstimated: ask.sentTokensEstimated,
        strict: ask.strict,
      },
      clockMoved: ask.book === 'simulated' && ports.clockOffsetMs() !== 0,
    };
  }

  function tellRefusal(
    { book, payer, model }: Pick<ReservationAsk, 'book' | 'payer' | 'model'>,
    denial: Denial,
    touched: Balance[],
  ): void {
    const account = denial.budget?.account;
    const id = JSON.stringify([book, denial.code, payer.tenant, payer.user, account?.name ?? model]);
    const at = isoOf(nowMs(book));
    const before = refusals.get(id);
    const line: RefusalLine = {
      id,
      code: denial.code,
      tenant: payer.tenant,
      user: payer.user,
      model,
      count: (before?.count ?? 0) + 1,
      firstAt: before?.firstAt ?? at,
      lastAt: at,
      message: denial.message,
      refusal: denial.budget ?? null,
    };
    refusals.delete(id);
    refusals.set(id, line);
    for (const old of refusals.keys()) {
      if (refusals.size <= REFUSAL_LINES_MAX) break;
      refusals.delete(old);
    }
    events.emit({ type: 'reservation-refused', line, balances: touched });
  }

  async function resolve(
    { reservation, prices }: Pick<Held, 'reservation' | 'prices'>,
    settlement: Settlement,
  ): Promise<Reservation | null> {
    const amounts = amountsOf(settlement.inputTokens, settlement.outputTokens, prices);
    const ask: ResolveAsk = {
      id: reservation.id,
      book: reservation.book,
      tenant: reservation.detail.tenant,
      atMs: nowMs(reservation.book),
      ...settlement,
      charge:
        settlement.operation === 'forfeit'
          ? null
          : settlement.operation === 'void'
            ? { tokens: 0, 'nano-dollars': 0, requests: 0 }
            : amounts,
    };
    return finish(ask, reservation.detail);
  }

  /** A store that did not answer may have made the hold all the same; its call does not leave, so it is voided when it is back. */
  function giveBack({ id, book, tenant, atMs, detail }: ReserveAsk): void {
    if (pending.size >= PENDING_MAX) return;
    const reason = 'the ledger did not answer, so it was never sent';
    const charge = { tokens: 0, 'nano-dollars': 0, requests: 0 };
    const none = { charge, inputTokens: 0, outputTokens: 0, source: 'none' } as const;
    pending.set(id, { ask: { id, book, tenant, operation: 'void', atMs, ...none, reason }, detail });
  }

  /** Nothing is lost when the store is away: the settlement waits here, and after a crash the hold is found and forfeited. */
  async function finish(ask: ResolveAsk, detail: ReservationDetail): Promise<Reservation | null> {
    const answer = await store.resolve(ask);
    if (answer.ok) {
      // Taken before, but the answer was lost: nobody has been told yet.
      if (pending.has(ask.id) || !answer.value.repeated) told(answer.value);
      return answer.value.reservation;
    }
    if (answer.denial.code === 'not-found') {
      pending.delete(ask.id);
      return null;
    }
    // A count beyond all amounts will never be taken: the whole reservation stays instead, so that the hold comes to an end.
    if (answer.denial.code === 'bad-input' && ask.operation === 'settle') return finish(keptWhole(ask, detail), detail);
    if (pending.size < PENDING_MAX) pending.set(ask.id, { ask, detail });
    return null;
  }

  function told({ reservation, accounts, crossed }: ResolveAnswer): void {
    pending.delete(reservation.id);
    events.emit({ type: 'reservation-closed', reservation, balances: balances([...accounts]) });
    const at = reservation.closedAt ?? isoOf(nowMs(reservation.book));
    for (const alert of alertsOf(crossed, at)) events.emit({ type: 'budget-alerted', alert });
  }

  async function forfeitOpen(book: Book, isOwn: (owner: string) => boolean): Promise<Result<Reservation[]>> {
    const found = await store.reservations({ book, closed: 0 });
    if (!found.ok) return found;
    const forfeited: Reservation[] = [];
    for (const reservation of found.value.filter((one) => one.state === 'open' && isOwn(one.owner))) {
      const { inputTokens, outputTokens } = reservation.detail;
      const closed = await finish(
        {
          id: reservation.id,
          book,
          tenant: reservation.detail.tenant,
          operation: 'forfeit',
          atMs: nowMs(book),
          charge: null,
          inputTokens,
          outputTokens,
          source: 'reserved',
          reason: 'the console ended before the call did',
        },
        reservation.detail,
      );
      if (closed !== null) forfeited.push(closed);
    }
    return ok(forfeited);
  }

  /** Those that nobody has called on yet. A full view does not have all that were called on: of these the store is asked. */
  async function others(
    book: Book,
    atMs: number,
    words: readonly string[],
    touched: readonly Balance[],
  ): Promise<Result<readonly Balance[]>> {
    const directory = ports.directory();
    const known = new Set(touched.map(({ key }) => key));
    const free = untouchedBalances({ directory, book, atMs, words, known });
    if (touched.length < VIEW_ACCOUNTS_MAX || free.length === 0) return ok(free);
    const standing = await store.accounts({ book, keys: free.map(({ key }) => key), atMs });
    if (!standing.ok) return standing;
    const states = new Map(standing.value.map((state) => [state.key, state]));
    return ok(
      free.map((balance) => {
        const state = states.get(balance.key);
        return state === undefined ? balance : balanceOf(state, directory);
      }),
    );
  }

  return {
    store,
    policyOf: (payer) => policyOf(ports.directory(), payer),
    nowMs,
    reserve,
    resolve,
    countRefusal: (ask, denial) => tellRefusal(ask, denial, []),
    async grant(ask) {
      const directory = ports.directory();
      const payer = { tenant: ask.tenant, user: ask.scope === 'user' ? ask.name : '' };
      const { plan, tenantPlan } = policyOf(directory, payer);
      const own = ask.scope === 'tenant' || ask.scope === 'model' ? tenantPlan : plan;
      const budget = own.budgets.find(
        ({ scope, window, unit }) => scope === ask.scope && window === ask.window && unit === ask.unit,
      );
      if (budget === undefined || budget.limit === null) {
        return denied('bad-input', `The plan ${own.name} has no limit for that ${ask.scope} and ${ask.window}.`, {
          field: 'window',
          next: 'There is nothing to grant where there is no limit.',
        });
      }
      const atMs = nowMs(ask.book);
      const zero = { tokens: 0, 'nano-dollars': 0, requests: 0 };
      const line = lineOf(
        { budget, plan: own, name: ask.scope === 'model' ? modelName(ask.name) : ask.name },
        { book: ask.book, tenant: ask.tenant, atMs, amounts: zero },
      );
      const granted = await store.grant({ ...line, amount: ask.amount, atMs, owner: ports.owner, reason: ask.reason });
      if (!granted.ok) return granted;
      const balance = balanceOf(granted.value, directory);
      return ok(balance);
    },
    async view(book, search = '') {
      const atMs = nowMs(book);
      const words = searchWords(search);
      const [accounts, reservations, alerts] = await Promise.all([
        store.current({ book, atMs, limit: VIEW_ACCOUNTS_MAX, words }),
        store.reservations({ book, closed: VIEW_CLOSED_MAX }),
        store.entries({ book, operations: ['alert'], limit: VIEW_ALERTS_MAX }),
      ]);
      if (!accounts.ok) return accounts;
      if (!reservations.ok) return reservations;
      if (!alerts.ok) return alerts;
      const touched = balances([...accounts.value]);
      const free = await others(book, atMs, words, touched);
      if (!free.ok) return free;
      return ok({
        balances: [...touched, ...free.value],
        reservations: [...reservations.value],
        refusals: [...refusals.values()].filter((line) => line.id.startsWith(`["${book}"`)).reverse(),
        alerts: alerts.value.flatMap((entry) => alertOfEntry(entry) ?? []),
      });
    },
    audit: () => store.audit(store.nowMs()),
    async recover(isOwn) {
      const all: Reservation[] = [];
      for (const book of ['real', 'simulated'] as const) {
        const forfeited = await forfeitOpen(book, isOwn);
        if (!forfeited.ok) return forfeited;
        all.push(...forfeited.value);
      }
      return ok(all);
    },
    async tend() {
      for (const { ask, detail } of [...pending.values()].slice(0, EXPIRED_AT_ONCE_MAX)) await finish(ask, detail);
      for (const book of ['real', 'simulated'] as const) {
        const expired = await store.expire({ book, atMs: nowMs(book), max: EXPIRED_AT_ONCE_MAX });
        if (expired.ok) for (const answer of expired.value) told(answer);
      }
    },
  };
}

function keptWhole(ask: ResolveAsk, { inputTokens, outputTokens }: ReservationDetail): ResolveAsk {
  const reason = 'what the server counted cannot be charged';
  return { ...ask, operation: 'forfeit', charge: null, inputTokens, outputTokens, source: 'reserved', reason };
}
