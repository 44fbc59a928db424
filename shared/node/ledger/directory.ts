/**
 * The directory in use: plans, tenants, users. Changed as a whole, from the revision it was read at, so that no change is lost
 * under another one. Kept by the store; where nothing is kept, the default one.
 */
import { type Result, denialOfIssues, ok } from '../../contract/denials.ts';
import { DEFAULT_DIRECTORY, type Directory, type DirectoryInput, directorySchema } from '../../contract/plans.ts';
import { type StoredDirectory, directoryChanged } from '../storage/directory-rows.ts';
import type { StoreNotice } from '../storage/store-types.ts';
import { readDirectory } from './read-directory.ts';

export interface DirectoryKeeper {
  current(): Directory;
  /** 0 until the first change; rises by one with every change. */
  revision(): number;
  /** What of a stored directory could not be read at start. */
  readonly notices: readonly StoreNotice[];
  /** Denied `busy` where `revision` is not the one of now, `bad-input` where somebody names a plan that is not there. */
  set(change: { readonly directory: DirectoryInput; readonly revision: number }): Result<Directory>;
  /** Called after every change. Returns how to stop that. */
  onChange(listener: (directory: Directory) => void): () => void;
}

/** The part of the store that it needs. json: as it was saved. */
export interface DirectoryStore {
  directory(): StoredDirectory | null;
  /** Denied `busy` where what is stored has not the revision before this one. */
  saveDirectory(next: StoredDirectory): Result<null>;
}

/** store left out = kept in memory. */
export function createDirectory(parts: { readonly store?: DirectoryStore } = {}): DirectoryKeeper {
  const { store } = parts;
  const stored = store?.directory() ?? null;
  const read = stored === null ? { directory: DEFAULT_DIRECTORY, notices: [] } : readDirectory(stored.json);
  let current = read.directory;
  let revision = stored?.revision ?? 0;
  const listeners = new Set<(directory: Directory) => void>();

  return {
    current: () => current,
    revision: () => revision,
    notices: read.notices,
    set(change) {
      if (change.revision !== revision) return directoryChanged();
      const parsed = directorySchema.safeParse(change.directory);
      if (!parsed.success) return { ok: false, denial: denialOfIssues(parsed.error) };
      const saved = store?.saveDirectory({ json: JSON.stringify(parsed.data), revision: revision + 1 }) ?? ok(null);
      if (!saved.ok) return saved;
      revision += 1;
      current = parsed.data;
      for (const listener of listeners) listener(current);
      return ok(current);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
