/**
 * Accounting as it is usually written: look whether anything is left, call, add what the reply reports. Right for one call after
 * the other; of calls at once all look before any adds. It stands beside the ledger to be seen failing, and is used nowhere else.
 */
import type { BudgetCode } from '../../contract/ledger.ts';

export interface CheckAfter {
  /** null = go ahead. Nothing is held. */
  refusalOf(user: string): BudgetCode | null;
  /** After the reply. A reply that reports nothing costs nothing. */
  add(user: string, reported: { readonly inputTokens: number | null; readonly outputTokens: number | null }): number;
  spentTokens(): number;
}

export function createCheckAfter(limits: {
  readonly userLimit: number | null;
  readonly tenantLimit: number | null;
}): CheckAfter {
  const spentBy = new Map<string, number>();
  let spentTokens = 0;
  const isUsedUp = (spent: number, limit: number | null): boolean => limit !== null && spent >= limit;
  return {
    refusalOf(user) {
      if (isUsedUp(spentBy.get(user) ?? 0, limits.userLimit)) return 'user-day-limit-reached';
      return isUsedUp(spentTokens, limits.tenantLimit) ? 'tenant-month-limit-reached' : null;
    },
    add(user, { inputTokens, outputTokens }) {
      const tokens = (inputTokens ?? 0) + (outputTokens ?? 0);
      spentBy.set(user, (spentBy.get(user) ?? 0) + tokens);
      spentTokens += tokens;
      return tokens;
    },
    spentTokens: () => spentTokens,
  };
}
