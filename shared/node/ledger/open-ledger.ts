/** The ledger of a data folder for a command that is no console: nothing is recovered, expired or told; no lock is taken. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { DEFAULT_DIRECTORY, type Directory } from '../../contract/plans.ts';
import { settingsSchema } from '../../contract/settings.ts';
import { type Ledger, createLedger } from '../../engine/ledger/ledger.ts';
import type { LedgerStore } from '../../engine/ledger/store.ts';
import { openLedgerStore } from '../storage/ledger-store.ts';
import { type Saved, readSaved } from '../storage/saved.ts';
import { type StoreNotice } from '../storage/store-types.ts';
import { readDirectory } from './read-directory.ts';

export interface OpenedLedger {
  readonly ledger: Ledger;
  readonly directory: Directory;
  /** What of the stored directory could not be read. */
  readonly notices: readonly StoreNotice[];
  close(): Promise<void>;
}

/** null = this folder has no database yet, and no Redis is named. */
export async function openLedger(ask: {
  readonly databaseFile: string;
  /** SPILLWAY_REDIS_URL; a setting of the folder beats it. */
  readonly redisUrl: string | undefined;
}): Promise<Result<OpenedLedger | null>> {
  const hasDatabase = existsSync(ask.databaseFile);
  const saved = hasDatabase ? readSaved(ask.databaseFile) : ok(nothingSaved);
  if (!saved.ok) return saved;
  const redisUrl = redisUrlOf(saved.value.settings.redisUrl, ask.redisUrl);
  if (redisUrl === null && !hasDatabase) return ok(null);
  const store = redisUrl === null ? openSqlite(ask.databaseFile) : await openRedis(redisUrl);
  if (!store.ok) return store;
  const stored = saved.value.directory;
  const { directory, notices } =
    stored === null ? { directory: DEFAULT_DIRECTORY, notices: [] } : readDirectory(stored.json);
  const ledger = createLedger({
    store: store.value,
    directory: () => directory,
    // For reservations alone, and none is made here.
    prices: () => null,
    newId: () => `hold_${randomBytes(12).toString('hex')}`,
    owner: 'command-line',
    clockOffsetMs: () => 0,
    events: { emit: () => undefined },
  });
  return ok({ ledger, directory, notices, close: () => store.value.close() });
}

/** What a person set beats the environment; null = the database of the folder. */
export function redisUrlOf(setting: string, environment: string | undefined): string | null {
  const url = setting.trim() === '' ? (environment ?? '').trim() : setting.trim();
  return url === '' ? null : url;
}

const nothingSaved: Saved = { settings: settingsSchema.parse({}), directory: null, priceSets: [] };

const openSqlite = (file: string): Result<LedgerStore> =>
  openLedgerStore({ file, nowMs: () => Date.now(), synchronous: 'full' });

/** Loaded when it is asked for: most folders have no Redis. */
async function openRedis(url: string): Promise<Result<LedgerStore>> {
  const { openRedisStore } = await import('../redis/store.ts');
  const opened = await openRedisStore({ url });
  if (!opened.ok) return opened;
  const state = opened.value.state();
  if (state.state === 'ready') return opened;
  await opened.value.close();
  return denied('ledger-unavailable', state.problem ?? 'Redis does not answer.', {
    next: state.next ?? 'Start it, or correct SPILLWAY_REDIS_URL.',
  });
}
