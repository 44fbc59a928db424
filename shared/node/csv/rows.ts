/** The rows of a run, whatever its kind. */
import type { RunSummary } from '../../contract/experiments.ts';
import type { Column, Row } from './columns.ts';
import { type ContextRowRecord, type RowCell, contextColumns, contextRow } from './context-columns.ts';
import { reasoningColumns, reasoningRow } from './reasoning-columns.ts';

export function columnsOf(kind: RunSummary['kind']): readonly Column[] {
  return kind === 'context' ? contextColumns : reasoningColumns;
}

export function rowOf(cell: RowCell, record: ContextRowRecord, run: RunSummary): Row {
  return run.kind === 'context' ? contextRow(cell, record, run) : reasoningRow(cell, record, run);
}
