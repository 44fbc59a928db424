/**
 * Where the tokens of a reply went, over time: cumulative counts of thinking in its own field, thinking that leaked into the
 * answer, hidden tokens and answer, cut into bars of equal width. Pure.
 */
import { count } from '../format/numbers.ts';

/** Cumulative tokens at a moment, counted from sending. */
export interface BurnPoint {
  readonly atMs: number;
  readonly thinking: number;
  readonly leaked: number;
  readonly hidden: number;
  readonly answer: number;
}

export interface BurnLane {
  readonly key: string;
  readonly name: string;
  readonly model: string | null;
  /** num_predict: thinking and answer together. */
  readonly capTokens: number;
  /** Where thinking is stopped from this side. */
  readonly thinkingCapTokens: number | null;
  readonly points: readonly BurnPoint[];
  readonly endMs: number;
  readonly state: 'waiting' | 'running' | 'ended';
  /** Ended without an answer: a flag stands there. */
  readonly flagged: boolean;
  /** Such as `8,000 tokens, 216.8 s, no answer`; then at most two short lines. */
  readonly figure: string;
  readonly notes: readonly string[];
  /** Said in the lane where it would otherwise just be empty. */
  readonly cannotThink: boolean;
}

export interface BurnBar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly point: BurnPoint;
}

export interface BurnCall {
  readonly ttftMs: number | null;
  readonly wallMs: number;
  readonly tokens: number;
  readonly thinking: number;
  readonly leaked: number;
  readonly hidden: number;
  readonly answer: number;
}

export interface SeenPoint {
  readonly atMs: number;
  readonly thinkingChunks: number;
  readonly answerChunks: number;
}

export const totalOf = ({ thinking, leaked, hidden, answer }: Omit<BurnPoint, 'atMs'>): number =>
  thinking + leaked + hidden + answer;

/** A call under way: chunks as they came. `leaking`: what stands in the answer so far begins with a tag of thinking. */
export function livePoints(series: readonly SeenPoint[], leaking: boolean): readonly BurnPoint[] {
  const points = series.map(({ atMs, thinkingChunks, answerChunks }) => ({
    atMs,
    thinking: thinkingChunks,
    leaked: leaking ? answerChunks : 0,
    hidden: 0,
    answer: leaking ? 0 : answerChunks,
  }));
  // A screen that came later did not see the first part: the way there is drawn straight.
  const [first] = points;
  return first !== undefined && totalOf(first) > CHUNKS_AT_ONCE_MAX ? [{ atMs: 0, ...nothing }, ...points] : points;
}

/**
 * A call that ended: the way it was seen to come, stretched to what the reading says each part was. One that was not seen is
 * drawn straight from the first token to the end, thinking first.
 */
export function endedPoints(call: BurnCall, seen: readonly SeenPoint[]): readonly BurnPoint[] {
  if (totalOf(call) === 0) return [];
  const last = seen.at(-1);
  if (last === undefined || last.thinkingChunks + last.answerChunks === 0) return straightPoints(call);
  const firstMs = seen[0]?.atMs ?? 0;
  const spanMs = Math.max(1, last.atMs - firstMs);
  const answered = call.leaked + call.answer;
  // Where the chunks of one kind were never seen, what they hold comes with the others.
  const share = (part: number, whole: number, atMs: number): number =>
    whole > 0 ? part / whole : (atMs - firstMs) / spanMs;
  const points = seen.map(({ atMs, thinkingChunks, answerChunks }): BurnPoint => {
    const inAnswer = answered * share(answerChunks, last.answerChunks, atMs);
    const leaked = Math.min(call.leaked, inAnswer);
    return {
      atMs,
      thinking: call.thinking * share(thinkingChunks, last.thinkingChunks, atMs),
      leaked,
      hidden: (call.hidden * (atMs - firstMs)) / spanMs,
      answer: inAnswer - leaked,
    };
  });
  const startMs = Math.min(firstMs, call.ttftMs ?? firstMs);
  return [{ atMs: startMs, ...nothing }, ...points, wholeOf(call)];
}

/** More than this in the first news of a call means that its beginning was missed. */
const CHUNKS_AT_ONCE_MAX = 40;

const nothing = { thinking: 0, leaked: 0, hidden: 0, answer: 0 };

const wholeOf = ({ wallMs, thinking, leaked, hidden, answer }: BurnCall): BurnPoint => ({
  atMs: wallMs,
  thinking,
  leaked,
  hidden,
  answer,
});

