/** The journal's rows as they are written, each with a checksum of all that is in it. */
import { checksumOf } from './integrity.ts';
import type { SqlValue } from './statements.ts';

/** All columns of an entry but its checksum, in the order in which it goes over them. */
export const journalColumns = [
  'seq',
  'at_ms',
  'operation',
  'book',
  'reservation_id',
  'resolves',
  'key',
  'owner',
  'tenant',
  'user',
  'model',
  'lines',
  'input_tokens',
  'output_tokens',
  'nano_dollars',
  'source',
  'reason',
  'expires_at_ms',
  'detail',
  'follows',
] as const;

/** Values in the order of `journalColumns`, then their checksum. */
export const insertEntry = `INSERT INTO ledger_journal (${journalColumns.join(', ')}, checksum)
  VALUES (${'?, '.repeat(journalColumns.length)}?)`;

/** Of the values in the order of `journalColumns`. It finds what a disk or an editor changed; it is no seal. */
export const entryChecksum = (values: readonly SqlValue[]): number => checksumOf(values.join('\0'));
