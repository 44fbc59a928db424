/** What a call had to do with budgets, in words: on the strip, in the pane, in rows. */
import { exactDollars, nanoDollars } from '../../shared/contract/costs.ts';
import type { Denial } from '../../shared/contract/denials.ts';
import type { CallBudget } from '../../shared/contract/ledger.ts';
import { count } from './numbers.ts';

export const reservedTokens = ({ reservedInputTokens, reservedOutputTokens }: CallBudget): number =>
  reservedInputTokens + reservedOutputTokens;
export const chargedTokens = ({ chargedInputTokens, chargedOutputTokens }: CallBudget): number =>
  chargedInputTokens + chargedOutputTokens;

/** outline = charged as it should be, filled = something happened to the hold. */
export function budgetSeverity(budget: CallBudget): 'informed' | 'happened' {
  if (budget.resolution === 'unresolved' || budget.resolution === 'forfeited' || budget.resolution === 'expired')
    return 'happened';
  return budget.overrunTokens > 0 ? 'happened' : 'informed';
}

/** `1,968 charged, 466 given back`, `2,434 charged: all that was held`. */
export function budgetHeadline(budget: CallBudget): string {
  const reserved = reservedTokens(budget);
  const charged = chargedTokens(budget);
  switch (budget.resolution) {
    case 'unresolved':
      return `${count(reserved)} still held`;
    case 'voided':
      return 'Nothing charged';
    case 'forfeited':
      return `${count(charged)} charged: all that was held`;
    case 'expired':
      return `${count(charged)} charged: the hold ran out`;
    case 'settled':
      if (budget.overrunTokens > 0) return `${count(charged)} charged, ${count(budget.overrunTokens)} over the hold`;
      return `${count(charged)} charged, ${count(Math.max(0, reserved - charged))} given back`;
  }
}

/** Short, for a chip; what became of the hold stands in its label. */
export function budgetFigure(budget: CallBudget): string {
  if (budget.resolution === 'unresolved') return `${count(reservedTokens(budget))} still held`;
  const charged = chargedTokens(budget);
  return charged === 0 ? 'nothing charged' : `${count(charged)} charged`;
}

/** The word behind `budget ·` on a chip. */
export function budgetLabel({ resolution, source, overrunTokens }: CallBudget): string {
  if (resolution === 'unresolved') return 'not settled';
  if (resolution !== 'settled') return resolution;
  if (overrunTokens > 0) return 'overrun';
  return source === 'observed' ? 'estimated' : 'counted';
}

const sourceTexts: Readonly<Record<CallBudget['source'], string>> = {
  reported: 'counted by the server',
  observed: 'estimated from what was seen of the reply: the server gave no counts',
  reserved: 'all that was held',
  none: 'nothing was done, nothing is charged',
};

/** What stands in the pane, a line each. */
export function budgetFacts(budget: CallBudget): readonly (readonly [string, string])[] {
  const reserved = reservedTokens(budget);
  const charged = chargedTokens(budget);
  const split = (whole: number, input: number, output: number): string =>
    `${count(whole)} = ${count(input)} prompt + ${count(output)} answer`;
  const money: (readonly [string, string])[] =
    budget.chargedNanoDollars === 0 ? [] : [['money', exactDollars(nanoDollars(budget.chargedNanoDollars))]];
  return [
    ['payer', `${budget.user}, ${budget.tenant}`],
    ['plan', `${budget.plan}${budget.book === 'simulated' ? ' · simulated book' : ''}`],
    ['held', split(reserved, budget.reservedInputTokens, budget.reservedOutputTokens)],
    ['charged', split(charged, budget.chargedInputTokens, budget.chargedOutputTokens)],
    ['by', sourceTexts[budget.source]],
    ...(budget.resolution === 'settled' && charged < reserved
      ? ([['given back', count(reserved - charged)]] as const)
      : []),
    ...(budget.overrunTokens > 0
      ? ([['overrun', `${count(budget.overrunTokens)} above what was held; they count`]] as const)
      : []),
    ...money,
    ['sent', sentText(budget)],
    ['ended', endText(budget)],
  ];
}

/** After a cut the server counts what it worked on; what was sent stands beside it. */
function sentText({ sentTokensEstimated: sent, chargedInputTokens: charged, source }: CallBudget): string {
  if (sent === null) return 'not estimated';
  const beside =
    source === 'reported' && charged !== sent ? `; ${count(charged)} are charged: what the server worked on` : '';
  return `about ${count(sent)} prompt tokens by the estimate${beside}`;
}

const endTexts: Readonly<Record<CallBudget['resolution'], string>> = {
  settled: 'settled',
  forfeited: 'forfeited: the call was stopped or lost, and the server may have done the work',
  voided: 'voided: the call never reached the server',
  expired: 'expired: nobody closed the hold in its time',
  unresolved: 'not settled: the ledger could not be reached, so the hold stays until it expires',
};

function endText({ resolution, reason }: CallBudget): string {
  const words = reason.trim();
  return words === '' ? endTexts[resolution] : `${endTexts[resolution]} (${words})`;
}

const limitCodes: readonly string[] = [
  'body-too-large',
  'message-too-long',
  'conversation-too-long',
  'output-over-cap',
  'model-not-in-plan',
  'key-used',
  'bound-unknown',
  'ledger-unavailable',
];

export const isBudgetCode = (code: string): boolean => /-limit-(?:reached|held|too-small)$/u.test(code);

/** A refusal by the ledger or by the limits of a plan, not by the server or the way to it. */
export const isLedgerDenial = ({ code }: Denial): boolean => isBudgetCode(code) || limitCodes.includes(code);

/** Short, for a chip that says refused: `371 short`, `over the limit`, `by the plan`. */
export function refusedHeadline({ code, budget }: Denial): string {
  if (budget === undefined) return code === 'ledger-unavailable' ? 'no ledger' : 'by the plan';
  const short = budget.needed - budget.free;
  const amount = budget.account.unit === 'nano-dollars' ? exactDollars(nanoDollars(short)) : count(short);
  return budget.kind === 'too-small' ? 'over the limit' : `${amount} short`;
}
