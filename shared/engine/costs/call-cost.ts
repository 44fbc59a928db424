/** The cost of one call, from the tokens the server reported. */
import { type CallCost, type Cost, type NanoDollars, type PriceSet, type TokenUsage } from '../../contract/costs.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { exactNanoDollars, outOfRange } from './exact.ts';
import { LOCAL_PRICES } from './prices.ts';

/**
 * A count that was not reported makes its part and the total null, also where the price is 0: nobody counted. Cached tokens are
 * a part of the input; where they or their price are not known they are charged as input, which is never too little.
 */
export function costOfCall(usage: TokenUsage, prices: PriceSet): Result<Cost> {
  const { inputTokens, outputTokens } = usage;
  const cachedTokens = usage.cachedTokens ?? 0;
  const fault =
    countFault('inputTokens', inputTokens) ??
    countFault('outputTokens', outputTokens) ??
    countFault('cachedTokens', cachedTokens);
  if (fault !== null) return fault;
  if (inputTokens !== null && cachedTokens > inputTokens) {
    return denied('bad-input', 'cachedTokens are more than inputTokens.', {
      field: 'cachedTokens',
      next: 'Give the cached part of the input.',
    });
  }
  const input = inputTokens === null ? ok(null) : exactNanoDollars(inputCost(inputTokens, cachedTokens, prices));
  if (!input.ok) return input;
  const output =
    outputTokens === null
      ? ok(null)
      : exactNanoDollars(BigInt(outputTokens) * BigInt(prices.outputNanoDollarsPerToken));
  if (!output.ok) return output;
  const total =
    input.value === null || output.value === null
      ? ok(null)
      : exactNanoDollars(BigInt(input.value) + BigInt(output.value));
  if (!total.ok) return total;
  return ok({ input: input.value, output: output.value, total: total.value });
}

/** A local model costs nothing; `asIf` says what the same tokens would have cost by a chosen price set. */
export function costOfLocalCall(usage: TokenUsage, asIf: PriceSet | null): Result<CallCost> {
  const local = costOfCall(usage, LOCAL_PRICES);
  if (!local.ok) return local;
  if (asIf === null) return ok({ local: local.value, asIf: null });
  const other = costOfCall(usage, asIf);
  if (!other.ok) return other;
  const { name, date, source } = asIf;
  return ok({ local: local.value, asIf: { name, date, source, cost: other.value } });
}

/** known: the sum of what is known, a lower bound while `unknownCount` is above 0. total: null then. */
export interface CostSum {
  readonly known: NanoDollars;
  readonly unknownCount: number;
  readonly total: NanoDollars | null;
}

export function sumOfCosts(amounts: Iterable<NanoDollars | null>): Result<CostSum> {
  let sum = 0n;
  let unknownCount = 0;
  for (const amount of amounts) {
    if (amount === null) unknownCount += 1;
    else sum += BigInt(amount);
  }
  const known = exactNanoDollars(sum);
  if (!known.ok) return known;
  return ok({ known: known.value, unknownCount, total: unknownCount === 0 ? known.value : null });
}

/** In nano-dollars; inputTokens include cachedTokens. */
export function inputCost(inputTokens: number | bigint, cachedTokens: number | bigint, prices: PriceSet): bigint {
  const cached = BigInt(cachedTokens);
  const price = BigInt(prices.inputNanoDollarsPerToken);
  const cachedPrice = prices.cachedNanoDollarsPerToken;
  return (BigInt(inputTokens) - cached) * price + cached * (cachedPrice === null ? price : BigInt(cachedPrice));
}

function countFault(field: string, count: number | null): ReturnType<typeof outOfRange> {
  return count === null ? null : outOfRange(field, count, 0, Number.MAX_SAFE_INTEGER);
}
