/** What is kept of a run while it goes: its calls, turns, trips and sums, and what a screen draws of them. */
import type {
  AgentNode,
  AgentRun,
  AgentRunId,
  AgentRunView,
  AgentTask,
  GatewayCall,
  GuardTrip,
  Lease,
  ModelTurn,
} from '../../contract/agents.ts';
import { bytes, milliseconds } from '../../contract/units.ts';
import type { BudgetTree, NodeState } from '../budget-tree/tree.ts';
import { textOf } from '../gateway/tool.ts';
import { must } from '../must.ts';
import type { AboutRun, AgentRunPorts, AgentState, Counted } from './run-ports.ts';

/** More calls or turns than this are counted and not kept for the screen; the oldest go first. */
export const CALLS_KEPT_MAX = 5_000;

export interface RunRecord {
  readonly agents: Map<string, AgentState>;
  readonly calls: ReadonlyMap<string, GatewayCall>;
  readonly counted: Counted;
  readonly callsByTool: ReadonlyMap<string, number>;
  /** Adds the turn, or changes it: the one of that number of its agent. */
  turn(turn: ModelTurn): void;
  call(call: GatewayCall): void;
  trip(trip: GuardTrip): void;
  /** The first problem is the one that is told. */
  problem(words: string): void;
  end(how: { readonly state: AgentRun['state']; readonly openLeases: number }): void;
  view(leases: readonly Lease[]): AgentRunView;
}

