/**
 * One server: started, asked what it can do, called, started again after it died, ended. Says nothing of budgets; what it brings
 * back is not yet looked at.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { McpServer } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { version } from '../version.ts';
import { isWebAddress } from './servers-file.ts';
import { lineOf } from './texts.ts';
import { type Carrier, isLost, overHttp, overStreams, withLastWords } from './transports.ts';

/** What came of a call: the result as the server sent it, or why there is none. */
export type CallEnd =
  | { readonly kind: 'result'; readonly result: Readonly<Record<string, unknown>> }
  /** retryable: the server was gone or busy, and may not be the next time. */
  | { readonly kind: 'failed'; readonly words: string; readonly retryable: boolean };

export interface Connection {
  /** As they were listed when it was opened; nothing of them is checked yet. */
  readonly tools: readonly unknown[];
  /** There are more tools or pages than are read. */
  readonly isCut: boolean;
  /** Aborting `signal` tells the server that nobody waits any more. */
  call(name: string, args: unknown, signal: AbortSignal): Promise<CallEnd>;
  close(): Promise<void>;
}

export interface ConnectAbout {
  /** For the whole start: program, greeting, list of tools. */
  readonly startTimeoutMs: number;
  readonly signal: AbortSignal;
}

export const TOOLS_MAX = 200;
const PAGES_MAX = 50;
/** One after another, without a call that came to a result. */
const RESTARTS_MAX = 3;
/** The gateway has the time limit of a call. This one is above all that it can be, for a run whose clock stands while it waits. */
const CALL_MS = 3_660_000;

interface Open {
  readonly client: Client;
  readonly carrier: Carrier;
  /** Set by what shows that the connection is of no more use. */
  isOver: boolean;
  /** The fault that showed it. */
  fault: Error | null;
}

export async function connect(server: McpServer, about: ConnectAbout): Promise<Result<Connection>> {
  const first = await open(server, about);
  if (!first.ok) return first;
  let current: Open = first.value;
  const listed = await listTools(current, about);
  if (!listed.ok) {
    await shut(current);
    return listed;
  }
  let restarts = 0;
  let starting: Promise<Result<Open>> | null = null;
  const closing = new AbortController();

  /** Calls of one step that find it gone start it once, together. */
  async function running(): Promise<Result<Open>> {
    if (!current.isOver) return ok(current);
    if (closing.signal.aborted) return denied('cancelled', 'The server was closed.');
    if (starting === null && restarts >= RESTARTS_MAX) {
      return denied(
        'server-error',
        `The server ended ${restarts + 1} times (${whyOf(current)}); it is not started again.`,
      );
    }
    starting ??= (async () => {
      restarts += 1;
      await shut(current);
      const again = await open(server, { ...about, signal: closing.signal });
      if (again.ok) current = again.value;
      return again;
    })().finally(() => {
      starting = null;
    });
    return starting;
  }

  return ok({
    tools: listed.value.tools,
    isCut: listed.value.isCut,
    async call(name, args, signal) {
      const ready = await running();
      if (!ready.ok) return { kind: 'failed', words: ready.denial.message, retryable: true };
      if (signal.aborted) return { kind: 'failed', words: 'it was stopped', retryable: false };
      const used = ready.value;
      try {
        const params = { name, arguments: args as Record<string, unknown> };
        const options = { signal, timeout: CALL_MS };
        const result = await used.client.request({ method: 'tools/call', params }, anyResult, options);
        restarts = 0;
        return { kind: 'result', result };
      } catch (error) {
        return failureOf(error, used, signal);
      }
    },
    async close() {
      closing.abort();
      await starting?.catch(() => undefined);
      await shut(current);
    },
  });
}

/** Only the frame: what is inside is read where it is turned into text. */
const anyResult = z.looseObject({});
const toolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

