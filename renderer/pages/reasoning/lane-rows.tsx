/** The lanes: what is asked at the left, the burn chart in the middle, the end of the texts at the right. */
import { useMemo, useRef } from 'react';
import type { ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import { AXIS_HEIGHT, BurnChart } from '../../charts/burn-chart.tsx';
import { useSize } from '../../charts/use-size.ts';
import { Badge } from '../../components/badge.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { count, counted } from '../../format/numbers.ts';
import { readingSeverity, readingWord, splitFigure, thinkTitle } from '../../format/reasoning.ts';
import type { LiveCall } from '../../stores/engine-state.ts';
import { useNow } from '../live/use-live.ts';
import { burnLaneOf, looksLeaking } from './burn-lanes.ts';
import { markOf, readingOf } from './lanes.ts';
import type { Lane, Mark } from './lanes.ts';
import type { Streams, Tail } from './use-lanes.ts';

export interface LaneRowsProps {
  readonly run: ReasoningRun | null;
  readonly lanes: readonly Lane[];
  readonly streams: Streams;
  /** The ends of texts that this screen did not see stream, by call. */
  readonly tails?: ReadonlyMap<string, Tail>;
  readonly thinkers: ReadonlyMap<string, boolean>;
  readonly picked: string | null;
  /** Leaves out the texts, where another pane needs the room. */
  readonly narrow: boolean;
  readonly onPick: (cellKey: string) => void;
}

const noTails: ReadonlyMap<string, Tail> = new Map();
const LANE_HEIGHT_MIN = 116;
const LANE_HEIGHT_MAX = 280;

export function LaneRows({ run, lanes, streams, tails = noTails, thinkers, picked, narrow, onPick }: LaneRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box, { width: 1_000, height: 420 });
  const running = run?.state === 'running';
  const nowMs = useNow(running, 500);
  const namesModel = useMemo(() => new Set(lanes.map(({ model }) => model)).size > 1, [lanes]);
  const laneHeight = Math.max(
    LANE_HEIGHT_MIN,
    Math.min(LANE_HEIGHT_MAX, Math.floor((height - AXIS_HEIGHT) / Math.max(1, lanes.length))),
  );
  const drawn = useMemo(
    () =>
      lanes.map((lane) =>
        burnLaneOf(
          {
            lane,
            live: streams.liveOf(lane),
            course: streams.courseOf(lane),
            canThink: thinkers.get(lane.model) ?? null,
            namesModel,
          },
          nowMs,
        ),
      ),
    [lanes, streams, thinkers, namesModel, nowMs],
  );
  const columns = narrow
    ? 'grid-cols-[196px_minmax(0,1fr)] max-[1100px]:grid-cols-[172px_minmax(0,1fr)]'
    : 'grid-cols-[208px_minmax(0,1fr)_312px] max-[1240px]:grid-cols-[196px_minmax(0,1fr)]';
  return (
    <div ref={box} className="h-full min-h-0 overflow-x-hidden overflow-y-auto" tabIndex={0} data-scrolls="yes">
      <div
        className={`grid ${columns}`}
        style={{ gridTemplateRows: `repeat(${lanes.length}, ${laneHeight}px) ${AXIS_HEIGHT}px` }}
      >
        <div className="col-start-2 min-w-0" style={{ gridRow: `1 / span ${lanes.length + 1}` }}>
          <BurnChart lanes={drawn} laneHeight={laneHeight} simulated={run?.simulated ?? false} />
        </div>
        {lanes.map((lane, index) => (
          <LaneHead
            key={lane.key}
            lane={lane}
            row={index + 1}
            namesModel={namesModel}
            picked={picked}
            onPick={onPick}
          />
        ))}
        <div className="lab col-start-1 flex items-center pl-6" style={{ gridRow: lanes.length + 1 }}>
          time from sending
        </div>
        {narrow
          ? null
          : lanes.map((lane, index) => (
              <LaneTexts
                key={lane.key}
                lane={lane}
                row={index + 1}
                lines={Math.max(1, Math.floor((laneHeight - TEXTS_EDGE) / TEXT_LINE_HEIGHT))}
                live={streams.liveOf(lane)}
                texts={streams.courseOf(lane) ?? tails.get(lane.shown.call?.id ?? '') ?? null}
                canThink={thinkers.get(lane.model) ?? null}
              />
            ))}
        <Legend row={lanes.length + 1} hidden={narrow} />
      </div>
      {narrow ? (
        <div className="px-6 pb-1">
          <LegendItems />
        </div>
      ) : null}
    </div>
  );
}

