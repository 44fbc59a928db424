/** A run as it is listed after the console ended under it: over, and charged with all that was under way. */
import type { AgentNode, AgentRunView, GatewayCall } from '../../contract/agents.ts';
import { milliseconds } from '../../contract/units.ts';
import { type NodeState, createBudgetTree } from '../budget-tree/tree.ts';
import type { RestartState } from './run-ports.ts';

/** restart null = it was too large to be kept: then whatever is held counts as used. */
export function interruptedView(view: AgentRunView, restart: Pick<RestartState, 'tree'> | null): AgentRunView {
  const nowMs = view.run.nowMs;
  const root = restart?.tree.nodes.find(({ parentId }) => parentId === null);
  const charged = new Map<string, NodeState>();
  if (restart !== null && root !== undefined) {
    const closing = { tokens: 0, nanoDollars: 0 };
    const settings = { keepCalls: 0, carveRule: 'keep', closing, spawnsPerMinute: null } as const;
    const tree = createBudgetTree(root.id, root.limits, settings, restart.tree);
    tree.close(root.id, 'interrupted', nowMs);
    for (const node of tree.nodes()) charged.set(node.id, node);
  }
  const before = new Map(restart?.tree.nodes.map((node) => [node.id, node]));
  return {
    ...view,
    run: { ...view.run, state: 'interrupted', reason: 'interrupted' },
    nodes: view.nodes.map((node) => ended(node, before.get(node.id), charged.get(node.id), nowMs)),
    calls: view.calls.map((call) => (call.endedMs === null ? cutOff(call, nowMs) : call)),
    turns: view.turns.map((turn) => (turn.endedMs === null ? { ...turn, endedMs: milliseconds(nowMs) } : turn)),
  };
}

/** What waited for a person was never made; what ran may have been, so it does not say that it was not. */
export function cutOff(call: GatewayCall, nowMs: number): GatewayCall {
  const wasMade = call.outcome !== 'waiting-approval';
  return {
    ...call,
    outcome: wasMade ? 'failed' : 'not-run',
    code: 'cancelled',
    resultHead: wasMade ? MAY_BE_DONE : NOT_RUN,
    endedMs: milliseconds(nowMs),
  };
}

/** By tool, what counts against its limit when a run goes on: calls that have ended, and those that may have been made. */
export function callsBefore(
  ended: ReadonlyMap<string, number>,
  calls: Iterable<GatewayCall>,
): (readonly [string, number])[] {
  const counts = new Map(ended);
  for (const { tool, outcome } of calls) if (outcome === 'running') counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return [...counts];
}

/** What a model is told of a call that had no result when the console ended; its own words for one that may have had an effect. */
export const NOT_RUN = 'not run: the console ended while this was under way';
export const MAY_BE_DONE = 'no result: the console ended while this was under way; it may have been done';

function ended(node: AgentNode, before: NodeState | undefined, after: NodeState | undefined, nowMs: number): AgentNode {
  if (node.state === 'ended') return node;
  const calls = after?.used.calls ?? node.used.calls + node.held.calls;
  const nanoDollars = after?.used.nanoDollars ?? node.used.nanoDollars + node.held.nanoDollars;
  const tokens =
    after === undefined || before === undefined ? node.held.tokens : after.used.tokens - before.used.tokens;
  const isBilled = node.limits.tokensMean === 'billed';
  return {
    ...node,
    state: 'ended',
    reason: 'interrupted',
    endedMs: milliseconds(nowMs),
    used: {
      calls,
      nanoDollars,
      contextTokens: node.used.contextTokens + (isBilled ? 0 : tokens),
      billedTokens: node.used.billedTokens + (isBilled ? tokens : 0),
    },
    held: { calls: 0, tokens: 0, nanoDollars: 0 },
    carved: after?.carved ?? node.carved,
  };
}
