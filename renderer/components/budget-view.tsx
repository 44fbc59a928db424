/** What was held and charged for a call, and what was sent beside it. */
import type { CallBudget } from '../../shared/contract/ledger.ts';
import { budgetFacts, budgetHeadline, budgetSeverity, chargedTokens, reservedTokens } from '../format/budgets.ts';
import { count } from '../format/numbers.ts';
import { Badge } from './badge.tsx';

/** The bar's whole length is what was held, or charged where that was more. */
export function BudgetBar({ budget }: { readonly budget: CallBudget }) {
  const reserved = reservedTokens(budget);
  const isHeld = budget.resolution === 'unresolved';
  const charged = isHeld ? 0 : chargedTokens(budget);
  const whole = Math.max(1, reserved, charged);
  const share = (tokens: number): string => `${(tokens * 100) / whole}%`;
  return (
    <div
      role="img"
      aria-label={`${count(charged)} charged of ${count(reserved)} held`}
      className="c-budget relative flex h-4 bg-sunk shadow-[inset_0_0_0_1px_var(--line-field)]"
    >
      <i className="fill block h-full" style={{ width: share(Math.min(charged, reserved)) }} />
      {isHeld ? <i className="hatch block h-full" style={{ width: share(reserved) }} /> : null}
      {charged > reserved ? (
        <>
          <i className="block h-full w-0.5 flex-none bg-ink" title={`${count(reserved)} were held`} />
          <i className="fill block h-full flex-1" />
        </>
      ) : null}
    </div>
  );
}

export function BudgetView({ budget }: { readonly budget: CallBudget }) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <BudgetBar budget={budget} />
      <dl className="grid grid-cols-[80px_minmax(0,1fr)] text-table leading-5">
        {budgetFacts(budget).map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd className="wrap-anywhere text-ink">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** With its badge and headline, for the detail pane. */
export function BudgetSection({ budget }: { readonly budget: CallBudget }) {
  return (
    <section aria-label="Budget" className="mt-3 flex items-start gap-2 border-t pt-3">
      <span className="flex h-5 items-center">
        <Badge meaning="budget" severity={budgetSeverity(budget)} size="small" />
      </span>
      <div className="min-w-0 flex-1">
        <b className="mb-1 block">{budgetHeadline(budget)}</b>
        <BudgetView budget={budget} />
      </div>
    </section>
  );
}
