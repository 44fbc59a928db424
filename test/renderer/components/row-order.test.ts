import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { orderRows } from '../../../renderer/components/row-order.ts';

interface Row {
  readonly key: string;
  readonly value: number | null;
}

const keyOf = (row: Row): string => row.key;
const rowsArbitrary = fc
  .array(fc.option(fc.integer({ min: 0, max: 9 })))
  .map((values) => values.map((value, index): Row => ({ key: `k${index}`, value })));

describe('orderRows', () => {
  test('unknown values go last either way, equal ones keep their order', () => {
    fc.assert(
      fc.property(rowsArbitrary, fc.constantFrom('up', 'down'), (rows, direction) => {
        const ordered = orderRows(rows, keyOf, { column: 'v', direction }, (row) => row.value, null);
        expect([...ordered].map(keyOf).sort()).toEqual(rows.map(keyOf).sort());
        for (let index = 1; index < ordered.length; index += 1) {
          const [before, after] = [ordered[index - 1]!, ordered[index]!];
          if (before.value === null) expect(after.value).toBeNull();
          else if (after.value !== null)
            expect(direction === 'up' ? before.value <= after.value : before.value >= after.value).toBe(true);
          if (before.value === after.value) expect(rows.indexOf(before)).toBeLessThan(rows.indexOf(after));
        }
      }),
    );
  });

  test('under the pointer nothing moves: rows keep their places and new ones come first', () => {
    const before: Row[] = [
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ];
    const after: Row[] = [
      { key: 'a', value: 9 },
      { key: 'b', value: 2 },
      { key: 'new', value: 5 },
    ];
    const held = before.map(keyOf);
    const sorting = { column: 'v', direction: 'up' } as const;
    expect(orderRows(after, keyOf, sorting, (row) => row.value, held).map(keyOf)).toEqual(['new', 'a', 'b']);
    expect(orderRows(after, keyOf, sorting, (row) => row.value, null).map(keyOf)).toEqual(['b', 'new', 'a']);
  });
});
