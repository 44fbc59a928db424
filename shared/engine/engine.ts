/**
 * Read this first. The engine opens calls, lets people stop them, and says what would happen before they are sent.
 * It decides; it never reads a clock, draws a number or opens a socket: all of that comes in as ports (ports.ts).
 */
import type { CallRequest } from '../contract/calls.ts';
import { type Result, denied, ok } from '../contract/denials.ts';
import type { Preflight } from '../contract/estimates.ts';
import type { EngineEvent, OpenCall } from '../contract/events.ts';
import type { CallId, CellKey, RunId } from '../contract/ids.ts';
import { tokens } from '../contract/units.ts';
import { answerOnlyRequest } from './ask-again.ts';
import { foresee } from './admission.ts';
import { type CallAsk, type CallOutcome, runCall, withCount } from './call.ts';
import { type CancelReason, type CancelSource, createCancel, never } from './cancel.ts';
import type { EnginePorts } from './ports.ts';
import { preflightInput, textsOf } from './readings.ts';
import { wireRequest } from './wire-body.ts';
import { shorteningOf, shortenedRequest } from './shorten.ts';

/** More calls at once than this are refused as `busy`: every one holds a socket and its texts. */
export const OPEN_CALLS_MAX = 64;

export interface Engine {
  /** Opens a call and returns at once; `done` resolves with the record, it does not reject for what a server or a person did. */
  open(
    request: CallRequest,
    place?: { runId: RunId; cellKey: CellKey },
  ): Result<{ id: CallId; done: Promise<CallOutcome> }>;
  cancel(id: CallId, reason: CancelReason): boolean;
  /** Cancels all and waits until each has settled. */
  stop(reason: CancelReason): Promise<void>;
  preflight(request: CallRequest): Promise<Result<Preflight>>;
  openCalls(): OpenCall[];
}

interface OpenEntry {
  readonly cancel: CancelSource;
  shown: OpenCall | null;
  done: Promise<CallOutcome>;
}

export function createEngine(
  outer: EnginePorts,
  { openCallsMax = OPEN_CALLS_MAX }: { readonly openCallsMax?: number } = {},
): Engine {
  const open = new Map<CallId, OpenEntry>();
  const ports: EnginePorts = { ...outer, events: { emit: (event) => (remember(event), outer.events.emit(event)) } };

  /** Keeps what a screen that connects in mid-call needs. */
  function remember(event: EngineEvent): void {
    if (event.type === 'call-opened') {
      const entry = open.get(event.call.id);
      if (entry !== undefined) entry.shown = event.call;
    } else if (event.type === 'call-phase-changed') {
      const entry = open.get(event.callId);
      if (entry !== undefined && entry.shown !== null) entry.shown = { ...entry.shown, phase: event.phase };
    }
  }

  /** The second of two calls, where the thinking of the first was stopped; its outcome stands for both. One cancel ends either. */
  async function askAgain(ask: CallAsk, first: CallOutcome, cancel: CancelSource): Promise<CallOutcome> {
    const { record } = first;
    const request = first.denial === null ? answerOnlyRequest(record) : null;
    if (request === null) return first;
    const id = ports.ids.call();
    const askedAfter = {
      callId: record.id,
      thinkingTokens: record.reasoning?.split?.thinkingTokens ?? tokens(record.reply.thinkingChunks),
      promptEvalCount: record.reply.promptEvalCount,
      wallMs: record.reply.wallMs,
    };
    // The first has closed; it stays in the list, unseen, so that a cancel of it reaches the second.
    const before = open.get(ask.id);
    if (before !== undefined) before.shown = null;
    const entry: OpenEntry = { cancel, shown: null, done: Promise.resolve(first) };
    open.set(id, entry);
    const { runId, cellKey, signal } = ask;
    entry.done = runCall(ports, { id, request, runId, cellKey, signal, askedAfter }).finally(() => open.delete(id));
    return entry.done;
  }

  /** The call with a summary in place of a conversation that is too long; as it was where there is nothing to shorten. */
  async function shortened(ask: CallAsk, cancel: CancelSource): Promise<CallAsk> {
    const shortening = await shorteningOf(ports, ask.request);
    if (shortening === null || ask.signal.aborted) return ask;
    const id = ports.ids.call();
    const entry: OpenEntry = { cancel, shown: null, done: undefined as unknown as Promise<CallOutcome> };
    open.set(id, entry);
    const { signal, runId } = ask;
    // It belongs to the run and is paid by its budget; it is the result of no cell.
    const { request: summarise } = shortening;
    entry.done = runCall(ports, { id, request: summarise, runId, cellKey: null, signal, isSummary: true });
    const { record, denial } = await entry.done.finally(() => open.delete(id));
    // The key of a call that was made before is told as that, not as a conversation that is too long.
    if (denial?.code === 'key-used') return { ...ask, refused: denial };
    const request = shortenedRequest(ask.request, record);
    if (request === null) return ask;
    const { messagesReplaced, tokensBefore } = shortening;
    return { ...ask, request, shortened: { callId: id, messagesReplaced, tokensBefore: tokens(tokensBefore) } };
  }

  return {
    open(request, place) {
      if (open.size >= openCallsMax) {
        return denied('busy', `${openCallsMax} calls are running.`, { next: 'Wait for one to end, or stop one.' });
      }
      const id = ports.ids.call();
      const cancel = createCancel();
      const entry: OpenEntry = { cancel, shown: null, done: undefined as unknown as Promise<CallOutcome> };
      open.set(id, entry);
      const ask: CallAsk = {
        id,
        request,
        runId: place?.runId ?? null,
        cellKey: place?.cellKey ?? null,
        signal: cancel.signal,
        isFirstOfTwo: request.thinkingCap?.then === 'ask-again',
      };
      entry.done = shortened(ask, cancel)
        .then((whole) => runCall(ports, whole))
        .then((first) => askAgain(ask, first, cancel))
        .finally(() => open.delete(id));
      return ok({ id, done: entry.done });
    },
    cancel(id, reason) {
      const entry = open.get(id);
      entry?.cancel.cancel(reason);
      return entry !== undefined;
    },
    async stop(reason) {
      const all = [...open.values()];
      for (const entry of all) entry.cancel.cancel(reason);
      await Promise.allSettled(all.map((entry) => entry.done));
    },
    async preflight(request) {
      const subject = await ports.subjects.of(request.model, never);
      if (!subject.ok) return subject;
      const sizes = await ports.estimator.estimate(textsOf(request), subject.value.learned);
      const preflight = await ports.estimator.preflight(preflightInput(request, subject.value, sizes));
      const wire = wireRequest(request, { logprobs: false });
      if (ports.budgets === undefined || !wire.ok) return ok(preflight);
      const about = { wire: wire.value, subject: subject.value, sizes: withCount(sizes, request, subject.value) };
      return ok({ ...preflight, admission: foresee(ports.budgets, request, about) });
    },
    openCalls: () => [...open.values()].flatMap((entry) => (entry.shown === null ? [] : [entry.shown])),
  };
}
