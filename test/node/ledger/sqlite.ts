/** A ledger over SQLite in a folder of its own, gone when its test has ended. */
import { onTestFinished } from 'vitest';
import { openLedgerStore } from '../../../shared/node/storage/ledger-store.ts';
import type { SqliteLedgerStore } from '../../../shared/node/storage/ledger-store.ts';
import { freshHome, freshStore, value } from '../storage/samples.ts';
import { START_MS } from './asks.ts';

/** A database file that is up to date and open in nobody's hands. */
export function freshFile(): string {
  const home = freshHome();
  freshStore(home).close();
  return home.databaseFile;
}

export function freshLedger(
  file = freshFile(),
  change: Partial<Parameters<typeof openLedgerStore>[0]> = {},
): SqliteLedgerStore {
  const store = value(openLedgerStore({ file, nowMs: () => START_MS, synchronous: 'full', ...change }));
  onTestFinished(() => store.close());
  return store;
}
