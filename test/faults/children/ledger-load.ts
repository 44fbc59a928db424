/**
 * Waits for a line, then reserves and resolves in the database file given as fast as it can, many at once, until it is killed.
 * Tells `r INDEX` or `e INDEX` for every reservation and every end that was answered: what was told must be on the disk.
 */
import { readSync, writeSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import type { Result } from '../../../shared/contract/denials.ts';

const CALLS_MAX = 200_000;

const [file = '', owner = ''] = process.argv.slice(2);
// One of these is started for every kill, so they share what it takes to read their sources. A kill would lose the cache.
enableCompileCache(`${file}-modules`);
const { openLedgerStore } = await import('../../../shared/node/storage/ledger-store.ts');
const { START_MS } = await import('../../node/ledger/asks.ts');
const { LANES, loadAsk, loadEnd } = await import('../ledger-load.ts');
flushCompileCache();

readSync(0, Buffer.alloc(1));
const store = granted(openLedgerStore({ file, nowMs: () => START_MS, synchronous: 'full' }));

function granted<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`refused: ${result.denial.message}`);
  return result.value;
}

// At once and not buffered.
const tell = (line: string): void => {
  writeSync(1, `${line}\n`);
};
await Promise.all(
  Array.from({ length: LANES }, async (_, lane) => {
    for (let index = lane; index < CALLS_MAX; index += LANES) {
      const ask = loadAsk(owner, index);
      granted(await store.reserve(ask));
      tell(`r ${index}`);
      // Some stay open for a while, so that a kill finds holds of all ages.
      if (index % 11 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      granted(await store.resolve(loadEnd(ask, index)));
      tell(`e ${index}`);
    }
  }),
);
