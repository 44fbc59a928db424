/**
 * One governed call, the corridor that every request walks (design, section 4):
 * estimate -> preflight -> admit -> send -> stream -> judge -> settle. There is one exit for every ending: `settle`.
 */
import type { CallReasoning, CallRecord, CallRequest, Message, Reply } from '../contract/calls.ts';
import type { Denial } from '../contract/denials.ts';
import type { Preflight } from '../contract/estimates.ts';
import type { EngineEvent } from '../contract/events.ts';
import type { CallId, CellKey, RunId } from '../contract/ids.ts';
import type { RunningModel } from '../contract/server.ts';
import { type Characters, characters, milliseconds } from '../contract/units.ts';
import type { TruncationVerdict } from '../contract/verdicts.ts';
import { type Admission, admit, close } from './admission.ts';
import { scoreNeedles } from './context-lab/score.ts';
import {
  type CancelSignal,
  type EnginePorts,
  type LogCallEnded,
  type LogCallSent,
  type LogLines,
  type ModelEvent,
  type ReplyEnd,
  type Subject,
  type WireRequest,
  noLog,
} from './ports.ts';
import { hasLogprobs } from './reasoning-lab/variants.ts';
import type { ReasoningPiece } from './reasoning/types.ts';
import { callReasoning } from './reasoning-lab/call-reasoning.ts';
import { type ReplyBuilder, createReplyBuilder } from './reply-builder.ts';
import { preflightInput, reasoningSettings, textsOf, truncationInput } from './readings.ts';
import { createCancel, never } from './cancel.ts';
import { summaryOf } from './summary.ts';
import { findRunning } from './running.ts';
import { type ReasoningReader, createReasoningReader } from './reasoning/reader.ts';
import { createThinkingMeter } from './thinking-meter.ts';
import { classifyTruncation } from './truncation/classify.ts';
import { type MessagesEstimate, countedEstimate } from './estimate/estimate.ts';
import { wireRequest } from './wire-body.ts';

export interface CallAsk {
  readonly id: CallId;
  readonly request: CallRequest;
  readonly runId: RunId | null;
  readonly cellKey: CellKey | null;
  readonly signal: CancelSignal;
  /** Set where this call asks again for the answer of one whose thinking was stopped. */
  readonly askedAfter?: CallRecord['askedAfter'];
  /** The call belongs to its cell on screen, and yet is not its result: another one follows. */
  readonly isFirstOfTwo?: boolean;
  /** Set where a summary stands for a part of the conversation. */
  readonly shortened?: CallRecord['shortened'];
  /** The call shortens a conversation for the one that follows; limits of a conversation are not for it. */
  readonly isSummary?: boolean;
  /** Set where it is known before that the call must not leave. */
  readonly refused?: Denial;
}

/** What happened, and the refusal where the call never left or could not be stored. The record is there in every case. */
export interface CallOutcome {
  readonly record: CallRecord;
  readonly denial: Denial | null;
}

