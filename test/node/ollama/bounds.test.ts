/** Servers that never end, or take their time: each costs a bounded amount of memory or time, and says which bound it was. */
import { expect, test } from 'vitest';
import { ask, clock, collect, door, freePort, last, line, never, serve } from './support.ts';

test('a reply without end is stopped at its bound: the text so far is kept, and the server sees the socket close', async () => {
  let closed = (): void => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const url = await serve((request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    response.on('close', closed);
    const more = (): void => {
      while (!response.destroyed)
        if (!response.write(line('word '.repeat(20)))) return void response.once('drain', more);
    };
    more();
    request.resume();
  });
  const { answer, end } = await collect(door(url, { limits: { textCharactersMax: 10_000 } }).stream(ask, never));
  await gone;
  expect(end).toMatchObject({
    ending: 'aborted',
    abortedBy: null,
    status: 200,
    error: 'The reply is longer than 10,000 characters, so it was stopped',
  });
  expect(answer.length).toBeGreaterThan(10_000);
  expect(answer.length).toBeLessThanOrEqual(10_100);
});

test('a reply that ends at its bound is whole', async () => {
  const url = await serve((_request, response) => response.end(line('x'.repeat(10_000)) + last));
  const { answer, end } = await collect(door(url, { limits: { textCharactersMax: 10_000 } }).stream(ask, never));
  expect({ ending: end.ending, length: answer.length }).toEqual({ ending: 'done', length: 10_000 });
});

test('a server that is slow to say what is loaded holds nobody up for longer than the limit of that read', async () => {
  const url = await serve((request, response) => {
    if (request.url !== '/api/ps') response.end('{"version":"0.33.0"}');
  });
  const slow = door(url, { clock, limits: { psTimeoutMs: 50, readTimeoutMs: 600_000 } });
  expect(await slow.running(never)).toBeNull();
  expect(await slow.ps(never)).toMatchObject({
    ok: false,
    denial: { code: 'no-server', message: expect.stringContaining('/api/ps in 0.05 s') as string },
  });
  expect(await door(`http://127.0.0.1:${await freePort()}`).running(never)).toBeNull();
});
