/**
 * The store as everybody else sees it. Writes answer with a Result, because a disk can be full or a file locked; a refused
 * write changed nothing and may be tried again with the same values. Reads answer with values, `null` where nothing is there.
 * Everything is synchronous and belongs to one process (see lock.ts).
 */
import type { AgentRun, AgentRunId, AgentRunView } from '../../contract/agents.ts';
import type { CallRecord, CallSummary } from '../../contract/calls.ts';
import type { PriceSet, PriceSetName } from '../../contract/costs.ts';
import type { Result } from '../../contract/denials.ts';
import type { Cell, CellPlan, RunSummary } from '../../contract/experiments.ts';
import type { CallId, CellKey, DocumentId, RunId } from '../../contract/ids.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Row } from '../csv/columns.ts';
import type { StoredDirectory } from './directory-rows.ts';
import type { ReportedTotals } from './price-rows.ts';

export interface Store {
  /** The database file, for the settings page and for messages. */
  readonly file: string;

  /** Defaults where nothing was saved. */
  settings(): Settings;
  saveSettings(settings: Settings): Result<Settings>;

  /** The run and all its cells (`waiting`), in one transaction. cellsTotal is the number of cells, warm-ups included. */
  openRun(run: RunSummary, cells: readonly CellPlan[]): Result<RunSummary>;
  /** One more cell (`waiting`) of a run whose cells are not all known before; cellsTotal rises. Denied for a key that is there. */
  addCell(runId: RunId, plan: CellPlan): Result<RunSummary>;
  /**
   * Saves name, state, times, server and warnings. The counters (cellsTotal, cellsDone, cellsFailed, cellsTruncated,
   * tokensEvaluated) are kept by the store from the cells; the given ones are ignored, the answer carries the true ones.
   */
  saveRun(run: RunSummary): Result<RunSummary>;
  run(id: RunId): RunSummary | null;
  /** Newest first. Every word of `search` must occur in name, model, server or state; case does not matter. */
  runs(query?: { readonly search?: string; readonly limit?: number }): RunSummary[];
  /** Removes the run, its cells and calls, and texts that nothing else uses. Denied for a run that is `running`. */
  deleteRun(id: RunId): Result<null>;

  /** In running order. */
  cells(runId: RunId): Cell[];
  /** `record` is complete: request, sent body and raw reply are exactly what they were. */
  cell(runId: RunId, key: CellKey): { cell: Cell; record: CallRecord | null } | null;
  /** documentCharacters is kept as it was when it is not given. */
  setCellState(
    runId: RunId,
    key: CellKey,
    state: Cell['state'],
    documentCharacters?: number | null,
  ): Result<{ run: RunSummary; cell: Cell }>;

  /**
   * A finished call, its cell's result and the run's counters, in one transaction. The cell's state follows from the reply
   * (`cellStateOf`). The same record twice is stored once. run and cell are null for a call outside a run.
   */
  callClosed(record: CallRecord): Result<{ run: RunSummary | null; cell: Cell | null }>;
  call(id: CallId): CallRecord | null;
  /** Newest first. runId undefined = all, null = only calls outside runs. */
  calls(query?: { readonly runId?: RunId | null; readonly limit?: number }): CallSummary[];

  /** Equal texts are stored once and have one id; the name of the first stays. */
  putDocument(document: {
    readonly name: string;
    readonly text: string;
  }): Result<{ documentId: DocumentId; characters: number; sha256: string }>;
  document(id: DocumentId): { name: string; text: string; characters: number; sha256: string } | null;

  /** How many rows `rows` will give. */
  rowCount(runId: RunId): number;
  /** The finished cells in running order, read in pages: memory stays constant however long the run is. */
  rows(runId: RunId): Iterable<Row>;

  /** Prompt and output tokens reported on that UTC day (`2026-11-14`); null when no call reported any. */
  tokensOn(dayIso: string, simulated?: boolean): number | null;

  /** At start: runs that were `running` become `interrupted`, their running cells `waiting`. Answers the changed runs. */
  interruptOpenRuns(): Result<RunSummary[]>;

  /** What was learned about characters per token: model -> JSON text as it was saved. */
  learnedRatios(): ReadonlyMap<string, string>;
  saveLearnedRatio(model: string, json: string): Result<null>;
  /** How many models were forgotten; null = all of them. */
  forgetLearnedRatios(model: string | null): Result<number>;

  /** A person's own price sets, in the order of adding. */
  priceSets(): PriceSet[];
  addPriceSet(set: PriceSet): Result<null>;
  removePriceSet(name: PriceSetName): Result<null>;
  /** Counts that calls reported since that moment. */
  reportedSince(fromIso: string, simulated: boolean): ReportedTotals;

  /** Plans, tenants and users as they were saved last; null = never. */
  /** Saved again and again while it goes; restart: what it can go on from after a crash, null = it cannot. */
  saveAgentRun(view: AgentRunView, restart: string | null): Result<null>;
  agentRun(id: AgentRunId): AgentRunView | null;
  agentRestart(id: AgentRunId): string | null;
  /** Newest first. */
  agentRuns(limit: number): AgentRun[];
  removeAgentRun(id: AgentRunId): Result<null>;
  /** At start: runs that were `running` become `interrupted`. How many. */
  interruptAgentRuns(): Result<number>;

  directory(): StoredDirectory | null;
  /** Denied `busy` where what is stored has not the revision before this one. */
  saveDirectory(next: StoredDirectory): Result<null>;

  /** Again is allowed and does nothing. */
  close(): void;
}

export interface StoreNotice {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly next: string | null;
}

export interface OpenedStore {
  readonly store: Store;
  /** What the person should know: a damaged file was moved aside, the file system refuses WAL. */
  readonly notices: readonly StoreNotice[];
  /** Where a damaged database went, null when there was none. */
  readonly movedTo: string | null;
}
