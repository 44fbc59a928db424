/** Agent runs: one row each, the whole view as JSON. A run that is under way is saved again and again; the last one stands. */
import type { AgentRun, AgentRunId, AgentRunView } from '../../contract/agents.ts';
import { interruptedView } from '../../engine/agent/interrupted.ts';
import type { RestartState } from '../../engine/agent/run.ts';
import { checksumOf } from './integrity.ts';
import type { Statements } from './statements.ts';

export interface AgentRows {
  save(view: AgentRunView, restart: string | null): void;
  view(id: AgentRunId): AgentRunView | null;
  restart(id: AgentRunId): string | null;
  runs(limit: number): AgentRun[];
  remove(id: AgentRunId): boolean;
  /** Runs that say they are running while nobody runs them. */
  interrupt(): number;
}

/** The oldest that are over make room. Proposals for a class of tasks are made from these. */
export const AGENT_RUNS_KEPT_MAX = 1_000;

export function createAgentRows(statements: Statements): AgentRows {
  const viewOf = (id: string): AgentRunView | null => {
    const row = statements.get<{ view: string }>('SELECT view FROM agent_runs WHERE id = ?', id);
    return row === undefined ? null : (JSON.parse(row.view) as AgentRunView);
  };
  const save = (view: AgentRunView, restart: string | null): void => {
    const [summary, json] = [JSON.stringify(view.run), JSON.stringify(view)];
    statements.run(
      `INSERT INTO agent_runs (id, created_at, state, simulated, summary, view, restart, checksum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET state = excluded.state, summary = excluded.summary, view = excluded.view,
         restart = excluded.restart, checksum = excluded.checksum`,
      view.run.id,
      view.run.startedAt,
      view.run.state,
      view.run.simulated ? 1 : 0,
      summary,
      json,
      restart,
      checksumOf(summary, json, restart ?? ''),
    );
    statements.run(
      `DELETE FROM agent_runs WHERE state <> 'running' AND id IN (
         SELECT id FROM agent_runs ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ?)`,
      AGENT_RUNS_KEPT_MAX,
    );
  };
  return {
    save,
    view: viewOf,
    restart: (id) =>
      statements.get<{ restart: string | null }>('SELECT restart FROM agent_runs WHERE id = ?', id)?.restart ?? null,
    runs: (limit) =>
      statements
        .all<{ summary: string }>('SELECT summary FROM agent_runs ORDER BY created_at DESC, id DESC LIMIT ?', limit)
        .map(({ summary }) => JSON.parse(summary) as AgentRun),
    remove: (id) => statements.all('DELETE FROM agent_runs WHERE id = ? RETURNING id', id).length > 0,
    interrupt() {
      const open = statements.all<{ id: string; restart: string | null }>(
        "SELECT id, restart FROM agent_runs WHERE state = 'running'",
      );
      for (const { id, restart } of open) {
        const view = viewOf(id);
        if (view !== null)
          save(interruptedView(view, restart === null ? null : (JSON.parse(restart) as RestartState)), restart);
      }
      return open.length;
    },
  };
}