export function createRunRecord(ask: {
  readonly id: AgentRunId;
  readonly task: AgentTask;
  readonly ports: Pick<AgentRunPorts, 'nowMs' | 'now' | 'onChange' | 'breakers'>;
  readonly about: AboutRun;
  readonly tree: BudgetTree;
  /** The name of the tool that starts agents; null = there is none. */
  readonly delegateName: string | null;
}): RunRecord {
  const { id, task, ports, about, tree, delegateName } = ask;
  const { restored } = about;
  const agents = new Map<string, AgentState>();
  const calls = new Map<string, GatewayCall>((restored?.view.calls ?? []).map((call) => [call.id, call]));
  const turns: ModelTurn[] = [...(restored?.view.turns ?? [])];
  const trips: GuardTrip[] = [...(restored?.view.trips ?? [])];
  const counted: Counted = {
    ...(restored?.counted ?? {
      toolCalls: 0,
      refused: 0,
      delegations: 0,
      outputBytes: 0,
      retries: 0,
      toolNanoDollars: 0,
    }),
  };
  const callsByTool = new Map<string, number>(Object.entries(restored?.view.run.totals.callsByTool ?? {}));
  let callsDropped = restored?.view.callsDropped ?? 0;
  let openLeases = 0;
  let state: AgentRun['state'] = 'running';
  let problem: string | null = null;
  const startedAt = restored?.view.run.startedAt ?? ports.now();
  let endedAt: string | null = null;

  function onCall(call: GatewayCall): void {
    calls.set(call.id, call);
    if (call.endedMs !== null) countCall(call);
    for (const old of calls.keys()) {
      if (calls.size <= CALLS_KEPT_MAX) break;
      calls.delete(old);
      callsDropped += 1;
    }
    ports.onChange({ kind: 'call', call });
  }

  /** Calls that have ended, and the tokens they were counted with: a guard may add a note to one that has. */
  const ended = new Map([...calls.values()].flatMap((one) => (one.endedMs === null ? [] : [[one.id, one.tokens]])));
  function countCall(call: GatewayCall): void {
    const tokensBefore = ended.get(call.id);
    ended.set(call.id, call.tokens);
    const agent = agents.get(call.nodeId);
    must(agent !== undefined, 'a call has its agent');
    agent.contextTokens += call.tokens - (tokensBefore ?? 0);
    agent.contextSum += call.tokens - (tokensBefore ?? 0);
    if (tokensBefore !== undefined) return;
    if (call.outcome === 'refused' || call.outcome === 'not-run') {
      counted.refused += 1;
      return;
    }
    if (call.tool === delegateName) {
      counted.delegations += 1;
      return;
    }
    counted.toolCalls += 1;
    counted.retries += Math.max(0, call.attempts - 1);
    counted.outputBytes += call.outputBytes;
    counted.toolNanoDollars += call.nanoDollars;
    callsByTool.set(call.tool, (callsByTool.get(call.tool) ?? 0) + 1);
    agent.calls += 1;
    agent.nanoDollars += call.nanoDollars;
    agent.outputPeak = Math.max(agent.outputPeak, call.shownBytes);
  }

  function nodeOf(nodeState: NodeState): AgentNode {
    const agent = agents.get(nodeState.id);
    return {
      id: nodeState.id,
      parentId: nodeState.parentId,
      depth: nodeState.depth,
      task: agent?.task ?? '',
      state: nodeState.endedMs !== null ? 'ended' : agent?.waiting === true ? 'waiting' : 'running',
      reason: nodeState.reason,
      limits: nodeState.limits,
      used: {
        calls: nodeState.used.calls,
        contextTokens: agent?.contextSum ?? 0,
        billedTokens: agent?.billedTokens ?? 0,
        nanoDollars: nodeState.used.nanoDollars,
      },
      held: nodeState.held,
      carved: nodeState.carved,
      peak: { fanOut: agent?.fanOutPeak ?? 0, outputBytes: bytes(agent?.outputPeak ?? 0) },
      descendants: nodeState.descendants,
      startedMs: milliseconds(Math.max(0, Math.round(nodeState.startedMs))),
      endedMs: nodeState.endedMs === null ? null : milliseconds(Math.max(0, Math.round(nodeState.endedMs))),
      modelTurns: agent?.modelTurns ?? 0,
      largestContextTokens: agent?.largestContextTokens ?? 0,
      exhaustion: agent?.exhaustion ?? null,
      summary: agent?.summary ?? null,
    };
  }

  function view(leases: readonly Lease[]): AgentRunView {
    const all = [...agents.values()];
    const inputKb = textOf(task.prompt).bytes / 1_024;
    const sum = (pick: (agent: AgentState) => number): number => all.reduce((total, agent) => total + pick(agent), 0);
    const contextTokens = sum((agent) => agent.contextSum);
    const run: AgentRun = {
      id,
      task,
      state,
      reason: tree.node(tree.rootId).reason,
      simulated: about.simulated,
      scripted: about.scripted,
      ...about.server,
      startedAt,
      endedAt,
      nowMs: milliseconds(Math.max(0, Math.round(ports.nowMs()))),
      totals: {
        toolCalls: counted.toolCalls,
        refused: counted.refused,
        delegations: counted.delegations,
        agents: all.length,
        modelTurns: sum((agent) => agent.modelTurns),
        billedInputTokens: sum((agent) => agent.billedTokens),
        turnsUncounted: sum((agent) => agent.turnsUncounted),
        contextTokens,
        largestContextTokens: all.reduce((most, agent) => Math.max(most, agent.largestContextTokens), 0),
        toolNanoDollars: counted.toolNanoDollars,
        outputBytes: counted.outputBytes,
        retries: counted.retries,
        peakFanOut: all.reduce((most, agent) => Math.max(most, agent.fanOutPeak), 0),
        callsPerKb: inputKb === 0 ? null : counted.toolCalls / inputKb,
        tokensPerKb: inputKb === 0 ? null : contextTokens / inputKb,
        callsByTool: Object.fromEntries(callsByTool),
      },
      openLeases,
      answer: state === 'running' ? null : (agents.get(tree.rootId)?.summary ?? null),
      problem,
    };
    return {
      run,
      nodes: tree.nodes().map(nodeOf),
      calls: [...calls.values()],
      turns: turns.slice(-CALLS_KEPT_MAX),
      trips,
      breakers: ports.breakers.states(ports.nowMs()),
      leases: [...leases],
      callsDropped,
    };
  }

  return {
    agents,
    calls,
    counted,
    callsByTool,
    turn(turn) {
      const index = turns.findLastIndex((one) => one.nodeId === turn.nodeId && one.turn === turn.turn);
      if (index < 0) turns.push(turn);
      else turns[index] = turn;
      ports.onChange({ kind: 'turn', turn });
    },
    call: onCall,
    trip(trip) {
      trips.push(trip);
      ports.onChange({ kind: 'trip', trip });
    },
    problem(words) {
      problem ??= words;
    },
    end(how) {
      ({ state, openLeases } = how);
      endedAt = ports.now();
    },
    view,
  };
}
