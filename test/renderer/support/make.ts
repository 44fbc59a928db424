/** Whole, valid values of the contract; each test says only what it is about. */
import { callRecordSchema } from '../../../shared/contract/calls.ts';
import type { CallRecord, CallRequest, CallSummary } from '../../../shared/contract/calls.ts';
import { preflightSchema } from '../../../shared/contract/estimates.ts';
import type { Preflight } from '../../../shared/contract/estimates.ts';
import type { OpenCall } from '../../../shared/contract/events.ts';
import { contextRunSchema } from '../../../shared/contract/experiments.ts';
import type { ContextCell, ContextRun } from '../../../shared/contract/experiments.ts';
import type { CallId, CellKey, RunId } from '../../../shared/contract/ids.ts';
import { modelSummarySchema, serverStatusSchema } from '../../../shared/contract/server.ts';
import type { ModelSummary, ServerStatus } from '../../../shared/contract/server.ts';
import { settingsSchema } from '../../../shared/contract/settings.ts';
import type { Snapshot } from '../../../renderer/stores/engine-state.ts';

export const callId = (name: string): CallId => name as CallId;
export const runId = (name: string): RunId => name as RunId;

const AT = '2026-11-14T19:43:26.000Z';

const halved = {
  kinds: ['halved'],
  confidence: 'certain',
  sent: null,
  kept: 2051,
  lost: 4818,
  lostAtLeast: false,
  headKept: 5,
  tailKept: 2046,
  shifts: 0,
  needs: null,
  has: null,
  evidence: [{ confidence: 'certain', source: 'cut-size', text: '2,051 is the cut size for 4,096' }],
  next: 'Send again with 8,192: nothing is lost.',
  fitsNumCtx: 8192,
};

const estimate = { low: 6000, likely: 6869, high: 8021, characters: 24063, charactersPerToken: 3.5, source: 'learned' };

export function makePreflight(patch: Record<string, unknown> = {}): Preflight {
  return preflightSchema.parse({
    estimate,
    parts: { system: 0, history: 0, prompt: 6869 },
    window: 4096,
    windowSource: 'requested',
    trained: 32768,
    replyReserve: 20,
    outcome: 'does-not-fit',
    expected: 'halved',
    kept: 2051,
    lost: 4818,
    headKept: 5,
    tailKept: 2046,
    lostRanges: [{ message: 0, from: 3, to: 20 }],
    fitsNumCtx: 8192,
    fitsMemoryBytes: null,
    sentence: '4,818 of 6,869 tokens would be lost: the first 5 and the last 2,046 stay',
    ...patch,
  });
}

export function makeRecord(patch: Record<string, unknown> = {}): CallRecord {
  return callRecordSchema.parse({
    id: 'call-1',
    runId: null,
    cellKey: null,
    startedAt: AT,
    simulated: true,
    server: 'http://127.0.0.1:11434',
    serverVersion: '0.33.0',
    modelDigest: null,
    request: makeRequest(),
    path: '/api/chat',
    sentBody: '{"model":"gemma3:270m"}',
    promptCharacters: 24063,
    estimate,
    preflight: null,
    numCtxRunning: 4096,
    vramBytes: null,
    memoryBytes: 292_000_000,
    reply: {
      status: 200,
      ending: 'done',
      abortedBy: null,
      done: true,
      doneReason: 'length',
      promptEvalCount: 2051,
      evalCount: 20,
      totalDurationMs: 6900,
      loadDurationMs: 1400,
      promptEvalDurationMs: 5200,
      evalDurationMs: 300,
      contextLength: null,
      error: null,
      needs: null,
      has: null,
      thinking: '',
      answer: 'The days. Section 205: requests about expenses go to desk 448 and',
      thinkingChunks: 0,
      answerChunks: 20,
      toolCalls: 0,
      timeToFirstTokenMs: 6600,
      wallMs: 6950,
    },
    rawReply: '{"done":true}\n',
    rawReplyClipped: false,
    truncation: halved,
    needle: 'lost',
    needles: [{ token: 'ZEBRA-7741', depthPercent: 0, outcome: 'lost', said: null }],
    ...patch,
  });
}

