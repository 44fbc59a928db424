/** A part of the engine's state that is read at most once in `intervalMs`, for drawings that are costly. */
import { useEffect, useState } from 'react';
import type { EngineState } from './engine-state.ts';
import { useClient } from './engine-context.ts';

/** The first value is there at once, the last one always arrives. `select` must be stable (useCallback). */
export function useThrottledEngine<Selected>(select: (state: EngineState) => Selected, intervalMs = 100): Selected {
  const { store } = useClient();
  const [held, setHeld] = useState<{ select: typeof select; value: Selected }>(() => ({
    select,
    value: select(store.getState()),
  }));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let lastMs = -Infinity;
    const read = (): void => {
      timer = null;
      lastMs = performance.now();
      const value = select(store.getState());
      setHeld((before) => (before.select === select && Object.is(before.value, value) ? before : { select, value }));
    };
    const changed = (): void => {
      if (timer !== null) return;
      const waitMs = lastMs + intervalMs - performance.now();
      if (waitMs <= 0) read();
      else timer = setTimeout(read, waitMs);
    };
    read();
    const unsubscribe = store.subscribe(changed);
    return () => {
      unsubscribe();
      if (timer !== null) clearTimeout(timer);
    };
  }, [store, select, intervalMs]);
  // Another run is shown at once, not when its first change comes.
  return held.select === select ? held.value : select(store.getState());
}
