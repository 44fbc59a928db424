import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ModelEvent, WireRequest } from '../../../shared/engine/ports.ts';
import {
  type DoorLogEntry,
  type DoorOptions,
  type OllamaDoor,
  createOllamaDoor,
} from '../../../shared/node/ollama/door.ts';
import { createStreamParser } from '../../../shared/node/ollama/stream-parser.ts';
import {
  ask,
  askWhole,
  clock,
  collect,
  createCancel,
  freePort,
  never,
  recordings,
  serve,
  serveBytes,
  summed,
  tear,
  wireBytes,
} from './support.ts';

const door = (url: string, more: Partial<DoorOptions> = {}): OllamaDoor => createOllamaDoor({ url, clock, ...more });
const line = (content: string): string =>
  `${JSON.stringify({ message: { role: 'assistant', content }, done: false })}\n`;
const last = `${JSON.stringify({ message: { content: '' }, done: true, done_reason: 'stop', eval_count: 2 })}\n`;
const head =
  'HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
const framed = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what goes out', () => {
  test('the body as it stands, on the path of the client package, with no Origin', async () => {
    const seen: string[] = [];
    const { url } = await serveBytes((socket, text) => {
      seen.push(text);
      socket.end(head + framed(last) + '0\r\n\r\n');
    });
    // No stream field, an image text that is a path, keys in an order of their own: nothing of it may change.
    const body = {
      options: { num_predict: 8, num_ctx: 512 },
      model: 'm',
      messages: [{ role: 'user', content: 'Ќ🦊', images: ['package.json'] }],
    };
    await collect(door(`${url}/base`).stream({ path: '/api/chat', body, timeoutMs: null }, never));
    await collect(
      door(url).stream(
        { path: '/api/generate', body: { model: 'm', prompt: 'p', options: { num_predict: 1 } }, timeoutMs: null },
        never,
      ),
    );
    const [chat = '', generate = ''] = seen;
    expect(chat).toMatch(/^POST \/base\/api\/chat HTTP\/1\.1\r\n/);
    expect(generate).toMatch(/^POST \/api\/generate HTTP\/1\.1\r\n/);
    expect(Buffer.from(chat.slice(chat.indexOf('\r\n\r\n') + 4), 'latin1').toString('utf8')).toBe(JSON.stringify(body));
    expect(chat).toMatch(/\r\ncontent-type: application\/json\r\n/i);
    expect(chat).toMatch(/\r\nuser-agent: ollama-js\//i);
    expect(chat).not.toMatch(/\r\n(origin|referer|sec-fetch[a-z-]*|accept-encoding):/i);
    expect(chat).toContain(`\r\nHost: ${new URL(url).host}\r\n`);
  });

  test('a user and a password in the address are sent as such, and appear in no text', async () => {
    let seen = '';
    const url = await serve((request, response) => {
      seen = request.headers.authorization ?? '';
      response.end('{"version":"1.2.3"}');
    });
    const subject = door(url.replace('http://', 'http://me:s%40cret@'));
    expect(await subject.version(never)).toEqual({ ok: true, value: '1.2.3' });
    expect(seen).toBe(`Basic ${Buffer.from('me:s@cret').toString('base64')}`);
    expect(subject.address.label).not.toContain('cret');
  });

  test.each<[string, WireRequest['path'], object]>([
    ['no options', '/api/chat', { messages: [{}] }],
    ['no num_predict', '/api/chat', { messages: [{}], options: {} }],
    ['num_predict 0', '/api/chat', { messages: [{}], options: { num_predict: 0 } }],
    ['num_predict -1', '/api/chat', { messages: [{}], options: { num_predict: -1 } }],
    ['num_predict as text', '/api/generate', { prompt: 'p', options: { num_predict: '8' } }],
    ['num_ctx 0', '/api/chat', { messages: [{}], options: { num_predict: 8, num_ctx: 0 } }],
    ['num_ctx 0 of a load', '/api/chat', { messages: [], options: { num_ctx: 0 } }],
    ['num_ctx 1.5', '/api/generate', { prompt: 'p', options: { num_predict: 8, num_ctx: 1.5 } }],
  ])('%s never goes out', async (_what, path, body) => {
    let asked = 0;
    const url = await serve((_request, response) => {
      asked += 1;
      response.end(last);
    });
    expect(() => door(url).stream({ path, body: { model: 'm', ...body }, timeoutMs: null }, never)).toThrow(
      'Broken rule',
    );
    expect(asked).toBe(0);
  });

  test('a load and a render need no cap: they generate nothing', async () => {
    const url = await serve((_request, response) =>
      response.end(
        '{"model":"m","message":{"role":"","content":""},"done":false,"_debug_info":{"rendered_template":"x"}}',
      ),
    );
    for (const body of [
      { messages: [], keep_alive: 5 },
      { messages: [{}], _debug_render_only: true },
    ]) {
      const got = await collect(
        door(url).stream({ path: '/api/chat', body: { model: 'm', stream: false, ...body }, timeoutMs: null }, never),
      );
      expect(got.end).toMatchObject({ ending: 'done', done: false });
    }
  });
});

