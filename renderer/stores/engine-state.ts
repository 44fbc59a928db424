/** What a screen knows of the engine. Changed by `applyFrame` and `applySnapshot` only. */
import type { CallSummary } from '../../shared/contract/calls.ts';
import type { OpenCall } from '../../shared/contract/events.ts';
import type { Cell, RunSummary } from '../../shared/contract/experiments.ts';
import type { CallId, CellKey, RunId } from '../../shared/contract/ids.ts';
import type { RequestResult } from '../../shared/contract/requests.ts';
import type { ServerLogState, ServerStatus } from '../../shared/contract/server.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import type { TransportState } from '../transport/transport.ts';
import type { Storm } from '../../shared/contract/ledger.ts';
import { emptyAgents } from './agents-state.ts';
import type { AgentsSlice } from './agents-state.ts';
import { emptyLedger } from './ledger-state.ts';
import type { LedgerSlice } from './ledger-state.ts';
import type { SeriesPoint } from './series.ts';

export type Snapshot = RequestResult<'snapshot.get'>;
export type AppFacts = Snapshot['app'];
export type ConnectionState = TransportState;

export interface PhaseMark {
  readonly phase: OpenCall['phase'];
  /** Since the call was opened; null for the phase a snapshot found it in. */
  readonly atMs: number | null;
}

/** A call as it streams, and for a while after it closed. */
export interface LiveCall {
  readonly call: OpenCall;
  readonly thinking: string;
  readonly answer: string;
  /** Characters dropped from the front of the texts because they grew over the bound, and whether a delta was missed. */
  readonly clippedCharacters: number;
  readonly incomplete: boolean;
  readonly thinkingChunks: number;
  readonly answerChunks: number;
  readonly atMs: number | null;
  readonly phases: readonly PhaseMark[];
  readonly series: readonly SeriesPoint[];
  /** How the answer begins; stays when the front of a long one is dropped. */
  readonly answerHead: string;
  /** The wall clock of this screen when the call was first seen, for "waiting, 12 s" between events. */
  readonly seenAtMs: number;
  readonly closed: CallSummary | null;
  /** The call ended while this screen was not listening; ask call.get. */
  readonly vanished: boolean;
}

export interface Notice {
  readonly id: number;
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly next: string | null;
}

export interface EngineState {
  readonly connection: ConnectionState;
  /** A snapshot has arrived since the start of this screen. */
  readonly loaded: boolean;
  readonly lastSeq: number | null;
  readonly needsSnapshot: boolean;
  /** Events that never reached this screen; shown in Settings. */
  readonly eventsDropped: number;
  readonly app: AppFacts | null;
  readonly settings: Settings | null;
  readonly server: ServerStatus | null;
  readonly serverLog: ServerLogState | null;
  /** Open calls, and the last closed ones that belong to no run. */
  readonly calls: ReadonlyMap<CallId, LiveCall>;
  /** Closed calls, oldest first. */
  readonly recentCalls: readonly CallSummary[];
  readonly runs: ReadonlyMap<RunId, RunSummary>;
  /** Cells of the runs this screen has opened or seen starting. */
  readonly cells: ReadonlyMap<RunId, ReadonlyMap<CellKey, Cell>>;
  /** How calls of reasoning runs streamed, by `courseKey`; the last ones this screen saw. */
  readonly courses: ReadonlyMap<string, Course>;
  readonly tokensToday: number | null;
  readonly ledger: LedgerSlice;
  readonly agents: AgentsSlice;
  /** The storm that runs or ran last, as far as this screen was told; ask storm.get for one before its time. */
  readonly storm: Storm | null;
  readonly notices: readonly Notice[];
  readonly noticesRaised: number;
  /** For the dots in the rail: how many endings there were. */
  readonly callsEnded: number;
  readonly runsEnded: number;
  /** Those of them that were reasoning runs. */
  readonly reasoningRunsEnded: number;
}

/** The ends of the texts and the counts over time, as they came. Chunks, which are tokens on most models. */
export type Course = Pick<LiveCall, 'series' | 'thinking' | 'answer'>;

export const courseKey = (runId: string, cellKey: string): string => `${runId} ${cellKey}`;

export const CLOSED_CALLS_MAX = 8;
export const RECENT_CALLS_MAX = 500;
export const NOTICES_MAX = 30;
export const RUNS_WITH_CELLS_MAX = 6;
export const COURSES_MAX = 300;
export const RUNS_MAX = 2_000;
/** Of an answer's beginning. */
export const HEAD_CHARACTERS_MAX = 200;
/** Longest text kept for one streaming call; calls of runs keep only their end. */
export const TEXT_CHARACTERS_MAX = 1_000_000;
export const RUN_TEXT_CHARACTERS_MAX = 2_000;

export const emptyEngineState: EngineState = {
  connection: 'connecting',
  loaded: false,
  lastSeq: null,
  needsSnapshot: false,
  eventsDropped: 0,
  app: null,
  settings: null,
  server: null,
  serverLog: null,
  calls: new Map(),
  recentCalls: [],
  runs: new Map(),
  cells: new Map(),
  courses: new Map(),
  tokensToday: null,
  ledger: emptyLedger,
  agents: emptyAgents,
  storm: null,
  notices: [],
  noticesRaised: 0,
  callsEnded: 0,
  runsEnded: 0,
  reasoningRunsEnded: 0,
};

/** Prompt and output tokens a closed call reported; null when it reported neither. */
export function reportedTokens(call: CallSummary): number | null {
  if (call.promptEvalCount === null && call.evalCount === null) return null;
  return (call.promptEvalCount ?? 0) + (call.evalCount ?? 0);
}
