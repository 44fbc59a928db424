import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import { START_MS } from './asks.ts';
import { storeContract } from './store-contract.ts';

storeContract('memory', async () => {
  let nowMs = START_MS;
  const store = createMemoryStore({ nowMs: () => nowMs });
  return {
    store,
    setNow: (ms) => {
      nowMs = ms;
    },
    close: () => store.close(),
  };
});
