/** The three ways between a screen and the engine, each with the renderer's own client at one end and a fake engine at the other. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket as NodeWebSocket } from 'ws';
import type { WebContents } from 'electron';
import { connectWindow } from '../../electron/ipc.ts';
import { connectElectron } from '../../renderer/transport/electron.ts';
import type { Frame, Transport } from '../../renderer/transport/transport.ts';
import { connectWebSocket } from '../../renderer/transport/web-socket.ts';
import { toScreenSchema } from '../../shared/contract/frames.ts';
import { openMemoryCarrier } from '../../shared/node/rpc/memory-carrier.ts';
import { startWebHost } from '../../shared/node/rpc/web-host.ts';
import type { WebHost } from '../../shared/node/rpc/web-host.ts';
import { FakeWindow, recorded, resetElectron } from '../support/electron-fake.ts';
import { createFakeDoor } from './fake-door.ts';
import type { FakeDoor } from './fake-door.ts';

export interface Line {
  readonly door: FakeDoor;
  readonly transport: Transport;
  readonly frames: Frame[];
  /** Sends a text that the client would never send; answers with the next text that is no frame. */
  raw(text: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Carrier {
  readonly name: string;
  open(): Promise<Line>;
}

export const memory: Carrier = {
  name: 'memory',
  open: async () => {
    const door = createFakeDoor();
    const carrier = openMemoryCarrier(door);
    const transport = connectElectron(carrier);
    return lineOver(door, transport, carrier, async () => {
      carrier.close();
    });
  },
};

export const webSocket: Carrier = {
  name: 'WebSocket',
  open: async () => {
    const door = createFakeDoor();
    const page = makePage();
    const host = await openWebHost(door, page.folder);
    const cookie = await signIn(host);
    let socket: NodeWebSocket | null = null;
    const transport = connectBrowser(host, cookie, (opened) => {
      socket = opened;
    });
    const rawSide = {
      send: (text: string) => socket?.send(text),
      subscribe: (listener: (text: string) => void) => {
        const heard = (data: unknown): void => {
          listener(String(data));
        };
        socket?.on('message', heard);
        return () => socket?.off('message', heard);
      },
    };
    return lineOver(door, transport, rawSide, async () => {
      await host.stop();
      page.remove();
    });
  },
};

export const fakeIpc: Carrier = {
  name: 'Electron IPC',
  open: async () => {
    resetElectron();
    const door = createFakeDoor();
    const window = new FakeWindow();
    // The preload registers itself on the fake as it would in a window; a module is loaded once.
    await import('../../electron/preload.ts');
    const end = connectWindow(window.webContents as unknown as WebContents, door);
    await window.loadURL('spillway://app/index.html');
    const bridge = recorded.exposed.spillway;
    if (bridge === undefined) throw new Error('the preload exposed nothing');
    return lineOver(door, connectElectron(bridge), bridge, async () => {
      end();
    });
  },
};

export async function openWebHost(door: FakeDoor, rendererFolder: string, port = 0): Promise<WebHost> {
  const host = await startWebHost({ door, rendererFolder, port });
  if (!host.ok) throw new Error(host.denial.message);
  return host.value;
}

/** What a browser does with the printed link: the cookie that it gets. */
export async function signIn(host: WebHost): Promise<string> {
  const answer = await fetch(host.link);
  await answer.arrayBuffer();
  const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0];
  if (cookie === undefined) throw new Error('the link brought no cookie');
  return cookie;
}

/** The renderer's own client, with a WebSocket that sends the headers a browser would. */
export function connectBrowser(
  host: WebHost,
  cookie: string,
  onSocket: (socket: NodeWebSocket) => void = () => undefined,
): Transport {
  const origin = host.url.replace(/\/$/u, '');
  return connectWebSocket({
    url: `${origin.replace('http', 'ws')}/ws`,
    open: (url) => {
      const socket = new NodeWebSocket(url, { origin, headers: { cookie } });
      // Without a listener a failed connection would end the test process; the client sees the close that follows.
      socket.on('error', () => undefined);
      onSocket(socket);
      return socket as unknown as WebSocket;
    },
    isKnown: async () => {
      try {
        const answer = await fetch(`${host.url}session`, { headers: { cookie } });
        return answer.ok;
      } catch {
        return null;
      }
    },
  });
}

export function makePage(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-page-'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Spillway</title>');
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the condition holds; there is no other way to wait for what a carrier delivers. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export const isConnected = (transport: Transport) => (): boolean => transport.state() === 'connected';

interface RawSide {
  send(text: string): void;
  subscribe(listener: (text: string) => void): () => void;
}

async function lineOver(
  door: FakeDoor,
  transport: Transport,
  rawSide: RawSide,
  end: () => Promise<void>,
): Promise<Line> {
  const frames: Frame[] = [];
  transport.onFrame((frame) => frames.push(frame));
  await until(isConnected(transport), 'the connection');
  // The first request opens the screen; what is emitted afterwards reaches it.
  await transport.request('run.list', {});
  door.calls.length = 0;
  return {
    door,
    transport,
    frames,
    raw: (text) =>
      new Promise((resolve, reject) => {
        const unsubscribe = rawSide.subscribe((answer) => {
          const message = toScreenSchema.safeParse(JSON.parse(answer));
          if (message.success && message.data.kind === 'frame') return;
          unsubscribe();
          if (message.success) resolve(message.data);
          else reject(message.error);
        });
        rawSide.send(text);
      }),
    stop: async () => {
      transport.close();
      await end();
    },
  };
}
