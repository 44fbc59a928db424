/**
 * The diagnostic log: one JSON line for each limit, time-out, disconnect and error, in files that rotate and stay small. It
 * is made to be sent to somebody else. So it takes only the fields below, and none of them can hold a prompt, an answer, a
 * body, a key or a header: addresses lose their user, path and query, errors give their name, code and places but not their
 * message.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import pino from 'pino';
import { createStream } from 'rotating-file-stream';
import type { RotatingFileStream } from 'rotating-file-stream';
import type { Clock } from '../../engine/ports.ts';

export const diagnosticKinds = ['limit', 'timeout', 'disconnect', 'error', 'cancel', 'info'] as const;
export type DiagnosticKind = (typeof diagnosticKinds)[number];

export interface DiagnosticEntry {
  /** What happened, in fixed words: `call-ended`, `socket-behind`. */
  readonly event: string;
  /** Drawn from `ending` where it is left out. */
  readonly kind?: DiagnosticKind;
  /** A sentence of our own; never text from a person, a model or a server. */
  readonly text?: string;
  /** Route, such as `/api/chat`; a query is cut off. */
  readonly path?: string | null;
  readonly ending?: string | null;
  readonly abortedBy?: string | null;
  readonly status?: number | null;
  readonly afterMs?: number | null;
  /** Which limit, what it allows, what was used. */
  readonly limit?: string;
  readonly allowed?: number | null;
  readonly used?: number | null;
  readonly model?: string | null;
  readonly server?: string | null;
  readonly callId?: string | null;
  readonly runId?: string | null;
  /** Denial code. */
  readonly code?: string | null;
  readonly error?: unknown;
}

export interface DiagnosticLog {
  /** Never throws and never waits. Calls that ended well (`ending: 'done'`) are not written. */
  write(entry: DiagnosticEntry): void;
  /** Lines that were left out because the disk did not keep up, or refused. */
  dropped(): number;
  /** Resolves when everything is in the file. Again is allowed. */
  close(): Promise<void>;
}

export const noDiagnosticLog: DiagnosticLog = {
  write: () => undefined,
  dropped: () => 0,
  close: () => Promise.resolve(),
};

export const diagnosticFile = 'diagnostic.jsonl';

