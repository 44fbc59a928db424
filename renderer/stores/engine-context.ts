/** Hooks over the one engine client of this screen. Select the smallest thing: `useEngine((state) => state.server)`. */
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import type { EngineState } from './engine-state.ts';
import type { EngineClient } from './engine-store.ts';

export const EngineContext = createContext<EngineClient | null>(null);

export function useClient(): EngineClient {
  const client = useContext(EngineContext);
  if (client === null) throw new Error('useClient needs an EngineContext around it');
  return client;
}

export function useEngine<Selected>(select: (state: EngineState) => Selected): Selected {
  return useStore(useClient().store, select);
}
