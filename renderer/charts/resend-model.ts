/** What the resend chart draws: for each size a curve of all tokens sent so far, and below it the same tokens sent once. */
import type { ResendSeries } from '../../shared/contract/costs.ts';
import { count, short } from '../format/numbers.ts';

export interface ResendLine {
  readonly key: string;
  readonly kind: 'resent' | 'once';
  readonly size: number;
  /** The line with the most tokens; it is drawn strongest. */
  readonly most: boolean;
  readonly points: readonly (readonly [turn: number, tokens: number])[];
  readonly end: number;
}

export interface ResendModel {
  readonly turns: number;
  readonly tokensMax: number;
  readonly lines: readonly ResendLine[];
  readonly turnTicks: readonly number[];
  readonly tokenTicks: readonly number[];
  readonly summary: string;
}

export function resendModel(series: ResendSeries, base: number): ResendModel {
  const turns = series.turns.at(-1) ?? 1;
  const most = Math.max(...series.lines.map((line) => line.totalTokens));
  const lines = series.lines.flatMap((line): ResendLine[] => {
    const size = line.toolOutputTokens;
    const resent = series.turns.map((turn, index) => [turn, line.inputTokens[index] ?? 0] as const);
    const once = series.turns.map((turn) => [turn, base + size * (turn - 1)] as const);
    const shared = { size, most: line.totalTokens === most };
    return [
      { ...shared, key: `${size} resent`, kind: 'resent', points: resent, end: line.totalTokens },
      { ...shared, key: `${size} once`, kind: 'once', points: once, end: once.at(-1)?.[1] ?? 0 },
    ];
  });
  const tokensMax = Math.max(1, most);
  return {
    turns,
    tokensMax,
    lines,
    turnTicks: ticksTo(turns, 4).filter((tick) => tick > 0),
    tokenTicks: ticksTo(tokensMax, 3),
    summary: series.lines
      .map(
        (line) =>
          `${count(line.toolOutputTokens)} tokens a turn: ${count(line.totalTokens)} tokens sent over ${count(turns)} turns`,
      )
      .join('; '),
  };
}

/** 500, 40k, 7.7M, 2bn, 1.5tn: room on a chart is short. */
export function largeWord(value: number): string {
  if (value >= 1e12) return `${Math.round(value / 1e11) / 10}tn`;
  return value >= 1e9 ? `${Math.round(value / 1e8) / 10}bn` : short(value);
}

/** 0 and whole multiples of 1, 2 or 5 times a power of ten, `parts` or a few more of them, up to `max`. */
export function ticksTo(max: number, parts: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max / parts)));
  const step = [5, 2, 1].map((factor) => factor * power).find((each) => max / each >= parts) ?? power;
  const whole = Math.max(1, step);
  return Array.from({ length: Math.floor(max / whole) + 1 }, (_, index) => index * whole);
}

/** Labels from top to bottom, each at least `gap` below the one before and none below `bottom`. Same order in and out. */
export function spreadLabels(wanted: readonly number[], gap: number, bottom: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = wanted.map(() => 0);
  let above = -Infinity;
  for (const index of order) {
    above = Math.max(above + gap, wanted[index] ?? 0);
    placed[index] = above;
  }
  let below = bottom + gap;
  for (const index of order.toReversed()) {
    below = Math.min(below - gap, placed[index] ?? 0);
    placed[index] = below;
  }
  return placed;
}
