/** What was learned of characters per token, as a table: one row for each model and script. */
import type { CalibrationListRow } from '../../contract/estimates.ts';
import type { Column, RowOf } from './columns.ts';

export const calibrationColumns = [
  { name: 'model', type: 'text' },
  { name: 'simulated', type: 'boolean' },
  { name: 'script', type: 'text' },
  { name: 'samples', type: 'number' },
  { name: 'samples_seen', type: 'number' },
  { name: 'characters_per_token', type: 'number' },
  { name: 'characters_per_token_low', type: 'number' },
  { name: 'characters_per_token_high', type: 'number' },
  { name: 'tokens_per_table_token', type: 'number' },
] as const satisfies readonly Column[];

export function calibrationRow(row: CalibrationListRow): RowOf<(typeof calibrationColumns)[number]> {
  return {
    model: row.model,
    simulated: row.simulated,
    script: row.script,
    samples: row.samples,
    samples_seen: row.samplesSeen,
    characters_per_token: row.median,
    characters_per_token_low: row.low,
    characters_per_token_high: row.high,
    tokens_per_table_token: row.factor,
  };
}
