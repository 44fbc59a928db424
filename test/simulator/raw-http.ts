/** A request over a bare socket, and its reply with everything a client library hides: header order and chunk framing. */
import { connect } from 'node:net';

export interface RawReply {
  readonly statusLine: string;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly chunked: boolean;
  /** Texts of the chunks; one for a reply with a length. */
  readonly chunks: readonly string[];
  readonly body: string;
}

/** Sends as the recordings were made: one request a connection, `Connection: close`, body as JSON. */
export function rawRequest(
  url: string,
  request: { method: string; path: string; headers?: Record<string, string>; body?: unknown },
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const body =
    request.body === undefined || request.body === null
      ? ''
      : typeof request.body === 'string'
        ? request.body
        : JSON.stringify(request.body);
  const headers = {
    Host: `${hostname}:${port}`,
    Connection: 'close',
    ...(body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
    ...request.headers,
  };
  const head = [
    `${request.method} ${request.path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(`${head}\r\n\r\n${body}`));
    socket.on('data', (part) => parts.push(part));
    socket.on('error', reject);
    socket.on('close', () => resolve(parseReply(Buffer.concat(parts))));
  });
}

function parseReply(bytes: Buffer): RawReply {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  const chunked = headers.some(([name, value]) => name === 'Transfer-Encoding' && value === 'chunked');
  const rest = bytes.subarray(end + 4);
  const chunks = chunked ? splitChunks(rest) : [rest.toString('utf8')];
  return { statusLine, status: Number(statusLine.split(' ')[1]), headers, chunked, chunks, body: chunks.join('') };
}

function splitChunks(bytes: Buffer): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size > 0)) break;
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size).toString('utf8'));
    at = lineEnd + 2 + size + 2;
  }
  return chunks;
}
