/** Which calls a guard's trip is about. Pure. */
import type { AgentNode, GatewayCall, GuardTrip } from '../../../shared/contract/agents.ts';
import { isRefused } from './words.ts';

/** Ids of calls that a trip names, or, where it counts steps, all that ran in these steps. */
export function markedCalls(
  trips: readonly GuardTrip[],
  calls: Iterable<GatewayCall>,
  nodes: ReadonlyMap<string, AgentNode>,
): ReadonlySet<string> {
  const marked = new Set<string>();
  const counted = trips.filter((trip) => isDeciding(trip, nodes) && trip.calls.length === 0);
  for (const trip of trips) if (isDeciding(trip, nodes)) for (const id of trip.calls) marked.add(id);
  if (counted.length === 0) return marked;
  const byNode = new Map<string, Map<number, GatewayCall[]>>();
  for (const call of calls) {
    if (isRefused(call) || call.childId !== null || call.tool === 'delegate') continue;
    const steps = byNode.get(call.nodeId) ?? new Map<number, GatewayCall[]>();
    byNode.set(call.nodeId, steps);
    const step = steps.get(call.step);
    if (step === undefined) steps.set(call.step, [call]);
    else step.push(call);
  }
  for (const trip of counted) {
    const steps = [...(byNode.get(trip.nodeId) ?? new Map<number, GatewayCall[]>())]
      .filter(([, step]) => (step[0]?.startedMs ?? 0) <= trip.atMs)
      .sort(([a], [b]) => a - b);
    for (const [, step] of steps.slice(-Math.max(1, trip.count))) for (const { id } of step) marked.add(id);
  }
  return marked;
}

/** A guard that only would have stopped what something else had stopped already decides nothing. */
export function isDeciding(trip: GuardTrip, nodes: ReadonlyMap<string, AgentNode>): boolean {
  const node = nodes.get(trip.nodeId);
  return trip.stage !== 'stop' || node === undefined || node.reason === null || node.reason === trip.guard;
}
