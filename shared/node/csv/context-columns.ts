/**
 * One row of the context experiment, and its columns in the order of the CSV contract. Columns are only ever added at the
 * end. Names carry their units; `null` is unknown and becomes an empty cell.
 */
import { createHash } from 'node:crypto';
import type { CallRecord, CallRequest } from '../../contract/calls.ts';
import type { ContextCell, ReasoningCell, RunSummary } from '../../contract/experiments.ts';
import { budgetColumns, budgetRow } from './budget-columns.ts';
import type { Column, RowOf } from './columns.ts';

export const contextColumns = [
  { name: 'run_id', type: 'text' },
  { name: 'cell', type: 'text' },
  { name: 'repeat', type: 'number' },
  { name: 'model', type: 'text' },
  { name: 'model_digest', type: 'text' },
  { name: 'ollama_version', type: 'text' },
  { name: 'simulated', type: 'boolean' },
  { name: 'route', type: 'text' },
  { name: 'num_ctx_requested', type: 'number' },
  { name: 'num_ctx_running', type: 'number' },
  { name: 'num_predict', type: 'number' },
  { name: 'think', type: 'text' },
  { name: 'temperature', type: 'number' },
  { name: 'seed', type: 'number' },
  { name: 'document_chars', type: 'number' },
  { name: 'prompt_chars', type: 'number' },
  // Several needles in one prompt: depths joined by `+`, which is why this is a text.
  { name: 'needle_depth_percent', type: 'text' },
  { name: 'prompt_tokens_estimated', type: 'number' },
  { name: 'prompt_tokens_evaluated', type: 'number' },
  { name: 'prompt_tokens_lost', type: 'number' },
  { name: 'truncation', type: 'text' },
  { name: 'truncation_confidence', type: 'text' },
  { name: 'truncation_evidence', type: 'text' },
  { name: 'needle', type: 'text' },
  { name: 'answer', type: 'text' },
  { name: 'done_reason', type: 'text' },
  { name: 'eval_tokens', type: 'number' },
  { name: 'time_to_first_token_ms', type: 'number' },
  { name: 'load_duration_ms', type: 'number' },
  { name: 'prompt_eval_duration_ms', type: 'number' },
  { name: 'eval_duration_ms', type: 'number' },
  { name: 'total_duration_ms', type: 'number' },
  { name: 'started_at', type: 'text' },
  { name: 'error', type: 'text' },
  // From here on: more than the contract asks for.
  { name: 'options_hash', type: 'text' },
  { name: 'policy', type: 'text' },
  { name: 'warm_up', type: 'boolean' },
  { name: 'cell_state', type: 'text' },
  { name: 'ending', type: 'text' },
  { name: 'http_status', type: 'number' },
  { name: 'prompt_tokens_estimated_low', type: 'number' },
  { name: 'prompt_tokens_estimated_high', type: 'number' },
  { name: 'prompt_tokens_kept', type: 'number' },
  { name: 'prompt_tokens_kept_head', type: 'number' },
  { name: 'prompt_tokens_kept_tail', type: 'number' },
  // true: dropped messages come on top of prompt_tokens_lost.
  { name: 'prompt_tokens_lost_at_least', type: 'boolean' },
  { name: 'context_shifts', type: 'number' },
  { name: 'refused_needs_tokens', type: 'number' },
  { name: 'refused_has_tokens', type: 'number' },
  // One per needle, in the order of needle_depth_percent: `token=outcome`, joined by ` | `.
  { name: 'needle_details', type: 'text' },
  { name: 'thinking_chars', type: 'number' },
  { name: 'answer_chars', type: 'number' },
  { name: 'wall_ms', type: 'number' },
  { name: 'memory_bytes', type: 'number' },
  { name: 'vram_bytes', type: 'number' },
  { name: 'server', type: 'text' },
  { name: 'path', type: 'text' },
  { name: 'call_id', type: 'text' },
  { name: 'document_id', type: 'text' },
  // script-table, learned, or counted in an earlier uncut call of the same prompt.
  { name: 'prompt_tokens_estimate_source', type: 'text' },
  // Where something was lost and nothing proves how much: estimated prompt less evaluated. Never filled beside a proven loss.
  { name: 'prompt_tokens_lost_estimated', type: 'number' },
  // Who paid, and what; all of them empty for a call that no budget was asked for.
  ...budgetColumns,
] as const satisfies readonly Column[];

/** The part of them that the CSV contract names; rows of other experiments begin with it too. */
export const contractColumns = contextColumns.slice(
  0,
  contextColumns.findIndex((column) => column.name === 'options_hash'),
);

export type ContextRow = RowOf<(typeof contextColumns)[number]>;

