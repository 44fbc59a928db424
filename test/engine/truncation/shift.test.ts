import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  type GenerationQuestion,
  discardedAtOnce,
  paddedWindow,
  readGeneration,
} from '../../../shared/engine/truncation/shift.ts';

const question: GenerationQuestion = {
  window: 256,
  era: 'keeps-half',
  promptTokens: 27,
  evalTokens: 600,
  numKeep: null,
  numPredict: 600,
  addsBos: true,
  shift: null,
  doneReason: 'length',
};

describe('generation in the window', () => {
  test.each([
    ['recorded at 256', {}, { kind: 'shifted', limit: 256, shifts: 3, discarded: 125 }],
    ['begin token not known', { addsBos: null }, { kind: 'shifted', limit: 256, shifts: 3, discarded: 125 }],
    [
      'recorded at 64, padded',
      { window: 64, promptTokens: 12, evalTokens: 640, numPredict: -1 },
      { kind: 'shifted', limit: 256, shifts: 4, discarded: 125 },
    ],
    [
      'num_keep -1 keeps all but four',
      { window: 512, promptTokens: 511, evalTokens: 4, numKeep: -1, numPredict: 4 },
      { kind: 'shifted', limit: 512, shifts: 3, discarded: 1 },
    ],
    [
      'worked out at 4,096',
      { window: 4_096, promptTokens: 2_051, evalTokens: 6_000, numPredict: 6_000 },
      { kind: 'shifted', limit: 4_096, shifts: 2, discarded: 2_045 },
    ],
    [
      'older runners do not pad, and their count is not known',
      { era: 'keeps-window', window: 64, promptTokens: 12, evalTokens: 640 },
      { kind: 'shifted', limit: 64, shifts: null, discarded: null },
    ],
    ['shift off ends at the window', { shift: false, evalTokens: 229 }, { kind: 'window-full', limit: 256 }],
    [
      'num_ctx 300 ends at 512, not by the cap of 600',
      { window: 300, shift: false, promptTokens: 20, evalTokens: 492 },
      { kind: 'window-full', limit: 512 },
    ],
    ['the cap ends it at the window by chance', { evalTokens: 229, numPredict: 229 }, { kind: 'within', limit: 256 }],
    ['the text ends there by itself', { evalTokens: 229, doneReason: 'stop' }, { kind: 'within', limit: 256 }],
    ['room left', { evalTokens: 100, numPredict: 100 }, { kind: 'within', limit: 256 }],
    [
      'more than the window without a shift: another window ran',
      { shift: false },
      { kind: 'over-without-shift', limit: 256 },
    ],
    [
      'a prompt over the window shifted nothing: none was enforced',
      { promptTokens: 300 },
      { kind: 'prompt-over', limit: 256 },
    ],
    [
      'version not known, older window full',
      { era: null, window: 300, promptTokens: 100, evalTokens: 200 },
      { kind: 'window-full', limit: 300 },
    ],
  ] as const)('%s', (_, change, expected) => expect(readGeneration({ ...question, ...change })).toEqual(expected));

  test('counts what a runner that shifts step by step would count', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 16, max: 2_000 }),
        fc.nat({ max: 3_000 }),
        fc.nat({ max: 300 }),
        fc.boolean(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (window, evalTokens, numKeep, addsBos, share) => {
          const limit = paddedWindow(window);
          const promptTokens = 1 + Math.floor(share * (limit - 2));
          fc.pre(promptTokens + evalTokens > limit);
          const reading = readGeneration({
            ...question,
            window,
            promptTokens,
            evalTokens,
            numKeep,
            addsBos,
            numPredict: null,
          });
          expect(reading).toMatchObject({
            kind: 'shifted',
            shifts: stepByStep(limit, promptTokens, evalTokens, discardedAtOnce(limit, numKeep, addsBos)),
          });
        },
      ),
    );
  });
});

/** Each sampled token but the last goes into the window; with one place left, the runner shifts first. */
function stepByStep(limit: number, promptTokens: number, evalTokens: number, discarded: number): number {
  let held = promptTokens;
  let shifts = 0;
  for (let sampled = 1; sampled < evalTokens; sampled += 1) {
    if (held + 1 >= limit) {
      held -= discarded;
      shifts += 1;
    }
    held += 1;
  }
  return shifts;
}
