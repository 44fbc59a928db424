/** One call's cancel: the signal of the caller and the call's own time limit, whichever comes first. */
import type { CancelSignal } from '../../engine/ports.ts';

/** Longest time a timer can hold; a longer limit is as good as none. */
const timerMsMax = 2 ** 31 - 1;

export interface Watch {
  readonly reason: CancelSignal['reason'];
  /** True when the reason is our own timer. */
  readonly timedOut: boolean;
  /** Calls back at most once; the last listener given is the one that is called. */
  onAbort(listener: () => void): void;
  /** Ends the timer and lets go of the signal. */
  end(): void;
}

export function createWatch(signal: CancelSignal, timeoutMs: number | null): Watch {
  let reason: CancelSignal['reason'] = null;
  let timedOut = false;
  let listener: (() => void) | null = null;
  const abort = (why: CancelSignal['reason']): void => {
    if (reason !== null) return;
    // A signal that aborts must say why; where it does not, a person is the best guess.
    reason = why ?? 'person';
    listener?.();
  };
  const timer =
    timeoutMs === null || timeoutMs > timerMsMax
      ? null
      : setTimeout(() => {
          timedOut = reason === null;
          abort('timeout');
        }, timeoutMs);
  const release = signal.onAbort(() => abort(signal.reason));
  if (signal.aborted) abort(signal.reason);
  return {
    get reason() {
      return reason;
    },
    get timedOut() {
      return timedOut;
    },
    onAbort(next) {
      listener = next;
      if (reason !== null) next();
    },
    end() {
      listener = null;
      if (timer !== null) clearTimeout(timer);
      release();
    },
  };
}
