/** The part of the journal that is on screen: newest first, grown downwards by pages and upwards by what happens. Pure. */
import type { LedgerEntry } from '../../../shared/contract/ledger.ts';

export interface JournalPages {
  readonly entries: readonly LedgerEntry[];
  readonly hasMore: boolean;
}

export interface JournalAnswer {
  readonly entries: readonly LedgerEntry[];
  readonly hasMore: boolean;
}

export const PAGE_ENTRIES = 200;
export const ENTRIES_SHOWN_MAX = 10_000;

/** Older entries, from below what is here. Entries that are here already are not doubled. */
export function withOlder({ entries }: JournalPages, answer: JournalAnswer): JournalPages {
  const last = entries.at(-1)?.seq ?? Infinity;
  const all = [...entries, ...answer.entries.filter(({ seq }) => seq < last)];
  return { entries: all.slice(0, ENTRIES_SHOWN_MAX), hasMore: answer.hasMore && all.length < ENTRIES_SHOWN_MAX };
}

/** The newest page again. Where it does not reach what is here, something lies between: then it stands alone. */
export function withNewest(pages: JournalPages | null, answer: JournalAnswer): JournalPages {
  if (pages === null || pages.entries.length === 0) return answer;
  const first = pages.entries[0]?.seq ?? 0;
  const fresh = answer.entries.filter(({ seq }) => seq > first);
  if (fresh.length === 0) return pages;
  if (fresh.length === answer.entries.length && answer.hasMore) return answer;
  return { entries: [...fresh, ...pages.entries].slice(0, ENTRIES_SHOWN_MAX), hasMore: pages.hasMore };
}
