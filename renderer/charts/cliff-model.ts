/**
 * Tokens sent against tokens evaluated, as values: points, one line a window, the frame of the axes and the sentence for
 * readers who do not see the chart. Pure; knows no React and no chart library.
 */
import { count } from '../format/numbers.ts';

export interface CliffPoint {
  readonly key: string;
  /** Tokens of the whole prompt; low and high are equal where it was counted. */
  readonly sent: number;
  readonly sentLow: number;
  readonly sentHigh: number;
  readonly evaluated: number;
  readonly window: number | null;
  /** The server cut the prompt to a size of its own: what comes after the cliff is flat. */
  readonly cut: boolean;
}

/** A prompt that the server did not run: nothing was evaluated, so it stands on the lower axis. */
export interface CliffRefusal {
  readonly key: string;
  readonly sent: number;
  readonly window: number | null;
}

export interface CliffSeries {
  readonly key: string;
  readonly name: string;
  readonly points: readonly CliffPoint[];
  readonly refusals?: readonly CliffRefusal[];
}

export interface CliffLine {
  readonly key: string;
  readonly name: string;
  readonly window: number | null;
  readonly path: readonly (readonly [number, number])[];
  readonly points: readonly CliffPoint[];
  /** Where it falls to, null where nothing was cut. */
  readonly fallsTo: number | null;
}

export interface CliffModel {
  readonly lines: readonly CliffLine[];
  readonly refusals: readonly CliffRefusal[];
  readonly windows: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
  readonly pointsDrawn: number;
  readonly pointsAll: number;
  readonly summary: string;
}

export const POINTS_MAX = 120;
export const LINES_MAX = 12;
export const REFUSALS_MAX = 60;

/** `windowsAhead`: windows that will run, to be drawn before any call has ended. */
export function cliffModel(series: readonly CliffSeries[], windowsAhead: readonly number[] = []): CliffModel {
  const known = series.filter(({ points, refusals = [] }) => points.length + refusals.length > 0);
  const drawn = known.slice(0, LINES_MAX);
  const perLine = Math.max(4, Math.floor(POINTS_MAX / Math.max(1, drawn.length)));
  const lines = drawn.map((one) => lineOf(one, perLine));
  const all = lines.flatMap(({ points }) => points);
  const ran = all.flatMap(({ window }) => (window === null ? [] : [window]));
  const windows = [...new Set([...ran, ...windowsAhead])].sort((a, b) => a - b);
  const refusals = decimate(
    drawn.flatMap((one) => (one.refusals ?? []).filter(({ sent }) => sent > 0)),
    REFUSALS_MAX,
  );
  const [from, to] = frameOf(all, refusals, windows);
  return {
    lines,
    refusals,
    windows: windows.filter((window) => window >= from && window <= to).slice(0, LINES_MAX),
    from,
    to,
    ticks: ticksBetween(from, to),
    pointsDrawn: all.length,
    pointsAll: series.reduce((sum, { points }) => sum + points.length, 0),
    summary: summaryOf(lines, refusals),
  };
}

/** 1, 2 and 5 times the powers of ten within the frame. */
export function ticksBetween(from: number, to: number): readonly number[] {
  const ticks: number[] = [];
  for (let power = 1; power <= to; power *= 10)
    for (const step of [1, 2, 5]) if (step * power >= from && step * power <= to) ticks.push(step * power);
  return ticks;
}

/** Keeps the first, the last and evenly spread ones between. */
export function decimate<Item>(items: readonly Item[], itemsMax: number): readonly Item[] {
  if (items.length <= itemsMax) return items;
  return Array.from(
    { length: itemsMax },
    (_, index) => items[Math.round((index * (items.length - 1)) / (itemsMax - 1))],
  ).filter((item) => item !== undefined);
}

function lineOf({ key, name, points }: CliffSeries, pointsMax: number): CliffLine {
  const sorted = decimate(
    [...points].filter(({ sent, evaluated }) => sent > 0 && evaluated > 0).sort((a, b) => a.sent - b.sent),
    pointsMax,
  );
  const cut = sorted.filter((point) => point.cut);
  const window = sorted.at(-1)?.window ?? null;
  const fallsTo = cut.length === 0 ? null : Math.min(...cut.map(({ evaluated }) => evaluated));
  return { key, name, window, path: pathOf(sorted, window), points: sorted, fallsTo };
}

/**
 * Along the points; between the last whole prompt and the first cut one the way is known, because the server reads all up
 * to its window: up to the window, straight down, then flat.
 */
function pathOf(points: readonly CliffPoint[], window: number | null): readonly (readonly [number, number])[] {
  const path: (readonly [number, number])[] = [];
  points.forEach((point, index) => {
    const before = points[index - 1];
    const falls =
      point.cut && before?.cut !== true && window !== null && point.sent > window && point.evaluated < window;
    if (falls && (before === undefined || before.sent < window)) path.push([window, window], [window, point.evaluated]);
    path.push([point.sent, point.evaluated]);
  });
  return path;
}

function frameOf(
  points: readonly CliffPoint[],
  refusals: readonly CliffRefusal[],
  windows: readonly number[],
): readonly [number, number] {
  if (points.length + refusals.length === 0) return [100, 100_000];
  const refused = refusals.map(({ sent }) => sent);
  const lowest = Math.min(...points.map(({ sent, evaluated }) => Math.min(sent, evaluated)), ...refused);
  const highest = Math.max(...refused, ...points.map(({ sentHigh, evaluated }) => Math.max(sentHigh, evaluated)));
  // A window far above every text would squeeze the picture; one just above it shows the room that is left.
  const near = Math.max(0, ...windows.filter((window) => window <= highest * 2));
  return [Math.max(1, Math.floor(lowest / 1.6)), Math.ceil(Math.max(highest, near, lowest * 4) * 1.25)];
}

function summaryOf(lines: readonly CliffLine[], refusals: readonly CliffRefusal[]): string {
  const refused =
    refusals.length === 0
      ? ''
      : ` ${count(refusals.length)} refused, from ${count(Math.min(...refusals.map(({ sent }) => sent)))} tokens up.`;
  if (lines.every(({ points }) => points.length === 0))
    return refused !== '' ? refused.trim() : 'No call has ended yet.';
  const said = lines.slice(0, 6).flatMap((line) => {
    if (line.points.length === 0) return [];
    const at = line.window === null ? line.name : count(line.window);
    return line.fallsTo === null
      ? [`at ${at} nothing is lost`]
      : [`at ${at} the count falls to ${count(line.fallsTo)}`];
  });
  const more = lines.length > 6 ? `; ${count(lines.length - 6)} more lines` : '';
  return `Tokens evaluated against tokens sent: ${[...new Set(said)].join('; ')}${more}.${refused}`;
}
