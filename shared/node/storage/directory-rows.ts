/** Plans, tenants and users as one row, with the number of its change. What it means is read elsewhere (read-directory.ts). */
import { type Denial, denied } from '../../contract/denials.ts';
import { checksumOf } from './integrity.ts';
import type { Statements } from './statements.ts';

/** json: as it was saved. */
export interface StoredDirectory {
  readonly json: string;
  readonly revision: number;
}

/** Another screen changed it after it was read. */
export const directoryChanged = (): { ok: false; denial: Denial } =>
  denied('busy', 'Plans, tenants or users were changed meanwhile.', {
    field: 'revision',
    next: 'Reload them, then make your change again.',
  });

export interface DirectoryRows {
  read(): StoredDirectory | null;
  /** false where what is stored has not the revision before this one. */
  save(next: StoredDirectory): boolean;
}

export function createDirectoryRows(statements: Statements): DirectoryRows {
  return {
    read: () => readDirectoryRow(statements),
    save: ({ json, revision }) => {
      if ((readDirectoryRow(statements)?.revision ?? 0) !== revision - 1) return false;
      statements.run(
        `INSERT INTO directory (id, revision, json, checksum) VALUES (1, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, json = excluded.json, checksum = excluded.checksum`,
        revision,
        json,
        checksumOf(json),
      );
      return true;
    },
  };
}

const readDirectoryRow = (statements: Pick<Statements, 'get'>): StoredDirectory | null =>
  statements.get<StoredDirectory>('SELECT json, revision FROM directory WHERE id = 1') ?? null;
