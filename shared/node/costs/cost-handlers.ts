/** Requests about money: the price sets, the calculator, and what calls would have cost. */
import type { CallsCost, PriceList, PriceSet, PriceSetName } from '../../contract/costs.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import { type Tokens, tokens } from '../../contract/units.ts';
import {
  LOCAL_PRICES,
  costOfCall,
  costOfConversation,
  costOfMonth,
  readPriceSet,
  resendSeries,
  shippedPriceSets,
  withPriceSet,
} from '../../engine/costs/costs.ts';
import { isNamed, priceSetNamed } from './price-sets.ts';
import type { Parts } from '../parts.ts';
import type { ReportedTotals } from '../storage/price-rows.ts';

export type CostRequest = Extract<RequestName, `cost.${string}` | `prices.${string}`>;

type CostHandlers = {
  readonly [Name in CostRequest]: (params: RequestParsed<Name>) => Result<RequestResult<Name>>;
};

export function costHandlers(parts: Parts): CostHandlers {
  const { store, clock, watch } = parts;
  const startedAt = clock.now();
  const list = (): PriceList => [
    ...[LOCAL_PRICES, ...shippedPriceSets].map((set) => ({ set, own: false })),
    ...store.priceSets().map((set) => ({ set, own: true })),
  ];

  function withPrices<Value>(name: PriceSetName, use: (prices: PriceSet) => Result<Value>): Result<Value> {
    const prices = priceSetNamed(store, name);
    return prices === null
      ? denied('bad-input', `There is no price set ${name.name}${name.date === null ? '' : ` of ${name.date}`}.`, {
          field: 'priceSet',
          next: 'Choose one of the list.',
        })
      : use(prices);
  }

  return {
    'prices.list': () => ok(list()),
    'prices.set': (input) => {
      const read = readPriceSet(input);
      if (!read.ok) return read;
      const added = withPriceSet([...shippedPriceSets, ...store.priceSets()], read.value);
      if (!added.ok) return added;
      const saved = store.addPriceSet(read.value);
      return saved.ok ? ok(list()) : saved;
    },
    'prices.forget': (name) => {
      const removed = store.removePriceSet(name);
      if (!removed.ok) return removed;
      const { asIfPriceSet } = parts.settings();
      if (asIfPriceSet !== null && isNamed(asIfPriceSet, name)) {
        const saved = parts.saveSettings({ ...parts.settings(), asIfPriceSet: null });
        if (!saved.ok) return saved;
      }
      return ok(list());
    },
    'cost.resend': ({ question, priceSet }) => withPrices(priceSet, (prices) => resendSeries(question, prices)),
    'cost.conversation': ({ conversation, priceSet }) =>
      withPrices(priceSet, (prices) => costOfConversation(conversation, prices)),
    'cost.month': ({ conversation, month, priceSet }) =>
      withPrices(priceSet, (prices) => costOfMonth(conversation, month, prices)),
    'cost.calls': ({ priceSet }) =>
      withPrices(priceSet, (prices) => {
        const simulated = watch.status().kind === 'simulator';
        const since = (fromIso: string): Result<CallsCost> =>
          callsCost(fromIso, store.reportedSince(fromIso, simulated), prices);
        const today = since(`${clock.now().slice(0, 10)}T00:00:00.000Z`);
        if (!today.ok) return today;
        const session = since(startedAt);
        return session.ok ? ok({ simulated, today: today.value, session: session.value }) : session;
      }),
  };
}

/** Prices are linear, so the cost of the sums is the sum of the costs. */
function callsCost(since: string, totals: ReportedTotals, prices: PriceSet): Result<CallsCost> {
  const { calls, callsUnknown } = totals;
  const [inputTokens, outputTokens] = [known(totals.inputTokens), known(totals.outputTokens)];
  const cost = costOfCall({ inputTokens, outputTokens }, prices);
  return cost.ok ? ok({ since, calls, callsUnknown, inputTokens, outputTokens, cost: cost.value }) : cost;
}

const known = (count: number | null): Tokens | null => (count === null ? null : tokens(count));
