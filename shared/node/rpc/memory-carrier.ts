/** A screen in the same process, for tests and for tools that want the same door as a window has. */
import { MESSAGE_BYTES_MAX } from '../../contract/frames.ts';
import type { EngineDoor } from './dispatcher.ts';
import { openScreen } from './screen.ts';
import type { ScreenTimers } from './screen.ts';

/** The same two functions as the desktop's bridge. */
export interface MemoryCarrier {
  send(message: string): void;
  subscribe(listener: (message: string) => void): () => void;
  close(): void;
}

/** Texts arrive a microtask later, in order, as over a real carrier: nobody can lean on being called back at once. */
export function openMemoryCarrier(door: EngineDoor, timers?: ScreenTimers): MemoryCarrier {
  const listeners = new Set<(message: string) => void>();
  let waiting = 0;
  const screen = openScreen({
    id: 'memory',
    door,
    carrier: {
      send: (text) => {
        waiting += 1;
        queueMicrotask(() => {
          waiting -= 1;
          for (const listener of listeners) listener(text);
        });
      },
      isBehind: () => waiting > 0,
    },
    ...(timers === undefined ? {} : { timers }),
  });
  return {
    send(message) {
      if (Buffer.byteLength(message) > MESSAGE_BYTES_MAX)
        throw new RangeError('The message is larger than a carrier takes.');
      queueMicrotask(() => {
        screen.receive(message);
      });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      screen.close();
      listeners.clear();
    },
  };
}
