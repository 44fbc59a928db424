/** Keeps the view of the ledger true: asked for when it is wanted, when a period ends, and while a rolling minute rolls. */
import { useEffect } from 'react';
import { useClient, useEngine } from './engine-context.ts';
import type { EngineClient } from './engine-store.ts';
import { isViewWanted, ledgerNowMs } from './ledger-state.ts';
import type { LedgerSlice } from './ledger-state.ts';

/** Views are costly: at most one in this time, however much changes. */
const ASK_INTERVAL_MS = 1_000;
/** After a refusal of the request, such as a store that is gone. */
const RETRY_MS = 5_000;
/** Timers of browsers hold no longer waits; the page asks again then, which does no harm. */
const WAIT_MAX_MS = 3_600_000;
const ROLLING_MS = 2_000;

/** For the whole window: the status bar and the rail say what is held on every page. */
export function useLedgerFeed(): void {
  const client = useClient();
  const loaded = useEngine((state) => state.loaded);
  const connected = useEngine((state) => state.connection === 'connected');
  useEffect(() => {
    if (!loaded || !connected) return;
    return followLedger(client);
  }, [client, loaded, connected]);
}

/** Returns what ends it. */
export function followLedger(client: EngineClient): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let timerAt = Infinity;
  let asking = false;
  let stopped = false;
  let notBeforeMs = -Infinity;

  const wait = (untilMs: number): void => {
    if (stopped || asking || untilMs >= timerAt) return;
    if (timer !== null) clearTimeout(timer);
    timerAt = untilMs;
    timer = setTimeout(() => void ask(), Math.min(WAIT_MAX_MS, Math.max(0, untilMs - Date.now())));
  };
  const plan = (): void => {
    const { ledger } = client.store.getState();
    const leftMs = isViewWanted(ledger) ? 0 : dueInMs(ledger, client.nowMs());
    if (leftMs !== null) wait(Math.max(Date.now() + leftMs, notBeforeMs));
  };
  const ask = async (): Promise<void> => {
    timer = null;
    timerAt = Infinity;
    asking = true;
    const answer = await client.loadLedger();
    asking = false;
    notBeforeMs = Date.now() + (answer.ok ? ASK_INTERVAL_MS : RETRY_MS);
    if (!stopped) plan();
  };
  const unsubscribe = client.store.subscribe((state, before) => {
    if (state.ledger !== before.ledger) plan();
  });
  plan();
  return () => {
    stopped = true;
    unsubscribe();
    if (timer !== null) clearTimeout(timer);
  };
}

/** How long the figures stay true without an event: to the next end of a period; briefly while a rolling minute has something. */
export function dueInMs(ledger: LedgerSlice, nowMs: number): number | null {
  const clockMs = ledgerNowMs(ledger, nowMs);
  if (clockMs === null) return null;
  let leftMs = Infinity;
  for (const { endsAt, account, spent, held } of ledger.balances.values()) {
    if (account.window === 'minute' && spent + held > 0) leftMs = Math.min(leftMs, ROLLING_MS);
    if (endsAt !== null) leftMs = Math.min(leftMs, Math.max(0, Date.parse(endsAt) - clockMs));
  }
  return leftMs === Infinity ? null : leftMs;
}
