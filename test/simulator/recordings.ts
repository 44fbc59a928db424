/** Recorded calls of a real server, and the same calls sent to the simulator over a raw socket. */
import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Recording {
  readonly name: string;
  readonly about: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    /** An object as sent, a text where it was not JSON, null without a body. */
    readonly body: unknown;
  };
  readonly response: RawReply & { readonly client_left: boolean };
  readonly running_after: readonly { readonly model: string; readonly context_length: number }[];
  readonly log: readonly string[];
}

export interface RawReply {
  readonly status: number;
  readonly status_line: string;
  /** In the order of the wire. */
  readonly headers: readonly (readonly [string, string])[];
  readonly chunked: boolean;
  readonly chunk_sizes: readonly number[];
  readonly body: string;
}

/** All single calls of a fixture folder, in the order in which they were recorded. */
export function readRecordings(folder: string): Recording[] {
  const path = fileURLToPath(new URL(`../fixtures/${folder}/`, import.meta.url));
  return readdirSync(path)
    .map((file) => JSON.parse(readFileSync(path + file, 'utf8')) as Recording)
    .filter((recording) => recording.response !== undefined && recording.request.method !== undefined)
    .sort((a, b) => whenOf(a).localeCompare(whenOf(b)));
}

/** Sends a request as a client that wants the connection closed; `leaveAfterLines` = hang up after so many lines of the body. */
export function sendRaw(
  port: number,
  request: Recording['request'],
  leaveAfterLines = Number.POSITIVE_INFINITY,
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = Buffer.alloc(0);
    const finish = (): void => {
      socket.destroy();
      resolve(parseReply(received, leaveAfterLines));
    };
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (leaveAfterLines !== Number.POSITIVE_INFINITY && linesOf(received) >= leaveAfterLines) finish();
    });
    socket.on('end', finish);
    socket.write(requestBytes(port, request));
  });
}

export function textOfBody(body: unknown): string {
  return body === null || body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
}

function requestBytes(port: number, request: Recording['request']): Buffer {
  const body = Buffer.from(textOfBody(request.body), 'utf8');
  const headers: Record<string, string> = { Host: `127.0.0.1:${port}`, Connection: 'close', ...request.headers };
  if (request.body !== null || request.method === 'POST')
    Object.assign(headers, { 'Content-Type': 'application/json', 'Content-Length': String(body.length) });
  const head = [
    `${request.method} ${request.path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** A chunk a line in streams: chunks stand for lines. */
function linesOf(bytes: Buffer): number {
  const start = bytes.indexOf('\r\n\r\n');
  return start < 0
    ? 0
    : bytes
        .subarray(start + 4)
        .toString('utf8')
        .split('\n')
        .filter((line) => line.startsWith('{')).length;
}

function parseReply(bytes: Buffer, chunksMax: number): RawReply {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n');
  const headers = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  const chunked = headers.some(([name, value]) => name === 'Transfer-Encoding' && value === 'chunked');
  const payload = bytes.subarray(end + 4);
  const parts = chunked ? chunksOf(payload).slice(0, chunksMax) : payload.length > 0 ? [payload] : [];
  return {
    status: Number(statusLine.split(' ')[1] ?? 0),
    status_line: statusLine,
    headers,
    chunked,
    chunk_sizes: parts.map((part) => part.length),
    body: Buffer.concat(parts).toString('utf8'),
  };
}

function chunksOf(payload: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < payload.length;) {
    const lineEnd = payload.indexOf('\r\n', at);
    const size = Number.parseInt(payload.subarray(at, lineEnd).toString('latin1'), 16);
    if (lineEnd < 0 || !(size > 0)) break;
    chunks.push(payload.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return chunks;
}

/** Second of the reply; within it the call that loaded the model came first, then by the time in the body. */
function whenOf(recording: Recording): string {
  const date = recording.response.headers.find(([name]) => name === 'Date')?.[1] ?? '';
  const loaded = recording.log.some((line) => line.includes('starting llama-server')) ? 0 : 1;
  const created = /"created_at":"([^"]+)"/.exec(recording.response.body)?.[1] ?? '';
  return `${new Date(date).toISOString()}/${loaded}/${created}/${recording.name}`;
}
