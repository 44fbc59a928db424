/** What plans allow and people do not expect: limits that cannot work together, or that say something else than they seem to. */
import type { PriceSet, PriceSetName } from '../../contract/costs.ts';
import {
  ALERT_PERCENT_DEFAULT,
  type Budget,
  type BudgetWindow,
  type CallLimits,
  type Directory,
  type Plan,
  type PlanWarning,
} from '../../contract/plans.ts';
import { amountText } from './refusals.ts';

export interface PlanSurroundings {
  /** The window that calls run in where they ask for none, in tokens. */
  readonly window: number;
  /** All that can be chosen; null = not known, and then nothing is said about prices. */
  readonly priceSets: readonly PriceSet[] | null;
}

/** What Ollama runs with where nobody says otherwise. */
export const WINDOW_DEFAULT = 4_096;
const WARNINGS_MAX = 500;

/** In the order of the plans, and in each by field. `field` as in `limits.outputTokensMax`, `budgets[1].limit`. */
export function planWarnings({ plans }: Pick<Directory, 'plans'>, around: PlanSurroundings): PlanWarning[] {
  return plans.flatMap((plan) => warningsOf(plan, around)).slice(0, WARNINGS_MAX);
}

type Warning = Omit<PlanWarning, 'plan'>;

function warningsOf(plan: Plan, around: PlanSurroundings): PlanWarning[] {
  const all = [
    ...zeroLimits(plan.limits),
    conversationOverWindow(plan.limits, around.window),
    outputOverWindow(plan.limits, around.window),
    bodyUnderMessage(plan.limits),
    nothingToSummarise(plan),
    observedOnCancel(plan),
    unlistedPrices(plan, around.priceSets),
    ...plan.budgets.flatMap((budget, index) => budgetWarnings(plan, budget, `budgets[${index}]`, around.priceSets)),
  ];
  return all.filter((one) => one !== null).map((one) => ({ plan: plan.name, ...one }));
}

const limitNames = [
  'messageCharactersMax',
  'conversationTokensMax',
  'outputTokensMax',
  'wallClockMsMax',
  'bodyBytesMax',
] as const satisfies readonly (keyof CallLimits)[];

function zeroLimits(limits: CallLimits): Warning[] {
  const zeros = limitNames.filter((name) => limits[name] === 0).map((name) => nothingAllowed(`limits.${name}`));
  if (limits.models?.length !== 0) return zeros;
  return [
    ...zeros,
    {
      field: 'limits.models',
      text: 'The list of models is empty: nothing is allowed.',
      next: 'Name a model, or take the list away for every model.',
    },
  ];
}

function nothingAllowed(field: string): Warning {
  return { field, text: 'The limit is 0: nothing is allowed.', next: 'Leave it empty for no limit.' };
}

/** The server cuts what is over its window, and answers with status 200. */
function conversationOverWindow(limits: CallLimits, window: number): Warning | null {
  const { conversationTokensMax: conversation, outputTokensMax } = limits;
  const output = outputTokensMax ?? 0;
  if (conversation === null || conversation === 0 || conversation + output <= window) return null;
  const sum = output === 0 ? `${count(conversation)} exceed` : `${count(conversation)} + ${count(output)} exceed`;
  const safe = window - output;
  const field = 'limits.conversationTokensMax';
  const cut = `${sum} the window of ${count(window)}: the opening would be cut without a word`;
  return safe < 1
    ? { field, text: `${cut}.`, next: 'Lower the output cap first.' }
    : {
        field,
        text: `${cut}; ${count(safe)} is safe.`,
        next: `Set at most ${count(safe)}, or ask for a window of ${count(conversation + output)}.`,
        safe,
      };
}

function outputOverWindow({ outputTokensMax: output }: CallLimits, window: number): Warning | null {
  if (output === null || output < window) return null;
  return {
    field: 'limits.outputTokensMax',
    text: `The output cap of ${count(output)} fills the window of ${count(window)} by itself: the opening would be lost while the answer is written.`,
    next: `Set less than ${count(window)}.`,
    safe: window - 1,
  };
}

/** A body holds more than the message: its names and quotes come on top. */
function bodyUnderMessage({ bodyBytesMax: bytes, messageCharactersMax: characters }: CallLimits): Warning | null {
  if (bytes === null || bytes === 0 || characters === null || bytes > characters) return null;
  return {
    field: 'limits.bodyBytesMax',
    text: `A message of ${count(characters)} characters never fits into a body of ${count(bytes)} bytes.`,
    next: `Allow ${count(characters * BYTES_PER_CHARACTER)} bytes or more, or shorter messages.`,
  };
}

/** Most scripts take one to three bytes for a character. */
const BYTES_PER_CHARACTER = 4;

function nothingToSummarise({ onConversationOverflow, limits }: Plan): Warning | null {
  if (onConversationOverflow !== 'summarise' || limits.conversationTokensMax !== null) return null;
  return {
    field: 'onConversationOverflow',
    text: 'Conversations have no limit, so none is ever shortened.',
    next: 'Set a limit for the conversation.',
  };
}

