/**
 * The browser's carrier: one WebSocket at /ws of the host that served the page. The session cookie that came with the
 * printed link goes along by itself. Lost connections are tried again with a growing pause; a host that does not know the
 * cookie any more is a state of its own, because no retry helps there.
 */
import { createCorrespondence } from './correspondence.ts';
import type { Transport } from './transport.ts';

const RETRY_DELAY_FIRST_MS = 250;
const RETRY_DELAY_MAX_MS = 5_000;

export interface WebSocketOptions {
  /** ws:// or wss:// address; the default is /ws beside the page. */
  readonly url: string;
  readonly open: (url: string) => WebSocket;
  /** True when the host answers and knows this page, false when it answers and does not, null when it does not answer. */
  readonly isKnown: () => Promise<boolean | null>;
  readonly after: (delayMs: number, run: () => void) => () => void;
}

export function connectWebSocket(given: Partial<WebSocketOptions> = {}): Transport {
  const options: WebSocketOptions = { ...defaults(given), ...given };
  let socket: WebSocket | null = null;
  let cancelRetry: (() => void) | null = null;
  let retryDelayMs = RETRY_DELAY_FIRST_MS;

  const line = createCorrespondence({
    send: (text) => socket?.send(text),
    end: () => {
      cancelRetry?.();
      socket?.close();
    },
  });

  const retryLater = (): void => {
    if (line.state() === 'closed') return;
    line.changeState('waiting');
    cancelRetry = options.after(retryDelayMs, connect);
    retryDelayMs = Math.min(retryDelayMs * 2, RETRY_DELAY_MAX_MS);
  };

  const ended = async (wasOpen: boolean): Promise<void> => {
    if (line.state() === 'closed') return;
    if (wasOpen) return retryLater();
    // A refused upgrade looks like a dead host to a page; one small request tells them apart.
    const known = await options.isKnown();
    if (line.state() === 'closed') return;
    if (known === false) line.changeState('refused');
    else retryLater();
  };

  const connect = (): void => {
    let opened = false;
    const fresh = options.open(options.url);
    socket = fresh;
    fresh.addEventListener('open', () => {
      opened = true;
      retryDelayMs = RETRY_DELAY_FIRST_MS;
      line.changeState('connected');
    });
    fresh.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (typeof event.data === 'string') line.received(event.data);
    });
    fresh.addEventListener('close', () => {
      if (socket !== fresh) return;
      socket = null;
      void ended(opened);
    });
  };

  connect();
  return line;
}

function defaults(given: Partial<WebSocketOptions>): WebSocketOptions {
  return {
    url: given.url ?? new URL('ws', location.href.replace(/^http/u, 'ws').replace(/[?#].*$/u, '')).href,
    open: (url) => new WebSocket(url),
    isKnown: askSession,
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

async function askSession(): Promise<boolean | null> {
  try {
    const answer = await fetch('session', { cache: 'no-store' });
    if (answer.ok) return true;
    return answer.status === 401 ? false : null;
  } catch {
    return null;
  }
}
