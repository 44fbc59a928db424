/**
 * The budget tree: every agent lives on a budget that was carved out of its parent's. What is left over goes back once, when the
 * agent ends; nothing is ever granted from outside, so the total of a tree can never grow. Deterministic: times come in as
 * milliseconds of awake (monotonic) time since the start of the run.
 */
import type { Dimension, EndReason, Exhaustion, NodeLimits } from '../../contract/agents.ts';
import { must } from '../must.ts';

/** The three that are held before something starts and settled after it. */
export interface Amounts {
  readonly calls: number;
  readonly tokens: number;
  readonly nanoDollars: number;
}
type Sum = keyof Amounts;

export const NOTHING: Amounts = { calls: 0, tokens: 0, nanoDollars: 0 };

export interface TreeSettings {
  /** Calls a node keeps for itself whenever it carves, and how that is reckoned. */
  readonly keepCalls: number;
  readonly carveRule: 'keep' | 'left';
  /** Kept back in every node for its closing call: tokens and money, never calls. */
  readonly closing: Pick<Amounts, 'tokens' | 'nanoDollars'>;
  /** Carves in any minute, over the whole tree; null = no limit. */
  readonly spawnsPerMinute: number | null;
}

export type HoldId = number & { readonly id: 'hold' };
export type TreeResult<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly exhaustion: Exhaustion };

/** A node as it stands. used and held are its own; carved is what its children hold or have used up. */
export interface NodeState {
  readonly id: string;
  readonly parentId: string | null;
  readonly depth: number;
  readonly limits: NodeLimits;
  readonly used: Amounts;
  readonly held: Amounts;
  readonly carved: Amounts;
  /** All calls that were ever given to children; what came back from them is not given away again. */
  readonly carvedCallsEver: number;
  /** Charged above what was held: only what a tool or a model did beyond its declared worst case. */
  readonly overrun: Amounts;
  readonly descendants: number;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly reason: EndReason | null;
  readonly closingHeld: boolean;
  /** The part of `held` that is kept back for the closing call: nothing was done for it yet. */
  readonly closing: Amounts;
}

export interface TreeSnapshot {
  readonly nodes: readonly NodeState[];
  readonly spawnsMs: readonly number[];
  readonly wasRaised: boolean;
}

export interface BudgetTree {
  readonly rootId: string;
  node(id: string): NodeState;
  nodes(): NodeState[];
  /** What is left for the node's own use, without its closing reserve; null = no limit. */
  left(id: string): { readonly [Name in Sum]: number | null };
  /** All of it or none. */
  hold(id: string, amounts: Amounts, nowMs: number): TreeResult<HoldId>;
  /** Ends a hold with what it really took; more than was held is charged and counted as overrun. */
  settle(hold: HoldId, actual: Amounts): void;
  /** Hold and settle in one: for what is known to the token. */
  charge(id: string, amounts: Amounts, nowMs: number): TreeResult<null>;
  /** Charged whether or not it fits: it has happened already. */
  chargeAnyway(id: string, amounts: Amounts): void;
  /** A child on a part of its parent's budget. tokens and money left out = the root's share for these calls. */
  carve(
    parentId: string,
    ask: { readonly id: string; readonly calls: number; readonly tokens?: number; readonly nanoDollars?: number },
    nowMs: number,
  ): TreeResult<string>;
  /** A person gives the root more, once: the only way in which a tree's total grows. Answers whether it was the first time. */
  raiseRoot(dimension: Dimension, limit: number): boolean;
  /** Gives the closing reserve free, once, for the closing call. */
  openClosing(id: string): void;
  /** Ends a node and all below it; their holds are charged as held, what is left goes to the parent. Again does nothing. */
  close(id: string, reason: EndReason, nowMs: number): void;
  /** Milliseconds until this node or one above it is out of time; null = no limit. */
  timeLeftMs(id: string, nowMs: number): number | null;
  timeExhaustion(id: string, nowMs: number): Exhaustion | null;
  snapshot(): TreeSnapshot;
}

interface Node {
  readonly id: string;
  readonly parentId: string | null;
  readonly depth: number;
  limits: NodeLimits;
  used: Amounts;
  held: Amounts;
  carved: Amounts;
  carvedCallsEver: number;
  overrun: Amounts;
  descendants: number;
  readonly startedMs: number;
  endedMs: number | null;
  reason: EndReason | null;
  closing: Amounts;
}

const MINUTE_MS = 60_000;
const NODES_MAX = 10_000;
/** A child's part of what its parent has left, where no calls say how much work it is given. */
const UNCOUNTED_SHARE = 3;
const CHILD_CLOSING_SHARE = 20;

