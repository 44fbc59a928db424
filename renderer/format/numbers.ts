/** How numbers stand on screen. Unknown is a dash, never 0; grouping is the same in every locale, as in exports and docs. */
const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export const DASH = '–';

/** 12,345; a dash when unknown. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? DASH : grouped.format(value);
}

/** `1 call`, `36 calls`, `– calls`. */
export function counted(value: number | null, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** 800 ms, 6.9 s, 3 min 20 s, 2 h 5 min. */
export function duration(valueMs: number | null | undefined): string {
  if (valueMs === null || valueMs === undefined) return DASH;
  if (valueMs < 1_000) return `${Math.round(valueMs)} ms`;
  if (valueMs < 60_000) return `${seconds(valueMs)} s`;
  const minutes = Math.floor(valueMs / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((valueMs % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `under 1 s`, `about 7 s`, `about 12 min`. */
export function aboutDuration(valueMs: number): string {
  return valueMs < 1_000 ? roughDuration(valueMs) : `about ${roughDuration(valueMs)}`;
}

/** For estimates: `under 1 s`, `7 s`, `12 min`, `2 h`. */
export function roughDuration(valueMs: number): string {
  if (valueMs < 1_000) return 'under 1 s';
  if (valueMs < 90_000) return `${Math.round(valueMs / 1_000)} s`;
  if (valueMs < 90 * 60_000) return `${Math.round(valueMs / 60_000)} min`;
  return `${Math.round(valueMs / 3_600_000)} h`;
}

/** Seconds with one decimal: 18.7 */
export function seconds(valueMs: number): string {
  return (valueMs / 1_000).toFixed(1);
}

/** Decimal units as Ollama itself prints them: 292 MB, 3.3 GB. */
export function byteSize(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (value < 1_000) return `${value} B`;
  if (value < 1_000_000) return `${Math.round(value / 1_000)} kB`;
  if (value < 100_000_000) return `${(value / 1_000_000).toFixed(0)} MB`;
  return `${(value / 1_000_000_000).toFixed(1)} GB`;
}

/** 2k, 120k, 1.5M for names of sizes. */
export function short(value: number): string {
  if (value >= 1_000_000) return `${trimmed(value / 1_000_000)}M`;
  return value >= 1_000 ? `${trimmed(value / 1_000)}k` : String(value);
}

export function percentOf(part: number, whole: number): string {
  return whole === 0 ? DASH : `${Math.round((part * 100) / whole)} %`;
}

export function rate(perSecond: number | null): string {
  if (perSecond === null) return DASH;
  return perSecond >= 1_000 ? `${grouped.format(perSecond)}/s` : `${perSecond.toFixed(1)}/s`;
}

/** Local time of day, 24 hours: 19:43:26 */
export function timeOfDay(iso: string): string {
  const date = new Date(iso);
  const part = (value: number): string => String(value).padStart(2, '0');
  return `${part(date.getHours())}:${part(date.getMinutes())}:${part(date.getSeconds())}`;
}

/** 2026-11-14 19:43, local. */
export function dateAndTime(iso: string): string {
  const date = new Date(iso);
  const part = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())} ${timeOfDay(iso).slice(0, 5)}`;
}

function trimmed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Host and port of an address, for the status bar; the text itself when it is no address. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
