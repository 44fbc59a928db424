/** Who gets in, and who does not. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startWebHost } from '../../shared/node/rpc/web-host.ts';
import type { WebHost } from '../../shared/node/rpc/web-host.ts';
import { signIn } from '../contract/carriers.ts';
import { ask, cookie, door, host, page, startHost, upgrade, useWebHost } from './web-bench.ts';

useWebHost();

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
