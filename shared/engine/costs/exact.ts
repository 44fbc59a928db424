/** Whole numbers that stay whole: sums and products are made as bigint and come back only where a safe integer holds them. */
import { type NanoDollars, nanoDollars } from '../../contract/costs.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import { type Tokens, tokens } from '../../contract/units.ts';

export function exactNanoDollars(amount: bigint): Result<NanoDollars> {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) {
    return denied('bad-input', 'The cost is over 9,007,199 dollars, more than can be kept to the nano-dollar.', {
      next: 'Use fewer turns, tokens or conversations.',
    });
  }
  return ok(nanoDollars(Number(amount)));
}

export function exactTokens(count: bigint): Result<Tokens> {
  if (count > BigInt(Number.MAX_SAFE_INTEGER)) {
    return denied('bad-input', 'That is more tokens than can be counted exactly.', {
      next: 'Use fewer turns or smaller outputs.',
    });
  }
  return ok(tokens(Number(count)));
}

/** null when the value is a whole number from `min` to `max`; else the refusal that names the field. */
export function outOfRange(
  field: string,
  value: number,
  min: number,
  max: number,
): { ok: false; denial: Denial } | null {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return null;
  const fault =
    typeof value !== 'number' || !Number.isFinite(value)
      ? 'is not a number'
      : !Number.isInteger(value)
        ? 'is not a whole number'
        : value < min
          ? min === 0
            ? 'is negative'
            : 'is too small'
          : 'is too large';
  return denied('bad-input', `${field} ${fault}.`, {
    field,
    next: `Give a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}.`,
  });
}
