/** Prepared statements, each compiled once and kept. Values always travel as parameters. */
import type { Database, RunResult, Statement } from 'better-sqlite3';

export type SqlValue = string | number | Buffer | null;

export interface Statements {
  run(sql: string, ...values: SqlValue[]): RunResult;
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SqlValue[]): Row[];
}

export function createStatements(database: Database): Statements {
  // Bounded by the program text: every SQL text here is a constant, but for the number of search words (at most eight).
  const kept = new Map<string, Statement<SqlValue[]>>();
  const of = (sql: string): Statement<SqlValue[]> => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const made = database.prepare<SqlValue[]>(sql);
    kept.set(sql, made);
    return made;
  };
  return {
    run: (sql, ...values) => of(sql).run(...values),
    get: <Row>(sql: string, ...values: SqlValue[]) => of(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: SqlValue[]) => of(sql).all(...values) as Row[],
  };
}
