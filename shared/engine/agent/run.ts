/**
 * One agent run: a tree of agents on one budget, every tool call through one gateway. Read `runAgent` first: rounds of a model
 * turn and a step, until the model is done or something stops it, and then one closing call where there may be one.
 */
import type {
  AgentRun,
  AgentRunId,
  AgentRunView,
  AgentTask,
  EndReason,
  Exhaustion,
  GuardTrip,
  ModelTurn,
} from '../../contract/agents.ts';
import { milliseconds } from '../../contract/units.ts';
import { type BudgetTree, createBudgetTree } from '../budget-tree/tree.ts';
import { type CancelSource, createCancel } from '../cancel.ts';
import { type Gateway, type GatewayPorts, type ToolAsk, createGateway, reasonOf } from '../gateway/gateway.ts';
import { READ_BLOB, readBlobTool } from '../gateway/read-blob.ts';
import { wordsOf } from '../gateway/refusal.ts';
import { type Tool, textOf, withRule } from '../gateway/tool.ts';
import { createGuards } from '../guards/guards.ts';
import { must } from '../must.ts';
import { delegateTool, readDelegation } from './delegate.ts';
import { MAY_BE_DONE, NOT_RUN, callsBefore, cutOff } from './interrupted.ts';
import type { TurnAnswer } from './model.ts';
import { closingPrompt, systemPrompt, unreadablePrompt } from './prompts.ts';
import type { AboutRun, AgentRunPorts, AgentState, RestartState, RunningAgents } from './run-ports.ts';
import { createRunRecord } from './run-record.ts';
import { settingsOf } from './run-settings.ts';

export type { AboutRun, AgentRunPorts, RestartState, RunChange, RunningAgents } from './run-ports.ts';
export { CALLS_KEPT_MAX } from './run-record.ts';
export { type RunSettings, settingsOf } from './run-settings.ts';

/** In place of a tool's name where there is none to be read. */
const UNREADABLE_CALL = 'a call that could not be read';
const TURN_TEXT_MAX = 4_000;
const SUMMARY_TEXT_MAX = 20_000;

export function startAgentRun(id: AgentRunId, task: AgentTask, ports: AgentRunPorts, about: AboutRun): RunningAgents {
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
  /** Started before the run was cut off: nobody is left who can end it. */
  const lostLeases = (restored?.view.leases ?? []).filter((lease) => lease.state !== 'released');
  const now = (): ReturnType<typeof milliseconds> => milliseconds(Math.max(0, Math.round(ports.nowMs())));
  const delegate = delegateTool(limits.depth);
  const tools = toolsOf(ports.tools, task, [READ_BLOB, delegate.spec.name]);
  const canDelegate = limits.depth > 0;
  const delegateName = canDelegate ? delegate.spec.name : null;
  const record = createRunRecord({ id, task, ports, about, tree, delegateName });
  const { agents } = record;

  const guards = createGuards(guardSettings, ports.sha256, restored?.guards);
  const gateway: Gateway = createGateway(
    {
      ...ports,
      tree,
      tools,
      guards,
      delegate: delegateName === null ? null : { name: delegateName, run: delegateTo },
      onCall: record.call,
      onTrip: record.trip,
      onLease: (lease) => ports.onChange({ kind: 'lease', lease }),
    },
    {
      outputTokensMax: limits.outputBytes === null ? 0 : ports.tokensOf('', limits.outputBytes),
      chargeResults: limits.tokensMean === 'context',
      cache: task.cacheFetches,
      callsByTool: callsBefore(record.callsByTool, record.calls.values()),
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
      turnsUncounted: 0,
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
        record.problem(answer.failed);
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
    record.trip(trip);
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

  async function turn(agent: AgentState, isClosing: boolean): Promise<TurnAnswer> {
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
    record.turn(shown);
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
    if (answer.promptTokens === null) agent.turnsUncounted += 1;
    const kept = keptTokens(answer, toolCalls);
    const charged = limits.tokensMean === 'context' ? kept : (answer.outputTokens ?? kept);
    if (charged > 0) tree.chargeAnyway(nodeId, { calls: 0, tokens: charged, nanoDollars: 0 });
    agent.contextTokens += kept;
    agent.contextSum += kept;
    record.turn({
      ...shown,
      callId: answer.callId,
      text: answer.text.slice(0, TURN_TEXT_MAX),
      toolCalls: toolCalls.length,
      endedMs: now(),
    });
    return { ...answer, toolCalls };
  }

  /** What of a reply is sent again: its text and calls, not its thinking. Estimated where the server did not count. */
  function keptTokens({ text, outputTokens, thinkingTokens = 0 }: TurnAnswer, toolCalls: readonly ToolAsk[]): number {
    if (outputTokens !== null) return Math.max(0, outputTokens - thinkingTokens);
    const texts = `${text}${toolCalls.map(({ name, argumentsText }) => `${name}${argumentsText}`).join('')}`;
    return texts === '' ? 0 : ports.tokensOf(texts, textOf(texts).bytes);
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
    for (const call of [...record.calls.values()]) {
      if (call.endedMs === null) record.call(cutOff(call, now()));
    }
    const asked = root.transcript.findLastIndex((entry) => entry.role === 'assistant');
    const last = root.transcript[asked];
    const answered = new Set(
      root.transcript.slice(asked + 1).flatMap((entry) => (entry.role === 'tool' ? [entry.toolCallId] : [])),
    );
    for (const ask of last?.role === 'assistant' ? last.toolCalls : []) {
      if (answered.has(ask.id)) continue;
      const outcome = record.calls.get(ask.id)?.outcome ?? 'not-run';
      const content = outcome === 'not-run' || outcome === 'refused' ? NOT_RUN : MAY_BE_DONE;
      root.transcript.push({ role: 'tool', content, toolCallId: ask.id, toolName: ask.name, ran: false });
    }
    ports.onChange({ kind: 'nodes' });
    const outcome = await rounds(root, null, root.modelTurns + 1);
    tree.close(rootId, outcome.reason, ports.nowMs());
    root.summary = outcome.text.slice(0, SUMMARY_TEXT_MAX);
    return outcome;
  }

  const view = (): AgentRunView => record.view([...lostLeases, ...gateway.leases()]);
  const rootCancel = createCancel();
  const done = (async (): Promise<AgentRunView> => {
    let state: AgentRun['state'];
    try {
      const outcome = await (restored === undefined ? runAgent(rootId, task.prompt, rootCancel) : goOn(restored));
      state = outcome.reason === 'cancelled' ? 'cancelled' : outcome.reason === 'model-failed' ? 'failed' : 'ended';
    } catch (error) {
      state = 'failed';
      record.problem(error instanceof Error ? error.message : String(error));
      tree.close(rootId, 'model-failed', ports.nowMs());
    }
    record.end({ state, openLeases: (await gateway.releaseLeases()) + lostLeases.length });
    ports.onChange({ kind: 'nodes' });
    return view();
  })();

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
      counted: { ...record.counted },
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
