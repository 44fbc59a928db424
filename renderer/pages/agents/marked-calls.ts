/** Which calls a guard's trip is about. Pure. */
import type { AgentNode, GatewayCall, GuardTrip } from '../../../shared/contract/agents.ts';
import { isRefused } from './words.ts';

/** Ids of calls that deciding trips are about. */
export function markedCalls(
  trips: readonly GuardTrip[],
  calls: Iterable<GatewayCall>,
  nodes: ReadonlyMap<string, AgentNode>,
): ReadonlySet<string> {
  const deciding = trips.filter((trip) => isDeciding(trip, nodes));
  if (deciding.length === 0) return new Set();
  const steps = stepsOf(calls);
  return new Set(deciding.flatMap((trip) => tripCalls(trip, steps)));
}

/** Steps of every agent, in the order they began. Delegations are no steps of their own: an agent that came back is progress. */
export type Steps = ReadonlyMap<string, readonly (readonly GatewayCall[])[]>;

export function stepsOf(calls: Iterable<GatewayCall>): Steps {
  const byNode = new Map<string, Map<number, GatewayCall[]>>();
  for (const call of calls) {
    if (call.childId !== null || call.tool === 'delegate') continue;
    const steps = byNode.get(call.nodeId) ?? new Map<number, GatewayCall[]>();
    byNode.set(call.nodeId, steps);
    const step = steps.get(call.step);
    if (step === undefined) steps.set(call.step, [call]);
    else step.push(call);
  }
  return new Map(
    [...byNode].map(([nodeId, steps]) => [nodeId, [...steps].sort(([a], [b]) => a - b).map(([, step]) => step)]),
  );
}

/** The calls that a trip names, or, where it counts steps, all that ran in these steps: what was refused brought nothing in. */
export function tripCalls(trip: GuardTrip, steps: Steps): readonly string[] {
  if (trip.calls.length > 0) return trip.calls;
  return (steps.get(trip.nodeId) ?? [])
    .filter((step) => (step[0]?.startedMs ?? 0) <= trip.atMs)
    .slice(-Math.max(1, trip.count))
    .flatMap((step) => step.flatMap((call) => (isRefused(call) ? [] : [call.id])));
}

/** A guard that only would have stopped what something else had stopped already decides nothing. */
export function isDeciding(trip: GuardTrip, nodes: ReadonlyMap<string, AgentNode>): boolean {
  const node = nodes.get(trip.nodeId);
  return trip.stage !== 'stop' || node === undefined || node.reason === null || node.reason === trip.guard;
}
