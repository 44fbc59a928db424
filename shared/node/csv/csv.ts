/**
 * Rows as text, one line at a time, so that a million rows take no more memory than one (design, section 6).
 *
 * CSV: RFC 4180, CRLF, quotes doubled once. `machine`: comma, dot, no BOM, equal bytes on every machine. `spreadsheet`: BOM,
 * chosen separator and decimal mark. `null` is an empty cell, an empty text is `""`. Text cells that a spreadsheet would take
 * for a formula get an apostrophe in front, decided by the type of the column: numbers never do.
 */
import type { ExportOptions } from '../../contract/experiments.ts';
import type { Column, Row } from './columns.ts';
import { contextColumns } from './context-columns.ts';

export type CsvOptions = Pick<ExportOptions, 'profile' | 'separator' | 'decimalMark'>;

export const machineCsv: CsvOptions = { profile: 'machine', separator: ',', decimalMark: '.' };

/** The header and then every row, each line with its CRLF. The `machine` profile ignores separator and decimal mark. */
export function* csvLines(
  rows: Iterable<Row>,
  options: CsvOptions,
  columns: readonly Column[] = contextColumns,
): Generator<string> {
  yield csvHeader(options, columns);
  for (const row of rows) yield csvRow(row, options, columns);
}

/** The first line; it carries the BOM where the profile has one. */
export function csvHeader(options: CsvOptions, columns: readonly Column[] = contextColumns): string {
  const { profile, separator } = settled(options);
  const mark = profile === 'spreadsheet' ? byteOrderMark : '';
  return `${mark}${columns.map((column) => quoted(column.name)).join(separator)}\r\n`;
}

export function csvRow(row: Row, options: CsvOptions, columns: readonly Column[] = contextColumns): string {
  const { separator, decimalMark } = settled(options);
  const cells = columns.map((column) => cellOf(valueOf(row, column.name), column, decimalMark));
  return `${cells.join(separator)}\r\n`;
}

/** One JSON array, a row on each line. Nothing is neutralised: JSON cells are never formulas. */
export function* jsonLines(rows: Iterable<Row>, columns: readonly Column[] = contextColumns): Generator<string> {
  let before = '[\n';
  for (const row of rows) {
    yield before + JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, valueOf(row, name)])));
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/**
 * Puts an apostrophe before what a spreadsheet would run: `=`, `+`, `-`, `@` and their full-width forms, also behind spaces,
 * invisible characters and quotes, and any text that begins with a tab or a line break. Quoting a cell does not stop a
 * spreadsheet, so quoted cells are no exception. `restoreText` is the way back.
 */
export const neutralText = (text: string): string => (looksLikeFormula(text) ? `'${text}` : text);

/** The text that `neutralText` was given. */
export const restoreText = (cell: string): string =>
  cell.startsWith("'") && looksLikeFormula(cell) ? cell.slice(1) : cell;

const byteOrderMark = '\ufeff';

/** Behind a first quote or apostrophe as well: so a text that begins with one and a formula stays told apart from ours. */
const formula =
  /^(?:'*[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Z}'"`\uff02\uff07]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b\u2212])/u;

function looksLikeFormula(text: string): boolean {
  const first = text.charCodeAt(0);
  // Nearly all texts begin with a letter or digit, and need no closer look.
  if ((first >= 0x61 && first <= 0x7a) || (first >= 0x41 && first <= 0x5a) || (first >= 0x30 && first <= 0x39)) {
    return false;
  }
  return formula.test(text);
}

const settled = (options: CsvOptions): CsvOptions => (options.profile === 'machine' ? machineCsv : options);

/** A row without one of its columns is a mistake of ours, not an unknown value. */
function valueOf(row: Row, name: string): string | number | boolean | null {
  const value = row[name];
  if (value === undefined) throw new Error(`the row has no value for the column ${name}`);
  return value;
}

function cellOf(value: string | number | boolean | null, column: Column, decimalMark: string): string {
  if (value === null) return '';
  if (typeof value !== typeOf[column.type]) throw new Error(`the column ${column.name} holds no ${column.type}`);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number') return numberCell(value, column, decimalMark);
  // Half a pair of surrogates has no UTF-8: it becomes the replacement mark here, and not differently in every writer.
  return quoted(neutralText(value.toWellFormed()));
}

const typeOf = { text: 'string', number: 'number', boolean: 'boolean' } as const;

function numberCell(value: number, column: Column, decimalMark: string): string {
  if (!Number.isFinite(value)) throw new Error(`the column ${column.name} holds ${value}`);
  const text = String(value === 0 ? 0 : value);
  return decimalMark === '.' || !text.includes('.') ? text : quoted(text.replace('.', decimalMark));
}

/** All three separators count in every profile: whoever opens the file with another one still gets the same cells. */
const needsQuotes = /[",;\t\r\n]|^\s|\s$|^$/;

const quoted = (text: string): string => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
