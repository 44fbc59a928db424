/**
 * A plan as it is typed, and back. Boxes hold text, so that nothing typed is lost; what is wrong stands beside its box, in the
 * words of the contract. Problems are keyed by the path of the field, such as `limits.outputTokensMax` or `budgets[1].limit`.
 */
import { decimalDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import type { PriceSetName } from '../../../shared/contract/costs.ts';
import { directorySchema } from '../../../shared/contract/plans.ts';
import type { Budget, BudgetScope, BudgetUnit, BudgetWindow, Plan } from '../../../shared/contract/plans.ts';
import { parseWhole } from '../live/build-request.ts';
import { readDollars } from './plans-money.ts';

export interface BudgetText {
  /** Of this screen, so that a row stays itself while others come and go. */
  readonly id: number;
  readonly scope: BudgetScope;
  readonly window: BudgetWindow;
  readonly unit: BudgetUnit;
  /** Dollars where the unit is nano-dollars. */
  readonly limit: string;
  /** Whole percents, separated by commas. */
  readonly alerts: string;
  readonly retryAfter: string;
}

export const limitFields = [
  'messageCharactersMax',
  'conversationTokensMax',
  'outputTokensMax',
  'wallClockMsMax',
  'bodyBytesMax',
] as const;
export type LimitField = (typeof limitFields)[number];

export interface PlanText {
  readonly name: string;
  /** The wall clock in seconds, the others in their own unit. Empty = unlimited. */
  readonly limits: Readonly<Record<LimitField, string>>;
  /** Only the models below; a list without a name then allows none. */
  readonly isListed: boolean;
  /** One name a line. */
  readonly models: string;
  readonly onConversationOverflow: Plan['onConversationOverflow'];
  readonly budgets: readonly BudgetText[];
  readonly timeZone: string;
  readonly resetHour: string;
  readonly weekStartsOn: string;
  readonly onCancel: Plan['onCancel'];
  readonly overrun: Plan['overrun'];
  readonly prices: PriceSetName | null;
}

export type PlanProblems = Readonly<Record<string, string>>;

/** In the words of the screen, for the text beside a box. */
export const limitLabels: Readonly<Record<LimitField, string>> = {
  messageCharactersMax: 'Message, characters',
  conversationTokensMax: 'Conversation, tokens',
  outputTokensMax: 'Output, tokens',
  wallClockMsMax: 'Wall clock, seconds',
  bodyBytesMax: 'Body, bytes',
};

export function textOfPlan(plan: Plan): PlanText {
  return {
    name: plan.name,
    limits: {
      messageCharactersMax: textOf(plan.limits.messageCharactersMax),
      conversationTokensMax: textOf(plan.limits.conversationTokensMax),
      outputTokensMax: textOf(plan.limits.outputTokensMax),
      wallClockMsMax: secondsText(plan.limits.wallClockMsMax),
      bodyBytesMax: textOf(plan.limits.bodyBytesMax),
    },
    isListed: plan.limits.models !== null,
    models: plan.limits.models?.join('\n') ?? '',
    onConversationOverflow: plan.onConversationOverflow,
    budgets: plan.budgets.map(textOfBudget),
    timeZone: plan.timeZone,
    resetHour: String(plan.resetHour),
    weekStartsOn: String(plan.weekStartsOn),
    onCancel: plan.onCancel,
    overrun: plan.overrun,
    prices: plan.prices,
  };
}

export function limitText(limit: number | null, unit: BudgetUnit): string {
  if (limit === null) return '';
  return unit === 'nano-dollars' ? decimalDollars(nanoDollars(limit)) : String(limit);
}

/** `others`: the plans beside it, whose names are taken. */
export function readPlan(
  text: PlanText,
  others: readonly Plan[],
): { readonly plan: Plan } | { readonly problems: PlanProblems } {
  const candidate = {
    name: text.name,
    limits: {
      messageCharactersMax: numberOf(text.limits.messageCharactersMax),
      conversationTokensMax: numberOf(text.limits.conversationTokensMax),
      outputTokensMax: numberOf(text.limits.outputTokensMax),
      wallClockMsMax: msOfSeconds(text.limits.wallClockMsMax),
      bodyBytesMax: numberOf(text.limits.bodyBytesMax),
      models: text.isListed ? modelsOf(text.models) : null,
    },
    onConversationOverflow: text.onConversationOverflow,
    budgets: text.budgets.map(({ scope, window, unit, limit, alerts, retryAfter }) => ({
      scope,
      window,
      unit,
      limit: unit === 'nano-dollars' ? readDollars(limit) : numberOf(limit),
      alertsPercent: percentsOf(alerts),
      retryAfterSeconds: numberOf(retryAfter),
    })),
    timeZone: text.timeZone,
    resetHour: Number(text.resetHour),
    weekStartsOn: Number(text.weekStartsOn),
    onCancel: text.onCancel,
    overrun: text.overrun,
    prices: text.prices,
  };
  // Checked as a directory: that a name or a budget is there twice is said by it, in the same words as by the engine.
  const read = directorySchema.safeParse({ plans: [...others, candidate], defaultPlan: text.name });
  const plan = read.success ? read.data.plans.at(-1) : undefined;
  if (plan !== undefined) return { plan };
  const problems: Record<string, string> = {};
  for (const issue of read.error?.issues ?? []) {
    if (issue.path[0] !== 'plans' || issue.path[1] !== others.length) continue;
    const field = fieldOf(issue.path.slice(2));
    problems[field] ??= sentence(field, issue.message, text);
  }
  // Nothing of this plan: the default name of the check is this plan's, which cannot be wrong without its name being wrong.
  return { problems };
}

/** `plans[3].budgets[1].limit` -> which plan, and the field in it; null where a refusal is about something else. */
export function planField(field: string | undefined): { readonly index: number; readonly field: string } | null {
  const match = /^(?:directory\.)?plans\[(\d+)\](?:\.(.+))?$/u.exec(field ?? '');
  return match === null ? null : { index: Number(match[1]), field: match[2] ?? 'name' };
}

/** The text of a box by its path; null where the path is of no box that holds a number. */
export function fieldText(text: PlanText, field: string): string | null {
  const limit = limitFields.find((each) => field === `limits.${each}`);
  if (limit !== undefined) return text.limits[limit];
  const row = text.budgets[budgetAt(field) ?? -1];
  if (row === undefined) return null;
  if (field.endsWith('.limit')) return row.limit;
  return field.endsWith('.retryAfterSeconds') ? row.retryAfter : null;
}

/** `value` in the unit of the contract. */
export function withFieldText(text: PlanText, field: string, value: number): PlanText {
  const limit = limitFields.find((each) => field === `limits.${each}`);
  if (limit !== undefined) {
    const typed = limit === 'wallClockMsMax' ? secondsText(value) : String(value);
    return { ...text, limits: { ...text.limits, [limit]: typed } };
  }
  const at = budgetAt(field);
  const budgets = text.budgets.map((row, index) => {
    if (index !== at) return row;
    return field.endsWith('.limit')
      ? { ...row, limit: limitText(value, row.unit) }
      : { ...row, retryAfter: String(value) };
  });
  return { ...text, budgets };
}

function fieldOf(path: readonly PropertyKey[]): string {
  // A wrong entry of a list is said at the list.
  const at = path.findIndex((part) => part === 'alertsPercent' || part === 'models' || part === 'prices');
  const shown = at < 0 ? path : path.slice(0, at + 1);
  return shown
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./u, '');
}

