/**
 * The tool-bomb lab: one shape is run twice, without and with the ledger, side by side. Both are agent runs like every other;
 * here they are only started, counted while they go, and stopped together.
 */
import { randomBytes } from 'node:crypto';
import type { AgentRunId, AgentRunView, Bomb } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { type BombPlan, bombPlan } from '../../engine/agent-lab/bomb-shapes.ts';
import type { Agents } from './agents.ts';

export interface Bombs {
  /** Resolves when both sides have been started. */
  start(shape: Bomb['shape']): Promise<Result<Bomb>>;
  cancel(id: string): Result<Record<string, never>>;
  /** Newest first. */
  list(): Bomb[];
  /** Resolves with the bomb when both sides have ended; null = there is none of that id. */
  ended(id: string): Promise<Bomb> | null;
  /** Stops what runs, and waits for it. */
  stop(): Promise<void>;
}

const BOMBS_MAX = 20;
/** Not more than ten times a second. */
const TELL_EVERY_MS = 125;

type Side = 'without' | 'with';
const SIDES: readonly Side[] = ['without', 'with'];

interface Watched {
  bomb: Bomb;
}
type Entry = Watched & { readonly done: Promise<Bomb> };

export function createBombs({
  agents,
  emit,
}: {
  readonly agents: Pick<Agents, 'start' | 'ended' | 'cancel' | 'view'>;
  readonly emit: (event: EngineEvent) => void;
}): Bombs {
  const entries = new Map<string, Entry>();

  async function start(shape: Bomb['shape']): Promise<Result<Bomb>> {
    const plan = bombPlan(shape);
    const without = await agents.start(plan.without);
    if (!without.ok) return without;
    const withLedger = await agents.start(plan.with);
    if (!withLedger.ok) {
      agents.cancel(without.value.runId, null);
      return withLedger;
    }
    const watched: Watched = {
      bomb: {
        id: `bomb_${randomBytes(8).toString('hex')}`,
        shape,
        title: plan.title,
        unit: plan.unit,
        without: { runId: without.value.runId, count: 0, secondCount: null },
        with: { runId: withLedger.value.runId, count: 0, secondCount: null },
        secondUnit: plan.secondUnit,
        state: 'running',
      },
    };
    const started = watched.bomb;
    entries.set(started.id, Object.assign(watched, { done: watch(watched, plan) }));
    for (const [id, old] of entries) {
      if (entries.size <= BOMBS_MAX) break;
      if (old.bomb.state !== 'running') entries.delete(id);
    }
    return ok(started);
  }

  /** Counts both sides until both have ended. */
  async function watch(entry: Watched, plan: BombPlan): Promise<Bomb> {
    const over = new Set<Side>();
    const look = (side: Side, view: AgentRunView | null): void => {
      if (view === null) return;
      const counted = { runId: view.run.id, count: plan.count(view), secondCount: plan.second(view) };
      const before = entry.bomb[side];
      if (before.count === counted.count && before.secondCount === counted.secondCount) return;
      entry.bomb = { ...entry.bomb, [side]: counted };
    };
    const tell = (): void => {
      const told = entry.bomb;
      for (const side of SIDES) if (!over.has(side)) look(side, agents.view(entry.bomb[side].runId));
      if (entry.bomb !== told) emit({ type: 'bomb-changed', bomb: entry.bomb });
    };
    emit({ type: 'bomb-changed', bomb: entry.bomb });
    const timer = setInterval(tell, TELL_EVERY_MS);
    timer.unref();
    const ends = await Promise.all(
      SIDES.map(async (side) => {
        const view = await endOf(entry.bomb[side].runId);
        over.add(side);
        look(side, view);
        return view;
      }),
    );
    clearInterval(timer);
    const states = ends.map((view) => view?.run.state ?? 'failed');
    const state = states.includes('cancelled') ? 'cancelled' : states.includes('failed') ? 'failed' : 'done';
    entry.bomb = { ...entry.bomb, state };
    emit({ type: 'bomb-changed', bomb: entry.bomb });
    return entry.bomb;
  }

  /** A run may have ended before anybody waited for it. Its own faults are in its view. */
  async function endOf(runId: AgentRunId): Promise<AgentRunView | null> {
    try {
      return (await agents.ended(runId)) ?? agents.view(runId);
    } catch {
      return agents.view(runId);
    }
  }

  function cancel(id: string): Result<Record<string, never>> {
    const entry = entries.get(id);
    if (entry === undefined) return denied('not-found', 'There is no such run of the lab.', { field: 'id' });
    if (entry.bomb.state !== 'running') return denied('not-found', 'It has ended already.', { field: 'id' });
    // Of a side that has ended by itself there is nothing to stop.
    for (const side of SIDES) agents.cancel(entry.bomb[side].runId, null);
    return ok({});
  }

  return {
    start,
    cancel,
    list: () => [...entries.values()].map(({ bomb }) => bomb).reverse(),
    ended: (id) => entries.get(id)?.done ?? null,
    async stop() {
      for (const { bomb } of entries.values()) if (bomb.state === 'running') cancel(bomb.id);
      await Promise.all([...entries.values()].map(({ done }) => done));
    },
  };
}
