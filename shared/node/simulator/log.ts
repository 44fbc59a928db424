/** The server's log: lines exactly as Ollama and its runner write them, in a bounded ring and, if asked, a tailable file. */
import { createWriteStream, existsSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { goDuration, goTime, nowMs } from './wire.ts';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

export interface SimulatorLog {
  /** `time=… level=… source=… msg=… key=value`; DEBUG lines only with debug on. */
  entry(
    level: LogLevel,
    source: string,
    message: string,
    fields: readonly (readonly [string, string | number])[],
  ): void;
  /** A line of the runner, without a prefix. */
  raw(line: string): void;
  access(status: number, elapsedNs: number, method: string, path: string): void;
  lines(): readonly string[];
  /** Every line from here on, as it is written. */
  onLine(listener: (line: string) => void): () => void;
  /** Lines that fell out of the ring. */
  dropped(): number;
  close(): Promise<void>;
}

export function createLog(options: { debug: boolean; file: string | null }): SimulatorLog {
  const ring: string[] = [];
  let dropped = 0;
  const listeners = new Set<(line: string) => void>();
  const file = options.file === null ? null : openFile(options.file);

  function put(line: string): void {
    ring.push(line);
    if (ring.length > ringLinesMax) {
      ring.splice(0, ringLinesMax / 10);
      dropped += ringLinesMax / 10;
    }
    file?.write(`${line}\n`);
    for (const listener of listeners) listener(line);
  }

  return {
    entry(level, source, message, fields) {
      if (level === 'DEBUG' && !options.debug) return;
      const rest = fields.map(([key, value]) => ` ${key}=${quoted(String(value))}`).join('');
      put(`time=${lineTime()} level=${level} source=${source} msg=${quoted(message)}${rest}`);
    },
    raw: put,
    access(status, elapsedNs, method, path) {
      const when = goTime(nowMs());
      const date = `${when.slice(0, 10).replaceAll('-', '/')} - ${when.slice(11, 19)}`;
      put(
        `[GIN] ${date} | ${status} | ${goDuration(elapsedNs).padStart(12)} | ${'127.0.0.1'.padStart(15)} | ${method.padEnd(8)} "${path}"`,
      );
    },
    lines: () => ring,
    onLine(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    dropped: () => dropped,
    close: async () => file?.close(),
  };
}

const ringLinesMax = 5_000;
const fileBytesMax = 50_000_000;

/** Local servers log with their zone; the simulator's is UTC. */
function lineTime(): string {
  return `${goTime(Math.floor(nowMs())).slice(0, 19)}.${String(Math.floor(nowMs()) % 1000).padStart(3, '0')}Z`;
}

/** Values with spaces, quotes or equal signs are quoted, as slog does. */
function quoted(value: string): string {
  return value === '' || /[\s"=]/.test(value) ? JSON.stringify(value) : value;
}

/** Appends; at the bound the file moves aside to `name-1`, as Ollama's own rotation names it, and a new one begins. */
function openFile(path: string): { write(text: string): void; close(): Promise<void> } {
  let bytes = existsSync(path) ? statSync(path).size : 0;
  let stream = opened(path);
  return {
    write(text) {
      if (bytes > fileBytesMax) {
        stream.end();
        renameSync(path, path.replace(/(\.[^./\\]*)?$/, '-1$1'));
        stream = opened(path);
        bytes = 0;
      }
      bytes += Buffer.byteLength(text);
      stream.write(text);
    },
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
}

function opened(path: string): WriteStream {
  const stream = createWriteStream(path, { flags: 'a' });
  // A full disk must not end the server; the ring still has the lines.
  stream.on('error', () => undefined);
  return stream;
}
