/** Reads that do not stream: one question, one JSON document, a refusal in our words. */
import type { Ollama } from 'ollama';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { CancelSignal } from '../../engine/ports.ts';
import type { OllamaAddress } from './address.ts';
import { askOf } from './client.ts';
import { noServer, notOllama, refusedRead } from './denials.ts';
import type { DoorOptions } from './options.ts';
import { readRefusal } from './error-text.ts';
import { type HttpAsk, type HttpExchange, startExchange } from './exchange.ts';
import { secondsText } from './texts.ts';
import { type Watch, createWatch } from './watch.ts';

/** A server that is there answers these from memory; a model's metadata from disk. */
export const readTimeoutMs = 30_000;
export const readBytesMax = 64 * 1024 * 1024;

export interface Question<Value> {
  readonly path: string;
  readonly ask: (client: Ollama) => Promise<unknown>;
  /** In place of the body that the package makes. */
  readonly body?: string;
  /** null = the document is not what Ollama answers here. */
  readonly take: (body: unknown) => Value | null;
  /** null = no limit; absent = the limit of all reads. */
  readonly timeoutMs?: number | null;
}

export interface Reader {
  /** Never throws for anything the server does. */
  read<Value>(question: Question<Value>, signal: CancelSignal): Promise<Result<Value>>;
}

export function createReader(options: DoorOptions & { readonly address: OllamaAddress }): Reader {
  const { address, clock } = options;
  return {
    async read(question, signal) {
      const beganMs = clock.monotonicMs();
      const timeoutMs =
        question.timeoutMs === undefined ? (options.limits?.readTimeoutMs ?? readTimeoutMs) : question.timeoutMs;
      const watch = createWatch(signal, timeoutMs);
      let status: number | null = null;
      const answer = await answerOf(options, question, watch, (seen) => (status = seen));
      watch.end();
      const stopped = watch.reason === null ? null : stoppedRead(address, question.path, watch, timeoutMs);
      const denial = answer.ok ? null : (stopped ?? answer.denial);
      if (answer.ok || denial === null) return answer;
      options.log?.({
        what: 'read-failed',
        path: question.path,
        ending: denial.code,
        abortedBy: watch.reason,
        status,
        afterMs: Math.round(clock.monotonicMs() - beganMs),
      });
      return { ok: false, denial };
    },
  };
}

async function answerOf<Value>(
  options: DoorOptions & { readonly address: OllamaAddress },
  question: Question<Value>,
  watch: Watch,
  onStatus: (status: number) => void,
): Promise<Result<Value>> {
  const { address, limits } = options;
  if (watch.reason !== null) return denied('cancelled', 'Stopped before it was sent.');
  const made: HttpAsk = await askOf(address, question.ask);
  const ask = question.body === undefined ? made : { ...made, body: question.body };
  const exchange = startExchange(
    address,
    ask,
    limits?.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: limits.connectTimeoutMs },
  );
  watch.onAbort(() => exchange.close());
  try {
    const head = await exchange.head;
    if ('phase' in head) return { ok: false, denial: noServer(address, head) };
    onStatus(head.status);
    const body = await bodyText(exchange);
    if (!body.ok) return body;
    if (head.status < 200 || head.status > 299) {
      return { ok: false, denial: refusedRead(address, head.status, readRefusal({ ...head, body: body.value })) };
    }
    const value = take(question, body.value);
    return value === null ? { ok: false, denial: notOllama(address) } : ok(value);
  } finally {
    exchange.close();
  }
}

function take<Value>(question: Question<Value>, body: string): Value | null {
  try {
    const document = JSON.parse(body) as unknown;
    return typeof document === 'object' && document !== null ? question.take(document) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function bodyText(exchange: HttpExchange): Promise<Result<string>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of exchange.body()) {
    parts.push(part);
    size += part.byteLength;
    if (size > readBytesMax) {
      return denied('server-error', `The reply is longer than ${readBytesMax.toLocaleString('en-US')} bytes.`, {
        next: 'Check that the address is that of Ollama.',
      });
    }
  }
  if (exchange.broken !== null) {
    return denied('server-error', `The connection broke in the middle of the reply (${exchange.broken.text}).`, {
      next: 'Try again.',
    });
  }
  return ok(new TextDecoder('utf-8').decode(Buffer.concat(parts)));
}

function stoppedRead(address: OllamaAddress, path: string, watch: Watch, timeoutMs: number | null): Denial {
  if (watch.timedOut && timeoutMs !== null) {
    return denied('no-server', `${address.label} gave no answer to ${path} in ${secondsText(timeoutMs)}.`, {
      next: 'See whether the server is busy, or use the simulator.',
    }).denial;
  }
  return denied('cancelled', 'Stopped.').denial;
}
