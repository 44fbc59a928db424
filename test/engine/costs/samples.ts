/** What the tests of this folder share. */
import type { PriceSet } from '../../../shared/contract/costs.ts';
import type { Denial, Result } from '../../../shared/contract/denials.ts';
import { shippedPriceSets } from '../../../shared/engine/costs/costs.ts';

export const SONNET = shippedPriceSets[0] as PriceSet;

export function valueOf<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`refused: ${result.denial.message}`);
  return result.value;
}

export function denialOf(result: Result<unknown>): Denial {
  if (result.ok) throw new Error(`not refused: ${JSON.stringify(result.value)}`);
  return result.denial;
}
