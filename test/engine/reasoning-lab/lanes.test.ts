/** What the repeats of a lane say together. */
import { expect, test } from 'vitest';
import type { CallSummary } from '../../../shared/contract/calls.ts';
import { type ReasoningCell, reasoningCellSchema } from '../../../shared/contract/experiments.ts';
import { laneSummarySchema } from '../../../shared/contract/reasoning.ts';
import { classifyReasoning } from '../../../shared/engine/reasoning/classify.ts';
import { callReasoning } from '../../../shared/engine/reasoning-lab/call-reasoning.ts';
import { laneSummaries, obeyedRate } from '../../../shared/engine/reasoning-lab/lanes.ts';
import { summaryOf } from '../../../shared/engine/summary.ts';
import { sampleRecord } from '../../node/storage/samples.ts';

interface Run {
  readonly thinking?: string;
  readonly answer?: string;
  readonly evalCount?: number;
  readonly cut?: boolean;
  readonly state?: ReasoningCell['state'];
}

function cellsOf(variant: string, think: boolean, runs: readonly Run[], warmUp = false): ReasoningCell[] {
  return runs.map((run, repeat) => {
    const cell = {
      plan: {
        kind: 'reasoning',
        key: `${variant}|${repeat}|${warmUp}`,
        index: repeat,
        model: 'm',
        variant,
        think,
        numPredict: 100,
        thinkingCap: null,
        numCtx: null,
        repeat,
        seed: repeat,
        warmUp,
      },
      state: run.state ?? 'done',
      documentCharacters: null,
      call: run.state === undefined ? callOf(run, think) : null,
    };
    return reasoningCellSchema.parse(cell);
  });
}

function callOf({ thinking = '', answer = '', evalCount = 5, cut = false }: Run, think: boolean): CallSummary {
  const record = sampleRecord({
    request: { think },
    reply: {
      thinking,
      answer,
      evalCount,
      ending: cut ? 'cut' : 'done',
      doneReason: cut ? null : evalCount >= 100 ? 'length' : 'stop',
      wallMs: evalCount * 10,
    },
  });
  const verdict = classifyReasoning({
    settings: { think, numPredict: 100, window: 4_096, numCtx: null, shift: null, structured: false },
    thinking,
    content: answer,
    toolCalls: 0,
    toolCharacters: 0,
    chunks: null,
    logprobs: null,
    end: { ...record.reply, status: 200 },
  });
  return summaryOf({ ...record, reasoning: callReasoning(verdict, record.reply) });
}

const clean: Run = { answer: 'No, it is not.' };
const leaking: Run = { answer: '<think>\nOkay, so the user asks about a number.', evalCount: 100 };
const starved: Run = { thinking: 'Okay, so the user asks about a number. '.repeat(9), evalCount: 100 };

test('obeyed of those where it could be told; a reply that broke off early counts nowhere', () => {
  const calls = [clean, clean, leaking, { cut: true }].map((run) => callOf(run, false));
  expect(obeyedRate(calls)).toEqual({ obeyed: 2, notObeyed: 1, suspect: 0, of: 3, sentence: 'off obeyed 2 of 3' });
  const suspect = callOf(
    { answer: 'Okay, so the user is asking whether this is prime. Let me think about it first.' },
    false,
  );
  expect(obeyedRate([...calls, suspect]).sentence).toBe('off obeyed 2 of 4, 1 suspect');
});

test('a lane counts what ended, leaves out the warm-up, and gives medians of what is known', () => {
  const cells = [
    ...cellsOf('warm-up', false, [leaking], true),
    ...cellsOf('off/100', false, [clean, leaking, clean, { state: 'failed' }, { state: 'waiting' }]),
    ...cellsOf('on/100', true, [starved]),
  ];
  const lanes = laneSummaries(cells);
  for (const lane of lanes) expect(laneSummarySchema.parse(lane)).toEqual(lane);
  expect(lanes).toMatchObject([
    {
      variant: 'off/100',
      runs: 5,
      ended: 3,
      answered: 2,
      complete: 2,
      starved: 1,
      wallMsMedian: 50,
      obeyed: { of: 3, obeyed: 2 },
    },
    {
      variant: 'on/100',
      runs: 1,
      ended: 1,
      answered: 0,
      starved: 1,
      thinkingTokensMedian: 100,
      splitSource: 'estimated',
      obeyed: null,
    },
  ]);
});

test('without an ended run nothing is known, and nothing is 0', () => {
  expect(laneSummaries(cellsOf('on/100', true, [{ state: 'waiting' }]))).toMatchObject([
    { ended: 0, thinkingTokensMedian: null, answerTokensMedian: null, wallMsMedian: null, splitSource: null },
  ]);
});
