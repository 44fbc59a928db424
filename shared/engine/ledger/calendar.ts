/**
 * Calendar periods in a named zone: which one an instant lies in, where it begins and ends. Periods follow from the zone's
 * boundaries alone, never from traffic. Instants are milliseconds since 1970 UTC; zones come from the platform's tz database.
 */
import type { BudgetWindow } from '../../contract/plans.ts';
import { must } from '../must.ts';

export interface PeriodRule {
  readonly timeZone: string;
  /** Local hour at which days, weeks and months begin, 0 to 23. */
  readonly resetHour: number;
  /** 1 = Monday … 7 = Sunday. */
  readonly weekStartsOn: number;
}

/** startsAtMs <= instant < endsAtMs; both null where the window has no calendar. */
export interface Period {
  readonly key: string;
  readonly startsAtMs: number | null;
  readonly endsAtMs: number | null;
}

export function periodOf(window: BudgetWindow, atMs: number, rule: PeriodRule): Period {
  if (window === 'run') return { key: 'run', startsAtMs: null, endsAtMs: null };
  if (window === 'minute') return { key: 'rolling', startsAtMs: null, endsAtMs: null };
  const memo = `${window} ${rule.timeZone} ${rule.resetHour} ${rule.weekStartsOn}`;
  const last = lastPeriods.get(memo);
  if (last !== undefined && last.startsAtMs <= atMs && atMs < last.endsAtMs) return last;
  const period = calendarPeriod(window, atMs, rule);
  if (lastPeriods.size >= MEMO_MAX) lastPeriods.clear();
  lastPeriods.set(memo, period);
  return period;
}

/** ISO 8601 UTC with milliseconds, of years 0 to 9999; throws for any other number and for parts of a millisecond. */
export function isoOf(atMs: number): string {
  must(Number.isInteger(atMs) && atMs >= FIRST_MS && atMs <= LAST_MS, `an instant is whole milliseconds: ${atMs}`);
  const day = Math.floor(atMs / DAY_MS);
  const rest = atMs - day * DAY_MS;
  const { year, month, date } = civilOf(day);
  const hours = Math.floor(rest / 3_600_000);
  const minutes = Math.floor(rest / 60_000) % 60;
  const seconds = Math.floor(rest / 1_000) % 60;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(date, 2)}T${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds, 2)}.${pad(rest % 1_000, 3)}Z`;
}

/** Of an ISO 8601 UTC text such as clocks give it; throws for any other, and for dates and times that do not exist. */
export function msOfIso(iso: string): number {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?Z$/.exec(iso);
  must(parts !== null, `not an instant: ${iso}`);
  const [year, month, date, hours, minutes, seconds] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const fraction = Number((parts[7] ?? '0').padEnd(3, '0').slice(0, 3));
  const atMs =
    dayOf(year ?? 0, month ?? 0, date ?? 0) * DAY_MS +
    (hours ?? 0) * 3_600_000 +
    (minutes ?? 0) * 60_000 +
    (seconds ?? 0) * 1_000 +
    fraction;
  // 30 February and 24:00 would silently become another day.
  must(isoOf(atMs).startsWith(iso.slice(0, 16)) && (seconds ?? 0) < 60, `not an instant: ${iso}`);
  return atMs;
}

const DAY_MS = 86_400_000;
/** 0000-01-01 and the last millisecond of 9999. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;
const MEMO_MAX = 1_000;
const lastPeriods = new Map<string, Period & { readonly startsAtMs: number; readonly endsAtMs: number }>();

function calendarPeriod(
  window: 'day' | 'week' | 'month',
  atMs: number,
  rule: PeriodRule,
): Period & { readonly startsAtMs: number; readonly endsAtMs: number } {
  const startOf = (day: number): number => instantOf(day * DAY_MS + rule.resetHour * 3_600_000, rule.timeZone);
  // The local date may belong to the period before (its reset hour is still to come), or, at odd clock changes, after.
  let day = Math.floor(localOf(atMs, rule.timeZone) / DAY_MS);
  for (let tries = 0; tries < 3 && atMs < startOf(day); tries += 1) day -= 1;
  for (let tries = 0; tries < 3 && atMs >= startOf(day + 1); tries += 1) day += 1;
  const { first, next, key } = spanOf(window, day, rule);
  return { key, startsAtMs: startOf(first), endsAtMs: startOf(next) };
}

/** Days counted from 1970-01-01, in the zone's own calendar. */
function spanOf(
  window: 'day' | 'week' | 'month',
  day: number,
  { weekStartsOn }: PeriodRule,
): { readonly first: number; readonly next: number; readonly key: string } {
  const { year, month } = civilOf(day);
  if (window === 'day') return { first: day, next: day + 1, key: dateKey(day) };
  if (window === 'month') {
    const first = dayOf(year, month, 1);
    const next = month === 12 ? dayOf(year + 1, 1, 1) : dayOf(year, month + 1, 1);
    return { first, next, key: dateKey(first).slice(0, 7) };
  }
  // 1970-01-01 was a Thursday.
  const weekday = ((((day + 3) % 7) + 7) % 7) + 1;
  const first = day - ((weekday - weekStartsOn + 7) % 7);
  return { first, next: first + 7, key: `w${dateKey(first)}` };
}

function dateKey(day: number): string {
  const { year, month, date } = civilOf(day);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(date, 2)}`;
}

/** The first instant at which the zone's clocks show this local time or, where they skip it, a later one. */
function instantOf(localMs: number, timeZone: string): number {
  const offsetOf = (atMs: number): number => localOf(atMs, timeZone) - atMs;
  const before = localMs - offsetOf(localMs - DAY_MS);
  const after = localMs - offsetOf(localMs + DAY_MS);
  const [early, late] = before <= after ? [before, after] : [after, before];
  for (const candidate of [early, late]) if (localOf(candidate, timeZone) === localMs) return candidate;
  // Skipped: the clocks jump somewhere between the two; from the jump on they show more.
  let low = early - DAY_MS;
  let high = late + DAY_MS;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (localOf(middle, timeZone) >= localMs) high = middle;
    else low = middle;
  }
  return high;
}

/** What the zone's clocks show, as if it were UTC. */
function localOf(atMs: number, timeZone: string): number {
  if (timeZone === 'UTC') return atMs;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(timeZone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  const milliseconds = ((atMs % 1_000) + 1_000) % 1_000;
  return dayOf(year, month, day) * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1_000 + milliseconds;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError for a zone that the platform does not know. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formatters.size >= MEMO_MAX) formatters.clear();
  formatters.set(timeZone, made);
  return made;
}

/** Days since 1970-01-01 of a date of the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
function dayOf(year: number, month: number, date: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + date - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

function civilOf(day: number): { readonly year: number; readonly month: number; readonly date: number } {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthShifted = Math.floor((5 * dayOfYear + 2) / 153);
  const date = dayOfYear - Math.floor((153 * monthShifted + 2) / 5) + 1;
  const month = monthShifted < 10 ? monthShifted + 3 : monthShifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, date };
}

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
