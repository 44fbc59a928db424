/**
 * What a screen knows of agent runs: all of them in short, and whole those that it watches. A view that was asked for is laid
 * under what events have told since. Pure; every list has a bound, and the least recent goes first.
 */
import type {
  AgentNode,
  AgentRun,
  AgentRunId,
  AgentRunView,
  Approval,
  Bomb,
  Breaker,
  GatewayCall,
  GuardTrip,
  Lease,
  ModelTurn,
} from '../../shared/contract/agents.ts';
import type { Denial } from '../../shared/contract/denials.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';

/** A run that is watched, as it stands. Maps keep the order in which things began. */
export interface AgentDetail {
  readonly nodes: ReadonlyMap<string, AgentNode>;
  readonly calls: ReadonlyMap<string, GatewayCall>;
  /** By `turnKey`. */
  readonly turns: ReadonlyMap<string, ModelTurn>;
  readonly trips: readonly GuardTrip[];
  readonly breakers: readonly Breaker[];
  readonly leases: ReadonlyMap<string, Lease>;
  readonly callsDropped: number;
  /** The view has arrived; before, only what events told is here. */
  readonly loaded: boolean;
  /** Why it was refused; null when it was not. */
  readonly denial: Denial | null;
}

export interface AgentsSlice {
  /** The list has arrived once. */
  readonly loaded: boolean;
  readonly runs: ReadonlyMap<AgentRunId, AgentRun>;
  /** Most recently asked for last. */
  readonly details: ReadonlyMap<AgentRunId, AgentDetail>;
  /** By id, the oldest first. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Bombs this screen was told of, by id. */
  readonly bombs: ReadonlyMap<string, Bomb>;
  /** Rises when what is here may be old: the list and the views are to be asked for again. */
  readonly wanted: number;
  /** For the dot in the rail: guard trips that stopped something, and runs that ended. */
  readonly newsCount: number;
}

export const AGENT_RUNS_MAX = 300;
export const AGENT_DETAILS_MAX = 4;
export const AGENT_CALLS_MAX = 5_000;
export const AGENT_TURNS_MAX = 5_000;
export const AGENT_TRIPS_MAX = 1_000;
export const AGENT_LEASES_MAX = 1_000;
export const APPROVALS_MAX = 100;
export const BOMBS_MAX = 50;

export const emptyAgents: AgentsSlice = {
  loaded: false,
  runs: new Map(),
  details: new Map(),
  approvals: new Map(),
  bombs: new Map(),
  wanted: 1,
  newsCount: 0,
};

export const emptyDetail: AgentDetail = {
  nodes: new Map(),
  calls: new Map(),
  turns: new Map(),
  trips: [],
  breakers: [],
  leases: new Map(),
  callsDropped: 0,
  loaded: false,
  denial: null,
};

export const turnKey = ({ nodeId, turn }: Pick<ModelTurn, 'nodeId' | 'turn'>): string => `${turn} ${nodeId}`;

/** All events of a frame at once, so that maps are copied once. Others than those of agents leave it as it is. */
export function applyAgentEvents(agents: AgentsSlice, events: readonly EngineEvent[]): AgentsSlice {
  if (!events.some(({ type }) => agentEvents.has(type))) return agents;
  const drafts = new Map<AgentRunId, DetailDraft>();
  const detail = (id: AgentRunId): DetailDraft | null => {
    const known = drafts.get(id);
    if (known !== undefined) return known;
    const before = agents.details.get(id);
    if (before === undefined) return null;
    const draft = detailDraft(before);
    drafts.set(id, draft);
    return draft;
  };
  let slice = agents;
  for (const event of events) slice = applyOne(slice, event, detail);
  if (drafts.size === 0) return slice;
  const details = new Map(slice.details);
  for (const [id, draft] of drafts) details.set(id, draft.done());
  return { ...slice, details };
}

/** From now on events of this run are kept. The one that was watched longest ago goes. */
export function watchRun(agents: AgentsSlice, id: AgentRunId): AgentsSlice {
  const details = new Map(agents.details);
  const before = details.get(id) ?? emptyDetail;
  details.delete(id);
  details.set(id, before);
  return { ...agents, details: bounded(details, AGENT_DETAILS_MAX) };
}

