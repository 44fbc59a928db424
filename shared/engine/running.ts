/** Finds a model in what /api/ps lists. */
import type { RunningModel } from '../contract/server.ts';

/**
 * By name, with `:latest` understood, else by digest. Two names over the same weights share one runner, which ps lists under the
 * name that loaded it: then there is no match, and the window is not known from ps.
 */
export function findRunning(
  running: readonly RunningModel[],
  model: string,
  digest: string | null,
): RunningModel | null {
  const wanted = fullName(model);
  const byName = running.find((entry) => fullName(entry.name) === wanted);
  if (byName !== undefined) return byName;
  return (digest === null ? undefined : running.find((entry) => entry.digest === digest)) ?? null;
}

/** `llama3.2` and `llama3.2:latest` are one name; names compare without case, as the server does. */
export function fullName(model: string): string {
  const name = model.trim().toLowerCase();
  const afterPath = name.slice(name.lastIndexOf('/') + 1);
  return afterPath.includes(':') ? name : `${name}:latest`;
}
