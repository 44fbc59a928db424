/**
 * The loop guards of one run. Each looks at one thing: the same state again, the same call again, a cycle, nothing new, arguments
 * that are broken again and again. Counting is per agent, so that one agent's habit is not another's fault; the state of all of
 * them can be stored and taken up again.
 */
import type { GuardName, GuardSettings, GuardTrip } from '../../contract/agents.ts';
import type { Json } from './canonical.ts';
import { type Sha256, callFingerprint, stateHash } from './fingerprint.ts';
import { addShingles } from './shingles.ts';

export interface GuardedCall {
  readonly id: string;
  readonly nodeId: string;
  readonly tool: string;
  readonly args: Json;
  /** The tool waits for something: higher limit for equal calls, no demand for new text. */
  readonly polls: boolean;
}

export type Trip = Omit<GuardTrip, 'atMs'>;

export interface StepText {
  readonly nodeId: string;
  /** What the step brought into the context, as it was shown; refusals are no text. */
  readonly texts: readonly { readonly tool: string; readonly text: string; readonly polls: boolean }[];
  readonly subAgentReturned: boolean;
}

export interface Guards {
  /** Before a call runs. A trip of the stage `warn` lets it run. */
  before(call: GuardedCall): { readonly fingerprint: string; readonly trip: Trip | null };
  /** It was let through here and then did not run after all: it does not count as a call. */
  notRun(call: GuardedCall): void;
  /** After it ran: its state counts now. */
  after(call: GuardedCall, result: string): { readonly stateHash: string; readonly trip: Trip | null };
  /** Arguments that could not be read, or did not fit the schema. */
  broken(call: Omit<GuardedCall, 'args'>): Trip | null;
  /** newShingles null = nobody counts them. */
  stepEnded(step: StepText): {
    readonly newShingles: number | null;
    readonly noProgress: number;
    readonly trip: Trip | null;
  };
  snapshot(): GuardsSnapshot;
}

export interface GuardsSnapshot {
  readonly nodes: readonly (readonly [nodeId: string, state: NodeSnapshot])[];
  /** Phrases that any agent saw, where they count for the tree as a whole. */
  readonly treeSeen: readonly string[];
}
interface NodeSnapshot {
  readonly states: readonly (readonly [string, number, readonly string[]])[];
  readonly calls: readonly (readonly [string, number, readonly string[]])[];
  readonly trail: readonly TrailState[];
  readonly trips: readonly (readonly [string, number])[];
  readonly blocked: readonly (readonly [string, GuardName])[];
  readonly broken: readonly (readonly [string, number])[];
  readonly noProgress: number;
  readonly seen: readonly string[];
}

/** How often, and the last calls that it was. */
interface Seen {
  count: number;
  readonly ids: string[];
}

interface TrailState {
  readonly hash: string;
  readonly id: string;
  readonly fingerprint: string;
  readonly polls: boolean;
}

interface NodeState {
  /** By state hash. */
  readonly states: Map<string, Seen>;
  /** By call fingerprint: calls that ran. */
  readonly calls: Map<string, Seen>;
  /** The last states, for cycles. */
  trail: readonly TrailState[];
  /** `guard tool` -> how often it fired. */
  readonly trips: Map<string, number>;
  /** Fingerprints that are not run again, and the guard that said so. */
  readonly blocked: Map<string, GuardName>;
  readonly broken: Map<string, number>;
  noProgress: number;
  readonly seen: Set<string>;
}

const IDS_KEPT_MAX = 100;
/** The ones that were quiet longest are forgotten first: a loop is never among them. */
const HASHES_MAX = 20_000;