function sentence(field: string, message: string, text: PlanText): string {
  const name = field.split('.').at(-1) ?? field;
  const own = ownWords(name, field, text);
  if (own !== null) return own;
  if (message.endsWith('is there twice')) return field === 'name' ? 'Name is there twice.' : twice(field, text);
  return `${labelOf(field, name)} ${message}.`;
}

/** Where the schema has no words of its own, or speaks of a unit that is not the one typed. */
function ownWords(name: string, field: string, text: PlanText): string | null {
  if (name === 'alertsPercent') return 'Alerts must be up to five whole percents from 1 to 100, such as 50, 80.';
  if (name === 'retryAfterSeconds') return 'Retry-After must be whole seconds from 1 to 31,622,400, or empty.';
  if (name === 'wallClockMsMax')
    return 'Wall clock must be seconds, such as 30 or 0.5, and at most 10,000,000. Empty is unlimited.';
  if (name === 'models') return 'Models must be at most 200 names of up to 500 characters, one a line.';
  const at = budgetAt(field);
  if (name === 'limit' && at !== null && text.budgets[at]?.unit === 'nano-dollars')
    return 'Limit must be dollars from 0 to 1,000,000 with up to nine decimals, such as 2.50.';
  return null;
}

function twice(field: string, text: PlanText): string {
  const row = text.budgets[budgetAt(field) ?? -1];
  return row === undefined
    ? 'This row is there twice.'
    : `${row.scope}, ${row.window}, ${row.unit} is there twice. Change or remove one.`;
}

function labelOf(field: string, name: string): string {
  if (field.startsWith('limits.')) return (limitLabels[name as LimitField] ?? name).split(',')[0] ?? name;
  const words: Record<string, string> = { name: 'Name', limit: 'Limit', timeZone: 'Time zone', budgets: 'Budgets' };
  return words[name] ?? name;
}

function budgetAt(field: string): number | null {
  const match = /^budgets\[(\d+)\]/u.exec(field);
  return match === null ? null : Number(match[1]);
}

let rowsMade = 0;
export function textOfBudget(budget: Budget): BudgetText {
  rowsMade += 1;
  return {
    id: rowsMade,
    scope: budget.scope,
    window: budget.window,
    unit: budget.unit,
    limit: limitText(budget.limit, budget.unit),
    alerts: budget.alertsPercent.join(', '),
    retryAfter: textOf(budget.retryAfterSeconds),
  };
}

const textOf = (value: number | null): string => (value === null ? '' : String(value));

/** Milliseconds as seconds, exactly: 30000 -> 30, 1500 -> 1.5. */
function secondsText(valueMs: number | null): string {
  if (valueMs === null) return '';
  const digits = String(valueMs).padStart(4, '0');
  const fraction = digits.slice(-3).replace(/0+$/u, '');
  return `${digits.slice(0, -3)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** NaN for what cannot be read: the schema says the words. */
function numberOf(text: string): number | null {
  const whole = parseWhole(text);
  return 'problem' in whole ? Number.NaN : whole.value;
}

function msOfSeconds(text: string): number | null {
  const bare = text.trim().replace(/,(?=\d{3}(?:\D|$))/gu, '');
  if (bare === '') return null;
  const match = /^(\d{1,10})(?:\.(\d{1,3}))?$/u.exec(bare);
  return match === null ? Number.NaN : Number(match[1]) * 1_000 + Number((match[2] ?? '').padEnd(3, '0'));
}

function modelsOf(text: string): string[] {
  const names = text
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return [...new Set(names)];
}

/** Empty = no alerts. */
function percentsOf(text: string): number[] {
  const parts = text.split(/[\s,;%]+/u).filter((part) => part !== '');
  return [...new Set(parts.map((part) => (/^\d{1,4}$/u.test(part) ? Number(part) : Number.NaN)))];
}
