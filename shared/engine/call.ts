/**
 * One governed call, the corridor that every request walks (design, section 4):
 * estimate -> preflight -> admit -> send -> stream -> judge -> settle. There is one exit for every ending: `settle`.
 */
import type { CallRecord, CallRequest, Message, Reply } from '../contract/calls.ts';
import type { Denial } from '../contract/denials.ts';
import type { Preflight } from '../contract/estimates.ts';
import type { EngineEvent } from '../contract/events.ts';
import type { CallId, CellKey, RunId } from '../contract/ids.ts';
import type { RunningModel } from '../contract/server.ts';
import { type Characters, characters, milliseconds } from '../contract/units.ts';
import type { TruncationVerdict } from '../contract/verdicts.ts';
import { scoreNeedles } from './context-lab/score.ts';
import {
  type CancelSignal,
  type EnginePorts,
  type LogCallEnded,
  type LogCallSent,
  type LogLines,
  type ReplyEnd,
  type Subject,
  type WireRequest,
  noLog,
} from './ports.ts';
import { type ReplyBuilder, createReplyBuilder } from './reply-builder.ts';
import { preflightInput, truncationInput } from './readings.ts';
import { never } from './cancel.ts';
import { summaryOf } from './summary.ts';
import { findRunning } from './running.ts';
import { classifyTruncation } from './truncation/classify.ts';
import { type MessagesEstimate, countedEstimate } from './estimate/estimate.ts';
import { wireRequest } from './wire-body.ts';

export interface CallAsk {
  readonly id: CallId;
  readonly request: CallRequest;
  readonly runId: RunId | null;
  readonly cellKey: CellKey | null;
  readonly signal: CancelSignal;
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
  const { messages: _messages, needles: _needles, ...shown } = ask.request;
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
  const sizes = withCount(await ports.estimator.estimate(ask.request.messages, subject.learned), ask.request, subject);
  const wire = wireRequest(ask.request);
  const walk: Walk = {
    ports,
    ask,
    startedAt,
    beganMs,
    subject,
    sizes,
    preflight: null,
    wire: wire.ok ? wire.value : null,
    builder: createReplyBuilder(),
    log: null,
  };
  if (!found.ok) return settle(walk, notSent(found.denial, ask.signal), [], found.denial);
  if (!wire.ok) return settle(walk, notSent(wire.denial, ask.signal), [], wire.denial);
  if (ask.signal.aborted) return settle(walk, notSent(CANCELLED, ask.signal), [], CANCELLED);

  const preflight = await ports.estimator.preflight(preflightInput(ask.request, subject, sizes));
  events.emit({
    type: 'call-opened',
    call: { id: ask.id, runId: ask.runId, cellKey: ask.cellKey, startedAt, request: shown, preflight, phase: 'sent' },
  });

  const log = ports.log ?? noLog;
  log.sent(logCall(ask, wire.value, sizes));
  const end = await stream(walk, wire.value);
  const [running, lines] = await Promise.all([
    reached(end) ? ports.model.running(never) : null,
    log.linesFor({ id: ask.id, ...countsOf(end) }),
  ]);
  return settle({ ...walk, preflight, log: lines }, end, running ?? [], null);
}

function logCall({ id, request }: CallAsk, { path }: WireRequest, { total }: MessagesEstimate): LogCallSent {
  const { messages, numCtx } = request;
  return { id, path, numCtx, low: total.low, high: total.high, messages: messages.length };
}

/** What the server once counted for exactly this prompt is better than any estimate of it. */
function withCount(sizes: MessagesEstimate, request: CallRequest, subject: Subject): MessagesEstimate {
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
  readonly builder: ReplyBuilder;
  readonly log: LogLines | null;
}

const CANCELLED: Denial = { code: 'cancelled', message: 'Stopped before it was sent.' };

/** Step 5: forwards every chunk, keeps running totals, says in which phase the call is. */
async function stream(walk: Walk, wire: WireRequest): Promise<ReplyEnd> {
  const { ask, builder } = walk;
  const { model, clock, events } = walk.ports;
  const at = (): ReturnType<typeof milliseconds> =>
    milliseconds(Math.max(0, Math.round(clock.monotonicMs() - walk.beganMs)));
  const phase = (name: Extract<EngineEvent, { type: 'call-phase-changed' }>['phase']): void =>
    events.emit({ type: 'call-phase-changed', callId: ask.id, phase: name, atMs: at() });

  for await (const portion of model.stream(wire, ask.signal)) {
    const atMs = at();
    for (const event of portion) {
      if (event.kind === 'end') return event.end;
      if (event.kind === 'sent') phase(isLoaded(walk) ? 'evaluating' : 'loading');
      if (event.kind !== 'chunk') continue;
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
    }
  }
  throw new Error('Broken rule: a model stream always ends with its end');
}

/** Steps 6 and 7, for every ending: read the reply, judge it, store it, tell it. */
function settle(walk: Walk, end: ReplyEnd, running: readonly RunningModel[], denial: Denial | null): CallOutcome {
  const { ports, ask, subject } = walk;
  const reply = walk.builder.finish(end, Math.max(0, ports.clock.monotonicMs() - walk.beganMs));
  const found = findRunning(running, ask.request.model, subject.digest);
  const truncation = classifyTruncation(truncationInput(ask.request, subject, walk.sizes, reply, found, walk.log));
  const record = recordOf(walk, reply, end, found, truncation);
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
): CallRecord {
  const { ask, subject } = walk;
  const scored = scoreNeedles(reply.answer, ask.request.needles, ask.request.messages);
  return {
    id: ask.id,
    runId: ask.runId,
    cellKey: ask.cellKey,
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
