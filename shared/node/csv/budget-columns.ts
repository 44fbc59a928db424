/** What a call had to do with budgets: the last columns of every row about a call. */
import type { CallBudget } from '../../contract/ledger.ts';
import type { Column, RowOf } from './columns.ts';

export const budgetColumns = [
  { name: 'budget_tenant', type: 'text' },
  { name: 'budget_user', type: 'text' },
  { name: 'budget_plan', type: 'text' },
  { name: 'reservation_id', type: 'text' },
  // Prompt and output together, as both next ones.
  { name: 'reserved_tokens', type: 'number' },
  { name: 'charged_tokens', type: 'number' },
  { name: 'charge_source', type: 'text' },
  { name: 'budget_resolution', type: 'text' },
  { name: 'overrun_tokens', type: 'number' },
] as const satisfies readonly Column[];

/** null = no budget was asked, or the row is older than budgets. */
export function budgetRow(budget: CallBudget | null): RowOf<(typeof budgetColumns)[number]> {
  return {
    budget_tenant: budget?.tenant ?? null,
    budget_user: budget?.user ?? null,
    budget_plan: budget?.plan ?? null,
    reservation_id: budget?.reservationId ?? null,
    reserved_tokens: budget === null ? null : budget.reservedInputTokens + budget.reservedOutputTokens,
    charged_tokens: budget === null ? null : budget.chargedInputTokens + budget.chargedOutputTokens,
    charge_source: budget?.source ?? null,
    budget_resolution: budget?.resolution ?? null,
    overrun_tokens: budget?.overrunTokens ?? null,
  };
}
