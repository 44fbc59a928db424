/**
 * How a frame changes what the screen knows. Pure: the same state, frame and clock reading give the same result, and the
 * state that came in is left alone. Maps are copied once per frame, not once per event.
 */
import type { EngineEvent } from '../../shared/contract/events.ts';
import type { Cell, RunSummary } from '../../shared/contract/experiments.ts';
import type { CallId, CellKey, RunId } from '../../shared/contract/ids.ts';
import type { Frame } from '../transport/transport.ts';
import {
  CLOSED_CALLS_MAX,
  COURSES_MAX,
  HEAD_CHARACTERS_MAX,
  NOTICES_MAX,
  RECENT_CALLS_MAX,
  RUNS_MAX,
  RUNS_WITH_CELLS_MAX,
  RUN_TEXT_CHARACTERS_MAX,
  TEXT_CHARACTERS_MAX,
  courseKey,
  reportedTokens,
} from './engine-state.ts';
import type { EngineState, LiveCall, Notice, Snapshot } from './engine-state.ts';
import { applyAgentEvents, wantAgents } from './agents-state.ts';
import { applyLedgerEvents, wantView } from './ledger-state.ts';
import { pushPoint, pushRing } from './series.ts';

type EventOf<Type extends EngineEvent['type']> = Extract<EngineEvent, { type: Type }>;

/** A gap in the numbers, or events dropped on the way, leaves `needsSnapshot` set; what did arrive is applied all the same. */
export function applyFrame(state: EngineState, frame: Frame, nowMs: number): EngineState {
  // The first frame of a connection may carry any number: the snapshot that was just asked for covers all before it.
  const gap = state.lastSeq !== null && frame.seq !== state.lastSeq + 1;
  const draft = draftOf(state, nowMs);
  for (const event of frame.events) applyEvent(draft, event);
  return {
    ...draft.state,
    ledger: applyLedgerEvents(state.ledger, frame.events, nowMs),
    agents: applyAgentEvents(state.agents, frame.events),
    lastSeq: frame.seq,
    needsSnapshot: state.needsSnapshot || gap || frame.dropped > 0,
    eventsDropped: state.eventsDropped + frame.dropped,
  };
}

/** Everything but the texts of running calls, which no snapshot carries: those that are here stay. */
export function applySnapshot(state: EngineState, snapshot: Snapshot, nowMs: number): EngineState {
  const draft = draftOf(state, nowMs);
  const open = new Set(snapshot.openCalls.map((call) => call.id));
  for (const live of state.calls.values()) {
    if (live.closed !== null || open.has(live.call.id)) continue;
    if (live.call.runId === null) draft.setCall({ ...live, vanished: true });
    else draft.dropCall(live.call.id);
  }
  for (const call of snapshot.openCalls) {
    const known = state.calls.get(call.id);
    draft.setCall(
      known === undefined
        ? {
            ...liveOf(call, nowMs),
            phases: [{ phase: call.phase, atMs: null }],
            incomplete: call.phase === 'streaming',
          }
        : { ...known, call, incomplete: known.incomplete || state.needsSnapshot },
    );
  }
  draft.dropOldCalls();
  return {
    ...draft.state,
    loaded: true,
    needsSnapshot: false,
    app: snapshot.app,
    settings: snapshot.settings,
    server: snapshot.server,
    serverLog: snapshot.serverLog ?? state.serverLog,
    runs: new Map(snapshot.runs.slice(0, RUNS_MAX).map((run) => [run.id, run])),
    tokensToday: snapshot.tokensToday,
    // What made a snapshot necessary may have hidden operations of the ledger too.
    ledger: state.loaded ? wantView(state.ledger) : state.ledger,
    agents: state.loaded ? wantAgents(state.agents) : state.agents,
    notices: state.loaded
      ? state.notices
      : snapshot.notices.slice(-NOTICES_MAX).map((notice, index) => ({ ...notice, id: index + 1 })),
    noticesRaised: state.loaded ? state.noticesRaised : Math.min(snapshot.notices.length, NOTICES_MAX),
  };
}

/** Cells from run.get. A cell that already ended here is not put back by an answer that was on its way meanwhile. */
export function applyRun(state: EngineState, run: RunSummary, cells: readonly Cell[], nowMs: number): EngineState {
  const draft = draftOf(state, nowMs);
  const known = state.cells.get(run.id);
  const merged = new Map<CellKey, Cell>();
  for (const cell of cells) {
    const here = known?.get(cell.plan.key);
    const endedHere = here !== undefined && here.call !== null && cell.call === null && run.state === 'running';
    merged.set(cell.plan.key, endedHere ? here : cell);
  }
  draft.setCells(run.id, merged);
  draft.setRun(run);
  return draft.state;
}

