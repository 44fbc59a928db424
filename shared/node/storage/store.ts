/** The store over SQLite. What it promises stands in store-types.ts. */
import type { Database } from 'better-sqlite3';
import type { CallRecord } from '../../contract/calls.ts';
import { denied, ok } from '../../contract/denials.ts';
import type { Denial, Result } from '../../contract/denials.ts';
import type { Cell, RunSummary } from '../../contract/experiments.ts';
import type { CellKey, DocumentId, RunId } from '../../contract/ids.ts';
import type { Clock } from '../../engine/ports.ts';
import type { Row } from '../csv/columns.ts';
import type { RowCell } from '../csv/context-columns.ts';
import { rowOf } from '../csv/rows.ts';
import { createCallRows, exportRecordOf } from './call-rows.ts';
import type { CallRows, ExportCallRow } from './call-rows.ts';
import { closeDatabase, limitFile, openDatabase } from './database.ts';
import { createAgentRows } from './agent-rows.ts';
import { createDirectoryRows, directoryChanged } from './directory-rows.ts';
import { storageDenial } from './failures.ts';
import { cellStateOf, createRunRows } from './run-rows.ts';
import type { CellChange, RunRows } from './run-rows.ts';
import { createPriceRows, reportedTotals } from './price-rows.ts';
import { readSettings } from './saved.ts';
import { createStatements } from './statements.ts';
import type { Statements } from './statements.ts';
import type { OpenedStore, Store } from './store-types.ts';
import { createTexts, textHash } from './texts.ts';
import type { Texts } from './texts.ts';

/** The caller holds the lock of the folder (lock.ts): a second writer must not see the file being moved aside. */
export function openStore(ask: {
  readonly home: { readonly databaseFile: string };
  readonly clock: Pick<Clock, 'now'>;
  /** The database file never grows over this; writes that would are denied with `storage-full`. Default: the disk. */
  readonly fileBytesMax?: number;
}): Result<OpenedStore> {
  const opened = openDatabase(ask.home.databaseFile, ask.clock.now());
  if (!opened.ok) return opened;
  if (ask.fileBytesMax !== undefined) limitFile(opened.value.database, ask.fileBytesMax);
  const { database, notices, movedTo } = opened.value;
  return ok({ store: createStore(database, ask.clock), notices, movedTo });
}

/** The parts that the functions below share. */
interface Parts {
  readonly statements: Statements;
  readonly texts: Texts;
  readonly runRows: RunRows;
  readonly callRows: CallRows;
  /** One transaction that takes the write lock first; what it refuses or fails at leaves everything as it was. */
  write<Value>(work: () => Value): Result<Value>;
}

const defaultLimit = 1_000;
const exportPageRows = 200;

