/** Times that go by the ledger's own clock: it may be moved, and it goes on between events. */
import { useEffect, useState } from 'react';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { ledgerNowMs } from '../../stores/ledger-state.ts';
import { age, countdown } from './words.ts';

const TICK_MS = 500;

/** null until the ledger said what time it is. */
export function useLedgerNow(): number | null {
  const client = useClient();
  const state = useEngine((engine) => engine.ledger.state);
  const stateAtMs = useEngine((engine) => engine.ledger.stateAtMs);
  const [nowMs, setNowMs] = useState(() => client.nowMs());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(client.nowMs()), TICK_MS);
    return () => clearInterval(timer);
  }, [client]);
  return ledgerNowMs({ state, stateAtMs }, Math.max(nowMs, stateAtMs));
}

/** `1:15:58`; `over` when the time has come. Read aloud it would never end, so the end itself is named. */
export function Countdown({ to, over }: { readonly to: number; readonly over: string }) {
  const nowMs = useLedgerNow();
  if (nowMs === null) return <span>–</span>;
  return <span>{to <= nowMs ? over : countdown(to - nowMs)}</span>;
}

export function Age({ since }: { readonly since: string }) {
  const nowMs = useLedgerNow();
  return <span>{nowMs === null ? '–' : age(nowMs - Date.parse(since))}</span>;
}
