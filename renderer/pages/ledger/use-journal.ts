/** The journal as the filters ask for it: read page by page, and again from the top when something happened. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { create } from 'zustand';
import type { Denial } from '../../../shared/contract/denials.ts';
import { ledgerOperations } from '../../../shared/contract/ledger.ts';
import type { Book, LedgerOperation } from '../../../shared/contract/ledger.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { PAGE_ENTRIES, withNewest, withOlder } from './journal-pages.ts';
import type { JournalPages } from './journal-pages.ts';

export interface JournalFilter {
  /** Empty = every operation. */
  readonly operations: readonly LedgerOperation[];
  readonly tenant: string;
  readonly user: string;
  /** A key, as a tank's pane sets it; empty = every account. */
  readonly account: string;
  /** null = that of the server in use. */
  readonly book: Book | null;
}

const everything: JournalFilter = { operations: [], tenant: '', user: '', account: '', book: null };

/** Stays while other pages are looked at. */
export const useJournalFilter = create<JournalFilter>(() => everything);
export const journalFilter = {
  set: (patch: Partial<JournalFilter>): void => useJournalFilter.setState(patch),
  clear: (): void => useJournalFilter.setState(everything, true),
  isSet: ({ operations, tenant, user, account, book }: JournalFilter): boolean =>
    operations.length > 0 || tenant.trim() !== '' || user.trim() !== '' || account !== '' || book !== null,
};

export interface Journal {
  readonly pages: JournalPages | null;
  readonly denial: Denial | null;
  readonly loadingOlder: boolean;
  readonly loadOlder: () => void;
}

/** What is typed is asked for when the typing pauses, what happens at most once in this time. */
const ASK_INTERVAL_MS = 400;

export function useJournal(): Journal {
  const client = useClient();
  const filter = useJournalFilter();
  const connected = useEngine((state) => state.loaded && state.connection === 'connected');
  const key = JSON.stringify(askOf(filter));
  const [held, setHeld] = useState<{ key: string; pages: JournalPages | null; denial: Denial | null }>(nothingHeld);
  const [loadingOlder, setLoadingOlder] = useState(false);
  const firstAsk = useRef(true);

  useEffect(() => {
    if (!connected) return;
    let stopped = false;
    let asking = false;
    let again = false;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const ask = async (): Promise<void> => {
      timer = null;
      asking = true;
      const answer = await client.request('ledger.journal', { ...askParams(key), limit: PAGE_ENTRIES });
      asking = false;
      if (stopped) return;
      setHeld((before) => {
        const pages = before.key === key ? before.pages : null;
        if (!answer.ok) return { key, pages, denial: answer.denial };
        return { key, pages: withNewest(pages, answer.value), denial: null };
      });
      if (again) soon();
    };
    const soon = (): void => {
      again = asking;
      if (!asking) timer ??= setTimeout(() => void ask(), ASK_INTERVAL_MS);
    };
    // The first page comes at once; another filter waits until the typing pauses.
    timer = setTimeout(() => void ask(), firstAsk.current ? 0 : ASK_INTERVAL_MS);
    firstAsk.current = false;
    const unsubscribe = client.store.subscribe((state, before) => {
      if (state.ledger.operations !== before.ledger.operations) soon();
    });
    return () => {
      stopped = true;
      unsubscribe();
      if (timer !== null) clearTimeout(timer);
    };
  }, [client, connected, key]);

  const pages = held.key === key ? held.pages : null;
  const loadOlder = useCallback(() => {
    const beforeSeq = pages?.entries.at(-1)?.seq;
    if (beforeSeq === undefined) return;
    setLoadingOlder(true);
    void client.request('ledger.journal', { ...askParams(key), beforeSeq, limit: PAGE_ENTRIES }).then((answer) => {
      setLoadingOlder(false);
      setHeld((before) => {
        if (before.key !== key || before.pages === null) return before;
        return answer.ok
          ? { key, pages: withOlder(before.pages, answer.value), denial: null }
          : { ...before, denial: answer.denial };
      });
    });
  }, [client, key, pages]);
  return { pages, denial: held.key === key ? held.denial : null, loadingOlder, loadOlder };
}

const nothingHeld = { key: '', pages: null, denial: null };

interface JournalAsk {
  readonly tenant: string | null;
  readonly user: string | null;
  readonly account: string | null;
  readonly operations?: LedgerOperation[];
  readonly book?: Book;
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

export function askOf({ operations, tenant, user, account, book }: JournalFilter): JournalAsk {
  return {
    tenant: orNull(tenant),
    user: orNull(user),
    account: orNull(account),
    ...(operations.length === 0 ? {} : { operations: ledgerOperations.filter((one) => operations.includes(one)) }),
    ...(book === null ? {} : { book }),
  };
}

const askParams = (key: string): JournalAsk => JSON.parse(key) as JournalAsk;
