/** The resend calculator as it is typed, what it asks for, and its figures. Nothing typed is lost: every value stays text. */
import type { ConversationCost, PriceSetName } from '../../../shared/contract/costs.ts';
import { TOKENS_INPUT_MAX, TURNS_MAX } from '../../../shared/contract/costs.ts';
import { count } from '../../format/numbers.ts';
import { Problem, readWhole } from '../../format/read-number.ts';

export const calculatorFields = ['turns', 'added', 'against', 'base', 'answer', 'perDay', 'days'] as const;
export type CalculatorField = (typeof calculatorFields)[number];

/** added, against: tokens that a turn adds to the history; against may be empty. priceSet null = the one of the settings. */
export interface CalculatorText extends Readonly<Record<CalculatorField, string>> {
  readonly priceSet: PriceSetName | null;
}

export const firstCalculator: CalculatorText = {
  turns: '20',
  added: '500',
  against: '40,000',
  base: '3,000',
  answer: '200',
  perDay: '10',
  days: '30',
  priceSet: null,
};

/** Sizes that are often wanted. */
export const calculatorPresets: readonly { readonly name: string; readonly set: Partial<CalculatorText> }[] = [
  { name: '20 turns, 500 against 40,000', set: { turns: '20', added: '500', against: '40,000', base: '3,000' } },
  { name: 'a long chat', set: { turns: '100', added: '400', against: '', base: '500', answer: '300' } },
  { name: 'an agent that reads files', set: { turns: '60', added: '8,000', against: '800', base: '6,000' } },
];

export interface CalculatorAsk {
  readonly turns: number;
  /** One or two sizes; each is a line of the chart. */
  readonly sizes: readonly number[];
  readonly base: number;
  readonly answer: number;
  readonly perDay: number;
  readonly days: number;
}

export type CalculatorReading =
  | { readonly ok: true; readonly ask: CalculatorAsk }
  | { readonly ok: false; readonly problems: Readonly<Partial<Record<CalculatorField, string>>> };

export function readCalculator(text: CalculatorText): CalculatorReading {
  const problems: Partial<Record<CalculatorField, string>> = {};
  const take = (field: CalculatorField): number => {
    const { name, from, to } = bounds[field];
    const value = readWhole(name, text[field]);
    if (value instanceof Problem) problems[field] = value.text;
    else if (value < from || value > to)
      problems[field] = `${name}: give a whole number from ${count(from)} to ${count(to)}.`;
    else return value;
    return from;
  };
  const sizes = text.against.trim() === '' ? [take('added')] : [take('added'), take('against')];
  const ask: CalculatorAsk = {
    turns: take('turns'),
    sizes: [...new Set(sizes)],
    base: take('base'),
    answer: take('answer'),
    perDay: take('perDay'),
    days: take('days'),
  };
  return Object.keys(problems).length === 0 ? { ok: true, ask } : { ok: false, problems };
}

/** Tokens when nothing is sent twice: the first prompt and what each turn before the last added. */
export function sentOnce(turns: number, base: number, size: number): number {
  return base + size * Math.max(0, turns - 1);
}

export interface CalculatorLine {
  readonly size: number;
  readonly conversation: ConversationCost;
  readonly month: ConversationCost;
}

/** How many times the tokens go out; null where there are none. */
export function timesSent(line: CalculatorLine, ask: CalculatorAsk): number | null {
  const once = sentOnce(ask.turns, ask.base, line.size);
  return once === 0 ? null : line.conversation.inputTokens / once;
}

/** `10.6 times`, `1 time` */
export function timesWord(times: number | null): string {
  if (times === null) return '–';
  const rounded = times >= 100 ? count(Math.round(times)) : String(Math.round(times * 10) / 10);
  return `${rounded} ${rounded === '1' ? 'time' : 'times'}`;
}

/** The one sentence that this page is for. */
export function headline(lines: readonly CalculatorLine[], ask: CalculatorAsk): string | null {
  const [first, second] = lines;
  if (first === undefined) return null;
  if (second === undefined) return timesWord(timesSent(first, ask));
  const [less, more] = [first.conversation.inputTokens, second.conversation.inputTokens].sort((a, b) => a - b);
  return less === undefined || more === undefined || less === 0 ? null : timesWord(more / less);
}

const bounds: Readonly<Record<CalculatorField, { name: string; from: number; to: number }>> = {
  turns: { name: 'Turns', from: 1, to: TURNS_MAX },
  added: { name: 'Tokens a turn adds', from: 0, to: TOKENS_INPUT_MAX },
  against: { name: 'Tokens to compare with', from: 0, to: TOKENS_INPUT_MAX },
  base: { name: 'First prompt', from: 0, to: TOKENS_INPUT_MAX },
  answer: { name: 'Answer tokens', from: 0, to: TOKENS_INPUT_MAX },
  perDay: { name: 'Conversations a day', from: 0, to: 1_000_000_000 },
  days: { name: 'Days', from: 0, to: 31 },
};
