/** An agent run as CSV or JSON: its calls, its agents, or its model turns. */
import type { AgentRunView } from '../../contract/agents.ts';
import type { ExportOptions } from '../../contract/experiments.ts';
import {
  agentCallColumns,
  agentCallRow,
  agentNodeColumns,
  agentNodeRow,
  agentTurnColumns,
  agentTurnRow,
} from '../csv/agent-columns.ts';
import type { ExportSource } from '../csv/chunked-exports.ts';
import type { Column, Row } from '../csv/columns.ts';
import { csvLines, jsonLines } from '../csv/csv.ts';

export type AgentTable = 'calls' | 'nodes' | 'turns';

export function agentExport(view: AgentRunView, what: AgentTable, options: ExportOptions): ExportSource<number> {
  const { columns, rows } = tableOf(view, what);
  const time = view.run.startedAt.slice(0, 19).replace(/:/g, '').replace('T', '-');
  const simulated = view.run.simulated ? '-simulated' : '';
  return {
    name: `spillway-agents-${what}-${time}${simulated}.${options.format}`,
    format: options.format,
    rows: rows.length,
    lines: options.format === 'csv' ? csvLines(rows, options, columns) : jsonLines(rows, columns),
  };
}

function tableOf(
  view: AgentRunView,
  what: AgentTable,
): { readonly columns: readonly Column[]; readonly rows: readonly Row[] } {
  if (what === 'calls') return { columns: agentCallColumns, rows: view.calls.map((call) => agentCallRow(view, call)) };
  if (what === 'nodes') return { columns: agentNodeColumns, rows: view.nodes.map((node) => agentNodeRow(view, node)) };
  return { columns: agentTurnColumns, rows: view.turns.map((turn) => agentTurnRow(view, turn)) };
}
