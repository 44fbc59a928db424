/** One call of /api/chat or /api/generate, from the request to its one end. */
import { must } from '../../engine/must.ts';
import { bytes } from '../../contract/units.ts';
import type { CancelSignal, ModelEvent, ReplyEnd, WireRequest } from '../../engine/ports.ts';
import type { OllamaAddress } from './address.ts';
import { noServerText } from './denials.ts';
import type { DoorOptions } from './options.ts';
import { type HttpAsk, type HttpExchange, type HttpFailure, startExchange } from './exchange.ts';
import { asRecord, noFields } from './reply-line.ts';
import { type ParserOptions, type Stop, createStreamParser } from './stream-parser.ts';
import { secondsText } from './texts.ts';
import { type Watch, createWatch } from './watch.ts';

export interface StreamOptions extends DoorOptions {
  readonly address: OllamaAddress;
  readonly makeAsk: (body: string) => Promise<HttpAsk>;
}

/**
 * Without a cap a reply can run without end, and num_ctx 0 runs in a window of 4 (design, section 4). Only calls that generate
 * nothing go without: a load (no messages, no prompt) and a render.
 */
export function assertBounded(request: WireRequest): void {
  const { body } = request;
  const options = asRecord(body.options);
  const { num_ctx: numCtx, num_predict: numPredict } = options;
  must(
    numCtx === undefined || (Number.isSafeInteger(numCtx) && Number(numCtx) >= 1),
    'num_ctx is left out or at least 1',
  );
  const generates =
    request.path === '/api/chat'
      ? asList(body.messages).length > 0
      : typeof body.prompt === 'string' && body.prompt !== '';
  if (!generates || body._debug_render_only === true) return;
  must(Number.isSafeInteger(numPredict) && Number(numPredict) >= 1, 'num_predict is never 0 or absent');
}

/**
 * Never throws; the last event is the end, exactly one. A reader that leaves early closes the socket. Reads on demand: no bytes
 * are taken from the socket while the reader is busy with the last ones.
 */
export async function* streamCall(
  options: StreamOptions,
  request: WireRequest,
  signal: CancelSignal,
): AsyncGenerator<readonly ModelEvent[], void> {
  const { address, clock } = options;
  const beganMs = clock.monotonicMs();
  const watch = createWatch(signal, request.timeoutMs);
  const ended = (end: ReplyEnd): ModelEvent[] => {
    logEnd(options, request, end, clock.monotonicMs() - beganMs);
    return [{ kind: 'end', end }];
  };
  let exchange: HttpExchange | null = null;
  let isRead = false;
  try {
    if (watch.reason !== null) return yield ended(endWithout('not-sent', 'Stopped before it was sent', watch));
    exchange = startExchange(address, await options.makeAsk(JSON.stringify(request.body)), connectLimit(options));
    watch.onAbort(exchange.close);
    if ((await exchange.sent) === null) yield [{ kind: 'sent' }];
    const head = await exchange.head;
    if ('phase' in head) return yield ended(failedEnd(address, head, watch, request.timeoutMs));
    yield [{ kind: 'headers', status: head.status }];

    const parser = createStreamParser(parserOptions(options, request, head));
    let chunkCount = 0;
    for await (const part of exchange.body()) {
      const portion = parser.push(part);
      if (watch.reason !== null) break;
      chunkCount += portion.length;
      if (portion.length > 0) yield portion;
      if (parser.over || watch.reason !== null) break;
    }
    const { chunks, end } = parser.finish(stopOf(exchange, watch, request.timeoutMs, chunkCount));
    isRead = end.ending === 'done' || end.ending === 'error-line';
    if (chunks.length > 0) yield chunks;
    yield ended(end);
  } finally {
    watch.end();
    if (isRead) exchange?.release();
    else exchange?.close();
  }
}

function parserOptions(options: StreamOptions, request: WireRequest, head: ParserOptions['head']): ParserOptions {
  const { limits } = options;
  return {
    head,
    whole: request.body.stream === false,
    ...(limits?.lineBytesMax === undefined ? {} : { lineBytesMax: limits.lineBytesMax }),
    ...(limits?.rawBytesMax === undefined ? {} : { rawBytesMax: limits.rawBytesMax }),
    ...(limits?.textCharactersMax === undefined ? {} : { textCharactersMax: limits.textCharactersMax }),
  };
}

function stopOf(exchange: HttpExchange, watch: Watch, timeoutMs: number | null, chunkCount: number): Stop {
  if (watch.reason !== null)
    return { kind: 'broken', abortedBy: watch.reason, error: stoppedText(watch, timeoutMs, chunkCount) };
  if (exchange.broken === null) return { kind: 'end-of-stream' };
  return {
    kind: 'broken',
    abortedBy: null,
    error: `The connection broke in the middle of the reply (${exchange.broken.text})`,
  };
}

/** No headers came. What never reached the server is told apart from what it may have begun to work on. */
function failedEnd(address: OllamaAddress, failure: HttpFailure, watch: Watch, timeoutMs: number | null): ReplyEnd {
  const stopped = stoppedText(watch, timeoutMs, 0);
  if (failure.phase === 'connect') {
    if (watch.reason === 'timeout') return endWithout('unreachable', `${address.label}: ${stopped}`, watch);
    if (watch.reason !== null) return endWithout('not-sent', 'Stopped before it was sent', watch);
    return endWithout('unreachable', noServerText(address, failure), watch);
  }
  if (watch.reason !== null) return endWithout('aborted', stopped, watch);
  if (failure.text === 'answers, but not in HTTP')
    return endWithout('unreachable', noServerText(address, failure), watch);
  return endWithout('aborted', `${address.label}: ${failure.text}`, watch);
}

function stoppedText(watch: Watch, timeoutMs: number | null, chunkCount: number): string {
  if (watch.reason === 'shutdown') return 'Stopped: Spillway was closed';
  if (watch.reason !== 'timeout') return 'Stopped';
  if (timeoutMs === null || !watch.timedOut) return 'Stopped by its time limit';
  return chunkCount === 0 ? `no first token in ${secondsText(timeoutMs)}` : `not finished in ${secondsText(timeoutMs)}`;
}

function endWithout(ending: ReplyEnd['ending'], error: string, watch: Watch): ReplyEnd {
  return {
    ...noFields,
    status: null,
    ending,
    abortedBy: watch.reason,
    error,
    needs: null,
    has: null,
    raw: '',
    rawClipped: false,
    rawBytes: bytes(0),
  };
}

function logEnd(options: StreamOptions, request: WireRequest, end: ReplyEnd, afterMs: number): void {
  if (end.ending === 'done') return;
  const { ending, abortedBy, status } = end;
  options.log?.({ what: 'call-ended', path: request.path, ending, abortedBy, status, afterMs: Math.round(afterMs) });
}

function connectLimit(options: StreamOptions): { connectTimeoutMs?: number } {
  return options.limits?.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: options.limits.connectTimeoutMs };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