/** Never throws for anything the server or the person did; emits call-opened first and call-closed last, exactly once each. */
export async function runCall(ports: EnginePorts, ask: CallAsk): Promise<CallOutcome> {
  const { clock, events } = ports;
  const startedAt = clock.now();
  const beganMs = clock.monotonicMs();
  const { messages: _messages, needles: _needles, tools: _tools, ...shown } = ask.request;
  events.emit({
    type: 'call-opened',
    call: {
      id: ask.id,
      runId: ask.runId,
      cellKey: ask.cellKey,
      startedAt,
      request: shown,
      preflight: null,
      phase: 'estimating',
    },
  });

  const found = await ports.subjects.of(ask.request.model, ask.signal);
  const subject = found.ok ? found.value : nobody;
  const sizes = withCount(await ports.estimator.estimate(textsOf(ask.request), subject.learned), ask.request, subject);
  const logprobs = ask.request.logprobs === true && hasLogprobs(subject.serverVersion) !== false;
  const wire = wireRequest(ask.request, { logprobs });
  const walk: Walk = {
    ports,
    ask,
    startedAt,
    beganMs,
    subject,
    sizes,
    preflight: null,
    admission: null,
    wire: wire.ok ? wire.value : null,
    builder: createReplyBuilder(),
    reader: createReasoningReader(reasoningSettings(ask.request)),
    endedMs: null,
    log: null,
    wasSent: false,
    evalCountWhole: null,
  };
  if (!found.ok) return settle(walk, notSent(found.denial, ask.signal), [], found.denial);
  if (!wire.ok) return settle(walk, notSent(wire.denial, ask.signal), [], wire.denial);
  if (ask.signal.aborted) return settle(walk, notSent(CANCELLED, ask.signal), [], CANCELLED);

  const preflight = await ports.estimator.preflight(preflightInput(ask.request, subject, sizes));
  events.emit({
    type: 'call-opened',
    call: { id: ask.id, runId: ask.runId, cellKey: ask.cellKey, startedAt, request: shown, preflight, phase: 'sent' },
  });

  const admission =
    ports.budgets === undefined ? null : await admit(ports.budgets, ask, { wire: wire.value, subject, sizes });
  if (admission?.ok === false)
    return settle({ ...walk, preflight }, notSent(admission.denial, ask.signal), [], admission.denial);
  walk.admission = admission?.value ?? null;
  // Stopped while the reservation was made: it does not leave, and what was held is given back.
  if (ask.signal.aborted) return settle({ ...walk, preflight }, notSent(CANCELLED, ask.signal), [], CANCELLED);
  return send(walk, preflight, admission?.value.wire ?? wire.value).catch(async (bug: unknown) => {
    await giveUp(walk);
    throw bug;
  });
}

async function send(walk: Walk, preflight: Preflight, leaving: WireRequest): Promise<CallOutcome> {
  const { ports, ask, sizes } = walk;
  const log = ports.log ?? noLog;
  log.sent(logCall(ask, leaving, sizes));
  const end = await stream(walk, leaving);
  const endedMs = ports.clock.monotonicMs();
  const [running, lines] = await Promise.all([
    reached(end) ? ports.model.running(never) : null,
    log.linesFor({ id: ask.id, ...countsOf(end) }),
  ]);
  return settle({ ...walk, preflight, endedMs, log: lines }, end, running ?? [], null);
}

/** A bug in the middle of a call leaves no hold behind: what may have been used stays charged. */
async function giveUp({ ports, admission, wasSent, builder }: Walk): Promise<void> {
  if (admission === null || ports.budgets === undefined) return;
  const reply = builder.finish({ ...notSent(BROKEN, never), ending: 'aborted' }, 0);
  await close(ports.budgets, admission, { reply, wasSent, outputTokensSeen: builder.tokensSeen });
}

function logCall({ id, request }: CallAsk, { path }: WireRequest, { total }: MessagesEstimate): LogCallSent {
  const { messages, numCtx } = request;
  return { id, path, numCtx, low: total.low, high: total.high, messages: messages.length };
}

/** What the server once counted for exactly this prompt is better than any estimate of it. */
export function withCount(sizes: MessagesEstimate, request: CallRequest, subject: Subject): MessagesEstimate {
  const counted = subject.countedOf?.(request) ?? null;
  return counted === null ? sizes : { ...sizes, total: countedEstimate(counted, sizes.total.characters) };
}

interface Walk {
  readonly ports: EnginePorts;
  readonly ask: CallAsk;
  readonly startedAt: string;
  readonly beganMs: number;
  readonly subject: Subject;
  readonly sizes: MessagesEstimate;
  readonly preflight: Preflight | null;
  readonly wire: WireRequest | null;
  /** What is held for this call; null where nothing is. */
  admission: Admission | null;
  wasSent: boolean;
  /** What the server counted for a reply of which the rest was left out: it was made all the same, and is charged. */
  evalCountWhole: ReplyEnd['evalCount'];
  readonly builder: ReplyBuilder;
  readonly reader: ReasoningReader;
  /** When the reply ended; what is looked up after it is no time of the call. Null = it was not sent. */
  readonly endedMs: number | null;
  readonly log: LogLines | null;
}

