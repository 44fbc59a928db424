/** Cells and readings of a reasoning run; each test says only what it is about. */
import type { CallReasoning, CallSummary } from '../../../shared/contract/calls.ts';
import { reasoningRunSchema } from '../../../shared/contract/experiments.ts';
import type { ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import { callId, makeSummary } from '../support/make.ts';

/** Numbers of tests carry no units. */
type Loose<Whole> = { readonly [Key in keyof Whole]?: unknown };

export function makeReading(patch: Loose<CallReasoning> = {}): CallReasoning {
  return {
    outcome: 'starved',
    cause: 'cap',
    endedBy: 'cap',
    complete: false,
    places: ['field'],
    suspected: null,
    obedience: 'not-asked',
    answerFrom: null,
    probableAnswer: null,
    thinkingCharacters: 30_000,
    answerCharacters: 0,
    strayMarkers: [],
    split: makeSplit(8_000, 0),
    evidence: ['8,000 tokens came, the cap was 8,000.'],
    next: 'Raise num_predict, or switch thinking off: the cap was used up before the answer.',
    ...patch,
  } as CallReasoning;
}

export function makeSplit(
  thinking: number,
  answer: number,
  patch: Record<string, unknown> = {},
): CallReasoning['split'] {
  return {
    source: 'counted',
    basis: 'logprobs',
    thinkingTokens: thinking,
    answerTokens: answer,
    hiddenTokens: 0,
    otherTokens: 0,
    thinkingOutsideCount: false,
    errorTokens: 0,
    errorPercent: 0,
    ...patch,
  } as CallReasoning['split'];
}

export function makeCall(patch: Loose<CallSummary> = {}): CallSummary {
  const whole: Loose<CallSummary> = {
    evalCount: 8_000,
    numPredict: 8_000,
    wallMs: 216_800,
    evalDurationMs: 216_800,
    timeToFirstTokenMs: 800,
    doneReason: 'length',
    answerHead: '',
    error: null,
    reasoning: makeReading(),
    ...patch,
  };
  return makeSummary(whole as Partial<CallSummary>);
}

export function makeLaneCell(
  key: string,
  patch: Partial<ReasoningCell['plan']> = {},
  call: CallSummary | null = null,
): ReasoningCell {
  return {
    plan: {
      kind: 'reasoning',
      key: key as CellKey,
      index: 0,
      model: 'qwen3.5:9b',
      variant: 'on/8000',
      think: true,
      numPredict: 8_000,
      thinkingCap: null,
      numCtx: null,
      repeat: 0,
      seed: 7,
      warmUp: false,
      ...patch,
    },
    state: call === null ? 'waiting' : 'done',
    documentCharacters: null,
    call: call === null ? null : { ...call, id: callId(`call ${key}`) },
  };
}

/** off/2000 leaked, on/8000 and on/256 starved: the classic three, each `repeats` times. */
export function classicCells(repeats = 1): ReasoningCell[] {
  const cells: ReasoningCell[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const push = (variant: string, plan: Partial<ReasoningCell['plan']>, call: CallSummary): void =>
      void cells.push(makeLaneCell(`${variant}|r${repeat}`, { variant, repeat, index: cells.length, ...plan }, call));
    push(
      'off/2000',
      { think: false, numPredict: 2_000 },
      makeCall({
        think: false,
        numPredict: 2_000,
        evalCount: 2_000,
        wallMs: 54_200,
        evalDurationMs: 54_200,
        answerHead: '<think>\nOkay, is 1000003 prime?',
        reasoning: makeReading({
          places: ['answer-tagged'],
          obedience: 'not-obeyed',
          thinkingCharacters: 7_000,
          split: makeSplit(2_000, 0, { source: 'estimated', basis: 'chunks', errorPercent: 2 }),
        }),
      }),
    );
    push('on/8000', {}, makeCall());
    push(
      'on/256',
      { numPredict: 256 },
      makeCall({
        numPredict: 256,
        evalCount: 256,
        wallMs: 6_900,
        evalDurationMs: 6_900,
        reasoning: makeReading({ split: makeSplit(256, 0) }),
      }),
    );
  }
  return cells;
}

export function makeReasoningRun(id: string, patch: Record<string, unknown> = {}): ReasoningRun {
  return reasoningRunSchema.parse({
    id,
    kind: 'reasoning',
    name: 'Is it prime',
    state: 'done',
    createdAt: '2026-11-14T19:43:26.000Z',
    endedAt: '2026-11-14T19:48:06.000Z',
    simulated: true,
    server: 'http://127.0.0.1:11434',
    serverVersion: '0.33.0',
    experiment: {
      kind: 'reasoning',
      axes: {
        models: ['qwen3.5:9b'],
        variants: [
          { think: false, numPredict: 2_000 },
          { think: true, numPredict: 8_000 },
          { think: true, numPredict: 256 },
        ],
        repeats: 1,
      },
      prompt: 'Is 1000003 a prime number? Answer only yes or no.',
      numCtx: 16_384,
    },
    cellsTotal: 3,
    cellsDone: 3,
    cellsFailed: 0,
    tokensEvaluated: 84,
    cellsTruncated: 0,
    etaMs: null,
    warnings: [],
    error: null,
    ...patch,
  });
}
