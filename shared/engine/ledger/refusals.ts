/** Turns the figures of lines that do not fit into one refusal: ranked, with the time after which a retry can pass. */
import { type Denial, denied, mostImportant } from '../../contract/denials.ts';
import type { BudgetCode, BudgetRefusal, RefusalKind } from '../../contract/ledger.ts';
import type { BudgetUnit } from '../../contract/plans.ts';
import { exactDollars } from '../../contract/costs.ts';
import type { NanoDollars } from '../../contract/costs.ts';
import { isoOf } from './calendar.ts';
import type { AppliedBudget } from './lines.ts';
import type { LedgerLine, LineRefusal } from './store.ts';

/** A month is too long to wait for, and an hour too short to be wrong for long: what tenants are told by default. */
export const TENANT_RETRY_SECONDS = 3_600;

/** Refusals of one reservation; `lines` and `budgets` in the order of the ask. */
export function budgetDenial(ask: {
  readonly refusals: readonly LineRefusal[];
  readonly lines: readonly LedgerLine[];
  readonly budgets: readonly AppliedBudget[];
  readonly nowMs: number;
}): Denial {
  const all = ask.refusals.flatMap((refusal) => {
    const line = ask.lines[refusal.index];
    const budget = ask.budgets[refusal.index];
    return line === undefined || budget === undefined ? [] : [denialOf(refusal, line, budget, ask.nowMs)];
  });
  const first = mostImportant(all);
  if (first === undefined) throw new Error('Broken rule: a refusal names its line');
  return first;
}

function denialOf(refusal: LineRefusal, line: LedgerLine, { budget }: AppliedBudget, nowMs: number): Denial {
  const kind = kindOf(refusal, line.amount);
  const retryAfterSeconds = retryAfter(kind, refusal, line, budget.retryAfterSeconds, nowMs);
  const facts: BudgetRefusal = {
    account: line.account,
    kind,
    needed: line.amount,
    spent: refusal.spent,
    held: refusal.held,
    limit: refusal.limit,
    free: Math.max(0, refusal.limit - refusal.spent - refusal.held),
    retryAfterSeconds,
    endsAt: line.endsAtMs === null ? null : isoOf(line.endsAtMs),
  };
  const { scope, window, unit, name } = line.account;
  const code: BudgetCode = `${scope}-${window}-limit-${kind}`;
  return denied(code, sentenceOf(kind, unit, scope, name, facts), {
    next: nextOf(kind, facts),
    ...(retryAfterSeconds === null ? {} : { retryAfterMs: retryAfterSeconds * 1_000 }),
    budget: facts,
  }).denial;
}

function kindOf({ limit, spent }: LineRefusal, amount: number): RefusalKind {
  if (amount > limit) return 'too-small';
  return spent + amount > limit ? 'reached' : 'held';
}

/** Whole seconds, rounded up: a client that waits so long never comes back too early. */
function retryAfter(
  kind: RefusalKind,
  refusal: LineRefusal,
  line: LedgerLine,
  setSeconds: number | null,
  nowMs: number,
): number | null {
  if (kind === 'too-small') return null;
  const until = (atMs: number | null): number | null =>
    atMs === null ? null : Math.max(1, Math.ceil((atMs - nowMs) / 1_000));
  if (line.account.window === 'minute') return until(refusal.freeAtMs) ?? 1;
  if (kind === 'held') return until(refusal.earliestExpiryMs) ?? 1;
  const end = until(line.endsAtMs);
  if (setSeconds !== null) return setSeconds;
  if (line.account.scope !== 'tenant') return end;
  return end === null ? TENANT_RETRY_SECONDS : Math.min(TENANT_RETRY_SECONDS, end);
}

function sentenceOf(
  kind: RefusalKind,
  unit: BudgetUnit,
  scope: string,
  name: string,
  { needed, limit, free }: BudgetRefusal,
): string {
  const budget = { tokens: 'Token', 'nano-dollars': 'Money', requests: 'Request' }[unit];
  const short = name.length > 80 ? `${name.slice(0, 79).toWellFormed()}…` : name;
  if (kind === 'reached') return `${budget} budget exhausted for ${scope} ${short}.`;
  if (kind === 'held') {
    return `${budget} budget of ${scope} ${short} is held by other calls: ${amountText(needed, unit)} are needed, ${amountText(free, unit)} are free.`;
  }
  return limit === 0
    ? `The limit of ${scope} ${short} is 0: nothing is allowed.`
    : `This call needs ${amountText(needed, unit)}, more than the whole limit of ${amountText(limit, unit)} of ${scope} ${short}.`;
}

function nextOf(kind: RefusalKind, { limit, retryAfterSeconds }: BudgetRefusal): string {
  if (kind === 'too-small')
    return limit === 0 ? 'Ask for a limit.' : 'Shorten it, allow less output, or raise the limit.';
  if (kind === 'held') return 'Try again when one of them has ended.';
  return retryAfterSeconds === null ? 'Raise the limit.' : 'Wait for the period to end, or ask for more.';
}

export function amountText(amount: number, unit: BudgetUnit): string {
  return unit === 'nano-dollars'
    ? exactDollars(amount as NanoDollars)
    : `${amount.toLocaleString('en-US')} ${unit === 'requests' && amount === 1 ? 'request' : unit}`;
}
