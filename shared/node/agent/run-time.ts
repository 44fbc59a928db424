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