function createStore(database: Database, clock: Pick<Clock, 'now'>): Store {
  const parts = partsOf(database);
  const { statements, runRows, callRows, write } = parts;
  const priceRows = createPriceRows(statements);
  const directoryRows = createDirectoryRows(statements);
  const agentRows = createAgentRows(statements);
  return {
    file: database.name,
    settings: () => readSettings(statements),
    saveSettings: (settings) =>
      write(() => {
        const sql = 'INSERT INTO settings (id, json) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json';
        statements.run(sql, JSON.stringify(settings));
        return settings;
      }),

    openRun: (run, cells) =>
      write(() => {
        runRows.insert(run, cells);
        return theRun(parts, run.id);
      }),
    addCell: (runId, plan) =>
      write(() => {
        theRun(parts, runId);
        if (runRows.cell(runId, plan.key) !== null)
          refuse('bad-input', `The run ${runId} has a cell ${plan.key} already.`);
        runRows.addCell(runId, plan);
        return theRun(parts, runId);
      }),
    saveRun: (run) =>
      write(() => {
        theRun(parts, run.id);
        runRows.update(run);
        return theRun(parts, run.id);
      }),
    run: (id) => runRows.run(id),
    runs: ({ search = '', limit = defaultLimit } = {}) => runRows.runs(search, limit),
    deleteRun: (id) => write(() => deleteRun(parts, id)),

    cells: (runId) => runRows.cells(runId),
    cell: (runId, key) => {
      const cell = runRows.cell(runId, key);
      if (cell === null) return null;
      return { cell, record: cell.call === null ? null : callRows.record(cell.call.id) };
    },
    setCellState: (runId, key, state, documentCharacters) =>
      write(() => changeCell(parts, runId, key, { state, documentCharacters })),

    callClosed: (record) => write(() => closeCall(parts, record)),
    call: (id) => callRows.record(id),
    calls: ({ runId, limit = defaultLimit } = {}) =>
      callRows.summaries({ limit, ...(runId === undefined ? {} : { runId }) }),

    putDocument: (document) => write(() => putDocument(parts, document, clock.now())),
    document: (id) => readDocument(parts, id),

    rowCount: (runId) =>
      statements.get<{ count: number }>(
        'SELECT count(*) AS count FROM cells WHERE run_id = ? AND call_id IS NOT NULL',
        runId,
      )?.count ?? 0,
    rows: (runId) => ({ [Symbol.iterator]: () => rowsOf(parts, runId) }),

    tokensOn: (dayIso, simulated) => callRows.tokens(dayIso, dayAfter(dayIso), simulated ?? null),
    interruptOpenRuns: () => write(() => interruptOpenRuns(parts)),

    learnedRatios: () =>
      new Map(
        statements
          .all<{ model: string; json: string }>('SELECT model, json FROM learned_ratios ORDER BY model')
          .map((row) => [row.model, row.json]),
      ),
    saveLearnedRatio: (model, json) =>
      write(() => {
        const sql =
          'INSERT INTO learned_ratios (model, json) VALUES (?, ?) ON CONFLICT (model) DO UPDATE SET json = excluded.json';
        statements.run(sql, model, json);
        return null;
      }),
    forgetLearnedRatios: (model) =>
      write(
        () =>
          statements.all('DELETE FROM learned_ratios WHERE ? IS NULL OR model = ? RETURNING model', model, model)
            .length,
      ),

    priceSets: () => priceRows.all(),
    addPriceSet: (set) =>
      write(() => {
        priceRows.save(set);
        return null;
      }),
    removePriceSet: (name) =>
      write(() => {
        if (!priceRows.remove(name)) refuse('not-found', `There is no price set ${name.name} of that day of your own.`);
        return null;
      }),
    reportedSince: (fromIso, simulated) => reportedTotals(statements, fromIso, simulated),

    saveAgentRun: (view, restart) =>
      write(() => {
        agentRows.save(view, restart);
        return null;
      }),
    agentRun: (id) => agentRows.view(id),
    agentRestart: (id) => agentRows.restart(id),
    agentRuns: (limit) => agentRows.runs(limit),
    removeAgentRun: (id) =>
      write(() => {
        if (!agentRows.remove(id)) refuse('not-found', 'There is no such agent run.');
        return null;
      }),
    interruptAgentRuns: () => write(() => agentRows.interrupt()),

    directory: () => directoryRows.read(),
    saveDirectory: (next) =>
      write(() => {
        if (!directoryRows.save(next)) throw new Refusal(directoryChanged().denial);
        return null;
      }),

    close: () => {
      closeDatabase(database);
    },
  };
}

function partsOf(database: Database): Parts {
  const statements = createStatements(database);
  const texts = createTexts(statements);
  return {
    statements,
    texts,
    runRows: createRunRows(statements),
    callRows: createCallRows(statements, texts),
    write: (work) => {
      try {
        return ok(database.transaction(work).immediate());
      } catch (error) {
        if (error instanceof Refusal) return { ok: false, denial: error.denial };
        return storageDenial(error, database.name);
      }
    },
  };
}

/** Leaves a transaction with a refusal, so that SQLite rolls it back; never leaves this file. */
class Refusal extends Error {
  readonly denial: Denial;
  constructor(denial: Denial) {
    super(denial.message);
    this.denial = denial;
  }
}

const refuse = (...why: Parameters<typeof denied>): never => {
  throw new Refusal(denied(...why).denial);
};

