/**
 * Recordings of a real server beside what the simulator answers. Whatever cannot be the same twice (times, durations, ids,
 * vectors) is compared by kind; all else by value: status, header names and their order, framing, keys, their order, texts, counts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { RawReply } from './raw-http.ts';

export interface Recording {
  readonly name: string;
  readonly about: string;
  readonly server: { readonly version: string };
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly status_line: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly chunked: boolean;
    readonly chunk_sizes: readonly number[];
    readonly body: string;
  };
  readonly running_after: readonly { readonly model: string; readonly context_length: number }[];
  readonly log: readonly string[];
}

/** Recordings of a folder of test/fixtures, by name. */
export function recordingsOf(folder: string, isWanted: (name: string) => boolean = () => true): Recording[] {
  const place = new URL(`../fixtures/${folder}/`, import.meta.url);
  return readdirSync(place)
    .filter((file) => file.endsWith('.json') && isWanted(file.slice(0, -5)))
    .sort()
    .map((file) => JSON.parse(readFileSync(new URL(file, place), 'utf8')) as Recording)
    .filter((recording) => 'request' in recording);
}

export interface Comparable {
  readonly statusLine: string;
  readonly headers: readonly string[];
  readonly chunked: boolean;
  /** Number of chunks of a stream; null for one body, which TCP may cut. */
  readonly chunkCount: number | null;
  readonly contentType: string;
  /** null where the recording was shortened and lost it. */
  readonly endsWithNewline: boolean | null;
  readonly values: readonly unknown[];
}

export function comparableOfRecording({ response }: Recording): Comparable {
  return comparable({
    statusLine: response.status_line,
    headers: response.headers,
    chunked: response.chunked,
    chunkCount: response.chunk_sizes.length,
    body: response.body,
  });
}

export function comparableOfReply(reply: RawReply): Comparable {
  return comparable({ ...reply, chunkCount: reply.chunks.length });
}

/** Lines that say what happened to the prompt or the reply; times, sources, tasks and slots are left out. */
export function tellingLines(log: readonly string[]): string[] {
  return log
    .filter((line) =>
      /truncating|exceeds|requested context size|prediction aborted|parsing failed|too large|new prompt/.test(line),
    )
    .map((line) =>
      line
        .replace(/^time=\S+ /, '')
        .replace(/ source=\S+/, '')
        .replace(/id +\d+ \| task \d+ \|/, 'id _ | task _ |')
        .replace(/task id = \d+/, 'task id = _'),
    );
}

function comparable(reply: {
  statusLine: string;
  headers: readonly (readonly [string, string])[];
  chunked: boolean;
  chunkCount: number;
  body: string;
}): Comparable {
  const contentType = reply.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
  const isStream = /ndjson|event-stream/.test(contentType);
  return {
    statusLine: reply.statusLine,
    headers: reply.headers.map(([name]) => name),
    chunked: reply.chunked,
    chunkCount: isStream ? reply.chunkCount : null,
    contentType,
    endsWithNewline: /"embeddings?":\[/.test(reply.body) ? null : reply.body.endsWith('\n'),
    values: valuesOf(reply.body, contentType),
  };
}

function valuesOf(body: string, contentType: string): readonly unknown[] {
  if (body === '') return [];
  const lines = contentType.includes('event-stream')
    ? body.split('\n')
    : contentType.includes('ndjson')
      ? body.split('\n').slice(0, -1)
      : [body];
  return lines.map((line) => {
    const json = line.replace(/^data: /, '');
    return json.startsWith('{') || json.startsWith('[{') ? ordered(JSON.parse(json), '') : json;
  });
}

/** Objects as lists of [key, value], so that the order of keys counts. */
function ordered(value: unknown, key: string): unknown {
  if (key in byKind) return byKind[key]?.(value);
  if (Array.isArray(value)) return vectorKind(value) ?? value.map((item) => ordered(item, ''));
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([name, inner]) => [name, ordered(inner, name)]);
}

const kindOf = (value: unknown): string => (value === null ? 'null' : typeof value);
const idKind = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .replace(/^(chatcmpl|cmpl|resp|msg|rs|fc)([-_])[\da-f_]+$/, '$1$2…')
        .replace(/^req_[\da-f]{24}$/, 'req_…')
        .replace(/^call_[a-z\d]{8}$/, 'call_…')
    : kindOf(value);

const byKind: Readonly<Record<string, (value: unknown) => unknown>> = {
  created_at: (value) =>
    typeof value === 'string' ? value.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, 'time') : kindOf(value),
  created: kindOf,
  completed_at: kindOf,
  total_duration: kindOf,
  load_duration: kindOf,
  prompt_eval_duration: kindOf,
  eval_duration: kindOf,
  logprob: kindOf,
  id: idKind,
  request_id: idKind,
  expires_at: kindOf,
  size: kindOf,
  size_vram: kindOf,
  digest: kindOf,
  modified_at: kindOf,
  /** Token numbers of the model's own vocabulary. */
  context: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'number') ? 'numbers' : kindOf(value),
};

/** `[0.1,0.2,0.3,"… 384 numbers"]` in a recording is a list of 384 numbers. */
function vectorKind(value: readonly unknown[]): string | null {
  if (value.length < 3 || typeof value[0] !== 'number') return null;
  const shortened = typeof value.at(-1) === 'string' ? /(\d+) numbers$/.exec(String(value.at(-1)))?.[1] : undefined;
  const numbers = shortened === undefined ? value : value.slice(0, -1);
  return numbers.every((item) => typeof item === 'number') ? `${shortened ?? value.length} numbers` : null;
}
