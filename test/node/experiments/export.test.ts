import { expect, test } from 'vitest';
import type { ExportOptions } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import { contextColumns } from '../../../shared/node/csv/context-columns.ts';
import {
  EXPORTS_MAX,
  EXPORT_CHUNK_CHARACTERS,
  EXPORT_IDLE_MS,
  createChunkedExports,
} from '../../../shared/node/csv/chunked-exports.ts';
import { openRunExport } from '../../../shared/node/experiments/export.ts';
import type { Store } from '../../../shared/node/storage/store-types.ts';
import { bench, experiment, must } from './bench.ts';

const csv = { format: 'csv', profile: 'machine', separator: ',', decimalMark: '.' } as const;

async function finished(answer = 'KIWI-1201') {
  const made = bench(() => ({ reply: { answer } }) as never);
  const { runId } = must(await made.runner.start(experiment({ repeats: 3 })));
  await made.runner.idle();
  return { store: made.store, runId };
}

/** Exports of runs alone, as the handlers put the parts together. */
function createExports({ store, ...parts }: { store: Store; clock?: { monotonicMs(): number } }) {
  const exports = createChunkedExports(parts);
  return {
    open: (runId: RunId, options: ExportOptions) => openRunExport({ store, exports }, runId, options),
    read: exports.read,
  };
}

async function readAll(exports: ReturnType<typeof createExports>, exportId: string): Promise<string[]> {
  const chunks: string[] = [];
  for (;;) {
    const { chunk, done } = must(await exports.read(exportId));
    chunks.push(chunk);
    if (done) return chunks;
  }
}

test('gives the rows of the run, with a name that says what it is', async () => {
  const { store, runId } = await finished();
  const exports = createExports({ store });
  const opened = must(exports.open(runId, csv));
  expect(opened).toEqual({
    exportId: opened.exportId,
    name: 'spillway-m-3-sizes-2-windows-2026-11-14-093000.csv',
    mime: 'text/csv; charset=utf-8',
    rows: 20,
  });
  const lines = (await readAll(exports, opened.exportId)).join('').split('\r\n');
  expect(lines[0]).toBe(contextColumns.map((column) => column.name).join(','));
  expect(lines).toHaveLength(22);
  expect(await exports.read(opened.exportId)).toMatchObject({ ok: false, denial: { code: 'not-found' } });
});

test('JSON has the same rows', async () => {
  const { store, runId } = await finished();
  const exports = createExports({ store });
  const opened = must(exports.open(runId, { ...csv, format: 'json' }));
  const rows = JSON.parse((await readAll(exports, opened.exportId)).join('')) as Record<string, unknown>[];
  expect(opened.name.endsWith('.json')).toBe(true);
  expect(rows).toHaveLength(20);
  expect(Object.keys(rows[0] ?? {})).toEqual(contextColumns.map((column) => column.name));
});

test('a long export comes in chunks of bounded size', async () => {
  const long = 'x'.repeat(100_000);
  const { store, runId } = await finished(long);
  const exports = createExports({ store });
  const chunks = await readAll(exports, must(exports.open(runId, csv)).exportId);
  expect(chunks.length).toBeGreaterThan(5);
  for (const chunk of chunks) expect(chunk.length).toBeLessThan(EXPORT_CHUNK_CHARACTERS + 110_000);
  expect(chunks.join('').split(long)).toHaveLength(21);
});

test('only so many are open at once, and one that nobody reads ends by itself', async () => {
  const { store, runId } = await finished();
  let nowMs = 0;
  const exports = createExports({ store, clock: { monotonicMs: () => nowMs } });
  const ids = Array.from({ length: EXPORTS_MAX }, () => must(exports.open(runId, csv)).exportId);
  expect(exports.open(runId, csv)).toMatchObject({ ok: false, denial: { code: 'busy' } });
  nowMs = EXPORT_IDLE_MS + 1;
  expect(exports.open(runId, csv).ok).toBe(true);
  expect(await exports.read(ids[0] ?? '')).toMatchObject({ ok: false, denial: { code: 'not-found' } });
});

test('an unknown run is refused', async () => {
  const { store } = await finished();
  expect(createExports({ store }).open('gone' as RunId, csv)).toMatchObject({
    ok: false,
    denial: { code: 'not-found', field: 'runId' },
  });
});
