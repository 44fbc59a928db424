/** A run as it is listed after the console ended under it: over, and charged with all that was under way. */
import type { AgentNode, AgentRunView, GatewayCall } from '../../contract/agents.ts';
import { milliseconds } from '../../contract/units.ts';
import { type NodeState, createBudgetTree } from '../budget-tree/tree.ts';
import type { RestartState } from './run.ts';

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
function cutOff(call: GatewayCall, nowMs: number): GatewayCall {
  const outcome = call.outcome === 'waiting-approval' ? 'not-run' : 'failed';
  return { ...call, outcome, code: 'cancelled', resultHead: CUT_OFF, endedMs: milliseconds(nowMs) };
}

const CUT_OFF = 'the console ended while this was under way';

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
