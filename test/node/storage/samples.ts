/** Folders and stores that are gone when their test has ended, and the records to put into them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Home } from '../../../shared/node/storage/home.ts';
import { openHome } from '../../../shared/node/storage/home.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import type { Store } from '../../../shared/node/storage/store-types.ts';
import { clock, value } from './records.ts';

export { clock, samplePlan, sampleRecord, sampleRun, value } from './records.ts';

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function freshHome(): Home {
  return value(openHome({ flag: freshFolder(), environment: {} }));
}

export function freshStore(home: Home = freshHome()): Store {
  const { store } = value(openStore({ home, clock }));
  onTestFinished(() => store.close());
  return store;
}
