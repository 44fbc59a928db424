/**
 * The loop guards of one run. Each looks at one thing: the same state again, the same call again, a cycle, nothing new, arguments
 * that are broken again and again. Counting is per agent, so that one agent's habit is not another's fault; the state of all of
 * them can be stored and taken up again.
 */
import type { GuardName, GuardSettings, GuardTrip } from '../../contract/agents.ts';
import { must } from '../must.ts';
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
}
interface NodeSnapshot {
  readonly states: readonly (readonly [string, readonly string[]])[];
  readonly calls: readonly (readonly [string, readonly string[]])[];
  readonly trail: readonly string[];
  readonly trips: readonly (readonly [string, number])[];
  readonly blocked: readonly string[];
  readonly broken: readonly (readonly [string, number])[];
  readonly noProgress: number;
  readonly seen: readonly string[];
}

interface NodeState {
  /** State hash -> ids of the calls that had it. */
  readonly states: Map<string, string[]>;
  /** Call fingerprint -> ids of the calls that ran. */
  readonly calls: Map<string, string[]>;
  /** The last states, for cycles. */
  trail: { readonly hash: string; readonly id: string; readonly fingerprint: string }[];
  /** `guard tool` -> how often it fired. */
  readonly trips: Map<string, number>;
  /** Fingerprints that are not run again. */
  readonly blocked: Set<string>;
  readonly broken: Map<string, number>;
  noProgress: number;
  readonly seen: Set<string>;
}

const IDS_KEPT_MAX = 100;
const HASHES_MAX = 20_000;

export function createGuards(settings: GuardSettings, sha256: Sha256, restored?: GuardsSnapshot): Guards {
  const nodes = new Map<string, NodeState>((restored?.nodes ?? []).map(([id, state]) => [id, restoredNode(state)]));
  const treeSeen = new Set<string>(
    settings.noProgress?.scope === 'tree' ? [...nodes.values()].flatMap((one) => [...one.seen]) : [],
  );

  const stateOf = (nodeId: string): NodeState => {
    const known = nodes.get(nodeId);
    if (known !== undefined) return known;
    const fresh: NodeState = {
      states: new Map(),
      calls: new Map(),
      trail: [],
      trips: new Map(),
      blocked: new Set(),
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
    const ran = node.calls.get(fingerprint) ?? [];
    const count = ran.length + 1;
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
      calls: ran.slice(-IDS_KEPT_MAX),
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
      const stage = stageOf(node, 'cycle', call.tool);
      if (stage !== 'warn') for (const { fingerprint } of tail.slice(0, period)) node.blocked.add(fingerprint);
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

  function sameState(node: NodeState, call: GuardedCall, hash: string, fingerprint: string): Trip | null {
    if (settings.stateHash === null) return null;
    const { maxRepeats } = settings.stateHash;
    const calls = node.states.get(hash) ?? [];
    const isOver = calls.length > maxRepeats;
    if (!isOver && (calls.length !== maxRepeats || maxRepeats === 0 || settings.ladder !== 'warn-block-stop'))
      return null;
    const stage = !isOver ? 'warn' : settings.ladder === 'block' ? 'block' : 'stop';
    if (stage === 'block') node.blocked.add(fingerprint);
    return {
      nodeId: call.nodeId,
      guard: 'state-hash',
      stage,
      tool: call.tool,
      count: calls.length,
      limit: maxRepeats,
      hash,
      calls: calls.slice(-IDS_KEPT_MAX),
      text: `loop: ${call.tool} with these arguments gave this result ${calls.length} times`,
    };
  }

  return {
    before(call) {
      const node = stateOf(call.nodeId);
      const fingerprint = callFingerprint(call, ignoredOf(call.tool), sha256);
      if (isExempt(call.tool)) return { fingerprint, trip: null };
      if (node.blocked.has(fingerprint)) {
        const guard = 'cycle';
        const stage = stageOf(node, guard, call.tool);
        return {
          fingerprint,
          trip: {
            nodeId: call.nodeId,
            guard,
            stage: stage === 'warn' ? 'block' : stage,
            tool: call.tool,
            count: (node.calls.get(fingerprint)?.length ?? 0) + 1,
            limit: settings.cycles?.repeats ?? 0,
            hash: fingerprint,
            calls: (node.calls.get(fingerprint) ?? []).slice(-IDS_KEPT_MAX),
            text: `loop: ${call.tool} with these arguments belongs to a loop that was stopped`,
          },
        };
      }
      const trip = identical(node, call, fingerprint);
      if (trip === null) remember(node.calls, fingerprint, call.id);
      return { fingerprint, trip };
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
      node.trail = [...node.trail, { hash, id: call.id, fingerprint }].slice(-Math.max(1, longest));
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
    snapshot: () => ({ nodes: [...nodes].map(([id, node]) => [id, snapshotOf(node)]) }),
  };
}

function remember(map: Map<string, string[]>, hash: string, id: string): void {
  const ids = map.get(hash);
  if (ids !== undefined) {
    ids.push(id);
    return;
  }
  must(map.size < HASHES_MAX, 'a run ends before its guards forget');
  map.set(hash, [id]);
}

function snapshotOf(node: NodeState): NodeSnapshot {
  return {
    states: [...node.states],
    calls: [...node.calls],
    trail: node.trail.map(({ hash, id, fingerprint }) => `${hash} ${fingerprint} ${id}`),
    trips: [...node.trips],
    blocked: [...node.blocked],
    broken: [...node.broken],
    noProgress: node.noProgress,
    seen: [...node.seen],
  };
}

function restoredNode(state: NodeSnapshot): NodeState {
  return {
    states: new Map(state.states.map(([hash, ids]) => [hash, [...ids]])),
    calls: new Map(state.calls.map(([hash, ids]) => [hash, [...ids]])),
    trail: state.trail.map((line) => {
      const [hash = '', fingerprint = '', id = ''] = line.split(' ');
      return { hash, fingerprint, id };
    }),
    trips: new Map(state.trips),
    blocked: new Set(state.blocked),
    broken: new Map(state.broken),
    noProgress: state.noProgress,
    seen: new Set(state.seen),
  };
}