async function open(server: McpServer, about: ConnectAbout): Promise<Result<Open>> {
  if ('url' in server && !isWebAddress(server.url)) {
    return denied('bad-input', 'url is no http or https address.', { field: 'url', next: 'Correct it.' });
  }
  const carried = 'url' in server ? ok(overHttp(server)) : await overStreams(server);
  if (!carried.ok) return carried;
  const carrier = carried.value;
  // No capabilities: a server that asks for roots, a model or a form is told that there is none.
  const client = new Client({ name: 'spillway', version }, { capabilities: {} });
  const opened: Open = { client, carrier, isOver: false, fault: null };
  client.onclose = () => {
    opened.isOver = true;
  };
  client.onerror = (error) => {
    if (!isLost(error)) return;
    opened.isOver = true;
    opened.fault ??= error;
    // What waits for an answer is told that none will come.
    void client.close().catch(() => undefined);
  };
  try {
    await client.connect(carrier.transport, { timeout: about.startTimeoutMs, signal: about.signal });
    return ok(opened);
  } catch (error) {
    const why = carrier.whyEnded() ?? wordsOf(opened.fault ?? error, about.startTimeoutMs);
    await shut(opened);
    const denial = denied('server-error', `It did not start: ${lineOf(why)}.`).denial;
    return { ok: false, denial: { ...denial, message: withLastWords(denial, lineOf(carrier.lastWords())) } };
  }
}

async function listTools(
  { client, carrier }: Open,
  about: ConnectAbout,
): Promise<Result<{ readonly tools: readonly unknown[]; readonly isCut: boolean }>> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  try {
    for (let page = 0; page < PAGES_MAX && tools.length <= TOOLS_MAX; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const options = { timeout: about.startTimeoutMs, signal: about.signal };
      const answer = await client.request({ method: 'tools/list', params }, toolsPage, options);
      tools.push(...answer.tools.slice(0, TOOLS_MAX + 1));
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
  } catch (error) {
    // A server without tools may say so with an error: it has none.
    if (error instanceof McpError && error.code === ErrorCode.MethodNotFound) return ok({ tools: [], isCut: false });
    const why = carrier.whyEnded() ?? wordsOf(error, about.startTimeoutMs);
    return denied('server-error', `It did not say which tools it has: ${lineOf(why)}.`);
  }
  return ok({ tools: tools.slice(0, TOOLS_MAX), isCut: tools.length > TOOLS_MAX || cursor !== undefined });
}

async function shut(opened: Open): Promise<void> {
  opened.isOver = true;
  await opened.carrier.close().catch(() => undefined);
  await opened.client.close().catch(() => undefined);
}

const whyOf = ({ carrier }: Open): string => lineOf(carrier.whyEnded() ?? 'the connection was lost');

function failureOf(error: unknown, used: Open, signal: AbortSignal): CallEnd {
  if (signal.aborted) return { kind: 'failed', words: 'it was stopped', retryable: false };
  const ended = used.carrier.whyEnded();
  if (ended !== null) return { kind: 'failed', words: `the server is gone: ${lineOf(ended)}`, retryable: true };
  const isLostNow = used.isOver || statusOf(error) === 404 || codeOf(error) === ErrorCode.ConnectionClosed;
  if (isLostNow) used.isOver = true;
  const words =
    error instanceof z.ZodError ? 'the server sent something that is no result' : wordsOf(used.fault ?? error, CALL_MS);
  return { kind: 'failed', words: lineOf(words), retryable: isLostNow || isBusy(error) };
}

/** It may pass: no answer, too many requests over HTTP, a fault of the server's machine. */
function isBusy(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  return codeOf(error) === ErrorCode.RequestTimeout || status === 429 || status >= 500 || error instanceof TypeError;
}

const codeOf = (error: unknown): number | null => (error instanceof McpError ? error.code : null);

/** Of HTTP; 404 is a session that the server does not know any more. */
function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || error instanceof McpError || !('code' in error)) return null;
  return typeof error.code === 'number' ? error.code : null;
}

function wordsOf(error: unknown, timeoutMs: number): string {
  if (codeOf(error) === ErrorCode.RequestTimeout) return `no answer within ${timeoutMs} ms`;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  // Addresses may hold a password.
  return `${error.message.replace(/^MCP error -?\d+: /, '')}${cause}`.replace(/\/\/[^\s/@]*@/g, '//');
}
