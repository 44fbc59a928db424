/** Opens a run in the folder given and writes calls as fast as it can, telling each one that is stored, until it is killed. */
import { writeSync } from 'node:fs';
import type { CellKey, RunId } from '../../../shared/contract/ids.ts';
import { openHome } from '../../../shared/node/storage/home.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import { clock, samplePlan, sampleRecord, sampleRun, value } from '../../node/storage/records.ts';

const cellsMax = 100_000;
const home = value(openHome({ flag: process.argv[2], environment: {} }));
const { store } = value(openStore({ home, clock }));
const plans = Array.from({ length: 5_000 }, (_, index) => samplePlan(index));
const runId = 'run-1' as RunId;
value(store.openRun(sampleRun(), plans));
const filler = 'The policy says that refunds take ten days. '.repeat(200);
for (let index = 0; index < cellsMax; index += 1) {
  const key = `cell-${index % plans.length}` as CellKey;
  value(store.setCellState(runId, key, 'running', 2_000));
  const request = { messages: [{ role: 'user', content: `${filler}${index}` }] };
  value(store.callClosed(sampleRecord({ id: `call-${index}`, runId, cellKey: key, request })));
  // At once and not buffered: what was told must be on the disk.
  writeSync(1, `${index}\n`);
}
