/** Calls over time, one lane an agent, with a legend of the looks that occur. */
import { useCallback, useMemo } from 'react';
import type { AgentNode, AgentRun, GuardTrip } from '../../../shared/contract/agents.ts';
import { AgentLanes } from '../../charts/agent-lanes.tsx';
import { LANES_MAX, lookOf } from '../../charts/agent-lanes-model.ts';
import type { Lane, LaneBox, LaneTrip, Look } from '../../charts/agent-lanes-model.ts';
import { count } from '../../format/numbers.ts';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { isDeciding } from './marked-calls.ts';
import { cutText, refusedText } from './transcript-rows.ts';
import { callName, guardWords, inSeconds, isRefused, nodeWords, reasonWords, tripLabel } from './words.ts';

export interface LanesSectionProps {
  readonly run: AgentRun;
  readonly detail: AgentDetail;
  /** In the order of the outline. */
  readonly nodes: readonly AgentNode[];
  readonly marked: ReadonlySet<string>;
  readonly pickedCall: string | null;
  readonly pickedNode: string | null;
  readonly onPickCall: (id: string) => void;
  readonly onPickNode: (id: string) => void;
  readonly laneMax?: number;
}

export function LanesSection(props: LanesSectionProps) {
  const { run, detail, nodes, marked } = props;
  const calls = useMemo(() => [...detail.calls.values()], [detail.calls]);
  const turns = useMemo(() => [...detail.turns.values()], [detail.turns]);
  const decides = useCallback((trip: GuardTrip) => isDeciding(trip, detail.nodes), [detail.nodes]);
  const nameOf = useCallback((box: LaneBox) => boxName(box, marked), [marked]);
  return (
    <section aria-label="Calls over time" className="flex min-h-0 min-w-0 flex-1 flex-col pt-2 pr-4 pl-6">
      <div className="flex flex-none flex-wrap items-center gap-x-4 gap-y-1 pb-1">
        <h2 className="font-semibold text-ink">
          Calls over time{' '}
          <span className="lab font-normal">
            {run.scripted ? 'seconds of virtual time' : 'seconds since the start'}
          </span>
        </h2>
        <span className="flex-1" />
        <Legend calls={calls} marked={marked} trips={detail.trips} />
      </div>
      {detail.callsDropped > 0 ? (
        <p className="lab flex-none">{count(detail.callsDropped)} earlier calls are counted and not drawn.</p>
      ) : null}
      <AgentLanes
        nodes={nodes}
        calls={calls}
        turns={turns}
        trips={detail.trips}
        marked={marked}
        isDeciding={decides}
        nowMs={run.nowMs}
        {...(props.laneMax === undefined ? {} : { laneMax: props.laneMax })}
        label={`Calls of ${count(nodes.length)} agents over ${inSeconds(run.nowMs)}.`}
        pickedCall={props.pickedCall}
        pickedNode={props.pickedNode}
        onPickCall={props.onPickCall}
        onPickNode={props.onPickNode}
        nameOf={nameOf}
        tripLabel={labelOf}
        endLabel={endLabel}
        timeOf={inSeconds}
        overflow={<p className="lab py-2">{count(nodes.length - LANES_MAX)} more agents are in the outline.</p>}
      />
    </section>
  );
}

const labelOf = ({ trip }: LaneTrip): string => tripLabel(trip);

/** `25 of 25 calls used`: what a lane ended with; nothing where a guard's line says it. */
export function endLabel({ node }: Lane): string {
  if (node.state !== 'ended' || node.reason === null) return '';
  if (node.reason === 'budget-calls' && node.limits.calls !== null)
    return `${count(node.used.calls + node.carved.calls)} of ${count(node.limits.calls)} used`;
  return reasonWords(node.reason).meaning === 'loops' || node.reason === 'done' ? '' : nodeWords(node).text;
}

function boxName({ call }: LaneBox, marked: ReadonlySet<string>): string {
  const parts = [
    callName(call),
    isRefused(call)
      ? refusedText(call)
      : marked.has(call.id)
        ? 'one the guard is about'
        : call.outcome === 'waiting-approval'
          ? 'waits for a person'
          : call.outcome,
    cutText(call),
    isRefused(call) ? null : call.childId,
    `step ${call.step}, ${inSeconds(call.startedMs)}`,
  ];
  return parts.filter((part) => part !== null && part !== '').join(' · ');
}

const lookWords: Record<Look, string> = {
  done: 'done',
  marked: 'guard',
  cached: 'cached',
  failed: 'failed',
  refused: 'refused',
  running: 'running',
  asking: 'asks a person',
};

function Legend({
  calls,
  marked,
  trips,
}: {
  calls: AgentDetail['calls'] extends ReadonlyMap<string, infer Call> ? readonly Call[] : never;
  marked: ReadonlySet<string>;
  trips: readonly GuardTrip[];
}) {
  const seen = useMemo(() => new Set(calls.map((call) => lookOf(call, marked))), [calls, marked]);
  const shown = (Object.keys(lookWords) as Look[]).filter((look) => look === 'done' || seen.has(look));
  const last = trips.findLast(({ stage }) => stage === 'stop') ?? trips.at(-1);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
      {shown.map((look) => (
        <span key={look} className="inline-flex items-center gap-1.5">
          <LookSwatch look={look} />
          {look === 'marked' && last !== undefined ? guardWords[last.guard] : lookWords[look]}
        </span>
      ))}
      <span className="inline-flex items-center gap-1.5">
        <i className="c-plain fill h-[5px] w-3" />
        model turn
      </span>
    </div>
  );
}

function LookSwatch({ look }: { look: Look }) {
  const colour = look === 'marked' ? 'c-loops' : look === 'refused' || look === 'asking' ? 'c-budget' : 'c-plain';
  const hollow = look === 'refused' || look === 'running' || look === 'failed';
  if (hollow)
    return (
      <i
        className={`${colour} size-3 flex-none border-[1.5px] border-(--c) ${look === 'running' ? 'border-dashed' : ''}`}
      />
    );
  return <i className={`${colour} swatch ${look === 'cached' ? 'opacity-45' : ''}`} />;
}