/** `before`: the slice as it stood when the view was asked for. What events changed meanwhile is younger and stays. */
export function applyAgentView(agents: AgentsSlice, view: AgentRunView, before: AgentsSlice): AgentsSlice {
  const here = agents.details.get(view.run.id);
  if (here === undefined) return agents;
  const runs = new Map(agents.runs);
  const asked = before.details.get(view.run.id) ?? emptyDetail;
  // What an event told of the run meanwhile is younger: one that has ended does not run again.
  if (agents.runs.get(view.run.id) === before.runs.get(view.run.id)) {
    if (runs.has(view.run.id)) runs.set(view.run.id, view.run);
    else moveLast(runs, view.run.id, view.run, AGENT_RUNS_MAX);
  }
  const laid = <Value>(values: readonly (readonly [string, Value])[], now: Values<Value>, old: Values<Value>) => {
    const map = new Map(values);
    for (const [key, value] of now) if (old.get(key) !== value) map.set(key, value);
    return map;
  };
  const trips = [...view.trips, ...here.trips.slice(asked.trips.length).filter((trip) => !hasTrip(view.trips, trip))];
  const details = new Map(agents.details);
  details.set(view.run.id, {
    nodes: laid(
      view.nodes.map((node) => [node.id, node]),
      here.nodes,
      asked.nodes,
    ),
    calls: bounded(
      laid(
        view.calls.map((call) => [call.id, call]),
        here.calls,
        asked.calls,
      ),
      AGENT_CALLS_MAX,
    ),
    turns: bounded(
      laid(
        view.turns.map((turn) => [turnKey(turn), turn]),
        here.turns,
        asked.turns,
      ),
      AGENT_TURNS_MAX,
    ),
    trips: trips.slice(-AGENT_TRIPS_MAX),
    breakers: here.breakers === asked.breakers ? view.breakers : here.breakers,
    leases: bounded(
      laid(
        view.leases.map((lease) => [lease.id, lease]),
        here.leases,
        asked.leases,
      ),
      AGENT_LEASES_MAX,
    ),
    callsDropped: view.callsDropped,
    loaded: true,
    denial: null,
  });
  return { ...agents, runs, details };
}

export function refuseAgentView(agents: AgentsSlice, id: AgentRunId, denial: Denial): AgentsSlice {
  const here = agents.details.get(id);
  if (here === undefined) return agents;
  return { ...agents, details: new Map(agents.details).set(id, { ...here, denial }) };
}

/** The list, newest first, as it came. Runs that changed since it was asked for are younger and stay. */
export function applyAgentList(
  agents: AgentsSlice,
  list: { readonly runs: readonly AgentRun[]; readonly approvals: readonly Approval[] },
  asked: AgentsSlice,
): AgentsSlice {
  const runs = new Map([...list.runs].reverse().map((run) => [run.id, run]));
  for (const [id, run] of agents.runs) if (asked.runs.get(id) !== run) runs.set(id, run);
  const approvals = new Map(list.approvals.map((approval) => [approval.id, approval]));
  for (const [id, approval] of agents.approvals) if (!asked.approvals.has(id)) approvals.set(id, approval);
  for (const id of asked.approvals.keys()) if (!agents.approvals.has(id)) approvals.delete(id);
  return {
    ...agents,
    loaded: true,
    runs: bounded(runs, AGENT_RUNS_MAX),
    approvals: bounded(approvals, APPROVALS_MAX),
  };
}

export function forgetRun(agents: AgentsSlice, id: AgentRunId): AgentsSlice {
  const runs = new Map(agents.runs);
  const details = new Map(agents.details);
  runs.delete(id);
  details.delete(id);
  return { ...agents, runs, details };
}

/** After a gap in the frames. */
export const wantAgents = (agents: AgentsSlice): AgentsSlice => ({ ...agents, wanted: agents.wanted + 1 });

type Values<Value> = ReadonlyMap<string, Value>;

const agentEvents: ReadonlySet<EngineEvent['type']> = new Set([
  'agent-run-changed',
  'agent-call-changed',
  'agent-turn-changed',
  'agent-guard-tripped',
  'agent-lease-changed',
  'approval-asked',
  'approval-ended',
  'bomb-changed',
]);

