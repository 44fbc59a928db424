/** A person's own price sets, and what calls reported for pricing. Few rows: the engine's list bounds them. */
import type { PriceSet, PriceSetName } from '../../contract/costs.ts';
import { priceSetSchema } from '../../contract/costs.ts';
import type { Statements } from './statements.ts';

export interface PriceRows {
  /** In the order of adding; a row that cannot be read is left out. */
  all(): PriceSet[];
  save(set: PriceSet): void;
  /** false when there is none of that name and day. */
  remove(name: PriceSetName): boolean;
}

export function createPriceRows(statements: Statements): PriceRows {
  return {
    all: () =>
      statements.all<{ json: string }>('SELECT json FROM price_sets ORDER BY position').flatMap(({ json }) => {
        const read = priceSetSchema.safeParse(JSON.parse(json));
        return read.success ? [read.data] : [];
      }),
    save: (set) => {
      statements.run(
        'INSERT INTO price_sets (name, date, json) VALUES (?, ?, ?)',
        set.name,
        set.date ?? '',
        JSON.stringify(set),
      );
    },
    remove: ({ name, date }) =>
      statements.get('DELETE FROM price_sets WHERE name = ? AND date = ? RETURNING name', name, date ?? '') !==
      undefined,
  };
}

/** Sums of what was reported, null where no call reported that count; callsUnknown: calls that left one of the two out. */
export interface ReportedTotals {
  readonly calls: number;
  readonly callsUnknown: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export function reportedTotals(statements: Statements, fromIso: string, simulated: boolean): ReportedTotals {
  const row = statements.get<ReportedTotals>(
    `SELECT count(*) AS calls, count(*) - count(prompt_tokens + output_tokens) AS callsUnknown,
       sum(prompt_tokens) AS inputTokens, sum(output_tokens) AS outputTokens
     FROM calls WHERE started_at >= ? AND simulated = ?`,
    fromIso,
    simulated ? 1 : 0,
  );
  return row ?? { calls: 0, callsUnknown: 0, inputTokens: null, outputTokens: null };
}
