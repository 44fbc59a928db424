/** Real servers for the door's tests, and the recorded replies as bytes. */
import { readFileSync, readdirSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, createServer as createTcpServer } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Clock, ModelEvent, ReplyEnd, WireRequest } from '../../../shared/engine/ports.ts';
import { type DoorOptions, type OllamaDoor, createOllamaDoor } from '../../../shared/node/ollama/door.ts';
import { type ParserOptions, type Stop, createStreamParser } from '../../../shared/node/ollama/stream-parser.ts';
import { createCancel, never } from '../../../shared/engine/cancel.ts';

export const clock: Clock = {
  now: () => new Date(0).toISOString(),
  monotonicMs: () => performance.now(),
};

export { createCancel, never };

export const door = (url: string, more: Partial<DoorOptions> = {}): OllamaDoor =>
  createOllamaDoor({ url, clock, ...more });

/** Pieces of a streamed reply: the head, a text line, the done line, and one chunk of HTTP framing around a text. */
export const head =
  'HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
export const line = (content: string): string =>
  `${JSON.stringify({ message: { role: 'assistant', content }, done: false })}\n`;
export const last = `${JSON.stringify({ message: { content: '' }, done: true, done_reason: 'stop', eval_count: 2 })}\n`;
export const framed = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** A server of node:http on a free port, closed with the test. */
export async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server of raw bytes: `answer` gets the socket once a whole request is there, and the request's text. */
export async function serveBytes(
  answer: (socket: Socket, request: string) => void | Promise<void>,
  host = '127.0.0.1',
  port = 0,
): Promise<{ url: string; port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let text = '';
    let answered = false;
    socket.on('data', (part) => {
      text += part.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (answered || head < 0 || text.length < head + 4 + length) return;
      answered = true;
      void answer(socket, text);
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const at = (server.address() as AddressInfo).port;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${at}`, port: at };
}

/** A port where nothing listens. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

export const ask: WireRequest = {
  path: '/api/chat',
  body: { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true, options: { num_predict: 8 } },
  timeoutMs: null,
};
export const askWhole: WireRequest = { ...ask, body: { ...ask.body, stream: false } };

export interface Collected {
  readonly kinds: string[];
  readonly thinking: string;
  readonly answer: string;
  readonly chunks: number;
  readonly toolCalls: number;
  readonly logprobs: number | null;
  readonly end: ReplyEnd;
}

/** Reads a stream to its end and checks its law: sent?, headers?, chunk*, one end. */
export async function collect(stream: AsyncIterable<readonly ModelEvent[]>): Promise<Collected> {
  const events: ModelEvent[] = [];
  for await (const portion of stream) events.push(...portion);
  return summed(events);
}

export function summed(events: readonly ModelEvent[]): Collected {
  const chunks = events.filter((event) => event.kind === 'chunk');
  const last = events.at(-1);
  if (last?.kind !== 'end') throw new Error('the last event is not the end');
  const order = events.map((event) => event.kind.charAt(0)).join('');
  if (!/^s?h?c*e$/.test(order)) throw new Error(`wrong order of events: ${order}`);
  const counted = chunks.filter((chunk) => chunk.logprobEntries !== null);
  return {
    kinds: events.filter((event) => event.kind !== 'chunk').map((event) => event.kind),
    thinking: chunks.map((chunk) => chunk.thinking).join(''),
    answer: chunks.map((chunk) => chunk.answer).join(''),
    chunks: chunks.length,
    toolCalls: chunks.reduce((sum, chunk) => sum + chunk.toolCalls, 0),
    logprobs: counted.length === 0 ? null : counted.reduce((sum, chunk) => sum + (chunk.logprobEntries ?? 0), 0),
    end: last.end,
  };
}

export const endOfStream: Stop = { kind: 'end-of-stream' };
export const okHead = { status: 200, statusText: 'OK', contentType: 'application/x-ndjson', location: null };
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the parser alone makes of one reply, given in these pieces. */
export function parsedEvents(
  pieces: readonly Uint8Array[],
  options: Partial<ParserOptions> = {},
  stop: Stop = endOfStream,
): ModelEvent[] {
  const parser = createStreamParser({ head: okHead, whole: false, ...options });
  const events: ModelEvent[] = [];
  for (const piece of pieces) {
    if (parser.over) break;
    events.push(...parser.push(piece));
  }
  const { chunks, end } = parser.finish(stop);
  return [...events, ...chunks, { kind: 'end', end }];
}

export interface Recording {
  readonly name: string;
  readonly version: string;
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown };
  readonly response: {
    readonly status: number;
    readonly statusLine: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly chunked: boolean;
    readonly chunkSizes: readonly number[];
    readonly body: string;
    readonly clientLeft: boolean;
  };
}

/** Every recorded exchange of test/fixtures that has one request and one reply. */
export function recordings(): Recording[] {
  const root = new URL('../../fixtures/', import.meta.url);
  return ['real', 'old', 'scripted', 'embed', 'config'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root))
      .filter((file) => file.endsWith('.json'))
      .map((file) => load(new URL(`${folder}/${file}`, root), `${folder}/${file.replace('.json', '')}`))
      .filter((recording) => recording !== null),
  );
}

export function recording(name: string): Recording {
  const found = load(new URL(`../../fixtures/${name}.json`, import.meta.url), name);
  if (found === null) throw new Error(`no recording ${name}`);
  return found;
}

function load(url: URL, name: string): Recording | null {
  const file = JSON.parse(readFileSync(url, 'utf8')) as {
    server?: { version?: string };
    request?: Recording['request'];
    response?: {
      status: number;
      status_line: string;
      headers: [string, string][];
      chunked: boolean;
      chunk_sizes: number[];
      body: string;
      client_left: boolean;
    };
  };
  if (file.request === undefined || file.response === undefined) return null;
  const { response } = file;
  return {
    name,
    version: file.server?.version ?? '',
    request: file.request,
    response: {
      status: response.status,
      statusLine: response.status_line,
      headers: response.headers,
      chunked: response.chunked,
      chunkSizes: response.chunk_sizes,
      body: response.body,
      clientLeft: response.client_left,
    },
  };
}

/** The exchange as it went over the wire: status line, headers, and the body in its own chunk framing. */
export function wireBytes(recording: Recording): Buffer {
  const { response } = recording;
  const head = [response.statusLine, ...response.headers.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
  const body = Buffer.from(response.body, 'utf8');
  if (!response.chunked) return Buffer.concat([Buffer.from(head, 'latin1'), body]);
  const parts: Buffer[] = [Buffer.from(head, 'latin1')];
  let at = 0;
  for (const size of [...response.chunkSizes, Number.MAX_SAFE_INTEGER]) {
    const piece = body.subarray(at, at + size);
    at += piece.byteLength;
    if (piece.byteLength > 0)
      parts.push(Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  if (!response.clientLeft) parts.push(Buffer.from('0\r\n\r\n'));
  return Buffer.concat(parts);
}

/** Cuts bytes at the given places (any numbers; they are folded into the length). */
export function tear(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.byteLength + 1)))].sort((a, b) => a - b);
  const edges = [0, ...at, bytes.byteLength];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}
