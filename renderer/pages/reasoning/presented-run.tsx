/** Presenter mode: one chart and one sentence, readable from the back of a room. */
import { useMemo, useRef } from 'react';
import type { ReasoningRun } from '../../../shared/contract/experiments.ts';
import { AXIS_HEIGHT, BurnChart } from '../../charts/burn-chart.tsx';
import { useSize } from '../../charts/use-size.ts';
import { SimulatedTag } from '../../components/chip.tsx';
import { count, percentOf, seconds } from '../../format/numbers.ts';
import { useNow } from '../live/use-live.ts';
import { burnCallOf, burnLaneOf } from './burn-lanes.ts';
import { markOf, outputTokens, wholeMs } from './lanes.ts';
import type { Lane } from './lanes.ts';
import { useStreams } from './use-lanes.ts';

export interface PresentedRunProps {
  readonly run: ReasoningRun;
  readonly lanes: readonly Lane[];
  readonly thinkers: ReadonlyMap<string, boolean>;
}

const LANES_PRESENTED_MAX = 4;

export function PresentedRun({ run, lanes, thinkers }: PresentedRunProps) {
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box, { width: 900, height: 420 });
  const streams = useStreams(run.id);
  const nowMs = useNow(run.state === 'running', 500);
  const shown = lanes.slice(0, LANES_PRESENTED_MAX);
  const drawn = useMemo(
    () =>
      shown.map((lane) =>
        burnLaneOf(
          {
            lane,
            live: streams.liveOf(lane),
            course: streams.courseOf(lane),
            canThink: thinkers.get(lane.model) ?? null,
            namesModel: false,
          },
          nowMs,
        ),
      ),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [lanes, streams, thinkers, nowMs],
  );
  const laneHeight = Math.max(90, Math.floor((height - AXIS_HEIGHT) / Math.max(1, drawn.length)));
  return (
    <main aria-label="Reasoning" className="flex h-full min-h-0 min-w-0 flex-col px-8 pt-4 pb-2">
      <p className="text-figure text-ink">
        {presentedSentence(lanes, run)} {run.simulated ? <SimulatedTag /> : null}
      </p>
      <div ref={box} className="min-h-0 flex-1 overflow-hidden pt-2">
        <BurnChart lanes={drawn} laneHeight={laneHeight} simulated={run.simulated} named />
      </div>
    </main>
  );
}

/** The costliest call without an answer; else how many settings answered, or how far it is. */
export function presentedSentence(
  lanes: readonly Lane[],
  run: Pick<ReasoningRun, 'state' | 'cellsDone' | 'cellsTotal'>,
): string {
  let worst: { tokens: number; lane: Lane } | null = null;
  for (const lane of lanes) {
    const { call } = lane.shown;
    if (call === null || markOf(lane.shown) !== 'no-answer') continue;
    const tokens = outputTokens(call) ?? 0;
    if (worst === null || tokens > worst.tokens) worst = { tokens, lane };
  }
  if (worst !== null && worst.lane.shown.call !== null) {
    const { call } = worst.lane.shown;
    const burn = burnCallOf(call, null);
    const thought = burn.thinking + burn.leaked + burn.hidden + (call.askedAfter?.thinkingTokens ?? 0);
    const share = thought === 0 ? '' : `, ${percentOf(thought, Math.max(worst.tokens, thought))} of them thinking`;
    return `${worst.lane.name}: ${count(worst.tokens)} tokens in ${seconds(wholeMs(call))} s${share}, and no answer. The status was 200.`;
  }
  if (run.state === 'running') return `${count(run.cellsDone)} of ${count(run.cellsTotal)} calls done.`;
  const told = lanes.filter(({ ended }) => ended > 0);
  const answered = told.filter((lane) => lane.answered > 0).length;
  return `${count(answered)} of ${count(told.length)} settings gave an answer.`;
}
