/** The open WebSockets of the browser host: one screen each, bounded in number, in message size and in what waits to be read. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import { MESSAGE_BYTES_MAX } from '../../contract/frames.ts';
import type { EngineDoor } from './dispatcher.ts';
import { openScreen } from './screen.ts';
import type { Screen } from './screen.ts';

export const SCREENS_MAX = 32;
/** Above this, frames are held back and joined: a screen in a sleeping tab gets one large frame when it wakes. */
const BEHIND_BYTES = 1024 * 1024;
/** Above this the screen is cut off; it connects again and asks for a snapshot. */
const BEHIND_BYTES_MAX = 2 * MESSAGE_BYTES_MAX;
/** A browser answers a ping by itself; two in a row without an answer, and nobody is there. */
const PING_INTERVAL_MS = 15_000;

export interface WebSockets {
  /** Takes over an upgrade that has been checked. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  count(): number;
  stop(): void;
}

export function createWebSockets(door: EngineDoor): WebSockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const open = new Map<WebSocket, Screen>();
  let nextScreen = 1;

  const serve = (socket: WebSocket): void => {
    const id = `browser-${nextScreen}`;
    nextScreen += 1;
    const screen = openScreen({
      id,
      door,
      carrier: {
        send: (text) => {
          sendBounded(socket, text, () => {
            door.log?.({
              kind: 'limit',
              event: 'screen-cut-off',
              text: `${id} did not read`,
              limit: 'bytes-waiting',
              allowed: BEHIND_BYTES_MAX,
            });
          });
        },
        isBehind: () => socket.bufferedAmount > BEHIND_BYTES,
      },
    });
    open.set(socket, screen);
    const stopPinging = pingRegularly(socket, () => {
      door.log?.({
        kind: 'timeout',
        event: 'screen-silent',
        text: `${id} answered no ping`,
        afterMs: 2 * PING_INTERVAL_MS,
      });
    });
    socket.on('message', (data, isBinary) => {
      receive(socket, screen, data, isBinary);
    });
    socket.on('error', (error) => {
      door.log?.({ kind: 'limit', event: 'screen-refused', text: id, error });
    });
    socket.on('close', (code) => {
      open.delete(socket);
      stopPinging();
      screen.close();
      door.log?.({ kind: 'disconnect', event: 'screen-left', text: id, status: code });
    });
  };

  return {
    accept(request, socket, head) {
      server.handleUpgrade(request, socket, head, (accepted) => {
        if (open.size >= SCREENS_MAX) {
          door.log?.({ kind: 'limit', event: 'screen-turned-away', limit: 'screens', allowed: SCREENS_MAX });
          accepted.on('error', () => undefined);
          accepted.close(1013, 'too many screens');
          return;
        }
        serve(accepted);
      });
    },
    count: () => open.size,
    stop() {
      for (const [socket, screen] of open) {
        screen.close();
        socket.close(1001, 'stopping');
        // A page that does not answer the close must not keep the host alive.
        setTimeout(() => {
          socket.terminate();
        }, 250).unref();
      }
      server.close();
    },
  };
}

function receive(socket: WebSocket, screen: Screen, data: RawData, isBinary: boolean): void {
  if (isBinary) {
    socket.close(1003, 'text only');
    return;
  }
  const text = Array.isArray(data)
    ? Buffer.concat(data).toString('utf8')
    : Buffer.from(data as Buffer).toString('utf8');
  screen.receive(text);
}

function sendBounded(socket: WebSocket, text: string, onCutOff: () => void): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > BEHIND_BYTES_MAX) {
    onCutOff();
    socket.terminate();
    return;
  }
  socket.send(text);
}

function pingRegularly(socket: WebSocket, onSilent: () => void): () => void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) {
      onSilent();
      socket.terminate();
      return;
    }
    isAlive = false;
    socket.ping();
  }, PING_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
