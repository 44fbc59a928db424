/**
 * What a screen knows of the ledger: a view that was asked for, kept up by events until the next one. Pure: the same state,
 * events and clock reading give the same result. Every list has a bound; the least recent goes first.
 */
import type { Denial } from '../../shared/contract/denials.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';
import { accountKey } from '../../shared/contract/ledger.ts';
import type {
  Balance,
  BudgetAlert,
  LedgerState,
  LedgerView,
  RefusalLine,
  Reservation,
} from '../../shared/contract/ledger.ts';

export interface LedgerSlice {
  /** null until the ledger was asked once. */
  readonly state: LedgerState | null;
  /** Clock of this screen when `state` came; the ledger's own time goes on from there. */
  readonly stateAtMs: number;
  /** A view has arrived; before, what is not here is not known. */
  readonly loaded: boolean;
  /** Why the last view was refused; null when it came. */
  readonly denial: Denial | null;
  /** How often a view was wanted: the store, a limit or the connection changed. */
  readonly viewsWanted: number;
  /** `viewsWanted` as it was when the view that is here was asked for; less = it is to be asked for again. */
  readonly viewHeld: number;
  /** By account key; the most recently touched last. */
  readonly balances: ReadonlyMap<string, Balance>;
  /** By id; the youngest last. */
  readonly reservations: ReadonlyMap<string, Reservation>;
  /** By id; the newest last. */
  readonly refusals: ReadonlyMap<string, RefusalLine>;
  /** Newest first. */
  readonly alerts: readonly BudgetAlert[];
  /** For the dot in the rail: how many refusals and alerts this screen was told of. */
  readonly newsCount: number;
  /** Rises with every operation, so that the journal knows when to look again. */
  readonly operations: number;
}

export const BALANCES_MAX = 3_000;
export const RESERVATIONS_MAX = 1_000;
export const REFUSALS_MAX = 300;
export const ALERTS_MAX = 200;

export const emptyLedger: LedgerSlice = {
  state: null,
  stateAtMs: 0,
  loaded: false,
  denial: null,
  viewsWanted: 1,
  viewHeld: 0,
  balances: new Map(),
  reservations: new Map(),
  refusals: new Map(),
  alerts: [],
  newsCount: 0,
  operations: 0,
};

/** All events of a frame at once, so that maps are copied once. Others than the ledger's leave it as it is. */
export function applyLedgerEvents(ledger: LedgerSlice, events: readonly EngineEvent[], nowMs: number): LedgerSlice {
  if (!events.some((event) => isOfLedger(event))) return ledger;
  const draft = draftOf(ledger);
  for (const event of events) applyOne(draft, event, nowMs);
  return draft.done();
}

/**
 * A view that was asked for when the slice stood at `asked`. What events changed meanwhile is younger than the answer and
 * stays; a hold that was closed never opens again.
 */
export function applyLedgerView(ledger: LedgerSlice, view: LedgerView, asked: LedgerSlice, nowMs: number): LedgerSlice {
  const { book } = view.state;
  const balances = new Map([...view.balances].reverse().map((balance) => [balance.key, balance]));
  for (const [key, balance] of changedSince(ledger.balances, asked.balances)) {
    if (balance.account.book === book) moveLast(balances, key, balance, BALANCES_MAX);
  }
  const reservations = new Map([...view.reservations].reverse().map((one) => [one.id, one]));
  for (const [id, one] of changedSince(ledger.reservations, asked.reservations)) {
    if (one.book === book) putHold(reservations, id, one);
  }
  for (const [id, one] of reservations) {
    const here = ledger.reservations.get(id);
    if (one.state === 'open' && here !== undefined && here.state !== 'open') reservations.set(id, here);
  }
  const refusals = new Map([...view.refusals].sort(byLastAt).map((line) => [line.id, line]));
  for (const [id, line] of changedSince(ledger.refusals, asked.refusals)) moveLast(refusals, id, line, REFUSALS_MAX);
  const fresh = ledger.alerts.filter((alert) => !asked.alerts.includes(alert) && alert.account.book === book);
  const known = new Set(view.alerts.map(alertId));
  return {
    ...ledger,
    state: view.state,
    stateAtMs: nowMs,
    loaded: true,
    denial: null,
    viewHeld: asked.viewsWanted,
    balances: bounded(balances, BALANCES_MAX),
    reservations: boundedHolds(reservations),
    refusals: bounded(refusals, REFUSALS_MAX),
    alerts: [...fresh.filter((alert) => !known.has(alertId(alert))), ...[...view.alerts].sort(byAtDown)].slice(
      0,
      ALERTS_MAX,
    ),
  };
}

/** After a gap in the frames. */
export const wantView = (ledger: LedgerSlice): LedgerSlice => ({ ...ledger, viewsWanted: ledger.viewsWanted + 1 });

export const isViewWanted = ({ viewsWanted, viewHeld }: LedgerSlice): boolean => viewsWanted > viewHeld;

/** A balance that a request answered, such as that of a grant. */
export function applyBalance(ledger: LedgerSlice, balance: Balance): LedgerSlice {
  const balances = new Map(ledger.balances);
  moveLast(balances, balance.key, balance, BALANCES_MAX);
  return { ...ledger, balances, operations: ledger.operations + 1 };
}

/** What time it is in the ledger, in milliseconds since 1970: its own clock, carried on. null until it is known. */
export function ledgerNowMs(
  { state, stateAtMs }: Pick<LedgerSlice, 'state' | 'stateAtMs'>,
  nowMs: number,
): number | null {
  return state === null ? null : Date.parse(state.now) + Math.max(0, nowMs - stateAtMs);
}

