import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { milliseconds } from '../../../shared/contract/units.ts';
import { applyConnection, applyFrame, applyRun, applySnapshot } from '../../../renderer/stores/apply-frame.ts';
import {
  CLOSED_CALLS_MAX,
  NOTICES_MAX,
  RECENT_CALLS_MAX,
  RUNS_WITH_CELLS_MAX,
  emptyEngineState,
} from '../../../renderer/stores/engine-state.ts';
import type { EngineState } from '../../../renderer/stores/engine-state.ts';
import { SERIES_POINTS_MAX } from '../../../renderer/stores/series.ts';
import type { Frame } from '../../../renderer/transport/transport.ts';
import { callId, makeCell, makeOpenCall, makeRun, makeSnapshot, makeSummary, runId } from '../support/make.ts';

const frame = (seq: number, events: EngineEvent[], dropped = 0): Frame => ({ kind: 'frame', seq, dropped, events });
const applied = (state: EngineState, ...events: EngineEvent[]): EngineState =>
  applyFrame(state, frame((state.lastSeq ?? 0) + 1, events), 0);

const delta = (id: string, answer: string, answerChunks: number, atMs: number): EngineEvent => ({
  type: 'call-delta',
  callId: callId(id),
  thinking: '',
  answer,
  thinkingChunks: 0,
  answerChunks,
  atMs: milliseconds(atMs),
});

/** Histories of a few calls, runs, cells and notices, in any order, also orders that never happen. */
const eventArbitrary: fc.Arbitrary<EngineEvent> = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map((id): EngineEvent => ({ type: 'call-opened', call: makeOpenCall(id) })),
  fc
    .record({
      id: fc.constantFrom('a', 'b', 'c'),
      text: fc.string({ maxLength: 5 }),
      chunks: fc.nat(50),
      atMs: fc.nat(9_000),
    })
    .map(({ id, text, chunks, atMs }) => delta(id, text, chunks, atMs)),
  fc
    .record({ id: fc.constantFrom('a', 'b', 'c'), reported: fc.option(fc.nat(100)) })
    .map(({ id, reported }): EngineEvent => ({
      type: 'call-closed',
      call: makeSummary({ id: callId(id), promptEvalCount: reported as never, evalCount: null }),
    })),
  fc
    .constantFrom<'running' | 'done'>('running', 'done')
    .map((state): EngineEvent => ({ type: 'run-changed', run: makeRun('r', { state }) })),
  fc.constant<EngineEvent>({ type: 'run-opened', run: makeRun('r') }),
  fc
    .record({ key: fc.constantFrom('x', 'y'), state: fc.constantFrom<'running' | 'done'>('running', 'done') })
    .map(({ key, state }): EngineEvent => ({
      type: 'cell-changed',
      runId: runId('r'),
      cell: makeCell(key, { state }),
    })),
  fc.string().map((text): EngineEvent => ({ type: 'notice-raised', level: 'info', text, next: null })),
);

