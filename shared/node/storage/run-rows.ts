/** Runs and their cells as rows. The counters of a run follow from its cells and from nothing else. */
import type { CallRecord, CallSummary } from '../../contract/calls.ts';
import type { Cell, CellPlan, RunSummary } from '../../contract/experiments.ts';
import type { CellKey, RunId } from '../../contract/ids.ts';
import type { Tokens } from '../../contract/units.ts';
import type { TruncationKind } from '../../contract/verdicts.ts';
import { checksumOf } from './integrity.ts';
import type { SqlValue, Statements } from './statements.ts';

export interface RunRows {
  insert(run: RunSummary, cells: readonly CellPlan[]): void;
  /** Raises the number of cells of the run. */
  addCell(runId: RunId, plan: CellPlan): void;
  update(run: RunSummary): void;
  run(id: RunId): RunSummary | null;
  runs(search: string, limit: number): RunSummary[];
  open(): RunSummary[];
  remove(id: RunId): void;
  cells(runId: RunId): Cell[];
  cell(runId: RunId, key: CellKey): Cell | null;
  /** Sets the cell and moves the run's counters by the difference. False when there is no such cell. */
  setCell(runId: RunId, key: CellKey, change: CellChange): boolean;
  requeueRunningCells(runId: RunId): void;
}

export interface CellChange {
  readonly state: Cell['state'];
  /** undefined = as it was. */
  readonly documentCharacters?: number | null | undefined;
  /** undefined = as it was. */
  readonly result?: CallRecord | undefined;
}

/**
 * What a finished call makes of its cell. An overflow that the server refused is a result like any other: it is what was
 * asked. A call that the person or the end of the program stopped has none.
 */
export function cellStateOf(record: Pick<CallRecord, 'reply' | 'truncation'>): Cell['state'] {
  const { ending, abortedBy } = record.reply;
  // A thinking cap that stopped the reply did what it was asked to.
  if (ending === 'done' || abortedBy === 'thinking-cap') return 'done';
  if (abortedBy === 'shutdown') return 'waiting';
  if (abortedBy === 'person') return 'cancelled';
  return record.truncation.kinds.includes('refused') ? 'done' : 'failed';
}

export function createRunRows(statements: Statements): RunRows {
  const run = (id: RunId): RunSummary | null => {
    const row = statements.get<RunRow>(`${selectRun} WHERE id = ?`, id);
    return row === undefined ? null : runOf(row);
  };
  return {
    run,
    insert: (summary, cells) => insertRun(statements, summary, cells),
    addCell: (runId, plan) => {
      insertCell(statements, runId, plan);
      statements.run('UPDATE runs SET cells_total = cells_total + 1 WHERE id = ?', runId);
    },
    update: (summary) => {
      const json = JSON.stringify(summary);
      statements.run(
        'UPDATE runs SET created_at = ?, state = ?, simulated = ?, search_text = ?, json = ?, checksum = ? WHERE id = ?',
        summary.createdAt,
        summary.state,
        summary.simulated ? 1 : 0,
        searchText(summary),
        json,
        checksumOf(json),
        summary.id,
      );
    },
    runs: (search, limit) => {
      const words = fold(search)
        .split(/\s+/)
        .filter((word) => word !== '')
        .slice(0, searchWordsMax);
      const where = words.map(() => 'instr(search_text, ?) > 0').join(' AND ');
      const sql = `${selectRun} ${where === '' ? '' : `WHERE ${where}`} ORDER BY created_at DESC, rowid DESC LIMIT ?`;
      return statements.all<RunRow>(sql, ...words, limit).map(runOf);
    },
    open: () => statements.all<RunRow>(`${selectRun} WHERE state = 'running' ORDER BY created_at`).map(runOf),
    remove: (id) => {
      statements.run('DELETE FROM runs WHERE id = ?', id);
    },
    cells: (runId) =>
      statements.all<CellRow>(`${selectCell} WHERE cells.run_id = ? ORDER BY position, key`, runId).map(cellOf),
    cell: (runId, key) => {
      const row = statements.get<CellRow>(`${selectCell} WHERE cells.run_id = ? AND key = ?`, runId, key);
      return row === undefined ? null : cellOf(row);
    },
    setCell: (runId, key, change) => setCell(statements, runId, key, change),
    requeueRunningCells: (runId) => {
      statements.run("UPDATE cells SET state = 'waiting' WHERE run_id = ? AND state = 'running'", runId);
    },
  };
}

interface RunRow {
  readonly json: string;
  readonly state: RunSummary['state'];
  readonly cells_total: number;
  readonly cells_done: number;
  readonly cells_failed: number;
  readonly cells_truncated: number;
  readonly tokens_evaluated: number;
}

interface CellRow {
  readonly plan: string;
  readonly state: Cell['state'];
  readonly document_characters: number | null;
  readonly summary: string | null;
}

