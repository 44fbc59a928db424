/** All that the page gets: two functions that carry texts. What the texts mean is parsed in the host, never here. */
import { contextBridge, ipcRenderer } from 'electron';
import { BRIDGE, TAKEN, TO_ENGINE, TO_SCREEN } from './channels.ts';

const listeners = new Set<(message: string) => void>();

ipcRenderer.on(TO_SCREEN, (_event, message: unknown) => {
  try {
    if (typeof message === 'string') for (const listener of listeners) listener(message);
  } finally {
    ipcRenderer.send(TAKEN);
  }
});

contextBridge.exposeInMainWorld(BRIDGE, {
  send(message: unknown): void {
    if (typeof message === 'string') ipcRenderer.send(TO_ENGINE, message);
  },
  subscribe(listener: unknown): () => void {
    if (typeof listener !== 'function') throw new TypeError('subscribe takes a function');
    const added = listener as (message: string) => void;
    listeners.add(added);
    return () => {
      listeners.delete(added);
    };
  },
});
