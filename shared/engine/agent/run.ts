/**
 * One agent run: a tree of agents on one budget, every tool call through one gateway. Read `runAgent` first: rounds of a model
 * turn and a step, until the model is done or something stops it, and then one closing call where there may be one.
 */
import type {
  AgentNode,
  AgentRun,
  AgentRunId,
  AgentRunView,
  AgentTask,
  EndReason,
  Exhaustion,
  GatewayCall,
  GuardSettings,
  GuardTrip,
  Lease,
  ModelTurn,
  NodeLimits,
} from '../../contract/agents.ts';
import { DEFAULT_GUARDS, DEFAULT_LIMITS } from '../../contract/agents.ts';
import { bytes, milliseconds } from '../../contract/units.ts';
import { type BudgetTree, type TreeSnapshot, createBudgetTree } from '../budget-tree/tree.ts';
import { type CancelSource, createCancel } from '../cancel.ts';
import { type Gateway, type GatewayPorts, type ToolAsk, createGateway, reasonOf } from '../gateway/gateway.ts';
import { READ_BLOB, readBlobTool } from '../gateway/read-blob.ts';
import { wordsOf } from '../gateway/refusal.ts';
import { type Tool, textOf, withRule } from '../gateway/tool.ts';
import { type GuardsSnapshot, createGuards } from '../guards/guards.ts';
import { must } from '../must.ts';
import { delegateTool, readDelegation } from './delegate.ts';
import type { AgentModel, TranscriptEntry } from './model.ts';
import { closingPrompt, systemPrompt, unreadablePrompt } from './prompts.ts';

export interface AgentRunPorts extends Pick<
  GatewayPorts,
  'nowMs' | 'after' | 'breakers' | 'blobs' | 'sha256' | 'tokensOf' | 'wordRefusal' | 'approve'
> {
  readonly model: AgentModel;
  readonly tools: readonly Tool[];
  /** Tokens of an agent's first prompt: its texts and the tools it is told of. */
  baseTokens(prompt: string): number;
  /** Asks a person for a larger budget of the root; false = no. Answers false when the run is cancelled. */
  raise(exhaustion: Exhaustion, limitAsked: number): Promise<boolean>;
  /** What is said of an agent that had no closing call. */
  wordPartial(of: { readonly nodeId: string; readonly why: string; readonly calls: number }): string;
  now(): string;
  /** Something changed that a screen shows; called often. */
  onChange(change: RunChange): void;
}

export type RunChange =
  | { readonly kind: 'call'; readonly call: GatewayCall }
  | { readonly kind: 'turn'; readonly turn: ModelTurn }
  | { readonly kind: 'trip'; readonly trip: GuardTrip }
  | { readonly kind: 'lease'; readonly lease: Lease }
  | { readonly kind: 'nodes' };

/** What a run that was cut off goes on from: budgets, guards and transcripts as they stood. */
export interface RestartState {
  readonly tree: TreeSnapshot;
  readonly guards: GuardsSnapshot;
  readonly agents: readonly {
    readonly nodeId: string;
    readonly task: string;
    readonly transcript: readonly TranscriptEntry[];
    readonly figures: AgentFigures;
  }[];
  readonly view: AgentRunView;
  readonly counted: Counted;
}

export interface RunningAgents {
  readonly done: Promise<AgentRunView>;
  restart(): RestartState;
  view(): AgentRunView;
  /** Stops a node and all below it; null = all. The work under way is aborted. */
  cancel(nodeId: string | null): boolean;
  transcript(nodeId: string): readonly TranscriptEntry[];
}

/** More calls or turns than this are counted and not kept for the screen; the oldest go first. */
export const CALLS_KEPT_MAX = 5_000;
const INTERRUPTED = 'not run: the console ended while this was under way';
/** In place of a tool's name where there is none to be read. */
const UNREADABLE_CALL = 'a call that could not be read';
const TURN_TEXT_MAX = 4_000;
const SUMMARY_TEXT_MAX = 20_000;
/** What is kept back for a closing call where the node has limits: a part of them, bounded. */
const CLOSING_SHARE = 20;
const CLOSING_TOKENS_MAX = 4_000;

interface Counted {
  toolCalls: number;
  refused: number;
  delegations: number;
  outputBytes: number;
  retries: number;
  toolNanoDollars: number;
}

