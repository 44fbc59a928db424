/** Which accounts a call is held on, from the plans of the one who pays and of the tenant. */
import type { PriceSet } from '../../contract/costs.ts';
import { type Account, type Book, accountKey } from '../../contract/ledger.ts';
import type { Budget, BudgetScope, BudgetUnit, Directory, Payer, Plan } from '../../contract/plans.ts';
import { must } from '../must.ts';
import { fullName } from '../running.ts';
import { periodOf } from './calendar.ts';
import type { LedgerLine } from './store.ts';

/** The user's plan decides limits of a call and the budgets of user, conversation and experiment; the tenant's the others. */
export interface Policy {
  readonly plan: Plan;
  readonly tenantPlan: Plan;
}

export function policyOf(directory: Directory, payer: Pick<Payer, 'tenant' | 'user'>): Policy {
  const { plans, tenants, users, fallback } = indexOf(directory);
  const byName = (name: string | null | undefined): Plan | undefined =>
    name === null || name === undefined ? undefined : plans.get(name);
  const tenantPlan = byName(tenants.get(payer.tenant)) ?? fallback;
  return { plan: byName(users.get(payer.tenant)?.get(payer.user)) ?? tenantPlan, tenantPlan };
}

/** What a call is about, as far as scopes ask for it; a scope without a name is left out. */
export interface Subjects {
  readonly payer: Payer;
  readonly model: string;
  readonly experiment: string | null;
}

export interface AppliedBudget {
  readonly budget: Budget;
  readonly plan: Plan;
  readonly name: string;
}

/** Names of plans by who has them. */
interface DirectoryIndex {
  readonly plans: ReadonlyMap<string, Plan>;
  readonly fallback: Plan;
  readonly tenants: ReadonlyMap<string, string | null>;
  /** By tenant, then by user. */
  readonly users: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
}

/** A directory is changed as a whole, so what was read from one stays true; twenty thousand users are not searched for each call. */
const indexes = new WeakMap<Directory, DirectoryIndex>();

function indexOf(directory: Directory): DirectoryIndex {
  const known = indexes.get(directory);
  if (known !== undefined) return known;
  const plans = new Map(directory.plans.map((plan) => [plan.name, plan]));
  const fallback = plans.get(directory.defaultPlan);
  must(fallback !== undefined, 'the default plan is one of the plans');
  const users = new Map<string, Map<string, string | null>>();
  for (const { tenant, id, plan } of directory.users) {
    const own = users.get(tenant) ?? new Map<string, string | null>();
    users.set(tenant, own.set(id, plan));
  }
  const tenants = new Map(directory.tenants.map((tenant) => [tenant.id, tenant.plan]));
  const index = { plans, fallback, tenants, users };
  indexes.set(directory, index);
  return index;
}

const TENANT_SCOPES: readonly BudgetScope[] = ['tenant', 'model'];

export function budgetsFor({ plan, tenantPlan }: Policy, subjects: Subjects): AppliedBudget[] {
  const own = plan.budgets.filter(({ scope }) => !TENANT_SCOPES.includes(scope)).map((budget) => ({ budget, plan }));
  const shared = tenantPlan.budgets
    .filter(({ scope }) => TENANT_SCOPES.includes(scope))
    .map((budget) => ({ budget, plan: tenantPlan }));
  const applied = [...own, ...shared].flatMap((one) => {
    const name = nameIn(one.budget.scope, subjects);
    return name === null ? [] : [{ ...one, name }];
  });
  return applied.length > 0 ? applied : [{ budget: UNLIMITED, plan, name: subjects.payer.user }];
}

/** A plan without a budget for a call limits nothing; what is used is written down all the same. */
const UNLIMITED: Budget = {
  scope: 'user',
  window: 'day',
  unit: 'tokens',
  limit: null,
  alertsPercent: [],
  retryAfterSeconds: null,
};

function nameIn(scope: BudgetScope, { payer, model, experiment }: Subjects): string | null {
  if (scope === 'user') return payer.user;
  if (scope === 'tenant') return payer.tenant;
  if (scope === 'model') return modelName(model);
  if (scope === 'conversation') return payer.conversation ?? null;
  return experiment;
}

/** However it is spelt, a model has one account. */
export const modelName = fullName;

export function lineOf(
  { budget, plan, name }: AppliedBudget,
  about: { readonly book: Book; readonly tenant: string; readonly atMs: number; readonly amounts: Amounts },
): LedgerLine {
  const period = periodOf(budget.window, about.atMs, plan);
  const account: Account = {
    book: about.book,
    tenant: about.tenant,
    scope: budget.scope,
    name,
    window: budget.window,
    period: period.key,
    unit: budget.unit,
  };
  return {
    account,
    key: accountKey(account),
    amount: about.amounts[budget.unit],
    limit: budget.limit,
    alertsPercent: budget.alertsPercent,
    startsAtMs: period.startsAtMs,
    endsAtMs: period.endsAtMs,
    timeZone: plan.timeZone,
  };
}

export type Amounts = Readonly<Record<BudgetUnit, number>>;

/** One call of so many tokens. Whole nano-dollars: prices are whole, so nothing is rounded. prices null = local, nothing. */
export function amountsOf(inputTokens: number, outputTokens: number, prices: PriceSet | null): Amounts {
  const money =
    prices === null
      ? 0
      : inputTokens * prices.inputNanoDollarsPerToken + outputTokens * prices.outputNanoDollarsPerToken;
  return { tokens: inputTokens + outputTokens, 'nano-dollars': money, requests: 1 };
}
