/** What every way between screen and engine promises. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { denied, ok } from '../../shared/contract/denials.ts';
import { eventSchema } from '../../shared/contract/events.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';
import { FRAME_EVENTS_MAX, FRAME_INTERVAL_MS } from '../../shared/contract/frames.ts';
import { requests } from '../../shared/contract/requests.ts';
import type { RequestName } from '../../shared/contract/requests.ts';
import type { CallId } from '../../shared/contract/ids.ts';
import { REQUESTS_AT_ONCE_MAX } from '../../shared/node/rpc/screen.ts';
import { fakeIpc, memory, until, webSocket } from './carriers.ts';
import type { Line } from './carriers.ts';
import { callId, delta, events, notice, runChanged, samples } from './samples.ts';

const names = Object.keys(requests) as RequestName[];

describe.each([memory, webSocket, fakeIpc])('over $name', (carrier) => {
  let line: Line;
  beforeEach(async () => {
    line = await carrier.open();
  });
  afterEach(async () => {
    await line.stop();
  });

  test.each(names)('%s: parameters arrive parsed, the result comes back as it was', async (name) => {
    const { params, result } = samples[name];
    const answer = await line.transport.request(name, params as never);
    expect(answer).toEqual({ ok: true, value: result });
    expect(requests[name].result.parse(answer.ok ? answer.value : null)).toEqual(result);
    expect(line.door.calls.map((call) => [call.name, call.params])).toEqual([
      [name, requests[name].params.parse(params)],
    ]);
  });

  test.each(names)('%s: an unknown field is refused by name and never reaches the engine', async (name) => {
    const answer = await line.transport.request(name, { ...samples[name].params, surprise: 1 } as never);
    expect(answer).toEqual({
      ok: false,
      denial: {
        code: 'bad-input',
        message: 'There is no field surprise.',
        field: 'surprise',
        next: 'Correct it and send it again.',
      },
    });
    expect(line.door.calls).toEqual([]);
  });

  test('a wrong field deep inside is named by its path', async () => {
    const { axes } = samples['context.start'].params;
    const answer = await line.transport.request('context.start', {
      ...samples['context.start'].params,
      axes: { ...axes, numCtx: [4_096, 0] },
    });
    expect(answer).toMatchObject({ ok: false, denial: { code: 'bad-input', field: 'axes.numCtx[1]' } });
  });

  test('a refusal comes back as a value with all it says', async () => {
    const refusal = denied('unknown-model', 'There is no model llama9.', {
      field: 'model',
      next: 'Pull it.',
      retryAfterMs: 1_000,
    });
    line.door.answerWith(() => refusal);
    expect(await line.transport.request('call.start', samples['call.start'].params)).toEqual(refusal);
  });

  test('a bug in the engine is told as one, without what it was about, and the line stays open', async () => {
    line.door.answerWith(() => {
      throw new Error('secret detail');
    });
    const answer = await line.transport.request('run.list', {});
    expect(answer).toMatchObject({ ok: false, denial: { code: 'internal' } });
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(line.door.logged).toEqual([
      { kind: 'error', event: 'request-failed', text: 'run.list', error: new Error('secret detail') },
    ]);
    line.door.answerWith(() => ok([]));
    expect(await line.transport.request('run.list', {})).toEqual({ ok: true, value: [] });
  });

  test('answers find their requests in any order', async () => {
    const waiting: (() => void)[] = [];
    line.door.answerWith((_name, params) => new Promise((resolve) => waiting.push(() => resolve(ok(params)))));
    const answers = ['a', 'b', 'c'].map((model) => line.transport.request('model.show', { model }));
    await until(() => waiting.length === 3, 'three requests');
    for (const index of [2, 0, 1]) waiting[index]?.();
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'].map((model) => ({ ok: true, value: { model } })));
  });

  test('too many requests at once are refused, and the line recovers', async () => {
    const waiting: (() => void)[] = [];
    line.door.answerWith(() => new Promise((resolve) => waiting.push(() => resolve(ok([])))));
    const answers = Array.from({ length: REQUESTS_AT_ONCE_MAX + 3 }, () => line.transport.request('run.list', {}));
    const refused = await Promise.all(answers.slice(REQUESTS_AT_ONCE_MAX));
    expect(refused.map((answer) => !answer.ok && answer.denial.code)).toEqual(['busy', 'busy', 'busy']);
    for (const release of waiting) release();
    expect((await Promise.all(answers.slice(0, REQUESTS_AT_ONCE_MAX))).every((answer) => answer.ok)).toBe(true);
    line.door.answerWith(() => ok([]));
    expect(await line.transport.request('run.list', {})).toEqual({ ok: true, value: [] });
  });

  test('a document of 5 MB full of characters that JSON escapes arrives whole', async () => {
    const text = '"\\\u2028🦓\n'.repeat(850_000).slice(0, 5_000_000);
    line.door.answerWith((_name, params) =>
      ok({ ...samples['document.put'].result, characters: (params as { text: string }).text.length }),
    );
    expect(await line.transport.request('document.put', { name: 'large', text })).toMatchObject({
      ok: true,
      value: { characters: text.length },
    });
    expect((line.door.calls[0]?.params as { text: string }).text === text).toBe(true);
  });

  test('an answer that no carrier would take is refused in words', async () => {
    line.door.answerWith(() => ok({ chunk: 'x'.repeat(33 * 1024 * 1024), done: false }));
    expect(await line.transport.request('export.read', { exportId: 'e' })).toMatchObject({
      ok: false,
      denial: { code: 'unsupported' },
    });
  });

  test('a request that no carrier would take is refused before it leaves', async () => {
    const answer = await line.transport.request('document.put', { name: 'huge', text: '\u0001'.repeat(6_000_000) });
    expect(answer).toMatchObject({ ok: false, denial: { code: 'bad-input' } });
    expect(line.door.calls).toEqual([]);
  });

  test.each([
    ['no JSON', '{"kind":', -1, 'bad-input'],
    ['not an object', '7', -1, 'bad-input'],
    ['an array', '[]', -1, 'bad-input'],
    ['another kind', '{"kind":"frame","seq":1,"dropped":0,"events":[]}', -1, 'bad-input'],
    ['an id that is no number', '{"kind":"request","id":"1","name":"run.list","params":{}}', -1, 'bad-input'],
    ['a field too many', '{"kind":"request","id":3,"name":"run.list","params":{},"admin":true}', 3, 'bad-input'],
    ['no parameters', '{"kind":"request","id":4,"name":"run.list"}', 4, 'bad-input'],
    ['an unknown name', '{"kind":"request","id":5,"name":"run.everything","params":{}}', 5, 'unknown-request'],
    ['a name every object has', '{"kind":"request","id":6,"name":"constructor","params":{}}', 6, 'unknown-request'],
    ['a prototype as name', '{"kind":"request","id":7,"name":"__proto__","params":{}}', 7, 'unknown-request'],
    [
      'a prototype as field',
      '{"kind":"request","id":8,"name":"run.get","params":{"__proto__":{"runId":"r"}}}',
      8,
      'bad-input',
    ],
    ['null as parameters', '{"kind":"request","id":9,"name":"run.list","params":null}', 9, 'bad-input'],
    [
      'brackets without end',
      `{"kind":"request","id":10,"name":"run.list","params":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      10,
      'bad-input',
    ],
  ])('hostile text, %s: refused, and the line stays open', async (_what, text, id, code) => {
    expect(await line.raw(text)).toMatchObject({ kind: 'response', id, ok: false, denial: { code } });
    expect(line.door.calls).toEqual([]);
    expect(await line.transport.request('run.list', {})).toMatchObject({ ok: true });
  });

  test('every kind of event arrives as it was sent', async () => {
    line.door.emit(...Object.values(events));
    await until(() => received(line).length === Object.keys(events).length, 'all events');
    expect(received(line)).toEqual(Object.values(events).map((event) => eventSchema.parse(event)));
  });

  test('frames are numbered from 1 without a gap', async () => {
    for (let index = 1; index <= 5; index += 1) {
      line.door.emit(notice(String(index)));
      await until(() => line.frames.length === index, `frame ${index}`);
    }
    expect(line.frames.map((frame) => [frame.seq, frame.dropped])).toEqual([1, 2, 3, 4, 5].map((seq) => [seq, 0]));
  });

  test('pieces of a reply are joined, states of a run replaced, other events kept in order', async () => {
    line.door.emit(delta('Z', 1), runChanged(1), delta('EB', 2), notice('between'), runChanged(2), delta('RA', 3));
    await until(() => line.frames.length > 0, 'a frame');
    expect(line.frames).toEqual([
      { kind: 'frame', seq: 1, dropped: 0, events: [delta('ZEBRA', 3), runChanged(2), notice('between')] },
    ]);
  });

  test('a screen that cannot keep up loses the oldest events and is told how many', async () => {
    const extra = 25;
    line.door.emit(...Array.from({ length: FRAME_EVENTS_MAX + extra }, (_, index) => notice(String(index))));
    await until(() => received(line).length === FRAME_EVENTS_MAX, 'what is left');
    expect(line.frames.map((frame) => frame.dropped)).toEqual([extra, 0, 0, 0, 0]);
    expect(received(line)[0]).toEqual(notice(String(extra)));
    expect(received(line).at(-1)).toEqual(notice(String(FRAME_EVENTS_MAX + extra - 1)));
  });

  test('around a snapshot nothing is lost and nothing comes twice', async () => {
    const order: string[] = [];
    line.transport.onFrame((frame) =>
      order.push(...frame.events.map((event) => (event.type === 'notice-raised' ? event.text : event.type))),
    );
    line.door.answerWith(async (name) => {
      line.door.emit(notice('during'));
      // Long enough for a frame to go out, if anything let it.
      await new Promise((resolve) => setTimeout(resolve, 3 * FRAME_INTERVAL_MS));
      return ok(samples[name].result);
    });
    line.door.emit(notice('before'));
    const snapshot = line.transport.request('snapshot.get', {}).then(() => order.push('snapshot'));
    await snapshot;
    line.door.emit(notice('after'));
    await until(() => order.includes('after'), 'the last event');
    expect(order).toEqual(['before', 'snapshot', 'during', 'after']);
  });

  test('property: whatever is emitted, the texts of each call arrive whole and in order', async () => {
    const calls = ['a', 'b', 'c'] as CallId[];
    const step = fc.oneof(
      fc.record({ call: fc.constantFrom(...calls), text: fc.string({ unit: 'binary', maxLength: 8 }) }),
      fc.constantFrom('phase', 'pause', 'notice'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const from = line.frames.length;
        let chunks = 0;
        for (const one of steps) {
          if (one === 'pause') await new Promise((resolve) => setTimeout(resolve, 1));
          else if (one === 'phase') line.door.emit({ ...events['call-phase-changed'], callId: calls[0] as CallId });
          else if (one === 'notice') line.door.emit(notice('x'));
          else line.door.emit(delta(one.text, (chunks += 1), one.call));
        }
        line.door.emit(notice('end'));
        const fresh = (): EngineEvent[] => line.frames.slice(from).flatMap((frame) => frame.events);
        await until(() => fresh().some((event) => event.type === 'notice-raised' && event.text === 'end'), 'the end');
        for (const id of calls) {
          const sent = steps.map((one) => (typeof one === 'object' && one.call === id ? one.text : '')).join('');
          const got = fresh()
            .map((event) => (event.type === 'call-delta' && event.callId === id ? event.answer : ''))
            .join('');
          expect(got).toBe(sent);
        }
        expect(line.frames.map((frame) => frame.seq)).toEqual(line.frames.map((_, index) => index + 1));
      }),
      { numRuns: 15 },
    );
  });

  test('a closed line asks for nothing and leaves no listener behind', async () => {
    await line.stop();
    expect(await line.transport.request('call.cancel', { callId })).toMatchObject({
      ok: false,
      denial: { code: 'cancelled' },
    });
    await until(() => line.door.listeners() === 0, 'the subscription to end');
  });
});

const received = (line: Line): EngineEvent[] => line.frames.flatMap((frame) => frame.events);
