/** The run that a page shows, with its cells, kept up to date while it runs and after a lost connection. Any kind of run. */
import { useCallback, useEffect, useState } from 'react';
import type { Denial } from '../../shared/contract/denials.ts';
import type { Cell, RunSummary } from '../../shared/contract/experiments.ts';
import type { CellKey, RunId } from '../../shared/contract/ids.ts';
import { useClient, useEngine } from './engine-context.ts';
import type { EngineState } from './engine-state.ts';
import { useThrottledEngine } from './throttled.ts';

export interface StoredRun {
  readonly run: RunSummary | null;
  /** undefined while none of it is here. */
  readonly cells: ReadonlyMap<CellKey, Cell> | undefined;
  /** It was asked for and has not come yet. */
  readonly waiting: boolean;
  readonly denial: Denial | null;
}

/** Charts and tables are drawn at most 10 times a second, larger runs more seldom. */
const REDRAW_MS = 100;
const LARGE_RUN_CELLS = 2_000;
const LARGE_REDRAW_MS = 500;

export function useStoredRun(runId: RunId | null): StoredRun {
  const client = useClient();
  const run = useEngine((state) => (runId === null ? null : (state.runs.get(runId) ?? null)));
  const select = useCallback((state: EngineState) => (runId === null ? undefined : state.cells.get(runId)), [runId]);
  const intervalMs = (run?.cellsTotal ?? 0) > LARGE_RUN_CELLS ? LARGE_REDRAW_MS : REDRAW_MS;
  const cells = useThrottledEngine(select, intervalMs);
  const [answer, setAnswer] = useState<{ runId: RunId; denial: Denial | null } | null>(null);
  const connected = useEngine((state) => state.connection === 'connected');
  const dropped = useEngine((state) => state.eventsDropped);
  const running = run?.state === 'running';
  useEffect(() => {
    if (runId === null || !connected) return;
    let current = true;
    void client.loadRun(runId).then((loaded) => {
      if (current) setAnswer({ runId, denial: loaded.ok ? null : loaded.denial });
    });
    return () => {
      current = false;
    };
    // Also when it starts or ends, and when events were lost on the way: what is here may then be old.
  }, [client, runId, connected, dropped, running]);
  const here = answer?.runId === runId ? answer : null;
  return { run, cells, waiting: runId !== null && here === null, denial: here?.denial ?? null };
}

/** The run of the address; without one the run of this kind that is under way, else its newest. */
export function useShownRunOf(kind: RunSummary['kind'], routeId: string): RunId | null {
  const newest = useEngine((state) => newestRun(state.runs.values(), kind));
  return routeId === '' ? newest : (routeId as RunId);
}

/** The cell and phase that is at work; a text underneath, so that only a change draws anew. */
export function useLivePhase(runId: RunId | null): { cellKey: string; phase: string } | null {
  const text = useEngine((state) => {
    for (const { call, closed } of state.calls.values())
      if (closed === null && runId !== null && call.runId === runId && call.cellKey !== null)
        return `${call.phase}\n${call.cellKey}`;
    return '';
  });
  const cut = text.indexOf('\n');
  return cut < 0 ? null : { phase: text.slice(0, cut), cellKey: text.slice(cut + 1) };
}

/** Cells that a resume would run. */
export function cellsLeft(cells: Iterable<Pick<Cell, 'state' | 'call'>>): number {
  let left = 0;
  for (const { state, call } of cells) {
    if (state === 'done') continue;
    if (state !== 'failed' || call === null || call.ending === 'unreachable' || call.ending === 'not-sent') left += 1;
  }
  return left;
}

/** Why nothing can be started now, in words with the next step; null when it can. */
export function useBlocked(readable: boolean, shownRunId: string | null): string | null {
  const server = useEngine((state) => state.server);
  const other = useEngine((state) => {
    for (const run of state.runs.values()) if (run.state === 'running' && run.id !== shownRunId) return run.name;
    return null;
  });
  if (server === null) return 'Looking for the server.';
  if (server.state !== 'up') return server.problem ?? 'No server answers. Start Ollama, or the simulator in Live.';
  if (other !== null) return `${other} is running. One run at a time: wait for it, or stop it.`;
  return readable ? null : 'Correct what is marked in the sentence.';
}

export const phaseWords: Readonly<Record<string, string>> = {
  estimating: 'estimating',
  sent: 'sent',
  loading: 'loading the model',
  evaluating: 'reading the prompt',
  streaming: 'answering',
  judging: 'judging',
};

function newestRun(runs: Iterable<RunSummary>, kind: RunSummary['kind']): RunId | null {
  let newest: RunSummary | null = null;
  for (const run of runs) if (run.kind === kind && (newest === null || isNewer(run, newest))) newest = run;
  return newest?.id ?? null;
}

function isNewer(run: RunSummary, than: RunSummary): boolean {
  if ((run.state === 'running') !== (than.state === 'running')) return run.state === 'running';
  return run.createdAt > than.createdAt;
}