export function createGuards(settings: GuardSettings, sha256: Sha256, restored?: GuardsSnapshot): Guards {
  const nodes = new Map<string, NodeState>((restored?.nodes ?? []).map(([id, state]) => [id, restoredNode(state)]));
  const treeSeen = new Set<string>(restored?.treeSeen ?? []);

  const stateOf = (nodeId: string): NodeState => {
    const known = nodes.get(nodeId);
    if (known !== undefined) return known;
    const fresh: NodeState = {
      states: new Map(),
      calls: new Map(),
      trail: [],
      trips: new Map(),
      blocked: new Map(),
      broken: new Map(),
      noProgress: 0,
      seen: new Set(),
    };
    nodes.set(nodeId, fresh);
    return fresh;
  };
  const isExempt = (tool: string): boolean => settings.exempt.includes(tool);
  const ignoredOf = (tool: string): readonly string[] =>
    Object.hasOwn(settings.ignoredFields, tool) ? (settings.ignoredFields[tool] ?? []) : [];

  /** The rung of the ladder: it rises with every time this guard fires for this tool. */
  function stageOf(node: NodeState, guard: GuardName, tool: string): GuardTrip['stage'] {
    const key = `${guard} ${tool}`;
    const before = node.trips.get(key) ?? 0;
    node.trips.set(key, before + 1);
    if (settings.ladder === 'stop') return 'stop';
    if (settings.ladder === 'block') return 'block';
    const rungs =
      settings.ladder === 'block-stop' ? (['block', 'stop'] as const) : (['warn', 'block', 'stop'] as const);
    return rungs[Math.min(before, rungs.length - 1)] ?? 'stop';
  }

  function identical(node: NodeState, call: GuardedCall, fingerprint: string): Trip | null {
    if (settings.identicalCalls === null) return null;
    const limit = call.polls ? settings.identicalCalls.pollingLimit : settings.identicalCalls.limit;
    const ran = node.calls.get(fingerprint) ?? NEVER;
    const count = ran.count + 1;
    if (count <= limit) return null;
    // The call over the limit never runs, so its ladder begins at the second rung.
    const stage = stageOf(node, 'identical-calls', call.tool);
    return {
      nodeId: call.nodeId,
      guard: 'identical-calls',
      stage: stage === 'warn' ? 'block' : stage,
      tool: call.tool,
      count,
      limit,
      hash: fingerprint,
      calls: [...ran.ids],
      text: `loop: ${call.tool} called ${count} times with identical arguments`,
    };
  }

  function cycleOf(node: NodeState, call: GuardedCall): Trip | null {
    if (settings.cycles === null) return null;
    const { periodMax, repeats } = settings.cycles;
    for (let period = 1; period <= periodMax; period += 1) {
      const length = period * repeats;
      const tail = node.trail.slice(-length);
      if (
        tail.length < length ||
        !tail.every((one, index) => index < period || one.hash === tail[index - period]?.hash)
      )
        continue;
      // A round that asks whether something has changed is no loop while it has not.
      if (tail.some(({ polls }) => polls)) return null;
      const stage = stageOf(node, 'cycle', call.tool);
      if (stage !== 'warn') for (const { fingerprint } of tail.slice(0, period)) node.blocked.set(fingerprint, 'cycle');
      // What was told once is not told again for every state that continues it.
      node.trail = [];
      return {
        nodeId: call.nodeId,
        guard: 'cycle',
        stage,
        tool: call.tool,
        count: repeats,
        limit: repeats,
        hash: tail[0]?.hash ?? null,
        calls: tail.map(({ id }) => id).slice(-IDS_KEPT_MAX),
        text: `loop: the same ${period === 1 ? 'call with the same result' : `${period} calls with the same results`} came ${repeats} times in a row`,
      };
    }
    return null;
  }

  /** A tool that waits may find the same for as long as it may ask at all. */
  const pollingRepeats = (maxRepeats: number): number =>
    settings.identicalCalls === null ? Infinity : Math.max(maxRepeats, settings.identicalCalls.pollingLimit);

  function sameState(node: NodeState, call: GuardedCall, hash: string, fingerprint: string): Trip | null {
    if (settings.stateHash === null) return null;
    const maxRepeats = call.polls ? pollingRepeats(settings.stateHash.maxRepeats) : settings.stateHash.maxRepeats;
    const { count, ids } = node.states.get(hash) ?? NEVER;
    const isOver = count > maxRepeats;
    if (!isOver && (count !== maxRepeats || maxRepeats === 0 || settings.ladder !== 'warn-block-stop')) return null;
    const stage = !isOver ? 'warn' : settings.ladder === 'block' ? 'block' : 'stop';
    if (stage === 'block') node.blocked.set(fingerprint, 'state-hash');
    return {
      nodeId: call.nodeId,
      guard: 'state-hash',
      stage,
      tool: call.tool,
      count,
      limit: maxRepeats,
      hash,
      calls: [...ids],
      text: `loop: ${call.tool} with these arguments gave this result ${count} times`,
    };
  }

  return {
    before(call) {
      const node = stateOf(call.nodeId);
      const fingerprint = callFingerprint(call, ignoredOf(call.tool), sha256);
      if (isExempt(call.tool)) return { fingerprint, trip: null };
      const guard = node.blocked.get(fingerprint);
      if (guard !== undefined) {
        const stage = stageOf(node, guard, call.tool);
        const ran = node.calls.get(fingerprint) ?? NEVER;
        return {
          fingerprint,
          trip: {
            nodeId: call.nodeId,
            guard,
            stage: stage === 'warn' ? 'block' : stage,
            tool: call.tool,
            count: ran.count + 1,
            limit: (guard === 'cycle' ? settings.cycles?.repeats : settings.stateHash?.maxRepeats) ?? 0,
            hash: fingerprint,
            calls: [...ran.ids],
            text: `loop: ${call.tool} with these arguments belongs to a loop that was stopped`,
          },
        };
      }
      const trip = identical(node, call, fingerprint);
      if (trip === null) remember(node.calls, fingerprint, call.id);
      return { fingerprint, trip };
    },
    notRun(call) {
      if (isExempt(call.tool)) return;
      const seen = stateOf(call.nodeId).calls.get(callFingerprint(call, ignoredOf(call.tool), sha256));
      const at = seen?.ids.lastIndexOf(call.id) ?? -1;
      if (seen === undefined || at < 0) return;
      seen.ids.splice(at, 1);
      seen.count -= 1;
    },
    after(call, result) {
      const node = stateOf(call.nodeId);
      node.broken.delete(call.tool);
      const ignored = ignoredOf(call.tool);
      const hash = stateHash(call, result, ignored, sha256);
      if (isExempt(call.tool)) return { stateHash: hash, trip: null };
      const fingerprint = callFingerprint(call, ignored, sha256);
      remember(node.states, hash, call.id);
      const longest = settings.cycles === null ? 0 : settings.cycles.periodMax * settings.cycles.repeats;
      node.trail = [...node.trail, { hash, id: call.id, fingerprint, polls: call.polls }].slice(-Math.max(1, longest));
      return { stateHash: hash, trip: sameState(node, call, hash, fingerprint) ?? cycleOf(node, call) };
    },
    broken(call) {
      const node = stateOf(call.nodeId);
      const count = (node.broken.get(call.tool) ?? 0) + 1;
      node.broken.set(call.tool, count);
      if (settings.brokenArguments === null || isExempt(call.tool) || count < settings.brokenArguments.limit)
        return null;
      return {
        nodeId: call.nodeId,
        guard: 'broken-arguments',
        stage: stageOf(node, 'broken-arguments', call.tool),
        tool: call.tool,
        count,
        limit: settings.brokenArguments.limit,
        hash: null,
        calls: [call.id],
        text: `${call.tool} was called ${count} times in a row with arguments that do not fit`,
      };
    },
    stepEnded({ nodeId, texts, subAgentReturned }) {
      const node = stateOf(nodeId);
      const { noProgress } = settings;
      if (noProgress === null) return { newShingles: null, noProgress: 0, trip: null };
      const seen = noProgress.scope === 'tree' ? treeSeen : node.seen;
      const sums = { fresh: 0, all: 0 };
      for (const { tool, text, polls } of texts) {
        if (polls || isExempt(tool)) continue;
        const added = addShingles(seen, text);
        sums.fresh += added.fresh;
        sums.all += added.all;
      }
      const waits = texts.length > 0 && texts.every(({ tool, polls }) => polls || isExempt(tool));
      if (waits) return { newShingles: sums.fresh, noProgress: node.noProgress, trip: null };
      const share = noProgress.sharePercentMin;
      const isNew =
        sums.fresh >= noProgress.shinglesMin ||
        (share !== null && sums.fresh > 0 && sums.fresh * 100 >= sums.all * share);
      node.noProgress = isNew || subAgentReturned ? 0 : node.noProgress + 1;
      if (node.noProgress === 0) return { newShingles: sums.fresh, noProgress: 0, trip: null };
      const isOver = node.noProgress >= noProgress.steps;
      const warns = settings.ladder === 'warn-block-stop' && node.noProgress === noProgress.steps - 1;
      if (!isOver && !warns) return { newShingles: sums.fresh, noProgress: node.noProgress, trip: null };
      const trip: Trip = {
        nodeId,
        guard: 'no-progress',
        stage: isOver ? 'stop' : 'warn',
        tool: null,
        count: node.noProgress,
        limit: noProgress.steps,
        hash: null,
        calls: [],
        text: `${node.noProgress} steps in a row brought no new text; the last brought ${sums.fresh} new phrases of ${sums.all}`,
      };
      return { newShingles: sums.fresh, noProgress: node.noProgress, trip };
    },
    snapshot: () => ({ nodes: [...nodes].map(([id, node]) => [id, snapshotOf(node)]), treeSeen: [...treeSeen] }),
  };
}