/** Tokens held now, over open holds: each is counted once, however many accounts it lies on. */
export function heldTokens(reservations: Iterable<Reservation>): number {
  let sum = 0;
  for (const { state, detail } of reservations) if (state === 'open') sum += detail.inputTokens + detail.outputTokens;
  return sum;
}

interface Draft {
  slice: LedgerSlice;
  balance(balance: Balance): void;
  hold(reservation: Reservation): void;
  refusal(line: RefusalLine): void;
  raise(alert: BudgetAlert): void;
  done(): LedgerSlice;
}

function draftOf(before: LedgerSlice): Draft {
  let balances: Map<string, Balance> | null = null;
  let reservations: Map<string, Reservation> | null = null;
  let refusals: Map<string, RefusalLine> | null = null;
  const draft: Draft = {
    slice: before,
    balance: (balance) => moveLast((balances ??= new Map(before.balances)), balance.key, balance, BALANCES_MAX),
    hold: (reservation) => putHold((reservations ??= new Map(before.reservations)), reservation.id, reservation),
    refusal: (line) => moveLast((refusals ??= new Map(before.refusals)), line.id, line, REFUSALS_MAX),
    raise: ({ account, percent }) => {
      const key = accountKey(account);
      const balance = (balances ?? before.balances).get(key);
      // In its place: an alert follows from an operation that has moved the account already.
      if (balance !== undefined) (balances ??= new Map(before.balances)).set(key, withRaised(balance, percent));
    },
    done: () => ({
      ...draft.slice,
      balances: balances ?? before.balances,
      reservations: reservations === null ? before.reservations : boundedHolds(reservations),
      refusals: refusals ?? before.refusals,
    }),
  };
  return draft;
}

function applyOne(draft: Draft, event: EngineEvent, nowMs: number): void {
  const { slice } = draft;
  const mine = (book: string): boolean => slice.state === null || slice.state.book === book;
  switch (event.type) {
    case 'reservation-opened':
    case 'reservation-closed':
      draft.slice = { ...slice, operations: slice.operations + 1 };
      if (!mine(event.reservation.book)) return;
      draft.hold(event.reservation);
      return event.balances.forEach(draft.balance);
    case 'reservation-refused':
      draft.slice = { ...slice, newsCount: slice.newsCount + 1, operations: slice.operations + 1 };
      if (event.line.refusal !== null && !mine(event.line.refusal.account.book)) return;
      draft.refusal(event.line);
      return event.balances.filter(({ account }) => mine(account.book)).forEach(draft.balance);
    case 'budget-alerted':
      draft.slice = {
        ...slice,
        newsCount: slice.newsCount + 1,
        operations: slice.operations + 1,
        alerts: mine(event.alert.account.book) ? [event.alert, ...slice.alerts].slice(0, ALERTS_MAX) : slice.alerts,
      };
      return draft.raise(event.alert);
    case 'ledger-changed':
      draft.slice = {
        ...slice,
        viewsWanted: slice.viewsWanted + 1,
        operations: slice.operations + 1,
        // Of the other book: the server in use decides, and the next view says which one it is.
        ...(mine(event.state.book) ? { state: event.state, stateAtMs: nowMs } : {}),
      };
      return;
    case 'server-changed':
      // A simulator has a book of its own.
      if (slice.state !== null && (event.status.kind === 'simulator') !== (slice.state.book === 'simulated'))
        draft.slice = wantView(slice);
      return;
    default:
      return;
  }
}

const ledgerEvents: readonly EngineEvent['type'][] = [
  'reservation-opened',
  'reservation-closed',
  'reservation-refused',
  'budget-alerted',
  'ledger-changed',
  'server-changed',
];
const isOfLedger = (event: EngineEvent): boolean => ledgerEvents.includes(event.type);

function withRaised(balance: Balance, percent: number): Balance {
  return {
    ...balance,
    alerts: balance.alerts.map((alert) => (alert.percent === percent ? { ...alert, raised: true } : alert)),
  };
}

/** Opening comes before closing: an event that arrives late never opens a hold again, and its place stays. */
function putHold(holds: Map<string, Reservation>, id: string, reservation: Reservation): void {
  const here = holds.get(id);
  if (here !== undefined && here.state !== 'open' && reservation.state === 'open') return;
  holds.set(id, reservation);
}

/** Closed ones go first: what is open holds something. */
function boundedHolds(holds: Map<string, Reservation>): Map<string, Reservation> {
  let over = holds.size - RESERVATIONS_MAX;
  if (over <= 0) return holds;
  for (const [id, { state }] of holds) {
    if (over <= 0) return holds;
    if (state === 'open') continue;
    holds.delete(id);
    over -= 1;
  }
  return bounded(holds, RESERVATIONS_MAX);
}

function moveLast<Value>(map: Map<string, Value>, key: string, value: Value, entriesMax: number): void {
  map.delete(key);
  map.set(key, value);
  bounded(map, entriesMax);
}

function bounded<Value>(map: Map<string, Value>, entriesMax: number): Map<string, Value> {
  for (const key of map.keys()) {
    if (map.size <= entriesMax) break;
    map.delete(key);
  }
  return map;
}

function changedSince<Value>(now: ReadonlyMap<string, Value>, before: ReadonlyMap<string, Value>): [string, Value][] {
  return now === before ? [] : [...now].filter(([key, value]) => before.get(key) !== value);
}

const alertId = ({ account, percent }: BudgetAlert): string => `${accountKey(account)} ${percent}`;
const byLastAt = (a: RefusalLine, b: RefusalLine): number => (a.lastAt < b.lastAt ? -1 : a.lastAt > b.lastAt ? 1 : 0);
const byAtDown = (a: BudgetAlert, b: BudgetAlert): number => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0);
