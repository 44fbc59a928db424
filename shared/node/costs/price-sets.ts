/** The price sets that can be chosen: local, shipped, and a person's own. */
import type { PriceSet, PriceSetName } from '../../contract/costs.ts';
import { LOCAL_PRICES, shippedPriceSets } from '../../engine/costs/costs.ts';
import type { Store } from '../storage/store-types.ts';

export const allPriceSets = (store: Pick<Store, 'priceSets'>): readonly PriceSet[] => [
  LOCAL_PRICES,
  ...shippedPriceSets,
  ...store.priceSets(),
];

/** null where it was removed. */
export const priceSetNamed = (store: Pick<Store, 'priceSets'>, name: PriceSetName): PriceSet | null =>
  allPriceSets(store).find((set) => isNamed(set, name)) ?? null;

export const isNamed = (set: PriceSetName, name: PriceSetName): boolean =>
  set.name === name.name && set.date === name.date;
