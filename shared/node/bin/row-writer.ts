/** Writes one row a finished cell: CSV to stdout or a file, or JSON lines to stdout. Nothing is held back. */
import type { CallRecord } from '../../contract/calls.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { Cell, RunSummary } from '../../contract/experiments.ts';
import { csvHeader, csvRow } from '../csv/csv.ts';
import { columnsOf, rowOf } from '../csv/rows.ts';
import { problemOfStdout, writeOut } from './exit.ts';
import type { RunAsk } from './run-options.ts';
import { openSink } from './sink.ts';

export interface RowWriter {
  /** Resolves when the reader took it; never rejects. */
  write(cell: Cell, record: CallRecord, run: RunSummary): Promise<void>;
  /** `problem`: the file could not be written to its end. */
  close(): Promise<{ readonly written: number; readonly problem: Denial | null }>;
}

/** Denied when the CSV file cannot be made; that is known before the first call. */
export function openRowWriter(
  asked: Pick<RunAsk, 'csv' | 'json' | 'csvOptions'>,
  kind: RunSummary['kind'],
): Result<RowWriter> {
  const columns = columnsOf(kind);
  const csv = asked.csv === null ? ok(null) : openSink(asked.csv, KEPT);
  if (!csv.ok) return csv;
  let written = 0;
  let headerWritten = false;
  return ok({
    async write(cell, record, run) {
      const row = rowOf(cell, record, run);
      if (csv.value !== null) {
        if (!headerWritten) await csv.value.write(csvHeader(asked.csvOptions, columns));
        headerWritten = true;
        await csv.value.write(csvRow(row, asked.csvOptions, columns));
      }
      if (asked.json) await writeOut(`${JSON.stringify(row)}\n`);
      written += 1;
    },
    async close() {
      // A run that was stopped before its first cell still leaves a file with its columns.
      if (csv.value !== null && !headerWritten) await csv.value.write(csvHeader(asked.csvOptions, columns));
      return { written, problem: (await csv.value?.close()) ?? stdoutDenial() };
    },
  });
}

function stdoutDenial(): Denial | null {
  const problem = problemOfStdout();
  return problem === null ? null : denied('storage-failed', problem, { next: KEPT }).denial;
}

const KEPT = 'The rows are kept; export the run again from History.';
