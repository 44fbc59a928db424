/**
 * Money. Always whole nano-dollars (1e-9 $): at 2 $ per million tokens one token costs 2,000, so no sum ever rounds. `null` is
 * unknown, shown as a dash, and never the same as 0.
 */
import { z } from 'zod';
import { tokensSchema } from './units.ts';

/** A safe integer, never negative: at most about 9 million dollars. */
export type NanoDollars = number & { readonly unit: 'nano-dollars' };

export const nanoDollarsSchema = z.int().nonnegative() as unknown as z.ZodType<NanoDollars, NanoDollars>;

/** Throws RangeError for anything but a safe integer that is not negative: wrong money is a bug, not an input. */
export function nanoDollars(value: number): NanoDollars {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`nano-dollars must be a whole number, not negative: ${value}`);
  return (value === 0 ? 0 : value) as NanoDollars;
}

/** What a provider asks per token. `cached`: for input tokens served from a prompt cache; null = charged as other input. */
export const priceSetSchema = z.strictObject({
  name: z.string().min(1).max(100),
  /** The day these prices were read; null where they cannot change. */
  date: z.iso.date().nullable(),
  /** Where the prices come from, in a person's words. */
  source: z.string().min(1).max(500),
  inputNanoDollarsPerToken: nanoDollarsSchema,
  outputNanoDollarsPerToken: nanoDollarsSchema,
  cachedNanoDollarsPerToken: nanoDollarsSchema.nullable(),
});
export type PriceSet = z.infer<typeof priceSetSchema>;

/** Names a price set: the same name on another day is another set. */
export const priceSetNameSchema = priceSetSchema.pick({ name: true, date: true });
export type PriceSetName = z.infer<typeof priceSetNameSchema>;

/** All that can be chosen, local first. `own`: added by this person, and can be removed. */
export const priceListSchema = z.array(z.strictObject({ set: priceSetSchema, own: z.boolean() }));
export type PriceList = z.infer<typeof priceListSchema>;

const dollarsPerMillionSchema = z.union([z.string().max(40), z.number()]);

/** As a person types it: dollars per million tokens, such as `2`, `"0.05"`. `readPriceSet` checks it. */
export const priceSetInputSchema = z.strictObject({
  name: z.string(),
  date: z.string(),
  source: z.string(),
  inputPerMillion: dollarsPerMillionSchema,
  outputPerMillion: dollarsPerMillionSchema,
  cachedPerMillion: dollarsPerMillionSchema.nullable().optional(),
});
export type PriceSetInput = z.infer<typeof priceSetInputSchema>;

/** As the server reported it. inputTokens include the cached ones; cachedTokens null or missing = all charged as input. */
export const tokenUsageSchema = z.strictObject({
  inputTokens: tokensSchema.nullable(),
  outputTokens: tokensSchema.nullable(),
  cachedTokens: tokensSchema.nullable().optional(),
});
export type TokenUsage = z.infer<typeof tokenUsageSchema>;

/** `input`: all input, with the cached part. `total` is null as soon as a part is. */
export const costSchema = z.strictObject({
  input: nanoDollarsSchema.nullable(),
  output: nanoDollarsSchema.nullable(),
  total: nanoDollarsSchema.nullable(),
});
export type Cost = z.infer<typeof costSchema>;

/** What a call really cost, and what it would have cost elsewhere. `asIf` is null where no price set was chosen. */
export const callCostSchema = z.strictObject({
  local: costSchema,
  asIf: z
    .strictObject({ name: z.string(), date: z.string().nullable(), source: z.string(), cost: costSchema })
    .nullable(),
});
export type CallCost = z.infer<typeof callCostSchema>;

export const TURNS_MAX = 100_000;
export const TOKENS_INPUT_MAX = 1_000_000_000_000;

const turnsSchema = z.int().min(0).max(TURNS_MAX);
const tokensInputSchema = z.int().min(0).max(TOKENS_INPUT_MAX);

/**
 * A chat that sends its whole history again at every turn. baseTokens: the first prompt. addedTokensPerTurn: what each turn
 * adds to the history (its answer, tool output, the next question). historyCached: what was sent before is charged as cached.
 */
export const conversationSchema = z.strictObject({
  turns: turnsSchema,
  baseTokens: tokensInputSchema,
  addedTokensPerTurn: tokensInputSchema,
  outputTokensPerTurn: tokensInputSchema,
  historyCached: z.boolean().default(false),
});
export type Conversation = z.infer<typeof conversationSchema>;

