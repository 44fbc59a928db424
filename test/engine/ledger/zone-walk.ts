/**
 * A second calendar, to hold the ledger's against: it walks a zone hour by hour (second by second where the clocks change),
 * writes down what they show, and lists every period in order. No date arithmetic of its own besides that of Date.
 */
import type { BudgetWindow } from '../../../shared/contract/plans.ts';
import type { PeriodRule } from '../../../shared/engine/ledger/calendar.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A stretch of time with one offset: clocks show instant + offset. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly offsetMs: number;
}

export interface ZoneWalk {
  readonly timeZone: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Instants at which the clocks change. */
  readonly changes: readonly number[];
  /** First instant at which the clocks show this local time or later ones. */
  reaches(localMs: number): number;
}

export function walkZone(timeZone: string, fromMs: number, toMs: number): ZoneWalk {
  const start = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  const stretches: Stretch[] = [];
  let since = start;
  let offsetMs = offsetAt(timeZone, start);
  for (let hour = start + HOUR_MS; hour <= toMs; hour += HOUR_MS) {
    const next = offsetAt(timeZone, hour);
    if (next === offsetMs) continue;
    let change = hour - HOUR_MS;
    while (offsetAt(timeZone, change) === offsetMs) change += 1_000;
    stretches.push({ fromMs: since, toMs: change, offsetMs });
    since = change;
    offsetMs = next;
  }
  stretches.push({ fromMs: since, toMs: Infinity, offsetMs });
  return {
    timeZone,
    fromMs: start,
    toMs,
    changes: stretches.slice(1).map((one) => one.fromMs),
    reaches(localMs) {
      for (const stretch of stretches) {
        const at = Math.max(stretch.fromMs, localMs - stretch.offsetMs);
        if (at < stretch.toMs) return at;
      }
      throw new Error('the walk ended too early');
    },
  };
}

export interface WalkedPeriod {
  readonly key: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

/** All periods that begin inside the walk, in order. A period of no length (a day the zone skipped) is left out. */
export function walkedPeriods(
  walk: ZoneWalk,
  window: Extract<BudgetWindow, 'day' | 'week' | 'month'>,
  rule: Omit<PeriodRule, 'timeZone'>,
): WalkedPeriod[] {
  const starts: { key: string; at: number }[] = [];
  const firstDay = Math.floor(walk.fromMs / DAY_MS) * DAY_MS + 2 * DAY_MS;
  for (let midnight = firstDay; midnight < walk.toMs - 2 * DAY_MS; midnight += DAY_MS) {
    const date = new Date(midnight);
    if (window === 'month' && date.getUTCDate() !== 1) continue;
    // Date counts Sunday as 0.
    if (window === 'week' && (date.getUTCDay() === 0 ? 7 : date.getUTCDay()) !== rule.weekStartsOn) continue;
    const text = date.toISOString();
    const key = window === 'month' ? text.slice(0, 7) : window === 'week' ? `w${text.slice(0, 10)}` : text.slice(0, 10);
    starts.push({ key, at: walk.reaches(midnight + rule.resetHour * HOUR_MS) });
  }
  return starts.flatMap(({ key, at }, index) => {
    const next = starts[index + 1];
    return next === undefined || next.at === at ? [] : [{ key, startsAtMs: at, endsAtMs: next.at }];
  });
}

/** What the zone's clocks show, read off the text of another locale than the ledger reads. */
function offsetAt(timeZone: string, atMs: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    formats.set(timeZone, format);
  }
  return Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`) - atMs;
}

const formats = new Map<string, Intl.DateTimeFormat>();