interface AgentState extends AgentFigures {
  readonly nodeId: string;
  readonly task: string;
  readonly cancel: CancelSource;
  readonly transcript: TranscriptEntry[];
  waiting: boolean;
  exhaustion: Exhaustion | null;
  summary: string | null;
}

interface AgentFigures {
  contextTokens: number;
  billedTokens: number;
  largestContextTokens: number;
  modelTurns: number;
  calls: number;
  nanoDollars: number;
  contextSum: number;
  fanOutPeak: number;
  outputPeak: number;
  children: number;
}

export interface RunSettings {
  readonly limits: NodeLimits;
  readonly guards: GuardSettings;
  readonly closing: { readonly tokens: number; readonly nanoDollars: number };
}

export function settingsOf(task: AgentTask): RunSettings {
  const limits: NodeLimits = { ...DEFAULT_LIMITS, ...defined(task.limits) };
  if (!task.governed) {
    return {
      limits: {
        ...limits,
        calls: null,
        tokens: null,
        nanoDollars: null,
        wallClockMs: null,
        descendants: null,
        outputBytes: null,
      },
      guards: {
        ...DEFAULT_GUARDS,
        ...defined(task.guards),
        stateHash: null,
        identicalCalls: null,
        cycles: null,
        noProgress: null,
        brokenArguments: null,
      },
      closing: { tokens: 0, nanoDollars: 0 },
    };
  }
  const closing = task.closingCall
    ? {
        tokens: limits.tokens === null ? 0 : Math.min(CLOSING_TOKENS_MAX, Math.floor(limits.tokens / CLOSING_SHARE)),
        nanoDollars: 0,
      }
    : { tokens: 0, nanoDollars: 0 };
  return { limits, guards: { ...DEFAULT_GUARDS, ...defined(task.guards) }, closing };
}