const NEVER: Seen = { count: 0, ids: [] };

function remember(map: Map<string, Seen>, hash: string, id: string): void {
  const seen = map.get(hash) ?? { count: 0, ids: [] };
  seen.count += 1;
  seen.ids.push(id);
  if (seen.ids.length > IDS_KEPT_MAX) seen.ids.shift();
  // The last one heard of stands last.
  map.delete(hash);
  map.set(hash, seen);
  const oldest = map.keys().next().value;
  if (map.size > HASHES_MAX && oldest !== undefined) map.delete(oldest);
}

function snapshotOf(node: NodeState): NodeSnapshot {
  const seenOf = (map: Map<string, Seen>): (readonly [string, number, readonly string[]])[] =>
    [...map].map(([hash, { count, ids }]) => [hash, count, [...ids]]);
  return {
    states: seenOf(node.states),
    calls: seenOf(node.calls),
    trail: [...node.trail],
    trips: [...node.trips],
    blocked: [...node.blocked],
    broken: [...node.broken],
    noProgress: node.noProgress,
    seen: [...node.seen],
  };
}

function restoredNode(state: NodeSnapshot): NodeState {
  const seenOf = (entries: NodeSnapshot['calls']): Map<string, Seen> =>
    new Map(entries.map(([hash, count, ids]) => [hash, { count, ids: [...ids] }]));
  return {
    states: seenOf(state.states),
    calls: seenOf(state.calls),
    trail: [...state.trail],
    trips: new Map(state.trips),
    blocked: new Map(state.blocked),
    broken: new Map(state.broken),
    noProgress: state.noProgress,
    seen: new Set(state.seen),
  };
}
