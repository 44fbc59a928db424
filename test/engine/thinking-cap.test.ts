/** Every call is read while it streams; a thinking cap stops it from this side, and may ask once more. */
import { describe, expect, test } from 'vitest';
import { type CallRecord, type CallRequest, callRecordSchema, callRequestSchema } from '../../shared/contract/calls.ts';
import { ok } from '../../shared/contract/denials.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';
import type { CallId, CellKey, RunId } from '../../shared/contract/ids.ts';
import { type Engine, createEngine } from '../../shared/engine/engine.ts';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import type { ModelEvent, Subject } from '../../shared/engine/ports.ts';
import { summaryOf } from '../../shared/engine/summary.ts';
import { preflight } from '../../shared/engine/truncation/preflight.ts';
import { type ScriptedModel, chunk, end, scriptedModel } from '../support/scripted-model.ts';

const request: CallRequest = callRequestSchema.parse({
  model: 'probe',
  route: 'chat',
  messages: [{ role: 'user', content: 'Is 1000003 a prime number?' }],
  numCtx: 16_384,
  numPredict: 400,
  think: true,
  temperature: 0,
  seed: 7,
  policy: 'warn',
});
const head: ModelEvent[] = [{ kind: 'sent' }, { kind: 'headers', status: 200 }];
const thought = (count: number): ModelEvent[] =>
  Array.from({ length: count }, (_, index) => chunk('', ` step ${index}`));
const ended = (evalCount: number, doneReason = 'stop'): ModelEvent =>
  end({ promptEvalCount: 20 as never, evalCount: evalCount as never, doneReason });

describe('the reading of a call', () => {
  test('the cap was used up by thinking: starved, counted from chunks, with the next step', async () => {
    const { engine } = bench([[...head, ...thought(400), ended(400, 'length')]]);
    const record = await run(engine, request);
    expect(callRecordSchema.parse(record)).toEqual(record);
    expect(record.reasoning).toMatchObject({
      outcome: 'starved',
      cause: 'cap',
      complete: false,
      places: ['field'],
      obedience: 'not-asked',
      split: { source: 'estimated', basis: 'chunks', thinkingTokens: 400, answerTokens: 0, errorTokens: 0 },
      next: 'Raise num_predict, or switch thinking off: the cap was used up before the answer.',
    });
    expect(summaryOf(record).reasoning).toEqual(record.reasoning);
  });

  test('the same end and the same done_reason in a full window starve for another reason', async () => {
    const { engine } = bench([[...head, ...thought(236), ended(236, 'length')]], 256);
    const record = await run(engine, { ...request, numCtx: 256 });
    expect(record.reasoning).toMatchObject({ outcome: 'starved', cause: 'window' });
    // The server's default window is known only after the call, from what then runs.
    const unasked = bench([[...head, ...thought(400), ended(400, 'length')]], 256);
    expect((await run(unasked.engine, { ...request, numCtx: null })).reasoning).toMatchObject({
      outcome: 'starved',
      cause: 'shift',
      evidence: expect.arrayContaining([expect.stringContaining('is over the window of 256')]),
    });
  });

  test('off that is not heeded, streamed in torn tags', async () => {
    const { engine } = bench([
      [...head, chunk('<th'), chunk('ink>Okay'), chunk(', so</thi'), chunk('nk>No.'), ended(9)],
    ]);
    const record = await run(engine, { ...request, think: false });
    expect(record.reasoning).toMatchObject({
      outcome: 'answered',
      complete: true,
      places: ['answer-tagged'],
      obedience: 'not-obeyed',
      answerCharacters: 3,
    });
  });

  test('with logprobs the split is a count; they are asked for only where the server has them', async () => {
    const entry = (token: string, thinking: boolean): ModelEvent => ({
      kind: 'chunk',
      thinking: thinking ? token : '',
      answer: thinking ? '' : token,
      toolCalls: 0,
      logprobEntries: 1,
      logprobs: [{ token, bytes: [...Buffer.from(token)] }],
    });
    const script = [...head, entry('Hm', true), entry(' so', true), entry('No', false), ended(4)];
    const { engine, model } = bench([script, script], 16_384, '0.12.11');
    const record = await run(engine, { ...request, logprobs: true });
    expect(record.reasoning?.split).toMatchObject({
      source: 'counted',
      thinkingTokens: 2,
      answerTokens: 1,
      errorTokens: 0,
    });
    await run(engine, request);
    const old = bench([[...head, chunk('No'), ended(2)]], 16_384, '0.12.10');
    await run(old.engine, { ...request, logprobs: true });
    expect([...model.asked, ...old.model.asked].map(({ body }) => body['logprobs'])).toEqual([
      true,
      undefined,
      undefined,
    ]);
  });

  test('a call that never left has none', async () => {
    const { engine } = bench([]);
    const cannotGo = { ...request, route: 'generate' as const, messages: [...request.messages, ...request.messages] };
    expect((await run(engine, cannotGo)).reasoning).toBeNull();
  });
});

