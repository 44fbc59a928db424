/**
 * The moments at which budgets turn over, in a named zone: midnight, the end of a month, a change of the clocks. Pure; instants
 * are milliseconds since 1970 UTC.
 */

/** The first instant of the next local day. */
export function nextMidnight(atMs: number, zone: string): number {
  const day = localDay(atMs, zone);
  return firstInstant(atMs, atMs + 49 * HOUR_MS, (ms) => localDay(ms, zone) > day);
}

/** The first instant of the next local month. */
export function nextMonth(atMs: number, zone: string): number {
  const month = localMonth(atMs, zone);
  return firstInstant(atMs, atMs + 33 * DAY_MS, (ms) => localMonth(ms, zone) > month);
}

/** The instant at which the zone's offset changes next; null when it does not within a year and a month. */
export function nextClockChange(atMs: number, zone: string): number | null {
  const now = offsetMs(atMs, zone);
  for (let days = 1; days <= 400; days += 1) {
    const ms = atMs + days * DAY_MS;
    if (offsetMs(ms, zone) !== now) return firstInstant(ms - DAY_MS, ms, (each) => offsetMs(each, zone) !== now);
  }
  return null;
}

/** Local time minus UTC. */
export function offsetMs(atMs: number, zone: string): number {
  return localMs(atMs, zone) - Math.floor(atMs / 1_000) * 1_000;
}

/** `UTC`, `UTC+05:45` as of now; empty for a zone this browser does not know. */
export function offsetWord(zone: string, atMs = Date.now()): string {
  if (formatOf(zone) === null) return '';
  const minutes = Math.round(offsetMs(atMs, zone) / 60_000);
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** `2026-11-14 22:44:02` on the clocks of the zone; UTC where the zone is not known here. */
export function localText(atMs: number, zone: string): string {
  return new Date(localMs(atMs, zone)).toISOString().slice(0, 19).replace('T', ' ');
}

/** A local time as it is typed, `2026-11-14 22:44` with or without seconds, as an instant; null for anything else. */
export function instantOfLocal(text: string, zone: string): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?$/u.exec(text.trim());
  if (match === null) return null;
  const [year = 0, month = 0, date = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const wanted = Date.UTC(year, month - 1, date, hours, minutes, seconds);
  const [day = ''] = text.trim().split(/[ T]/u);
  if (new Date(wanted).toISOString().slice(0, 10) !== day || hours > 23 || minutes > 59 || seconds > 59) return null;
  // A time the clocks skip is read as if they had not been moved yet: it is the same moment as one a little later.
  for (const guess of [wanted - offsetMs(wanted - DAY_MS, zone), wanted - offsetMs(wanted + DAY_MS, zone)])
    if (localMs(guess, zone) === wanted) return guess;
  return wanted - offsetMs(wanted - DAY_MS, zone);
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const localDay = (atMs: number, zone: string): number => Math.floor(localMs(atMs, zone) / DAY_MS);
const localMonth = (atMs: number, zone: string): number => {
  const date = new Date(localMs(atMs, zone));
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** The first whole second in (from, to] for which it holds; `to` must hold. */
function firstInstant(fromMs: number, toMs: number, holds: (ms: number) => boolean): number {
  let low = Math.floor(fromMs / 1_000);
  let high = Math.ceil(toMs / 1_000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle * 1_000)) high = middle;
    else low = middle;
  }
  return high * 1_000;
}

/** The local clock as if it were UTC, to the second. */
function localMs(atMs: number, zone: string): number {
  const format = formatOf(zone);
  if (format === null) return Math.floor(atMs / 1_000) * 1_000;
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const formats = new Map<string, Intl.DateTimeFormat | null>();
function formatOf(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = makeFormat(zone);
  if (formats.size > 600) formats.clear();
  formats.set(zone, made);
  return made;
}

function makeFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
}

const pad = (value: number): string => String(value).padStart(2, '0');

export interface ClockMove {
  readonly text: string;
  /** The local time it leads to. */
  readonly note: string;
  /** Both null where there is no such moment. */
  readonly toMs: number | null;
  readonly byMs: number | null;
}

const BEFORE_MS = 5_000;

/** What a workshop wants to see. Moments are shown a few seconds before they come, so that they pass on screen. */
export function clockMoves(atMs: number, zone: string): readonly ClockMove[] {
  const to = (text: string, ms: number | null): ClockMove => {
    // Less than that before it already: the one after it.
    const toMs = ms === null ? null : ms - BEFORE_MS;
    return { text, note: toMs === null ? 'never in this zone' : localText(toMs, zone), toMs, byMs: null };
  };
  const later = atMs + BEFORE_MS;
  return [
    { text: '1 hour on', note: localText(atMs + HOUR_MS, zone), toMs: null, byMs: HOUR_MS },
    { text: '1 day on', note: localText(atMs + DAY_MS, zone), toMs: null, byMs: DAY_MS },
    to('5 s before midnight', nextMidnight(later, zone)),
    to('5 s before the month ends', nextMonth(later, zone)),
    to('5 s before the clocks change', nextClockChange(later, zone)),
  ];
}

/** `2 d 1 h ahead`, `5 min behind`. */
export function movedWord(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const days = Math.floor(minutes / 1_440);
  const hours = Math.floor(minutes / 60) % 24;
  const parts = [
    days > 0 ? `${days} d` : null,
    hours > 0 ? `${hours} h` : null,
    days === 0 && minutes % 60 > 0 ? `${minutes % 60} min` : null,
  ].filter((part) => part !== null);
  return `${parts.length === 0 ? 'under a minute' : parts.join(' ')} ${offsetMs < 0 ? 'behind' : 'ahead'}`;
}
