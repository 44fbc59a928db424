/** Agent runs as the console makes them: real runner, gateway, world and files; only the store is kept in memory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type AgentRunId,
  type AgentRunView,
  type AgentTask,
  type AgentTaskInput,
  agentTaskSchema,
} from '../../../shared/contract/agents.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import type { TranscriptEntry } from '../../../shared/engine/agent/model.ts';
import { type Breakers, createBreakers } from '../../../shared/engine/gateway/breaker.ts';
import { type Agents, type AgentStore, createAgents } from '../../../shared/node/agent/agents.ts';
import { type McpTools, createWorld } from '../../../shared/node/agent/world.ts';

export interface Lab {
  readonly agents: Agents;
  readonly events: EngineEvent[];
  /** Runs a task to its end. */
  run(task: AgentTask): Promise<AgentRunView>;
  transcript(runId: AgentRunId, nodeId: string): readonly TranscriptEntry[];
}

export async function openLab({
  mcp,
  pace = 0,
  breakers = createBreakers(),
}: { readonly mcp?: McpTools; readonly pace?: number; readonly breakers?: Breakers } = {}): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), 'agents-'));
  const events: EngineEvent[] = [];
  const agents = createAgents({
    engine: {
      open: () => denied('bad-input', 'No model here.'),
      cancel: () => undefined,
    } as unknown as Parameters<typeof createAgents>[0]['engine'],
    world: createWorld(mcp === undefined ? {} : { mcp }),
    breakers,
    clock: { now: () => '2026-11-30T09:00:00.000Z', monotonicMs: () => performance.now() },
    emit: (event) => void events.push(event),
    home: { folder },
    store: memoryStore(),
    pace: () => pace,
    isSimulated: () => true,
    checkModel: async () => ok(null),
  });
  onTestFinished(async () => {
    await agents.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    agents,
    events,
    async run(task) {
      const started = await agents.start(task);
      if (!started.ok) throw new Error(started.denial.message);
      const { runId } = started.value;
      const view = (await agents.ended(runId)) ?? agents.view(runId);
      if (view === null) throw new Error('a run has a view');
      return view;
    },
    transcript: (runId, nodeId) => agents.transcript(runId, nodeId) ?? [],
  };
}

export const taskOf = (script: string, change: Partial<AgentTaskInput> = {}): AgentTask =>
  agentTaskSchema.parse({ prompt: 'Do it.', model: `script:${script}`, ...change });

function memoryStore(): AgentStore {
  const views = new Map<AgentRunId, AgentRunView>();
  return {
    saveAgentRun(view) {
      views.set(view.run.id, view);
      return ok(null);
    },
    agentRestart: () => null,
    agentRun: (id) => views.get(id) ?? null,
    agentRuns: (limit) =>
      [...views.values()]
        .map(({ run }) => run)
        .reverse()
        .slice(0, limit),
    removeAgentRun(id) {
      views.delete(id);
      return ok(null);
    },
    interruptAgentRuns: () => ok(0),
  };
}

/** What two runs of the same seed have in common: everything but what is drawn at random for each, ids and handles. */
export function withoutIds(view: AgentRunView): unknown {
  const handles = [...new Set(view.calls.flatMap(({ handle }) => handle ?? []))];
  let text = JSON.stringify({ ...view, run: { ...view.run, id: 'run' } });
  for (const [at, handle] of handles.entries()) text = text.replaceAll(handle, `handle-${at}`);
  for (const { fingerprint, stateHash } of view.calls.filter(({ tool }) => tool === 'read_blob')) {
    for (const hash of [fingerprint, stateHash]) if (hash !== null) text = text.replaceAll(hash, 'hash of a handle');
  }
  return JSON.parse(text);
}
