/**
 * The time of a run: a clock of its own for a script, the real one for everything else; and how often a screen is told.
 */
import type { AgentTask } from '../../contract/agents.ts';
import { type VirtualTime, createVirtualTime } from '../../engine/agent-lab/virtual-time.ts';
import { type Breakers, DEFAULT_BREAKER, createBreakers } from '../../engine/gateway/breaker.ts';

const FRAME_MS = 100;

export interface RunTime extends VirtualTime {
  /** Where the run began on the clock that all runs share; null = its time is its own. */
  readonly beganMs: number | null;
}

/**
 * Breakers are shared by the runs whose time is real, on one clock. A script has its own: its time is nobody else's. Without
 * the ledger nothing stops a call.
 */
export function breakersOf({ governed }: AgentTask, { beganMs }: RunTime, shared: Breakers): Breakers {
  if (!governed) return createBreakers({ ...DEFAULT_BREAKER, failuresMax: Infinity });
  if (beganMs === null) return createBreakers();
  return {
    admit: (upstream, nowMs) => shared.admit(upstream, beganMs + nowMs),
    report: (upstream, failed, nowMs) => shared.report(upstream, failed, beganMs + nowMs),
    drop: (upstream) => shared.drop(upstream),
    states: (nowMs) => shared.states(beganMs + nowMs),
  };
}

export function realTime(startMs: number): RunTime {
  const beganMs = performance.now() - startMs;
  return {
    beganMs,
    nowMs: () => performance.now() - beganMs,
    hold: (work) => work,
    sleep: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
    after(delayMs, then) {
      const timer = setTimeout(then, Math.min(delayMs, 2_147_483_647));
      return () => clearTimeout(timer);
    },
    run: (work) => work,
  };
}

export function virtualTime(pace: () => number, startMs: number): RunTime {
  const time = createVirtualTime({
    startMs,
    idle: () => new Promise((resolve) => setImmediate(resolve)),
    pause: (virtualMs) => {
      const waitMs = (virtualMs / 1_000) * pace();
      return waitMs < 1 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, waitMs));
    },
  });
  return { ...time, beganMs: null };
}

/** How much of the time saving may take: a run that is large is saved less often. */
const SAVE_SHARE = 20;
const SAVE_GAP_MS_MAX = 5_000;

/**
 * Saves at once when something changed, and then not again before the gap is over: a kill costs what happened in the gap, which
 * is nothing for a model that takes its time.
 */
export function createSaver(save: () => void): { changed(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  const now = (): void => {
    const began = performance.now();
    save();
    const gapMs = Math.min(SAVE_GAP_MS_MAX, (performance.now() - began) * SAVE_SHARE);
    isDirty = false;
    timer = setTimeout(() => {
      timer = null;
      if (isDirty) now();
    }, gapMs);
    timer.unref();
  };
  let isDirty = false;
  return {
    changed() {
      isDirty = true;
      if (timer === null) now();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** At most one in FRAME_MS, and never none at the end. */
export function createFrames(send: () => void): { soon(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  return {
    soon() {
      timer ??= setTimeout(() => {
        timer = null;
        send();
      }, FRAME_MS);
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
