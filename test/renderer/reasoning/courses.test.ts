/** How a call of a reasoning run streamed stays after it ended; calls of other runs keep nothing, and nothing grows without end. */
import { expect, test } from 'vitest';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import { applyFrame } from '../../../renderer/stores/apply-frame.ts';
import {
  COURSES_MAX,
  HEAD_CHARACTERS_MAX,
  courseKey,
  emptyEngineState,
} from '../../../renderer/stores/engine-state.ts';
import type { EngineState } from '../../../renderer/stores/engine-state.ts';
import { callId, makeOpenCall, makeRun, runId } from '../support/make.ts';
import { makeCall, makeReasoningRun } from './make-lanes.ts';

function frame(state: EngineState, ...events: EngineEvent[]): EngineState {
  return applyFrame(state, { kind: 'frame', seq: (state.lastSeq ?? 0) + 1, dropped: 0, events }, 1_000);
}

const opened = (call: string, run: string, cell: string): EngineEvent => ({
  type: 'call-opened',
  call: makeOpenCall(call, { runId: runId(run), cellKey: cell as CellKey }),
});
const delta = (call: string, atMs: number, thinkingChunks: number, answer = ''): EngineEvent => ({
  type: 'call-delta',
  callId: callId(call),
  thinking: 'Okay. ',
  answer,
  thinkingChunks,
  answerChunks: answer === '' ? 0 : 1,
  atMs: atMs as never,
});
const closed = (call: string, run: string, cell: string): EngineEvent => ({
  type: 'call-closed',
  call: { ...makeCall(), id: callId(call), runId: runId(run), cellKey: cell as CellKey },
});
const runs: EngineEvent[] = [
  { type: 'run-opened', run: makeReasoningRun('r', { state: 'running' }) },
  { type: 'run-opened', run: makeRun('c') },
];

test('the course of a call outlives it in its cell', () => {
  const state = frame(
    emptyEngineState,
    ...runs,
    opened('a', 'r', 'cell'),
    delta('a', 1_000, 10),
    delta('a', 2_000, 30, 'Yes.'),
    closed('a', 'r', 'cell'),
  );
  expect(state.calls.size).toBe(0);
  expect(state.courses.get(courseKey('r', 'cell'))).toEqual({
    series: [
      { atMs: 1_000, thinkingChunks: 10, answerChunks: 0 },
      { atMs: 2_000, thinkingChunks: 30, answerChunks: 1 },
    ],
    thinking: 'Okay. Okay. ',
    answer: 'Yes.',
  });
});

test('calls of a context run keep no course', () => {
  const state = frame(
    emptyEngineState,
    ...runs,
    opened('a', 'c', 'cell'),
    delta('a', 1_000, 10),
    closed('a', 'c', 'cell'),
  );
  expect(state.courses.size).toBe(0);
});

test('the oldest courses go, and the head of an answer is bounded', () => {
  let state = frame(emptyEngineState, ...runs);
  for (let index = 0; index < COURSES_MAX + 20; index += 1)
    state = frame(state, opened('a', 'r', `cell ${index}`), delta('a', 1_000, 10), closed('a', 'r', `cell ${index}`));
  expect(state.courses.size).toBe(COURSES_MAX);
  expect([
    state.courses.has(courseKey('r', 'cell 0')),
    state.courses.has(courseKey('r', `cell ${COURSES_MAX + 19}`)),
  ]).toEqual([false, true]);
  const long = frame(state, opened('b', 'r', 'long'), delta('b', 1, 1, '<think>'), delta('b', 2, 2, 'x'.repeat(5_000)));
  expect(long.calls.get(callId('b'))?.answerHead).toBe(`<think>${'x'.repeat(HEAD_CHARACTERS_MAX - 7)}`);
});

test('ended reasoning runs are told apart for the dots of the rail', () => {
  const state = frame(
    frame(emptyEngineState, ...runs),
    { type: 'run-changed', run: makeReasoningRun('r') },
    { type: 'run-changed', run: makeRun('c', { state: 'done' }) },
  );
  expect([state.runsEnded, state.reasoningRunsEnded]).toEqual([2, 1]);
});
