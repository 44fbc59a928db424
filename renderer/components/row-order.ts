/** Order of rows: sorted by a column, or held as they stood. Pure, so that it is tested without a table. */
export interface Sorting {
  readonly column: string;
  readonly direction: 'up' | 'down';
}

/**
 * `held`: keys in the order in which they stand on screen. Rows that stand keep their places; rows that are new come first,
 * in sorted order. Null values go last in both directions, and equal ones keep the order in which they came.
 */
export function orderRows<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  sorting: Sorting | null,
  sortBy: ((row: Row) => number | string | null) | undefined,
  held: readonly string[] | null,
): readonly Row[] {
  const sorted = sorting === null || sortBy === undefined ? rows : sortRows(rows, sortBy, sorting.direction);
  if (held === null) return sorted;
  const places = new Map(held.map((key, place) => [key, place]));
  const fresh = sorted.filter((row) => !places.has(rowKey(row)));
  const standing = sorted.filter((row) => places.has(rowKey(row)));
  standing.sort((a, b) => (places.get(rowKey(a)) ?? 0) - (places.get(rowKey(b)) ?? 0));
  return [...fresh, ...standing];
}

function sortRows<Row>(
  rows: readonly Row[],
  sortBy: (row: Row) => number | string | null,
  direction: Sorting['direction'],
): readonly Row[] {
  const sign = direction === 'up' ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [left, right] = [sortBy(a), sortBy(b)];
    if (left === null || right === null) return (left === null ? 1 : 0) - (right === null ? 1 : 0);
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
    return sign * collator.compare(String(left), String(right));
  });
}

const collator = new Intl.Collator('en', { numeric: true });
