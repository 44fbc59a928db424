/**
 * Exports as reads of bounded chunks: rows are fetched from the store while they are asked for, so a million rows never stand in
 * memory. An export that nobody reads ends by itself.
 */
import { randomBytes } from 'node:crypto';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { ExportOptions, RunSummary } from '../../contract/experiments.ts';
import type { RunId } from '../../contract/ids.ts';
import type { Clock } from '../../engine/ports.ts';
import { csvLines, jsonLines } from '../csv/csv.ts';
import { columnsOf } from '../csv/rows.ts';
import type { Store } from '../storage/store-types.ts';

export interface Exports {
  open(runId: RunId, options: ExportOptions): Result<{ exportId: string; name: string; mime: string; rows: number }>;
  /** `done` comes with the last chunk; after it the export is gone. */
  read(exportId: string): Result<{ chunk: string; done: boolean }>;
}

export const EXPORTS_MAX = 16;
export const EXPORT_IDLE_MS = 5 * 60_000;
/** UTF-16 units a chunk has at least, unless it is the last. */
export const EXPORT_CHUNK_CHARACTERS = 256 * 1024;

export function createExports(parts: { readonly store: Store; readonly clock?: Pick<Clock, 'monotonicMs'> }): Exports {
  const { store } = parts;
  const clock = parts.clock ?? { monotonicMs: () => performance.now() };
  const sessions = new Map<string, { lines: Iterator<string>; usedAtMs: number }>();

  function dropIdle(): void {
    const nowMs = clock.monotonicMs();
    for (const [id, session] of sessions) if (nowMs - session.usedAtMs > EXPORT_IDLE_MS) close(id);
  }

  /** Closes the reads of the store that the lines hold open. */
  function close(id: string): void {
    sessions.get(id)?.lines.return?.();
    sessions.delete(id);
  }

  return {
    open(runId, options) {
      dropIdle();
      const run = store.run(runId);
      if (run === null)
        return denied('not-found', 'There is no such run.', { field: 'runId', next: 'It may have been deleted.' });
      if (sessions.size >= EXPORTS_MAX)
        return denied('busy', `${EXPORTS_MAX} exports are open.`, { next: 'Wait until one has ended.' });
      const rows = store.rows(runId);
      const columns = columnsOf(run.kind);
      const lines = options.format === 'csv' ? csvLines(rows, options, columns) : jsonLines(rows, columns);
      const exportId = `export_${randomBytes(12).toString('hex')}`;
      sessions.set(exportId, { lines: lines[Symbol.iterator](), usedAtMs: clock.monotonicMs() });
      const mime = options.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json';
      return ok({ exportId, name: fileName(run, options), mime, rows: store.rowCount(runId) });
    },
    read(exportId) {
      dropIdle();
      const session = sessions.get(exportId);
      if (session === undefined)
        return denied('not-found', 'This export has ended.', { field: 'exportId', next: 'Export again.' });
      session.usedAtMs = clock.monotonicMs();
      const pieces: string[] = [];
      let characters = 0;
      while (characters < EXPORT_CHUNK_CHARACTERS) {
        const next = session.lines.next();
        if (next.done === true) {
          sessions.delete(exportId);
          return ok({ chunk: pieces.join(''), done: true });
        }
        pieces.push(next.value);
        characters += next.value.length;
      }
      return ok({ chunk: pieces.join(''), done: false });
    },
  };
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
