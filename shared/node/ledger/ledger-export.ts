/**
 * The ledger as rows: the journal newest first, the balances of the periods that go on, the holds. The journal is read in pages
 * from below the last entry given, so that its length does not matter and what is written meanwhile does not get in.
 */
import type { Result } from '../../contract/denials.ts';
import type { ExportOptions } from '../../contract/experiments.ts';
import type { Book, LedgerEntry } from '../../contract/ledger.ts';
import type { Directory } from '../../contract/plans.ts';
import type { RequestParsed } from '../../contract/requests.ts';
import { balanceOf } from '../../engine/ledger/balances.ts';
import { isoOf } from '../../engine/ledger/calendar.ts';
import type { LedgerStore } from '../../engine/ledger/store.ts';
import { ExportStopped, type ExportSource } from '../csv/chunked-exports.ts';
import type { Column, Row } from '../csv/columns.ts';
import { csvLines, jsonLines } from '../csv/csv.ts';
import {
  balanceColumns,
  balanceRow,
  journalColumns,
  journalRows,
  reservationColumns,
  reservationRow,
} from '../csv/ledger-columns.ts';

export type LedgerTable = RequestParsed<'ledger.export'>['what'];

export interface LedgerExportAsk {
  readonly what: LedgerTable;
  readonly book: Book;
  /** Of the book's clock: what goes on then is current, and it dates the file's name. */
  readonly atMs: number;
  readonly options: ExportOptions;
}

const JOURNAL_PAGE_ENTRIES = 500;
const BALANCES_MAX = 10_000;
/** Open ones are all there. */
const CLOSED_RESERVATIONS_MAX = 10_000;

/** Refusals of the store come with the lines, as `ExportStopped`. */
export function ledgerExport(
  parts: { readonly store: LedgerStore; readonly directory: () => Directory },
  ask: LedgerExportAsk,
): ExportSource {
  const { what, book, atMs, options } = ask;
  const columns = columnsOf[what];
  const time = isoOf(Math.floor(atMs)).slice(0, 19).replace(/:/g, '').replace('T', '-');
  return {
    name: `spillway-ledger-${what}-${time}${book === 'simulated' ? '-simulated' : ''}.${options.format}`,
    format: options.format,
    rows: null,
    lines: linesOf(pagesOf(parts, ask), options, columns),
  };
}

const columnsOf = {
  journal: journalColumns,
  balances: balanceColumns,
  reservations: reservationColumns,
} as const satisfies Record<LedgerTable, readonly Column[]>;

async function* pagesOf(
  { store, directory }: { readonly store: LedgerStore; readonly directory: () => Directory },
  { what, book, atMs }: LedgerExportAsk,
): AsyncGenerator<Row[]> {
  if (what === 'balances') {
    const current = given(await store.current({ book, atMs, limit: BALANCES_MAX }));
    yield current.map((state) => balanceRow(balanceOf(state, directory())));
    return;
  }
  if (what === 'reservations') {
    yield given(await store.reservations({ book, closed: CLOSED_RESERVATIONS_MAX })).map(reservationRow);
    return;
  }
  yield* journalPages(store, book);
}

/**
 * Tenants of a shared store number their entries on their own, so two may have one number: those of the last number of a page
 * are asked for again, and given once.
 */
async function* journalPages(store: LedgerStore, book: Book): AsyncGenerator<Row[]> {
  let lastSeq: number | null = null;
  let givenAtLast = new Set<string>();
  for (;;) {
    const beforeSeq = lastSeq === null ? null : lastSeq + 1;
    const page: readonly LedgerEntry[] = given(await store.entries({ book, beforeSeq, limit: JOURNAL_PAGE_ENTRIES }));
    const fresh = page.filter((entry) => entry.seq !== lastSeq || !givenAtLast.has(entry.tenant));
    const last = fresh.at(-1);
    if (last === undefined) return;
    yield fresh.flatMap(journalRows);
    if (page.length < JOURNAL_PAGE_ENTRIES) return;
    givenAtLast = new Set([
      ...(last.seq === lastSeq ? givenAtLast : []),
      ...fresh.filter((entry) => entry.seq === last.seq).map((entry) => entry.tenant),
    ]);
    lastSeq = last.seq;
  }
}

function given<Value>(answer: Result<Value>): Value {
  if (!answer.ok) throw new ExportStopped(answer.denial);
  return answer.value;
}

/** The rows of a page become one text. */
async function* linesOf(
  pages: AsyncIterable<Row[]>,
  options: ExportOptions,
  columns: readonly Column[],
): AsyncGenerator<string> {
  const empty = [...(options.format === 'csv' ? csvLines([], options, columns) : jsonLines([], columns))].join('');
  if (options.format === 'csv') {
    yield empty;
    for await (const rows of pages) yield [...csvLines(rows, options, columns)].slice(1).join('');
    return;
  }
  let before = '[\n';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    // Without the brackets of this page alone.
    yield before + [...jsonLines(rows, columns)].slice(0, -1).join('').slice(2);
    before = ',\n';
  }
  yield before === '[\n' ? empty : '\n]\n';
}