function theRun({ runRows }: Parts, id: RunId): RunSummary {
  return runRows.run(id) ?? refuse('not-found', `There is no run ${id}.`, { next: 'It may have been deleted.' });
}

function changeCell(parts: Parts, runId: RunId, key: CellKey, change: CellChange): { run: RunSummary; cell: Cell } {
  theRun(parts, runId);
  parts.runRows.setCell(runId, key, change);
  const cell = parts.runRows.cell(runId, key) ?? refuse('not-found', `The run ${runId} has no cell ${key}.`);
  return { run: theRun(parts, runId), cell };
}

function closeCall(parts: Parts, record: CallRecord): { run: RunSummary | null; cell: Cell | null } {
  const { runId, cellKey } = record;
  if (runId !== null) theRun(parts, runId);
  parts.callRows.save(record);
  if (runId === null) return { run: null, cell: null };
  if (cellKey === null) return { run: theRun(parts, runId), cell: null };
  return changeCell(parts, runId, cellKey, { state: cellStateOf(record), result: record });
}

function deleteRun(parts: Parts, id: RunId): null {
  if (theRun(parts, id).state === 'running') {
    refuse('busy', 'The run is still going.', { next: 'Cancel it, then delete it.' });
  }
  const textIds = parts.callRows.textsOfRun(id);
  parts.runRows.remove(id);
  parts.texts.removeUnused(textIds);
  return null;
}

function interruptOpenRuns({ runRows }: Parts): RunSummary[] {
  return runRows.open().map((run) => {
    const interrupted: RunSummary = { ...run, state: 'interrupted', etaMs: null };
    runRows.update(interrupted);
    runRows.requeueRunningCells(run.id);
    return interrupted;
  });
}

function putDocument(
  { statements, texts }: Parts,
  document: { readonly name: string; readonly text: string },
  nowIso: string,
): { documentId: DocumentId; characters: number; sha256: string } {
  const sha256 = textHash(document.text).toString('hex');
  const documentId = `document-${sha256.slice(0, 32)}` as DocumentId;
  statements.run(
    'INSERT INTO documents (id, name, text_id, sha256, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
    documentId,
    document.name,
    texts.put(document.text),
    sha256,
    nowIso,
  );
  return { documentId, characters: document.text.length, sha256 };
}

function readDocument({ statements, texts }: Parts, id: DocumentId): ReturnType<Store['document']> {
  const row = statements.get<{ name: string; text_id: number; sha256: string }>(
    'SELECT name, text_id, sha256 FROM documents WHERE id = ?',
    id,
  );
  if (row === undefined) return null;
  const text = texts.get(row.text_id);
  return { name: row.name, text, characters: text.length, sha256: row.sha256 };
}

/** Reads a page, lets go of the database, gives the rows, reads on after the last: writes go on in between. */
function* rowsOf({ statements, texts, runRows }: Parts, runId: RunId): Generator<Row> {
  const run = runRows.run(runId);
  if (run === null) return;
  let position = -1;
  let key = '';
  for (;;) {
    const page = statements.all<ExportCallRow & ExportCellRow>(exportSql, runId, position, key, exportPageRows);
    for (const row of page) {
      const cell = {
        plan: JSON.parse(row.plan) as Cell['plan'],
        state: row.state,
        documentCharacters: row.document_characters,
      } as RowCell;
      yield rowOf(cell, exportRecordOf(row, texts), run);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < exportPageRows) return;
    ({ position, key } = last);
  }
}

interface ExportCellRow {
  readonly position: number;
  readonly key: string;
  readonly plan: string;
  readonly state: Cell['state'];
  readonly document_characters: number | null;
}

const exportSql = `
  SELECT position, key, plan, state, document_characters, calls.summary, request, reply, answer
  FROM cells JOIN calls ON calls.id = cells.call_id JOIN call_bodies ON call_bodies.call_id = calls.id
  WHERE cells.run_id = ? AND (position, key) > (?, ?) ORDER BY position, key LIMIT ?`;

function dayAfter(dayIso: string): string {
  const day = new Date(`${dayIso}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}
