/** The HTTP side: origin and host rules, routing, bodies, and replies framed as Go frames them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { anthropicRoutes } from './anthropic.ts';
import { embedRoutes } from './embed.ts';
import { modelRoutes } from './models.ts';
import { openAiRoutes } from './openai.ts';
import type { ReplyStream, RouteContext, RouteHandler, SimulatorState } from './options.ts';
import { runRequest } from './pipeline.ts';
import { replySink } from './replies.ts';
import { parseChat, parseGenerate, type Parsed } from './requests.ts';
import { responsesRoutes } from './responses.ts';
import { goHeaders, goJson, type RawHeaders } from './wire.ts';

/** Not listening yet. */
export function createHttpServer(state: SimulatorState): Server {
  const limits = { maxHeaderSize: headerBytesMax, requireHostHeader: false };
  const server = createServer(limits, (request, response) => {
    void serve(state, request, response);
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(badRequest('400 Bad Request'));
  });
  // Go's server has no time limits of its own.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  return server;
}

const routes: Readonly<Record<string, RouteHandler>> = {
  ...modelRoutes,
  ...embedRoutes,
  ...openAiRoutes,
  ...responsesRoutes,
  ...anthropicRoutes,
  'POST /api/chat': (context) => model(context, parseChat(context.body)),
  'POST /api/generate': (context) => model(context, parseGenerate(context.body)),
};

const headPaths = new Set(['/', '/api/version', '/api/tags']);
const bodyBytesMax = 256_000_000;
const headerBytesMax = 1_048_576;

