import { expect, test } from 'vitest';
import type { CallSummary } from '../../../shared/contract/calls.ts';
import { createSpeeds } from '../../../shared/engine/context-lab/speeds.ts';

const call = (more: Partial<Record<keyof CallSummary, number | null | string>>): CallSummary =>
  ({
    model: 'm',
    promptEvalCount: 1_000,
    promptEvalDurationMs: 500,
    evalCount: 10,
    evalDurationMs: 100,
    loadDurationMs: 0,
    wallMs: 600,
    ...more,
  }) as unknown as CallSummary;

test('nothing is said before something was measured', () => {
  const speeds = createSpeeds();
  speeds.observe(call({ promptEvalCount: null }));
  expect(speeds.callMs('m', 1_000, 10)).toBeNull();
  expect(speeds.callMs('other', 1_000, 10)).toBeNull();
});

test('the rates of the server, and what passes besides', () => {
  const speeds = createSpeeds();
  speeds.observe(call({ wallMs: 650 }));
  expect(speeds.callMs('m', 2_000, 20)).toBeCloseTo(1_000 + 200 + 50);
});

test('the load is not charged to every call', () => {
  const speeds = createSpeeds();
  speeds.observe(call({ loadDurationMs: 5_000, wallMs: 5_600 }));
  expect(speeds.callMs('m', 1_000, 10)).toBeCloseTo(600);
});

test('time that a simulator tells of and that never passed is no estimate', () => {
  const speeds = createSpeeds();
  speeds.observe(call({ wallMs: 6 }));
  expect(speeds.callMs('m', 1_000, 10)).toBeCloseTo(6);
});
