/** The cancel used inside the engine: aborts once, remembers why, tells each listener once. */
import type { CancelSignal } from './ports.ts';
import type { Reply } from '../contract/calls.ts';

export type CancelReason = NonNullable<Reply['abortedBy']>;

export interface CancelSource {
  readonly signal: CancelSignal;
  /** The first reason stands; later calls change nothing. */
  cancel(reason: CancelReason): void;
}

export function createCancel(): CancelSource {
  const listeners = new Set<() => void>();
  let reason: CancelReason | null = null;
  return {
    signal: {
      get aborted() {
        return reason !== null;
      },
      get reason() {
        return reason;
      },
      onAbort(listener) {
        if (reason !== null) {
          listener();
          return () => undefined;
        }
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    cancel(why) {
      if (reason !== null) return;
      reason = why;
      for (const listener of [...listeners]) listener();
      listeners.clear();
    },
  };
}

/** For reads that nobody cancels. */
export const never: CancelSignal = { aborted: false, reason: null, onAbort: () => () => undefined };
