import { describe, expect, test } from 'vitest';
import { count, duration, rate } from '../../../renderer/format/numbers.ts';
import { endingOfSummary, severityOf, verdictHeadline } from '../../../renderer/format/verdicts.ts';
import type { TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import { makeSummary } from '../support/make.ts';

const verdict = (patch: Record<string, unknown>): TruncationVerdict => ({ ...makeSummary().truncation, ...patch });

describe('verdictHeadline', () => {
  test.each([
    [{}, null, 'Cut to 2,051 of 6,869'],
    [{ lost: null }, 6_900, 'Cut to 2,051 of ~6,900'],
    [{ lost: null }, null, 'Cut to 2,051'],
    [{ lostAtLeast: true }, null, 'Cut to 2,051'],
    [{ kinds: ['refused'], needs: 351, has: 256 }, null, 'Refused: 351 over 256'],
    [{ kinds: ['shifted'], shifts: 2 }, null, 'Shifted 2 ×'],
    [{ kinds: ['intact', 'window-full'] }, null, 'Window full'],
    [{ kinds: ['intact'] }, null, 'Nothing lost'],
    [{ kinds: ['unknown'] }, null, 'Cannot be told'],
  ])('%j with an estimate of %s: %s', (patch, estimated, text) => {
    expect(verdictHeadline(verdict(patch), estimated)).toBe(text);
  });
});

test('severity: a refusal was stopped, a loss happened, the rest informs', () => {
  expect(severityOf(verdict({ kinds: ['refused'] }))).toBe('stopped');
  expect(severityOf(verdict({ kinds: ['shifted'] }))).toBe('happened');
  expect(severityOf(verdict({ kinds: ['unknown'] }))).toBe('informed');
});

describe('length is blamed on what the numbers say', () => {
  const intact = verdict({ kinds: ['intact'] });
  test.each([
    [{ evalCount: 20, numPredict: 20, truncation: intact }, 'Stopped at num_predict.'],
    [{ evalCount: 15, numPredict: 20, truncation: intact }, 'Stopped at a length limit of the server.'],
    [{ evalCount: null, truncation: intact }, 'Stopped at a length limit of the server.'],
    [
      { evalCount: 20, numPredict: 20, truncation: verdict({ kinds: ['window-full'] }) },
      'Stopped where the window ended.',
    ],
    [{ doneReason: 'load', truncation: intact }, 'Nothing was asked: the server only loaded the model.'],
    [{ ending: 'cut', doneReason: null }, 'The stream ended without a done line. What is here is incomplete.'],
  ])('%j', (patch, text) => {
    expect(endingOfSummary(makeSummary(patch as never))).toBe(text);
  });
});

test('unknown is a dash, zero is zero', () => {
  expect([count(null), count(0), duration(null), duration(0), rate(null), rate(0)]).toEqual([
    '–',
    '0',
    '–',
    '0 ms',
    '–',
    '0.0/s',
  ]);
});
