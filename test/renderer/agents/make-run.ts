/** Real runs of the link farm, in virtual time, for the page to show; and hostile or large ones made from them. */
import { createHash } from 'node:crypto';
import type {
  AgentNode,
  AgentRunId,
  AgentRunView,
  AgentTaskInput,
  GatewayCall,
} from '../../../shared/contract/agents.ts';
import { agentRunViewSchema } from '../../../shared/contract/agents.ts';
import { startAgentRun } from '../../../shared/engine/agent/run.ts';
import { farmReader } from '../../../shared/engine/agent-lab/farm-reader.ts';
import { farmSettings, farmTask } from '../../../shared/engine/agent-lab/farm-task.ts';
import { linkFarmTools } from '../../../shared/engine/agent-lab/link-farm.ts';
import { createVirtualTime } from '../../../shared/engine/agent-lab/virtual-time.ts';
import { createBreakers } from '../../../shared/engine/gateway/breaker.ts';

export const agentRunId = (name: string): AgentRunId => name as AgentRunId;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The golden run: 58 calls of 60, three agents, ended by the guard that looks for new text. */
export async function farmRun(change: Partial<AgentTaskInput> = {}): Promise<AgentRunView> {
  const time = createVirtualTime({ idle: () => new Promise((resolve) => setImmediate(resolve)) });
  const run = startAgentRun(
    agentRunId('run-farm'),
    farmTask(change),
    {
      nowMs: time.nowMs,
      after: time.after,
      breakers: createBreakers(),
      sha256,
      tokensOf: (_text, textBytes) => Math.ceil(textBytes / 4),
      wordRefusal: ({ words }) => words.padEnd(80).slice(0, 80),
      wordPartial: () => 'p'.repeat(1_200),
      approve: async () => true,
      raise: async () => false,
      blobs: { put: async ({ head }) => sha256(head).slice(0, 16), read: async () => null },
      model: farmReader(time.sleep),
      tools: linkFarmTools(time.sleep),
      baseTokens: () => 3_000,
      now: () => '2026-11-30T10:00:00.000Z',
      onChange: () => undefined,
    },
    { simulated: true, scripted: true, rootName: 'planner', settings: farmSettings() },
  );
  return agentRunViewSchema.parse(await time.run(run.done));
}

/** The run as it stood before its end. */
export function atWork(view: AgentRunView): AgentRunView {
  return {
    ...view,
    run: { ...view.run, state: 'running', reason: null, endedAt: null, answer: null },
    nodes: view.nodes.map((node) => ({
      ...node,
      state: 'running',
      reason: null,
      endedMs: null,
      summary: null,
      exhaustion: null,
    })),
  };
}

export const HOSTILE = `<img src=x onerror=alert(1)> ${'\u202e'}${'agent-'.repeat(40)}`.slice(0, 200);

/** So many agents under one, and so many calls in all, with names as a hostile model would choose them. */
export function crowdedRun(view: AgentRunView, agents: number, calls: number): AgentRunView {
  const [root] = view.nodes;
  const [sample] = view.calls;
  if (root === undefined || sample === undefined) throw new Error('the run is empty');
  const nodes: AgentNode[] = Array.from({ length: agents }, (_, index) => ({
    ...root,
    id: index === 0 ? root.id : `${HOSTILE}.${index}`,
    parentId: index === 0 ? null : root.id,
    depth: index === 0 ? 0 : 1,
  }));
  const many: GatewayCall[] = Array.from({ length: calls }, (_, index) => ({
    ...sample,
    id: `call-${index}`,
    nodeId: nodes[index % agents]?.id ?? root.id,
    step: Math.floor(index / agents / 4) + 1,
    index: Math.floor(index / agents) % 4,
    startedMs: (sample.startedMs + Math.floor(index / agents / 4) * 500) as GatewayCall['startedMs'],
    endedMs: (sample.startedMs + Math.floor(index / agents / 4) * 500 + 400) as GatewayCall['startedMs'],
  }));
  return agentRunViewSchema.parse({ ...view, nodes, calls: many, trips: [], turns: [] });
}
