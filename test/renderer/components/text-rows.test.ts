import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rowsOfText, shadedPieces } from '../../../renderer/components/text-rows.ts';

const textArbitrary = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constantFrom('\n', ' ', '🦓', '日本語'),
    ),
  )
  .map((parts) => parts.join(''));

describe('rowsOfText', () => {
  test('rows are in order, cover the text, and split no pair', () => {
    fc.assert(
      fc.property(textArbitrary, fc.integer({ min: 4, max: 80 }), (text, columns) => {
        const starts = [...rowsOfText(text, columns)];
        expect(starts[0]).toBe(0);
        for (let index = 1; index < starts.length; index += 1) {
          const start = starts[index]!;
          expect(start).toBeGreaterThan(starts[index - 1]!);
          expect(start).toBeLessThan(text.length);
          const trailing = (text.charCodeAt(start) & 0xfc00) === 0xdc00;
          const leading = (text.charCodeAt(start - 1) & 0xfc00) === 0xd800;
          expect(leading && trailing).toBe(false);
        }
        const rows = starts.map((start, index) => text.slice(start, starts[index + 1] ?? text.length));
        expect(rows.join('')).toBe(text);
        // A newline is only ever the last thing of a row, and no row is longer than its columns.
        for (const row of rows) {
          expect(row.slice(0, -1)).not.toContain('\n');
          expect(row.replace(/\n$/u, '').length).toBeLessThanOrEqual(columns + 1);
        }
      }),
    );
  });

  test('breaks at spaces where there is one within reach', () => {
    const starts = rowsOfText('The launch code is ZEBRA', 12);
    expect([...starts]).toEqual([0, 11, 19]);
  });

  test('five megabytes break in one pass', () => {
    const text = 'The launch code is in another section. '.repeat(130_000);
    const starts = rowsOfText(text, 72);
    expect(starts.length).toBeGreaterThan(60_000);
    expect(starts.at(-1)).toBeLessThan(text.length);
  });
});

describe('shadedPieces', () => {
  test('pieces join to the row and know which side of the cut they are on', () => {
    fc.assert(
      fc.property(textArbitrary, fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 3 }), (text, ranges) => {
        const shaded = ranges.map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
        const pieces = shadedPieces(text, 0, text.length, shaded);
        const end = text.endsWith('\n') ? text.length - 1 : text.length;
        expect(pieces.map((piece) => piece.text).join('')).toBe(text.slice(0, end));
        for (const piece of pieces)
          for (let at = piece.from; at < piece.to; at += 1)
            expect(shaded.some((range) => range.from <= at && at < range.to)).toBe(piece.shaded);
      }),
    );
  });
});
