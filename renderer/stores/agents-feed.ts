/** Keeps what is known of agent runs true: the list for the whole window, and the run that a page shows. */
import { useCallback, useEffect } from 'react';
import type { AgentRun, AgentRunId } from '../../shared/contract/agents.ts';
import type { AgentDetail } from './agents-state.ts';
import { useClient, useEngine } from './engine-context.ts';
import type { EngineState } from './engine-state.ts';
import { useThrottledEngine } from './throttled.ts';

/** After a refusal, such as a host that has no agents yet. */
const RETRY_MS = 10_000;
/** A run is drawn at most 10 times a second, a large one more seldom. */
const REDRAW_MS = 100;
const LARGE_RUN_CALLS = 1_000;
const LARGE_REDRAW_MS = 400;

/** For the whole window: the rail and the bar of approvals are there on every page. */
export function useAgentsFeed(): void {
  const client = useClient();
  const wanted = useEngine((state) => state.agents.wanted);
  const ready = useEngine((state) => state.loaded && state.connection === 'connected');
  useEffect(() => {
    if (!ready) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    let over = false;
    const ask = async (): Promise<void> => {
      const answer = await client.loadAgents();
      if (!answer.ok && !over) timer = setTimeout(() => void ask(), RETRY_MS);
    };
    void ask();
    return () => {
      over = true;
      if (timer !== null) clearTimeout(timer);
    };
  }, [client, wanted, ready]);
}

/** The run of the address, whole; asked for when it is opened, when events were lost, and once more when it has ended. */
export function useAgentRun(runId: AgentRunId | null): {
  readonly run: AgentRun | null;
  readonly detail: AgentDetail | null;
} {
  const client = useClient();
  const wanted = useEngine((state) => state.agents.wanted);
  const connected = useEngine((state) => state.connection === 'connected');
  const running = useEngine((state) => (runId === null ? null : state.agents.runs.get(runId)?.state === 'running'));
  useEffect(() => {
    if (runId !== null && connected) void client.loadAgentRun(runId);
  }, [client, runId, wanted, connected, running]);
  const select = useCallback(
    (state: EngineState) => (runId === null ? null : (state.agents.details.get(runId) ?? null)),
    [runId],
  );
  const isLarge = useEngine(
    (state) => runId !== null && (state.agents.details.get(runId)?.calls.size ?? 0) > LARGE_RUN_CALLS,
  );
  const intervalMs = isLarge ? LARGE_REDRAW_MS : REDRAW_MS;
  const detail = useThrottledEngine(select, intervalMs);
  const selectRun = useCallback(
    (state: EngineState) => (runId === null ? null : (state.agents.runs.get(runId) ?? null)),
    [runId],
  );
  return { run: useThrottledEngine(selectRun, intervalMs), detail };
}

/** The run of the address; without one the run that is under way, else the newest. */
export function useShownAgentRun(routeId: string): AgentRunId | null {
  const newest = useEngine((state) => newestAgentRun(state.agents.runs.values()));
  return routeId === '' ? newest : (routeId as AgentRunId);
}

export function newestAgentRun(runs: Iterable<AgentRun>): AgentRunId | null {
  let best: AgentRun | null = null;
  for (const run of runs) {
    const isRunning = run.state === 'running';
    const bestRuns = best?.state === 'running';
    if (best === null || (isRunning && !bestRuns) || (isRunning === bestRuns && run.startedAt >= best.startedAt))
      best = run;
  }
  return best?.id ?? null;
}
