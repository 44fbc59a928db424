/** What tokens cost. Read this first; `prices.ts` has the price sets, `resend.ts` what re-sending a history does. */
export { LOCAL_PRICES, findPriceSet, readPriceSet, shippedPriceSets, withPriceSet } from './prices.ts';
export { costOfCall, costOfLocalCall, sumOfCosts } from './call-cost.ts';
export type { CostSum } from './call-cost.ts';
export { costOfConversation, costOfMonth, simulateConversation } from './conversation-cost.ts';
export { resendSeries, resendTokens } from './resend.ts';
export { amplification, attemptsPerCall, delegationTree } from './tool-bomb.ts';
export { decimalDollars, exactDollars, shortDollars } from '../../contract/costs.ts';