export function createBudgetTree(
  rootId: string,
  limits: NodeLimits,
  settings: TreeSettings,
  restored?: TreeSnapshot,
): BudgetTree {
  const nodes = new Map<string, Node>();
  const holds = new Map<HoldId, { readonly nodeId: string; readonly amounts: Amounts }>();
  let lastHold = 0;
  let spawnsMs: number[] = [...(restored?.spawnsMs ?? [])];
  let wasRaised = restored?.wasRaised ?? false;

  function add(id: string, parent: Node | null, own: NodeLimits, startedMs: number): Node {
    const node: Node = {
      id,
      parentId: parent?.id ?? null,
      depth: parent === null ? 0 : parent.depth + 1,
      limits: own,
      used: NOTHING,
      held: NOTHING,
      carved: NOTHING,
      carvedCallsEver: 0,
      overrun: NOTHING,
      descendants: 0,
      startedMs,
      endedMs: null,
      reason: null,
      closing: closingOf(id, own),
    };
    nodes.set(id, node);
    return node;
  }

  /** A child keeps back no more than its share: what is kept must not take the room of its first call. */
  function closingOf(id: string, own: NodeLimits): Amounts {
    const keep = (name: 'tokens' | 'nanoDollars'): number => {
      const most = own[name];
      const part = most === null ? Infinity : id === rootId ? most : Math.floor(most / CHILD_CLOSING_SHARE);
      return Math.min(settings.closing[name], part);
    };
    return { calls: 0, tokens: keep('tokens'), nanoDollars: keep('nanoDollars') };
  }

  const known = (id: string): Node => {
    const node = nodes.get(id);
    must(node !== undefined, `node ${id} is in the tree`);
    return node;
  };

  const limitOf = (node: Node, name: Sum): number | null => node.limits[name];

  function freeOf(node: Node, name: Sum): number | null {
    const most = limitOf(node, name);
    if (most === null) return null;
    return Math.max(0, most - node.used[name] - node.held[name] - node.carved[name] - node.closing[name]);
  }

  function exhausted(
    node: Node,
    dimension: Dimension,
    needed: number,
    evidence: string,
    bound: { readonly used: number; readonly limit: number } = { used: 0, limit: 0 },
  ): { ok: false; exhaustion: Exhaustion } {
    const sum: Sum | null =
      dimension === 'calls' || dimension === 'tokens' ? dimension : dimension === 'nano-dollars' ? 'nanoDollars' : null;
    return {
      ok: false,
      exhaustion: {
        nodeId: node.id,
        dimension,
        needed,
        used: sum === null ? bound.used : node.used[sum] + node.carved[sum],
        held: sum === null ? 0 : node.held[sum] + node.closing[sum],
        limit: sum === null ? bound.limit : (limitOf(node, sum) ?? 0),
        retryAfterSeconds: null,
        evidence,
      },
    };
  }

  function timeExhaustion(id: string, nowMs: number): Exhaustion | null {
    for (
      let node: Node | null = known(id);
      node !== null;
      node = node.parentId === null ? null : known(node.parentId)
    ) {
      const most = node.limits.wallClockMs;
      const used = nowMs - node.startedMs;
      if (most === null || used < most) continue;
      return {
        nodeId: node.id,
        dimension: 'wall-clock',
        needed: 0,
        used: Math.max(0, Math.round(used)),
        held: 0,
        limit: most,
        retryAfterSeconds: null,
        evidence: `${node.id} had ${most} ms`,
      };
    }
    return null;
  }

  function hold(id: string, amounts: Amounts, nowMs: number): TreeResult<HoldId> {
    const node = known(id);
    checkAmounts(amounts);
    must(node.endedMs === null, `node ${id} has not ended`);
    const outOfTime = timeExhaustion(id, nowMs);
    if (outOfTime !== null) return { ok: false, exhaustion: outOfTime };
    for (const [name, dimension] of SUMS) {
      const free = freeOf(node, name);
      if (free !== null && amounts[name] > free) {
        return exhausted(node, dimension, amounts[name], `${free} ${dimension} are left`);
      }
    }
    node.held = plus(node.held, amounts);
    lastHold += 1;
    holds.set(lastHold as HoldId, { nodeId: id, amounts });
    return { ok: true, value: lastHold as HoldId };
  }

  function settle(holdId: HoldId, actual: Amounts): void {
    const held = holds.get(holdId);
    must(held !== undefined, 'a hold is settled once');
    checkAmounts(actual);
    holds.delete(holdId);
    const node = known(held.nodeId);
    node.held = minus(node.held, held.amounts);
    use(node, actual);
  }

  /** Whatever goes beyond the limit is overrun, so that limit + overrun covers what was used at any time. */
  function use(node: Node, actual: Amounts): void {
    node.used = plus(node.used, actual);
    const over = (name: Sum): number => {
      const most = limitOf(node, name);
      return most === null
        ? 0
        : Math.max(0, node.used[name] + node.held[name] + node.carved[name] + node.closing[name] - most);
    };
    node.overrun = {
      calls: Math.max(node.overrun.calls, over('calls')),
      tokens: Math.max(node.overrun.tokens, over('tokens')),
      nanoDollars: Math.max(node.overrun.nanoDollars, over('nanoDollars')),
    };
  }

  function carve(
    parentId: string,
    ask: { readonly id: string; readonly calls: number; readonly tokens?: number; readonly nanoDollars?: number },
    nowMs: number,
  ): TreeResult<string> {
    const parent = known(parentId);
    const root = known(rootId);
    must(!nodes.has(ask.id), `node ${ask.id} is new`);
    must(parent.endedMs === null, `node ${parentId} has not ended`);
    const outOfTime = timeExhaustion(parentId, nowMs);
    if (outOfTime !== null) return { ok: false, exhaustion: outOfTime };
    if (parent.depth + 1 > root.limits.depth) {
      return exhausted(parent, 'depth', parent.depth + 1, `agents may be ${root.limits.depth} levels deep`, {
        used: parent.depth,
        limit: root.limits.depth,
      });
    }
    for (let node: Node | null = parent; node !== null; node = node.parentId === null ? null : known(node.parentId)) {
      const most = node.limits.descendants;
      if (most !== null && node.descendants >= most) {
        return exhausted(
          node,
          'descendants',
          1,
          `${node.descendants} of ${most} agents were started below ${node.id}`,
          {
            used: node.descendants,
            limit: most,
          },
        );
      }
    }
    if (nodes.size >= NODES_MAX) {
      return exhausted(root, 'descendants', 1, `a run may have ${NODES_MAX} agents`, {
        used: root.descendants,
        limit: NODES_MAX - 1,
      });
    }
    spawnsMs = spawnsMs.filter((atMs) => atMs > nowMs - MINUTE_MS);
    const oldest = spawnsMs[0];
    if (settings.spawnsPerMinute !== null && spawnsMs.length >= settings.spawnsPerMinute) {
      const waitMs = oldest === undefined ? MINUTE_MS : oldest + MINUTE_MS - nowMs;
      const refusal = exhausted(parent, 'descendants', 1, `${spawnsMs.length} agents were started in the last minute`, {
        used: spawnsMs.length,
        limit: settings.spawnsPerMinute,
      });
      return {
        ok: false,
        exhaustion: { ...refusal.exhaustion, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) },
      };
    }
    const calls = parent.limits.calls;
    const free = freeOf(parent, 'calls');
    if (calls !== null && free !== null) {
      const toCarve =
        settings.carveRule === 'left' ? free : Math.min(free, calls - settings.keepCalls - parent.carvedCallsEver);
      if (ask.calls > toCarve) return exhausted(parent, 'calls', ask.calls, 'nothing left to carve');
    }
    const tokens = ask.tokens ?? shareOf(parent, 'tokens', ask.calls);
    const nanoDollars = ask.nanoDollars ?? shareOf(parent, 'nanoDollars', ask.calls);
    const grant: Amounts = {
      calls: calls === null ? 0 : ask.calls,
      tokens: tokens ?? 0,
      nanoDollars: nanoDollars ?? 0,
    };
    checkAmounts(grant);
    for (const [name, dimension] of SUMS.slice(1)) {
      const left = freeOf(parent, name);
      if (left !== null && grant[name] > left)
        return exhausted(parent, dimension, grant[name], 'nothing left to carve');
    }
    parent.carved = plus(parent.carved, grant);
    parent.carvedCallsEver += grant.calls;
    spawnsMs.push(nowMs);
    for (let node: Node | null = parent; node !== null; node = node.parentId === null ? null : known(node.parentId)) {
      node.descendants += 1;
    }
    add(
      ask.id,
      parent,
      {
        ...parent.limits,
        calls: calls === null ? null : grant.calls,
        tokens: tokens === null ? null : grant.tokens,
        nanoDollars: nanoDollars === null ? null : grant.nanoDollars,
        wallClockMs: timeLeftMs(parentId, nowMs),
        descendants:
          parent.limits.descendants === null ? null : Math.max(0, parent.limits.descendants - parent.descendants),
      },
      nowMs,
    );
    return { ok: true, value: ask.id };
  }

  /** The part of the root's limit that goes with so many of its calls; where calls are not counted, a part of what is left. null = no limit. */
  function shareOf(parent: Node, name: 'tokens' | 'nanoDollars', calls: number): number | null {
    const free = freeOf(parent, name);
    if (free === null) return null;
    const root = known(rootId);
    const most = limitOf(root, name);
    if (most === null || root.limits.calls === null || root.limits.calls === 0)
      return Math.floor(free / UNCOUNTED_SHARE);
    return Number((BigInt(most) * BigInt(calls)) / BigInt(root.limits.calls));
  }

  function close(id: string, reason: EndReason, nowMs: number): void {
    const node = known(id);
    if (node.endedMs !== null) return;
    for (const child of nodes.values())
      if (child.parentId === id) close(child.id, reason === 'done' ? 'cancelled' : reason, nowMs);
    for (const [holdId, held] of [...holds]) if (held.nodeId === id) settle(holdId, held.amounts);
    node.closing = NOTHING;
    node.endedMs = nowMs;
    node.reason = reason;
    if (node.parentId === null) return;
    const parent = known(node.parentId);
    for (const [name] of SUMS) {
      const granted = limitOf(node, name);
      // Where the child had no limit its parent has none either: what it used is all that is told.
      const grantedToIt = granted ?? 0;
      const taken = node.used[name] + node.carved[name];
      parent.carved = { ...parent.carved, [name]: parent.carved[name] - grantedToIt + taken };
    }
    if (parent.endedMs === null) use(parent, NOTHING);
  }

  function timeLeftMs(id: string, nowMs: number): number | null {
    let least: number | null = null;
    for (
      let node: Node | null = known(id);
      node !== null;
      node = node.parentId === null ? null : known(node.parentId)
    ) {
      if (node.limits.wallClockMs === null) continue;
      const left = Math.max(0, Math.round(node.startedMs + node.limits.wallClockMs - nowMs));
      if (least === null || left < least) least = left;
    }
    return least;
  }

  const stateOf = ({ closing, ...node }: Node): NodeState => ({
    ...node,
    closing,
    held: plus(node.held, closing),
    closingHeld: closing.tokens + closing.nanoDollars > 0,
  });

  if (restored === undefined) add(rootId, null, limits, 0);
  else restore(restored);

  /** After a crash: what was held for work may have been done, so it is charged. What was kept back for the closing call was not. */
  function restore(snapshot: TreeSnapshot): void {
    for (const { closingHeld: _closingHeld, closing, ...state } of snapshot.nodes) {
      nodes.set(state.id, { ...state, used: plus(state.used, minus(state.held, closing)), held: NOTHING, closing });
    }
    must(nodes.has(rootId), 'a restored tree has its root');
  }

  return {
    rootId,
    node: (id) => stateOf(known(id)),
    nodes: () => [...nodes.values()].map(stateOf),
    left: (id) => {
      const node = known(id);
      return { calls: freeOf(node, 'calls'), tokens: freeOf(node, 'tokens'), nanoDollars: freeOf(node, 'nanoDollars') };
    },
    hold,
    settle,
    charge(id, amounts, nowMs) {
      const held = hold(id, amounts, nowMs);
      if (!held.ok) return held;
      settle(held.value, amounts);
      return { ok: true, value: null };
    },
    chargeAnyway: (id, amounts) => {
      checkAmounts(amounts);
      use(known(id), amounts);
    },
    carve,
    raiseRoot(dimension, limit) {
      const name = LIMITS[dimension];
      const root = known(rootId);
      if (wasRaised || name === undefined || root.limits[name] === null || root.limits[name] >= limit) return false;
      wasRaised = true;
      root.limits = { ...root.limits, [name]: limit };
      return true;
    },
    openClosing: (id) => {
      known(id).closing = NOTHING;
    },
    close,
    timeLeftMs,
    timeExhaustion,
    snapshot: () => ({ nodes: [...nodes.values()].map(stateOf), spawnsMs: [...spawnsMs], wasRaised }),
  };
}

const SUMS: readonly (readonly [Sum, Dimension])[] = [
  ['calls', 'calls'],
  ['tokens', 'tokens'],
  ['nanoDollars', 'nano-dollars'],
];

/** What a person can give more of. */
const LIMITS: Partial<Record<Dimension, 'calls' | 'tokens' | 'nanoDollars' | 'wallClockMs'>> = {
  calls: 'calls',
  tokens: 'tokens',
  'nano-dollars': 'nanoDollars',
  'wall-clock': 'wallClockMs',
};

const plus = (a: Amounts, b: Amounts): Amounts => ({
  calls: a.calls + b.calls,
  tokens: a.tokens + b.tokens,
  nanoDollars: a.nanoDollars + b.nanoDollars,
});
const minus = (a: Amounts, b: Amounts): Amounts => ({
  calls: a.calls - b.calls,
  tokens: a.tokens - b.tokens,
  nanoDollars: a.nanoDollars - b.nanoDollars,
});

function checkAmounts(amounts: Amounts): void {
  for (const [name] of SUMS) {
    const amount = amounts[name];
    must(Number.isSafeInteger(amount) && amount >= 0 && !Object.is(amount, -0), `${name} is a whole amount: ${amount}`);
  }
}