/** A fresh connection numbers its frames anew and owes this screen a snapshot. */
export function applyConnection(state: EngineState, connection: EngineState['connection']): EngineState {
  if (connection === state.connection) return state;
  return connection === 'connected'
    ? { ...state, connection, lastSeq: null, needsSnapshot: true }
    : { ...state, connection };
}

interface Draft {
  state: EngineState;
  readonly nowMs: number;
  setCall(call: LiveCall): void;
  dropCall(id: CallId): void;
  dropOldCalls(): void;
  setRun(run: RunSummary): void;
  setCells(runId: RunId, cells: ReadonlyMap<CellKey, Cell>): void;
  setCell(runId: RunId, cell: Cell): void;
}

function draftOf(before: EngineState, nowMs: number): Draft {
  let calls: Map<CallId, LiveCall> | null = null;
  let runs: Map<RunId, RunSummary> | null = null;
  let cells: Map<RunId, ReadonlyMap<CellKey, Cell>> | null = null;
  const ownCells = new Map<RunId, Map<CellKey, Cell>>();

  const callsToWrite = (): Map<CallId, LiveCall> => {
    if (calls === null) {
      calls = new Map(before.calls);
      draft.state = { ...draft.state, calls };
    }
    return calls;
  };
  const cellsToWrite = (): Map<RunId, ReadonlyMap<CellKey, Cell>> => {
    if (cells === null) {
      cells = new Map(before.cells);
      draft.state = { ...draft.state, cells };
    }
    return cells;
  };

  const draft: Draft = {
    state: before,
    nowMs,
    setCall: (call) => void callsToWrite().set(call.call.id, call),
    dropCall: (id) => void callsToWrite().delete(id),
    dropOldCalls: () => {
      const ended = [...draft.state.calls.values()].filter((live) => live.closed !== null || live.vanished);
      for (const live of ended.slice(0, Math.max(0, ended.length - CLOSED_CALLS_MAX)))
        callsToWrite().delete(live.call.id);
    },
    setRun: (run) => {
      if (runs === null) {
        runs = new Map(before.runs);
        draft.state = { ...draft.state, runs };
      }
      runs.set(run.id, run);
      if (runs.size > RUNS_MAX) runs.delete(oldestRun(runs));
    },
    setCells: (runId, next) => {
      const all = cellsToWrite();
      all.delete(runId);
      all.set(runId, next);
      for (const old of [...all.keys()].slice(0, Math.max(0, all.size - RUNS_WITH_CELLS_MAX))) all.delete(old);
    },
    setCell: (runId, cell) => {
      const known = draft.state.cells.get(runId);
      if (known === undefined) return;
      let own = ownCells.get(runId);
      if (own === undefined) {
        own = new Map(known);
        ownCells.set(runId, own);
        cellsToWrite().set(runId, own);
      }
      own.set(cell.plan.key, cell);
    },
  };
  return draft;
}

function oldestRun(runs: ReadonlyMap<RunId, RunSummary>): RunId {
  return [...runs.values()].reduce((oldest, run) => (run.createdAt < oldest.createdAt ? run : oldest)).id;
}

function applyEvent(draft: Draft, event: EngineEvent): void {
  switch (event.type) {
    case 'server-changed':
      draft.state = { ...draft.state, server: event.status };
      return;
    case 'server-log-changed':
      draft.state = { ...draft.state, serverLog: event.log };
      return;
    case 'settings-changed':
      draft.state = { ...draft.state, settings: event.settings };
      return;
    case 'call-opened':
      return openCall(draft, event.call);
    case 'call-phase-changed':
      return changePhase(draft, event);
    case 'call-delta':
      return growCall(draft, event);
    case 'call-closed':
      return closeCall(draft, event);
    case 'run-opened':
      draft.setRun(event.run);
      if (!draft.state.cells.has(event.run.id)) draft.setCells(event.run.id, new Map());
      return;
    case 'run-changed':
      return changeRun(draft, event.run);
    case 'cell-changed':
      return draft.setCell(event.runId, event.cell);
    case 'storm-changed':
      draft.state = { ...draft.state, storm: event.storm };
      return;
    case 'notice-raised':
      return raiseNotice(draft, event);
    default:
      // What is told of the ledger and of agents is applied frame by frame.
      return;
  }
}

/** The same call is opened again when its preflight is there; what has streamed stays. */
function openCall(draft: Draft, call: LiveCall['call']): void {
  const live = draft.state.calls.get(call.id);
  if (live === undefined) return draft.setCall(liveOf(call, draft.nowMs));
  const phases =
    live.call.phase === call.phase ? live.phases : pushRing(live.phases, { phase: call.phase, atMs: null }, PHASES_MAX);
  draft.setCall({ ...live, call, phases });
}

const PHASES_MAX = 20;