/** inputTokens include cachedTokens. */
export const conversationCostSchema = z.strictObject({
  inputTokens: tokensSchema,
  cachedTokens: tokensSchema,
  outputTokens: tokensSchema,
  input: nanoDollarsSchema,
  output: nanoDollarsSchema,
  total: nanoDollarsSchema,
});
export type ConversationCost = z.infer<typeof conversationCostSchema>;

export const monthSchema = z.strictObject({
  conversationsPerDay: z.int().min(0).max(1_000_000_000),
  days: z.int().min(0).max(31).default(30),
});
export type Month = z.infer<typeof monthSchema>;

export const RESEND_LINES_MAX = 8;
export const RESEND_POINTS_MAX = 1_000;

/** The resend calculator: one line for each size of tool output. */
export const resendQuestionSchema = z.strictObject({
  turns: turnsSchema.min(1),
  basePromptTokens: tokensInputSchema.default(3_000),
  toolOutputTokens: z.array(tokensInputSchema).min(1).max(RESEND_LINES_MAX),
  pointsMax: z.int().min(2).max(RESEND_POINTS_MAX).default(200),
});
export type ResendQuestion = z.infer<typeof resendQuestionSchema>;

/** Sums up to and with each turn. `costs` are for the input alone. `timesFirst`: this line's total over that of the first one. */
export const resendSeriesSchema = z.strictObject({
  turns: z.array(z.int()),
  lines: z.array(
    z.strictObject({
      toolOutputTokens: tokensSchema,
      inputTokens: z.array(tokensSchema),
      costs: z.array(nanoDollarsSchema),
      totalTokens: tokensSchema,
      totalCost: nanoDollarsSchema,
      timesFirst: z.number().nullable(),
    }),
  ),
});
export type ResendSeries = z.infer<typeof resendSeriesSchema>;

/**
 * Calls since a moment, at the prices of a set. Tokens and cost are sums of what was reported: a lower bound while callsUnknown,
 * the calls that left a count out, is above 0. null where no call reported that count at all.
 */
export const callsCostSchema = z.strictObject({
  since: z.iso.datetime(),
  calls: z.int().nonnegative(),
  callsUnknown: z.int().nonnegative(),
  inputTokens: tokensSchema.nullable(),
  outputTokens: tokensSchema.nullable(),
  cost: costSchema,
});
export type CallsCost = z.infer<typeof callsCostSchema>;

/** Exact, for files: `0.07796`, `46776`, `1.5592`. Digits of the integer, no division: nothing is lost. */
export function decimalDollars(amount: NanoDollars): string {
  const [whole, fraction] = digitsOf(amount);
  const trimmed = fraction.replace(/0+$/, '');
  return trimmed === '' ? whole : `${whole}.${trimmed}`;
}

/** Exact, to read: `$0.07796`, `$46,776`, `$0.30`; a dash for unknown. */
export function exactDollars(amount: NanoDollars | null): string {
  return amount === null ? UNKNOWN : withDollarSign(amount);
}

/**
 * Rounded half up, to read: cents from one dollar on, three significant digits below it (`$1.56`, `$0.078`), never `$0.00` for
 * something. A dash for unknown.
 */
export function shortDollars(amount: NanoDollars | null): string {
  if (amount === null) return UNKNOWN;
  const dropped = amount >= NANO_PER_DOLLAR ? FRACTION_DIGITS - 2 : String(amount).length - 3;
  if (dropped <= 0) return withDollarSign(amount);
  const step = 10n ** BigInt(dropped);
  return withDollarSign(((BigInt(amount) + step / 2n) / step) * step);
}

const UNKNOWN = '–';
const NANO_PER_DOLLAR = 1_000_000_000;
const FRACTION_DIGITS = 9;

function digitsOf(amount: number | bigint): readonly [whole: string, fraction: string] {
  const digits = String(amount).padStart(FRACTION_DIGITS + 1, '0');
  return [digits.slice(0, -FRACTION_DIGITS), digits.slice(-FRACTION_DIGITS)];
}

function withDollarSign(amount: number | bigint): string {
  const [whole, fraction] = digitsOf(amount);
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  const trimmed = fraction.replace(/0+$/, '');
  return trimmed === '' ? `$${grouped}` : `$${grouped}.${trimmed.padEnd(2, '0')}`;
}
