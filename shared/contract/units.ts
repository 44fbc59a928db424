/**
 * Units are types: a count of tokens cannot meet a millisecond. All of them are safe integers, never negative.
 * `null` in a field of one of these types means unknown; it is never the same as 0.
 */
import { z } from 'zod';

export type Tokens = number & { readonly unit: 'tokens' };
export type Milliseconds = number & { readonly unit: 'milliseconds' };
export type Bytes = number & { readonly unit: 'bytes' };
/** UTF-16 code units, the length JavaScript and most editors show. */
export type Characters = number & { readonly unit: 'characters' };
/** 0 to 100, fractions allowed. */
export type Percent = number & { readonly unit: 'percent' };

const count = <Unit extends number>(): z.ZodType<Unit, Unit> =>
  z.int().nonnegative() as unknown as z.ZodType<Unit, Unit>;

export const tokensSchema = count<Tokens>();
export const millisecondsSchema = count<Milliseconds>();
export const bytesSchema = count<Bytes>();
export const charactersSchema = count<Characters>();
export const percentSchema = z.number().min(0).max(100) as unknown as z.ZodType<Percent, Percent>;

/** Throws RangeError for anything but a safe integer that is not negative: a wrong count is a bug, not an input. */
function unit<Unit extends number>(value: number, name: string): Unit {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${name} must be a whole number, not negative: ${value}`);
  return value as Unit;
}

export const tokens = (value: number): Tokens => unit<Tokens>(value, 'tokens');
export const milliseconds = (value: number): Milliseconds => unit<Milliseconds>(value, 'milliseconds');
export const bytes = (value: number): Bytes => unit<Bytes>(value, 'bytes');
export const characters = (value: number): Characters => unit<Characters>(value, 'characters');
export const percent = (value: number): Percent => {
  if (!(value >= 0 && value <= 100)) throw new RangeError(`percent must lie between 0 and 100: ${value}`);
  return value as Percent;
};
