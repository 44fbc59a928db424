/** What the burn chart draws for a lane: the call at work, or the one that ended, in figures and one line. Pure. */
import type { CallSummary } from '../../../shared/contract/calls.ts';
import type { ReasoningCell } from '../../../shared/contract/experiments.ts';
import { endedPoints, livePoints, totalOf } from '../../charts/burn-model.ts';
import type { BurnCall, BurnLane, BurnPoint } from '../../charts/burn-model.ts';
import { count, counted, duration, percentOf, rate, roughDuration, seconds } from '../../format/numbers.ts';
import type { Course, LiveCall } from '../../stores/engine-state.ts';
import { ratePerSecond } from '../../stores/series.ts';
import { markOf, outputRate, outputTokens, ownTokens, wholeMs } from './lanes.ts';
import type { Lane } from './lanes.ts';

export interface LaneSource {
  readonly lane: Lane;
  /** The call of the shown cell while it runs. */
  readonly live: LiveCall | null;
  /** How the call of the shown cell came, if this screen saw it. */
  readonly course: Course | null;
  readonly canThink: boolean | null;
  readonly namesModel: boolean;
}

export function burnLaneOf({ lane, live, course, canThink, namesModel }: LaneSource, nowMs: number): BurnLane {
  const { plan, call } = lane.shown;
  const common = {
    key: lane.key,
    name: lane.name,
    model: namesModel ? lane.model : null,
    capTokens: plan.numPredict,
    thinkingCapTokens: plan.thinkingCap?.tokensMax ?? null,
    cannotThink: canThink === false,
  };
  if (live !== null) return { ...common, ...runningLane(lane.shown, live, nowMs) };
  if (call !== null) return { ...common, ...endedLane(lane.shown, call, course) };
  return {
    ...common,
    points: [],
    endMs: 0,
    state: lane.shown.state === 'running' ? 'running' : 'waiting',
    flagged: false,
    figure: '',
    notes: lane.shown.state === 'cancelled' ? ['Stopped before it began.'] : [],
  };
}

type Drawn = Pick<BurnLane, 'points' | 'endMs' | 'state' | 'flagged' | 'figure' | 'notes'>;

/** While it streams the answer field may open with a tag: then it looks like thinking, which the verdict settles at the end. */
export function looksLeaking(live: Pick<LiveCall, 'answerHead' | 'answer'>): boolean {
  const opened = /^\s*<\s*(think|thinking|reasoning)\s*>/iu.test(live.answerHead);
  return opened && !/<\s*\/\s*(think|thinking|reasoning)\s*>/iu.test(live.answer);
}

function runningLane({ plan }: ReasoningCell, live: LiveCall, nowMs: number): Drawn {
  const elapsedMs = Math.max(0, nowMs - live.seenAtMs, live.atMs ?? 0);
  const [tokens, leaking] = [live.thinkingChunks + live.answerChunks, looksLeaking(live)];
  const common = { state: 'running', flagged: false, endMs: elapsedMs } as const;
  if (tokens === 0)
    return {
      ...common,
      points: [],
      figure: '',
      notes: [
        `waiting for the first token, ${Math.floor(elapsedMs / 1_000)} s${live.call.phase === 'loading' ? ' (loading the model)' : ''}`,
      ],
    };
  const pace = ratePerSecond(live.series, (point) => point.thinkingChunks + point.answerChunks);
  const thought = live.thinkingChunks + (leaking ? live.answerChunks : 0);
  const answerAt = leaking ? undefined : live.series.find(({ answerChunks }) => answerChunks > 0);
  const left = plan.numPredict - tokens;
  const notes = [
    `thinking ${percentOf(thought, tokens)}, ${answerAt === undefined ? 'no answer so far' : `first answer token after ${duration(answerAt.atMs)}`}`,
    ...(pace === null || pace <= 0 || left <= 0
      ? []
      : [`at this pace the cap is reached in ${roughDuration((left * 1_000) / pace)}`]),
  ];
  return {
    ...common,
    points: livePoints(live.series, leaking),
    figure: `${counted(tokens, 'token')}${pace === null ? '' : `, ${rate(pace)}`}`,
    notes,
  };
}

function endedLane(cell: ReasoningCell, call: CallSummary, course: Course | null): Drawn {
  const burn = burnCallOf(call, course);
  const mark = markOf(cell);
  const points = afterFirstStep(endedPoints(burn, course?.series ?? []), call);
  const total = outputTokens(call);
  const time = `${seconds(wholeMs(call))} s`;
  const reading = call.reasoning ?? null;
  const end =
    mark === 'answered'
      ? reading?.outcome === 'tool-only'
        ? 'a tool call'
        : 'answered'
      : mark === 'failed'
        ? 'failed'
        : 'no answer';
  const figure =
    mark === 'failed' && (total ?? 0) === 0
      ? `${failedWord(call)} after ${time}`
      : `${total === null ? 'unknown tokens' : counted(total, 'token')}, ${time}, ${end}`;
  return {
    points,
    endMs: wholeMs(call),
    state: 'ended',
    flagged: mark !== 'answered',
    figure,
    notes: endedNotes(call, course, burn),
  };
}

