import { describe, expect, test } from 'vitest';
import type { CallSummary } from '../../../shared/contract/calls.ts';
import type { ContextCell } from '../../../shared/contract/experiments.ts';
import { contextExperimentSchema } from '../../../shared/contract/experiments.ts';
import { defaultExperiment } from '../../../renderer/stores/default-probe.ts';
import { experimentAt, isShort } from '../../../renderer/pages/context/fitting-run.tsx';
import { PLANNED_CELLS_MAX, plannedCells } from '../../../renderer/pages/context/planned.ts';
import { presentedSentence } from '../../../renderer/pages/context/presented-run.tsx';
import { headlineOf, neverSeen, repliesText, sentenceOf } from '../../../renderer/pages/context/trial-words.ts';
import { labOf } from '../../../renderer/pages/context/trials.ts';
import type { Trial } from '../../../renderer/pages/context/trials.ts';
import { makeRun } from '../support/make.ts';
import { endedCell } from './make-cells.ts';

const cut = endedCell({ model: 'm', window: 4_096, size: 40_000, repeat: 0, warmUp: false });
const whole = endedCell({ model: 'm', window: 40_960, size: 40_000, repeat: 0, warmUp: false });

function trialOf(cell: ContextCell, ...others: ContextCell[]): Trial {
  const trial = labOf([cell, ...others]).trials.find(({ plan }) => plan.numCtx === cell.plan.numCtx);
  if (trial === undefined) throw new Error('no trial');
  return trial;
}
function changed(
  cell: ContextCell,
  patch: (call: CallSummary) => Partial<CallSummary>,
  state: ContextCell['state'] = 'done',
): ContextCell {
  return cell.call === null ? cell : { ...cell, state, call: { ...cell.call, ...patch(cell.call) } };
}
const said = (trial: Trial) => [headlineOf(trial.shown), sentenceOf(trial.shown, trial)];

describe('what is said', () => {
  test('counted where another window read it whole, about where not', () => {
    expect(said(trialOf(cut, whole))).toEqual([
      '7,949 lost',
      'of 10,000 tokens. The first 5 and the last 2,046 stayed, so the needle was never seen. The reply made up an answer.',
    ]);
    expect(said(trialOf(cut))[0]).toBe('~7,952 lost');
    expect(said(trialOf(cut))[1]).toMatch(/^of about 10,003 tokens\./u);
  });

  test('nothing lost, refused, failed', () => {
    expect(said(trialOf(whole))).toEqual(['Nothing lost', 'All 10,000 tokens were read. The reply found the needle.']);
    const refused = changed(
      cut,
      (call) => ({
        needle: 'none',
        promptEvalCount: null,
        error: 'request exceeds the context size',
        truncation: { ...call.truncation, kinds: ['refused'], kept: null, needs: 10_000 as never, has: 4_096 as never },
      }),
      'done',
    );
    expect(said(trialOf(refused))).toEqual(['Refused', 'It needs 10,000 tokens, the window has 4,096.']);
    expect(isShort(trialOf(refused).shown)).toBe(true);
    const failed = changed(
      cut,
      (call) => ({ error: 'model not found', truncation: { ...call.truncation, kinds: ['unknown'], kept: null } }),
      'failed',
    );
    expect(said(trialOf(failed))).toEqual(['Failed', 'model not found']);
    expect(isShort(trialOf(failed).shown)).toBe(false);
  });

  test('a needle in the part that stayed was seen, and a found one was too', () => {
    const at = (depth: number): Trial => trialOf({ ...cut, plan: { ...cut.plan, depths: [depth] } });
    expect([0, 50, 100].map((depth) => neverSeen(at(depth).shown))).toEqual([true, true, false]);
    const found = changed(cut, () => ({ needle: 'found' }));
    expect(neverSeen(trialOf(found).shown)).toBe(false);
  });

  test('repeats in words', () => {
    expect(repliesText(['invented', 'invented', 'lost'])).toBe('Two of three replies made up an answer.');
    expect(repliesText(['found', 'found', 'found'])).toBe('All three replies found the needle.');
    expect(repliesText(['lost'])).toBe('The reply did not find the needle.');
    expect(repliesText([])).toBe('');
  });

  test('the sentence for the room', () => {
    const run = makeRun('run-1', { state: 'done' });
    expect(presentedSentence(trialOf(cut, whole), run)).toMatch(
      /^Of 10,000 tokens the model read 2,051: 7,949 were lost at a window of 4,096, and the status was 200\./u,
    );
    expect(presentedSentence(null, run)).toBe('Nothing was lost.');
    expect(presentedSentence(null, run, 2)).toBe(
      '2 texts were refused as too long for the window; of the others nothing was lost.',
    );
  });
});

test('the run at the window that fits keeps everything but the window', () => {
  const run = makeRun('run-1', { name: 'named' });
  const trial = trialOf({ ...cut, plan: { ...cut.plan, depths: [0, 100], route: 'generate', policy: 'refuse' } });
  const experiment = experimentAt(run, trial, 16_384);
  expect(contextExperimentSchema.parse(experiment)).toEqual({
    ...run.experiment,
    axes: {
      models: ['m'],
      numCtx: [16_384],
      sizes: [40_000],
      needleDepths: [[0, 100]],
      routes: ['generate'],
      policies: ['refuse'],
      repeats: 1,
    },
  });
});

test('the map before the first run: one waiting trial a point of the axes, bounded', () => {
  const experiment = contextExperimentSchema.parse(defaultExperiment('m', null));
  const { trials } = labOf(plannedCells(experiment));
  expect(trials.map(({ state }) => state)).toEqual(Array.from({ length: 8 }, () => 'waiting'));
  const many = {
    ...experiment,
    axes: {
      ...experiment.axes,
      sizes: Array.from({ length: 100 }, (_, at) => 100 + at),
      needleDepths: [0, 1, 2, 3, 4, 5],
    },
  };
  expect(plannedCells(many)).toHaveLength(PLANNED_CELLS_MAX);
});
