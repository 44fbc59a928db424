/**
 * Bytes of a reply in, events out, whatever way the network tore or glued them. Every ending that exists on the wire is its
 * own terminal state, and the texts that came before it were already given out.
 */
import type { ReplyEnd } from '../../engine/ports.ts';
import type { ErrorReading } from './error-text.ts';
import { htmlText, readError, readRefusal } from './error-text.ts';
import type { HttpHead } from './exchange.ts';
import { createLineSplitter, firstLines, linesWithin } from './lines.ts';
import { createRawCopy } from './raw-copy.ts';
import { plainChunkAt } from './plain-line.ts';
import { type Chunk, type LineFields, chunkOf, fieldsOf, isEmpty, noFields } from './reply-line.ts';

export const lineBytesMax = 16 * 1024 * 1024;
export const wholeBytesMax = 64 * 1024 * 1024;
export const refusalBytesMax = 1024 * 1024;
export const rawBytesMax = 4 * 1024 * 1024;
/** Thinking and answer together. A server that never ends would fill the memory; no window holds this much text. */
export const textCharactersMax = 32 * 1024 * 1024;

/** How the bytes stopped: the server ended them, or the connection broke or was closed (with the words for it). */
export type Stop =
  | { readonly kind: 'end-of-stream' }
  | { readonly kind: 'broken'; readonly error: string; readonly abortedBy: ReplyEnd['abortedBy'] };

export interface StreamParser {
  /** Chunks that are complete with these bytes; stop asking for bytes once `over`. */
  push(part: Uint8Array): readonly Chunk[];
  /** True when the last line was seen, or nothing more is wanted. */
  readonly over: boolean;
  /** Chunks that only the end of the stream completes, and the end itself. Call once. */
  finish(stop: Stop): { readonly chunks: readonly Chunk[]; readonly end: ReplyEnd };
}

export interface ParserOptions {
  readonly head: HttpHead;
  /** The request said stream:false: one document, which may be spread over lines. */
  readonly whole: boolean;
  readonly lineBytesMax?: number;
  readonly rawBytesMax?: number;
  readonly textCharactersMax?: number;
}

export function createStreamParser(options: ParserOptions): StreamParser {
  if (options.head.status < 200 || options.head.status > 299) return refusalParser(options);
  return options.whole ? wholeParser(options) : lineParser(options);
}

/** A line per chunk; ends at the done line or the error line, so that bytes behind it never count. */
function lineParser(options: ParserOptions): StreamParser {
  const limit = options.lineBytesMax ?? lineBytesMax;
  const splitter = createLineSplitter();
  const raw = createRawCopy(options.rawBytesMax ?? rawBytesMax);
  const reader = createLineReader(options.head);
  const textLimit = options.textCharactersMax ?? textCharactersMax;
  let textCharacters = 0;
  /** Which bound the reply went over. */
  let tooLong: string | null = null;
  const lineTooLong = `A line of the reply is longer than ${limit.toLocaleString('en-US')} bytes`;

  const isOver = (): boolean => tooLong !== null || reader.ending !== null;

  const count = (chunk: Chunk): void => {
    textCharacters += chunk.thinking.length + chunk.answer.length;
    if (textCharacters > textLimit)
      tooLong = `The reply is longer than ${textLimit.toLocaleString('en-US')} characters, so it was stopped`;
  };
  /** Decoded in one piece: a portion has hundreds of lines on a fast server, and a call for each costs more than its text. */
  const readLines = (lines: Buffer): Chunk[] => {
    const chunks: Chunk[] = [];
    const text = lines.toString('utf8');
    let at = 0;
    let linesRead = 0;
    while (at < text.length && !isOver()) {
      const end = text.indexOf('\n', at) + 1;
      const chunk = reader.readIn(text, at, end);
      if (chunk !== null) {
        count(chunk);
        chunks.push(chunk);
      }
      at = end;
      linesRead += 1;
    }
    raw.add(at === text.length ? lines : firstLines(lines, linesRead));
    return chunks;
  };
  return {
    push(part) {
      if (isOver()) return [];
      const lines = splitter.push(part);
      const fitting = linesWithin(lines, limit);
      const chunks = readLines(fitting);
      if (!isOver() && (fitting.byteLength < lines.byteLength || splitter.pendingBytes > limit)) tooLong = lineTooLong;
      return chunks;
    },
    get over() {
      return isOver();
    },
    finish(stop) {
      const chunks: Chunk[] = [];
      if (!isOver()) {
        const rest = splitter.rest();
        if (rest.byteLength > 0) {
          raw.add(rest);
          const chunk = stop.kind === 'end-of-stream' ? reader.readRest(decode(rest)) : null;
          if (chunk !== null) chunks.push(chunk);
        }
      }
      const ending: LineEnding = reader.ending ?? stopEnding(tooLong === null ? stop : broken(tooLong), reader.torn);
      return { chunks, end: endOf(options.head.status, reader.fields, ending, raw.read()) };
    },
  };
}

