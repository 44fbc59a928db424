import { openLedgerStore } from '../../../shared/node/storage/ledger-store.ts';
import { value } from '../storage/records.ts';
import { START_MS } from './asks.ts';
import { freshFile } from './sqlite.ts';
import { storeContract } from './store-contract.ts';

for (const group of [true, false]) {
  storeContract(
    group ? 'SQLite, grouped' : 'SQLite, one at a time',
    async () => {
      const file = freshFile();
      let nowMs = START_MS;
      const open = (): ReturnType<typeof openLedgerStore> =>
        openLedgerStore({ file, nowMs: () => nowMs, synchronous: 'normal', group });
      let store = value(open());
      return {
        store,
        setNow: (ms) => {
          nowMs = ms;
        },
        reopen: async () => {
          await store.close();
          store = value(open());
          return store;
        },
        close: () => store.close(),
      };
    },
    { outlivesProcess: true },
  );
}
