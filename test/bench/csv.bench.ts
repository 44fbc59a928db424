/** A million context rows as CSV: rows a second beside a plain join of the same cells, and the memory it took on the way. */
import { contextColumns } from '../../shared/node/csv/context-columns.ts';
import type { Row } from '../../shared/node/csv/columns.ts';
import { csvLines, machineCsv } from '../../shared/node/csv/csv.ts';
import type { Figure } from './figures.ts';

const ROWS = 1_000_000;
const SAMPLE_EVERY = 50_000;

export async function benchCsv(): Promise<Figure[]> {
  await run(20_000, csvLines);
  const plain = await run(ROWS, plainLines);
  const csv = await run(ROWS, csvLines);
  return [
    {
      name: 'CSV rows per second',
      value: csv.rowsPerSecond,
      unit: 'rows/s',
      limit: null,
      beside: `plain join ${Math.round(plain.rowsPerSecond)} rows/s`,
    },
    {
      name: 'CSV against a plain join',
      value: plain.rowsPerSecond / csv.rowsPerSecond,
      unit: 'x',
      limit: 5,
      beside: `${ROWS} rows of ${contextColumns.length} columns`,
    },
    {
      name: 'CSV heap growth over a million rows',
      value: csv.heapGrowthMb,
      unit: 'MB',
      limit: 20,
      beside: 'after collection, highest sample less the first',
    },
  ];
}

async function run(
  count: number,
  lines: (rows: Iterable<Row>, options: typeof machineCsv) => Iterable<string>,
): Promise<{ rowsPerSecond: number; heapGrowthMb: number }> {
  const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
  let bytes = 0;
  let seen = 0;
  let firstHeap: number | null = null;
  let topHeap = 0;
  let pausedMs = 0;
  const beganMs = performance.now();
  for (const line of lines(rows(count), machineCsv)) {
    bytes += line.length;
    seen += 1;
    if (seen % SAMPLE_EVERY !== 0) continue;
    const sampleMs = performance.now();
    collect();
    const heap = process.memoryUsage().heapUsed;
    firstHeap ??= heap;
    topHeap = Math.max(topHeap, heap);
    await new Promise((resolve) => setImmediate(resolve));
    pausedMs += performance.now() - sampleMs;
  }
  if (bytes === 0) throw new Error('nothing was written');
  return {
    rowsPerSecond: (count / (performance.now() - beganMs - pausedMs)) * 1_000,
    heapGrowthMb: (topHeap - (firstHeap ?? topHeap)) / 1e6,
  };
}

/** What the bytes cost without quoting, neutralising or column types. */
function* plainLines(rows: Iterable<Row>): Generator<string> {
  const names = contextColumns.map((column) => column.name);
  for (const row of rows) yield `${names.map((name) => (row as Record<string, unknown>)[name] ?? '').join(',')}\r\n`;
}

function* rows(count: number): Generator<Row> {
  for (let index = 0; index < count; index += 1) {
    yield Object.fromEntries(
      contextColumns.map(({ name, type }, at) => [
        name,
        at % 4 === 3
          ? null
          : type === 'text'
            ? `text ${index}, "quoted"`
            : type === 'number'
              ? index * at
              : at % 2 === 0,
      ]),
    );
  }
}
