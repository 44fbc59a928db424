/** Records, plans and runs for the storage tests and their child processes. Every value is valid by the contract's own schemas. */
import type { CallRecord } from '../../../shared/contract/calls.ts';
import { callRecordSchema } from '../../../shared/contract/calls.ts';
import type { ContextCellPlan, ContextRun } from '../../../shared/contract/experiments.ts';
import { contextCellPlanSchema, contextRunSchema } from '../../../shared/contract/experiments.ts';

export const clock = { now: () => '2026-11-14T09:30:00.000Z' };

/** The value of a Result that must not be a refusal. */
export function value<Value>(result: { ok: true; value: Value } | { ok: false; denial: { message: string } }): Value {
  if (!result.ok) throw new Error(`refused: ${result.denial.message}`);
  return result.value;
}

export function sampleRun(change: Partial<Record<keyof ContextRun, unknown>> = {}): ContextRun {
  return contextRunSchema.parse({
    id: 'run-1',
    kind: 'context',
    name: 'Classic',
    state: 'running',
    createdAt: '2026-11-14T09:00:00.000Z',
    endedAt: null,
    simulated: true,
    server: 'http://127.0.0.1:11500',
    serverVersion: '0.33.0',
    experiment: {
      kind: 'context',
      axes: {
        models: ['llama3.2:3b'],
        numCtx: ['default', 40_960],
        sizes: [2_000, 40_000],
        needleDepths: [0],
        routes: ['chat'],
        policies: ['warn'],
        repeats: 1,
      },
    },
    cellsTotal: 0,
    cellsDone: 0,
    cellsFailed: 0,
    tokensEvaluated: 0,
    cellsTruncated: 0,
    etaMs: null,
    warnings: [],
    error: null,
    ...change,
  });
}

export function samplePlan(
  index: number,
  change: Partial<Record<keyof ContextCellPlan, unknown>> = {},
): ContextCellPlan {
  return contextCellPlanSchema.parse({
    key: `cell-${index}`,
    index,
    model: 'llama3.2:3b',
    numCtx: 4_096,
    size: 2_000,
    depths: [0],
    route: 'chat',
    policy: 'warn',
    repeat: 0,
    seed: 7,
    warmUp: false,
    ...change,
  });
}

interface RecordChange {
  readonly reply?: Partial<Record<keyof CallRecord['reply'], unknown>>;
  readonly request?: Partial<Record<keyof CallRecord['request'], unknown>>;
  readonly truncation?: Partial<Record<keyof CallRecord['truncation'], unknown>>;
  readonly [field: string]: unknown;
}

export function sampleRecord({ reply, request, truncation, ...change }: RecordChange = {}): CallRecord {
  const asked = {
    model: 'llama3.2:3b',
    route: 'chat',
    messages: [{ role: 'user', content: 'What is the code?' }],
    numCtx: 4_096,
    numPredict: 60,
    think: 'default',
    temperature: 0,
    seed: 7,
    policy: 'warn',
    stream: true,
    needles: [],
    ...request,
  };
  return callRecordSchema.parse({
    id: 'call-1',
    runId: null,
    cellKey: null,
    startedAt: '2026-11-14T09:10:00.000Z',
    simulated: true,
    server: 'http://127.0.0.1:11500',
    serverVersion: '0.33.0',
    modelDigest: 'a80c4f17acd5',
    request: asked,
    path: '/api/chat',
    sentBody: JSON.stringify({ model: asked.model, messages: asked.messages, stream: true }),
    promptCharacters: 17,
    estimate: { low: 4, likely: 5, high: 6, characters: 17, charactersPerToken: 3.4, source: 'script-table' },
    preflight: null,
    numCtxRunning: 4_096,
    vramBytes: null,
    memoryBytes: 3_000_000_000,
    reply: {
      status: 200,
      ending: 'done',
      abortedBy: null,
      done: true,
      doneReason: 'stop',
      promptEvalCount: 31,
      evalCount: 9,
      totalDurationMs: 120,
      loadDurationMs: 20,
      promptEvalDurationMs: 40,
      evalDurationMs: 60,
      contextLength: null,
      error: null,
      needs: null,
      has: null,
      thinking: '',
      answer: 'The code is KIWI-1201.',
      thinkingChunks: 0,
      answerChunks: 9,
      toolCalls: 0,
      timeToFirstTokenMs: 61,
      wallMs: 125,
      ...reply,
    },
    rawReply: '{"done":true}\n',
    rawReplyClipped: false,
    truncation: {
      kinds: ['intact'],
      confidence: 'certain',
      sent: 31,
      kept: 31,
      lost: 0,
      lostAtLeast: false,
      headKept: null,
      tailKept: null,
      shifts: null,
      needs: null,
      has: null,
      evidence: [{ confidence: 'certain', source: 'estimate', text: '31 tokens reported, 5 estimated.' }],
      next: null,
      fitsNumCtx: null,
      ...truncation,
    },
    needle: 'found',
    needles: [],
    ...change,
  });
}
