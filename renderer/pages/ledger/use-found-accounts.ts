/**
 * What the ledger finds beyond the accounts that a screen holds: a full view has those touched last, so a search asks for the
 * others. What was found stays as it was told; what happens on it afterwards arrives by events, like on all others.
 */
import { useEffect, useMemo, useState } from 'react';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';

/** A view carries about so many accounts. */
export const VIEW_FULL = 500;
/** What is typed is asked for when the typing pauses. */
const ASK_PAUSE_MS = 300;

export interface FoundAccounts {
  /** The most recently touched last: what is held here, before it what was found. */
  readonly balances: ReadonlyMap<string, Balance>;
  /** The ledger has not answered yet. */
  readonly isAsking: boolean;
}

export function useFoundAccounts(balances: ReadonlyMap<string, Balance>, search: string): FoundAccounts {
  const client = useClient();
  const connected = useEngine((state) => state.loaded && state.connection === 'connected');
  // A view that is asked for anew, such as for another book or other plans, leaves no found account true.
  const viewsWanted = useEngine((state) => state.ledger.viewsWanted);
  const asked = balances.size >= VIEW_FULL ? search.trim() : '';
  const key = asked === '' ? '' : `${viewsWanted} ${asked}`;
  const [found, setFound] = useState<{ readonly key: string; readonly balances: readonly Balance[] }>(nothingFound);

  useEffect(() => {
    if (key === '' || !connected) return;
    let stopped = false;
    const timer = setTimeout(() => {
      void client.request('ledger.get', { search: asked }).then((answer) => {
        if (!stopped) setFound({ key, balances: answer.ok ? answer.value.balances : [] });
      });
    }, ASK_PAUSE_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [client, connected, key, asked]);

  const all = useMemo(() => withFound(balances, found.key === key ? found.balances : []), [balances, found, key]);
  return { balances: all, isAsking: connected && key !== '' && found.key !== key };
}

const nothingFound = { key: '', balances: [] };

/** `found`: the most recently touched first. What is held here is younger. */
export function withFound(
  balances: ReadonlyMap<string, Balance>,
  found: readonly Balance[],
): ReadonlyMap<string, Balance> {
  const others = found.filter(({ key }) => !balances.has(key));
  return others.length === 0
    ? balances
    : new Map([...others.reverse().map((one) => [one.key, one] as const), ...balances]);
}
