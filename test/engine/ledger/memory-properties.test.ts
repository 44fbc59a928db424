import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import { ledgerProperties } from './ledger-properties.ts';

ledgerProperties({
  name: 'memory',
  runs: 150,
  open: async (clock) => {
    const store = createMemoryStore(clock);
    return { store, close: () => store.close() };
  },
});
