/**
 * Circuit breakers, one for each upstream, shared by all runs: closed, open (fails fast and says when to come back), half-open
 * (one probe, with a deadline). Times are monotonic milliseconds and come in from outside.
 */
import type { Breaker } from '../../contract/agents.ts';

export interface BreakerSettings {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  readonly openMs: number;
  /** A probe that has not answered by then counts as failed. */
  readonly probeMs: number;
}

export const DEFAULT_BREAKER: BreakerSettings = { failuresMax: 5, openMs: 30_000, probeMs: 10_000 };

export interface Breakers {
  /** null = go on; else milliseconds until a call may be tried. */
  admit(upstream: string, nowMs: number): number | null;
  report(upstream: string, failed: boolean, nowMs: number): void;
  /** A call that was let through did not happen, or was stopped: that tells nothing, and another may probe. */
  drop(upstream: string): void;
  states(nowMs: number): Breaker[];
}

interface State {
  failures: number;
  openedMs: number | null;
  probeMs: number | null;
}

const UPSTREAMS_MAX = 1_000;

export function createBreakers(settings: BreakerSettings = DEFAULT_BREAKER): Breakers {
  const upstreams = new Map<string, State>();
  const of = (upstream: string): State => {
    const known = upstreams.get(upstream);
    if (known !== undefined) return known;
    const fresh: State = { failures: 0, openedMs: null, probeMs: null };
    // The one that was quiet longest makes room: a breaker that forgets lets a call through, no more.
    const oldest = upstreams.keys().next().value;
    if (upstreams.size >= UPSTREAMS_MAX && oldest !== undefined) upstreams.delete(oldest);
    upstreams.set(upstream, fresh);
    return fresh;
  };

  return {
    admit(upstream, nowMs) {
      const state = of(upstream);
      if (state.openedMs === null) return null;
      const openUntil = state.openedMs + settings.openMs;
      if (nowMs < openUntil) return Math.max(1, Math.ceil(openUntil - nowMs));
      if (state.probeMs !== null && nowMs < state.probeMs + settings.probeMs) {
        return Math.max(1, Math.ceil(state.probeMs + settings.probeMs - nowMs));
      }
      state.probeMs = nowMs;
      return null;
    },
    report(upstream, failed, nowMs) {
      const state = of(upstream);
      if (!failed) {
        Object.assign(state, { failures: 0, openedMs: null, probeMs: null });
        return;
      }
      state.failures += 1;
      const wasProbe = state.openedMs !== null;
      if (wasProbe || state.failures >= settings.failuresMax) {
        state.openedMs = nowMs;
        state.probeMs = null;
      }
    },
    drop(upstream) {
      const state = upstreams.get(upstream);
      if (state !== undefined) state.probeMs = null;
    },
    states: (nowMs) =>
      [...upstreams].map(([upstream, state]) => {
        const openUntil = state.openedMs === null ? null : state.openedMs + settings.openMs;
        const isOpen = openUntil !== null && nowMs < openUntil;
        return {
          upstream,
          state: openUntil === null ? 'closed' : isOpen ? 'open' : 'half-open',
          failures: state.failures,
          retryAfterMs: (isOpen ? Math.max(1, Math.ceil(openUntil - nowMs)) : null) as Breaker['retryAfterMs'],
        };
      }),
  };
}