const selectRun =
  'SELECT json, state, cells_total, cells_done, cells_failed, cells_truncated, tokens_evaluated FROM runs';
const selectCell =
  'SELECT plan, state, document_characters, summary FROM cells LEFT JOIN calls ON calls.id = cells.call_id';

const searchWordsMax = 8;
/** Kinds where something of the prompt, or of what followed it, was lost without a word from the server. */
const lossKinds: readonly TruncationKind[] = ['messages-dropped', 'halved', 'cut-to-window', 'shifted'];

function insertRun(statements: Statements, run: RunSummary, cells: readonly CellPlan[]): void {
  const json = JSON.stringify(run);
  statements.run(
    'INSERT INTO runs (id, created_at, state, simulated, cells_total, search_text, json, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    run.id,
    run.createdAt,
    run.state,
    run.simulated ? 1 : 0,
    cells.length,
    searchText(run),
    json,
    checksumOf(json),
  );
  for (const plan of cells) insertCell(statements, run.id, plan);
}

function insertCell(statements: Statements, runId: RunId, plan: CellPlan): void {
  const planJson = JSON.stringify(plan);
  statements.run(
    "INSERT INTO cells (run_id, key, position, state, warm_up, plan, checksum) VALUES (?, ?, ?, 'waiting', ?, ?, ?)",
    runId,
    plan.key,
    plan.index,
    plan.warmUp ? 1 : 0,
    planJson,
    checksumOf(planJson),
  );
}

function setCell(statements: Statements, runId: RunId, key: CellKey, change: CellChange): boolean {
  const before = statements.get<CountedRow>(
    'SELECT state, document_characters, warm_up, call_id, counted_tokens, counted_truncated FROM cells WHERE run_id = ? AND key = ?',
    runId,
    key,
  );
  if (before === undefined) return false;
  const after = changed(before, change);
  statements.run(
    `UPDATE cells SET state = ?, document_characters = ?, call_id = ?, counted_tokens = ?, counted_truncated = ?
     WHERE run_id = ? AND key = ?`,
    after.state,
    after.document_characters,
    after.call_id,
    after.counted_tokens,
    after.counted_truncated,
    runId,
    key,
  );
  const moved: SqlValue[] = [
    Number(after.state === 'done') - Number(before.state === 'done'),
    Number(after.state === 'failed') - Number(before.state === 'failed'),
    after.counted_truncated - before.counted_truncated,
    after.counted_tokens - before.counted_tokens,
  ];
  statements.run(
    `UPDATE runs SET cells_done = cells_done + ?, cells_failed = cells_failed + ?,
       cells_truncated = cells_truncated + ?, tokens_evaluated = tokens_evaluated + ? WHERE id = ?`,
    ...moved,
    runId,
  );
  return true;
}

interface CountedRow {
  readonly state: Cell['state'];
  readonly document_characters: number | null;
  readonly warm_up: number;
  readonly call_id: string | null;
  readonly counted_tokens: number;
  readonly counted_truncated: number;
}

function changed(before: CountedRow, change: CellChange): CountedRow {
  const kept = {
    ...before,
    state: change.state,
    document_characters:
      change.documentCharacters === undefined ? before.document_characters : change.documentCharacters,
  };
  if (change.result !== undefined) return { ...kept, ...counted(before, change.result) };
  // A cell that is to run again has no result until it has a new one; the earlier call stays among the run's calls.
  const again = change.state === 'waiting' || change.state === 'running';
  return again ? { ...kept, call_id: null, counted_tokens: 0, counted_truncated: 0 } : kept;
}

function counted(
  before: CountedRow,
  record: CallRecord,
): Pick<CountedRow, 'call_id' | 'counted_tokens' | 'counted_truncated'> {
  const lost = record.truncation.kinds.some((kind) => lossKinds.includes(kind));
  return {
    call_id: record.id,
    counted_tokens: record.reply.promptEvalCount ?? 0,
    counted_truncated: lost && before.warm_up === 0 ? 1 : 0,
  };
}

function runOf(row: RunRow): RunSummary {
  return {
    ...(JSON.parse(row.json) as RunSummary),
    state: row.state,
    cellsTotal: row.cells_total,
    cellsDone: row.cells_done,
    cellsFailed: row.cells_failed,
    cellsTruncated: row.cells_truncated,
    tokensEvaluated: row.tokens_evaluated as Tokens,
  };
}

function cellOf(row: CellRow): Cell {
  return {
    plan: JSON.parse(row.plan) as CellPlan,
    state: row.state,
    documentCharacters: row.document_characters,
    call: row.summary === null ? null : (JSON.parse(row.summary) as CallSummary),
  } as Cell;
}

function searchText(run: RunSummary): string {
  return fold(
    [run.name, run.kind, run.state, ...run.experiment.axes.models, run.server, run.simulated ? 'simulated' : ''].join(
      ' ',
    ),
  );
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();
