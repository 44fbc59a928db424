/** How messages travel: over the streams of a child process, or over HTTP with a bound on what comes back. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '../../contract/agents.ts';
import type { Denial, Result } from '../../contract/denials.ts';
import { ok } from '../../contract/denials.ts';
import { CLOSED, type Child, type LocalServer, MESSAGE_BYTES_MAX, startChild } from './child.ts';

export interface Carrier {
  readonly transport: Transport;
  /** Why it is over, once it is; null = it goes on, or was closed by us. */
  whyEnded(): string | null;
  close(): Promise<void>;
  /** What the server said of itself outside the protocol, for a person. */
  lastWords(): string;
}

/** A child that is already running; `transport.start` only begins to listen. */
export async function overStreams(server: LocalServer): Promise<Result<Carrier>> {
  let ended: string | null = null;
  let garbageBytes = 0;
  let unasked = 0;
  const waiting: string[] = [];
  let isListening = false;

  const deliver = (line: string): void => {
    const message = read(line);
    if (message === null) {
      garbageBytes += line.length + 1;
      if (garbageBytes > GARBAGE_BYTES_MAX) child.end('it writes something other than messages on stdout');
      return;
    }
    // Answers are asked for; what comes without having been asked for is counted between two of them.
    unasked = 'method' in message ? unasked + 1 : 0;
    if (unasked > UNASKED_MAX) return child.end(`it sent more than ${UNASKED_MAX} messages that nobody asked for`);
    transport.onmessage?.(message);
  };

  const started = await startChild(server, {
    onLine(line) {
      if (isListening) deliver(line);
      else if (waiting.length < WAITING_MAX) waiting.push(line);
    },
    onEnd(why) {
      ended = why;
      transport.onclose?.();
    },
  });
  if (!started.ok) return started;
  const child: Child = started.value;

  const transport: Transport = {
    start() {
      isListening = true;
      for (const line of waiting.splice(0)) deliver(line);
      if (ended !== null) transport.onclose?.();
      return Promise.resolve();
    },
    async send(message) {
      child.write(`${JSON.stringify(message)}\n`);
    },
    close: () => child.close(),
  };
  return ok({
    transport,
    whyEnded: () => (ended === CLOSED ? null : ended),
    close: () => child.close(),
    lastWords: () => child.lastWords(),
  });
}

export function overHttp(server: Extract<McpServer, { url: string }>): Carrier {
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: server.headers },
    fetch: boundedFetch,
    reconnectionOptions: { ...RECONNECTION },
  });
  return {
    transport: transport as Transport,
    // What ends a connection over HTTP comes as an error of a call.
    whyEnded: () => null,
    async close() {
      // A server that is gone cannot say goodbye; one that hangs is not waited for.
      await Promise.race([
        transport.terminateSession().catch(() => undefined),
        new Promise<undefined>(after(GOODBYE_MS)),
      ]);
      await transport.close();
    },
    lastWords: () => '',
  };
}

/**
 * The server is not there any more, or knows nothing of the session: the connection is of no more use. A stream that only broke
 * off is taken up again by the library, and is not lost before that has failed.
 */
export const isLost = (error: Error): boolean =>
  error.message.includes(TOO_LARGE) ||
  /failed to reconnect|maximum reconnection|session not found|ECONNREFUSED|ECONNRESET|fetch failed/i.test(
    error.message,
  );

export const withLastWords = (denial: Denial, words: string): string =>
  [denial.message, denial.next, words === '' ? '' : `It said: ${words}`].filter(Boolean).join(' ');

const TOO_LARGE = `it sent a message of more than ${MESSAGE_BYTES_MAX / 1024 ** 2} MB`;
const GARBAGE_BYTES_MAX = 1_000_000;
const UNASKED_MAX = 10_000;
const WAITING_MAX = 1_000;
const GOODBYE_MS = 2_000;
const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

function read(line: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(line);
    const parsed = JSONRPCMessageSchema.safeParse(value);
    return parsed.success ? parsed.data : brokenAnswer(value);
  } catch {
    return null;
  }
}

/** An answer that cannot be read is still the answer: whoever waits for it is told, and does not wait on. */
function brokenAnswer(value: unknown): JSONRPCMessage | null {
  if (typeof value !== 'object' || value === null || !('id' in value) || 'method' in value) return null;
  const { id } = value;
  if (typeof id !== 'number' && typeof id !== 'string') return null;
  return {
    jsonrpc: '2.0',
    id,
    error: { code: INTERNAL_ERROR, message: 'the server sent something that is no result' },
  };
}

const INTERNAL_ERROR = -32_603;

const after =
  (delayMs: number) =>
  (then: (value: undefined) => void): void => {
    setTimeout(then, delayMs, undefined).unref();
  };

/** As `fetch`, but an answer, or one event of a stream, over MESSAGE_BYTES_MAX ends it with an error. */
const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const body = response.body.pipeThrough(bounded(isStream));
  const { status, statusText, headers } = response;
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: response.url });
};

/** Events of a stream end with an empty line: what comes after one is counted anew. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let endsLine = false;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (isStream) {
        for (let at = 0; at < chunk.length; at += 1) {
          const byte = chunk[at];
          if (byte === 13) continue;
          if (byte === 10 && endsLine) bytes = chunk.length - at - 1;
          endsLine = byte === 10;
        }
      }
      if (bytes > MESSAGE_BYTES_MAX) {
        controller.error(new Error(TOO_LARGE));
      } else controller.enqueue(chunk);
    },
  });
}