describe('applyFrame', () => {
  test('leaves the state that came in as it was', () => {
    fc.assert(
      fc.property(fc.array(eventArbitrary), fc.array(eventArbitrary), (before, after) => {
        const state = applied(emptyEngineState, ...before);
        const copy = structuredClone(state);
        applied(state, ...after);
        expect(state).toEqual(copy);
      }),
    );
  });

  test('comes to the same however the events are cut into frames', () => {
    fc.assert(
      fc.property(fc.array(eventArbitrary), fc.array(fc.nat(40)), (events, cuts) => {
        const edges = [...new Set([0, ...cuts.filter((cut) => cut < events.length), events.length])].sort(
          (a, b) => a - b,
        );
        let piecewise = emptyEngineState;
        for (let index = 1; index < edges.length; index += 1)
          piecewise = applied(piecewise, ...events.slice(edges[index - 1], edges[index]));
        const whole = applied(emptyEngineState, ...events);
        expect({ ...piecewise, lastSeq: 0 }).toEqual({ ...whole, lastSeq: 0 });
      }),
    );
  });

  test('a stream is the sum of its deltas, and totals never fall', () => {
    const opened = applied(emptyEngineState, { type: 'call-opened', call: makeOpenCall('a') });
    const state = applied(opened, delta('a', 'The ', 1, 10), delta('a', 'code', 3, 20), delta('a', '.', 2, 30));
    expect(state.calls.get(callId('a'))).toMatchObject({ answer: 'The code.', answerChunks: 3, atMs: 30 });
  });

  test('opening a call again brings its preflight and keeps what has streamed', () => {
    const streaming = applied(
      emptyEngineState,
      { type: 'call-opened', call: makeOpenCall('a') },
      delta('a', 'text', 1, 5),
      { type: 'call-opened', call: makeOpenCall('a', { phase: 'sent' }) },
    );
    expect(streaming.calls.get(callId('a'))).toMatchObject({ answer: 'text', call: { phase: 'sent' } });
  });

  test('an event of a call that is not known changes nothing', () => {
    const state = applied(emptyEngineState, delta('nobody', 'text', 1, 5));
    expect({ ...state, lastSeq: null }).toEqual(emptyEngineState);
  });

  test.each([
    ['a missing number', frame(3, []), true],
    ['a number again', frame(1, []), true],
    ['dropped events', frame(2, [], 4), true],
    ['the next number', frame(2, []), false],
  ])('%s: asks for a snapshot %s', (_name, second, needed) => {
    const first = applyFrame(emptyEngineState, frame(1, []), 0);
    expect(applyFrame(first, second, 0).needsSnapshot).toBe(needed);
  });

  test('unknown token counts stay unknown, known ones add up', () => {
    const unknown = applied(emptyEngineState, {
      type: 'call-closed',
      call: makeSummary({ id: callId('a'), promptEvalCount: null, evalCount: null }),
    });
    expect(unknown.tokensToday).toBeNull();
    const known = applied(unknown, { type: 'call-closed', call: makeSummary({ id: callId('b') }) });
    expect(known.tokensToday).toBe(2071);
  });

  test('nothing grows without bound', () => {
    let state = emptyEngineState;
    for (let index = 0; index < 700; index += 1) {
      const id = `call-${index}`;
      state = applied(
        state,
        { type: 'call-opened', call: makeOpenCall(id) },
        delta(id, 'x', 1, 1),
        { type: 'call-closed', call: makeSummary({ id: callId(id) }) },
        { type: 'notice-raised', level: 'info', text: id, next: null },
        { type: 'run-opened', run: makeRun(`run-${index}`) },
      );
    }
    expect({
      calls: state.calls.size,
      recent: state.recentCalls.length,
      notices: state.notices.length,
      cells: state.cells.size,
      newest: state.recentCalls.at(-1)?.id,
    }).toEqual({
      calls: CLOSED_CALLS_MAX,
      recent: RECENT_CALLS_MAX,
      notices: NOTICES_MAX,
      cells: RUNS_WITH_CELLS_MAX,
      newest: 'call-699',
    });
  });

  test('a long stream keeps its whole course in a bounded series', () => {
    let state = applied(emptyEngineState, { type: 'call-opened', call: makeOpenCall('a') });
    for (let index = 1; index <= 2_000; index += 1) state = applied(state, delta('a', 'x', index, index * 10));
    const series = state.calls.get(callId('a'))?.series ?? [];
    expect(series.length).toBeLessThanOrEqual(SERIES_POINTS_MAX);
    expect(series[0]?.atMs).toBe(10);
    expect(series.at(-1)?.atMs).toBe(20_000);
  });

  test('calls of a run do not push out the replies of Live', () => {
    let state = applied(
      emptyEngineState,
      { type: 'call-opened', call: makeOpenCall('mine') },
      { type: 'call-closed', call: makeSummary({ id: callId('mine') }) },
    );
    for (let index = 0; index < 50; index += 1)
      state = applied(
        state,
        { type: 'call-opened', call: makeOpenCall(`cell-${index}`, { runId: runId('r') }) },
        { type: 'call-closed', call: makeSummary({ id: callId(`cell-${index}`), runId: runId('r') }) },
      );
    expect([...state.calls.keys()]).toEqual(['mine']);
    expect(state.callsEnded).toBe(1);
  });

  test('a run that ends is counted once', () => {
    const state = applied(
      emptyEngineState,
      { type: 'run-opened', run: makeRun('r') },
      { type: 'run-changed', run: makeRun('r', { state: 'done' }) },
      { type: 'run-changed', run: makeRun('r', { state: 'done' }) },
    );
    expect(state.runsEnded).toBe(1);
  });
});

describe('applySnapshot', () => {
  test('keeps the texts of calls that go on, and marks those that ended unseen', () => {
    const before = applied(
      emptyEngineState,
      { type: 'call-opened', call: makeOpenCall('goes-on') },
      { type: 'call-opened', call: makeOpenCall('ended') },
      delta('goes-on', 'text', 1, 5),
    );
    const state = applySnapshot(
      before,
      makeSnapshot({ openCalls: [makeOpenCall('goes-on', { phase: 'streaming' })] }),
      0,
    );
    expect(state.calls.get(callId('goes-on'))).toMatchObject({ answer: 'text', vanished: false });
    expect(state.calls.get(callId('ended'))).toMatchObject({ closed: null, vanished: true });
    expect(state).toMatchObject({ loaded: true, needsSnapshot: false });
  });

  test('a call that was streaming before this screen looked is incomplete', () => {
    const state = applySnapshot(
      emptyEngineState,
      makeSnapshot({ openCalls: [makeOpenCall('a', { phase: 'streaming' })] }),
      0,
    );
    expect(state.calls.get(callId('a'))?.incomplete).toBe(true);
  });

  test('notices that were closed do not come back', () => {
    const notices = [{ level: 'info' as const, text: 'moved aside', next: null }];
    const first = applySnapshot(emptyEngineState, makeSnapshot({ notices }), 0);
    const closed = { ...first, notices: [] };
    expect(first.notices).toHaveLength(1);
    expect(applySnapshot(closed, makeSnapshot({ notices }), 0).notices).toEqual([]);
  });
});

test('a new connection starts the numbers anew and asks for a snapshot', () => {
  const before = { ...applied(emptyEngineState), needsSnapshot: false, connection: 'waiting' as const };
  const state = applyConnection(before, 'connected');
  expect(state).toMatchObject({ lastSeq: null, needsSnapshot: true });
  expect(applyFrame({ ...state, needsSnapshot: false }, frame(1, []), 0).needsSnapshot).toBe(false);
});

describe('applyRun', () => {
  const call = makeSummary({ id: callId('c'), runId: runId('r') });

  test('a cell that ended here is not put back by an answer that was on its way', () => {
    const seen = applied(
      emptyEngineState,
      { type: 'run-opened', run: makeRun('r') },
      { type: 'cell-changed', runId: runId('r'), cell: makeCell('x', { state: 'done', call }) },
    );
    const state = applyRun(seen, makeRun('r'), [makeCell('x'), makeCell('y')], 0);
    expect([...(state.cells.get(runId('r'))?.values() ?? [])].map((cell) => cell.state)).toEqual(['done', 'waiting']);
  });

  test('cells of a run that nobody looks at are not kept', () => {
    const state = applied(emptyEngineState, { type: 'cell-changed', runId: runId('r'), cell: makeCell('x') });
    expect(state.cells.size).toBe(0);
  });
});
