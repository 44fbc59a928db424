/** Who gets in, who does not, and what happens to a screen that misbehaves. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ok } from '../../shared/contract/denials.ts';
import { MESSAGE_BYTES_MAX, toScreenSchema } from '../../shared/contract/frames.ts';
import { startWebHost } from '../../shared/node/rpc/web-host.ts';
import type { WebHost } from '../../shared/node/rpc/web-host.ts';
import { SCREENS_MAX } from '../../shared/node/rpc/web-sockets.ts';
import type { WebDiagnostic } from '../../shared/node/rpc/web-sockets.ts';
import { connectBrowser, isConnected, makePage, signIn, until } from '../contract/carriers.ts';
import { createFakeDoor } from '../contract/fake-door.ts';
import type { FakeDoor } from '../contract/fake-door.ts';
import { notice } from '../contract/samples.ts';

let door: FakeDoor;
let page: ReturnType<typeof makePage>;
let host: WebHost;
let cookie: string;
let diagnostics: WebDiagnostic[];
const sockets: WebSocket[] = [];

beforeEach(async () => {
  door = createFakeDoor();
  page = makePage();
  mkdirSync(join(page.folder, 'assets'));
  writeFileSync(join(page.folder, 'assets/index-a1b2c3.js'), 'export {};');
  diagnostics = [];
  host = await startHost();
  cookie = await signIn(host);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await host.stop();
  page.remove();
});

describe('pages', () => {
  test('without the link there is a short page that asks for it, and nothing else', async () => {
    const answer = await ask('/');
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('Open the link that Spillway printed');
    expect(answer.headers['set-cookie']).toBeUndefined();
    for (const path of ['/assets/index-a1b2c3.js', '/index.html', '/session', '/nowhere', '/ws']) {
      expect([path, (await ask(path)).status]).toEqual([path, 401]);
    }
  });

  test.each([
    ['wrong', () => `/?token=${'x'.repeat(32)}`],
    ['empty', () => '/?token='],
    ['cut short', () => new URL(host.link).search.slice(0, -1)],
    ['longer', () => `${new URL(host.link).search}x`],
    ['on another path', () => `/index.html${new URL(host.link).search}`],
  ])('a token that is %s lets nobody in', async (_what, path) => {
    const answer = await ask(path().startsWith('/') ? path() : `/${path()}`);
    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
  });

  test('the link brings page and cookie; the cookie alone is enough for a reload', async () => {
    const first = await ask(`/${new URL(host.link).search}`);
    expect(first.status).toBe(200);
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(/^spillway-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/u),
    ]);
    expect(first.body).toContain('<title>Spillway</title>');
    expect((await ask('/', { cookie: `other=1; ${cookie}` })).status).toBe(200);
    expect((await ask('/session', { cookie })).status).toBe(204);
  });

  test('the token is not the cookie, has 192 bits, and every start makes new ones', async () => {
    const again = await startHost();
    const token = (one: WebHost): string => new URL(one.link).searchParams.get('token') ?? '';
    expect(Buffer.from(token(host), 'base64url')).toHaveLength(24);
    expect(token(again)).not.toBe(token(host));
    expect(cookie).not.toContain(token(host));
    expect((await signIn(again)).split('=')[1]).not.toBe(cookie.split('=')[1]);
    await again.stop();
  });

  test('headers: a strict policy with this very socket, no sniffing, no referrer, no framing', async () => {
    const { headers } = await ask('/', { cookie });
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self' ws://127.0.0.1:${host.port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const refused = await ask('/');
    expect(refused.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/u);
    expect(refused.headers['x-content-type-options']).toBe('nosniff');
  });

  test('files with a hash in their name may be kept for ever, others not', async () => {
    const hashed = await ask('/assets/index-a1b2c3.js', { cookie });
    expect([hashed.status, hashed.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect(hashed.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await ask('/index.html', { cookie })).headers['cache-control']).toBe('no-store');
  });

  test.each([
    '/../package.json',
    '/%2e%2e/package.json',
    '/assets/..%2f..%2f..%2fetc%2fpasswd',
    '/.env',
    '/assets/',
    '/%00',
    '/%',
  ])('%s answers no file', async (path) => {
    expect((await ask(path, { cookie })).status).toBeGreaterThanOrEqual(400);
  });

  test('nothing can be posted', async () => {
    expect((await ask('/', { cookie }, 'POST')).status).toBe(404);
    expect(
      (
        await ask(
          '/',
          { cookie, 'content-type': 'application/json', 'content-length': '5000' },
          'POST',
          'x'.repeat(5_000),
        )
      ).status,
    ).toBeGreaterThanOrEqual(400);
  });

  test('a page that is not built says what to do', async () => {
    const empty = await startHost({ rendererFolder: join(page.folder, 'assets') });
    const answer = await fetch(empty.link);
    expect([answer.status, await answer.text()]).toEqual([
      503,
      'The page is not built yet. Run npm run build, then reload.\n',
    ]);
    await empty.stop();
  });
});

describe('names and origins', () => {
  test('the names of this machine are known, with this port', async () => {
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      expect((await ask('/', { cookie, host: `${name}:${host.port}` })).status).toBe(200);
  });

  // A name of somebody else that points to 127.0.0.1 is how DNS rebinding looks from here.
  test.each([
    (port: number) => `evil.example:${port}`,
    (port: number) => `127.0.0.1.evil.example:${port}`,
    (port: number) => `localhost.evil.example:${port}`,
    (port: number) => `evil.example@127.0.0.1:${port}`,
    (port: number) => `127.0.0.1:${port}.evil.example`,
    (port: number) => `127.0.0.1:${port + 1}`,
    (port: number) => `127.0.0.2:${port}`,
    (port: number) => `0.0.0.0:${port}`,
    () => '127.0.0.1',
    () => 'localhost',
    () => '',
  ])('a foreign Host gets nothing, with token and cookie: %s', async (name) => {
    const answer = await ask(`/${new URL(host.link).search}`, { cookie, host: name(host.port) });
    expect([answer.status, answer.headers['set-cookie'], answer.body.includes('<title>')]).toEqual([
      403,
      undefined,
      false,
    ]);
    expect(await upgrade({ host: name(host.port) })).toBe(403);
  });

  const foreignOrigins: [string, (port: number) => string][] = [
    ['another site', () => 'https://evil.example'],
    ['null', () => 'null'],
    ['our name as a prefix', (port) => `http://127.0.0.1:${port}.evil.example`],
    ['our name as a subdomain', (port) => `http://127.0.0.1.evil.example:${port}`],
    ['our name as a user', (port) => `http://127.0.0.1:${port}@evil.example`],
    ['another port', (port) => `http://127.0.0.1:${port + 1}`],
    ['another scheme', (port) => `https://127.0.0.1:${port}`],
    ['another name of this machine', (port) => `http://localhost:${port}`],
    ['a path behind it', (port) => `http://127.0.0.1:${port}/`],
    ['another spelling', (port) => `HTTP://127.0.0.1:${port}`],
    ['two of them', (port) => `http://127.0.0.1:${port} http://evil.example`],
    ['a file', () => 'file://'],
    ['an extension', () => 'chrome-extension://abcdefghijklmnop'],
    ['nothing', () => ''],
  ];
  test.each(foreignOrigins)('a foreign Origin opens no socket and reads no page: %s', async (_what, origin) => {
    expect(await upgrade({ origin: origin(host.port) })).toBe(403);
    expect((await ask('/', { cookie, origin: origin(host.port) })).status).toBe(403);
    expect(door.listeners()).toBe(0);
  });

  test('a socket needs an Origin, the cookie of this start, and the right address', async () => {
    expect(await upgrade({ origin: undefined })).toBe(403);
    expect(await upgrade({ cookie: undefined })).toBe(401);
    expect(await upgrade({ cookie: `${cookie}x` })).toBe(401);
    expect(
      await upgrade({ cookie: cookie.replace(/=.*/u, `=${new URL(host.link).searchParams.get('token') ?? ''}`) }),
    ).toBe(401);
    expect(await upgrade({}, '/')).toBe(404);
    expect(await upgrade({}, '/ws/../ws')).toBe(404);
    expect(door.listeners()).toBe(0);
    expect(await upgrade({})).toBe(101);
  });

  test('an address that was asked for is a known name, and no other', async () => {
    const wide = await startHost({ address: '127.0.0.2' });
    const answers = await Promise.all(
      [`127.0.0.2:${wide.port}`, `evil.example:${wide.port}`].map((name) =>
        ask('/', { host: name }, 'GET', undefined, wide),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual([401, 403]);
    expect(wide.url).toBe(`http://127.0.0.2:${wide.port}/`);
    await wide.stop();
  });
});