describe('recorded replies through a real socket', () => {
  const replayed = recordings().filter(
    ({ request }) => /^\/api\/(chat|generate)$/.test(request.path) && request.method === 'POST',
  );
  const requestOf = (stream: boolean): WireRequest => (stream ? ask : askWhole);

  test('all of them, as they were framed', async () => {
    const queue = [...replayed];
    const { url } = await serveBytes((socket) => {
      const next = queue.shift();
      if (next !== undefined) socket.end(wireBytes(next));
    });
    expect(replayed.length).toBeGreaterThan(100);
    for (const each of replayed) {
      const whole = (each.request.body as { stream?: boolean } | null)?.stream === false;
      const got = await collect(door(url).stream(requestOf(!whole), never));
      const contentType = each.response.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
      const statusText = each.response.statusLine.split(' ').slice(2).join(' ');
      const parser = createStreamParser({
        head: { status: each.response.status, statusText, contentType, location: null },
        whole,
      });
      const chunks = [...parser.push(Buffer.from(each.response.body, 'utf8'))];
      const rest = parser.finish({ kind: 'end-of-stream' });
      const expected = summed([...chunks, ...rest.chunks, { kind: 'end', end: rest.end }]);
      if (each.response.clientLeft) {
        expect({ ...got, kinds: [], end: got.end.ending }, each.name).toEqual({
          ...expected,
          kinds: [],
          end: 'aborted',
        });
      } else {
        expect({ ...got, kinds: [] }, each.name).toEqual({ ...expected, kinds: [] });
      }
      expect(got.kinds, each.name).toEqual(['sent', 'headers', 'end']);
    }
  });

  test('torn at any byte of the wire, the framing included', async () => {
    const streams = replayed.filter(({ name }) => /stream/.test(name));
    let pieces: Uint8Array[] = [];
    const { url } = await serveBytes(async (socket) => {
      socket.setNoDelay(true);
      for (const piece of pieces) {
        socket.write(piece);
        await turn();
      }
      socket.end();
    });
    const expected = new Map<string, unknown>();
    for (const each of streams) {
      pieces = [wireBytes(each)];
      expected.set(each.name, await collect(door(url).stream(ask, never)));
    }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...streams), fc.array(fc.nat(), { maxLength: 30 }), async (each, cuts) => {
        pieces = tear(wireBytes(each), cuts);
        expect(await collect(door(url).stream(ask, never))).toEqual(expected.get(each.name));
      }),
      { numRuns: 60 },
    );
  });
});

