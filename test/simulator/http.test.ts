/** The HTTP side on the wire: origins, hosts, methods, framing, bodies. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { sendRaw, type RawReply } from './recordings.ts';
import { post, withSimulator } from './with-simulator.ts';

const raw = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: unknown = null,
): Promise<RawReply> => withSimulator({}, (simulator) => sendRaw(simulator.port, { method, path, headers, body }));

describe('who may ask', () => {
  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '8.8.8.8', 'evil.example:11434'])(
    'host %s is refused, without a body',
    async (host) => {
      expect(await raw('GET', '/api/version', { Host: host })).toMatchObject({ status: 403, body: '' });
    },
  );

  test.each([
    'localhost',
    'localhost:11434',
    '127.0.0.1',
    '127.9.9.9:1',
    '[::1]:11434',
    '192.168.1.5',
    'printer.local',
    'db.internal',
    'x.localhost',
  ])('host %s is let in', async (host) => {
    expect((await raw('GET', '/api/version', { Host: host })).status).toBe(200);
  });

  test.each([
    'null',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost:123456',
  ])('origin %s is refused', async (origin) => {
    expect(await raw('GET', '/api/version', { Origin: origin })).toMatchObject({ status: 403, body: '' });
  });

  test.each([
    'http://localhost',
    'https://localhost:3000',
    'http://127.0.0.1:5173',
    'http://0.0.0.0',
    'app://spillway',
    'file://x',
    'vscode-webview://a',
  ])('origin %s is let in and named', async (origin) => {
    const reply = await raw('GET', '/api/version', { Origin: origin });
    expect([reply.status, reply.headers.slice(0, 3)]).toEqual([
      200,
      [
        ['Access-Control-Allow-Origin', origin],
        ['Content-Type', 'application/json; charset=utf-8'],
        ['Vary', 'Origin'],
      ],
    ]);
  });

  test('origins can be added, and a star lets all in', async () => {
    for (const origins of [['https://evil.example'], ['*']]) {
      await withSimulator({ origins }, async (simulator) => {
        const reply = await sendRaw(simulator.port, {
          method: 'GET',
          path: '/api/version',
          headers: { Origin: 'https://evil.example' },
          body: null,
        });
        expect(reply.status).toBe(200);
      });
    }
  });

  test('a preflight is answered', async () => {
    expect(
      await raw('OPTIONS', '/api/chat', { Origin: 'http://localhost', 'Access-Control-Request-Method': 'POST' }),
    ).toMatchObject({ status: 204, body: '' });
  });
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/api/nothing', 404, '404 page not found'],
    ['POST', '/api/version', 405, '405 method not allowed'],
    ['DELETE', '/api/chat', 405, '405 method not allowed'],
    ['GET', '/', 200, 'Ollama is running'],
    ['HEAD', '/', 200, ''],
    ['HEAD', '/api/tags', 200, ''],
  ])('%s %s: %i', async (method, path, status, body) => {
    expect(await raw(method, path)).toMatchObject({ status, body });
  });
});

describe('bodies', () => {
  test.each([
    ['', 'missing request body'],
    ['{"model": "sim-reader", "messages": [', 'unexpected EOF'],
    ['hello', "invalid character 'h' looking for beginning of value"],
    ['[]', 'json: cannot unmarshal array into Go value of type api.ChatRequest'],
    [
      '{"messages":"hi"}',
      'json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message',
    ],
    ['{"model":5}', 'json: cannot unmarshal number into Go struct field ChatRequest.model of type string'],
    [
      '{"model":"sim-reader","think":"banana"}',
      'invalid think value: "banana" (must be "high", "medium", "low", "max", true, or false)',
    ],
    ['{"model":"sim-reader","keep_alive":"soon"}', 'time: invalid duration "soon"'],
    ['{"model":"sim-reader","keep_alive":true}', "Unsupported type: 'bool'"],
    ['{"model":"sim-reader","top_logprobs":21}', 'top_logprobs must be between 0 and 20'],
    ['{"messages":[]}', 'model is required'],
    ['{"model":"a b","messages":[]}', 'invalid model name'],
  ])('%s', async (body, error) => {
    await withSimulator({}, async (simulator) => {
      const reply = await post(simulator, '/api/chat', body);
      expect([reply.status, JSON.parse(reply.text)]).toEqual([400, { error }]);
    });
  });

  test('fields nobody knows are ignored, and only the first value is read', async () => {
    await withSimulator({}, async (simulator) => {
      const reply = await post(
        simulator,
        '/api/chat',
        '{"model":"sim-reader","banana":1,"messages":[{"role":"user","content":"Say hi."}],"stream":false} {"model":5}',
      );
      expect([reply.status, reply.last['done']]).toEqual([200, true]);
    });
  });
});

describe('odd clients', () => {
  const bytes = (text: string): Promise<string> =>
    withSimulator(
      {},
      (simulator) =>
        new Promise((resolve, reject) => {
          const socket = connect(simulator.port, '127.0.0.1');
          let received = '';
          socket.on('data', (part) => (received += part.toString()));
          socket.on('end', () => resolve(received));
          socket.on('error', reject);
          socket.write(text);
        }),
    );

  test('no Host in HTTP/1.1 is refused, in HTTP/1.0 it is fine', async () => {
    expect(await bytes('GET /api/version HTTP/1.1\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\n[^]*missing required Host header$/,
    );
    expect(await bytes('GET /api/version HTTP/1.0\r\n\r\n')).toMatch(/ 200 OK\r\n[^]*"version"/);
  });

  test('a stream in HTTP/1.0 has no chunks and ends with the connection', async () => {
    const body = JSON.stringify({ model: 'sim-reader', prompt: 'Count from 1 to 3.' });
    const reply = await bytes(`POST /api/generate HTTP/1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    expect(reply).not.toContain('Transfer-Encoding');
    expect(reply.slice(reply.indexOf('\r\n\r\n') + 4)).toMatch(/^\{[^]*"done":true[^]*\}\n$/);
  });

  test('what is no HTTP is refused', async () => {
    expect(await bytes('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });
});

describe('framing', () => {
  const streamed = { model: 'sim-reader', messages: [{ role: 'user', content: 'Count from 1 to 30.' }] };

  test('one line a chunk, one chunk a line', async () => {
    const reply = await raw('POST', '/api/chat', {}, streamed);
    const lines = reply.body.split('\n').slice(0, -1);
    expect(reply.chunk_sizes).toEqual(lines.map((line) => Buffer.byteLength(line) + 1));
    expect(lines.length).toBeGreaterThan(50);
  });

  test('short replies have a length, long ones are chunked, and nothing says keep-alive', async () => {
    const short = await raw('POST', '/api/chat', {}, { ...streamed, stream: false });
    expect(short.headers.map(([name]) => name)).toEqual(['Content-Type', 'Date', 'Content-Length', 'Connection']);
    const long = await raw(
      'POST',
      '/api/chat',
      {},
      { ...streamed, messages: [{ role: 'user', content: 'Count from 1 to 900.' }], stream: false },
    );
    expect(long.headers.map(([name]) => name)).toEqual(['Content-Type', 'Date', 'Connection', 'Transfer-Encoding']);
    expect(long.chunk_sizes).toHaveLength(1);
    await withSimulator({}, async (simulator) => {
      const reply = await fetch(`${simulator.url}/api/version`);
      expect([...reply.headers.keys()].sort()).toEqual(['content-length', 'content-type', 'date']);
    });
  });

  test('angle brackets and ampersands are escaped as Go does, hostile text passes', async () => {
    const code = 'The code is <A>&"B"-1.\n\nSay <b>&amp;</b> \u2028 \ud800';
    const reply = await raw(
      'POST',
      '/api/chat',
      {},
      { ...streamed, messages: [{ role: 'user', content: code }], stream: false },
    );
    expect(reply.body).not.toMatch(/[<>&\u2028]/);
    expect(reply.body).toContain('\\u003cb\\u003e');
  });
});
