/** A bounded series over time. When it is full every second point goes, so that the whole course stays visible. */
export interface SeriesPoint {
  readonly atMs: number;
  readonly thinkingChunks: number;
  readonly answerChunks: number;
}

export const SERIES_POINTS_MAX = 240;

/** Returns a new series; the newest point is always the last one and is never thinned away. */
export function pushPoint(
  series: readonly SeriesPoint[],
  point: SeriesPoint,
  pointsMax = SERIES_POINTS_MAX,
): readonly SeriesPoint[] {
  const last = series.at(-1);
  if (last !== undefined && last.atMs === point.atMs) return [...series.slice(0, -1), point];
  const kept = series.length < pointsMax ? series : series.filter((_, index) => index % 2 === 0);
  return [...kept, point];
}

/** Keeps the newest `entriesMax` entries. */
export function pushRing<Entry>(ring: readonly Entry[], entry: Entry, entriesMax: number): readonly Entry[] {
  return ring.length < entriesMax ? [...ring, entry] : [...ring.slice(ring.length - entriesMax + 1), entry];
}

/** Tokens a second over the last `spanMs` of the series; null until two points stand apart. */
export function ratePerSecond(
  series: readonly SeriesPoint[],
  count: (point: SeriesPoint) => number,
  spanMs = 2_000,
): number | null {
  const last = series.at(-1);
  if (last === undefined) return null;
  const first = series.find((point) => point.atMs >= last.atMs - spanMs);
  if (first === undefined || last.atMs - first.atMs < 50) return null;
  return ((count(last) - count(first)) * 1_000) / (last.atMs - first.atMs);
}
