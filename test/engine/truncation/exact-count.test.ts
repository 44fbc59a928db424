/** In which windows a prompt is counted, and when a count is one of the whole prompt. */
import { describe, expect, test } from 'vitest';
import type { CallRequest } from '../../../shared/contract/calls.ts';
import type { Estimate } from '../../../shared/contract/estimates.ts';
import type { TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import type { Subject } from '../../../shared/engine/ports.ts';
import { countWindows, isCounted } from '../../../shared/engine/truncation/exact-count.ts';

function windows(
  low: number,
  high: number,
  numCtx: number | null,
  {
    version = '0.33.0',
    promptPath = 'rendered',
    running = null,
  }: { version?: string | null; promptPath?: string; running?: number | null } = {},
): readonly (number | null)[] {
  const subject = {
    serverVersion: version,
    digest: null,
    facts: { trainedContext: 32_768, promptPath },
    running: running === null ? [] : [{ name: 'm:latest', digest: null, contextLength: running }],
  } as unknown as Subject;
  return countWindows({ model: 'm', numCtx } as CallRequest, subject, { low, high } as Estimate);
}

describe('the windows', () => {
  test('a short prompt: the window of the call, then one that fits', () => {
    expect(windows(900, 1_100, 512)).toEqual([512, 2_048]);
    expect(windows(900, 1_100, null)).toEqual([null, 2_048]);
    expect(windows(900, 1_100, 2_048)).toEqual([2_048]);
  });
  test('a long prompt: one that is too small comes first, the running one where it is', () => {
    expect(windows(9_000, 11_000, 16_384)).toEqual([2_048, 16_384]);
    expect(windows(9_000, 11_000, 16_384, { running: 4_096 })).toEqual([4_096, 16_384]);
    expect(windows(9_000, 11_000, 16_384, { running: 16_384 })).toEqual([2_048, 16_384]);
    expect(windows(9_000, 11_000, 8_192)).toEqual([8_192, 16_384]);
  });
  test('a server that says no size is not asked in a window that is too small on purpose', () => {
    expect(windows(9_000, 11_000, 16_384, { version: '0.24.0' })).toEqual([16_384]);
    expect(windows(9_000, 11_000, 16_384, { version: null })).toEqual([16_384]);
    expect(windows(9_000, 11_000, 16_384, { promptPath: 'unknown' })).toEqual([16_384]);
  });
  test('a server that cuts whatever it is told gets a window that holds the prompt, or is not asked', () => {
    expect(windows(900, 1_100, 512, { version: '0.12.3' })).toEqual([2_048]);
    expect(windows(900, 1_100, 1_101, { version: '0.12.3' })).toEqual([1_101]);
    expect(windows(900, 1_100, 1_100, { version: '0.12.3' })).toEqual([2_048]);
    expect(windows(40_000, 50_000, null, { version: '0.12.3' })).toEqual([]);
  });
});

describe('a count', () => {
  const verdict = (kinds: TruncationVerdict['kinds'], confidence: TruncationVerdict['confidence']): boolean =>
    isCounted({ kinds, confidence } as TruncationVerdict);
  test('is one of a prompt that is whole for certain', () => {
    expect(verdict(['intact'], 'exact')).toBe(true);
    expect(verdict(['intact'], 'certain')).toBe(true);
    expect(verdict(['intact', 'window-full'], 'exact')).toBe(true);
  });
  test('is none where that is not sure', () => {
    expect(verdict(['intact'], 'likely')).toBe(false);
    expect(verdict(['unknown'], 'exact')).toBe(false);
    expect(verdict(['window-full'], 'exact')).toBe(false);
    expect(verdict(['messages-dropped'], 'exact')).toBe(false);
    expect(verdict(['intact', 'halved'], 'exact')).toBe(false);
  });
});
