/**
 * The browser host: serves the built renderer and one WebSocket at /ws, on loopback unless asked otherwise.
 *
 * How a browser gets in: every start makes a token (192 bits) and prints it in a link, `http://127.0.0.1:11480/?token=…`.
 * The page that answers this link brings a session cookie (HttpOnly, SameSite=Strict, gone with the browser), and the
 * renderer takes the token out of the address bar. From then on the cookie alone counts: a reload or a second tab works, a
 * new start of the host does not know it. Without it there is a short page that asks for the link, and nothing else.
 *
 * Every request: the Host header is one of this machine's own names with this port; an Origin, where there is one, is the
 * page's own. The upgrade to a WebSocket needs Host, Origin (present, and the page's own) and the cookie. `/session` answers
 * 204 or 401, so that a page can tell a host that does not know it from a host that is not there.
 */
import fastifyStatic from '@fastify/static';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { existsSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { denied, ok } from '../../contract/denials.ts';
import type { Result } from '../../contract/denials.ts';
import type { EngineDoor } from './dispatcher.ts';
import { createWebGuard, hostHeader } from './web-guard.ts';
import type { WebGuard } from './web-guard.ts';
import { bareHeaders, pageHeaders, signInPage } from './web-pages.ts';
import { createWebSockets } from './web-sockets.ts';

export const WEB_PORT = 11_480;
/** Ports tried after the first when that one is taken by something else. */
const PORTS_TRIED_MAX = 20;
/** Nothing is ever posted here. */
const BODY_BYTES_MAX = 1_024;

export interface WebHostOptions {
  readonly door: EngineDoor;
  /** Folder of the renderer build: index.html and assets/. */
  readonly rendererFolder: string;
  readonly address?: string;
  /** A port that was asked for is taken or refused; without one the next free port from WEB_PORT on is used. 0 = any. */
  readonly port?: number;
}

export interface WebHost {
  readonly port: number;
  /** Address with the token: for the terminal and the browser that is opened, never for a log. */
  readonly link: string;
  /** The address without the token. */
  readonly url: string;
  /** One line when it is not where one would look for it. */
  readonly note: string | null;
  screens(): number;
  stop(): Promise<void>;
}

/** Refusals: `bad-input` for an address or port that cannot be had, with the next step. */
export async function startWebHost(options: WebHostOptions): Promise<Result<WebHost>> {
  const address = options.address ?? '127.0.0.1';
  let guard: WebGuard | null = null;
  // Nothing is answered before the port is known; the guard is made in the same turn in which listening begins.
  const guardNow = (): WebGuard => guard ?? createWebGuard(address, 0);
  const app = buildWebApp(guardNow, options);
  await app.ready();
  const sockets = createWebSockets(options.door);
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = upgradeRefusal(guardNow(), request);
    if (refusal !== null) {
      options.door.log?.({
        kind: 'limit',
        event: 'socket-refused',
        text: refusal.reason,
        status: refusal.status,
      });
      refuseUpgrade(socket, refusal.status);
      return;
    }
    sockets.accept(request, socket, head);
  });

  const bound = await listen(app.server, address, options.port);
  if (!bound.ok) {
    await app.close();
    return bound;
  }
  const { port } = bound.value;
  guard = createWebGuard(address, port);
  const name = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  const url = `http://${hostHeader(name, port)}/`;
  return ok({
    port,
    url,
    link: `${url}?token=${guard.token}`,
    note:
      bound.value.wanted === port || bound.value.wanted === 0
        ? null
        : `Port ${bound.value.wanted} is taken by something else; Spillway uses ${port}.`,
    screens: () => sockets.count(),
    async stop() {
      sockets.stop();
      const closed = new Promise<void>((resolve) =>
        app.server.close(() => {
          resolve();
        }),
      );
      app.server.closeAllConnections();
      await closed;
      await app.close();
    },
  });
}

