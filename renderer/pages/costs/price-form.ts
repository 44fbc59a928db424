/** A price set as it is typed, and what is wrong with it in the words of its fields. */
import type { PriceSetInput } from '../../../shared/contract/costs.ts';
import type { Denial } from '../../../shared/contract/denials.ts';

export const priceFields = [
  'name',
  'inputPerMillion',
  'outputPerMillion',
  'cachedPerMillion',
  'date',
  'source',
] as const;
export type PriceField = (typeof priceFields)[number];
export type PriceText = Readonly<Record<PriceField, string>>;

export const priceLabels: Readonly<Record<PriceField, string>> = {
  name: 'Name',
  inputPerMillion: 'Input price',
  outputPerMillion: 'Output price',
  cachedPerMillion: 'Cached input price',
  date: 'Date',
  source: 'Source',
};

export const emptyPriceText = (today: string): PriceText => ({
  name: '',
  inputPerMillion: '',
  outputPerMillion: '',
  cachedPerMillion: '',
  date: today,
  source: '',
});

export type PriceProblems = Readonly<Partial<Record<PriceField, string>>>;

/** What can be said before asking: empty boxes and a date that is none. Prices are read by the engine. */
export function readPriceText(
  text: PriceText,
): { readonly input: PriceSetInput } | { readonly problems: PriceProblems } {
  const problems: Partial<Record<PriceField, string>> = {};
  if (text.name.trim() === '') problems.name = 'Name is empty. Give the set a name.';
  if (text.source.trim() === '') problems.source = 'Source is empty. Say where the prices were read.';
  if (!isDay(text.date.trim())) problems.date = 'Date is not a day. Give it as 2026-11-14.';
  if (text.inputPerMillion.trim() === '') problems.inputPerMillion = `Input price is empty. ${priceNext}`;
  if (text.outputPerMillion.trim() === '') problems.outputPerMillion = `Output price is empty. ${priceNext}`;
  if (Object.keys(problems).length > 0) return { problems };
  return {
    input: {
      name: text.name.trim(),
      date: text.date.trim(),
      source: text.source.trim(),
      inputPerMillion: text.inputPerMillion.trim(),
      outputPerMillion: text.outputPerMillion.trim(),
      cachedPerMillion: text.cachedPerMillion.trim() === '' ? null : text.cachedPerMillion.trim(),
    },
  };
}

/** The engine's refusal, beside the box it names, in the words on screen; null where it names none of them. */
export function problemsOf({ field, message, next }: Denial): PriceProblems | null {
  const known = priceFields.find((each) => each === field);
  if (known === undefined) return null;
  const words = message.startsWith(known) ? `${priceLabels[known]}${message.slice(known.length)}` : message;
  return { [known]: [words, next].filter(Boolean).join(' ') };
}

const priceNext = 'Give dollars per million tokens, such as 2 or 0.05.';

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.valueOf()) && date.toISOString().startsWith(text);
}
