/** Which store the ledger of a process uses: the database of its folder, or a Redis that several consoles share. */
import { type Result, ok } from '../../contract/denials.ts';
import type { Settings } from '../../contract/settings.ts';
import type { LedgerStore } from '../../engine/ledger/store.ts';
import { createSharedOrLocal } from '../redis/shared-or-local.ts';
import { openRedisStore } from '../redis/store.ts';
import type { SqliteLedgerStore } from '../storage/ledger-store.ts';
import type { StoreState } from './ledger-service.ts';

export interface OpenedStore {
  readonly store: LedgerStore;
  state(): StoreState;
  onState(listener: () => void): () => void;
}

/** Denied only for an address that is none: a Redis that does not answer is a state, and comes back by itself. */
export async function openSharedStore(ask: {
  readonly sqlite: SqliteLedgerStore;
  /** null = the database alone. */
  readonly redisUrl: string | null;
  settings(): Pick<Settings, 'redisLoss' | 'redisLocalSharePercent'>;
}): Promise<Result<OpenedStore>> {
  const { sqlite, redisUrl, settings } = ask;
  if (redisUrl === null) {
    return ok({
      store: sqlite,
      state: () => ({ state: 'ready', problem: null, next: null }),
      onState: () => () => undefined,
    });
  }
  const redis = await openRedisStore({ url: redisUrl });
  if (!redis.ok) return redis;
  const shared = createSharedOrLocal({
    redis: redis.value,
    local: sqlite,
    loss: () => settings().redisLoss,
    sharePercent: () => settings().redisLocalSharePercent,
  });
  return ok({ store: shared, state: shared.state, onState: (listener) => shared.onState(listener) });
}
