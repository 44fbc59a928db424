/**
 * One HTTP exchange on its own socket. Nothing is shared between exchanges, so ending one never touches another, and there
 * is no time limit here except for the connect: a server that loads a model may be silent for as long as it needs.
 */
import { isIP } from 'node:net';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { OllamaAddress } from './address.ts';
import { failureText, secondsText } from './texts.ts';

export interface HttpAsk {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Where it broke: `connect` = the request never reached the server; `answer` = before headers; `body` = after them. */
export interface HttpFailure {
  readonly phase: 'connect' | 'answer' | 'body';
  /** One phrase; with several addresses each is named. */
  readonly text: string;
  readonly looks: readonly { readonly address: string; readonly outcome: string }[];
}

export interface HttpHead {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  readonly location: string | null;
}

export interface HttpExchange {
  /** True once a socket stood: from then on the server may have begun to work. */
  readonly connected: boolean;
  /** null when the whole request is with the system. Both resolve for good, they never reject. */
  readonly sent: Promise<HttpFailure | null>;
  readonly head: Promise<HttpHead | HttpFailure>;
  /** Pull-based: a reader that stops reading stops the socket. Ends early when the connection breaks; ask `broken` then. */
  body(): AsyncIterable<Uint8Array>;
  readonly broken: HttpFailure | null;
  /** Closes the socket now, in whatever state. Safe to call twice. */
  close(): void;
  /** The reply is read: lets the server end it by itself, so that it does not take us for a client that left. */
  release(): void;
}

export const connectTimeoutMs = 10_000;
const releaseTimeoutMs = 1_000;

export function startExchange(
  address: OllamaAddress,
  ask: HttpAsk,
  options: { readonly connectTimeoutMs?: number } = {},
): HttpExchange {
  const limitMs = options.connectTimeoutMs ?? connectTimeoutMs;
  const looks: { address: string; outcome: string }[] = [];
  const sent = deferred<HttpFailure | null>();
  const head = deferred<HttpHead | HttpFailure>();
  const state = { connected: false, closed: false, broken: null as HttpFailure | null };
  let current: ClientRequest | null = null;
  let response: IncomingMessage | null = null;

  const fail = (failure: HttpFailure): void => {
    state.broken ??= failure;
    sent.resolve(failure);
    head.resolve(failure);
  };

  const attempt = (index: number): void => {
    const host = address.hosts[index];
    if (state.closed || host === undefined) return fail({ phase: 'connect', text: looksText(looks), looks });
    const request = open(address, host, ask);
    current = request;
    let inTime = true;
    const timer = setTimeout(() => {
      inTime = false;
      request.destroy();
    }, limitMs);
    request.once('socket', (socket) => {
      socket.once(address.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer);
        state.connected = true;
      });
    });
    request.once('finish', () => sent.resolve(null));
    request.once('response', (message: IncomingMessage) => {
      response = message;
      // Without a listener a broken reply that nobody reads would end the process.
      message.on('error', (error) => (state.broken ??= { phase: 'body', text: failureText(error), looks }));
      // A server may refuse before it has read everything; then nothing more is sent, and nobody waits for that.
      sent.resolve(null);
      head.resolve(headOf(message));
    });
    request.on('error', (error) => {
      clearTimeout(timer);
      if (response !== null) return;
      if (state.connected) return fail({ phase: 'answer', text: answerText(error), looks });
      if (inTime) looks.push(...looksOf(error, host, address.port));
      else looks.push({ address: hostAndPort(host, address.port), outcome: `no answer in ${secondsText(limitMs)}` });
      attempt(index + 1);
    });
  };
  attempt(0);

  return {
    get connected() {
      return state.connected;
    },
    get broken() {
      return state.broken;
    },
    sent: sent.promise,
    head: head.promise,
    async *body() {
      if (response === null) return;
      try {
        for await (const bytes of response.iterator({ destroyOnReturn: false })) yield bytes as Uint8Array;
      } catch (error) {
        state.broken ??= { phase: 'body', text: failureText(error as Error), looks };
      }
    },
    close() {
      state.closed = true;
      current?.destroy();
      response?.destroy();
      if (response === null) fail({ phase: state.connected ? 'answer' : 'connect', text: 'closed', looks });
    },
    release() {
      const timer = setTimeout(() => response?.destroy(), releaseTimeoutMs);
      timer.unref();
      response?.once('close', () => clearTimeout(timer));
      response?.resume();
    },
  };
}

/** `127.0.0.1:11434 connection refused, [::1]:11434 connection refused`. */
export function looksText(looks: readonly { readonly address: string; readonly outcome: string }[]): string {
  return looks.map((look) => `${look.address} ${look.outcome}`).join(', ');
}

export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The addresses of one name are tried one after the other; the default of 250 ms for each is short for a far host. */
const patience = { autoSelectFamilyAttemptTimeout: 2_000 };

/** No agent: one socket for one request, closed with it. The Host header keeps the name that was asked for. */
function open(address: OllamaAddress, host: string, ask: HttpAsk): ClientRequest {
  const url = new URL(ask.url);
  const body = ask.body === null ? null : Buffer.from(ask.body, 'utf8');
  const secure = address.protocol === 'https:';
  const request = (secure ? httpsRequest : httpRequest)({
    host,
    port: address.port,
    method: ask.method,
    path: `${url.pathname}${url.search}`,
    agent: false,
    ...(secure && isIP(host) === 0 ? { servername: url.hostname } : {}),
    ...patience,
    ...(url.username === '' ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }),
    headers: { ...ask.headers, Host: url.host, ...(body === null ? {} : { 'Content-Length': body.byteLength }) },
  });
  request.end(body ?? undefined);
  return request;
}

/** A name with several addresses fails with one error for each of them. */
function looksOf(error: Error, host: string, port: number): { address: string; outcome: string }[] {
  if (!(error instanceof AggregateError)) return [{ address: hostAndPort(host, port), outcome: failureText(error) }];
  return (error.errors as (Error & { address?: string })[]).map((each) => ({
    address: hostAndPort(each.address ?? host, port),
    outcome: failureText(each),
  }));
}

function headOf(message: IncomingMessage): HttpHead {
  return {
    status: message.statusCode ?? 0,
    statusText: message.statusMessage ?? '',
    contentType: message.headers['content-type'] ?? '',
    location: message.headers.location ?? null,
  };
}

function answerText(error: Error): string {
  const text = failureText(error);
  return text === 'connection reset' ? 'the connection was closed before an answer came' : text;
}

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