/** Without a limit of time or money it is what people expect: they pay for what they saw. */
function observedOnCancel({ onCancel, overrun, limits, budgets }: Plan): Warning | null {
  const isLimited = budgets.some(({ unit, limit }) => unit !== 'requests' && limit !== null);
  if (onCancel !== 'observed' || !isLimited || (overrun !== 'strict' && limits.wallClockMsMax === null)) return null;
  return {
    field: 'onCancel',
    text:
      overrun === 'strict'
        ? 'The plan is strict, and a call that is stopped is still charged less than the server may have done.'
        : 'A call that runs into its time limit is charged what was seen, not what the server did.',
    next: 'Choose that the whole reservation stays, or leave it knowingly.',
  };
}

function unlistedPrices({ prices }: Plan, sets: PlanSurroundings['priceSets']): Warning | null {
  if (prices === null || sets === null || sets.some((set) => isNamed(set, prices))) return null;
  return {
    field: 'prices',
    text: `There are no prices ${prices.name}${prices.date === null ? '' : ` of ${prices.date}`} any more: every call is refused.`,
    next: 'Choose other prices, or none.',
  };
}

const isNamed = (set: PriceSetName, name: PriceSetName): boolean => set.name === name.name && set.date === name.date;

function budgetWarnings(
  plan: Plan,
  budget: Budget,
  path: string,
  priceSets: PlanSurroundings['priceSets'],
): (Warning | null)[] {
  const { limit } = budget;
  return [
    limit === 0 ? nothingAllowed(`${path}.limit`) : null,
    limit === null ? alertsWithoutLimit(budget, path) : null,
    limit !== null && limit > 0 ? capOverBudget(plan, budget, limit, path, priceSets) : null,
    limit !== null && limit > 0 ? moneyWithoutPrices(plan, budget, path) : null,
    limit !== null ? retryAfterPeriod(budget, path) : null,
  ];
}

/** The default threshold was not chosen by anybody. */
function alertsWithoutLimit({ alertsPercent }: Budget, path: string): Warning | null {
  if (alertsPercent.every((percent) => percent === ALERT_PERCENT_DEFAULT)) return null;
  return {
    field: `${path}.alertsPercent`,
    text: 'Without a limit there is nothing to be a share of: these alerts never come.',
    next: 'Set a limit, or take the alerts away.',
  };
}

/** The prompt comes on top of the output, so a cap that is as large as the budget is too large. */
function capOverBudget(
  { limits, prices }: Plan,
  { scope, window, unit }: Budget,
  limit: number,
  path: string,
  priceSets: PlanSurroundings['priceSets'],
): Warning | null {
  const { outputTokensMax: output } = limits;
  if (output === null || output === 0) return null;
  const set = prices === null ? undefined : priceSets?.find((one) => isNamed(one, prices));
  const amount =
    unit === 'tokens' ? output : unit === 'nano-dollars' ? output * (set?.outputNanoDollarsPerToken ?? 0) : 0;
  if (amount < limit) return null;
  return {
    field: `${path}.limit`,
    text: `A call with the whole output cap of ${count(output)} tokens never fits into ${amountText(limit, unit)} ${spanOf(scope, window)}: each is refused as too large.`,
    next: 'Lower the output cap, or raise this limit.',
  };
}

function moneyWithoutPrices({ prices }: Plan, { unit }: Budget, path: string): Warning | null {
  if (unit !== 'nano-dollars' || prices !== null) return null;
  return {
    field: `${path}.limit`,
    text: 'The plan has no prices: calls cost nothing, and this limit is never reached.',
    next: 'Choose prices for the plan.',
  };
}

const DAY_SECONDS = 86_400;
/** At most: a month of 31 days. */
const periodSeconds: Readonly<Record<BudgetWindow, number | null>> = {
  run: null,
  month: 31 * DAY_SECONDS,
  week: 7 * DAY_SECONDS,
  day: DAY_SECONDS,
  minute: 60,
};

function retryAfterPeriod({ window, retryAfterSeconds }: Budget, path: string): Warning | null {
  const period = periodSeconds[window];
  if (retryAfterSeconds === null) return null;
  const field = `${path}.retryAfterSeconds`;
  if (period === null) {
    return {
      field,
      text: 'This limit never starts anew: waiting does not help.',
      next: 'Leave the time to wait empty.',
    };
  }
  if (retryAfterSeconds <= period) return null;
  return {
    field,
    text: `${count(retryAfterSeconds)} seconds are longer than a ${window}: callers wait although there is a new budget.`,
    next: `Set at most ${count(period)}, or leave it empty for the time to its end.`,
    safe: period,
  };
}

function spanOf(scope: Budget['scope'], window: BudgetWindow): string {
  const of = scope === 'experiment' ? 'an experiment' : `a ${scope}`;
  return window === 'run' ? `of ${of}` : `of ${of} a ${window}`;
}

const count = (value: number): string => value.toLocaleString('en-US');
