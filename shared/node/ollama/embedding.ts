/** The reply of /api/embed. Counts are sums over all inputs, after any cut: the server tells nothing for a single one. */
import type { Milliseconds, Tokens } from '../../contract/units.ts';
import { asRecord, fieldsOf } from './reply-line.ts';

export interface Embedding {
  readonly embeddings: readonly (readonly number[])[];
  readonly promptEvalCount: Tokens | null;
  readonly totalDurationMs: Milliseconds | null;
  readonly loadDurationMs: Milliseconds | null;
}

/** null when there is no list of vectors in it, or a vector holds something that is not a number. */
export function embeddingOf(body: unknown): Embedding | null {
  const record = asRecord(body);
  if (!Array.isArray(record.embeddings) || !record.embeddings.every(isVector)) return null;
  const { promptEvalCount, totalDurationMs, loadDurationMs } = fieldsOf(record);
  return { embeddings: record.embeddings, promptEvalCount, totalDurationMs, loadDurationMs };
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'number');
}
