/** What the guards, the upstreams and the leases of a run have to say. Pure. */
import type { AgentRun, GatewayCall, GuardTrip, Lease } from '../../../shared/contract/agents.ts';
import type { Severity } from '../../components/badge.tsx';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { count, counted, short } from '../../format/numbers.ts';
import { callName, clip, guardWords, inSeconds, isRefused } from './words.ts';

export interface Print {
  readonly fingerprint: string;
  readonly name: string;
  readonly nodeId: string;
  readonly calls: number;
  /** The most calls that also gave the same result. */
  readonly sameResult: number;
  /** How many of them were not made. */
  readonly refused: number;
}

export const PRINTS_SHOWN_MAX = 100;

/** Calls that came more than once, the most frequent first. The same call of two agents is two of them: guards count per agent. */
export function repeatedCalls(calls: Iterable<GatewayCall>): readonly Print[] {
  const groups = new Map<string, GatewayCall[]>();
  for (const call of calls) {
    if (call.fingerprint === null) continue;
    const key = `${call.nodeId} ${call.fingerprint}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [call]);
    else group.push(call);
  }
  const prints: Print[] = [];
  for (const group of groups.values()) {
    const first = group[0];
    if (first === undefined || group.length < 2 || first.fingerprint === null) continue;
    prints.push({
      fingerprint: first.fingerprint,
      name: callName(first),
      nodeId: first.nodeId,
      calls: group.length,
      sameResult: mostAlike(group),
      refused: group.filter(isRefused).length,
    });
  }
  return prints.sort((a, b) => b.calls - a.calls).slice(0, PRINTS_SHOWN_MAX);
}

function mostAlike(group: readonly GatewayCall[]): number {
  const states = new Map<string, number>();
  for (const { stateHash } of group) if (stateHash !== null) states.set(stateHash, (states.get(stateHash) ?? 0) + 1);
  return Math.max(0, ...states.values());
}

export interface StripItem {
  readonly id: 'guards' | 'upstreams' | 'leases' | 'amplification';
  readonly label: string;
  readonly text: string;
  readonly meaning: 'loops' | 'budget' | 'plain';
  readonly severity: Severity;
}

/** One chip each, in steady places. */
export function stripOf(run: AgentRun, detail: AgentDetail, repeated: readonly Print[]): readonly StripItem[] {
  return [guardItem(detail.trips, repeated), upstreamItem(detail), leaseItem(run, detail), amplificationItem(run)];
}

function guardItem(trips: readonly GuardTrip[], repeated: readonly Print[]): StripItem {
  const worst =
    trips.findLast(({ stage }) => stage === 'stop') ?? trips.findLast(({ stage }) => stage === 'block') ?? trips.at(-1);
  const base = { id: 'guards', label: 'Guards', meaning: 'loops' } as const;
  const most = repeated[0];
  if (worst === undefined)
    return {
      ...base,
      severity: 'informed',
      text:
        most === undefined
          ? 'quiet, no call came twice'
          : `quiet, ${clip(most.name, 30)} came ${count(most.calls)} times`,
    };
  const verb = { warn: 'warned', block: 'blocked', stop: 'stopped' }[worst.stage];
  const more = trips.length > 1 ? `, ${count(trips.length - 1)} more` : '';
  return {
    ...base,
    severity: worst.stage === 'stop' ? 'stopped' : worst.stage === 'block' ? 'happened' : 'informed',
    text: `${guardWords[worst.guard]} ${verb} ${clip(worst.nodeId, 24)} at ${inSeconds(worst.atMs)}${more}`,
  };
}

function upstreamItem({ breakers }: AgentDetail): StripItem {
  const base = { id: 'upstreams', label: 'Upstreams', meaning: 'budget' } as const;
  const open = breakers.filter(({ state }) => state !== 'closed');
  const first = open[0];
  if (first === undefined)
    return {
      ...base,
      meaning: 'plain',
      severity: 'informed',
      text: breakers.length === 0 ? 'none was called' : `${counted(breakers.length, 'upstream')}, all answer`,
    };
  const wait = first.retryAfterMs === null ? '' : `, again in ${inSeconds(first.retryAfterMs)}`;
  return {
    ...base,
    severity: first.state === 'open' ? 'stopped' : 'happened',
    text: `${clip(first.upstream, 24)} ${first.state === 'open' ? 'rests' : 'is tried again'}${wait}${open.length > 1 ? `, ${open.length - 1} more` : ''}`,
  };
}

function leaseItem(run: AgentRun, { leases }: AgentDetail): StripItem {
  const base = { id: 'leases', label: 'Left running', meaning: 'budget' } as const;
  const open = openLeases(leases.values());
  const left = Math.max(open.length, run.state === 'running' ? 0 : run.openLeases);
  if (leases.size === 0 && left === 0)
    return { ...base, meaning: 'plain', severity: 'informed', text: 'nothing outlives its call' };
  if (left === 0)
    return { ...base, meaning: 'plain', severity: 'informed', text: `${counted(leases.size, 'lease')}, all ended` };
  return {
    ...base,
    severity: run.state === 'running' ? 'happened' : 'stopped',
    text: `${counted(left, 'lease')} open${run.state === 'running' ? '' : ' at the end'}`,
  };
}

/** What could not be ended is still there. */
export const openLeases = (leases: Iterable<Lease>): readonly Lease[] =>
  [...leases].filter(({ state }) => state !== 'released');

function amplificationItem({ totals }: AgentRun): StripItem {
  const text =
    totals.callsPerKb === null || totals.tokensPerKb === null
      ? 'no input to measure by'
      : `${rounded(totals.callsPerKb)} calls, ${rounded(totals.tokensPerKb)} tokens per KB`;
  return { id: 'amplification', label: 'Amplification', meaning: 'plain', severity: 'informed', text };
}

export const rounded = (value: number): string =>
  value < 10 ? value.toFixed(1) : value < 10_000 ? count(Math.round(value)) : short(Math.round(value));