/** What a row needs of a record: no prompt, no sent body, no raw reply. A full CallRecord is one. */
export type ContextRowRecord = Omit<CallRecord, 'request' | 'sentBody' | 'rawReply' | 'preflight' | 'reply'> & {
  readonly request: Omit<CallRequest, 'messages'>;
  readonly reply: Omit<CallRecord['reply'], 'thinking'> & { readonly thinking: string | { readonly length: number } };
};

/** A cell without its result, which comes with the record. */
export type RowCell = Omit<ContextCell, 'call'> | Omit<ReasoningCell, 'call'>;

/** Also for a cell of another kind: what only documents and needles have is then unknown. */
export function contextRow(cell: RowCell, record: ContextRowRecord, run: RunSummary): ContextRow {
  const { request, reply, truncation, estimate } = record;
  return {
    run_id: run.id,
    cell: cell.plan.key,
    repeat: cell.plan.repeat,
    model: request.model,
    model_digest: record.modelDigest,
    ollama_version: record.serverVersion,
    simulated: record.simulated,
    route: request.route,
    num_ctx_requested: request.numCtx,
    num_ctx_running: record.numCtxRunning,
    num_predict: request.numPredict,
    think: String(request.think),
    temperature: request.temperature,
    seed: request.seed,
    document_chars: cell.documentCharacters,
    prompt_chars: record.promptCharacters,
    needle_depth_percent: depthsOf(cell),
    prompt_tokens_estimated: estimate.likely,
    prompt_tokens_evaluated: reply.promptEvalCount,
    prompt_tokens_lost: truncation.lost,
    truncation: truncation.kinds.join('+'),
    truncation_confidence: truncation.confidence,
    truncation_evidence: truncation.evidence.map((item) => item.text).join(' | '),
    needle: record.needle,
    answer: reply.answer,
    done_reason: reply.doneReason,
    eval_tokens: reply.evalCount,
    time_to_first_token_ms: reply.timeToFirstTokenMs,
    load_duration_ms: reply.loadDurationMs,
    prompt_eval_duration_ms: reply.promptEvalDurationMs,
    eval_duration_ms: reply.evalDurationMs,
    total_duration_ms: reply.totalDurationMs,
    started_at: record.startedAt,
    error: reply.error,
    options_hash: optionsHash(request),
    policy: request.policy,
    warm_up: cell.plan.warmUp,
    cell_state: cell.state,
    ending: reply.ending,
    http_status: reply.status,
    prompt_tokens_estimated_low: estimate.low,
    prompt_tokens_estimated_high: estimate.high,
    prompt_tokens_kept: truncation.kept,
    prompt_tokens_kept_head: truncation.headKept,
    prompt_tokens_kept_tail: truncation.tailKept,
    prompt_tokens_lost_at_least: truncation.lostAtLeast,
    context_shifts: truncation.shifts,
    refused_needs_tokens: truncation.needs,
    refused_has_tokens: truncation.has,
    needle_details:
      record.needles.length === 0
        ? null
        : record.needles.map((needle) => `${needle.token}=${needle.outcome}`).join(' | '),
    thinking_chars: reply.thinking.length,
    answer_chars: reply.answer.length,
    wall_ms: reply.wallMs,
    memory_bytes: record.memoryBytes,
    vram_bytes: record.vramBytes,
    server: record.server,
    path: record.path,
    call_id: record.id,
    document_id: documentIdOf(run),
    prompt_tokens_estimate_source: estimate.source,
    prompt_tokens_lost_estimated: lostEstimated(record),
    ...budgetRow(record.budget ?? null),
  };
}

function depthsOf({ plan }: RowCell): string | null {
  return plan.kind === 'reasoning' || plan.depths.length === 0 ? null : plan.depths.join('+');
}

function documentIdOf({ experiment }: RunSummary): string | null {
  return experiment.kind === 'context' && experiment.document.kind === 'own' ? experiment.document.documentId : null;
}

function lostEstimated({ truncation, estimate, reply }: ContextRowRecord): number | null {
  const isCut = truncation.kinds.some(
    (kind) => kind === 'halved' || kind === 'cut-to-window' || kind === 'messages-dropped',
  );
  if (!isCut || truncation.lost !== null || reply.promptEvalCount === null) return null;
  return Math.max(0, estimate.likely - reply.promptEvalCount);
}

/**
 * The same 16 hex digits for the same settings, whatever the prompt. The seed is left out, so that the repeats of a cell
 * group together; it has a column of its own.
 */
export function optionsHash(request: Omit<CallRequest, 'messages'>): string {
  const settings = JSON.stringify([
    request.route,
    request.numCtx,
    request.numPredict,
    request.numKeep ?? null,
    request.temperature,
    request.think,
    request.policy,
    request.stream,
    ...(request.thinkingCap === undefined ? [] : [request.thinkingCap.tokensMax, request.thinkingCap.then]),
  ]);
  return createHash('sha256').update(settings).digest('hex').slice(0, 16);
}
