/** Price sets: data with a name, a day and a source. A price nobody can place is no price. */
import {
  type NanoDollars,
  type PriceSet,
  type PriceSetInput,
  nanoDollars,
  priceSetSchema,
} from '../../contract/costs.ts';
import { type Result, denialOfIssues, denied, ok } from '../../contract/denials.ts';

/** A model on this machine: electricity is not counted. */
export const LOCAL_PRICES: PriceSet = {
  name: 'local',
  date: null,
  source: 'Runs on this machine',
  inputNanoDollarsPerToken: nanoDollars(0),
  outputNanoDollarsPerToken: nanoDollars(0),
  cachedNanoDollarsPerToken: nanoDollars(0),
};

/** To compare with: what the same tokens would have cost. */
export const shippedPriceSets: readonly PriceSet[] = [
  {
    name: 'Claude Sonnet 5.5',
    date: '2026-11-14',
    source: 'Shipped with Spillway: $2 per million input tokens, $10 per million output tokens',
    inputNanoDollarsPerToken: nanoDollars(2_000),
    outputNanoDollarsPerToken: nanoDollars(10_000),
    cachedNanoDollarsPerToken: null,
  },
];

/** Turns dollars per million tokens into nano-dollars per token. Refuses what would not be exact; names the field. */
export function readPriceSet(input: PriceSetInput): Result<PriceSet> {
  const inputPrice = readPrice('inputPerMillion', input.inputPerMillion);
  if (!inputPrice.ok) return inputPrice;
  const outputPrice = readPrice('outputPerMillion', input.outputPerMillion);
  if (!outputPrice.ok) return outputPrice;
  const { cachedPerMillion = null } = input;
  const cachedPrice = cachedPerMillion === null ? ok(null) : readPrice('cachedPerMillion', cachedPerMillion);
  if (!cachedPrice.ok) return cachedPrice;
  const read = priceSetSchema.safeParse({
    name: input.name.trim(),
    date: input.date,
    source: input.source.trim(),
    inputNanoDollarsPerToken: inputPrice.value,
    outputNanoDollarsPerToken: outputPrice.value,
    cachedNanoDollarsPerToken: cachedPrice.value,
  });
  return read.success ? ok(read.data) : { ok: false, denial: denialOfIssues(read.error) };
}

/** The list with one more. The same name on another day is another set; on the same day it is refused. */
export function withPriceSet(sets: readonly PriceSet[], added: PriceSet): Result<readonly PriceSet[]> {
  if (sets.length >= PRICE_SETS_MAX) {
    return denied('bad-input', `There are ${PRICE_SETS_MAX} price sets already.`, { next: 'Remove one first.' });
  }
  if ([LOCAL_PRICES, ...sets].some((set) => set.name === added.name && (set.date ?? added.date) === added.date)) {
    return denied('bad-input', `There is a price set ${added.name} of that day already.`, {
      field: 'name',
      next: 'Give it another name or another date.',
    });
  }
  return ok([...sets, added]);
}

/** The newest set of that name, on or before `onDate` (ISO day) where one is given; null when there is none. */
export function findPriceSet(sets: readonly PriceSet[], name: string, onDate: string | null = null): PriceSet | null {
  let newest: PriceSet | null = null;
  for (const set of [LOCAL_PRICES, ...sets]) {
    if (set.name !== name || (onDate !== null && (set.date ?? '') > onDate)) continue;
    if (newest === null || (set.date ?? '') > (newest.date ?? '')) newest = set;
  }
  return newest;
}

const PRICE_SETS_MAX = 100;
/** A dollar a token is beyond any price; a larger number is a slip. */
const DOLLARS_PER_MILLION_MAX = 1_000_000;
/** Dollars per million tokens with three decimals are nano-dollars per token. */
const DECIMALS_MAX = 3;

/** By digits: 0.07 x 1,000 is 70.00000000000001 in floats. */
function readPrice(field: string, value: string | number): Result<NanoDollars> {
  const refuse = (fault: string): Result<never> =>
    denied('bad-input', `${field} ${fault}.`, {
      field,
      next: 'Give dollars per million tokens, such as 2 or 0.05.',
    });
  if (typeof value === 'number' && !Number.isFinite(value)) return refuse('is not a number');
  const text = String(value).trim();
  // What a number prints as below a millionth or from 1e21 on.
  if (typeof value === 'number' && /e/.test(text)) {
    return refuse(value < 0 ? 'is negative' : value < 1 ? BELOW_NANO : 'is too large');
  }
  const match = /^(-?)(\d{1,12})(?:\.(\d{1,30}))?$/.exec(text);
  if (match === null) return refuse('is not a number');
  const [, sign, whole = '0', fraction = ''] = match;
  const decimals = fraction.replace(/0+$/, '');
  if (sign === '-' && (Number(whole) > 0 || decimals !== '')) return refuse('is negative');
  if (decimals.length > DECIMALS_MAX) return refuse(BELOW_NANO);
  const perToken = Number(whole) * 1_000 + Number(decimals.padEnd(DECIMALS_MAX, '0'));
  if (perToken > DOLLARS_PER_MILLION_MAX * 1_000) return refuse('is too large');
  return ok(nanoDollars(perToken));
}

const BELOW_NANO = 'has a fraction of a nano-dollar per token: three decimals are the most';
