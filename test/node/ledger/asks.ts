/** Asks for the ledger's stores as tests put them: every value is overridable, periods come from the calendar. */
import type { Account, Book, ReservationDetail } from '../../../shared/contract/ledger.ts';
import { accountKey } from '../../../shared/contract/ledger.ts';
import type { BudgetScope, BudgetUnit, BudgetWindow } from '../../../shared/contract/plans.ts';
import { periodOf } from '../../../shared/engine/ledger/calendar.ts';
import type { GrantAsk, LedgerLine, ReserveAsk, ResolveAsk } from '../../../shared/engine/ledger/store.ts';

/** The golden trace's clock: 2026-11-14T22:44:02Z. */
export const START_MS = Date.UTC(2026, 10, 14, 22, 44, 2);
export const HOLD_MS = 120_000;

export interface LineAsk {
  readonly scope?: BudgetScope;
  readonly name?: string;
  readonly window?: BudgetWindow;
  readonly unit?: BudgetUnit;
  readonly amount?: number;
  readonly limit?: number | null;
  readonly alertsPercent?: readonly number[];
}

export interface Where {
  readonly book?: Book;
  readonly tenant?: string;
  readonly atMs?: number;
}

export function lineOf(ask: LineAsk = {}, where: Where = {}): LedgerLine {
  const { scope = 'user', name = 'ada', window = 'day', unit = 'tokens' } = ask;
  const { book = 'simulated', tenant = 'acme', atMs = START_MS } = where;
  const period = periodOf(window, atMs, { timeZone: 'UTC', resetHour: 0, weekStartsOn: 1 });
  const account: Account = { book, tenant, scope, name, window, period: period.key, unit };
  return {
    account,
    key: accountKey(account),
    amount: ask.amount ?? 2_434,
    limit: ask.limit === undefined ? 6_000 : ask.limit,
    alertsPercent: ask.alertsPercent ?? [80],
    startsAtMs: period.startsAtMs,
    endsAtMs: period.endsAtMs,
    timeZone: 'UTC',
  };
}

let lastId = 0;
const freshId = (): string => `r${(lastId += 1)}`;

export function detailOf(change: Partial<ReservationDetail> = {}): ReservationDetail {
  return {
    user: 'ada',
    tenant: 'acme',
    plan: 'assistant',
    model: 'llama3.2:3b',
    callId: null,
    inputTokens: 2_034,
    outputTokens: 400,
    sentTokensEstimated: null,
    strict: false,
    ...change,
  };
}

/** One user's day and the tenant's month, unless other lines are given. `clockMoved`: a store with a clock of its own takes atMs. */
export function reserveOf(
  lines: readonly LineAsk[] = goldenLines('ada'),
  change: Where & Partial<Omit<ReserveAsk, 'lines'>> = {},
): ReserveAsk {
  const id = change.id ?? freshId();
  const { book = 'simulated', tenant = 'acme', atMs = START_MS } = change;
  return {
    id,
    key: `key-${id}`,
    book,
    tenant,
    owner: 'home-1/start-1',
    atMs,
    expiresAtMs: atMs + HOLD_MS,
    lines: lines.map((line) => lineOf(line, { book, tenant, atMs })),
    detail: detailOf({ tenant }),
    clockMoved: true,
    ...change,
  };
}

export const goldenLines = (user: string, amount = 2_434): LineAsk[] => [
  { scope: 'user', name: user, window: 'day', amount, limit: 6_000 },
  { scope: 'tenant', name: 'acme', window: 'month', amount, limit: 9_000 },
];

/** Charges the tokens given, as reported by a server. */
export function settleOf(
  of: Pick<ReserveAsk, 'id' | 'book' | 'tenant'>,
  tokens: number,
  change: Partial<ResolveAsk> = {},
): ResolveAsk {
  return {
    id: of.id,
    book: of.book,
    tenant: of.tenant,
    operation: 'settle',
    atMs: START_MS + 1_000,
    charge: { tokens, 'nano-dollars': 0, requests: 1 },
    inputTokens: Math.max(0, tokens - 39),
    outputTokens: Math.min(39, tokens),
    source: 'reported',
    reason: '',
    ...change,
  };
}

export const forfeitOf = (
  of: Pick<ReserveAsk, 'id' | 'book' | 'tenant'>,
  change: Partial<ResolveAsk> = {},
): ResolveAsk =>
  settleOf(of, 0, {
    operation: 'forfeit',
    charge: null,
    inputTokens: 2_034,
    outputTokens: 400,
    source: 'reserved',
    reason: 'cancelled',
    ...change,
  });

export const voidOf = (of: Pick<ReserveAsk, 'id' | 'book' | 'tenant'>, change: Partial<ResolveAsk> = {}): ResolveAsk =>
  settleOf(of, 0, {
    operation: 'void',
    charge: { tokens: 0, 'nano-dollars': 0, requests: 0 },
    source: 'none',
    reason: 'no server',
    ...change,
  });

export function grantOf(amount: number, line: LedgerLine = lineOf(), change: Partial<GrantAsk> = {}): GrantAsk {
  const { account, key, limit, alertsPercent, startsAtMs, endsAtMs, timeZone } = line;
  return {
    account,
    key,
    amount,
    limit,
    alertsPercent,
    startsAtMs,
    endsAtMs,
    timeZone,
    atMs: START_MS,
    owner: 'home-1/start-1',
    reason: 'for the workshop',
    ...change,
  };
}
