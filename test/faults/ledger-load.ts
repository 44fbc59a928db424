/** What the children of the ledger's fault tests do, by the number of a call alone: so the parent knows what must be there. */
import type { ReserveAsk, ResolveAsk } from '../../shared/engine/ledger/store.ts';
import { forfeitOf, reserveOf, settleOf, voidOf } from '../node/ledger/asks.ts';

/** Calls of one child that are under way at once. */
export const LANES = 16;

const amountOf = (index: number): number => 10 + (index % 17);

/** One call: a user's day, the tenant's month and its requests a minute. */
export function loadAsk(owner: string, index: number): ReserveAsk {
  const amount = amountOf(index);
  return reserveOf(
    [
      { scope: 'user', name: `user-${index % 5}`, window: 'day', amount, limit: null },
      { scope: 'tenant', name: 'acme', window: 'month', amount, limit: 1e9 },
      { scope: 'tenant', name: 'acme', window: 'minute', unit: 'requests', amount: 1, limit: null },
    ],
    { id: `${owner}/${index}`, key: `${owner}/${index}`, owner },
  );
}

/** How the call ends: settled under or over its hold, forfeited, or void. */
export function loadEnd(ask: Pick<ReserveAsk, 'id' | 'book' | 'tenant'>, index: number): ResolveAsk {
  if (index % 7 === 3) return forfeitOf(ask);
  if (index % 7 === 5) return voidOf(ask);
  return settleOf(ask, index % 23);
}

/** Tokens that a call is charged in the end; `byRule`: the parent forfeited it after a crash. */
export function loadCharge(index: number, byRule: boolean): number {
  if (byRule || index % 7 === 3) return amountOf(index);
  return index % 7 === 5 ? 0 : index % 23;
}
