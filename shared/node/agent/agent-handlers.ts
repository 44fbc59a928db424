/** Requests about agent runs. */
import type { AgentPreset, AgentRunId } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import type { TranscriptEntry } from '../../engine/agent/model.ts';
import { classBudgets } from '../../engine/agent/class-budgets.ts';
import type { ChunkedExports } from '../csv/chunked-exports.ts';
import { agentExport } from './agent-export.ts';
import type { Agents } from './agents.ts';

type AgentRequest = Exclude<Extract<RequestName, `agent.${string}`>, 'agent.readServers'>;
type AgentHandlers = {
  readonly [Name in AgentRequest]: (
    params: RequestParsed<Name>,
  ) => Promise<Result<RequestResult<Name>>> | Result<RequestResult<Name>>;
};

const ENTRY_CHARACTERS_MAX = 100_000;
/** Runs that proposals are made from. */
const CLASS_RUNS_MAX = 1_000;

export function agentHandlers(parts: {
  readonly agents: Agents;
  readonly exports: ChunkedExports;
  presets(): AgentPreset[];
}): AgentHandlers {
  const { agents, exports } = parts;
  const viewOf = (runId: AgentRunId): Result<NonNullable<ReturnType<Agents['view']>>> => {
    const view = agents.view(runId);
    return view === null ? noRun() : ok(view);
  };
  return {
    'agent.presets': () => ok(parts.presets()),
    'agent.tools': async ({ task }) => {
      const inventory = await agents.inventory(task);
      return inventory.ok ? ok({ tools: inventory.value.tools, problems: [...inventory.value.problems] }) : inventory;
    },
    'agent.start': (task) => agents.start(task),
    'agent.cancel': ({ runId, nodeId }) => agents.cancel(runId, nodeId),
    'agent.resume': ({ runId }) => agents.resume(runId),
    'agent.list': ({ limit }) => ok(agents.list(limit)),
    'agent.get': ({ runId }) => viewOf(runId),
    'agent.delete': ({ runId }) => agents.remove(runId),
    'agent.transcript': ({ runId, nodeId, from, limit }) => {
      const entries = agents.transcript(runId, nodeId);
      if (entries === null) {
        return denied('not-found', 'The transcript of this run is not kept any more.', {
          next: 'Calls and turns of it are still there.',
        });
      }
      return ok({
        entries: entries.slice(from, from + limit).map((entry, at) => shown(entry, from + at)),
        total: entries.length,
      });
    },
    'agent.blob': async ({ runId, handle, offset }) => {
      const page = await agents.blob(runId, handle, offset);
      return page === null
        ? denied('not-found', 'There is no such output in this run.', { field: 'handle' })
        : ok(page);
    },
    'agent.approve': ({ id, allow }) => agents.approve(id, allow),
    'agent.export': ({ runId, what, options }) => {
      const view = viewOf(runId);
      return view.ok ? exports.open(agentExport(view.value, what, options)) : view;
    },
    'agent.budgets': () => ok(classBudgets(agents.list(CLASS_RUNS_MAX).runs)),
  };
}

const noRun = (): Result<never> =>
  denied('not-found', 'There is no such agent run.', { field: 'runId', next: 'It may have been deleted.' });

function shown(entry: TranscriptEntry, index: number): RequestResult<'agent.transcript'>['entries'][number] {
  return {
    index,
    role: entry.role,
    content: entry.content.slice(0, ENTRY_CHARACTERS_MAX).toWellFormed(),
    clipped: entry.content.length > ENTRY_CHARACTERS_MAX,
    toolName: entry.role === 'tool' ? entry.toolName : null,
    callId: entry.role === 'tool' ? entry.toolCallId : null,
    ran: entry.role === 'tool' ? entry.ran : null,
    toolCalls: entry.role === 'assistant' ? [...entry.toolCalls] : [],
  };
}
