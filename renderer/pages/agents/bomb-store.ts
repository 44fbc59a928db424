/** Starting and stopping bombs, one after the other where all are wanted; goes on while another page is open. */
import { create } from 'zustand';
import type { Bomb } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { labShapes, newestBombs } from './bomb-model.ts';
import type { LabShape } from './bomb-model.ts';

export interface BombRuns {
  /** Asked for and not yet answered. */
  readonly asking: LabShape | null;
  /** Those that `Run all` has still to start; null = it does not run. */
  readonly queue: readonly LabShape[] | null;
  readonly denials: Readonly<Partial<Record<LabShape, Denial>>>;
  /** How long a shape took on this screen, both sides together. */
  readonly tookMs: Readonly<Partial<Record<LabShape, number>>>;
}

export const firstBombRuns: BombRuns = { asking: null, queue: null, denials: {}, tookMs: {} };
export const useBombRuns = create<BombRuns>(() => firstBombRuns);

/** Lays an answered list, newest first, under what events have told: they are younger. What ran and is not listed is gone. */
export function takeBombs(client: EngineClient, listed: readonly Bomb[]): void {
  const { agents } = client.store.getState();
  const ids = new Set(listed.map(({ id }) => id));
  const told = [...agents.bombs.values()].filter(({ id, state }) => state !== 'running' || ids.has(id));
  const known = new Set(told.map(({ id }) => id));
  const bombs = new Map(
    [...listed.filter(({ id }) => !known.has(id)).reverse(), ...told].map((bomb) => [bomb.id, bomb]),
  );
  client.store.setState({ agents: { ...agents, bombs } });
}

export async function loadBombs(client: EngineClient): Promise<Denial | null> {
  const answer = await client.request('bomb.list', {});
  if (!answer.ok) return answer.denial;
  takeBombs(client, answer.value);
  return null;
}

/** Answers when it has ended; false when it was refused, stopped or lost. */
export async function runBomb(client: EngineClient, shape: LabShape): Promise<boolean> {
  const startedMs = performance.now();
  useBombRuns.setState(({ denials }) => ({ asking: shape, denials: without(denials, shape) }));
  const answer = await client.request('bomb.start', { shape });
  useBombRuns.setState({ asking: null });
  if (!answer.ok) {
    useBombRuns.setState(({ denials }) => ({ denials: { ...denials, [shape]: answer.denial } }));
    return false;
  }
  const { agents } = client.store.getState();
  const bomb = answer.value;
  if (!agents.bombs.has(bomb.id))
    client.store.setState({ agents: { ...agents, bombs: new Map(agents.bombs).set(bomb.id, bomb) } });
  const isDone = await ended(client, bomb.id);
  if (isDone) useBombRuns.setState(({ tookMs }) => ({ tookMs: { ...tookMs, [shape]: performance.now() - startedMs } }));
  return isDone;
}

/** All shapes, one after the other: a refusal or a stop ends it. */
export async function runAllBombs(client: EngineClient): Promise<void> {
  if (useBombRuns.getState().queue !== null) return;
  useBombRuns.setState({ queue: labShapes.map(({ shape }) => shape) });
  for (;;) {
    const [next, ...rest] = useBombRuns.getState().queue ?? [];
    if (next === undefined) break;
    useBombRuns.setState({ queue: rest });
    if (!(await runBomb(client, next))) break;
  }
  useBombRuns.setState({ queue: null });
}

export async function stopBomb(client: EngineClient, bomb: Bomb): Promise<void> {
  useBombRuns.setState(({ queue }) => ({ queue: queue === null ? null : [] }));
  const answer = await client.request('bomb.cancel', { id: bomb.id });
  // What has ended in the meantime is as it was wanted.
  if (answer.ok || answer.denial.code === 'not-found') return;
  useBombRuns.setState(({ denials }) => ({ denials: { ...denials, [bomb.shape]: answer.denial } }));
}

/** What runs now, and the rest of `Run all` with it. */
export async function stopAllBombs(client: EngineClient): Promise<void> {
  useBombRuns.setState(({ queue }) => ({ queue: queue === null ? null : [] }));
  const running = [...newestBombs(client.store.getState().agents.bombs.values()).values()];
  await Promise.all(running.filter(({ state }) => state === 'running').map((bomb) => stopBomb(client, bomb)));
}

function ended(client: EngineClient, id: string): Promise<boolean> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      const bomb = client.store.getState().agents.bombs.get(id);
      if (bomb?.state === 'running') return false;
      resolve(bomb?.state === 'done');
      return true;
    };
    if (look()) return;
    const unsubscribe = client.store.subscribe(() => {
      if (look()) unsubscribe();
    });
  });
}

function without(denials: BombRuns['denials'], shape: LabShape): BombRuns['denials'] {
  return Object.fromEntries(Object.entries(denials).filter(([key]) => key !== shape));
}
