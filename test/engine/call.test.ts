/** One governed call, on simulated time and a scripted model: every ending leaves by the same door. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallRecord, CallRequest } from '../../shared/contract/calls.ts';
import { callRecordSchema, callRequestSchema, callSummarySchema, endings } from '../../shared/contract/calls.ts';
import { denied, ok } from '../../shared/contract/denials.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';
import { eventSchema } from '../../shared/contract/events.ts';
import type { CallId, RunId } from '../../shared/contract/ids.ts';
import type { RunningModel } from '../../shared/contract/server.ts';
import type { CallOutcome } from '../../shared/engine/call.ts';
import { type Engine, OPEN_CALLS_MAX, createEngine } from '../../shared/engine/engine.ts';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import type { EnginePorts, LogPort, ModelEvent, Subject } from '../../shared/engine/ports.ts';
import { summaryOf } from '../../shared/engine/summary.ts';
import { preflight } from '../../shared/engine/truncation/preflight.ts';
import { type ScriptedModel, chunk, end, scriptedModel } from '../support/scripted-model.ts';

const request: CallRequest = callRequestSchema.parse({
  model: 'probe',
  route: 'chat',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  numCtx: 4096,
  numPredict: 20,
  think: 'default',
  temperature: 0,
  seed: 7,
  policy: 'warn',
});

const loaded: RunningModel = {
  name: 'probe:latest',
  digest: 'd1',
  contextLength: 4096,
  sizeBytes: 1,
  vramBytes: 0,
  expiresAt: null,
} as RunningModel;

describe('the corridor', () => {
  test('a call that goes well: events in order, running totals, one record', async () => {
    const { engine, events, records, model } = bench([
      [
        { kind: 'sent' },
        { kind: 'headers', status: 200 },
        chunk('', 'Let me'),
        chunk('Because'),
        chunk(' of air.'),
        end({ promptEvalCount: 12 as never, evalCount: 4 as never }),
      ],
    ]);
    const record = await run(engine, request);
    expect(events.map((event) => (event.type === 'call-phase-changed' ? event.phase : event.type))).toEqual([
      'call-opened',
      'call-opened',
      'evaluating',
      'streaming',
      'call-delta',
      'call-delta',
      'call-delta',
      'call-closed',
    ]);
    expect(
      events
        .filter((event) => event.type === 'call-delta')
        .map((event) => [event.thinking, event.answer, event.thinkingChunks, event.answerChunks]),
    ).toEqual([
      ['Let me', '', 1, 0],
      ['', 'Because', 1, 1],
      ['', ' of air.', 1, 2],
    ]);
    expect(records).toEqual([record]);
    expect(record).toMatchObject({
      reply: { ending: 'done', thinking: 'Let me', answer: 'Because of air.', promptEvalCount: 12, evalCount: 4 },
      numCtxRunning: 4096,
      simulated: false,
      needle: 'none',
    });
    expect(record.truncation.kinds).toEqual(['intact']);
    expect(callRecordSchema.parse(record)).toEqual(record);
    expect(callSummarySchema.parse(summaryOf(record))).toEqual(summaryOf(record));
    for (const event of events) expect(eventSchema.parse(event)).toEqual(event);
    expect(model.asked[0]).toEqual({
      path: '/api/chat',
      body: {
        model: 'probe',
        messages: request.messages,
        stream: true,
        options: { num_ctx: 4096, num_predict: 20, seed: 7, temperature: 0 },
      },
      timeoutMs: null,
    });
    expect(JSON.parse(record.sentBody)).toEqual(model.asked[0]?.body);
  });

  test('a model that is not loaded, or loaded with another window, is said to be loading', async () => {
    const { engine, events } = bench([[{ kind: 'sent' }, end()]]);
    await run(engine, { ...request, numCtx: 8192 });
    expect(events.filter((event) => event.type === 'call-phase-changed').map((event) => event.phase)).toEqual([
      'loading',
    ]);
  });

  test('generate takes one system text and one prompt; a conversation is refused with the field, and is still recorded', async () => {
    const { engine, model, records } = bench([[end()]]);
    await run(engine, {
      ...request,
      route: 'generate',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hi' },
      ],
    });
    expect(model.asked[0]).toMatchObject({ path: '/api/generate', body: { prompt: 'Hi', system: 'Be short.' } });
    const outcome = await open(engine, {
      ...request,
      route: 'generate',
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    }).done;
    expect(outcome.denial).toMatchObject({ code: 'bad-input', field: 'messages' });
    expect(model.asked).toHaveLength(1);
    expect(records).toHaveLength(2);
    expect(records[1]?.reply).toMatchObject({ ending: 'not-sent', status: null });
  });

  test('the policy refuse forbids cutting and shifting; num_ctx that is not set is left out; think is sent unless default', async () => {
    const { engine, model } = bench([[end()], [end()]]);
    await run(engine, { ...request, policy: 'refuse', numCtx: null, think: false });
    expect(model.asked[0]?.body).toEqual({
      model: 'probe',
      messages: request.messages,
      stream: true,
      options: { num_predict: 20, seed: 7, temperature: 0 },
      think: false,
      truncate: false,
      shift: false,
    });
  });

  test('whatever the stream ends with, there is one record, one call-closed, and the partial text is kept', async () => {
    const ending = fc.constantFrom(...endings.filter((name) => name !== 'not-sent'));
    const pieces = fc.array(fc.record({ answer: fc.string(), thinking: fc.string() }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(ending, pieces, async (how, list) => {
        const { engine, events, records } = bench([
          [
            { kind: 'sent' },
            ...list.map((piece) => chunk(piece.answer, piece.thinking)),
            end({ ending: how, status: how === 'unreachable' ? null : 200 }),
          ],
        ]);
        const record = await run(engine, request);
        expect(records).toEqual([record]);
        expect(events.filter((event) => event.type === 'call-closed')).toHaveLength(1);
        expect(record.reply).toMatchObject({
          ending: how,
          answer: list.map((piece) => piece.answer).join(''),
          thinking: list.map((piece) => piece.thinking).join(''),
        });
        expect(engine.openCalls()).toEqual([]);
      }),
    );
  });

  test('a cancel before it is sent never reaches the model; a cancel in mid-stream keeps what came, and touches no other call', async () => {
    const { engine, model } = bench([[chunk('one'), 'wait'], [chunk('two'), 'wait'], [end()]]);
    const first = open(engine, request);
    const second = open(engine, request);
    await until(() => model.signals.length === 2);
    engine.cancel(first.id, 'person');
    const stopped = (await first.done).record;
    expect(stopped.reply).toMatchObject({ ending: 'aborted', abortedBy: 'person', answer: 'one' });
    expect(model.signals[1]?.aborted).toBe(false);
    await engine.stop('shutdown');
    expect((await second.done).record.reply.abortedBy).toBe('shutdown');
    const third = open(engine, request);
    engine.cancel(third.id, 'person');
    expect((await third.done).record.reply).toMatchObject({ ending: 'not-sent', abortedBy: 'person' });
    expect(model.asked).toHaveLength(2);
  });

  test('a disk that refuses is told, and the call still closes', async () => {
    const { engine, events } = bench([[end()]], { refuseToStore: true });
    const outcome = await open(engine, request).done;
    expect(outcome.denial).toMatchObject({ code: 'internal' });
    expect(events.at(-1)).toMatchObject({ type: 'notice-raised', level: 'error', text: 'The disk is full.' });
  });

  test('a prompt that was counted before is not estimated again, so that a cut says exactly what was lost', async () => {
    const { engine } = bench([[end({ promptEvalCount: 2051 as never, evalCount: 4 as never })]], { counted: 6869 });
    const record = await run(engine, { ...request, messages: [{ role: 'user', content: 'word '.repeat(5000) }] });
    expect(record.estimate).toMatchObject({ low: 6869, likely: 6869, high: 6869, source: 'counted' });
    expect(record.truncation).toMatchObject({ kinds: ['halved'], sent: 6869, kept: 2051, lost: 4818 });
  });

  test('the lines of the log reach the verdict, and waiting for them is no time of the call', async () => {
    const lines = [
      'level=WARN msg="truncating input prompt" limit=2051 prompt=6869 keep=5 new=2051',
      'slot   operator(): id  0 | task 0 | new prompt, n_ctx_slot = 4096, n_keep = 4, task.n_tokens = 2051',
    ];
    const asked: unknown[] = [];
    const log = (later: () => void): LogPort => ({
      sent: (call) => asked.push(call),
      linesFor: async (call) => {
        asked.push(call);
        later();
        return { lines, debug: false, isShared: false };
      },
    });
    const reply = end({ promptEvalCount: 2051 as never, evalCount: 4 as never });
    const text: CallRequest = { ...request, messages: [{ role: 'user', content: 'word '.repeat(5000) }] };
    const { engine } = bench([[reply]], { log });
    const record = await run(engine, text);
    expect(record.truncation).toMatchObject({ kinds: ['halved'], confidence: 'exact', sent: 6869, lost: 4818 });
    expect(record.truncation.evidence[0]).toMatchObject({ source: 'server-log', raw: lines[0] });
    expect(record.truncation.evidence.map((one) => one.source)).toContain('cut-size');
    expect(asked).toMatchObject([
      { id: record.id, path: '/api/chat', numCtx: 4096, messages: 1 },
      { id: record.id, status: 200, promptEvalCount: 2051, evalCount: 4, needs: null },
    ]);
    expect(record.reply.wallMs).toBeLessThan(1_000);
    const without = await run(bench([[reply]]).engine, text);
    expect(without.truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain' });
    expect(without.reply.wallMs).toBe(record.reply.wallMs);
  });

  test('a refused subject is recorded as not sent', async () => {
    const { engine, records, model } = bench([], { subject: null });
    const outcome = await open(engine, request).done;
    expect(outcome.denial?.code).toBe('no-server');
    expect(records[0]?.reply).toMatchObject({ ending: 'not-sent', error: 'No Ollama at 127.0.0.1:11434.' });
    expect(model.asked).toEqual([]);
  });

  test('there is a bound on open calls', async () => {
    const { engine } = bench(Array.from({ length: OPEN_CALLS_MAX }, () => ['wait' as const]));
    for (let index = 0; index < OPEN_CALLS_MAX; index += 1) open(engine, request);
    expect(engine.open(request)).toMatchObject({ ok: false, denial: { code: 'busy' } });
    await engine.stop('shutdown');
    expect(engine.openCalls()).toEqual([]);
  });
});

function bench(
  scripts: (ModelEvent | 'wait')[][],
  options: { refuseToStore?: boolean; subject?: null; counted?: number; log?: (later: () => void) => LogPort } = {},
): { engine: Engine; events: EngineEvent[]; records: CallRecord[]; model: ScriptedModel } {
  const events: EngineEvent[] = [];
  const records: CallRecord[] = [];
  const model = scriptedModel(scripts, [loaded]);
  const subject: Subject = {
    server: '127.0.0.1:11434',
    serverVersion: '0.33.0',
    simulated: false,
    facts: null,
    digest: 'd1',
    learned: null,
    defaultNumCtx: null,
    running: [loaded],
    countedOf: () => options.counted ?? null,
  };
  let nowMs = 0;
  let calls = 0;
  const ports: EnginePorts = {
    clock: { now: () => '2026-11-14T22:44:02.000Z', monotonicMs: () => (nowMs += 5) },
    ids: { call: () => `call-${(calls += 1)}` as CallId, run: () => 'run-1' as RunId },
    model,
    subjects: {
      of: async () => (options.subject === null ? denied('no-server', 'No Ollama at 127.0.0.1:11434.') : ok(subject)),
    },
    estimator: {
      estimate: async (messages, learned) => estimateMessages(messages, learned),
      preflight: async (input) => preflight(input),
    },
    journal: {
      callClosed: (record) => {
        if (options.refuseToStore === true) return denied('internal', 'The disk is full.');
        records.push(record);
        return ok(undefined);
      },
    },
    events: { emit: (event) => events.push(event) },
    ...(options.log === undefined ? {} : { log: options.log(() => (nowMs += 60_000)) }),
  };
  return { engine: createEngine(ports), events, records, model };
}

function open(
  engine: Engine,
  ask: CallRequest,
): { id: CallId; done: Promise<{ record: CallRecord; denial: unknown }> } & {
  done: Promise<CallOutcome>;
} {
  const opened = engine.open(ask);
  if (!opened.ok) throw new Error(opened.denial.message);
  return opened.value;
}

async function run(engine: Engine, ask: CallRequest): Promise<CallRecord> {
  return (await open(engine, ask).done).record;
}

async function until(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !done(); turn += 1) await Promise.resolve();
}
