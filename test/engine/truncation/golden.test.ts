import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import { truncationVerdictSchema } from '../../../shared/contract/verdicts.ts';
import { explain } from '../../../shared/engine/explain/explain.ts';

interface Row {
  readonly name: string;
  readonly kind: readonly string[];
  readonly window?: number;
  readonly kept?: number;
  readonly lost?: number;
  readonly lost_at_least?: number;
  readonly lost_from_context_field?: number;
  readonly head_kept?: number;
  readonly prompt_tokens?: number;
  readonly shifts?: number;
  readonly needs?: number;
  readonly has?: number;
  readonly also?: readonly string[];
  readonly fields_alone_at_least?: string;
}

const STRENGTHS = ['nothing lost', 'possible', 'likely', 'certain', 'exact'];
const rank = (strength: string): number => STRENGTHS.indexOf(strength);

const sets = ['real', 'old'] as const;
const rows = sets.flatMap((set) => {
  const golden = JSON.parse(readFileSync(`test/golden/truncation_${set}.json`, 'utf8')) as { rows: Row[] };
  return golden.rows.map((row) => [`${set}/${row.name}`, row] as const);
});

function verdictOf(name: string, change: (file: Record<string, unknown>) => void = () => undefined): TruncationVerdict {
  const file = JSON.parse(readFileSync(`test/fixtures/${name}.json`, 'utf8')) as Record<string, unknown>;
  change(file);
  const result = explain({ text: JSON.stringify(file) });
  if (!result.ok) throw new Error(result.denial.message);
  return truncationVerdictSchema.parse(result.value.truncation);
}

describe('recorded calls with the lines of their log', () => {
  test.each(rows)('%s', (name, row) => {
    const verdict = verdictOf(name);
    const expected = [...row.kind, ...(row.also ?? [])].sort();
    expect([...verdict.kinds].sort()).toEqual(expected);
    if (row.kept !== undefined) expect(verdict.kept).toBe(row.kept);
    if (row.lost !== undefined)
      expect([verdict.lost, verdict.lostAtLeast, verdict.sent]).toEqual([row.lost, false, row.prompt_tokens]);
    if (row.lost_at_least !== undefined) expect([verdict.lost, verdict.lostAtLeast]).toEqual([row.lost_at_least, true]);
    if (row.head_kept !== undefined)
      expect([verdict.headKept, verdict.tailKept]).toEqual([row.head_kept, (row.kept ?? 0) - row.head_kept]);
    if (row.shifts !== undefined) expect(verdict.shifts).toBe(row.shifts);
    if (row.needs !== undefined) expect([verdict.needs, verdict.has]).toEqual([row.needs, row.has]);
  });
});

describe('the same calls from their own fields alone', () => {
  test.each(rows)('%s', (name, row) => {
    const verdict = verdictOf(name, (file) => (file['log'] = []));
    const claimed = verdict.kinds.filter((kind) => !['intact', 'unknown', 'window-full'].includes(kind));
    if (row.kind.includes('refused')) return expect(verdict.kinds).toEqual(['refused']);
    const losses = row.kind.filter((kind) => !['intact', 'unknown', 'window-full'].includes(kind));
    // Nothing is claimed that did not happen, and nothing that happened is called intact for certain.
    expect(losses).toEqual(expect.arrayContaining(claimed));
    if (losses.length === 0) return;
    expect(rank(verdict.confidence)).toBeGreaterThanOrEqual(rank(row.fields_alone_at_least ?? 'exact'));
    if (row.lost_from_context_field !== undefined) expect(verdict.lost).toBe(row.lost_from_context_field);
    if (row.shifts !== undefined) expect(verdict.shifts).toBe(row.shifts);
  });
});

describe('without a server version, which a pasted reply does not have', () => {
  test.each(rows)('%s', (name, row) => {
    const verdict = verdictOf(name, (file) => {
      file['log'] = [];
      delete file['server'];
    });
    const claimed = verdict.kinds.filter((kind) => !['intact', 'unknown', 'window-full'].includes(kind));
    expect(row.kind).toEqual(expect.arrayContaining(claimed));
  });
});
