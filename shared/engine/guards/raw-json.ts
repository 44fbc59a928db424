/** JSON with the way it is written: what a comparison of two texts tells people, and a parsed value has forgotten. */
import { type Json, parseJson } from './canonical.ts';

/** `raw` is the text of one value; `json` what it is read as. Keys stand in the order of the text. */
export type Raw =
  | { readonly kind: 'object'; readonly json: Json; readonly entries: ReadonlyMap<string, RawEntry> }
  | { readonly kind: 'list'; readonly json: Json; readonly items: readonly Raw[] }
  | { readonly kind: 'text' | 'number' | 'word'; readonly json: Json; readonly raw: string };

export interface RawEntry {
  readonly rawKey: string;
  readonly value: Raw;
}

export interface RawText {
  readonly root: Raw;
  /** Whole numbers that lose digits, as written; the first ones. */
  readonly lossy: readonly string[];
}

const LOSSY_KEPT_MAX = 5;

/** Of a text that `parseJson` takes; of another one the outcome means nothing. */
export function readRaw(text: string): RawText {
  const reader: Reader = { text, at: 0, lossy: [] };
  return { root: readValue(reader), lossy: reader.lossy };
}

interface Reader {
  readonly text: string;
  at: number;
  readonly lossy: string[];
}

function readValue(reader: Reader): Raw {
  skipSpace(reader);
  const mark = reader.text.charAt(reader.at);
  if (mark === '{') return readObject(reader);
  if (mark === '[') return readList(reader);
  if (mark === '"') {
    const raw = readString(reader);
    return { kind: 'text', json: JSON.parse(raw) as string, raw };
  }
  SCALAR.lastIndex = reader.at;
  const raw = SCALAR.exec(reader.text)?.[0] ?? '';
  reader.at += raw.length;
  if (raw === 'null') return { kind: 'word', json: null, raw };
  if (raw === 'true' || raw === 'false') return { kind: 'word', json: raw === 'true', raw };
  const read = parseJson(raw);
  if (read.ok && read.lossy && reader.lossy.length < LOSSY_KEPT_MAX && !reader.lossy.includes(raw))
    reader.lossy.push(raw);
  return { kind: 'number', json: Number(raw), raw };
}

const SCALAR = /[-+.\w]+/y;

function readObject(reader: Reader): Raw {
  const entries = new Map<string, RawEntry>();
  const json = new Map<string, Json>();
  reader.at += 1;
  while (!isClosed(reader, '}')) {
    const rawKey = readString(reader);
    skipSpace(reader);
    reader.at += 1;
    const value = readValue(reader);
    const key = JSON.parse(rawKey) as string;
    entries.set(key, { rawKey, value });
    json.set(key, value.json);
  }
  return { kind: 'object', json, entries };
}

function readList(reader: Reader): Raw {
  const items: Raw[] = [];
  reader.at += 1;
  while (!isClosed(reader, ']')) items.push(readValue(reader));
  return { kind: 'list', json: items.map(({ json }) => json), items };
}

/** Over space and a comma to the next entry; true past the closing mark and past the end of the text. */
function isClosed(reader: Reader, mark: string): boolean {
  skipSpace(reader);
  if (reader.text.charAt(reader.at) === ',') {
    reader.at += 1;
    skipSpace(reader);
  }
  if (reader.at < reader.text.length && reader.text.charAt(reader.at) !== mark) return false;
  reader.at += 1;
  return true;
}

/** With its quotes. */
function readString(reader: Reader): string {
  const from = reader.at;
  let at = from + 1;
  while (at < reader.text.length && reader.text.charAt(at) !== '"') at += reader.text.charAt(at) === '\\' ? 2 : 1;
  reader.at = at + 1;
  return reader.text.slice(from, at + 1);
}

function skipSpace(reader: Reader): void {
  while (reader.at < reader.text.length && ' \t\n\r'.includes(reader.text.charAt(reader.at))) reader.at += 1;
}
