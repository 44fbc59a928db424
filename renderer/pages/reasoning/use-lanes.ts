/** The lanes of the run that the page shows, with the calls at work and how the others came. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import { isReasoningCell } from '../../../shared/contract/experiments.ts';
import type { Cell, ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { CellKey, RunId } from '../../../shared/contract/ids.ts';
import type { LaneSummary } from '../../../shared/contract/reasoning.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { courseKey } from '../../stores/engine-state.ts';
import type { Course, EngineState, LiveCall } from '../../stores/engine-state.ts';
import { useStoredRun } from '../../stores/stored-run.ts';
import { useThrottledEngine } from '../../stores/throttled.ts';
import { laneSetOf, withSummaries } from './lanes.ts';
import type { Lane, LaneSet } from './lanes.ts';

export interface ShownRun extends LaneSet {
  readonly run: ReasoningRun | null;
  readonly cells: ReadonlyMap<CellKey, ReasoningCell>;
  readonly loading: boolean;
  readonly denial: Denial | null;
}

export function useLanes(runId: RunId | null, picked: ReadonlySet<string>): ShownRun {
  const stored = useStoredRun(runId);
  const run = stored.run?.kind === 'reasoning' ? stored.run : null;
  const cells = useMemo(() => reasoningCells(stored.cells), [stored.cells]);
  const summaries = useSummaries(run);
  const set = useMemo(() => {
    const { lanes, warmUps } = laneSetOf(cells.values(), picked);
    return { lanes: withSummaries(lanes, summaries), warmUps };
  }, [cells, picked, summaries]);
  return { ...set, run, cells, loading: stored.waiting && cells.size === 0, denial: stored.denial };
}

/** How often a switch was obeyed, in the engine's own words; asked when a run ends, since while it runs the cells tell it. */
function useSummaries(run: ReasoningRun | null): readonly LaneSummary[] {
  const client = useClient();
  const [held, setHeld] = useState<{ runId: RunId; lanes: readonly LaneSummary[] } | null>(null);
  const ended = run !== null && run.state !== 'running';
  const runId = run?.id ?? null;
  useEffect(() => {
    if (runId === null || !ended) return;
    let current = true;
    void client.request('reasoning.summary', { runId }).then((answer) => {
      if (current && answer.ok) setHeld({ runId, lanes: answer.value.lanes });
    });
    return () => {
      current = false;
    };
  }, [client, runId, ended]);
  return ended && held?.runId === runId ? held.lanes : none;
}

const none: readonly LaneSummary[] = [];
const noCells: ReadonlyMap<CellKey, ReasoningCell> = new Map();

function reasoningCells(cells: ReadonlyMap<CellKey, Cell> | undefined): ReadonlyMap<CellKey, ReasoningCell> {
  if (cells === undefined) return noCells;
  for (const cell of cells.values())
    return isReasoningCell(cell) ? (cells as ReadonlyMap<CellKey, ReasoningCell>) : noCells;
  return noCells;
}

export interface Streams {
  readonly liveOf: (lane: Lane) => LiveCall | null;
  readonly courseOf: (lane: Lane) => Course | null;
}

/** What streams now, read at most ten times a second, and how calls came that this screen saw. */
export function useStreams(runId: RunId | null): Streams {
  const calls = useThrottledEngine(useCallback((state: EngineState) => state.calls, []));
  const courses = useThrottledEngine(useCallback((state: EngineState) => state.courses, []));
  return useMemo(() => {
    const live = new Map<string, LiveCall>();
    for (const one of calls.values())
      if (one.closed === null && one.call.runId === runId && one.call.cellKey !== null) live.set(one.call.cellKey, one);
    return {
      liveOf: ({ shown }) => live.get(shown.plan.key) ?? null,
      courseOf: ({ shown }) => (runId === null ? null : (courses.get(courseKey(runId, shown.plan.key)) ?? null)),
    };
  }, [calls, courses, runId]);
}

export type Tail = Pick<Course, 'thinking' | 'answer'>;

/** The ends of the texts of ended calls that this screen did not see stream; asked once a call, for the lanes in sight. */
export function useTails(run: ReasoningRun, lanes: readonly Lane[], { courseOf }: Streams): ReadonlyMap<string, Tail> {
  const client = useClient();
  const [held, setHeld] = useState<ReadonlyMap<string, Tail>>(new Map());
  const asked = useRef(new Set<string>());
  const missing = lanes
    .slice(0, TAILS_MAX)
    .flatMap((lane) => (lane.shown.call === null || courseOf(lane) !== null ? [] : [lane.shown]));
  const key = missing.map(({ call }) => call?.id ?? '').join('\n');
  useEffect(() => {
    for (const { plan, call } of missing) {
      if (call === null || asked.current.has(call.id)) continue;
      asked.current.add(call.id);
      void client.request('cell.get', { runId: run.id, cellKey: plan.key }).then((answer) => {
        const reply = answer.ok ? answer.value.record?.reply : undefined;
        if (reply === undefined) return;
        const tail = { thinking: reply.thinking.slice(-TAIL_CHARACTERS), answer: reply.answer.slice(-TAIL_CHARACTERS) };
        setHeld((before) => new Map([...before, [call.id, tail] as const].slice(-TAILS_HELD_MAX)));
      });
    }
    // The cells are new objects at every change; their calls tell whether something is missing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, run.id, key]);
  return held;
}

const TAILS_MAX = 8;
const TAILS_HELD_MAX = 64;
const TAIL_CHARACTERS = 400;

/** Whether each model can think: from the list, else asked once. A model that is not known yet is not there. */
export function useThinkers(models: readonly string[]): ReadonlyMap<string, boolean> {
  const client = useClient();
  const listed = useEngine((state) => state.server?.models);
  const up = useEngine((state) => state.server?.state === 'up');
  const [asked, setAsked] = useState<ReadonlyMap<string, boolean>>(new Map());
  const known = useMemo(() => {
    const all = new Map(asked);
    for (const { name, capabilities } of listed ?? [])
      if (capabilities !== null) all.set(name, capabilities.includes('thinking'));
    return all;
  }, [listed, asked]);
  const missing = up ? models.filter((name) => !known.has(name)).slice(0, ASKED_MAX) : [];
  const key = missing.join('\n');
  useEffect(() => {
    let current = true;
    for (const model of key === '' ? [] : key.split('\n'))
      void client.request('model.show', { model }).then((facts) => {
        if (current && facts.ok)
          setAsked((before) => new Map(before).set(model, facts.value.capabilities.includes('thinking')));
      });
    return () => {
      current = false;
    };
  }, [client, key]);
  return known;
}

const ASKED_MAX = 10;