export function startAgentRun(
  id: AgentRunId,
  task: AgentTask,
  ports: AgentRunPorts,
  about: {
    readonly simulated: boolean;
    readonly scripted: boolean;
    /** What the model runs on, as it is written to rows. */
    readonly server?: Pick<AgentRun, 'modelDigest' | 'ollamaVersion'>;
    readonly rootName?: string;
    readonly settings?: RunSettings;
    /** The run goes on from here; what was under way when it was cut off is answered as interrupted. */
    readonly restored?: RestartState;
  },
): RunningAgents {
  const { limits, guards: guardSettings, closing } = about.settings ?? settingsOf(task);
  const { restored } = about;
  const rootId = about.rootName ?? 'agent';
  const tree: BudgetTree = createBudgetTree(
    rootId,
    limits,
    {
      keepCalls: task.keepCalls,
      carveRule: task.carveRule,
      closing,
      spawnsPerMinute: task.governed ? task.spawnsPerMinute : null,
    },
    restored?.tree,
  );
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
  /** Started before the run was cut off: nobody is left who can end it. */
  const lostLeases = (restored?.view.leases ?? []).filter((lease) => lease.state !== 'released');
  let callsDropped = restored?.view.callsDropped ?? 0;
  let openLeases = 0;
  let state: AgentRun['state'] = 'running';
  let problem: string | null = null;
  const startedAt = restored?.view.run.startedAt ?? ports.now();
  let endedAt: string | null = null;

  const now = (): ReturnType<typeof milliseconds> => milliseconds(Math.max(0, Math.round(ports.nowMs())));
  const delegate = delegateTool(limits.depth);
  const tools = toolsOf(ports.tools, task, [READ_BLOB, delegate.spec.name]);
  const canDelegate = limits.depth > 0;

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
    if (call.tool === delegate.spec.name && canDelegate) {
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

  const guards = createGuards(guardSettings, ports.sha256, restored?.guards);
  const gateway: Gateway = createGateway(
    {
      ...ports,
      tree,
      tools,
      guards,
      delegate: canDelegate ? { name: delegate.spec.name, run: delegateTo } : null,
      onCall,
      onTrip: (trip) => {
        trips.push(trip);
        ports.onChange({ kind: 'trip', trip });
      },
      onLease: (lease) => ports.onChange({ kind: 'lease', lease }),
    },
    {
      outputTokensMax: limits.outputBytes === null ? 0 : ports.tokensOf('', limits.outputBytes),
      chargeResults: limits.tokensMean === 'context',
      cache: task.cacheFetches,
      callsByTool: [...callsByTool],
      approvalAboveNanoDollars: task.approvalAboveNanoDollars,
    },
  );

  const told = [
    ...[...tools.values()].map((tool) => tool.spec),
    readBlobTool(ports.blobs, tree, 0).spec,
    ...(canDelegate ? [delegate.spec] : []),
  ];

  async function runAgent(
    nodeId: string,
    taskText: string,
    cancel: CancelSource,
  ): Promise<{ text: string; reason: EndReason }> {
    const node = tree.node(nodeId);
    const prompt = systemPrompt(node.limits, { canDelegate: node.depth < limits.depth, governed: task.governed });
    const agent: AgentState = {
      nodeId,
      task: taskText,
      cancel,
      transcript: [
        { role: 'system', content: prompt },
        { role: 'user', content: taskText },
      ],
      contextTokens: 0,
      billedTokens: 0,
      largestContextTokens: 0,
      modelTurns: 0,
      calls: 0,
      nanoDollars: 0,
      contextSum: 0,
      fanOutPeak: 0,
      outputPeak: 0,
      waiting: false,
      exhaustion: null,
      summary: null,
      children: 0,
    };
    agents.set(nodeId, agent);
    const base = ports.baseTokens(`${prompt}\n${taskText}`);
    agent.contextTokens = base;
    agent.contextSum = base;
    ports.onChange({ kind: 'nodes' });
    const outcome = await rounds(agent, base, 1);
    tree.close(nodeId, outcome.reason, ports.nowMs());
    agent.summary = outcome.text.slice(0, SUMMARY_TEXT_MAX);
    agent.waiting = false;
    ports.onChange({ kind: 'nodes' });
    return outcome;
  }

  /** base null = it was paid before. */
  async function rounds(
    agent: AgentState,
    base: number | null,
    firstRound: number,
  ): Promise<{ text: string; reason: EndReason }> {
    const { nodeId } = agent;
    const { signal } = agent.cancel;
    if (limits.tokensMean === 'context' && base !== null) {
      const paid = tree.charge(nodeId, { calls: 0, tokens: base, nanoDollars: 0 }, ports.nowMs());
      if (!paid.ok) return end(agent, reasonOf(paid.exhaustion), paid.exhaustion, false);
    }
    for (let round = firstRound; round <= task.rounds; round += 1) {
      if (signal.aborted) return end(agent, 'cancelled', null, false);
      const outOfTime = tree.timeExhaustion(nodeId, ports.nowMs());
      if (outOfTime !== null && !(await raised(agent, outOfTime))) return end(agent, 'budget-time', outOfTime, false);
      let unpaid = payTurn(agent);
      if (unpaid !== null && (await raised(agent, unpaid))) unpaid = payTurn(agent);
      if (unpaid !== null) return end(agent, reasonOf(unpaid), unpaid, false);
      const answer = await turn(agent, false);
      const asksNothing = answer.toolCalls.length === 0 || answer.failed !== null;
      if (signal.aborted && asksNothing) return end(agent, 'cancelled', null, false);
      if (answer.failed !== null && answer.outOfTime === true) {
        return end(agent, 'budget-time', tree.timeExhaustion(nodeId, ports.nowMs()), false);
      }
      if (answer.failed !== null) {
        problem ??= answer.failed;
        return end(agent, 'model-failed', null, false);
      }
      if (answer.unreadable !== undefined) {
        if (tellUnreadable(agent, answer.unreadable) === 'stop') return end(agent, 'broken-arguments', null, true);
        continue;
      }
      if (answer.toolCalls.length === 0) return { text: answer.text, reason: 'done' };
      agent.fanOutPeak = Math.max(agent.fanOutPeak, Math.min(answer.toolCalls.length, tree.node(nodeId).limits.fanOut));
      const stepped = await gateway.step(nodeId, round, answer.toolCalls, signal);
      for (const { id: toolCallId, name, text, call } of stepped.results) {
        const ran = call.outcome !== 'refused' && call.outcome !== 'not-run';
        agent.transcript.push({ role: 'tool', content: text, toolCallId, toolName: name, ran });
      }
      ports.onChange({ kind: 'nodes' });
      // What was asked for has its results now, also where it was not run.
      if (signal.aborted) return end(agent, 'cancelled', null, false);
      if (stepped.stop === null) continue;
      const { reason, exhaustion } = stepped.stop;
      if (exhaustion !== null && (await raised(agent, exhaustion))) continue;
      // Where the time is over there is none for a closing call either.
      return end(agent, reason, exhaustion, reason !== 'budget-time');
    }
    return end(agent, 'rounds', null, true);
  }

  /** There is no call that could be answered, so the model is told in a message; it counts as broken arguments of no tool. */
  function tellUnreadable(agent: AgentState, words: string): GuardTrip['stage'] | null {
    const { nodeId } = agent;
    const text = unreadablePrompt(words);
    const tokens = ports.tokensOf(text, textOf(text).bytes);
    agent.transcript.push({ role: 'user', content: text });
    agent.contextTokens += tokens;
    agent.contextSum += tokens;
    if (limits.tokensMean === 'context') tree.chargeAnyway(nodeId, { calls: 0, tokens, nanoDollars: 0 });
    const id = `${nodeId}/${agent.modelTurns}`;
    const broken = guards.broken({ id, nodeId, tool: UNREADABLE_CALL, polls: false });
    if (broken === null) return null;
    const trip = { ...broken, calls: [], text: `${broken.count} calls of the model could not be read`, atMs: now() };
    trips.push(trip);
    ports.onChange({ kind: 'trip', trip });
    return trip.stage;
  }

  /** Where the task says so, a person is asked once before the root ends for want of budget. */
  async function raised({ nodeId, cancel }: AgentState, exhaustion: Exhaustion): Promise<boolean> {
    if (task.raiseOncePercent === null || !task.governed || nodeId !== rootId || exhaustion.nodeId !== rootId)
      return false;
    if (tree.snapshot().wasRaised || cancel.signal.aborted) return false;
    const limitAsked = exhaustion.limit + Math.max(1, Math.ceil((exhaustion.limit * task.raiseOncePercent) / 100));
    return (await ports.raise(exhaustion, limitAsked)) && tree.raiseRoot(exhaustion.dimension, limitAsked);
  }

  /** Where turns are what is charged, the whole context is paid before each of them. */
  function payTurn(agent: AgentState): Exhaustion | null {
    if (limits.tokensMean !== 'billed') return null;
    const paid = tree.charge(agent.nodeId, { calls: 0, tokens: agent.contextTokens, nanoDollars: 0 }, ports.nowMs());
    return paid.ok ? null : paid.exhaustion;
  }

  async function turn(agent: AgentState, isClosing: boolean): Promise<Awaited<ReturnType<AgentModel['turn']>>> {
    const { nodeId } = agent;
    agent.modelTurns += 1;
    agent.largestContextTokens = Math.max(agent.largestContextTokens, agent.contextTokens);
    const shown: ModelTurn = {
      nodeId,
      turn: agent.modelTurns,
      closing: isClosing,
      callId: null,
      contextTokens: agent.contextTokens,
      text: '',
      toolCalls: 0,
      startedMs: now(),
      endedMs: null,
    };
    const index = turns.push(shown) - 1;
    ports.onChange({ kind: 'turn', turn: shown });
    const node = tree.node(nodeId);
    const left = tree.left(nodeId);
    const mayDelegate = node.depth < limits.depth;
    const answer = await ports.model.turn({
      nodeId,
      depth: node.depth,
      turn: agent.modelTurns,
      transcript: agent.transcript,
      tools: isClosing ? [] : told.filter(({ name }) => name !== delegate.spec.name || mayDelegate),
      closing: isClosing,
      callsLeft: left.calls,
      timeLeftMs: tree.timeLeftMs(nodeId, ports.nowMs()),
      contextTokens: agent.contextTokens,
      signal: agent.cancel.signal,
    });
    // A turn that failed, and one that was told to call nothing, ask for nothing: what is in a transcript gets a result.
    const asked = isClosing || answer.failed !== null ? [] : answer.toolCalls;
    const toolCalls = asked.map((call, at): ToolAsk => ({
      ...call,
      id: `${nodeId}/${agent.modelTurns}/${at + 1}`,
    }));
    agent.transcript.push({ role: 'assistant', content: answer.text, toolCalls });
    // A server says how much of the context it really read; a script is billed all of it.
    agent.billedTokens += answer.promptTokens ?? shown.contextTokens;
    const output = answer.outputTokens ?? 0;
    if (output > 0) {
      agent.contextTokens += output;
      agent.contextSum += output;
      tree.chargeAnyway(nodeId, { calls: 0, tokens: output, nanoDollars: 0 });
    }
    turns[index] = {
      ...shown,
      callId: answer.callId,
      text: answer.text.slice(0, TURN_TEXT_MAX),
      toolCalls: toolCalls.length,
      endedMs: now(),
    };
    ports.onChange({ kind: 'turn', turn: turns[index] });
    return { ...answer, toolCalls };
  }

  /** After a stop: one turn for a summary of what was done, paid from what was kept back for it. */
  async function end(
    agent: AgentState,
    reason: EndReason,
    exhaustion: Exhaustion | null,
    mayClose: boolean,
  ): Promise<{ text: string; reason: EndReason }> {
    // Also where a person was asked for more budget, and stopped the run instead.
    if (agent.cancel.signal.aborted) return { text: partial(agent, 'cancelled'), reason: 'cancelled' };
    agent.exhaustion = exhaustion;
    const words = exhaustion === null ? reason : wordsOf(exhaustion);
    if (!mayClose || !task.closingCall || reason === 'state-hash') return { text: partial(agent, words), reason };
    tree.openClosing(agent.nodeId);
    if (payTurn(agent) !== null) return { text: partial(agent, words), reason };
    agent.transcript.push({ role: 'user', content: closingPrompt(words) });
    const answer = await turn(agent, true);
    return { text: answer.failed === null && answer.text !== '' ? answer.text : partial(agent, words), reason };
  }

  /** What there is to say without a model: facts, and nothing that a tool brought in. */
  function partial(agent: AgentState, words: string): string {
    return ports.wordPartial({ nodeId: agent.nodeId, why: words, calls: agent.calls });
  }

  async function delegateTo(
    parentId: string,
    args: Parameters<typeof readDelegation>[0],
    { signal }: { readonly signal: AgentState['cancel']['signal'] },
  ): ReturnType<NonNullable<GatewayPorts['delegate']>['run']> {
    const parent = agents.get(parentId);
    must(parent !== undefined, 'a parent is an agent');
    const read = readDelegation(args, tree.left(parentId).calls);
    if (!read.ok) return { ok: false, code: 'broken-arguments', words: read.words, exhaustion: null };
    const childId = `${parentId}.${parent.children + 1}`;
    const carved = tree.carve(parentId, { id: childId, calls: read.calls }, ports.nowMs());
    if (!carved.ok) {
      const { exhaustion } = carved;
      const code =
        exhaustion.dimension === 'depth'
          ? 'depth'
          : exhaustion.retryAfterSeconds !== null
            ? 'spawn-rate'
            : exhaustion.evidence === 'nothing left to carve'
              ? 'nothing-to-carve'
              : 'budget';
      return { ok: false, code, words: `not run: ${exhaustion.evidence}`, exhaustion };
    }
    parent.children += 1;
    parent.waiting = true;
    ports.onChange({ kind: 'nodes' });
    const cancel = createCancel();
    const release = signal.onAbort(() => cancel.cancel(signal.reason ?? 'person'));
    const outcome = await runAgent(childId, read.task, cancel).finally(release);
    parent.waiting = false;
    return { ok: true, childId, text: outcome.text };
  }

  /** The root goes on; agents of its own that were under way have ended, and their budgets are charged as they were held. */
  async function goOn(from: RestartState): Promise<{ text: string; reason: EndReason }> {
    for (const { nodeId, task: taskText, transcript, figures } of from.agents) {
      agents.set(nodeId, {
        ...figures,
        nodeId,
        task: taskText,
        cancel: nodeId === rootId ? rootCancel : createCancel(),
        transcript: [...transcript],
        waiting: false,
        exhaustion: null,
        summary: null,
      });
    }
    for (const node of tree.nodes()) if (node.id !== rootId) tree.close(node.id, 'interrupted', ports.nowMs());
    const root = agents.get(rootId);
    must(root !== undefined, 'a run that goes on has its root');
    for (const call of calls.values()) {
      if (call.endedMs !== null) continue;
      onCall({ ...call, outcome: 'not-run', code: 'cancelled', resultHead: INTERRUPTED, endedMs: now() });
    }
    const asked = root.transcript.findLastIndex((entry) => entry.role === 'assistant');
    const last = root.transcript[asked];
    const answered = new Set(
      root.transcript.slice(asked + 1).flatMap((entry) => (entry.role === 'tool' ? [entry.toolCallId] : [])),
    );
    for (const ask of last?.role === 'assistant' ? last.toolCalls : []) {
      if (answered.has(ask.id)) continue;
      root.transcript.push({ role: 'tool', content: INTERRUPTED, toolCallId: ask.id, toolName: ask.name, ran: false });
    }
    ports.onChange({ kind: 'nodes' });
    const outcome = await rounds(root, null, root.modelTurns + 1);
    tree.close(rootId, outcome.reason, ports.nowMs());
    root.summary = outcome.text.slice(0, SUMMARY_TEXT_MAX);
    return outcome;
  }

  const rootCancel = createCancel();
  const done = (async (): Promise<AgentRunView> => {
    try {
      const outcome = await (restored === undefined ? runAgent(rootId, task.prompt, rootCancel) : goOn(restored));
      state = outcome.reason === 'cancelled' ? 'cancelled' : outcome.reason === 'model-failed' ? 'failed' : 'ended';
    } catch (error) {
      state = 'failed';
      problem = error instanceof Error ? error.message : String(error);
      tree.close(rootId, 'model-failed', ports.nowMs());
    }
    openLeases = (await gateway.releaseLeases()) + lostLeases.length;
    endedAt = ports.now();
    ports.onChange({ kind: 'nodes' });
    return view();
  })();

  function nodeOf(nodeState: ReturnType<BudgetTree['node']>): AgentNode {
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

  function view(): AgentRunView {
    const all = [...agents.values()];
    const inputKb = textOf(task.prompt).bytes / 1_024;
    const sum = (pick: (agent: AgentState) => number): number => all.reduce((total, agent) => total + pick(agent), 0);
    const contextTokens = sum((agent) => agent.contextSum);
    const run: AgentRun = {
      id,
      task,
      state,
      reason: tree.node(rootId).reason,
      simulated: about.simulated,
      scripted: about.scripted,
      ...about.server,
      startedAt,
      endedAt,
      nowMs: now(),
      totals: {
        toolCalls: counted.toolCalls,
        refused: counted.refused,
        delegations: counted.delegations,
        agents: all.length,
        modelTurns: sum((agent) => agent.modelTurns),
        billedInputTokens: sum((agent) => agent.billedTokens),
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
      answer: state === 'running' ? null : (agents.get(rootId)?.summary ?? null),
      problem,
    };
    return {
      run,
      nodes: tree.nodes().map(nodeOf),
      calls: [...calls.values()],
      turns: turns.slice(-CALLS_KEPT_MAX),
      trips,
      breakers: ports.breakers.states(ports.nowMs()),
      leases: [...lostLeases, ...gateway.leases()],
      callsDropped,
    };
  }

  return {
    done,
    view,
    restart: () => ({
      tree: tree.snapshot(),
      guards: guards.snapshot(),
      agents: [...agents.values()].map(
        ({ nodeId, task: taskText, transcript, cancel, waiting, exhaustion, summary, ...figures }) => {
          void [cancel, waiting, exhaustion, summary];
          return { nodeId, task: taskText, transcript, figures };
        },
      ),
      view: view(),
      counted: { ...counted },
    }),
    cancel(nodeId) {
      const agent = nodeId === null ? undefined : agents.get(nodeId);
      if (nodeId !== null && agent === undefined) return false;
      (agent?.cancel ?? rootCancel).cancel('person');
      return true;
    },
    transcript: (nodeId) => agents.get(nodeId)?.transcript ?? [],
  };
}

/** By name, with what a person set for them. A tool that is called like one of the gateway's own is left out. */
function toolsOf(tools: readonly Tool[], task: AgentTask, reserved: readonly string[]): Map<string, Tool> {
  const ruleOf = (name: string): AgentTask['toolRules'][string] | undefined =>
    Object.hasOwn(task.toolRules, name) ? task.toolRules[name] : undefined;
  const usable = tools.filter(({ spec }) => !reserved.includes(spec.name));
  return new Map(usable.map((tool) => [tool.spec.name, withRule(tool, ruleOf(tool.spec.name))]));
}

/** A field that is there but undefined would take a default away. */
function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
