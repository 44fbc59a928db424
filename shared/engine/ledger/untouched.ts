/** Budgets that nobody has called on yet, as a view shows them: all free. Their limits are of interest before the first call. */
import { type Balance, type Book, isAccountFound } from '../../contract/ledger.ts';
import type { Directory } from '../../contract/plans.ts';
import { balanceOf } from './balances.ts';
import { budgetsFor, lineOf, policyOf } from './lines.ts';

/** Without a search the first of the listed users are looked at, with one all of them; so many are shown. */
const UNTOUCHED_MAX = 50;
const nothing = { tokens: 0, 'nano-dollars': 0, requests: 0 };

/** `known`: keys of accounts that are not to be told. `words`: as in `isAccountFound`. */
export function untouchedBalances(ask: {
  readonly directory: Directory;
  readonly book: Book;
  readonly atMs: number;
  readonly words: readonly string[];
  readonly known: ReadonlySet<string>;
}): Balance[] {
  const { directory, book, atMs, words, known } = ask;
  const found = new Map<string, Balance>();
  for (const { tenant, id: user } of words.length === 0 ? directory.users.slice(0, UNTOUCHED_MAX) : directory.users) {
    const payer = { tenant, user };
    for (const applied of budgetsFor(policyOf(directory, payer), { payer, model: '', experiment: null })) {
      const { scope, window, unit, limit } = applied.budget;
      if (scope === 'model' || limit === null) continue;
      if (!isAccountFound({ tenant, scope, name: applied.name, window, unit }, words)) continue;
      const line = lineOf(applied, { book, tenant, atMs, amounts: nothing });
      if (known.has(line.key)) continue;
      const alerts = line.alertsPercent.map((percent) => ({ percent, raised: false }));
      found.set(line.key, balanceOf({ ...line, granted: 0, spent: 0, held: 0, overrun: 0, alerts }, directory));
      if (found.size >= UNTOUCHED_MAX) return [...found.values()];
    }
  }
  return [...found.values()];
}