/** What Go's server says before any handler sees the request. */
function badRequest(text: string): string {
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`;
}

function model(context: RouteContext, parsed: Parsed): Promise<void> | void {
  if (!parsed.ok) return context.json(parsed.status, { error: parsed.error });
  return runRequest(context.state, parsed.request, replySink(context, parsed.request), context.signal);
}

async function serve(state: SimulatorState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    response.socket?.end(badRequest('400 Bad Request: missing required Host header'));
    return;
  }
  const startedMs = performance.now();
  const controller = new AbortController();
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  response.on('close', () => {
    if (!response.writableFinished) controller.abort();
    const status = response.headersSent ? response.statusCode : 500;
    state.log.access(status, (performance.now() - startedMs) * 1e6, request.method ?? 'GET', path);
  });
  const own = originHeaders(state, request);
  const context = contextOf(state, request, response, controller.signal, own ?? []);
  if (own === null) return context.empty(403);
  if (request.method === 'OPTIONS' && request.headers.origin !== undefined) return context.empty(204);
  if (!isHostAllowed(state, request.headers.host ?? '')) return context.empty(403);
  const handler = find(request.method ?? 'GET', path);
  if (typeof handler !== 'function') return refusePath(context, path);
  const body = await readBody(request);
  if (body === null) return context.json(400, { error: 'http: request body too large' });
  try {
    await handler({ ...context, body });
  } catch (error) {
    state.log.entry('ERROR', 'simulator', 'handler failed', [
      ['error', error instanceof Error ? (error.stack ?? error.message) : String(error)],
    ]);
    if (response.headersSent) response.destroy();
    else context.empty(500);
  }
}

function find(method: string, path: string): RouteHandler | null {
  const asked = method === 'HEAD' && headPaths.has(path) ? 'GET' : method;
  return routes[`${asked} ${path}`] ?? dynamicRoute(asked, path);
}

/** /v1/models/{name} */
function dynamicRoute(method: string, path: string): RouteHandler | null {
  const prefix = '/v1/models/';
  if (method !== 'GET' || !path.startsWith(prefix)) return null;
  return routes['GET /v1/models/:model'] ?? null;
}

function refusePath(context: RouteContext, path: string): void {
  const allowed = Object.keys(routes)
    .filter((route) => route.slice(route.indexOf(' ') + 1) === path)
    .map((route) => route.slice(0, route.indexOf(' ')));
  if (allowed.length === 0) return context.text(404, '404 page not found', 'text/plain');
  if (headPaths.has(path)) allowed.push('HEAD');
  send(context, 405, '405 method not allowed', [
    ['Allow', allowed.join(', ')],
    ['Content-Type', 'text/plain'],
  ]);
}

interface FullContext extends Omit<RouteContext, 'body'> {
  readonly body: string;
  empty(status: number): void;
}

function contextOf(
  state: SimulatorState,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
  own: RawHeaders,
): FullContext {
  const carrier = { request, response, own };
  const base = { state, request, response, body: '', signal };
  return {
    ...base,
    empty: (status) => sendRaw(carrier, status, '', []),
    json: (status, value, contentType = 'application/json; charset=utf-8') =>
      sendRaw(carrier, status, goJson(value), [['Content-Type', contentType]]),
    text: (status, text, contentType = 'text/plain', headers = []) =>
      sendRaw(carrier, status, text, [...headers, ['Content-Type', contentType]]),
    failStream: (status, text, headers = []) => {
      if (!writeHead(carrier, status, [...headers, ['Content-Type', 'application/json']], null)) return;
      response.end(text);
    },
    stream: (contentType, headers = []) => {
      writeHead(carrier, 200, [...headers, ['Content-Type', contentType]], null);
      return replyStream(state, response, signal);
    },
  };
}

interface Carrier {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly own: RawHeaders;
}

function send(
  context: Pick<RouteContext, 'request' | 'response'>,
  status: number,
  text: string,
  headers: RawHeaders,
): void {
  sendRaw({ request: context.request, response: context.response, own: [] }, status, text, headers);
}

function sendRaw(carrier: Carrier, status: number, text: string, headers: RawHeaders): void {
  const bytes = Buffer.from(text, 'utf8');
  if (!writeHead(carrier, status, headers, status === 204 ? 0 : bytes.length)) return;
  carrier.response.end(carrier.request.method === 'HEAD' ? undefined : bytes);
}

/** False where the client has gone or a head was sent already. */
function writeHead(
  { request, response, own }: Carrier,
  status: number,
  headers: RawHeaders,
  bytes: number | null,
): boolean {
  if (response.headersSent || response.destroyed) return false;
  const closes = /\bclose\b/i.test(request.headers.connection ?? '');
  response.sendDate = false;
  // Go names the connection only when it closes; without this Node adds keep-alive.
  response.removeHeader('connection');
  response.writeHead(status, goHeaders([...own, ...headers], bytes, closes, request.httpVersion !== '1.0'));
  return true;
}

/** One chunk a write. The faults tear or glue the bytes. */
function replyStream(state: SimulatorState, response: ServerResponse, signal: AbortSignal): ReplyStream {
  let glued = '';
  const put = async (bytes: string | Buffer): Promise<void> => {
    if (signal.aborted || response.writableEnded || response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.on('drain', done);
      response.on('close', done);
    });
  };
  return {
    async write(text) {
      if (state.faults.has('torn-bytes')) {
        const bytes = Buffer.from(text, 'utf8');
        for (let at = 0; at < bytes.length; at += tornBytes) await put(bytes.subarray(at, at + tornBytes));
      } else if (state.faults.has('glued-lines') && glued.length < gluedCharacters) glued += text;
      else {
        await put(glued + text);
        glued = '';
      }
    },
    end() {
      if (glued !== '') response.write(glued);
      response.end();
    },
  };
}

const tornBytes = 3;
const gluedCharacters = 600;

async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > bodyBytesMax) return null;
      parts.push(part);
    }
  } catch {
    return '';
  }
  return Buffer.concat(parts).toString('utf8');
}

/** CORS headers for this request, [] without an Origin, null where the origin is refused. */
function originHeaders(state: SimulatorState, request: IncomingMessage): RawHeaders | null {
  const origin = request.headers.origin;
  const host = request.headers.host ?? '';
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return [];
  const all = state.options.origins.includes('*');
  if (!all && !isLocalOrigin(origin) && !state.options.origins.includes(origin)) return null;
  const headers: [string, string][] = [['Access-Control-Allow-Origin', all ? '*' : origin]];
  if (!all) headers.push(['Vary', 'Origin']);
  if (request.method === 'OPTIONS') {
    headers.push(['Access-Control-Allow-Headers', 'Authorization,Content-Type,User-Agent,Accept,X-Requested-With']);
    headers.push(
      ['Access-Control-Allow-Methods', 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS'],
      ['Access-Control-Max-Age', '43200'],
    );
  }
  return headers;
}

const localOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?$/;
const localSchemes = ['app://', 'file://', 'tauri://', 'vscode-webview://', 'vscode-file://'];

function isLocalOrigin(origin: string): boolean {
  return localOrigin.test(origin) || localSchemes.some((scheme) => origin.startsWith(scheme));
}

/** Bound to loopback, a server answers to loopback names and private addresses only. */
function isHostAllowed(state: SimulatorState, header: string): boolean {
  if (!isLoopback(state.options.host)) return true;
  const host = header
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
  if (host === '' || host === 'localhost' || host === hostname().toLowerCase()) return true;
  if (/\.(?:localhost|local|internal)$/.test(host)) return true;
  return isLoopback(host) || host === '0.0.0.0' || host === '::' || isPrivate(host);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function isPrivate(host: string): boolean {
  return (
    /^10(?:\.\d{1,3}){3}$/.test(host) ||
    /^192\.168(?:\.\d{1,3}){2}$/.test(host) ||
    /^172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}$/.test(host) ||
    /^f[cd][0-9a-f]{2}:/.test(host)
  );
}
