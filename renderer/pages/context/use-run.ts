/** The run that the page shows, with its cells, kept up to date while it runs and after a lost connection. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import { isContextCell } from '../../../shared/contract/experiments.ts';
import type { Cell, ContextCell, ContextRun, RunSummary } from '../../../shared/contract/experiments.ts';
import type { CellKey, RunId } from '../../../shared/contract/ids.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import type { EngineState } from '../../stores/engine-state.ts';
import { useThrottledEngine } from '../../stores/throttled.ts';
import { labOf } from './trials.ts';
import type { Lab } from './trials.ts';

export interface ShownRun {
  readonly run: ContextRun | null;
  readonly cells: ReadonlyMap<CellKey, ContextCell>;
  readonly lab: Lab;
  readonly loading: boolean;
  readonly denial: Denial | null;
}

/** Charts and tables are drawn at most 10 times a second, larger runs more seldom. */
const REDRAW_MS = 100;
const LARGE_RUN_CELLS = 2_000;
const LARGE_REDRAW_MS = 500;

export function useRun(runId: RunId | null): ShownRun {
  const client = useClient();
  const run = contextRun(useEngine((state) => (runId === null ? undefined : state.runs.get(runId))));
  const select = useCallback((state: EngineState) => (runId === null ? undefined : state.cells.get(runId)), [runId]);
  const intervalMs = (run?.cellsTotal ?? 0) > LARGE_RUN_CELLS ? LARGE_REDRAW_MS : REDRAW_MS;
  const known = useThrottledEngine(select, intervalMs);
  const cells = useMemo(() => contextCells(known), [known]);
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
  const lab = useMemo(() => labOf(cells.values()), [cells]);
  const here = answer?.runId === runId ? answer : null;
  return {
    run,
    cells,
    lab,
    loading: runId !== null && here === null && cells.size === 0,
    denial: here?.denial ?? null,
  };
}

/** The run of the address; without one the run under way, else the newest. */
export function useShownRunId(routeId: string): RunId | null {
  const newest = useEngine((state) => newestRun(state.runs.values()));
  return routeId === '' ? newest : (routeId as RunId);
}

/** The cell and phase that is at work, as `key|phase`; a text, so that only a change draws anew. */
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
export function cellsLeft(cells: Iterable<ContextCell>): number {
  let left = 0;
  for (const { state, call } of cells) {
    if (state === 'done') continue;
    if (state !== 'failed' || call === null || call.ending === 'unreachable' || call.ending === 'not-sent') left += 1;
  }
  return left;
}

const noCells: ReadonlyMap<CellKey, ContextCell> = new Map();

function contextRun(run: RunSummary | undefined): ContextRun | null {
  return run?.kind === 'context' ? run : null;
}

/** A run is of one kind, and so are its cells. */
function contextCells(cells: ReadonlyMap<CellKey, Cell> | undefined): ReadonlyMap<CellKey, ContextCell> {
  if (cells === undefined) return noCells;
  for (const cell of cells.values())
    return isContextCell(cell) ? (cells as ReadonlyMap<CellKey, ContextCell>) : noCells;
  return noCells;
}

function newestRun(runs: Iterable<RunSummary>): RunId | null {
  let newest: RunSummary | null = null;
  for (const run of runs) if (run.kind === 'context' && (newest === null || isNewer(run, newest))) newest = run;
  return newest?.id ?? null;
}

function isNewer(run: RunSummary, than: RunSummary): boolean {
  if ((run.state === 'running') !== (than.state === 'running')) return run.state === 'running';
  return run.createdAt > than.createdAt;
}