/** Collects the document. A server that streams although it was asked not to is read line by line at the end. */
function wholeParser(options: ParserOptions): StreamParser {
  const parts: Uint8Array[] = [];
  let size = 0;
  return {
    push(part) {
      if (size <= wholeBytesMax) parts.push(part);
      size += part.byteLength;
      return [];
    },
    get over() {
      return size > wholeBytesMax;
    },
    finish(stop) {
      const body = Buffer.concat(parts);
      const late =
        size > wholeBytesMax ? broken(`The reply is longer than ${wholeBytesMax.toLocaleString('en-US')} bytes`) : stop;
      const document = late.kind === 'end-of-stream' ? parseRecord(decode(body)) : null;
      if (document === null) return byLines(options, body, late);
      const raw = createRawCopy(options.rawBytesMax ?? rawBytesMax);
      raw.add(body);
      const reader = createLineReader(options.head);
      const chunk = reader.accept(document);
      const ending = reader.ending ?? stopEnding(late, false);
      return {
        chunks: chunk === null ? [] : [chunk],
        end: endOf(options.head.status, reader.fields, ending, raw.read()),
      };
    },
  };
}

const partBytes = 64 * 1024;

function byLines(options: ParserOptions, body: Buffer, stop: Stop): ReturnType<StreamParser['finish']> {
  const parser = lineParser({ ...options, lineBytesMax: wholeBytesMax * 2 });
  const chunks: Chunk[] = [];
  // In parts as a socket gives them: the text of the whole would stand in memory beside its bytes.
  for (let at = 0; at < body.byteLength && !parser.over; at += partBytes)
    for (const chunk of parser.push(body.subarray(at, at + partBytes))) chunks.push(chunk);
  const last = parser.finish(stop);
  for (const chunk of last.chunks) chunks.push(chunk);
  return { chunks, end: last.end };
}

/** Every status but 2xx: nothing was generated, the body says why. */
function refusalParser(options: ParserOptions): StreamParser {
  const raw = createRawCopy(refusalBytesMax);
  let size = 0;
  return {
    push(part) {
      raw.add(part);
      size += part.byteLength;
      return [];
    },
    get over() {
      return size > refusalBytesMax;
    },
    finish(stop) {
      const copy = raw.read();
      const reading = readRefusal({ ...options.head, body: copy.raw });
      const abortedBy = stop.kind === 'broken' ? stop.abortedBy : null;
      const ending: LineEnding = { ending: 'refused', abortedBy, ...reading };
      return { chunks: [], end: endOf(options.head.status, noFields, ending, copy) };
    },
  };
}

type LineEnding = Pick<ReplyEnd, 'ending' | 'abortedBy'> &
  Omit<ErrorReading, 'error'> & { readonly error: string | null };

interface LineReader {
  /** The line that stands in `text` from `start` to `end`, its newline with it. */
  readIn(text: string, start: number, end: number): Chunk | null;
  /** The text behind the last newline. */
  readRest(line: string): Chunk | null;
  accept(record: Readonly<Record<string, unknown>>): Chunk | null;
  readonly ending: LineEnding | null;
  readonly fields: LineFields;
  /** The stream stopped inside a JSON line. */
  readonly torn: boolean;
}

