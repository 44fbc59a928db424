/** The rows of a run as an export. They are fetched from the store while they are asked for. */
import { type Result, denied } from '../../contract/denials.ts';
import type { ExportOptions, RunSummary } from '../../contract/experiments.ts';
import type { RunId } from '../../contract/ids.ts';
import type { ChunkedExports, OpenedExport } from '../csv/chunked-exports.ts';
import { csvLines, jsonLines } from '../csv/csv.ts';
import { columnsOf } from '../csv/rows.ts';
import type { Store } from '../storage/store-types.ts';

export function openRunExport(
  parts: { readonly store: Pick<Store, 'run' | 'rows' | 'rowCount'>; readonly exports: ChunkedExports },
  runId: RunId,
  options: ExportOptions,
): Result<OpenedExport<number>> {
  const { store, exports } = parts;
  const run = store.run(runId);
  if (run === null)
    return denied('not-found', 'There is no such run.', { field: 'runId', next: 'It may have been deleted.' });
  const rows = store.rows(runId);
  const columns = columnsOf(run.kind);
  return exports.open({
    name: fileName(run, options),
    format: options.format,
    rows: store.rowCount(runId),
    lines: options.format === 'csv' ? csvLines(rows, options, columns) : jsonLines(rows, columns),
  });
}

/** `spillway-llama3.2-2026-11-14-093012.csv`: sorts by time, safe on every file system. */
function fileName(run: RunSummary, options: ExportOptions): string {
  const name = run.name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60);
  const time = run.createdAt.slice(0, 19).replace(/:/g, '').replace('T', '-');
  return `spillway-${name === '' ? 'run' : name}-${time}${run.simulated ? '-simulated' : ''}.${options.format}`;
}
