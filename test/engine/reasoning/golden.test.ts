import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReasoningVerdict } from '../../../shared/contract/verdicts.ts';
import { cut, fromTests, matrix, places, read, readPieces, readings, replyOf } from './support.ts';

interface Expected {
  readonly family: string;
  readonly script: string;
  readonly think: boolean | null;
  readonly outcome: string;
  readonly cause?: string;
  readonly complete?: boolean;
  readonly places?: readonly string[];
  readonly suspected?: string;
  readonly obedience?: string;
  readonly answer?: string;
}

const golden = fromTests<{ rows: Expected[] }>('golden/reasoning_rows.json').rows;
const pairs = golden.map((expected, index) => {
  const row = matrix[index];
  if (row === undefined) throw new RangeError(`no row ${index} in the matrix`);
  return { expected, row };
});

function shape(verdict: ReasoningVerdict, { family, script, think }: Expected): Expected {
  const name = { family, script, think, outcome: verdict.outcome };
  if (verdict.outcome === 'refused') return { ...name, ...(verdict.cause === null ? {} : { cause: verdict.cause }) };
  return {
    ...name,
    ...(verdict.cause === null ? {} : { cause: verdict.cause }),
    ...(verdict.complete === null ? {} : { complete: verdict.complete }),
    places: verdict.places,
    ...(verdict.suspected === null ? {} : { suspected: verdict.suspected }),
    obedience: verdict.obedience,
    answer: verdict.answer.slice(0, 60),
  };
}

describe('every family, text and think setting that was recorded', () => {
  test('the rows of both files are the same ones', () => {
    expect(pairs.map(({ row: { family, script, think } }) => [family, script, think])).toEqual(
      golden.map(({ family, script, think }) => [family, script, think]),
    );
    expect(golden).toHaveLength(222);
  });

  test('whole', () => {
    expect(pairs.map(({ row, expected }) => shape(read(replyOf(row)), expected))).toEqual(golden);
  });

  test('streamed, one unit a chunk', () => {
    const streamed = pairs.map(({ row, expected }) => {
      const { thinking = '', content = '', ...rest } = replyOf(row);
      const pieces = [
        ...thinking.split('').map((unit) => ({ thinking: unit })),
        ...content.split('').map((unit) => ({ content: unit })),
      ];
      return shape(readPieces(pieces, rest), expected);
    });
    expect(streamed).toEqual(golden);
  });

  test('streamed, cut at random', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pairs), places, places, ({ row }, thinkingPlaces, contentPlaces) => {
        const { thinking = '', content = '', ...rest } = replyOf(row);
        const pieces = [
          ...cut(thinking, thinkingPlaces).map((piece) => ({ thinking: piece })),
          ...cut(content, contentPlaces).map((piece) => ({ content: piece })),
        ];
        expect(readings(readPieces(pieces, rest))).toEqual(readings(read(replyOf(row))));
      }),
      { numRuns: 300 },
    );
  });
});
