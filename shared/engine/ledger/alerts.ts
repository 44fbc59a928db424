/** What is said when a threshold is crossed: once per scope and period, as used and left. */
import type { BudgetAlert, LedgerEntry } from '../../contract/ledger.ts';
import { accountOfKey } from './balances.ts';
import { amountText } from './refusals.ts';
import type { Crossing } from './store.ts';

/** One alert for each account, for the highest threshold that was crossed. */
export function alertsOf(crossed: readonly Crossing[], at: string): BudgetAlert[] {
  const highest = new Map<string, Crossing>();
  for (const crossing of crossed) {
    const before = highest.get(crossing.key);
    if (before === undefined || before.percent < crossing.percent) highest.set(crossing.key, crossing);
  }
  return [...highest.values()].map(({ account, percent, spent, limit }) =>
    alertFor(account, percent, spent, limit, at),
  );
}

/** An alert as the journal keeps it; null where the entry is none. */
export function alertOfEntry(entry: LedgerEntry): BudgetAlert | null {
  const line = entry.lines[0];
  const account = line === undefined ? null : accountOfKey(line.account);
  const said = /^(\d+) % of (\d+)$/.exec(entry.reason);
  if (line === undefined || account === null || said === null) return null;
  return alertFor(account, Number(said[1]), line.amount, Number(said[2]), entry.at);
}

function alertFor(
  account: BudgetAlert['account'],
  percent: number,
  used: number,
  limit: number,
  at: string,
): BudgetAlert {
  const who = `${account.scope.charAt(0).toUpperCase()}${account.scope.slice(1)} ${account.name}`;
  const when = account.window === 'run' ? 'in all' : account.window === 'day' ? 'today' : `this ${account.window}`;
  const left = Math.max(0, limit - used);
  const of = amountText(limit, account.unit);
  const usedText = account.unit === 'nano-dollars' ? amountText(used, account.unit) : used.toLocaleString('en-US');
  const leftText = account.unit === 'nano-dollars' ? amountText(left, account.unit) : left.toLocaleString('en-US');
  return { account, percent, used, limit, at, text: `${who} used ${usedText} of ${of} ${when}, ${leftText} left` };
}
