/**
 * Follows a log file over rotation: renamed and made anew, cut to nothing, removed, written over; also one that is not there
 * yet. Reads in place, in bounded steps, only when asked to: whoever polls decides how often.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type LineAssembler, createLineAssembler } from './line-assembler.ts';
import type { LogSink, LogSource, SourceState } from './source.ts';

const CHUNK_BYTES = 65_536;
/** More than this at once is left out, but for its end: a console that slept must not read a day's log. */
export const BACKLOG_BYTES_MAX = 8_000_000;
const BACKLOG_BYTES_KEPT = 1_000_000;
/** Bytes before the place that was read to, to notice that the file was written over. */
const SEEN_BYTES = 1_024;
/** Places of a new file begin behind those of the old one, which may still grow a little. */
const PLACES_BETWEEN_FILES = 100_000_000;
/** A rotated file is looked at this often after the new one has begun: its writer may not have noticed. */
const LAST_LOOKS = 3;

interface OpenFile {
  readonly fd: number;
  readonly identity: string;
  /** Place of the file's first byte. */
  base: number;
  offset: number;
  seen: Buffer;
  readonly lines: LineAssembler;
}

export function tailFile(path: string, sink: LogSink): LogSource {
  let file: OpenFile | null = null;
  let rotated: { readonly file: OpenFile; looks: number } | null = null;
  let state: SourceState = { state: 'not-found', problem: missing(path) };
  /** The next file that is opened began while this watched. */
  let isNew = false;
  let nextBase = 0;
  const buffer = Buffer.alloc(CHUNK_BYTES);

  function open(): void {
    let fd: number | null = null;
    try {
      // A pipe would block for ever when it is opened.
      const found = statSync(path, { bigint: true });
      if (!found.isFile()) {
        state = { state: 'not-readable', problem: `${path} is no file. Give the log file itself.` };
        return;
      }
      fd = openSync(path, 'r');
      const stat = fstatSync(fd, { bigint: true });
      const offset = isNew ? 0 : Number(stat.size);
      file = {
        fd,
        identity: identityOf(stat),
        base: nextBase,
        offset,
        seen: Buffer.alloc(0),
        lines: createLineAssembler((text, at) => sink.line(text, at)),
      };
      remember(file);
      // What stands there is older than this console; a line that has begun is no line of it either.
      if (offset > 0 && file.seen.at(-1) !== 10) file.lines.skipLine();
      state = { state: 'open', problem: null };
      isNew = true;
    } catch (error) {
      if (fd !== null && file?.fd !== fd) closeSync(fd);
      state = stateOf(error, path);
      // What is made later is read from its beginning.
      if (state.state === 'not-found') isNew = true;
    }
  }

  /** Reads to the end of the file as it is now. */
  function drain(one: OpenFile): void {
    const size = fstatSync(one.fd).size;
    if (size < one.offset || !isAsSeen(one)) startOver(one);
    if (size - one.offset > BACKLOG_BYTES_MAX) {
      sink.gap();
      one.offset = size - BACKLOG_BYTES_KEPT;
      one.lines.skipLine();
    }
    let read: number;
    do {
      read = readSync(one.fd, buffer, 0, CHUNK_BYTES, one.offset);
      if (read > 0) one.lines.push(buffer.subarray(0, read), one.base + one.offset);
      one.offset += read;
    } while (read > 0 && one.offset < size + CHUNK_BYTES);
    remember(one);
  }

  /** The same file with other bytes in it: nothing says how many lines came and went. */
  function startOver(one: OpenFile): void {
    sink.gap();
    one.lines.reset();
    one.base = one.base + one.offset + PLACES_BETWEEN_FILES;
    one.offset = 0;
    one.seen = Buffer.alloc(0);
  }

  function isAsSeen(one: OpenFile): boolean {
    if (one.seen.length === 0) return true;
    const now = Buffer.alloc(one.seen.length);
    const read = readSync(one.fd, now, 0, now.length, one.offset - now.length);
    return read === now.length && now.equals(one.seen);
  }

  function remember(one: OpenFile): void {
    const length = Math.min(SEEN_BYTES, one.offset);
    const seen = Buffer.alloc(length);
    const read = length === 0 ? 0 : readSync(one.fd, seen, 0, length, one.offset - length);
    one.seen = seen.subarray(0, read);
  }

  /** True where the path names another file by now. */
  function isReplaced(one: OpenFile): boolean {
    try {
      return identityOf(statSync(path, { bigint: true })) !== one.identity;
    } catch {
      // Moved away and not made anew yet: the old one may still grow.
      return false;
    }
  }

  function rotate(one: OpenFile): void {
    // Whatever came until the name changed.
    drain(one);
    closeRotated();
    rotated = { file: one, looks: 0 };
    nextBase = one.base + one.offset + PLACES_BETWEEN_FILES;
    file = null;
    open();
  }

  /** The first bytes of the new file may be the rest of the line that the old one ends with. */
  function readNew(one: OpenFile): void {
    const pending = rotated?.file.lines.pending() ?? null;
    if (one.offset === 0 && pending !== null && rotated !== null) {
      const head = Buffer.alloc(200);
      const read = readSync(one.fd, head, 0, head.length, 0);
      if (read === 0) return;
      if (!BEGINS_A_LINE.test(head.subarray(0, read).toString('latin1'))) {
        one.lines.push(pending.bytes, one.base - pending.bytes.length);
        rotated.file.lines.skipLine();
      }
    }
    drain(one);
  }

  function closeRotated(): void {
    if (rotated === null) return;
    if (rotated.file.lines.pending() !== null) sink.gap();
    closeSync(rotated.file.fd);
    rotated = null;
  }

  function poll(): void {
    try {
      if (rotated !== null) drain(rotated.file);
      if (file === null) open();
      if (file === null) return;
      readNew(file);
      if (isReplaced(file)) {
        rotate(file);
        // `open` has put the new one there.
        const next = file as OpenFile | null;
        if (next !== null) readNew(next);
      } else if (rotated !== null && file.offset > 0 && ++rotated.looks > LAST_LOOKS) closeRotated();
    } catch (error) {
      close();
      sink.gap();
      isNew = false;
      state = stateOf(error, path);
    }
  }

  function close(): void {
    closeRotated();
    if (file === null) return;
    nextBase = file.base + file.offset + PLACES_BETWEEN_FILES;
    closeSync(file.fd);
    file = null;
  }

  poll();
  return {
    name: path,
    state: () => state,
    poll,
    mark: () => (file === null ? nextBase : file.base + file.offset),
    writtenUpTo: () => (file === null ? Number.POSITIVE_INFINITY : file.base + file.offset),
    stop: async () => close(),
  };
}

/** How lines of Ollama and of its runner begin. */
const BEGINS_A_LINE = /^(?:time=\d|(?:slot|srv|que)\s+[^|:\s]{1,60}: |\[GIN\]|[a-z_]{3,40}(?:\s[a-z_]{3,40})?: )/;

function identityOf(stat: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${stat.dev}/${stat.ino}`;
}

const missing = (path: string): string => `${path} is not there. It is read as soon as it is.`;

function stateOf(error: unknown, path: string): SourceState {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'not-found', problem: missing(path) };
  if (code === 'EACCES' || code === 'EPERM')
    return { state: 'not-readable', problem: `${path} may not be read. Give this account the right to read it.` };
  return { state: 'not-readable', problem: `${path} cannot be read (${code === '' ? 'unknown error' : code}).` };
}