function createLineReader(head: HttpHead): LineReader {
  const isEventStream = head.contentType.toLowerCase().startsWith('text/event-stream');
  let ending: LineEnding | null = null;
  let fields = noFields;
  let torn = false;

  /** Nearly every line of a stream: a piece of text and nothing else. */
  const acceptPlain = (chunk: Chunk): Chunk => {
    if (fields.done !== false) fields = { ...fields, done: false };
    return chunk;
  };
  const accept = (record: Readonly<Record<string, unknown>>): Chunk | null => {
    const chunk = chunkOf(record);
    if (isPlain(record)) return acceptPlain(chunk);
    fields = merge(fields, fieldsOf(record));
    if (record.error !== undefined && record.error !== null) {
      ending = { ending: 'error-line', abortedBy: null, ...readError(record.error) };
    } else if (fields.done === true || isRender(record)) {
      ending = { ending: 'done', abortedBy: null, error: null, needs: null, has: null };
    }
    return ending !== null && isEmpty(chunk) ? null : chunk;
  };
  const read = (line: string): Chunk | null => {
    const text = isEventStream ? eventData(line) : line.trim();
    if (text === '') return null;
    const record = parseRecord(text);
    if (record !== null) return accept(record);
    const error = text.startsWith('<') ? readError(htmlText(text)) : readError(text);
    ending = { ending: 'error-line', abortedBy: null, ...error };
    return null;
  };
  return {
    readIn(text, start, end) {
      const plain = plainChunkAt(text, start);
      return plain === null ? read(text.slice(start, end)) : acceptPlain(plain);
    },
    readRest(line) {
      const text = isEventStream ? eventData(line) : line.trim();
      torn = text.startsWith('{') && parseRecord(text) === null;
      return torn ? null : read(line);
    },
    accept,
    get ending() {
      return ending;
    },
    get fields() {
      return fields;
    },
    get torn() {
      return torn;
    },
  };
}

/** A line that only carries text: the four names of a chat or generate line, `done` false, and nothing that a count rests on. */
function isPlain(record: Readonly<Record<string, unknown>>): boolean {
  if (record.done !== false) return false;
  for (const name in record) if (!plainNames.has(name)) return false;
  return true;
}

const plainNames: ReadonlySet<string> = new Set([
  'model',
  'created_at',
  'message',
  'response',
  'thinking',
  'done',
  'logprobs',
]);

/** `_debug_render_only` answers with done:false and is complete all the same. */
function isRender(record: Readonly<Record<string, unknown>>): boolean {
  return typeof record._debug_info === 'object' && record._debug_info !== null;
}

/** What was said last stands; what a line leaves out does not take back what another said. */
function merge(before: LineFields, now: LineFields): LineFields {
  return {
    done: now.done ?? before.done,
    doneReason: now.doneReason ?? before.doneReason,
    promptEvalCount: now.promptEvalCount ?? before.promptEvalCount,
    evalCount: now.evalCount ?? before.evalCount,
    totalDurationMs: now.totalDurationMs ?? before.totalDurationMs,
    loadDurationMs: now.loadDurationMs ?? before.loadDurationMs,
    promptEvalDurationMs: now.promptEvalDurationMs ?? before.promptEvalDurationMs,
    evalDurationMs: now.evalDurationMs ?? before.evalDurationMs,
    contextLength: now.contextLength ?? before.contextLength,
  };
}

function stopEnding(stop: Stop, torn: boolean): LineEnding {
  if (stop.kind === 'broken')
    return { ending: 'aborted', abortedBy: stop.abortedBy, error: stop.error, needs: null, has: null };
  const error = torn ? 'The reply stopped in the middle of a line' : 'The reply stopped without a done line';
  return { ending: 'cut', abortedBy: null, error, needs: null, has: null };
}

function broken(error: string): Stop {
  return { kind: 'broken', error, abortedBy: null };
}

function endOf(
  status: number,
  fields: LineFields,
  ending: LineEnding,
  copy: ReturnType<ReturnType<typeof createRawCopy>['read']>,
): ReplyEnd {
  return { status, ...fields, ...ending, ...copy };
}

/** The data of one line of an event stream; empty for comments, names, keep-alives and the closing mark. */
function eventData(line: string): string {
  const text = line.trim();
  if (text.startsWith('{')) return text;
  const data = /^data:\s*(.*)$/s.exec(text)?.[1] ?? '';
  return data === '[DONE]' ? '' : data;
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

const byteOrderMark = 0xfeff;

/** As a text decoder would, but several times faster for the short lines of a stream. */
function decode(line: Buffer): string {
  const text = line.toString('utf8');
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}
