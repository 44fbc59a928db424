/** Bytes as Go writes them: JSON with HTML-safe escapes, times with nine digits, header order, durations in log lines. */

/** Compact JSON with `<`, `>`, `&` and the two line separators escaped, lone surrogates replaced. Key order = insertion. */
export function goJson(value: unknown): string {
  const text = JSON.stringify(value);
  return (loneSurrogateEscape.test(text) ? JSON.stringify(value, wellFormed) : text).replace(unsafe, escapeUnit);
}

/** RFC 3339 in UTC with nanoseconds, zeros at the end left out. */
export function goTime(milliseconds: number, extraNanoseconds = 0): string {
  const seconds = Math.floor(milliseconds / 1000);
  const fraction = Math.floor((milliseconds - seconds * 1000) * 1_000_000) + extraNanoseconds;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const digits = String(Math.max(0, Math.min(999_999_999, fraction)))
    .padStart(9, '0')
    .replace(/0+$/, '');
  return digits === '' ? `${whole}Z` : `${whole}.${digits}Z`;
}

/** Wall clock with sub-millisecond digits, for `created_at`. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** A duration as Go's `time.Duration` prints it: `50.806µs`, `1.426s`, `1m4.5s`. */
export function goDuration(nanoseconds: number): string {
  const value = Math.max(0, Math.round(nanoseconds));
  if (value < 1_000) return `${value}ns`;
  if (value < 1_000_000) return `${trimmed(value / 1_000, 3)}µs`;
  if (value < 1_000_000_000) return `${trimmed(value / 1_000_000, 6)}ms`;
  const seconds = value / 1_000_000_000;
  if (seconds < 60) return `${trimmed(seconds, 9)}s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${trimmed(seconds - minutes * 60, 9)}s`;
  return minutes < 60 ? `${minutes}m${rest}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${rest}`;
}

/** Bytes above which Go's server does not know the length any more and sends chunks. */
export const contentLengthMaxBytes = 2_048;

export type RawHeaders = readonly (readonly [string, string])[];

/**
 * Headers in Go's order: the handler's own, sorted by name, then Date, Content-Length, Connection, Transfer-Encoding.
 * `bytes` null = a stream of unknown length, which an HTTP/1.0 client gets up to the end of the connection.
 */
export function goHeaders(own: RawHeaders, bytes: number | null, closes: boolean, knowsChunks = true): string[] {
  const sorted = [...own].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const flat = sorted.flatMap(([name, value]) => [name, value]);
  flat.push('Date', new Date().toUTCString());
  const isChunked = bytes === null || bytes > contentLengthMaxBytes;
  if (!isChunked) flat.push('Content-Length', String(bytes));
  if (closes) flat.push('Connection', 'close');
  if (isChunked && knowsChunks) flat.push('Transfer-Encoding', 'chunked');
  return flat;
}

const unsafe = /[<>&\u2028\u2029]/g;
/** JSON.stringify writes a lone surrogate as an escape; Go writes the replacement character. */
const loneSurrogateEscape = /\\ud[89a-f][0-9a-f]{2}/;

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function trimmed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.?0+$/, '');
}