const BROKEN: Denial = { code: 'internal', message: 'The call was broken off by a fault of the console.' };
const CANCELLED: Denial = { code: 'cancelled', message: 'Stopped before it was sent.' };

/** Step 5: forwards every chunk, reads it as it comes, keeps running totals, says in which phase the call is. */
async function stream(walk: Walk, wire: WireRequest): Promise<ReplyEnd> {
  const { ask, builder, reader } = walk;
  const { thinkingCap } = ask.request;
  const meter = thinkingCap === undefined ? null : createThinkingMeter(thinkingCap.tokensMax, reader);
  const cancel = meter === null ? null : createCancel();
  const release = cancel === null ? null : ask.signal.onAbort(() => cancel.cancel(ask.signal.reason ?? 'person'));
  let isOver = false;
  const { model, clock, events } = walk.ports;
  const at = (): ReturnType<typeof milliseconds> =>
    milliseconds(Math.max(0, Math.round(clock.monotonicMs() - walk.beganMs)));
  const phase = (name: Extract<EngineEvent, { type: 'call-phase-changed' }>['phase']): void =>
    events.emit({ type: 'call-phase-changed', callId: ask.id, phase: name, atMs: at() });

  for await (const portion of model.stream(wire, cancel?.signal ?? ask.signal)) {
    const atMs = at();
    for (const event of portion) {
      if (event.kind === 'end') {
        release?.();
        if (!isOver) return event.end;
        walk.evalCountWhole = event.end.evalCount;
        return cappedEnd(event.end, meter?.tokens ?? 0);
      }
      if (event.kind === 'sent') walk.wasSent = true;
      if (event.kind === 'sent') phase(isLoaded(walk) ? 'evaluating' : 'loading');
      // What was on its way when the thinking was stopped is left out, so that the cap holds to the token.
      if (event.kind !== 'chunk' || isOver) continue;
      reader.push(pieceOf(event));
      if (builder.chunk(event, atMs)) phase('streaming');
      events.emit({
        type: 'call-delta',
        callId: ask.id,
        thinking: event.thinking,
        answer: event.answer,
        thinkingChunks: builder.thinkingChunks,
        answerChunks: builder.answerChunks,
        atMs,
      });
      if (meter?.isOver(event) === true) {
        isOver = true;
        cancel?.cancel('thinking-cap');
      }
    }
  }
  throw new Error('Broken rule: a model stream always ends with its end');
}

function pieceOf({ thinking, answer, toolCalls, logprobs }: Extract<ModelEvent, { kind: 'chunk' }>): ReasoningPiece {
  return logprobs === undefined
    ? { thinking, content: answer, toolCalls }
    : { thinking, content: answer, toolCalls, logprobs };
}

/**
 * A reply that was complete before the stop arrived is read like one that was stopped: the rest of it was left out, and the counts
 * of the whole would say something else.
 */
function cappedEnd(end: ReplyEnd, thinkingTokens: number): ReplyEnd {
  const error = `Thinking was stopped from this side after ${thinkingTokens.toLocaleString('en-US')} tokens.`;
  return { ...end, ending: 'aborted', abortedBy: 'thinking-cap', error, done: null, doneReason: null, evalCount: null };
}