describe('a thinking cap', () => {
  const capped: CallRequest = { ...request, thinkingCap: { tokensMax: 30, then: 'stop' } };

  test('stops at the token, keeps what is there, and tells the door why', async () => {
    const { engine, events, model } = bench([[...head, ...thought(30), 'wait']]);
    const record = await run(engine, capped);
    expect(record.reply).toMatchObject({
      ending: 'aborted',
      abortedBy: 'thinking-cap',
      thinkingChunks: 30,
      error: 'Thinking was stopped from this side after 30 tokens.',
    });
    expect(model.signals[0]?.reason).toBe('thinking-cap');
    expect(record.reasoning).toMatchObject({
      outcome: 'cut',
      endedBy: 'client',
      split: { thinkingTokens: 30, answerTokens: 0 },
      next: 'Ask once more for the answer alone, or raise the thinking cap.',
    });
    expect(events.filter((event) => event.type === 'call-delta')).toHaveLength(30);
  });

  test('what was on its way already is left out', async () => {
    const { engine } = bench([[...head, ...thought(90), chunk('Yes.'), ended(95)]]);
    const { reply } = await run(engine, capped);
    expect(reply).toMatchObject({ abortedBy: 'thinking-cap', thinkingChunks: 30, answer: '', evalCount: null });
  });

  test('thinking in tags counts too, the answer never', async () => {
    const tagged = Array.from({ length: 200 }, (_, index) => chunk(` step ${index}`));
    const leaking = bench([[...head, chunk('<think>'), ...tagged, 'wait']]);
    const { reply } = await run(leaking.engine, { ...capped, think: false });
    expect(reply.abortedBy).toBe('thinking-cap');
    expect(reply.answerChunks).toBeGreaterThanOrEqual(30);
    expect(reply.answerChunks).toBeLessThanOrEqual(31);
    const answering = bench([[...head, ...tagged, ended(201)]]);
    expect((await run(answering.engine, capped)).reply).toMatchObject({ ending: 'done', answerChunks: 200 });
    const both = bench([[...head, chunk('<think>'), ...tagged.slice(0, 20), chunk('</think>'), ...tagged, ended(230)]]);
    expect((await run(both.engine, capped)).reply.ending).toBe('done');
    const closing = bench([[...head, chunk('<think>'), ...tagged.slice(0, 28), chunk('</think>Y'), ended(31)]]);
    expect((await run(closing.engine, capped)).reply.ending).toBe('done');
  });

  test('a person who stops it is told apart from the cap', async () => {
    const { engine } = bench([[...head, ...thought(3), 'wait']]);
    const opened = engine.open(capped);
    if (!opened.ok) throw new Error(opened.denial.message);
    await new Promise((resolve) => setImmediate(resolve));
    engine.cancel(opened.value.id, 'person');
    expect((await opened.value.done).record.reply.abortedBy).toBe('person');
  });
});

