/** What a plan's fields mean, in a few words beside them. Empty is no limit and 0 allows nothing, everywhere. */
import { exactDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import type { BudgetScope, BudgetUnit, BudgetWindow, Directory, Payer, Plan } from '../../../shared/contract/plans.ts';
import { count, counted } from '../../format/numbers.ts';

export const scopeWords: Readonly<Record<BudgetScope, string>> = {
  conversation: 'conversation',
  experiment: 'experiment',
  user: 'user',
  model: 'model',
  tenant: 'tenant',
};

export const scopeHelp: Readonly<Record<BudgetScope, string>> = {
  conversation: 'each by itself',
  experiment: 'each run of one',
  user: 'each by itself',
  model: 'all users of a tenant',
  tenant: 'all its users together',
};

export const windowWords: Readonly<Record<BudgetWindow, string>> = {
  run: 'in all, no end',
  month: 'month',
  week: 'week',
  day: 'day',
  minute: 'minute, rolling',
};

export const unitWords: Readonly<Record<BudgetUnit, string>> = {
  tokens: 'tokens',
  'nano-dollars': 'dollars',
  requests: 'requests',
};

/** `unlimited`, `nothing is allowed`, `6,000 tokens`; null where the text is no number. */
export function limitWord(value: number | null, unit: string): string | null {
  if (value === null) return 'unlimited';
  if (Number.isNaN(value)) return null;
  if (value === 0) return 'nothing is allowed';
  return unit === 'nano-dollars' ? exactDollars(nanoDollars(value)) : `${count(value)} ${unit}`;
}

/** `6,000 tokens a day for each user` and so on; the line of a plan in a list. */
export function planSummary(plan: Plan): string {
  const budgets = plan.budgets.filter(({ limit }) => limit !== null);
  const calls = Object.values(plan.limits).filter((limit) => limit !== null).length;
  if (budgets.length === 0 && calls === 0) return 'no limits';
  const parts = [
    ...budgets.slice(0, 2).map(({ scope, window, unit, limit }) => `${scope} ${amount(limit, unit)} ${per(window)}`),
    budgets.length > 2 ? `${budgets.length - 2} more` : null,
    calls === 0 ? null : counted(calls, 'limit of a call', 'limits of a call'),
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

/** 6,000 or $2.50 */
export function amount(value: number | null, unit: BudgetUnit): string {
  if (value === null) return 'unlimited';
  return unit === 'nano-dollars' ? exactDollars(nanoDollars(value)) : count(value);
}

const pers: Readonly<Record<BudgetWindow, string>> = {
  run: 'in all',
  month: 'a month',
  week: 'a week',
  day: 'a day',
  minute: 'a minute',
};
export const per = (window: BudgetWindow): string => pers[window];

/** A listed user's own plan, else the tenant's, else the default one; the contract's rule. */
export function plansOf(
  directory: Directory,
  payer: Payer,
): { readonly user: Plan | null; readonly tenant: Plan | null } {
  const named = (name: string | null | undefined): Plan | null =>
    name === null || name === undefined ? null : (directory.plans.find((plan) => plan.name === name) ?? null);
  const fallback = named(directory.defaultPlan);
  const tenant = named(directory.tenants.find(({ id }) => id === payer.tenant)?.plan) ?? fallback;
  const listed = directory.users.find((user) => user.tenant === payer.tenant && user.id === payer.user);
  return { user: named(listed?.plan) ?? tenant, tenant };
}

/** Nothing of the plan can refuse a call. */
export function isWithoutLimits(plan: Plan | null): boolean {
  return (
    plan !== null &&
    plan.budgets.every(({ limit }) => limit === null) &&
    Object.values(plan.limits).every((limit) => limit === null)
  );
}

export interface PlanUse {
  readonly users: number;
  readonly tenants: number;
}

/** Who names each plan. Who is not listed is not counted: nobody knows them. */
export function usesOf({ users, tenants }: Directory): ReadonlyMap<string, PlanUse> {
  const uses = new Map<string, { users: number; tenants: number }>();
  const of = (name: string): { users: number; tenants: number } => {
    const known = uses.get(name) ?? { users: 0, tenants: 0 };
    uses.set(name, known);
    return known;
  };
  for (const { plan } of tenants) if (plan !== null) of(plan).tenants += 1;
  for (const { plan } of users) if (plan !== null) of(plan).users += 1;
  return uses;
}

export function usedByText(use: PlanUse | undefined, isDefault: boolean): string {
  const parts = [
    use === undefined || use.users === 0 ? null : counted(use.users, 'user'),
    use === undefined || use.tenants === 0 ? null : counted(use.tenants, 'tenant'),
    isDefault ? 'all who are not listed' : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'nobody yet' : parts.join(', ');
}