interface LaneHeadProps {
  readonly lane: Lane;
  readonly row: number;
  readonly namesModel: boolean;
  readonly picked: string | null;
  readonly onPick: (cellKey: string) => void;
}

function LaneHead({ lane, row, namesModel, picked, onPick }: LaneHeadProps) {
  const { plan } = lane.shown;
  const reading = readingOf(lane.shown);
  return (
    <section
      aria-label={`${lane.name}${namesModel ? ` on ${lane.model}` : ''}`}
      className="col-start-1 flex min-w-0 flex-col gap-0.5 overflow-hidden border-b py-2 pr-2 pl-6 *:flex-none"
      style={{ gridRow: row }}
    >
      <div className={namesModel ? 'flex items-baseline gap-2' : 'flex flex-col'}>
        <span className="lead flex-none">{thinkTitle(plan.think)}</span>
        <span className="lab truncate">
          cap {count(plan.numPredict)}
          {plan.thinkingCap === null
            ? ''
            : ` · ${plan.thinkingCap.then === 'stop' ? 'stop' : 'ask again'} at ${count(plan.thinkingCap.tokensMax)}`}
        </span>
      </div>
      {namesModel ? <ModelName name={lane.model} className="text-small" /> : null}
      <div className="flex min-h-5 items-center gap-2 text-ink">
        {reading === null ? (
          <span className="text-ink-3">{stateWord(lane.shown)}</span>
        ) : (
          <>
            <Badge
              meaning={reading.outcome === 'refused' ? 'plain' : 'thinking'}
              severity={readingSeverity(reading)}
              size="small"
            />
            <span className="truncate" title={readingWord(reading)}>
              {readingWord(reading)}
            </span>
          </>
        )}
      </div>
      <RepeatStrip lane={lane} picked={picked} onPick={onPick} />
      {lane.obeyed === null ? null : <div className="lab truncate text-ink!">{lane.obeyed}</div>}
    </section>
  );
}

function stateWord({ state, call }: ReasoningCell): string {
  if (call !== null) return state === 'done' ? 'no reading' : state;
  return state === 'running' ? 'running' : state === 'waiting' ? 'not run yet' : state;
}

const markWords: Readonly<Record<Mark, string>> = {
  'no-answer': 'no answer',
  answered: 'answered',
  failed: 'failed',
  running: 'running',
  waiting: 'not yet',
};

const DOTS_MAX = 20;
const DOTS_IN_LINE_MAX = 6;

/** One dot a repeat: filled = no answer, hollow = answered. Pressing one shows that run. */
export function RepeatStrip({
  lane,
  picked,
  onPick,
}: {
  lane: Lane;
  picked: string | null;
  onPick: (cellKey: string) => void;
}) {
  const dots = lane.repeats.slice(0, DOTS_MAX);
  return (
    <div className="flex min-w-0 items-center gap-2">
      <span
        role="group"
        aria-label={`Runs of ${lane.name}`}
        className={`c-thinking flex ${dots.length > DOTS_IN_LINE_MAX ? 'min-w-0 flex-wrap' : 'flex-none'}`}
      >
        {dots.map((cell) => {
          const mark = markOf(cell);
          const key = cell.plan.key;
          const word = `run ${cell.plan.repeat + 1}: ${markWords[mark]}`;
          return (
            <button
              key={key}
              type="button"
              aria-label={word}
              title={word}
              aria-current={key === picked}
              onClick={() => {
                onPick(key);
              }}
              className={`grid size-3.5 flex-none place-items-center rounded-sm ${key === picked ? 'bg-pick shadow-[0_0_0_1px_var(--ink)]' : 'hover:bg-pick'}`}
            >
              <Dot mark={mark} />
            </button>
          );
        })}
      </span>
      <span className="lab truncate">
        {lane.ended === 0
          ? counted(lane.repeats.length, 'run')
          : `${count(lane.answered)} of ${count(lane.ended)} answered`}
      </span>
    </div>
  );
}