describe('what breaks on the way', () => {
  const answered = async (
    bytes: string,
    after: (socket: Socket) => void,
    request = ask,
  ): Promise<Awaited<ReturnType<typeof collect>>> => {
    const { url } = await serveBytes((socket) => {
      socket.write(bytes, () => after(socket));
    });
    return collect(door(url).stream(request, never));
  };

  test('nobody there', async () => {
    const port = await freePort();
    const got = await collect(door(`127.0.0.1:${port}`).stream(ask, never));
    expect(got.kinds).toEqual(['end']);
    expect(got.end).toMatchObject({
      ending: 'unreachable',
      status: null,
      abortedBy: null,
      error: `No Ollama at 127.0.0.1:${port} (connection refused): start it, or use the simulator`,
    });
  });

  test('localhost names both families', async () => {
    const port = await freePort();
    const got = await collect(door(`localhost:${port}`).stream(ask, never));
    expect(got.end.error).toContain(`127.0.0.1:${port} connection refused, [::1]:${port} `);
  });

  test('localhost reaches a server that listens on IPv6 only', async () => {
    const { port } = await serveBytes(
      (socket, text) =>
        void socket.end(text.includes(`Host: localhost:${port}`) ? head + framed(last) + '0\r\n\r\n' : ''),
      '::1',
    );
    expect((await collect(door(`localhost:${port}`).stream(ask, never))).end.ending).toBe('done');
  });

  test('a name that does not exist', async () => {
    const got = await collect(door('no-such-host.invalid').stream(ask, never));
    expect(got.end).toMatchObject({
      ending: 'unreachable',
      error: expect.stringMatching(/no such host|name lookup failed/),
    });
  });

  test('closed before an answer: the server may have begun, so it is no refusal to connect', async () => {
    for (const after of [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.end(),
      (socket: Socket) => void socket.resetAndDestroy(),
    ]) {
      const { url } = await serveBytes(after);
      const got = await collect(door(url).stream(ask, never));
      expect(got.kinds).toEqual(['sent', 'end']);
      expect(got.end).toMatchObject({
        ending: 'aborted',
        abortedBy: null,
        status: null,
        error: expect.stringContaining('closed before an answer'),
      });
    }
  });

  test('a reset in the middle of a chunk keeps the text before it', async () => {
    const got = await answered(`${head}${framed(line('one '))}ff\r\n{"mess`, (socket) =>
      setTimeout(() => socket.resetAndDestroy(), 50),
    );
    expect(got.answer).toBe('one ');
    expect(got.end).toMatchObject({
      ending: 'aborted',
      abortedBy: null,
      status: 200,
      error: expect.stringContaining('The connection broke'),
    });
  });

  test('a server that dies between chunks is told apart from one that ends its stream', async () => {
    const died = await answered(head + framed(line('one ')), (socket) => socket.end());
    expect(died.end).toMatchObject({ ending: 'aborted', abortedBy: null });
    const ended = await answered(`${head}${framed(line('one '))}0\r\n\r\n`, (socket) => socket.end());
    expect(ended.end).toMatchObject({ ending: 'cut' });
    expect([died.answer, ended.answer]).toEqual(['one ', 'one ']);
  });

  test('a half-closed socket still delivers', async () => {
    const { url } = await serveBytes((socket) => void socket.end(`HTTP/1.0 200 OK\r\n\r\n${line('a')}${last}`));
    expect(await collect(door(url).stream(ask, never))).toMatchObject({
      answer: 'a',
      end: { ending: 'done', evalCount: 2 },
    });
  });

  test('a done line ends the call, whether the server closes or not', async () => {
    const got = await answered(head + framed(line('a')) + framed(last), () => undefined);
    expect(got).toMatchObject({ answer: 'a', end: { ending: 'done' } });
  });

  test('after the done line the server ends its reply by itself; where it does not, the socket is closed', async () => {
    const ended = Promise.withResolvers<boolean>();
    const url = await serve((_request, response) => {
      response.on('close', () => ended.resolve(response.writableFinished));
      response.write(last, () => setTimeout(() => response.end(), 100));
    });
    expect((await collect(door(url).stream(ask, never))).end.ending).toBe('done');
    expect(await ended.promise).toBe(true);

    const stuck = Promise.withResolvers<void>();
    const other = await serveBytes((socket) => {
      socket.once('end', stuck.resolve).once('close', stuck.resolve);
      socket.write(head + framed(last));
    });
    expect((await collect(door(other.url).stream(ask, never))).end.ending).toBe('done');
    await stuck.promise;
  });

  test('something that is not HTTP', async () => {
    const got = await answered('SSH-2.0-OpenSSH_9\r\n', () => undefined);
    expect(got.end).toMatchObject({ ending: 'unreachable', error: expect.stringContaining('not in HTTP') });
  });

  test('broken framing after the headers', async () => {
    const got = await answered(`${head}${framed(line('a'))}zz\r\n`, () => undefined);
    expect(got).toMatchObject({ answer: 'a', end: { ending: 'aborted', abortedBy: null } });
  });

  test('a redirect is not followed', async () => {
    const got = await answered(
      'HTTP/1.1 301 Moved Permanently\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n',
      () => undefined,
    );
    expect(got.end).toMatchObject({
      ending: 'refused',
      status: 301,
      error: expect.stringContaining('https://elsewhere/'),
    });
  });

  test('a refusal that comes before the request is read', async () => {
    const url = await serve((request, response) => {
      response.writeHead(413, { Connection: 'close' }).end('{"error":"too large"}');
      request.destroy();
    });
    const big: WireRequest = {
      ...ask,
      body: { ...ask.body, messages: [{ role: 'user', content: 'x'.repeat(8_000_000) }] },
    };
    const got = await collect(door(url).stream(big, never));
    expect(['refused', 'aborted']).toContain(got.end.ending);
  });

  test('every ending but done leaves one line in the log, without texts', async () => {
    const entries: DoorLogEntry[] = [];
    const { url } = await serveBytes(
      (socket) => void socket.end('HTTP/1.1 500 X\r\nContent-Length: 18\r\n\r\n{"error":"secret"}'),
    );
    await collect(door(url, { log: (entry) => entries.push(entry) }).stream(ask, never));
    expect(entries).toEqual([
      {
        what: 'call-ended',
        path: '/api/chat',
        ending: 'refused',
        abortedBy: null,
        status: 500,
        afterMs: expect.any(Number),
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('secret');
  });
});

/** Passes events on and tells when the first of this kind came. */
async function* tapped(
  stream: AsyncIterable<ModelEvent>,
  kind: ModelEvent['kind'],
  tell: () => void,
): AsyncGenerator<ModelEvent> {
  for await (const event of stream) {
    if (event.kind === kind) tell();
    yield event;
  }
}

describe('cancel', () => {
  /** A server that never answers by itself and tells when a socket went away. */
  const held = async (
    first = '',
  ): Promise<{
    url: string;
    sockets: Socket[];
    closed: Promise<void>[];
    waitFor: (count: number) => Promise<void>;
  }> => {
    const sockets: Socket[] = [];
    const closed: Promise<void>[] = [];
    let wake: () => void = () => undefined;
    const { url } = await serveBytes((socket) => {
      sockets.push(socket);
      closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
      // Half-open sockets stay until both sides end; a reset or an end of the client shows as either.
      socket.once('end', () => socket.destroy());
      if (first !== '') socket.write(first);
      wake();
    });
    const waitFor = async (count: number): Promise<void> => {
      while (sockets.length < count) await new Promise<void>((resolve) => (wake = resolve));
    };
    return { url, sockets, closed, waitFor };
  };

  test.each([
    ['streamed, before headers', ask, '', head + framed(last)],
    ['not streamed, before headers', askWhole, '', head + framed(last)],
    ['streamed, in the middle', ask, head + framed(line('one ')), framed(last)],
    [
      'not streamed, in the middle',
      askWhole,
      head + framed('{"message":{"con'),
      framed('tent":"b"},"done":true,"eval_count":2}'),
    ],
  ])('%s: the server sees the socket close, and the other call goes on', async (_what, request, first, rest) => {
    const { url, sockets, closed, waitFor } = await held(first);
    const subject = door(url);
    const cancel = createCancel();
    const begun = Promise.withResolvers<void>();
    const a = collect(tapped(subject.stream(request, cancel.signal), first === '' ? 'sent' : 'headers', begun.resolve));
    await waitFor(1);
    await begun.promise;
    const b = collect(subject.stream(request, never));
    await waitFor(2);
    cancel.cancel('person');
    const endA = await a;
    await closed[0];
    expect(endA.end).toMatchObject({ ending: 'aborted', abortedBy: 'person', error: 'Stopped' });
    const other = sockets[1];
    expect(other?.destroyed).toBe(false);
    other?.end(`${rest}0\r\n\r\n`);
    expect((await b).end).toMatchObject({ ending: 'done', evalCount: 2 });
  });

  test('reads and embeddings too', async () => {
    const { url, closed, waitFor } = await held();
    const subject = door(url);
    const asks: ((signal: typeof never) => Promise<unknown>)[] = [
      (signal) => subject.version(signal),
      (signal) => subject.ps(signal),
      (signal) => subject.embed({ model: 'm', input: 'x' }, signal),
    ];
    let count = 0;
    for (const each of asks) {
      const cancel = createCancel();
      const answer = each(cancel.signal);
      await waitFor(++count);
      cancel.cancel('person');
      expect(await answer).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
      await closed[count - 1];
    }
  });

  test('before it is sent nothing leaves', async () => {
    let asked = 0;
    const url = await serve(() => (asked += 1));
    const cancel = createCancel();
    cancel.cancel('shutdown');
    const got = await collect(door(url).stream(ask, cancel.signal));
    expect(got).toMatchObject({ kinds: ['end'], end: { ending: 'not-sent', abortedBy: 'shutdown' } });
    expect(await door(url).version(cancel.signal)).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
    expect(asked).toBe(0);
  });

  test('the reason comes from the signal', async () => {
    for (const reason of ['person', 'timeout', 'shutdown'] as const) {
      const { url, waitFor } = await held();
      const cancel = createCancel();
      const got = collect(door(url).stream(ask, cancel.signal));
      await waitFor(1);
      cancel.cancel(reason);
      expect((await got).end).toMatchObject({ ending: 'aborted', abortedBy: reason });
    }
  });

  test('a time limit is named: no first token, or not finished', async () => {
    const silent = await held();
    expect((await collect(door(silent.url).stream({ ...ask, timeoutMs: 300 }, never))).end).toMatchObject({
      ending: 'aborted',
      abortedBy: 'timeout',
      error: 'no first token in 0.3 s',
    });
    await silent.closed[0];
    const slow = await held(head + framed(line('one ')));
    expect(await collect(door(slow.url).stream({ ...ask, timeoutMs: 3_000 }, never))).toMatchObject({
      answer: 'one ',
      end: { ending: 'aborted', abortedBy: 'timeout', error: 'not finished in 3 s' },
    });
    await slow.closed[0];
  });

  test('while the connection is not made: nothing was sent, and the words say so', async () => {
    // A TLS handshake that nobody answers stands for any connection that does not come about.
    const { url } = await held();
    const secure = url.replace('http:', 'https:');
    const slow = await collect(door(secure, { limits: { connectTimeoutMs: 100 } }).stream(ask, never));
    expect(slow.end).toMatchObject({
      ending: 'unreachable',
      abortedBy: null,
      error: expect.stringContaining('no answer in 0.1 s'),
    });
    const limited = await collect(door(secure).stream({ ...ask, timeoutMs: 100 }, never));
    expect(limited.end).toMatchObject({
      ending: 'unreachable',
      abortedBy: 'timeout',
      error: expect.stringContaining('in 0.1 s'),
    });
    const cancel = createCancel();
    setTimeout(() => cancel.cancel('person'), 50);
    const left = await collect(door(secure).stream(ask, cancel.signal));
    expect(left).toMatchObject({ kinds: ['end'], end: { ending: 'not-sent', abortedBy: 'person' } });
  });

  test('a reader that leaves closes the socket', async () => {
    const { url, closed } = await held(head + framed(line('one ')) + framed(line('two ')));
    for await (const event of door(url).stream(ask, never)) if (event.kind === 'chunk') break;
    await closed[0];
  });

  test('an abort while the reader is busy ends with the next event', async () => {
    const { url } = await held(head + framed(line('a').repeat(50)));
    const cancel = createCancel();
    const seen: ModelEvent['kind'][] = [];
    for await (const event of door(url).stream(ask, cancel.signal)) {
      seen.push(event.kind);
      if (event.kind === 'chunk') cancel.cancel('person');
    }
    expect(seen).toEqual(['sent', 'headers', 'chunk', 'end']);
  });
});

describe('bounds', () => {
  test('a slow reader holds the server back', async () => {
    const total = 400 * 1024 * 1024;
    const piece = Buffer.from(framed(line('x'.repeat(60_000))));
    let written = 0;
    const { url } = await serveBytes((socket) => {
      const pump = (): void => {
        while (written < total && !socket.destroyed) {
          written += piece.byteLength;
          if (!socket.write(piece)) {
            socket.once('drain', pump);
            return;
          }
        }
      };
      socket.write(head);
      pump();
    });
    const events = door(url).stream(ask, never)[Symbol.asyncIterator]();
    onTestFinished(() => void events.return?.());
    for (let count = 0; count < 20; count += 1) await events.next();
    let before = -1;
    for (let same = 0; same < 5;) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      same = written === before ? same + 1 : 0;
      before = written;
    }
    expect(written).toBeLessThan(total / 4);
  });

  test('a stream that never ends a line stops at the limit', async () => {
    const { url } = await serveBytes((socket) => {
      socket.write(head);
      const pump = (): void => {
        if (!socket.destroyed) socket.write(framed('x'.repeat(10_000)), pump);
      };
      pump();
    });
    const got = await collect(door(url, { limits: { lineBytesMax: 100_000 } }).stream(ask, never));
    expect(got.end).toMatchObject({ ending: 'aborted', error: 'A line of the reply is longer than 100,000 bytes' });
  });

  test('headers that take long are waited for', async () => {
    const url = await serve((_request, response) => void setTimeout(() => response.end(last), 400));
    expect((await collect(door(url, { limits: { connectTimeoutMs: 100 } }).stream(ask, never))).end.ending).toBe(
      'done',
    );
  });
});
