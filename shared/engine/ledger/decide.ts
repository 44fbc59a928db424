/**
 * The law of the ledger, without storage: whether lines fit, what a resolution charges, which thresholds it crosses, and what
 * must hold of an account afterwards. Memory and SQLite run it as it stands; the Redis script says the same in Lua.
 */
import type { Resolution } from '../../contract/ledger.ts';
import { AMOUNT_MAX } from '../../contract/plans.ts';
import type { BudgetUnit } from '../../contract/plans.ts';
import { must } from '../must.ts';
import type { AccountState, Crossing, LedgerLine, LineRefusal, ResolveAsk } from './store.ts';

/** Seconds that a rolling minute looks back: one more than 60, since a step of a second is counted while any of it is inside. */
export const ROLLING_SECONDS = 61;

/** What the check needs of an account; `buckets` for the rolling minute: second -> spent and held of what was opened in it. */
export interface Standing {
  readonly granted: number;
  readonly spent: number;
  readonly held: number;
  readonly earliestExpiryMs: number | null;
  readonly buckets?: readonly Bucket[];
}

export interface Bucket {
  readonly second: number;
  readonly spent: number;
  readonly held: number;
}

/** null = it fits. Where there is no limit, what is spent and held together still stays an amount. */
export function refusalOf(line: LedgerLine, index: number, standing: Standing): LineRefusal | null {
  const limit = line.limit === null ? AMOUNT_MAX : Math.min(AMOUNT_MAX, line.limit + standing.granted);
  const { spent, held } = standing;
  if (spent + held + line.amount <= limit) return null;
  return {
    index,
    limit,
    spent,
    held,
    earliestExpiryMs: standing.earliestExpiryMs,
    freeAtMs: standing.buckets === undefined ? null : freeAt(line.amount, limit, spent + held, standing.buckets),
  };
}

/** When so much of the rolling minute has passed that the amount fits; null where it never does. */
function freeAt(amount: number, limit: number, used: number, buckets: readonly Bucket[]): number | null {
  let left = used;
  for (const bucket of [...buckets].sort((a, b) => a.second - b.second)) {
    left -= bucket.spent + bucket.held;
    if (left + amount <= limit) return (bucket.second + ROLLING_SECONDS) * 1_000;
  }
  return null;
}

export const secondOf = (atMs: number): number => Math.floor(atMs / 1_000);
/** The first second that still counts at this time. */
export const rollingFrom = (atMs: number): number => secondOf(atMs) - ROLLING_SECONDS + 1;

export interface LineCharge {
  readonly amount: number;
  readonly overrun: number;
}

/** What a resolution charges on a line that held `amount`. Nothing is ever charged below zero or twice. */
export function chargeOf(line: { readonly unit: BudgetUnit; readonly amount: number }, ask: ResolveAsk): LineCharge {
  const amount = ask.charge === null ? line.amount : ask.charge[line.unit];
  must(Number.isSafeInteger(amount) && amount >= 0 && amount <= AMOUNT_MAX, 'a charge is a whole amount');
  return { amount, overrun: Math.max(0, amount - line.amount) };
}

export const stateAfter: Readonly<Record<ResolveAsk['operation'], Resolution>> = {
  settle: 'settled',
  forfeit: 'forfeited',
  void: 'voided',
  expire: 'expired',
};

/** Thresholds reached by `spent` that were not told before. In whole numbers: used x 100 >= limit x percent. */
export function crossingsOf(state: AccountState): Crossing[] {
  const limit = effectiveLimit(state);
  // A limit of nothing is not 80 % used.
  if (limit === null || limit === 0) return [];
  return state.alerts
    .filter(({ percent, raised }) => !raised && BigInt(state.spent) * 100n >= BigInt(limit) * BigInt(percent))
    .map(({ percent }) => ({ key: state.key, account: state.account, percent, spent: state.spent, limit }));
}

export function effectiveLimit({ limit, granted }: Pick<AccountState, 'limit' | 'granted'>): number | null {
  return limit === null ? null : Math.min(AMOUNT_MAX, limit + granted);
}

/**
 * Conservation, checked on every write: nothing is negative, and what is spent and held passes the largest limit that was ever
 * reserved under only by what was marked as overrun. limitMax null = it was unlimited at some time.
 */
export function brokenRuleOf(account: {
  readonly key: string;
  readonly spent: number;
  readonly held: number;
  readonly overrun: number;
  readonly limitMax: number | null;
}): string | null {
  const { key, spent, held, overrun, limitMax } = account;
  for (const [name, amount] of [
    ['spent', spent],
    ['held', held],
    ['overrun', overrun],
  ] as const) {
    if (!Number.isSafeInteger(amount) || amount < 0) return `${key}: ${name} is ${amount}`;
  }
  if (limitMax !== null && spent + held > limitMax + overrun) {
    return `${key}: spent ${spent} and held ${held} are over the limit ${limitMax} with an overrun of ${overrun}`;
  }
  return null;
}

/** `limitMax` after a reservation under `limit`; undefined = the first. */
export function limitMaxAfter(before: number | null | undefined, limit: number | null): number | null {
  if (before === null || limit === null) return null;
  return before === undefined ? limit : Math.max(before, limit);
}
