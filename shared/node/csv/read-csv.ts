/**
 * Tables that people bring, as spreadsheets write them: with or without BOM, separated by comma, semicolon or tab, quoted or not.
 * All of it is read before any of it is used; what is wrong is told with its line and column.
 */
import { CsvError, parse } from 'csv-parse/sync';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { restoreText } from './csv.ts';

export interface CsvRecord<Column extends string> {
  /** Of the file, from 1; the header is in one as well. */
  readonly line: number;
  readonly cells: Readonly<Record<Column, string>>;
}

/**
 * Columns in any order and case; `optional` ones may be missing and are then empty. Cells are trimmed, and get back what
 * `neutralText` added. Empty lines are left out.
 */
export function readCsv<Column extends string>(
  text: string,
  ask: { readonly columns: readonly Column[]; readonly optional: readonly Column[]; readonly rowsMax: number },
): Result<readonly CsvRecord<Column>[]> {
  const separator = separatorOf(text);
  try {
    const rows = parse(text, {
      bom: true,
      delimiter: separator,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
      max_record_size: RECORD_CHARACTERS_MAX,
      to: ask.rowsMax + 2,
    }) as unknown as readonly ParsedRow[];
    return recordsOf(rows, ask);
  } catch (error) {
    if (error instanceof CsvError) return broken(error);
    throw error;
  }
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

const RECORD_CHARACTERS_MAX = 10_000;
const separators = [',', ';', '\t'] as const;

/** The one that the header has most of: a comma inside a name below it does not count. */
function separatorOf(text: string): string {
  const header = /[^\r\n]*/.exec(text.trimStart())?.[0].slice(0, RECORD_CHARACTERS_MAX) ?? '';
  const countOf = (mark: string): number => header.split(mark).length;
  return [...separators].sort((a, b) => countOf(b) - countOf(a))[0] ?? ',';
}

function recordsOf<Column extends string>(
  rows: readonly ParsedRow[],
  ask: { readonly columns: readonly Column[]; readonly optional: readonly Column[]; readonly rowsMax: number },
): Result<readonly CsvRecord<Column>[]> {
  const [header, ...body] = rows;
  if (header === undefined) return wrong('The file is empty', `Begin it with the line ${ask.columns.join(',')}.`);
  const names = header.record.map((name) => name.toLowerCase());
  const fault = headerFault(names, header.info.lines, ask);
  if (fault !== null) return fault;
  if (body.length > ask.rowsMax)
    return wrong(`The file has more than ${ask.rowsMax.toLocaleString('en-US')} rows`, 'Import it in parts.');
  const records: CsvRecord<Column>[] = [];
  for (const { record, info } of body) {
    if (record.length !== names.length) {
      return wrong(
        `Line ${info.lines} has ${record.length} column${record.length === 1 ? '' : 's'}, the header has ${names.length}`,
        'Quote cells that hold the separator.',
      );
    }
    const cellOf = (column: Column): string => restoreText(record[names.indexOf(column)] ?? '').trim();
    const cells = Object.fromEntries(ask.columns.map((column) => [column, cellOf(column)])) as Record<Column, string>;
    records.push({ line: info.lines, cells });
  }
  return ok(records);
}

function headerFault<Column extends string>(
  names: readonly string[],
  line: number,
  { columns, optional }: { readonly columns: readonly Column[]; readonly optional: readonly Column[] },
): { ok: false; denial: ReturnType<typeof denied>['denial'] } | null {
  const known: readonly string[] = columns;
  const next = `The columns are ${columns.join(', ')}.`;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return wrong(`Line ${line}: there is no column ${shown(unknown)}`, next);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return wrong(`Line ${line}: the column ${twice} is there twice`, next);
  const missing = columns.find((column) => !names.includes(column) && !optional.includes(column));
  return missing === undefined ? null : wrong(`Line ${line}: the column ${missing} is missing`, next);
}

function broken(error: CsvError): { ok: false; denial: ReturnType<typeof denied>['denial'] } {
  const at = typeof error['lines'] === 'number' ? `Line ${error['lines']}` : 'The file';
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return wrong(`${at} is over ${RECORD_CHARACTERS_MAX.toLocaleString('en-US')} characters`, UNCLOSED);
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return wrong(`${at}: the file ends inside a quoted cell`, UNCLOSED);
  const column = typeof error['index'] === 'number' ? `, column ${error['index'] + 1}` : '';
  return wrong(
    `${at}${column}: a quote stands inside a cell`,
    'Quote the whole cell, and double the quotes inside it.',
  );
}

const UNCLOSED = 'Look for a quote that is not closed.';

function wrong(what: string, next: string): { ok: false; denial: ReturnType<typeof denied>['denial'] } {
  return denied('bad-input', `${what}.`, { field: 'text', next });
}

const shown = (name: string): string => (name === '' ? 'without a name' : name.slice(0, 60).toWellFormed());
