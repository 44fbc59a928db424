/** One shape for a call on screen, whether it streams, has just closed, or was read from the store. Pure. */
import type { CallReasoning, CallRecord, CallSummary } from '../../../shared/contract/calls.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { CallId } from '../../../shared/contract/ids.ts';
import type { CallBudget } from '../../../shared/contract/ledger.ts';
import type { TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import { endingOfRecord, endingOfSummary } from '../../format/verdicts.ts';
import { figuresOf } from '../../components/verdict-view.tsx';
import type { VerdictFigures } from '../../components/verdict-view.tsx';
import type { LiveCall } from '../../stores/engine-state.ts';
import { ratePerSecond } from '../../stores/series.ts';

export interface Lane {
  readonly text: string;
  /** Chunks while it streams, which are tokens on most models. */
  readonly tokens: number;
  /** The tokens are a count of the server, not of chunks. */
  readonly counted: boolean;
  readonly ratePerSecond: number | null;
}

export interface Phases {
  readonly loadMs: number | null;
  readonly promptMs: number | null;
  readonly answerMs: number | null;
  readonly wholeMs: number;
}

export interface CallView {
  readonly id: CallId;
  readonly startedAt: string;
  readonly model: string;
  readonly simulated: boolean;
  readonly open: boolean;
  readonly phase: LiveCall['call']['phase'] | null;
  readonly seenAtMs: number;
  readonly numPredict: number;
  readonly numCtxRequested: number | null;
  readonly numCtxRunning: number | null;
  readonly thinking: Lane;
  readonly answer: Lane;
  readonly clippedCharacters: number;
  readonly incomplete: boolean;
  readonly phases: Phases | null;
  readonly ending: string | null;
  /** What the preflight said, while there is no verdict. */
  readonly expectation: string | null;
  readonly verdict: TruncationVerdict | null;
  readonly figures: VerdictFigures | null;
  /** What came of it; null while it runs, and for calls that were not judged for it. */
  readonly reasoning: CallReasoning | null;
  /** What was held and charged; null while it runs, and for calls without a ledger. */
  readonly budget: CallBudget | null;
  /** Why it never left; null where it did. */
  readonly denial: Denial | null;
  readonly needle: CallSummary['needle'];
  readonly needles: CallSummary['needles'];
}

/** `simulating`: what answers now is the simulator, which a call only says of itself when it has closed. */
export function viewOfLive(live: LiveCall, simulating: boolean): CallView {
  const { call, closed } = live;
  const lanes = lanesOf(
    live.thinkingChunks,
    live.answerChunks,
    closed?.evalCount ?? null,
    closed?.evalDurationMs ?? null,
  );
  return {
    id: call.id,
    startedAt: call.startedAt,
    model: call.request.model,
    simulated: closed?.simulated ?? simulating,
    open: closed === null && !live.vanished,
    phase: closed === null && !live.vanished ? call.phase : null,
    seenAtMs: live.seenAtMs,
    numPredict: call.request.numPredict,
    numCtxRequested: call.request.numCtx,
    numCtxRunning: closed?.numCtxRunning ?? call.preflight?.window ?? null,
    thinking: {
      ...lanes.thinking,
      text: live.thinking,
      ratePerSecond: lanes.thinking.ratePerSecond ?? ratePerSecond(live.series, (point) => point.thinkingChunks),
    },
    answer: {
      ...lanes.answer,
      text: live.answer,
      ratePerSecond: lanes.answer.ratePerSecond ?? ratePerSecond(live.series, (point) => point.answerChunks),
    },
    clippedCharacters: live.clippedCharacters,
    incomplete: live.incomplete,
    phases: closed === null ? null : phasesOf(closed),
    ending: closed === null ? (live.vanished ? 'Its end was not seen by this page.' : null) : endingOfSummary(closed),
    expectation: call.preflight?.sentence ?? null,
    verdict: closed?.truncation ?? null,
    figures: closed === null ? null : figuresOf(closed),
    reasoning: closed?.reasoning ?? null,
    budget: closed?.budget ?? null,
    denial: closed?.denial ?? null,
    needle: closed?.needle ?? 'none',
    needles: closed?.needles ?? [],
  };
}

export function viewOfRecord(record: CallRecord): CallView {
  const { reply, request } = record;
  const lanes = lanesOf(reply.thinkingChunks, reply.answerChunks, reply.evalCount, reply.evalDurationMs);
  return {
    id: record.id,
    startedAt: record.startedAt,
    model: request.model,
    simulated: record.simulated,
    open: false,
    phase: null,
    seenAtMs: 0,
    numPredict: request.numPredict,
    numCtxRequested: request.numCtx,
    numCtxRunning: record.numCtxRunning,
    thinking: { ...lanes.thinking, text: reply.thinking },
    answer: { ...lanes.answer, text: reply.answer },
    clippedCharacters: 0,
    incomplete: false,
    phases: phasesOf(reply),
    ending: endingOfRecord(record),
    expectation: record.preflight?.sentence ?? null,
    verdict: record.truncation,
    figures: figuresOf({ ...record, numCtxRequested: request.numCtx, promptEvalCount: reply.promptEvalCount }),
    reasoning: record.reasoning ?? null,
    budget: record.budget ?? null,
    denial: record.denial ?? null,
    needle: record.needle,
    needles: record.needles,
  };
}

/**
 * With one lane in use, the server's count is that lane's count. With both, eval_count is split by chunks, which is an
 * estimate; the rate is the server's when it gave a duration.
 */
function lanesOf(
  thinkingChunks: number,
  answerChunks: number,
  evalCount: number | null,
  evalDurationMs: number | null,
): { thinking: Omit<Lane, 'text'>; answer: Omit<Lane, 'text'> } {
  const chunks = thinkingChunks + answerChunks;
  const serverRate =
    evalCount === null || evalDurationMs === null || evalDurationMs === 0 ? null : (evalCount * 1_000) / evalDurationMs;
  const lane = (own: number): Omit<Lane, 'text'> => ({
    tokens: own === chunks && evalCount !== null && own > 0 ? evalCount : own,
    counted: own === chunks && evalCount !== null && own > 0,
    ratePerSecond: own > 0 ? serverRate : null,
  });
  return { thinking: lane(thinkingChunks), answer: lane(answerChunks) };
}

function phasesOf(
  call: Pick<CallSummary, 'loadDurationMs' | 'promptEvalDurationMs' | 'evalDurationMs' | 'wallMs'>,
): Phases {
  return {
    loadMs: call.loadDurationMs,
    promptMs: call.promptEvalDurationMs,
    answerMs: call.evalDurationMs,
    wholeMs: call.wallMs,
  };
}