describe('ports', () => {
  test('a taken port that was asked for is refused with the next step', async () => {
    const again = await startWebHost({ door, rendererFolder: page.folder, port: host.port });
    expect(again).toEqual({
      ok: false,
      denial: {
        code: 'bad-input',
        message: `Port ${host.port} is taken by something else.`,
        field: 'port',
        next: 'Choose another, or leave --port out.',
      },
    });
  });

  test('without a wish the next free port is used, and said', async () => {
    const blocker = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      blocker.once('error', () => {
        resolve(false);
      });
      blocker.listen(11_480, '127.0.0.1', () => {
        resolve(true);
      });
    });
    const moved = await startHost({ port: undefined });
    expect(moved.port).toBeGreaterThan(11_480);
    expect(moved.note).toBe(`Port 11480 is taken by something else; Spillway uses ${moved.port}.`);
    await moved.stop();
    if (isOurs) await new Promise((resolve) => blocker.close(resolve));
  });

  test('an address that this machine does not have is refused', async () => {
    const answer = await startWebHost({ door, rendererFolder: page.folder, port: 0, address: '192.0.2.1' });
    expect(answer).toMatchObject({
      ok: false,
      denial: { code: 'bad-input', message: expect.stringContaining('192.0.2.1') },
    });
  });
});

