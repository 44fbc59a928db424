/** The properties of any ledger, over SQLite; a crash closes the connection and opens the file again. */
import { expect, test } from 'vitest';
import { openLedgerStore } from '../../../shared/node/storage/ledger-store.ts';
import { ledgerProperties } from '../../engine/ledger/ledger-properties.ts';
import { lineFor, reserveAsk, resolveAsk } from '../../engine/ledger/ledger-world.ts';
import { value } from '../storage/records.ts';
import { freshFile, freshLedger } from './sqlite.ts';

for (const group of [true, false]) {
  ledgerProperties({
    name: group ? 'SQLite, grouped' : 'SQLite, one at a time',
    runs: group ? 20 : 10,
    open: async ({ nowMs }) => {
      const file = freshFile();
      const open = (): ReturnType<typeof openLedgerStore> =>
        openLedgerStore({ file, nowMs, synchronous: 'normal', group });
      let store = value(open());
      return {
        store,
        reopen: async () => {
          await store.close();
          store = value(open());
          return store;
        },
        close: () => store.close(),
      };
    },
  });
}

test('a hold of nothing that is charged long after its minute', async () => {
  const store = freshLedger();
  const who = { book: 'real', tenant: 0, user: 0, model: 0 } as const;
  const MODEL_MINUTE = 4;
  const hold = async (id: string, tokens: number, atMs: number): Promise<void> => {
    const lines = [lineFor(who, MODEL_MINUTE, tokens, 100, atMs)];
    value(await store.reserve(reserveAsk(who, lines, { id, key: id, atMs })));
  };
  await hold('nothing', 0, 0);
  await hold('later', 1, 200_000);
  const ask = resolveAsk({ id: 'nothing', book: 'real', tenant: 'acme' }, 'settle', 7, 200_000);
  expect(value(await store.resolve(ask)).reservation).toMatchObject({ state: 'settled', charge: { overrunTokens: 7 } });
  expect(value(await store.audit(0))).toMatchObject({ sound: true, faults: [] });
});
