/**
 * What the engine needs from the outside, as interfaces. Hosts and doors fill them in; tests fill them with simulated time
 * and scripted models. Nothing in this folder reads a clock, draws a random number or opens a socket by itself.
 */
import type { CallRecord, Reply } from '../contract/calls.ts';
import type { CallId, RunId } from '../contract/ids.ts';
import type { EngineEvent } from '../contract/events.ts';
import type { RunningModel } from '../contract/server.ts';
import type { Bytes, Milliseconds } from '../contract/units.ts';

export interface Clock {
  /** ISO 8601 UTC of now, on the wall clock: for rows and logs, never for deadlines. */
  now(): string;
  /** Milliseconds on a clock that only goes forward: for durations and deadlines. */
  monotonicMs(): number;
}

export interface Ids {
  call(): CallId;
  run(): RunId;
}

/** A cancel that reaches the socket. `onAbort` calls back at once when it has already happened. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: Reply['abortedBy'];
  onAbort(listener: () => void): () => void;
}

/** A call as it goes to the door: path and body are sent as they stand. */
export interface WireRequest {
  readonly path: '/api/chat' | '/api/generate';
  readonly body: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number | null;
}

/** What comes back, in order: sent?, headers?, chunk*, end. `end` is always the last, exactly once; the iterable never throws. */
export type ModelEvent =
  | { readonly kind: 'sent' }
  | { readonly kind: 'headers'; readonly status: number }
  | {
      readonly kind: 'chunk';
      readonly thinking: string;
      readonly answer: string;
      readonly toolCalls: number;
      /** Entries in `logprobs` of this chunk, null without logprobs. */
      readonly logprobEntries: number | null;
    }
  | { readonly kind: 'end'; readonly end: ReplyEnd };

/** The reply's fields at its end. Texts and chunk counts are summed up by the engine from the chunks. */
export type ReplyEnd = Pick<
  Reply,
  | 'status'
  | 'ending'
  | 'abortedBy'
  | 'done'
  | 'doneReason'
  | 'promptEvalCount'
  | 'evalCount'
  | 'totalDurationMs'
  | 'loadDurationMs'
  | 'promptEvalDurationMs'
  | 'evalDurationMs'
  | 'contextLength'
  | 'error'
  | 'needs'
  | 'has'
> & {
  /** The bytes of the reply as text, cut at `rawBytesMax` of the door. */
  readonly raw: string;
  readonly rawClipped: boolean;
  readonly rawBytes: Bytes;
};

export interface ModelPort {
  /** Streams one call. Aborting `signal` closes the socket at any time, also before headers. */
  stream(request: WireRequest, signal: CancelSignal): AsyncIterable<ModelEvent>;
  /** /api/ps; null when the server does not answer. */
  running(signal: CancelSignal): Promise<readonly RunningModel[] | null>;
}

/** Runs heavy pure work (estimates of megabytes of text) off the main thread; the default runs it in place. */
export interface Journal {
  /** Stores a finished call and, when it belongs to a run, its cell, in one transaction. */
  callClosed(record: CallRecord): void;
}

export interface EventSink {
  emit(event: EngineEvent): void;
}

/** Timers as a port, so that wall-clock limits run on simulated time in tests. */
export interface Timers {
  after(delayMs: Milliseconds, run: () => void): () => void;
}
