/** An account as screens show it: with the limit that holds now, which a plan may have changed since it was last reserved on. */
import { type Balance, keyPart } from '../../contract/ledger.ts';
import type { Account } from '../../contract/ledger.ts';
import type { Budget, Directory } from '../../contract/plans.ts';
import { isoOf } from './calendar.ts';
import { effectiveLimit } from './decide.ts';
import { policyOf } from './lines.ts';
import type { AccountState } from './store.ts';

export function balanceOf(state: AccountState, directory: Directory): Balance {
  const budget = budgetOf(state.account, directory);
  const limit = effectiveLimit({ limit: budget === undefined ? state.limit : budget.limit, granted: state.granted });
  const percents = budget?.alertsPercent ?? state.alerts.map(({ percent }) => percent);
  return {
    key: state.key,
    account: state.account,
    limit,
    granted: state.granted,
    spent: state.spent,
    held: state.held,
    free: limit === null ? null : Math.max(0, limit - state.spent - state.held),
    overrun: state.overrun,
    endsAt: state.endsAtMs === null ? null : isoOf(state.endsAtMs),
    timeZone: state.timeZone,
    alerts:
      limit === null
        ? []
        : percents.map((percent) => ({
            percent,
            at: Math.ceil((limit * percent) / 100),
            raised: state.alerts.find((alert) => alert.percent === percent)?.raised ?? false,
          })),
  };
}

/** The plan's budget behind an account; undefined where the plan has none any more. */
export function budgetOf(account: Account, directory: Directory): Budget | undefined {
  const policy = policyOf(directory, { tenant: account.tenant, user: account.scope === 'user' ? account.name : '' });
  const plan = account.scope === 'tenant' || account.scope === 'model' ? policy.tenantPlan : policy.plan;
  return plan.budgets.find(
    ({ scope, window, unit }) => scope === account.scope && window === account.window && unit === account.unit,
  );
}

/** An account from its key, such as a journal line carries it; null where it is none. */
export function accountOfKey(key: string): Account | null {
  const parts = key.split(':').map(unkeyPart);
  const [book, tenant, scope, name, window, period, unit] = parts;
  if (parts.length !== 7 || unit === undefined || parts.map(keyPart).join(':') !== key) return null;
  return { book, tenant, scope, name, window, period, unit } as Account;
}

const unkeyPart = (part: string): string =>
  part.replace(/%([0-9a-f]{2})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
