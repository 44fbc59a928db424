/**
 * Canonical JSON (RFC 8785) from raw text. The text itself is read, not a parsed value: duplicate keys, lone surrogates and
 * numbers that are no finite double would be lost before anybody sees them. Strings stay as they are, without folding.
 */

/** Objects keep their own keys, also `__proto__` and integer-like ones. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = ReadonlyMap<string, Json>;

export type JsonFault = 'NOT_JSON' | 'DUPLICATE_KEY' | 'LONE_SURROGATE' | 'NUMBER_NOT_FINITE' | 'TOO_DEEP';

export type ParsedJson =
  /** lossy: a whole number beyond 2^53 lost digits, so two different ones may look alike. */
  | { readonly ok: true; readonly value: Json; readonly lossy: boolean }
  | { readonly ok: false; readonly fault: JsonFault; readonly at: number };

const DEPTH_MAX = 512;

export function parseJson(text: string): ParsedJson {
  const reader: Reader = { text, at: 0, lossy: false };
  try {
    skipSpace(reader);
    const value = readValue(reader, 0);
    skipSpace(reader);
    if (reader.at !== text.length) throw fault(reader, 'NOT_JSON');
    return { ok: true, value, lossy: reader.lossy };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, fault: error.why, at: error.at };
    throw error;
  }
}

/** Keys sorted by UTF-16 code units, numbers as ECMAScript writes them, no space. */
export function canonicalText(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (isObject(value)) {
    const keys = [...value.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalText(value.get(key) ?? null)}`).join(',')}}`;
  }
  return `[${value.map(canonicalText).join(',')}]`;
}

export const isObject = (value: Json): value is JsonObject => value instanceof Map;

/** The same as a plain value, for schemas and tools. `__proto__` stays an own key. */
export function plainOf(value: Json): unknown {
  if (isObject(value)) {
    const plain: Record<string, unknown> = {};
    for (const [key, item] of value) {
      Object.defineProperty(plain, key, { value: plainOf(item), enumerable: true, writable: true, configurable: true });
    }
    return plain;
  }
  return Array.isArray(value) ? value.map((item: Json) => plainOf(item)) : value;
}

interface Reader {
  readonly text: string;
  at: number;
  lossy: boolean;
}

class Fault extends Error {
  readonly why: JsonFault;
  readonly at: number;
  constructor(why: JsonFault, at: number) {
    super(why);
    this.why = why;
    this.at = at;
  }
}

const fault = (reader: Reader, why: JsonFault): Fault => new Fault(why, reader.at);

function skipSpace(reader: Reader): void {
  while (' \t\n\r'.includes(reader.text.charAt(reader.at)) && reader.at < reader.text.length) reader.at += 1;
}

function readValue(reader: Reader, depth: number): Json {
  if (depth > DEPTH_MAX) throw fault(reader, 'TOO_DEEP');
  const mark = reader.text.charAt(reader.at);
  if (mark === '{') return readObject(reader, depth);
  if (mark === '[') return readArray(reader, depth);
  if (mark === '"') return readString(reader);
  for (const [word, value] of WORDS) {
    if (reader.text.startsWith(word, reader.at)) {
      reader.at += word.length;
      return value;
    }
  }
  return readNumber(reader);
}

const WORDS: readonly (readonly [string, null | boolean])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
];

function readObject(reader: Reader, depth: number): JsonObject {
  const object = new Map<string, Json>();
  reader.at += 1;
  skipSpace(reader);
  if (take(reader, '}')) return object;
  for (;;) {
    skipSpace(reader);
    if (reader.text.charAt(reader.at) !== '"') throw fault(reader, 'NOT_JSON');
    const key = readString(reader);
    if (object.has(key)) throw fault(reader, 'DUPLICATE_KEY');
    skipSpace(reader);
    if (!take(reader, ':')) throw fault(reader, 'NOT_JSON');
    skipSpace(reader);
    object.set(key, readValue(reader, depth + 1));
    skipSpace(reader);
    if (take(reader, '}')) return object;
    if (!take(reader, ',')) throw fault(reader, 'NOT_JSON');
  }
}

function readArray(reader: Reader, depth: number): Json[] {
  const list: Json[] = [];
  reader.at += 1;
  skipSpace(reader);
  if (take(reader, ']')) return list;
  for (;;) {
    skipSpace(reader);
    list.push(readValue(reader, depth + 1));
    skipSpace(reader);
    if (take(reader, ']')) return list;
    if (!take(reader, ',')) throw fault(reader, 'NOT_JSON');
  }
}

function take(reader: Reader, mark: string): boolean {
  if (reader.text.charAt(reader.at) !== mark) return false;
  reader.at += 1;
  return true;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Walked by hand: an expression over a text of megabytes would use up the stack. */
function readString(reader: Reader): string {
  const { text, at: from } = reader;
  if (text.charAt(from) !== '"') throw fault(reader, 'NOT_JSON');
  let at = from + 1;
  for (;;) {
    const unit = text.charCodeAt(at);
    // Past the end it is no number, and the comparison is false as well.
    if (!(unit >= 0x20)) throw fault(reader, 'NOT_JSON');
    if (unit === QUOTE) break;
    if (unit === BACKSLASH) {
      ESCAPE.lastIndex = at;
      const escape = ESCAPE.exec(text);
      if (escape === null) throw fault(reader, 'NOT_JSON');
      at += escape[0].length;
    } else at += 1;
  }
  const value = JSON.parse(text.slice(from, at + 1)) as string;
  if (!value.isWellFormed()) throw fault(reader, 'LONE_SURROGATE');
  reader.at = at + 1;
  return value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function readNumber(reader: Reader): number {
  NUMBER.lastIndex = reader.at;
  const found = NUMBER.exec(reader.text);
  if (found === null || found[0] === '') throw fault(reader, 'NOT_JSON');
  const value = Number(found[0]);
  if (!Number.isFinite(value)) throw fault(reader, 'NUMBER_NOT_FINITE');
  reader.at += found[0].length;
  if (/^-?\d+$/.test(found[0]) && !Number.isSafeInteger(value)) reader.lossy ||= found[0] !== wholeText(value);
  return value;
}

/** The digits that a whole number is written with, without an exponent: what comes back of the digits it was read from. */
function wholeText(value: number): string {
  const [digits = '', exponent] = String(value).split('e+');
  if (exponent === undefined) return digits;
  const [whole = '', fraction = ''] = digits.split('.');
  return `${whole}${fraction.padEnd(Number(exponent), '0')}`;
}
