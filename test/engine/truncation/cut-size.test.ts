import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  atLeast,
  cutSize,
  cutSizes,
  cutsAbove,
  eraOf,
  halfLimit,
  heedsFlags,
  parseVersion,
} from '../../../shared/engine/truncation/cut-size.ts';

interface Golden {
  readonly table: readonly {
    numCtx: number;
    numKeep: number;
    bos: boolean;
    keep: number;
    limit: number;
    triggerAbove: number;
  }[];
  readonly edges: readonly { numCtx: number; keep: number; limit: number }[];
  readonly document: readonly {
    prompt: number;
    numCtx: number;
    truncated: boolean;
    new: number;
    keptHead?: number;
    keptTail?: number;
  }[];
}
const golden = JSON.parse(readFileSync('test/golden/truncation.json', 'utf8')) as Golden;

describe('what servers from 0.30.11 on keep', () => {
  test.each(golden.table)(
    '$numCtx, num_keep $numKeep, begin token $bos',
    ({ numCtx, numKeep, bos, keep, limit, triggerAbove }) => {
      const cut = cutSize('keeps-half', numCtx, numKeep, bos);
      expect([cut.size, cut.headTokens, cutsAbove('keeps-half', numCtx)]).toEqual([limit, keep, triggerAbove]);
    },
  );

  test.each(golden.edges)('window $numCtx keeping $keep', ({ numCtx, keep, limit }) =>
    expect(halfLimit(numCtx, keep)).toBe(limit),
  );

  test.each(golden.document)('$prompt tokens into $numCtx', (row) => {
    const cut = cutSize('keeps-half', row.numCtx, 4, true);
    const isCut = row.prompt > cutsAbove('keeps-half', row.numCtx);
    expect([isCut, isCut ? cut.size : row.prompt]).toEqual([row.truncated, row.new]);
    if (row.keptHead !== undefined)
      expect([cut.headTokens, cut.size - (cut.headTokens ?? 0)]).toEqual([row.keptHead, row.keptTail]);
  });

  test('a cut always leaves less than the window, and never less than half of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 8, max: 10_000_000 }),
        fc.integer({ min: -1, max: 20_000 }),
        fc.boolean(),
        (window, numKeep, bos) => {
          const { size, headTokens } = cutSize('keeps-half', window, numKeep, bos);
          expect(size).toBeLessThan(window);
          expect(size).toBeGreaterThanOrEqual(Math.floor(window / 2));
          expect(headTokens).toBeLessThanOrEqual(size);
        },
      ),
    );
  });
});

test('the formula stands in the evidence with its numbers', () => {
  expect(cutSize('keeps-half', 4_096, 4, true).formula).toBe(
    '2,051 is the cut size for 4,096: 4,096 − ⌊(4,096 − 5) ÷ 2⌋',
  );
});

test('num_keep -1, or more than fits, keeps all of the window but one', () => {
  expect(
    [cutSize('keeps-half', 512, -1, true), cutSize('keeps-half', 512, 1_000, true)].map((cut) => [
      cut.size,
      cut.headTokens,
      cut.kind,
    ]),
  ).toEqual([
    [511, 511, 'cut-to-window'],
    [511, 511, 'cut-to-window'],
  ]);
});

test('where version and begin token are not known, every size is possible', () => {
  const sizes = cutSizes({ window: 4_096, serverVersion: null, numKeep: null, addsBos: null }).map((cut) => cut.size);
  expect(sizes).toEqual([2_051, 2_050, 2_061, 2_060, 4_095, 4_096]);
  expect(
    cutSizes({ window: 4_096, serverVersion: '0.33.0-rc2', numKeep: 4, addsBos: true }).map((cut) => cut.size),
  ).toEqual([2_051]);
});

describe('versions', () => {
  test.each([
    ['0.33.0-rc2', 'keeps-half'],
    ['0.30.11', 'keeps-half'],
    ['0.30.11-rc0', 'keeps-half'],
    ['v1.0.0', 'keeps-half'],
    ['0.30.10', 'keeps-all-but-one'],
    ['0.30.0', 'keeps-all-but-one'],
    ['0.29.9', 'keeps-window'],
    ['0.24.0', 'keeps-window'],
    ['0.5', 'keeps-window'],
    ['0.31.0+build.7', 'keeps-half'],
    // Builds from source say 0.0.0 whatever they are.
    ['0.0.0', null],
    ['', null],
    ['latest', null],
    ['0.33x', null],
    ['9'.repeat(200), null],
    [null, null],
  ])('%s', (text, era) => expect(eraOf(text)).toBe(era));

  test('are ordered by number', () => {
    const version = parseVersion('0.30.9');
    expect(version).not.toBeNull();
    expect([atLeast(version!, 0, 30, 10), atLeast(version!, 0, 30, 9), atLeast(version!, 0, 4, 99)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('heed truncate and shift from 0.12.4 on', () => {
    expect(['0.12.3', '0.12.4', '0.33.0', '0.0.0'].map(heedsFlags)).toEqual([false, true, true, true]);
  });
});