/** Steps 6 and 7, for every ending: read the reply, judge it, charge it, store it, tell it. */
async function settle(
  walk: Walk,
  end: ReplyEnd,
  running: readonly RunningModel[],
  denial: Denial | null,
): Promise<CallOutcome> {
  const { ports, ask, subject } = walk;
  const reply = walk.builder.finish(end, Math.max(0, (walk.endedMs ?? ports.clock.monotonicMs()) - walk.beganMs));
  const found = findRunning(running, ask.request.model, subject.digest);
  const truncation = classifyTruncation(truncationInput(ask.request, subject, walk.sizes, reply, found, walk.log));
  const verdict =
    reply.ending === 'not-sent'
      ? null
      : callReasoning(walk.reader.finish(reply, truncation.shifts, found?.contextLength ?? null), reply);
  const { admission, wasSent } = walk;
  const charged = { ...reply, evalCount: walk.evalCountWhole ?? reply.evalCount };
  const budget =
    admission === null || ports.budgets === undefined
      ? null
      : await close(ports.budgets, admission, { reply: charged, wasSent, outputTokensSeen: walk.builder.tokensSeen });
  const record: CallRecord = { ...recordOf(walk, reply, end, found, truncation, verdict), budget, denial };
  const stored = ports.journal.callClosed(record);
  ports.events.emit({ type: 'call-closed', call: summaryOf(record) });
  if (!stored.ok)
    ports.events.emit({
      type: 'notice-raised',
      level: 'error',
      text: stored.denial.message,
      next: stored.denial.next ?? null,
    });
  return { record, denial: denial ?? (stored.ok ? null : stored.denial) };
}

function recordOf(
  walk: Walk,
  reply: Reply,
  end: ReplyEnd,
  found: RunningModel | null,
  truncation: TruncationVerdict,
  reasoning: CallReasoning | null,
): CallRecord {
  const { ask, subject } = walk;
  const scored = scoreNeedles(reply.answer, ask.request.needles, ask.request.messages);
  return {
    id: ask.id,
    runId: ask.runId,
    cellKey: ask.isFirstOfTwo === true && reply.abortedBy === 'thinking-cap' ? null : ask.cellKey,
    startedAt: walk.startedAt,
    simulated: subject.simulated,
    server: subject.server,
    serverVersion: subject.serverVersion,
    modelDigest: found?.digest ?? subject.digest,
    request: ask.request,
    path: walk.wire?.path ?? '',
    sentBody: walk.wire === null ? '' : JSON.stringify(walk.wire.body),
    promptCharacters: promptCharacters(ask.request.messages),
    estimate: walk.sizes.total,
    preflight: walk.preflight,
    numCtxRunning: found?.contextLength ?? null,
    vramBytes: found?.vramBytes ?? null,
    memoryBytes: found?.sizeBytes ?? null,
    reply,
    rawReply: end.raw,
    rawReplyClipped: end.rawClipped,
    truncation,
    needle: scored.overall,
    needles: scored.readings,
    reasoning,
    ...(ask.askedAfter === undefined ? {} : { askedAfter: ask.askedAfter }),
    ...(ask.shortened === undefined ? {} : { shortened: ask.shortened }),
  };
}

export function promptCharacters(messages: readonly Message[]): Characters {
  return characters(messages.reduce((sum, message) => sum + message.content.length, 0));
}

/** A reload is to be expected when the model is not in memory, or is there with another window. */
function isLoaded(walk: Walk): boolean {
  const running = findRunning(walk.subject.running, walk.ask.request.model, walk.subject.digest);
  if (running === null) return false;
  return (
    walk.ask.request.numCtx === null ||
    running.contextLength === null ||
    running.contextLength === walk.ask.request.numCtx
  );
}

function countsOf(end: ReplyEnd): Omit<LogCallEnded, 'id'> {
  const { status, promptEvalCount, evalCount, needs, totalDurationMs } = end;
  return { status, promptEvalCount, evalCount, needs, totalDurationMs };
}

function reached(end: ReplyEnd): boolean {
  return end.status !== null;
}

function notSent(denial: Denial, signal: CancelSignal): ReplyEnd {
  return {
    status: null,
    ending: 'not-sent',
    abortedBy: signal.aborted ? signal.reason : null,
    done: null,
    doneReason: null,
    promptEvalCount: null,
    evalCount: null,
    totalDurationMs: null,
    loadDurationMs: null,
    promptEvalDurationMs: null,
    evalDurationMs: null,
    contextLength: null,
    error: denial.message,
    needs: null,
    has: null,
    raw: '',
    rawClipped: false,
    rawBytes: 0 as ReplyEnd['rawBytes'],
  };
}

const nobody: Subject = {
  server: '',
  serverVersion: null,
  simulated: false,
  facts: null,
  digest: null,
  learned: null,
  defaultNumCtx: null,
  running: [],
};
