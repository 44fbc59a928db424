/** The desktop's carrier: the two functions that the preload puts on the page. The window and its host live and die together. */
import { createCorrespondence } from './correspondence.ts';
import type { Transport } from './transport.ts';

/** What the preload exposes as `window.spillway`; nothing else crosses. */
export interface Bridge {
  send(message: string): void;
  /** Answers the function that ends the subscription. */
  subscribe(listener: (message: string) => void): () => void;
}

export function connectElectron(bridge: Bridge): Transport {
  const line = createCorrespondence({
    send: (text) => {
      bridge.send(text);
    },
    end: () => {
      unsubscribe();
    },
  });
  const unsubscribe = bridge.subscribe((text) => {
    line.received(text);
  });
  // The host listens before the page loads. The change comes a turn later, so that the page can subscribe first.
  queueMicrotask(() => {
    line.changeState('connected');
  });
  return line;
}
