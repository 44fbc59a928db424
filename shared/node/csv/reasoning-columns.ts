/**
 * One row of the reasoning experiment. It begins with the columns that the CSV contract names for every row, then come those of
 * the reasoning reading; what is more stands behind them. Columns are only ever added at the end.
 */
import type { RunSummary } from '../../contract/experiments.ts';
import { budgetColumns } from './budget-columns.ts';
import type { Column, Row, RowOf } from './columns.ts';
import { type ContextRowRecord, type RowCell, contextColumns, contextRow, contractColumns } from './context-columns.ts';

const readingColumns = [
  { name: 'variant', type: 'text' },
  { name: 'outcome', type: 'text' },
  { name: 'outcome_cause', type: 'text' },
  // Several places joined by `+`; empty where thinking is only suspected or the reply broke off before any showed.
  { name: 'thinking_place', type: 'text' },
  { name: 'obedience', type: 'text' },
  { name: 'thinking_tokens', type: 'number' },
  { name: 'answer_tokens', type: 'number' },
  { name: 'split_source', type: 'text' },
  { name: 'thinking_chars', type: 'number' },
  { name: 'answer_chars', type: 'number' },
] as const satisfies readonly Column[];

const readingNames: ReadonlySet<string> = new Set(readingColumns.map((column) => column.name));
const budgetNames: ReadonlySet<string> = new Set(budgetColumns.map((column) => column.name));
const moreContextColumns = contextColumns
  .slice(contractColumns.length)
  .filter((column) => !readingNames.has(column.name) && !budgetNames.has(column.name));

const moreColumns = [
  { name: 'thinking_suspected', type: 'text' },
  { name: 'answer_complete', type: 'boolean' },
  { name: 'ended_by', type: 'text' },
  { name: 'hidden_tokens', type: 'number' },
  // Markers, tool calls, the end token.
  { name: 'other_tokens', type: 'number' },
  { name: 'split_basis', type: 'text' },
  // How far what was seen is from eval_tokens before it was scaled; 0 for a count.
  { name: 'split_error_tokens', type: 'number' },
  { name: 'split_error_percent', type: 'number' },
  { name: 'probable_answer', type: 'text' },
  { name: 'next_step', type: 'text' },
  { name: 'thinking_cap_tokens', type: 'number' },
  { name: 'thinking_cap_then', type: 'text' },
  // Where the thinking of a first call was stopped and this one asked for the answer alone.
  { name: 'asked_after_call_id', type: 'text' },
  { name: 'asked_after_thinking_tokens', type: 'number' },
  { name: 'asked_after_wall_ms', type: 'number' },
] as const satisfies readonly Column[];

export const reasoningColumns: readonly Column[] = [
  ...contractColumns,
  ...readingColumns,
  ...moreContextColumns,
  ...moreColumns,
  ...budgetColumns,
];

type ReadingRow = RowOf<(typeof readingColumns)[number]> & RowOf<(typeof moreColumns)[number]>;

export function reasoningRow(cell: RowCell, record: ContextRowRecord, run: RunSummary): Row {
  return { ...contextRow(cell, record, run), ...readingRow(cell, record) };
}

function readingRow({ plan }: RowCell, { reasoning, askedAfter, reply, request }: ContextRowRecord): ReadingRow {
  const split = reasoning?.split ?? null;
  // The second of two calls has no cap of its own.
  const cap = (plan.kind === 'reasoning' ? plan.thinkingCap : request.thinkingCap) ?? null;
  return {
    variant: plan.kind === 'reasoning' ? plan.variant : null,
    outcome: reasoning?.outcome ?? null,
    outcome_cause: reasoning?.cause ?? null,
    thinking_place: reasoning?.places.join('+') || null,
    obedience: reasoning?.obedience ?? null,
    thinking_tokens: split?.thinkingTokens ?? null,
    answer_tokens: split?.answerTokens ?? null,
    split_source: split?.source ?? null,
    thinking_chars: reasoning?.thinkingCharacters ?? reply.thinking.length,
    answer_chars: reasoning?.answerCharacters ?? reply.answer.length,
    thinking_suspected: reasoning?.suspected ?? null,
    answer_complete: reasoning?.complete ?? null,
    ended_by: reasoning?.endedBy ?? null,
    hidden_tokens: split?.hiddenTokens ?? null,
    other_tokens: split?.otherTokens ?? null,
    split_basis: split?.basis ?? null,
    split_error_tokens: split?.errorTokens ?? null,
    split_error_percent: split?.errorPercent ?? null,
    probable_answer: reasoning?.probableAnswer ?? null,
    next_step: reasoning?.next ?? null,
    thinking_cap_tokens: cap?.tokensMax ?? null,
    thinking_cap_then: cap?.then ?? null,
    asked_after_call_id: askedAfter?.callId ?? null,
    asked_after_thinking_tokens: askedAfter?.thinkingTokens ?? null,
    asked_after_wall_ms: askedAfter?.wallMs ?? null,
  };
}
