/** What comes next: alerts that are not far, and what open holds can do. Pure. */
import type { Balance, BudgetAlert, Reservation } from '../../../shared/contract/ledger.ts';
import { count } from '../../format/numbers.ts';
import { isUntouched } from './tank-model.ts';
import { accountName, amountText, shortId } from './words.ts';

export interface NextAlert {
  readonly key: string;
  readonly balance: Balance;
  readonly percent: number;
  readonly at: number;
  readonly toGo: number;
}

/** The next threshold of each account in use that was not told yet; the nearest, as a share of its limit, first. */
export function nextAlerts(balances: Iterable<Balance>): readonly NextAlert[] {
  const found: NextAlert[] = [];
  for (const balance of balances) {
    const { limit, spent, alerts } = balance;
    if (limit === null || limit === 0 || isUntouched(balance)) continue;
    const next = alerts.filter(({ raised, at }) => !raised && at > spent).sort((a, b) => a.at - b.at)[0];
    if (next === undefined) continue;
    found.push({ key: balance.key, balance, percent: next.percent, at: next.at, toGo: next.at - spent });
  }
  return found.sort((a, b) => a.toGo / (a.balance.limit ?? 1) - b.toGo / (b.balance.limit ?? 1));
}

/** `at 80 %, once a period`, where all have the same threshold. */
export function thresholdsNote(alerts: readonly Pick<NextAlert, 'percent'>[]): string {
  const percents = [...new Set(alerts.map(({ percent }) => percent))].sort((a, b) => a - b);
  return percents.length === 0 ? '' : `at ${percents.slice(0, 3).join(', ')} %, once a period`;
}

export interface Outlook {
  readonly text: string;
  /** The account that the sentence is about; null where it is about none. */
  readonly key: string | null;
}

/** What stands if open holds use all they hold: the alert that would go out, else the account that comes nearest its limit. */
export function outlookOf(balances: ReadonlyMap<string, Balance>, reservations: Iterable<Reservation>): Outlook {
  const open = [...reservations].filter(({ state }) => state === 'open');
  if (open.length === 0) return { text: 'Nothing is held right now.', key: null };
  const one = open.length === 1 ? open[0] : undefined;
  const who =
    one === undefined
      ? `${open.length === 2 ? 'both' : `all ${count(open.length)}`} open holds use all they hold`
      : `${shortId(one.id)} uses all it holds`;
  const reached = sumsOf(open)
    .flatMap(([key, amount]) => {
      const balance = balances.get(key);
      if (balance === undefined || balance.limit === null || balance.limit === 0) return [];
      const stands = balance.spent + amount;
      const alert = balance.alerts.find(({ raised, at }) => !raised && at > balance.spent && at <= stands) ?? null;
      return [{ key, balance, stands, alert, share: stands / balance.limit }];
    })
    .sort((a, b) => Number(b.alert !== null) - Number(a.alert !== null) || b.share - a.share)[0];
  if (reached === undefined) return { text: `If ${who}, no limit is touched.`, key: null };
  const { key, balance, stands, alert } = reached;
  const { name, unit } = balance.account;
  const start = `If ${who}, ${shortName(name)} stands at ${amountText(stands, unit)}`;
  if (alert !== null) return { text: `${start} and the alert at ${amountText(alert.at, unit)} goes out.`, key };
  return { text: `${start} of ${amountText(balance.limit, unit)}. No alert goes out.`, key };
}

/** `acme: 4,900 of 6,000 used, 1,100 left.` */
export function alertText({ account, used, limit }: BudgetAlert): string {
  const of = (value: number): string => amountText(value, account.unit);
  return `${accountName(account)}: ${of(used)} of ${of(limit)} used, ${of(Math.max(0, limit - used))} left`;
}

const shortName = (name: string): string => (name.length <= 40 ? name : `${[...name].slice(0, 40).join('')}…`);

function sumsOf(holds: readonly Reservation[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const { lines } of holds)
    for (const { account, amount } of lines) sums.set(account, (sums.get(account) ?? 0) + amount);
  return [...sums];
}
