/** How an account is drawn, and in which order accounts stand. Pure. */
import { isAccountFound, searchWords } from '../../../shared/contract/ledger.ts';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { budgetScopes } from '../../../shared/contract/plans.ts';
import { amountText, exactAmount } from './words.ts';

export interface TankModel {
  /** Parts of the drawn width, 0 to 100. Without a limit the wall is missing and the width is a round number above what is used. */
  readonly spentPercent: number;
  readonly heldPercent: number;
  /** Where the wall stands; 100 unless more is used than the limit; null without a limit. */
  readonly limitPercent: number | null;
  readonly alerts: readonly {
    readonly percent: number;
    readonly at: number;
    readonly place: number;
    readonly raised: boolean;
  }[];
  /** Spent and held above the limit. */
  readonly over: number;
}

export function tankModel({ limit, spent, held, alerts }: Balance): TankModel {
  const used = spent + held;
  const width = limit === null ? roundAbove(used) : Math.max(limit, used, 1);
  const part = (value: number): number => Math.min(100, (value / width) * 100);
  return {
    spentPercent: part(spent),
    heldPercent: Math.min(100 - part(spent), part(held)),
    limitPercent: limit === null ? null : limit === 0 && used === 0 ? 0 : part(limit),
    alerts: limit === null ? [] : alerts.map((alert) => ({ ...alert, place: part(alert.at) })),
    over: limit === null ? 0 : Math.max(0, used - limit),
  };
}

/** 1, 2 or 5 with zeros, so that what is used takes less than the whole width. */
function roundAbove(used: number): number {
  let step = 1_000;
  for (let tries = 0; tries < 60 && step < used * 1.2; tries += 1) step *= tries % 3 === 1 ? 2.5 : 2;
  return step;
}

/** `9,000 = 5,905 + 2,434 + 661`; over the limit: `9,000 + 240 over = 9,240 + 0 + 0`. null without a limit. */
export function conservationText({ limit, spent, held, free, account: { unit } }: Balance): string | null {
  if (limit === null || free === null) return null;
  const of = (value: number): string => exactAmount(value, unit);
  const over = spent + held + free - limit;
  return `${of(limit)}${over > 0 ? ` + ${of(over)} over` : ''} = ${of(spent)} + ${of(held)} + ${of(free)}`;
}

/** What stands beside the tank. */
export function leftText({ limit, free, spent, account: { unit } }: Balance): { figure: string; note: string } {
  if (limit === null) return { figure: amountText(spent, unit), note: 'no limit' };
  if (limit === 0) return { figure: '0', note: 'nothing allowed' };
  return { figure: amountText(free, unit), note: `of ${amountText(limit, unit)}` };
}

export interface TankGroup {
  readonly tenant: string;
  readonly balances: readonly Balance[];
}

/**
 * By tenant; the tenant touched last comes first. In it, what was used comes before what was not, the nearest to a person first,
 * and of one scope the one touched last.
 * `recent`: as the store keeps them, the last touched last.
 */
export function tankGroups(recent: Iterable<Balance>, search: string): readonly TankGroup[] {
  const words = searchWords(search);
  const groups = new Map<string, Balance[]>();
  for (const balance of [...recent].reverse()) {
    if (!isAccountFound(balance.account, words)) continue;
    const { tenant } = balance.account;
    const group = groups.get(tenant);
    if (group === undefined) groups.set(tenant, [balance]);
    else group.push(balance);
  }
  return [...groups].map(([tenant, balances]) => ({ tenant, balances: balances.sort(byScope) }));
}

const byScope = (a: Balance, b: Balance): number =>
  Number(isUntouched(a)) - Number(isUntouched(b)) ||
  budgetScopes.indexOf(a.account.scope) - budgetScopes.indexOf(b.account.scope);

export const isUntouched = ({ spent, held, granted, overrun }: Balance): boolean =>
  spent + held + granted + overrun === 0;
