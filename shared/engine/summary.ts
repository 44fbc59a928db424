/** The short form of a record, for lists and the wire: no long texts. */
import type { CallRecord, CallSummary } from '../contract/calls.ts';

export const ANSWER_HEAD_CHARACTERS = 200;

export function summaryOf(record: CallRecord): CallSummary {
  const { request, sentBody: _sent, rawReply: _raw, preflight: _preflight, reply, ...rest } = record;
  return {
    ...rest,
    model: request.model,
    route: request.route,
    numCtxRequested: request.numCtx as CallSummary['numCtxRequested'],
    numPredict: request.numPredict,
    temperature: request.temperature,
    seed: request.seed,
    think: request.think,
    promptEvalCount: reply.promptEvalCount,
    evalCount: reply.evalCount,
    doneReason: reply.doneReason,
    ending: reply.ending,
    answerHead: head(reply.answer),
    error: reply.error,
    timeToFirstTokenMs: reply.timeToFirstTokenMs,
    loadDurationMs: reply.loadDurationMs,
    promptEvalDurationMs: reply.promptEvalDurationMs,
    evalDurationMs: reply.evalDurationMs,
    totalDurationMs: reply.totalDurationMs,
    wallMs: reply.wallMs,
  };
}

/** Never ends inside a surrogate pair. */
function head(text: string): string {
  if (text.length <= ANSWER_HEAD_CHARACTERS) return text;
  const last = text.charCodeAt(ANSWER_HEAD_CHARACTERS - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? ANSWER_HEAD_CHARACTERS - 1 : ANSWER_HEAD_CHARACTERS);
}
