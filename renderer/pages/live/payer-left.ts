/** What a payer has left before a call is sent, against what the call would hold. Pure. */
import { exactDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import type { Balance } from '../../../shared/contract/ledger.ts';
import type { BudgetScope, BudgetUnit, BudgetWindow, Directory, Payer } from '../../../shared/contract/plans.ts';
import { count } from '../../format/numbers.ts';
import { isWithoutLimits, plansOf } from '../ledger/plans-words.ts';

export interface Left {
  readonly scope: BudgetScope;
  readonly name: string;
  readonly window: BudgetWindow;
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly free: number;
  /** What the call would hold; null where it cannot be told here. */
  readonly needed: number | null;
}

export interface PayerView {
  /** `as local (no limits)`, `ada, acme`. */
  readonly name: string;
  readonly plan: string | null;
  /** The tightest first. Empty = nothing limits this payer. */
  readonly left: readonly Left[];
}

export interface CallNeeds {
  readonly tokens: number | null;
  readonly model: string;
}

/** directory null = not read yet: only what the balances say is known. */
export function payerView(
  payer: Payer,
  directory: Directory | null,
  balances: Iterable<Balance>,
  needs: CallNeeds,
): PayerView {
  const plans = directory === null ? null : plansOf(directory, payer);
  const named = namesOf(payer, needs.model);
  const rows = new Map<string, Left>();
  const budgets = [
    ...(plans?.user?.budgets ?? []).filter(({ scope }) => scope === 'user' || scope === 'conversation'),
    ...(plans?.tenant?.budgets ?? []).filter(({ scope }) => scope === 'tenant' || scope === 'model'),
  ];
  for (const { scope, window, unit, limit } of budgets) {
    const name = named.get(scope);
    if (limit === null || name === undefined) continue;
    rows.set(keyOf(scope, window, unit), leftOf({ scope, name, window, unit, limit, free: limit }, needs));
  }
  for (const balance of newestLast(balances)) {
    const { tenant, scope, name, window, unit } = balance.account;
    if (tenant !== payer.tenant || named.get(scope) !== name || balance.limit === null) continue;
    // A limit that the plan no longer has holds nobody back.
    if (plans !== null && !rows.has(keyOf(scope, window, unit))) continue;
    const free = balance.free ?? balance.limit;
    rows.set(keyOf(scope, window, unit), leftOf({ scope, name, window, unit, limit: balance.limit, free }, needs));
  }
  const isFree = plans !== null && isWithoutLimits(plans.user) && isWithoutLimits(plans.tenant);
  return {
    name: isFree ? `as ${payer.user} (no limits)` : `${payer.user}, ${payer.tenant}`,
    plan: plans?.user?.name ?? null,
    left: [...rows.values()].sort(tightestFirst),
  };
}

/** `ada: 2,063 of 6,000 left today; this call would hold 2,434`. */
export function leftSentence(left: Left): string {
  const { name, free, limit, unit, window, needed } = left;
  const what = unit === 'tokens' ? '' : unit === 'requests' ? ' calls' : '';
  const hold = needed === null ? '' : `; this call would hold ${amountOf(needed, unit)}`;
  return `${name}: ${amountOf(free, unit)} of ${amountOf(limit, unit)}${what} left ${whens[window]}${hold}`;
}

/** Over what is free now; null where it fits or cannot be told. */
export const shortBy = ({ needed, free }: Left): number | null =>
  needed !== null && needed > free ? needed - free : null;

export const amountOf = (value: number, unit: BudgetUnit): string =>
  unit === 'nano-dollars' ? exactDollars(nanoDollars(value)) : count(value);

const whens: Readonly<Record<BudgetWindow, string>> = {
  run: 'in all',
  month: 'this month',
  week: 'this week',
  day: 'today',
  minute: 'this minute',
};

const keyOf = (scope: BudgetScope, window: BudgetWindow, unit: BudgetUnit): string => `${scope} ${window} ${unit}`;

function namesOf(payer: Payer, model: string): ReadonlyMap<BudgetScope, string> {
  const names = new Map<BudgetScope, string>([
    ['user', payer.user],
    ['tenant', payer.tenant],
    ['model', model],
  ]);
  if (payer.conversation !== undefined) names.set('conversation', payer.conversation);
  return names;
}

function leftOf(row: Omit<Left, 'needed'>, { tokens }: CallNeeds): Left {
  return { ...row, needed: row.unit === 'tokens' ? tokens : row.unit === 'requests' ? 1 : null };
}

/** Of two periods of one account the later one counts. */
function newestLast(balances: Iterable<Balance>): readonly Balance[] {
  return [...balances].sort((a, b) => (a.endsAt ?? '').localeCompare(b.endsAt ?? ''));
}

function tightestFirst(a: Left, b: Left): number {
  const room = ({ free, needed, limit }: Left): number => (free - (needed ?? 0)) / Math.max(1, limit);
  return room(a) - room(b);
}
