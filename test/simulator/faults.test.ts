/** Every fault switch does what its text says, and nothing else breaks. */
import { describe, expect, test } from 'vitest';
import { faultNames, type FaultName } from '../../shared/node/simulator/index.ts';
import { faultNamed, faultTexts } from '../../shared/node/simulator/faults.ts';
import { sendRaw, type RawReply } from './recordings.ts';
import { chat, withSimulator } from './with-simulator.ts';

const body = { model: 'sim-reader', messages: [{ role: 'user', content: 'Say <é🙂> please.' }] };
const streamed = (fault: FaultName): Promise<RawReply> =>
  withSimulator({ faults: [fault] }, (simulator) =>
    sendRaw(simulator.port, { method: 'POST', path: '/api/chat', headers: {}, body }),
  );
const whole = withSimulator({}, (simulator) =>
  sendRaw(simulator.port, { method: 'POST', path: '/api/chat', headers: {}, body }),
);
const linesOf = (reply: RawReply): string[] => reply.body.split('\n').filter((line) => line !== '');
const textOf = (reply: RawReply): string =>
  linesOf(reply)
    .map((line) => (JSON.parse(line) as { message: { content: string } }).message.content)
    .join('');

describe('streams that end badly begin with 200', () => {
  test('error-line', async () => {
    const reply = await streamed('error-line');
    expect([reply.status, linesOf(reply).length, linesOf(reply).at(-1)]).toEqual([
      200,
      4,
      '{"error":"an error was encountered while running the model: unexpected EOF"}',
    ]);
  });

  test('plain-text-error', async () => {
    expect(linesOf(await streamed('plain-text-error')).at(-1)).toBe('internal failure: the runner is gone');
  });

  test('cut-stream', async () => {
    const reply = await streamed('cut-stream');
    expect([reply.status, linesOf(reply).length, reply.body.includes('"done":true')]).toEqual([200, 3, false]);
  });

  test('drop-connection', async () => {
    await withSimulator({ faults: ['drop-connection'] }, async (simulator) => {
      const reply = await fetch(`${simulator.url}/api/chat`, { method: 'POST', body: JSON.stringify(body) });
      await expect(reply.text()).rejects.toThrow(/terminated/);
    });
  });
});

describe('bytes that lie oddly carry the same text', () => {
  test('torn-bytes: no chunk is longer than three bytes', async () => {
    const reply = await streamed('torn-bytes');
    expect(Math.max(...reply.chunk_sizes)).toBe(3);
    expect(textOf(reply)).toBe(textOf(await whole));
  });

  test('glued-lines: fewer chunks than lines', async () => {
    const reply = await streamed('glued-lines');
    expect(reply.chunk_sizes.length).toBeLessThan(linesOf(reply).length);
    expect(textOf(reply)).toBe(textOf(await whole));
  });

  test('no-last-newline', async () => {
    const reply = await streamed('no-last-newline');
    expect(reply.body.endsWith('}')).toBe(true);
    expect(textOf(reply)).toBe(textOf(await whole));
  });

  test('invalid-json-line: one line cannot be read', async () => {
    const broken = linesOf(await streamed('invalid-json-line')).filter((line) => !line.endsWith('}'));
    expect(broken).toHaveLength(1);
  });

  test('huge-line: one line is a megabyte', async () => {
    const reply = await streamed('huge-line');
    expect(Math.max(...linesOf(reply).map((line) => line.length))).toBeGreaterThan(1_000_000);
  });

  test('missing-metrics: done without counts, streamed or not', async () => {
    const last = JSON.parse(linesOf(await streamed('missing-metrics')).at(-1) ?? '') as object;
    expect(Object.keys(last)).toEqual(['model', 'created_at', 'message', 'done', 'done_reason']);
    await withSimulator({ faults: ['missing-metrics'] }, async (simulator) => {
      expect(Object.keys((await chat(simulator, 'Say hi.')).last)).toEqual([
        'model',
        'created_at',
        'message',
        'done',
        'done_reason',
      ]);
    });
  });
});

test.each<[FaultName, number, string]>([
  ['busy', 503, 'server busy, please try again.  maximum pending requests exceeded'],
  ['client-closed', 499, 'request canceled'],
  ['server-error', 500, 'llama-server process has terminated: signal: killed'],
])('%s refuses with %i', async (fault, status, error) => {
  const reply = await streamed(fault);
  expect([reply.status, JSON.parse(reply.body)]).toEqual([status, { error }]);
});

test('slow-headers waits before the first byte', async () => {
  await withSimulator({ faults: ['slow-headers'], timeScale: 0.5 }, async (simulator) => {
    await chat(simulator, 'Say hi.');
    const started = performance.now();
    await fetch(`${simulator.url}/api/chat`, { method: 'POST', body: JSON.stringify(body) });
    expect(performance.now() - started).toBeGreaterThan(190);
  });
});

test('faults can be changed while it runs', async () => {
  await withSimulator({ faults: ['busy'] }, async (simulator) => {
    expect((await chat(simulator, 'Say hi.')).status).toBe(503);
    simulator.setFaults([]);
    expect((await chat(simulator, 'Say hi.')).status).toBe(200);
  });
});

test('each name has its text', () => {
  expect(Object.keys(faultTexts).sort()).toEqual([...faultNames].sort());
  expect([faultNamed('busy'), faultNamed('nothing')]).toEqual(['busy', null]);
});