function straightPoints(call: BurnCall): readonly BurnPoint[] {
  const total = totalOf(call);
  const fromMs = Math.min(call.ttftMs ?? 0, call.wallMs);
  const at = (tokens: number): number => fromMs + ((call.wallMs - fromMs) * tokens) / total;
  // Hidden tokens come before the answer, as thinking does.
  const order = [
    { ...nothing },
    { ...nothing, thinking: call.thinking },
    { ...nothing, thinking: call.thinking, leaked: call.leaked },
    { ...nothing, thinking: call.thinking, leaked: call.leaked, hidden: call.hidden },
    { ...nothing, thinking: call.thinking, leaked: call.leaked, hidden: call.hidden, answer: call.answer },
  ];
  return order.map((parts) => ({ atMs: at(totalOf(parts)), ...parts }));
}

/** Bars of equal width up to the end of the lane; each shows what had come by its right edge. */
export function barsOf(points: readonly BurnPoint[], endMs: number, stepMs: number): readonly BurnBar[] {
  const [first] = points;
  if (first === undefined || stepMs <= 0) return [];
  const bars: BurnBar[] = [];
  for (let fromMs = 0; fromMs < endMs && bars.length < BARS_MAX; fromMs += stepMs) {
    const toMs = Math.min(fromMs + stepMs, endMs);
    const point = pointAt(points, toMs);
    if (totalOf(point) > 0) bars.push({ fromMs, toMs, point });
  }
  return bars;
}

const BARS_MAX = 600;

/** Between two points the way is straight; before the first nothing had come, after the last it stays. */
export function pointAt(points: readonly BurnPoint[], atMs: number): BurnPoint {
  const [first] = points;
  if (first === undefined || atMs < first.atMs) return { atMs, ...nothing };
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((points[middle]?.atMs ?? 0) <= atMs) low = middle;
    else high = middle - 1;
  }
  const before = points[low] ?? first;
  const after = points[low + 1];
  if (after === undefined || after.atMs <= before.atMs) return { ...before, atMs };
  const part = (atMs - before.atMs) / (after.atMs - before.atMs);
  const between = (from: number, to: number): number => from + (to - from) * part;
  return {
    atMs,
    thinking: between(before.thinking, after.thinking),
    leaked: between(before.leaked, after.leaked),
    hidden: between(before.hidden, after.hidden),
    answer: between(before.answer, after.answer),
  };
}

const NICE_STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400];
const TICKS_MAX = 8;
const HOUR_MS = 3_600_000;

export interface TimeScale {
  readonly spanMs: number;
  readonly ticksMs: readonly number[];
}

/** One scale for all lanes, with round ticks. It grows in steps, so that lanes do not creep while they run. */
export function timeScale(lanes: readonly Pick<BurnLane, 'endMs'>[]): TimeScale {
  const longestMs = Math.max(1_000, ...lanes.map(({ endMs }) => endMs));
  const nice = NICE_STEPS_S.find((step) => longestMs / (step * 1_000) <= TICKS_MAX);
  const stepMs = nice === undefined ? Math.ceil(longestMs / TICKS_MAX / HOUR_MS) * HOUR_MS : nice * 1_000;
  const spanMs = Math.ceil((longestMs * 1.02) / (stepMs / 2)) * (stepMs / 2);
  return { spanMs, ticksMs: Array.from({ length: Math.floor(spanMs / stepMs) + 1 }, (_, index) => index * stepMs) };
}

/** `0 s`, `0.5 s`, `90 s`, `5 min`. */
export function tickText(atMs: number, spanMs: number): string {
  if (spanMs >= 600_000) return `${count(Math.round(atMs / 60_000))} min`;
  return `${spanMs < 4_000 ? (atMs / 1_000).toFixed(1) : count(atMs / 1_000)} s`;
}

/**
 * The height of a lane in tokens: the cap, so that its line is the ceiling. A reply that stays far below is drawn at a scale on
 * which it can be seen, and the cap then lies above the picture.
 */
export function laneTop({ capTokens, points }: Pick<BurnLane, 'capTokens' | 'points'>): number {
  const last = points.at(-1);
  const total = last === undefined ? 0 : totalOf(last);
  if (total === 0) return capTokens;
  // Two steps have the cap each.
  if (total > capTokens) return total;
  let top = capTokens;
  while (top / 4 >= total * 1.2 && top > 8) top /= 4;
  return top;
}

/** For screen readers and the name of the figure. */
export function burnSummary(lanes: readonly BurnLane[]): string {
  return lanes
    .map(
      ({ name, model, figure, notes }) =>
        `${model === null ? '' : `${model} `}${name}: ${[figure, ...notes].filter(Boolean).join('. ')}`,
    )
    .join('; ');
}