function applyOne(slice: AgentsSlice, event: EngineEvent, detail: (id: AgentRunId) => DetailDraft | null): AgentsSlice {
  switch (event.type) {
    case 'agent-run-changed': {
      const { run, nodes, breakers } = event;
      detail(run.id)?.put(nodes, breakers);
      const before = slice.runs.get(run.id);
      const runs = new Map(slice.runs);
      if (before === undefined) moveLast(runs, run.id, run, AGENT_RUNS_MAX);
      else runs.set(run.id, run);
      const ended = before?.state === 'running' && run.state !== 'running';
      return { ...slice, runs, newsCount: slice.newsCount + (ended ? 1 : 0) };
    }
    case 'agent-call-changed':
      detail(event.runId)?.call(event.call);
      return slice;
    case 'agent-turn-changed':
      detail(event.runId)?.turn(event.turn);
      return slice;
    case 'agent-lease-changed':
      detail(event.runId)?.lease(event.lease);
      return slice;
    case 'agent-guard-tripped':
      detail(event.runId)?.trip(event.trip);
      return { ...slice, newsCount: slice.newsCount + 1 };
    case 'approval-asked': {
      const approvals = new Map(slice.approvals).set(event.approval.id, event.approval);
      return { ...slice, approvals: bounded(approvals, APPROVALS_MAX) };
    }
    case 'approval-ended': {
      const approvals = new Map(slice.approvals);
      approvals.delete(event.id);
      return { ...slice, approvals };
    }
    case 'bomb-changed': {
      const bombs = new Map(slice.bombs);
      moveLast(bombs, event.bomb.id, event.bomb, BOMBS_MAX);
      return { ...slice, bombs };
    }
    default:
      return slice;
  }
}

interface DetailDraft {
  put(nodes: readonly AgentNode[], breakers: readonly Breaker[]): void;
  call(call: GatewayCall): void;
  turn(turn: ModelTurn): void;
  trip(trip: GuardTrip): void;
  lease(lease: Lease): void;
  done(): AgentDetail;
}

function detailDraft(before: AgentDetail): DetailDraft {
  let now = before;
  let calls: Map<string, GatewayCall> | null = null;
  let turns: Map<string, ModelTurn> | null = null;
  let leases: Map<string, Lease> | null = null;
  let dropped = 0;
  return {
    put: (nodes, breakers) => {
      now = { ...now, nodes: new Map(nodes.map((node) => [node.id, node])), breakers };
    },
    call: (call) => {
      calls ??= new Map(before.calls);
      // Its place stays: a call that ends is not younger than one that began after it.
      calls.set(call.id, call);
      if (calls.size <= AGENT_CALLS_MAX) return;
      bounded(calls, AGENT_CALLS_MAX);
      dropped += 1;
    },
    turn: (turn) => void bounded((turns ??= new Map(before.turns)).set(turnKey(turn), turn), AGENT_TURNS_MAX),
    trip: (trip) => {
      now = { ...now, trips: [...now.trips, trip].slice(-AGENT_TRIPS_MAX) };
    },
    lease: (lease) => void bounded((leases ??= new Map(before.leases)).set(lease.id, lease), AGENT_LEASES_MAX),
    done: () => ({
      ...now,
      calls: calls ?? now.calls,
      turns: turns ?? now.turns,
      leases: leases ?? now.leases,
      callsDropped: now.callsDropped + dropped,
    }),
  };
}

const hasTrip = (trips: readonly GuardTrip[], { nodeId, guard, atMs, text }: GuardTrip): boolean =>
  trips.some((one) => one.nodeId === nodeId && one.guard === guard && one.atMs === atMs && one.text === text);

function moveLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, entriesMax: number): void {
  map.delete(key);
  map.set(key, value);
  bounded(map, entriesMax);
}

function bounded<Key, Value>(map: Map<Key, Value>, entriesMax: number): Map<Key, Value> {
  for (const key of map.keys()) {
    if (map.size <= entriesMax) break;
    map.delete(key);
  }
  return map;
}
