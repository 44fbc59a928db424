import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireRequest } from '../../../shared/engine/ports.ts';
import type { DoorLogEntry } from '../../../shared/node/ollama/door.ts';
import { createStreamParser } from '../../../shared/node/ollama/stream-parser.ts';
import {
  ask,
  askWhole,
  collect,
  door,
  framed,
  freePort,
  head,
  last,
  line,
  never,
  recordings,
  serve,
  serveBytes,
  summed,
  tear,
  wireBytes,
} from './support.ts';

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

  test('whatever bytes a server sends, there is one end and no exception', async () => {
    let bytes: Uint8Array = new Uint8Array(0);
    const { url } = await serveBytes((socket) => void socket.end(bytes));
    const subject = door(url, { limits: { lineBytesMax: 1_000 } });
    const noise = fc.uint8Array({ maxLength: 300 });
    const text = fc.array(fc.constantFrom(line('a'), last, '{"error":', 'null\n', '\r\n', '{}', '0', 'x'.repeat(400)), {
      maxLength: 8,
    });
    const reply = fc.oneof(
      noise,
      fc
        .tuple(
          fc.constantFrom(head, 'HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.1 500 X\r\n\r\n', 'HTTP/1.0 204 X\r\n\r\n'),
          fc.boolean(),
          text,
        )
        .map(([first, isFramed, parts]) =>
          Buffer.from(first + parts.map((part) => (isFramed ? framed(part) : part)).join('')),
        ),
    );
    await fc.assert(
      fc.asyncProperty(reply, fc.boolean(), async (next, whole) => {
        bytes = next;
        const { end } = await collect(subject.stream(whole ? askWhole : ask, never));
        expect(end.ending === 'done' || (end.error ?? '') !== '').toBe(true);
      }),
      { numRuns: 150 },
    );
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