export function Dot({ mark }: { mark: Mark }) {
  const look = 'block size-[9px] rounded-full border-[1.5px]';
  if (mark === 'failed')
    return (
      <span aria-hidden="true" className="text-[9px] leading-none font-bold text-ink">
        ✕
      </span>
    );
  if (mark === 'waiting') return <i className={`${look} border-dotted border-field`} />;
  if (mark === 'running') return <i className={`${look} pulse border-(--c)`} />;
  return <i className={`${look} border-(--c) ${mark === 'no-answer' ? 'bg-(--c)' : ''}`} />;
}

interface LaneTextsProps {
  readonly lane: Lane;
  readonly row: number;
  /** Whole lines that fit. */
  readonly lines: number;
  readonly live: LiveCall | null;
  readonly texts: Tail | null;
  readonly canThink: boolean | null;
}

const TAIL_CHARACTERS = 320;
const TEXT_LINE_HEIGHT = 18;
const TEXTS_EDGE = 38;

/** The end of what is written: of the thinking while there is no answer, else of the answer. */
function LaneTexts({ lane, row, lines, live, texts, canThink }: LaneTextsProps) {
  const { call } = lane.shown;
  const thinking = live?.thinking ?? texts?.thinking ?? '';
  const answer = live?.answer ?? texts?.answer ?? call?.answerHead ?? '';
  const quote = answer.trim() === '' ? thinking : answer;
  const cut = quote.length > TAIL_CHARACTERS;
  return (
    <section
      aria-label={`Texts of ${lane.name}`}
      className="col-start-3 flex min-w-0 flex-col overflow-hidden border-b border-l px-4 py-2 max-[1240px]:hidden"
      style={{ gridRow: row }}
    >
      <div className="lab truncate">{fieldsText(lane, live, canThink)}</div>
      {quote.trim() === '' ? (
        call === null || live !== null ? null : (
          <p className="lab mt-1">
            {call.error ?? (call.reasoning?.thinkingCharacters ? 'The thinking is in the details.' : '')}
          </p>
        )
      ) : (
        <pre
          className="mt-1 flex flex-none flex-col-reverse overflow-hidden border-l-2 border-field pl-2 leading-[18px] wrap-anywhere whitespace-pre-wrap text-ink-2"
          style={{ maxHeight: lines * TEXT_LINE_HEIGHT }}
        >
          <span>
            {cut ? '… ' : ''}
            {quote.slice(-TAIL_CHARACTERS)}
          </span>
        </pre>
      )}
    </section>
  );
}

function fieldsText({ shown }: Lane, live: LiveCall | null, canThink: boolean | null): string {
  const cannot = 'thinking field: this model cannot think';
  if (live !== null) {
    const leaks = looksLeaking(live) ? ', looks like thinking' : '';
    return `${canThink === false ? cannot : `thinking field ${fieldCount(live.thinkingChunks)}`}, answer field ${fieldCount(live.answerChunks)}${leaks}`;
  }
  const reading = readingOf(shown);
  if (reading === null) return canThink === false ? cannot : '';
  if (reading.places.includes('answer-tagged') && !reading.places.includes('field'))
    return `thinking field empty, ${splitFigure(reading, 'thinkingTokens')} of thinking in the answer field`;
  const thinking =
    canThink === false && reading.thinkingCharacters === 0
      ? cannot
      : `thinking field ${reading.thinkingCharacters === 0 ? 'empty' : splitFigure(reading, 'thinkingTokens')}`;
  return `${thinking}, answer field ${reading.answerCharacters === 0 ? 'empty' : splitFigure(reading, 'answerTokens')}`;
}

const fieldCount = (tokens: number): string => (tokens === 0 ? 'empty' : count(tokens));

function Legend({ row, hidden }: { row: number; hidden: boolean }) {
  return (
    <div
      className={`col-start-3 flex items-center border-l px-4 max-[1240px]:hidden ${hidden ? 'hidden!' : ''}`}
      style={{ gridRow: row }}
    >
      <LegendItems />
    </div>
  );
}

function LegendItems() {
  return (
    <span className="lab flex items-center gap-3 whitespace-nowrap">
      <span className="c-thinking flex items-center gap-1.5">
        <i className="swatch" />
        thinking
      </span>
      <span className="c-thinking flex items-center gap-1.5">
        <i className="swatch hatch" />
        in the answer
      </span>
      <span className="c-plain flex items-center gap-1.5">
        <i className="swatch" />
        answer
      </span>
    </span>
  );
}
