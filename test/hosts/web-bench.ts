/** A browser host on a free port with a fake engine, and the ways in which a test knocks at it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { WebSocket } from 'ws';
import { startWebHost } from '../../shared/node/rpc/web-host.ts';
import type { WebHost } from '../../shared/node/rpc/web-host.ts';
import { makePage, signIn } from '../contract/carriers.ts';
import { createFakeDoor } from '../contract/fake-door.ts';
import type { FakeDoor } from '../contract/fake-door.ts';

export let door: FakeDoor;
export let page: ReturnType<typeof makePage>;
export let host: WebHost;
export let cookie: string;
const sockets: WebSocket[] = [];

/** A host for each test; the exports above are the current one's. */
export function useWebHost(): void {
  beforeEach(async () => {
    door = createFakeDoor();
    page = makePage();
    mkdirSync(join(page.folder, 'assets'));
    writeFileSync(join(page.folder, 'assets/index-a1b2c3.js'), 'export {};');
    host = await startHost();
    cookie = await signIn(host);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    await host.stop();
    page.remove();
  });
}

/** The same host started again, as after a crash: same port, new secrets. */
export async function restartHost(): Promise<void> {
  const { port } = host;
  await host.stop();
  host = await startHost({ port });
}

export async function startHost(
  more: { port?: number | undefined; address?: string; rendererFolder?: string } = { port: 0 },
): Promise<WebHost> {
  const { port, ...others } = { port: 'port' in more ? more.port : 0, ...more };
  const started = await startWebHost({
    door,
    rendererFolder: page.folder,
    ...others,
    ...(port === undefined ? {} : { port }),
  });
  if (!started.ok) throw new Error(started.denial.message);
  return started.value;
}

export const origin = (): string => `http://127.0.0.1:${host.port}`;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request with exactly these headers; fetch would set Host and Origin by itself. */
export function ask(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
  at: WebHost = host,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const target = new URL(at.url);
    const outgoing = httpRequest(
      { host: target.hostname, port: at.port, path, method, setHost: !('host' in headers), headers, agent: false },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('end', () => {
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(parts).toString(),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The status that an upgrade gets; 101 is a socket. Headers given as undefined are left out. */
export function upgrade(changed: Record<string, string | undefined>, path = '/ws'): Promise<number> {
  const all: Record<string, string | undefined> = {
    host: `127.0.0.1:${host.port}`,
    origin: origin(),
    cookie,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...changed,
  };
  const headers = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port: host.port, path, setHost: false, headers, agent: false });
    outgoing.on('response', (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
    outgoing.on('upgrade', (_incoming, socket) => {
      socket.destroy();
      resolve(101);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

export async function openSocket(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/ws`, { origin: origin(), headers: { cookie } });
  sockets.push(socket);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  // A line that the host ends is an error event too; the code that follows is what counts.
  socket.on('error', () => undefined);
  return socket;
}

export function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve));
}