describe('asking again', () => {
  const asking: CallRequest = { ...request, thinkingCap: { tokensMax: 30, then: 'ask-again' } };
  const place = { runId: 'run-1' as RunId, cellKey: 'cell-1' as CellKey };

  test('the second call has the thoughts, no thinking and the rest of the cap; the cell gets its result', async () => {
    const { engine, records, model, events } = bench([
      [...head, ...thought(30), 'wait'],
      [...head, chunk('Yes.'), ended(2)],
    ]);
    const record = await run(engine, asking, place);
    expect(records.map(({ id, cellKey, runId }) => [id, cellKey, runId])).toEqual([
      ['call-1', null, 'run-1'],
      ['call-2', 'cell-1', 'run-1'],
    ]);
    expect(record).toMatchObject({
      id: 'call-2',
      reply: { answer: 'Yes.' },
      reasoning: { outcome: 'answered', obedience: 'obeyed' },
      askedAfter: { callId: 'call-1', thinkingTokens: 30 },
    });
    expect(callRecordSchema.parse(record)).toEqual(record);
    const body = model.asked[1]?.body as {
      think: boolean;
      options: Record<string, number>;
      messages: { role: string; content: string }[];
    };
    expect([body.think, body.options['num_predict']]).toEqual([false, 370]);
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(body.messages[1]?.content).toContain('step 29');
    expect(events.filter((event) => event.type === 'call-closed')).toHaveLength(2);
    expect(engine.openCalls()).toEqual([]);
  });

  test('an answer that came by itself is not asked for again', async () => {
    const { engine, records } = bench([[...head, ...thought(5), chunk('Yes.'), ended(7)]]);
    const record = await run(engine, asking, place);
    expect([records.length, record.cellKey, record.askedAfter]).toEqual([1, 'cell-1', undefined]);
  });

  test('one cancel reaches the second call too', async () => {
    const { engine, model } = bench([
      [...head, ...thought(30), 'wait'],
      [...head, 'wait'],
    ]);
    const opened = engine.open(asking, place);
    if (!opened.ok) throw new Error(opened.denial.message);
    for (let turn = 0; turn < 1_000 && model.asked.length < 2; turn += 1) await Promise.resolve();
    expect(engine.openCalls().map(({ id }) => id)).toEqual(['call-2']);
    engine.cancel(opened.value.id, 'person');
    expect((await opened.value.done).record).toMatchObject({ id: 'call-2', reply: { abortedBy: 'person' } });
  });

  test('on generate it is one prompt', async () => {
    const { engine, model } = bench([
      [...head, ...thought(30), 'wait'],
      [...head, chunk('Yes.'), ended(2)],
    ]);
    await run(engine, { ...asking, route: 'generate' });
    expect(model.asked[1]?.body['prompt']).toMatch(/^Is 1000003[^]*Thoughts so far:[^]*step 29[^]*final answer/u);
  });
});

function bench(
  scripts: (ModelEvent | 'wait')[][],
  contextLength = 16_384,
  serverVersion = '0.33.0',
): { engine: Engine; records: CallRecord[]; events: EngineEvent[]; model: ScriptedModel } {
  const records: CallRecord[] = [];
  const events: EngineEvent[] = [];
  const running = [{ name: 'probe:latest', digest: 'd1', contextLength, sizeBytes: 1, vramBytes: 0, expiresAt: null }];
  const model = scriptedModel(scripts, running as never);
  const subject = {
    server: 's',
    serverVersion,
    simulated: false,
    facts: null,
    digest: 'd1',
    learned: null,
    defaultNumCtx: null,
    running: [],
  };
  let nowMs = 0;
  let calls = 0;
  const engine = createEngine({
    clock: { now: () => '2026-11-14T22:44:02.000Z', monotonicMs: () => (nowMs += 5) },
    ids: { call: () => `call-${(calls += 1)}` as CallId, run: () => 'run-1' as RunId },
    model,
    subjects: { of: async () => ok(subject as Subject) },
    estimator: {
      estimate: async (messages, learned) => estimateMessages(messages, learned),
      preflight: async (input) => preflight(input),
    },
    journal: { callClosed: (record) => (records.push(record), ok(undefined)) },
    events: { emit: (event) => events.push(event) },
  });
  return { engine, records, events, model };
}

async function run(engine: Engine, ask: CallRequest, place?: { runId: RunId; cellKey: CellKey }): Promise<CallRecord> {
  const opened = engine.open(ask, place);
  if (!opened.ok) throw new Error(opened.denial.message);
  return (await opened.value.done).record;
}