/** The second of two steps comes on top of the thinking that was stopped; how that came was not kept, so it is drawn straight. */
function afterFirstStep(points: readonly BurnPoint[], { askedAfter }: CallSummary): readonly BurnPoint[] {
  if (!askedAfter) return points;
  const { thinkingTokens, wallMs } = askedAfter;
  const none = { leaked: 0, hidden: 0, answer: 0 };
  return [
    { atMs: 0, thinking: 0, ...none },
    { atMs: wallMs, thinking: thinkingTokens, ...none },
    ...points.map((point) => ({ ...point, atMs: point.atMs + wallMs, thinking: point.thinking + thinkingTokens })),
  ];
}

function failedWord({ ending }: CallSummary): string {
  if (ending === 'refused') return 'refused';
  return ending === 'unreachable' ? 'no server' : 'failed';
}

function endedNotes(call: CallSummary, course: Course | null, burn: BurnCall): readonly string[] {
  const reading = call.reasoning ?? null;
  if (reading === null || reading.outcome === 'refused' || reading.outcome === 'error-mid-stream')
    return call.error === null ? [] : [shortened(call.error)];
  const about = reading.split?.source === 'estimated' ? '~' : '';
  const pace = outputRate(call);
  const speed = pace === null ? '' : `, ${rate(pace).replace('/s', ' a second')}`;
  if (call.askedAfter && (reading.outcome === 'starved' || reading.outcome === 'empty'))
    return ['Thinking was stopped and the answer asked for alone; it thought again.'];
  if (reading.outcome === 'starved' || reading.outcome === 'empty') {
    if (reading.probableAnswer !== null) return ['The thinking field probably holds the answer.'];
    if (reading.places.includes('answer-tagged')) return [`The reasoning is in the answer${speed}.`];
    if (burn.hidden > burn.thinking) return [`${about}${count(Math.round(burn.hidden))} tokens are visible nowhere.`];
    return [reading.places.includes('field') ? `All of it is thinking${speed}.` : `No answer came${speed}.`];
  }
  const first = call.askedAfter?.thinkingTokens ?? 0;
  const thought = burn.thinking + burn.leaked + burn.hidden + first;
  const answerMs = firstAnswerMs(call, course);
  return [
    totalOf(burn) === 0 ? '' : `thinking ${about}${percentOf(thought, totalOf(burn) + first)}${speed}`,
    answerMs === null
      ? ''
      : `first answer token after ${answerMs.seen ? '' : 'about '}${duration(answerMs.atMs + (call.askedAfter?.wallMs ?? 0))}`,
  ].filter((part) => part !== '');
}

const NOTE_CHARACTERS_MAX = 90;
const shortened = (text: string): string =>
  text.length <= NOTE_CHARACTERS_MAX ? text : `${text.slice(0, NOTE_CHARACTERS_MAX)}…`;

/** When the first token of the answer came: as it was seen, else by the pace and the split. null where there was none. */
export function firstAnswerMs(
  call: CallSummary,
  course: Course | null,
): { readonly atMs: number; readonly seen: boolean } | null {
  const reading = call.reasoning ?? null;
  if (reading === null || reading.answerCharacters === 0) return null;
  const leaked = reading.places.includes('answer-tagged');
  const seen = leaked ? undefined : course?.series.find(({ answerChunks }) => answerChunks > 0);
  if (seen !== undefined) return { atMs: seen.atMs, seen: true };
  if (call.timeToFirstTokenMs === null) return null;
  const thought = (reading.split?.thinkingTokens ?? 0) + (reading.split?.hiddenTokens ?? 0);
  if (thought === 0) return { atMs: call.timeToFirstTokenMs, seen: true };
  const pace = outputRate(call);
  return pace === null ? null : { atMs: call.timeToFirstTokenMs + (thought * 1_000) / pace, seen: false };
}

/** The parts of the reply for the picture; what the split leaves open goes where the text was. */
export function burnCallOf(call: CallSummary, course: Course | null): BurnCall {
  const reading = call.reasoning ?? null;
  const total = ownTokens(call) ?? 0;
  const split = reading?.split ?? null;
  const known = split !== null && (split.thinkingTokens !== null || split.answerTokens !== null);
  const chunks = course?.series.at(-1);
  const onlyField = (reading?.thinkingCharacters ?? 0) > 0 && (reading?.answerCharacters ?? 0) === 0;
  const thought = known ? (split.thinkingTokens ?? 0) : onlyField || reading?.outcome === 'starved' ? total : 0;
  const hidden = split?.hiddenTokens ?? 0;
  const answer = known ? (split.answerTokens ?? 0) : Math.max(0, total - thought - hidden);
  const leaks = reading?.places.includes('answer-tagged') === true;
  const inField = !leaks
    ? thought
    : reading.places.includes('field')
      ? Math.min(thought, chunks?.thinkingChunks ?? thought / 2)
      : 0;
  return {
    ttftMs: call.timeToFirstTokenMs,
    wallMs: call.wallMs,
    tokens: total,
    thinking: inField,
    leaked: thought - inField,
    hidden,
    answer,
  };
}