function liveOf(call: LiveCall['call'], nowMs: number): LiveCall {
  return {
    call,
    thinking: '',
    answer: '',
    clippedCharacters: 0,
    incomplete: false,
    thinkingChunks: 0,
    answerChunks: 0,
    atMs: null,
    phases: [{ phase: call.phase, atMs: 0 }],
    series: [],
    answerHead: '',
    seenAtMs: nowMs,
    closed: null,
    vanished: false,
  };
}

function changePhase(draft: Draft, event: EventOf<'call-phase-changed'>): void {
  const live = draft.state.calls.get(event.callId);
  if (live === undefined) return;
  draft.setCall({
    ...live,
    call: { ...live.call, phase: event.phase },
    phases: pushRing(live.phases, { phase: event.phase, atMs: event.atMs }, PHASES_MAX),
  });
}

function growCall(draft: Draft, event: EventOf<'call-delta'>): void {
  const live = draft.state.calls.get(event.callId);
  if (live === undefined) return;
  const charactersMax = live.call.runId === null ? TEXT_CHARACTERS_MAX : RUN_TEXT_CHARACTERS_MAX;
  const thinking = live.thinking + event.thinking;
  const answer = live.answer + event.answer;
  const over = Math.max(0, thinking.length - charactersMax) + Math.max(0, answer.length - charactersMax);
  draft.setCall({
    ...live,
    thinking: thinking.slice(-charactersMax),
    answer: answer.slice(-charactersMax),
    clippedCharacters: live.clippedCharacters + over,
    // Totals only rise; a late delta never takes them back.
    thinkingChunks: Math.max(live.thinkingChunks, event.thinkingChunks),
    answerChunks: Math.max(live.answerChunks, event.answerChunks),
    atMs: event.atMs,
    answerHead:
      live.answerHead.length < HEAD_CHARACTERS_MAX
        ? (live.answerHead + event.answer).slice(0, HEAD_CHARACTERS_MAX)
        : live.answerHead,
    series:
      live.call.runId === null || isOfReasoning(draft, live)
        ? pushPoint(live.series, {
            atMs: event.atMs,
            thinkingChunks: event.thinkingChunks,
            answerChunks: event.answerChunks,
          })
        : live.series,
  });
}

function closeCall(draft: Draft, event: EventOf<'call-closed'>): void {
  const live = draft.state.calls.get(event.call.id);
  if (live !== undefined && live.closed !== null) return;
  const used = reportedTokens(event.call);
  draft.state = {
    ...draft.state,
    recentCalls: pushRing(draft.state.recentCalls, event.call, RECENT_CALLS_MAX),
    tokensToday: used === null ? draft.state.tokensToday : (draft.state.tokensToday ?? 0) + used,
    callsEnded: draft.state.callsEnded + (event.call.runId === null ? 1 : 0),
  };
  if (live === undefined) return;
  // A call of a run lives on in its cell; keeping it here too would push out the last replies of the Live page.
  if (live.call.runId !== null) {
    keepCourse(draft, live);
    return draft.dropCall(live.call.id);
  }
  draft.setCall({ ...live, closed: event.call });
  draft.dropOldCalls();
}

function isOfReasoning(draft: Draft, { call: { runId } }: LiveCall): boolean {
  return runId !== null && draft.state.runs.get(runId)?.kind === 'reasoning';
}

/** The lanes of a reasoning run go on showing how a call streamed after it has ended. */
function keepCourse(draft: Draft, live: LiveCall): void {
  const { runId, cellKey } = live.call;
  if (runId === null || cellKey === null || live.series.length === 0) return;
  const courses = new Map(draft.state.courses);
  const key = courseKey(runId, cellKey);
  courses.delete(key);
  courses.set(key, { series: live.series, thinking: live.thinking, answer: live.answer });
  for (const old of [...courses.keys()].slice(0, Math.max(0, courses.size - COURSES_MAX))) courses.delete(old);
  draft.state = { ...draft.state, courses };
}

function changeRun(draft: Draft, run: RunSummary): void {
  const before = draft.state.runs.get(run.id);
  draft.setRun(run);
  if (before?.state === 'running' && run.state !== 'running')
    draft.state = {
      ...draft.state,
      runsEnded: draft.state.runsEnded + 1,
      reasoningRunsEnded: draft.state.reasoningRunsEnded + (run.kind === 'reasoning' ? 1 : 0),
    };
}

function raiseNotice(draft: Draft, event: EventOf<'notice-raised'>): void {
  const raised = draft.state.noticesRaised + 1;
  const notice: Notice = { id: raised, level: event.level, text: event.text, next: event.next };
  draft.state = { ...draft.state, noticesRaised: raised, notices: pushRing(draft.state.notices, notice, NOTICES_MAX) };
}
