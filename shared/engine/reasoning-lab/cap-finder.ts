/**
 * The smallest output cap with N answered runs in a row: a binary search as a state machine that asks for one run at a time. A run
 * that is not answered ends the tries at its cap; so the search makes at most N runs for each of about log2(range) caps. It rests
 * on "what is enough once is enough with more", which sampling can break: the result is what was seen, not a promise.
 */
import type { CapSearch } from '../../contract/reasoning.ts';

/** inARow: answered runs that a cap needs. within: stop when the two ends are this near. */
export type CapBounds = Pick<CapSearch, 'capMin' | 'capMax' | 'inARow' | 'within' | 'runsMax'>;

export type CapOutcome = 'answered' | 'not-answered';

export type CapState =
  /** Make one run with this cap; `seedOffset` differs for every run. */
  | { readonly kind: 'run'; readonly cap: number; readonly seedOffset: number; readonly runsMade: number }
  /** `cap` answered inARow times; `notEnough` is the largest cap that failed, null when none did. */
  | { readonly kind: 'found'; readonly cap: number; readonly notEnough: number | null; readonly runsMade: number }
  /** Not even capMax answered inARow times. */
  | { readonly kind: 'not-found'; readonly runsMade: number }
  /** runsMax was reached; `cap` is the smallest that is known to answer, null when none is. */
  | { readonly kind: 'gave-up'; readonly cap: number | null; readonly runsMade: number };

export interface CapFinder {
  readonly state: CapState;
  /** What the run that `state` asked for came to. Throws when no run was asked for: that is a bug of the caller. */
  next(outcome: CapOutcome): CapState;
}

/** Bounds are put in order: capMin >= 1, capMax >= capMin, inARow >= 1. */
export function createCapFinder(search: CapBounds): CapFinder {
  const inARow = Math.max(1, search.inARow);
  const within = Math.max(1, search.within);
  const capMin = Math.max(1, search.capMin);
  const capMax = Math.max(capMin, search.capMax);
  let enough: number | null = null;
  /** The largest cap that failed. */
  let notEnough: number | null = null;
  let streak = 0;
  let runsMade = 0;
  let state: CapState = ask(capMax);

  function ask(cap: number): CapState {
    if (runsMade >= search.runsMax) return { kind: 'gave-up', cap: enough, runsMade };
    return { kind: 'run', cap, seedOffset: runsMade, runsMade };
  }

  /** The upper end was tried first: without it there is nothing to search. Then the lower end, then halves. */
  function afterCap(): CapState {
    if (enough === null) return { kind: 'not-found', runsMade };
    if (enough === capMin || (notEnough !== null && enough - notEnough <= within))
      return { kind: 'found', cap: enough, notEnough, runsMade };
    return ask(notEnough === null ? capMin : notEnough + Math.ceil((enough - notEnough) / 2));
  }

  return {
    get state() {
      return state;
    },
    next(outcome) {
      if (state.kind !== 'run') throw new Error(`Broken rule: the cap search is over (${state.kind})`);
      const { cap } = state;
      runsMade += 1;
      if (outcome === 'answered') {
        streak += 1;
        if (streak < inARow) return (state = ask(cap));
        enough = cap;
      } else notEnough = cap;
      streak = 0;
      return (state = afterCap());
    },
  };
}