export function makeRequest(patch: Partial<CallRequest> = {}): CallRequest {
  return {
    model: 'gemma3:270m',
    route: 'chat',
    messages: [{ role: 'user', content: 'The launch code is ZEBRA-7741.' }],
    numCtx: 4096,
    numPredict: 20,
    think: 'default',
    temperature: 0,
    seed: 7,
    policy: 'warn',
    stream: true,
    needles: [],
    ...patch,
  };
}

export function makeSummary(patch: Partial<CallSummary> = {}): CallSummary {
  const { request, sentBody: _body, rawReply: _raw, preflight: _preflight, reply, ...rest } = makeRecord();
  return {
    ...rest,
    model: request.model,
    route: request.route,
    numCtxRequested: request.numCtx as CallSummary['numCtxRequested'],
    numPredict: request.numPredict,
    temperature: request.temperature,
    seed: request.seed,
    think: request.think,
    promptEvalCount: reply.promptEvalCount,
    evalCount: reply.evalCount,
    doneReason: reply.doneReason,
    ending: reply.ending,
    answerHead: reply.answer.slice(0, 200),
    error: reply.error,
    timeToFirstTokenMs: reply.timeToFirstTokenMs,
    loadDurationMs: reply.loadDurationMs,
    promptEvalDurationMs: reply.promptEvalDurationMs,
    evalDurationMs: reply.evalDurationMs,
    totalDurationMs: reply.totalDurationMs,
    wallMs: reply.wallMs,
    ...patch,
  };
}

export function makeOpenCall(id: string, patch: Partial<OpenCall> = {}): OpenCall {
  const { messages: _messages, needles: _needles, ...request } = makeRequest();
  return {
    id: callId(id),
    runId: null,
    cellKey: null,
    startedAt: AT,
    request,
    preflight: null,
    phase: 'estimating',
    ...patch,
  };
}

export function makeRun(id: string, patch: Record<string, unknown> = {}): ContextRun {
  return contextRunSchema.parse({
    id,
    kind: 'context',
    name: `Needle first ${id}`,
    state: 'running',
    createdAt: AT,
    endedAt: null,
    simulated: true,
    server: 'http://127.0.0.1:11434',
    serverVersion: '0.33.0',
    experiment: {
      kind: 'context',
      axes: {
        models: ['gemma3:270m'],
        numCtx: ['default', 32768],
        sizes: [2000, 10000],
        needleDepths: [0],
        routes: ['chat'],
        policies: ['warn'],
        repeats: 1,
      },
    },
    cellsTotal: 4,
    cellsDone: 0,
    cellsFailed: 0,
    tokensEvaluated: 0,
    cellsTruncated: 0,
    etaMs: null,
    warnings: [],
    error: null,
    ...patch,
  });
}

export function makeCell(key: string, patch: Partial<ContextCell> = {}): ContextCell {
  return {
    plan: {
      key: key as CellKey,
      index: 0,
      model: 'gemma3:270m',
      numCtx: null,
      size: 2000,
      depths: [0],
      route: 'chat',
      policy: 'warn',
      repeat: 0,
      seed: 7,
      warmUp: false,
    },
    state: 'waiting',
    documentCharacters: null,
    call: null,
    ...patch,
  };
}

export function makeModel(name: string, patch: Record<string, unknown> = {}): ModelSummary {
  return modelSummarySchema.parse({
    name,
    digest: null,
    sizeBytes: 292_000_000,
    family: 'gemma3',
    parameterSize: '268M',
    quantization: 'Q4_K_M',
    trainedContext: 32768,
    capabilities: ['completion'],
    cloud: false,
    ...patch,
  });
}

export function makeServer(patch: Record<string, unknown> = {}): ServerStatus {
  return serverStatusSchema.parse({
    state: 'up',
    kind: 'ollama',
    url: 'http://127.0.0.1:11434',
    urlSource: 'default',
    version: '0.33.0',
    problem: null,
    looks: [],
    looksCount: 1,
    lastLookAt: AT,
    models: [makeModel('gemma3:270m')],
    running: [],
    ollamaInstalled: true,
    ...patch,
  });
}

export function makeSnapshot(patch: Partial<Snapshot> = {}): Snapshot {
  return {
    app: { version: '0.1.0', host: 'test', platform: 'linux', home: '/home/person/spillway' },
    settings: settingsSchema.parse({}),
    server: makeServer(),
    openCalls: [],
    runs: [],
    tokensToday: null,
    notices: [],
    ...patch,
  };
}
