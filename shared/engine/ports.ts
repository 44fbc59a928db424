/**
 * What the engine needs from the outside, as interfaces. Hosts and doors fill them in; tests fill them with simulated time
 * and scripted models. Nothing in this folder reads a clock, draws a random number or opens a socket by itself.
 */
import type { CallRecord, CallRequest, MadeToolCall, Message, Reply } from '../contract/calls.ts';
import type { Result } from '../contract/denials.ts';
import type { Preflight } from '../contract/estimates.ts';
import type { CallId, RunId } from '../contract/ids.ts';
import type { EngineEvent } from '../contract/events.ts';
import type { ModelFacts, RunningModel } from '../contract/server.ts';
import type { Bytes, Tokens } from '../contract/units.ts';
import type { LogprobEntry } from './reasoning/types.ts';
import type { LearnedRatio, MessagesEstimate } from './estimate/estimate.ts';
import type { BudgetPort } from './admission.ts';
import type { PreflightInput } from './truncation/preflight.ts';

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
      /** The calls themselves; left out where there are none. */
      readonly made?: readonly MadeToolCall[];
      /** Entries in `logprobs` of this chunk, null without logprobs. */
      readonly logprobEntries: number | null;
      /** The entries themselves; left out where there are none. */
      readonly logprobs?: readonly LogprobEntry[];
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
  /**
   * Streams one call, in portions: the events that one read of the socket completed come together, so that a fast model costs
   * one promise a portion and not one a token. Aborting `signal` closes the socket at any time, also before headers.
   */
  stream(request: WireRequest, signal: CancelSignal): AsyncIterable<readonly ModelEvent[]>;
  /** /api/ps; null when the server does not answer. */
  running(signal: CancelSignal): Promise<readonly RunningModel[] | null>;
}

/** What is known about the server and the model before a call leaves. Everything may be missing; nothing is guessed. */
export interface Subject {
  readonly server: string;
  readonly serverVersion: string | null;
  readonly simulated: boolean;
  /** null: /api/show did not answer, or does not know the model (the call then says so itself). */
  readonly facts: ModelFacts | null;
  readonly digest: string | null;
  readonly learned: LearnedRatio | null;
  /** The window the server uses when nobody asks for one, where a call without num_ctx has shown it; else null. */
  readonly defaultNumCtx: Tokens | null;
  readonly running: readonly RunningModel[];
  /** Prompt tokens the server counted for exactly this prompt in an earlier, uncut call; null = never. */
  readonly countedOf?: (request: CallRequest) => number | null;
  /** What the turn before in this conversation counted, where it was sent from here; null = none, or not known. */
  readonly previousOf?: (
    request: CallRequest,
  ) => { readonly promptEvalCount: number; readonly characters: number } | null;
  /** Windows this model was seen running in, and the memory it took there. */
  readonly memorySeen?: readonly { readonly window: number; readonly bytes: number }[];
}

export interface SubjectPort {
  /** Refused only for what must not leave at all: a cloud model in local-only mode, no server. */
  of(model: string, signal: CancelSignal): Promise<Result<Subject>>;
}

/** The two heavy pure functions. The default runs them in place; a host with a screen runs them off its main thread. */
export interface Estimator {
  estimate(messages: readonly Message[], learned: LearnedRatio | null): Promise<MessagesEstimate>;
  preflight(input: PreflightInput): Promise<Preflight>;
}

/** A call that leaves, as far as its lines in the server's log can be told by it. */
export interface LogCallSent {
  readonly id: CallId;
  readonly path: string;
  readonly numCtx: number | null;
  /** Estimated prompt tokens, both ends. */
  readonly low: number;
  readonly high: number;
  readonly messages: number;
}

export interface LogCallEnded {
  readonly id: CallId;
  readonly status: number | null;
  readonly promptEvalCount: number | null;
  readonly evalCount: number | null;
  readonly needs: number | null;
  readonly totalDurationMs: number | null;
}

/** lines: empty = none is this call's for sure. debug: debug lines are written, none of which may be about this call. */
export interface LogLines {
  readonly lines: readonly string[];
  readonly debug: boolean;
  /** There are lines that fit this call and another one alike. */
  readonly isShared: boolean;
}

/** The server's log, where it can be read. Never needed: without it verdicts rest on the fields. */
export interface LogPort {
  /** Lines written before this are no lines of the call. */
  sent(call: LogCallSent): void;
  /** Comes once for each call that was sent, after a wait that is short and bounded. null = no log is open. Never rejects. */
  linesFor(call: LogCallEnded): Promise<LogLines | null>;
}

export const noLog: LogPort = { sent: () => undefined, linesFor: async () => null };

export interface Journal {
  /** Stores a finished call and, when it belongs to a run, its cell, in one transaction. Refused when the disk says no. */
  callClosed(record: CallRecord): Result<void>;
}

export interface EventSink {
  emit(event: EngineEvent): void;
}

export interface EnginePorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly model: ModelPort;
  readonly subjects: SubjectPort;
  readonly estimator: Estimator;
  readonly journal: Journal;
  /** Left out = no log, no wait. */
  readonly log?: LogPort;
  /** Left out = no limits, no reservations. */
  readonly budgets?: BudgetPort;
  readonly events: EventSink;
}