function buildWebApp(guard: () => WebGuard, { door, rendererFolder }: WebHostOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: 10_000,
    keepAliveTimeout: 5_000,
    exposeHeadRoutes: true,
  });

  app.addHook('onRequest', async (request, reply) => {
    const { host, origin, cookie } = request.headers;
    if (host === undefined || !guard().isHost(host))
      return refuse(reply, 403, 'This name does not belong to Spillway. Open the link that it printed.');
    if (origin !== undefined && !guard().isOrigin(origin, host))
      return refuse(reply, 403, 'Pages of other sites get no answer here.');
    if (guard().hasSession(cookie)) {
      void reply.headers(pageHeaders(host));
      return;
    }
    const path = request.url.split('?', 1)[0];
    const token = new URLSearchParams(request.url.slice((path ?? '').length)).get('token');
    if (path === '/' && token !== null && guard().isToken(token)) {
      void reply.headers(pageHeaders(host)).header('set-cookie', guard().setCookie);
      return;
    }
    if (path === '/')
      return reply
        .code(401)
        .headers(bareHeaders())
        .type('text/html; charset=utf-8')
        .send(signInPage(token === null ? 'no-token' : 'wrong-token'));
    return refuse(reply, 401, 'Open the link that Spillway printed.');
  });

  app.get('/', (_request, reply) => {
    if (!existsSync(join(rendererFolder, 'index.html')))
      return refuse(reply, 503, 'The page is not built yet. Run npm run build, then reload.');
    return reply.sendFile('index.html');
  });
  app.get('/session', (_request, reply) => reply.code(204).header('cache-control', 'no-store').send());
  app.get('/ws', (_request, reply) => refuse(reply, 426, 'This address speaks WebSocket only.'));
  void app.register(fastifyStatic, {
    root: rendererFolder,
    index: false,
    redirect: false,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders: (response, path) => {
      // Vite puts a hash of the content into the name of everything below assets/.
      const isHashed = path.slice(rendererFolder.length).replaceAll('\\', '/').startsWith('/assets/');
      response.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-store');
    },
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'There is nothing here.'));
  app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
    const status =
      error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : 500;
    if (status === 500) door.log?.({ kind: 'error', event: 'page-failed', path: request.url, status, error });
    return refuse(reply, status, STATUS_CODES[status] ?? 'Not possible');
  });
  return app;
}

function refuse(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  return reply.code(status).headers(bareHeaders()).type('text/plain; charset=utf-8').send(`${sentence}\n`);
}

function upgradeRefusal(guard: WebGuard, request: IncomingMessage): { status: number; reason: string } | null {
  const { host, origin, cookie } = request.headers;
  if (host === undefined || !guard.isHost(host)) return { status: 403, reason: 'the Host header is not ours' };
  // Every browser sends an Origin with an upgrade; what sends none is no page of ours.
  if (origin === undefined || !guard.isOrigin(origin, host)) return { status: 403, reason: 'the Origin is not ours' };
  if (!guard.hasSession(cookie)) return { status: 401, reason: 'no session' };
  if (request.url !== '/ws') return { status: 404, reason: 'not the address of the socket' };
  return null;
}

function refuseUpgrade(socket: Duplex, status: number): void {
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

async function listen(
  server: Server,
  address: string,
  asked: number | undefined,
): Promise<Result<{ port: number; wanted: number }>> {
  const wanted = asked ?? WEB_PORT;
  const lastPort = asked === undefined ? Math.min(wanted + PORTS_TRIED_MAX, 65_535) : wanted;
  for (let port = wanted; port <= lastPort; port += 1) {
    const problem = await listenOnce(server, address, port);
    if (problem === null) {
      const at = server.address();
      return ok({ port: typeof at === 'object' && at !== null ? at.port : port, wanted });
    }
    if (problem !== 'EADDRINUSE')
      return denied('bad-input', `Cannot listen on ${hostHeader(address, port)}: ${problem}.`, {
        next: 'Choose another address or port.',
      });
  }
  if (asked !== undefined)
    return denied('bad-input', `Port ${wanted} is taken by something else.`, {
      field: 'port',
      next: 'Choose another, or leave --port out.',
    });
  return denied('bad-input', `The ports ${wanted} to ${lastPort} are all taken.`, {
    field: 'port',
    next: 'Name a free one with --port.',
  });
}

/** The error code, or null when it listens. */
function listenOnce(server: Server, address: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      server.off('listening', listening);
      resolve(error.code ?? error.message);
    };
    const listening = (): void => {
      server.off('error', failed);
      resolve(null);
    };
    server.once('error', failed);
    server.once('listening', listening);
    server.listen({ host: address, port, exclusive: true });
  });
}
