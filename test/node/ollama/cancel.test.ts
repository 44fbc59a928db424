import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ModelEvent } from '../../../shared/engine/ports.ts';
import {
  ask,
  askWhole,
  collect,
  createCancel,
  door,
  framed,
  head,
  last,
  line,
  never,
  serve,
  serveBytes,
} from './support.ts';

/** Passes events on and tells when the first of this kind came. */
async function* tapped(
  stream: AsyncIterable<readonly ModelEvent[]>,
  kind: ModelEvent['kind'],
  tell: () => void,
): AsyncGenerator<readonly ModelEvent[]> {
  for await (const portion of stream) {
    if (portion.some((event) => event.kind === kind)) tell();
    yield portion;
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
    for await (const portion of door(url).stream(ask, never))
      if (portion.some((event) => event.kind === 'chunk')) break;
    await closed[0];
  });

  test('an abort while the reader is busy with a portion ends with the next one', async () => {
    const { url } = await held(head + framed(line('a').repeat(50)));
    const cancel = createCancel();
    const seen: ModelEvent['kind'][] = [];
    for await (const portion of door(url).stream(ask, cancel.signal)) {
      seen.push(...portion.map((event) => event.kind).slice(0, 1));
      if (portion.some((event) => event.kind === 'chunk')) cancel.cancel('person');
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