/** Keeps `fileBytesMax` x (`filesMax` + 1) at most. A folder that cannot be written gives a log that counts and drops. */
export function openDiagnosticLog(ask: {
  readonly folder: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly fileBytesMax?: number;
  readonly filesMax?: number;
}): DiagnosticLog {
  const stream = openStream(ask.folder, ask.fileBytesMax ?? 1_000_000, ask.filesMax ?? 4);
  if (stream === null) return countingLog();
  let dropped = 0;
  let broken = false;
  // Without a listener a full disk would end the process.
  stream.on('error', () => (broken = true));
  stream.on('warning', () => undefined);
  const logger = pino(
    {
      base: { pid: process.pid },
      timestamp: () => `,"time":"${ask.clock.now()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    stream,
  );
  return {
    write: (entry) => {
      const kind = entry.kind ?? kindOf(entry);
      if (kind === null) return;
      if (broken || stream.writableEnded || stream.writableLength > waitingBytesMax) {
        dropped += 1;
        return;
      }
      logger[levelOf[kind]]({ kind, ...allowed(entry) });
    },
    dropped: () => dropped,
    close: () => ended(stream),
  };
}

const waitingBytesMax = 1_000_000;
const textCharactersMax = 200;
const framesMax = 8;

const levelOf = {
  limit: 'warn',
  timeout: 'warn',
  disconnect: 'warn',
  error: 'error',
  cancel: 'info',
  info: 'info',
} as const;

function kindOf({ ending, abortedBy }: DiagnosticEntry): DiagnosticKind | null {
  switch (ending) {
    case undefined:
    case null:
      return 'info';
    case 'done':
      return null;
    case 'cancelled':
      return 'cancel';
    case 'aborted':
    case 'cut':
    case 'unreachable':
    case 'no-server':
      // Nobody wanted it to end: the connection broke, or there was none.
      return abortedBy === 'timeout'
        ? 'timeout'
        : abortedBy === null || abortedBy === undefined
          ? 'disconnect'
          : 'cancel';
    default:
      return abortedBy === 'timeout' ? 'timeout' : 'error';
  }
}

/** Field by field, so that what a caller hands over besides is never written. */
function allowed(entry: DiagnosticEntry): Record<string, unknown> {
  const { error } = entry;
  return {
    event: plain(entry.event),
    text: plain(entry.text),
    path: plain(entry.path)?.replace(/[?#].*$/s, ''),
    ending: plain(entry.ending),
    abortedBy: plain(entry.abortedBy),
    status: figure(entry.status),
    afterMs: figure(entry.afterMs),
    limit: plain(entry.limit),
    allowed: figure(entry.allowed),
    used: figure(entry.used),
    model: plain(entry.model),
    server: typeof entry.server === 'string' ? originOf(entry.server) : undefined,
    callId: plain(entry.callId),
    runId: plain(entry.runId),
    code: plain(entry.code),
    ...(error === undefined ? {} : errorFields(error)),
  };
}

/** Clipped, on one line, without characters that steer a terminal or hide. */
function plain(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const clipped = text.length > textCharactersMax ? `${text.slice(0, textCharactersMax)}…` : text;
  return clipped.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

const figure = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Scheme, host and port. User, password, path and query can hold keys. */
function originOf(address: string): string {
  const url = URL.parse(address);
  if (url !== null && url.host !== '') return `${url.protocol}//${url.host}`;
  // The short form that screens show: host and port alone.
  return /^(?:[\w.-]{1,200}|\[[\da-fA-F:.]{2,60}\]):\d{1,5}$/.test(address) ? address : '(not an address)';
}

/** An error's message may quote a prompt or a reply; its name, code and places in the program cannot. */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    errorName: plain(error.name),
    errorCode: typeof code === 'string' && /^[A-Za-z0-9_-]{1,60}$/.test(code) ? code : undefined,
    at: framesOf(error),
    ...(error.cause instanceof Error ? { cause: errorFields(error.cause) } : {}),
  };
}

/**
 * `runtime.ts:88:12`. The folders of this machine are left out, and so is the message that opens the stack; where it cannot
 * be told from the places (it was changed later), nothing is given.
 */
function framesOf(error: Error): string[] {
  const stack = error.stack ?? '';
  const at = stack.indexOf(error.message);
  const rest = stack.slice(at + error.message.length);
  if (at < 0 || stack.slice(0, at).includes('\n') || !rest.startsWith('\n')) return [];
  const places = rest.split('\n').map((line) => /^\s+at .*?([^\s()]+:\d+:\d+)\)?$/.exec(line)?.[1]);
  return places
    .filter((place) => place !== undefined)
    .slice(0, framesMax)
    .map((place) => basename(place));
}

function openStream(folder: string, fileBytesMax: number, filesMax: number): RotatingFileStream | null {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    return createStream((index) => (index ? `diagnostic.${Number(index)}.jsonl` : diagnosticFile), {
      path: folder,
      size: `${fileBytesMax}B`,
      rotate: filesMax,
      mode: 0o600,
    });
  } catch {
    // The console works without its log; `dropped` shows that there is none.
    return null;
  }
}

function countingLog(): DiagnosticLog {
  let dropped = 0;
  return { ...noDiagnosticLog, write: () => void (dropped += 1), dropped: () => dropped };
}

function ended(stream: RotatingFileStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed || stream.destroyed) return resolve();
    stream.once('close', resolve);
    stream.once('error', () => resolve());
    stream.once('finish', () => resolve());
    if (!stream.writableEnded) stream.end();
  });
}