describe('screens', () => {
  test('a message over the limit ends the line with the code for it, and is no request', async () => {
    const socket = await openSocket();
    const code = closeCode(socket);
    socket.send('x'.repeat(MESSAGE_BYTES_MAX + 1));
    expect(await code).toBe(1009);
    expect(door.calls).toEqual([]);
    expect(diagnostics.map((one) => one.kind)).toContain('limit');
  });

  test('bytes are not taken', async () => {
    const socket = await openSocket();
    const code = closeCode(socket);
    socket.send(Buffer.from('{"kind":"request","id":1,"name":"run.list","params":{}}'), { binary: true });
    expect(await code).toBe(1003);
    expect(door.calls).toEqual([]);
  });

  test('more screens than the limit are turned away, the others go on', async () => {
    const open = await Promise.all(Array.from({ length: SCREENS_MAX }, () => openSocket()));
    const extra = new WebSocket(`ws://127.0.0.1:${host.port}/ws`, { origin: origin(), headers: { cookie } });
    expect(await closeCode(extra)).toBe(1013);
    expect(host.screens()).toBe(SCREENS_MAX);
    open[0]?.close();
    await until(() => host.screens() === SCREENS_MAX - 1, 'a free place');
  });

  test('a screen that does not read: frames wait and are joined, what was lost is counted, nothing piles up', async () => {
    const socket = await openSocket();
    let seen = 0;
    let dropped = 0;
    let lastSeq = 0;
    let gaps = 0;
    socket.on('message', (data) => {
      const message = toScreenSchema.parse(JSON.parse(String(data)));
      if (message.kind !== 'frame') return;
      if (message.seq !== lastSeq + 1) gaps += 1;
      lastSeq = message.seq;
      seen += message.events.length;
      dropped += message.dropped;
    });
    socket.pause();
    const text = 'x'.repeat(2_000);
    let emitted = 0;
    // Far more than the buffers of the operating system take, over several frames.
    for (let round = 0; round < 20; round += 1) {
      for (let index = 0; index < 2_000; index += 1) door.emit(notice(text));
      emitted += 2_000;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.resume();
    await until(() => seen + dropped === emitted, 'all events to be seen or counted');
    expect(dropped).toBeGreaterThan(0);
    expect(gaps).toBe(0);
    expect(diagnostics.some((one) => one.kind === 'limit' && one.text.includes('too slow'))).toBe(true);
  });

  test('a screen that asks and never reads is cut off', async () => {
    const socket = await openSocket();
    door.answerWith(() => ok({ chunk: 'x'.repeat(20 * 1024 * 1024), done: false }));
    socket.pause();
    for (let id = 0; id < 8; id += 1)
      socket.send(JSON.stringify({ kind: 'request', id, name: 'export.read', params: { exportId: 'e' } }));
    await until(() => host.screens() === 0, 'the host to give up');
    expect(diagnostics.some((one) => one.text.includes('cut off'))).toBe(true);
  });

  test('a lost connection is made again, numbering starts anew, requests in between are refused as values', async () => {
    let socket: WebSocket | null = null;
    const transport = connectBrowser(host, cookie, (opened) => {
      socket = opened;
    });
    const states: string[] = [];
    const seqs: number[] = [];
    transport.onStateChange((state) => states.push(state));
    transport.onFrame((frame) => seqs.push(frame.seq));
    await until(isConnected(transport), 'the connection');
    await until(() => door.listeners() === 1, 'the screen');
    door.emit(notice('one'));
    await until(() => seqs.length === 1, 'a frame');
    (socket as unknown as WebSocket).terminate();
    await until(() => transport.state() === 'waiting', 'the loss to be noticed');
    expect(await transport.request('run.list', {})).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
    await until(isConnected(transport), 'the second connection');
    await until(() => door.listeners() === 1, 'the new screen');
    door.emit(notice('two'));
    await until(() => seqs.length === 2, 'a frame again');
    expect([states, seqs]).toEqual([
      ['connected', 'waiting', 'connected'],
      [1, 1],
    ]);
    transport.close();
  });

  test('a request under way when the line breaks ends as a value', async () => {
    door.answerWith(() => new Promise(() => undefined));
    let socket: WebSocket | null = null;
    const transport = connectBrowser(host, cookie, (opened) => {
      socket = opened;
    });
    const answer = transport.request('run.list', {});
    await until(() => door.calls.length === 1, 'the request');
    (socket as unknown as WebSocket).terminate();
    expect(await answer).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
    await until(() => door.calls[0]?.context.signal.aborted === true, 'the engine to hear of it');
    transport.close();
  });

  test('a page of an earlier start learns that it needs the new link', async () => {
    const transport = connectBrowser(host, cookie);
    await until(isConnected(transport), 'the connection');
    const { port } = host;
    await host.stop();
    host = await startHost({ port });
    await until(() => transport.state() === 'refused', 'the refusal');
    expect(await transport.request('run.list', {})).toMatchObject({
      ok: false,
      denial: { next: 'Open the link that it printed.' },
    });
    transport.close();
  });

  test('stopping closes the screens and frees the port', async () => {
    const socket = await openSocket();
    const code = closeCode(socket);
    await host.stop();
    expect(await code).toBe(1001);
    expect(door.listeners()).toBe(0);
    await expect(fetch(host.url)).rejects.toThrow();
  });
});

async function startHost(
  more: { port?: number | undefined; address?: string; rendererFolder?: string } = { port: 0 },
): Promise<WebHost> {
  const { port, ...others } = { port: 'port' in more ? more.port : 0, ...more };
  const started = await startWebHost({
    door,
    rendererFolder: page.folder,
    onDiagnostic: (one) => diagnostics.push(one),
    ...others,
    ...(port === undefined ? {} : { port }),
  });
  if (!started.ok) throw new Error(started.denial.message);
  return started.value;
}

const origin = (): string => `http://127.0.0.1:${host.port}`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request with exactly these headers; fetch would set Host and Origin by itself. */
function ask(
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
function upgrade(changed: Record<string, string | undefined>, path = '/ws'): Promise<number> {
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

async function openSocket(): Promise<WebSocket> {
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

function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve));
}
