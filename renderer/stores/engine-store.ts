/**
 * The screen's copy of the engine, fed by frames. At most one store write per animation frame; a gap in the numbers asks
 * for a snapshot. The store knows no host: a Transport and a scheduler come in.
 */
import { createStore } from 'zustand/vanilla';
import type { StoreApi } from 'zustand/vanilla';
import type { AgentRunId } from '../../shared/contract/agents.ts';
import type { RunId } from '../../shared/contract/ids.ts';
import type { Balance } from '../../shared/contract/ledger.ts';
import type { RequestResult } from '../../shared/contract/requests.ts';
import type { Result } from '../../shared/contract/denials.ts';
import type { Frame, Transport } from '../transport/transport.ts';
import { applyAgentList, applyAgentView, forgetRun, refuseAgentView, watchRun } from './agents-state.ts';
import { applyConnection, applyFrame, applyRun, applySnapshot } from './apply-frame.ts';
import { emptyEngineState } from './engine-state.ts';
import type { EngineState, Notice } from './engine-state.ts';
import { applyBalance, applyLedgerView } from './ledger-state.ts';

/** Runs a function once, soon, together with the next drawing of the screen. */
export interface FrameScheduler {
  soon(run: () => void): void;
  nowMs(): number;
}

export interface EngineClient {
  readonly store: StoreApi<EngineState>;
  readonly transport: Transport;
  readonly request: Transport['request'];
  /** Loads a run with its cells into the store and answers it. */
  loadRun(runId: RunId): Promise<Result<RequestResult<'run.get'>>>;
  /** The clock that stamps what arrives; shown times count on from it. */
  nowMs(): number;
  /** Asks for a view of the ledger and lays it under what events have told since. */
  loadLedger(): Promise<Result<RequestResult<'ledger.get'>>>;
  /** A balance that a request answered. */
  takeBalance(balance: Balance): void;
  /** The list of agent runs and what waits for a person, laid under what events have told since. */
  loadAgents(): Promise<Result<RequestResult<'agent.list'>>>;
  /** From now on this run is kept whole. */
  loadAgentRun(runId: AgentRunId): Promise<Result<RequestResult<'agent.get'>>>;
  /** It was deleted. */
  forgetAgentRun(runId: AgentRunId): void;
  raiseNotice(notice: Omit<Notice, 'id'>): void;
  dismissNotice(id: number): void;
  stop(): void;
}

/** Frames waiting for a drawing; a hidden window draws rarely, so the oldest go and a snapshot is asked for. */
const FRAMES_WAITING_MAX = 400;
const SNAPSHOT_RETRY_MS = 1_000;

export function createEngineClient(transport: Transport, scheduler: FrameScheduler = screenScheduler): EngineClient {
  const store = createStore<EngineState>(() => emptyEngineState);
  let waiting: Frame[] = [];
  let scheduled = false;
  let asking = false;
  let stopped = false;

  const flush = (): void => {
    scheduled = false;
    if (stopped) return;
    const frames = waiting;
    waiting = [];
    let state = store.getState();
    for (const frame of frames) state = applyFrame(state, frame, scheduler.nowMs());
    if (state !== store.getState()) store.setState(state, true);
    if (state.needsSnapshot) void askForSnapshot();
  };

  const askForSnapshot = async (): Promise<void> => {
    if (asking || stopped || transport.state() !== 'connected') return;
    asking = true;
    const answer = await transport.request('snapshot.get', {});
    asking = false;
    if (stopped) return;
    if (answer.ok) store.setState(applySnapshot(store.getState(), answer.value, scheduler.nowMs()), true);
    else setTimeout(() => void askForSnapshot(), SNAPSHOT_RETRY_MS);
  };

  const connectionChanged = (): void => {
    // Frames of the connection before have other numbers.
    if (transport.state() === 'connected') waiting = [];
    store.setState(applyConnection(store.getState(), transport.state()), true);
    if (store.getState().needsSnapshot) void askForSnapshot();
  };

  const unsubscribes = [
    transport.onStateChange(connectionChanged),
    transport.onFrame((frame) => {
      waiting.push(frame);
      if (waiting.length > FRAMES_WAITING_MAX) waiting.shift();
      if (scheduled) return;
      scheduled = true;
      scheduler.soon(flush);
    }),
  ];
  connectionChanged();

  return {
    store,
    transport,
    request: (name, params) => transport.request(name, params),
    loadRun: async (runId) => {
      const answer = await transport.request('run.get', { runId });
      if (answer.ok)
        store.setState(applyRun(store.getState(), answer.value.run, answer.value.cells, scheduler.nowMs()), true);
      return answer;
    },
    nowMs: () => scheduler.nowMs(),
    loadLedger: async () => {
      const asked = store.getState().ledger;
      const answer = await transport.request('ledger.get', {});
      if (stopped) return answer;
      const { ledger } = store.getState();
      if (answer.ok) store.setState({ ledger: applyLedgerView(ledger, answer.value, asked, scheduler.nowMs()) });
      else store.setState({ ledger: { ...ledger, denial: answer.denial } });
      return answer;
    },
    takeBalance: (balance) => store.setState({ ledger: applyBalance(store.getState().ledger, balance) }),
    loadAgents: async () => {
      const asked = store.getState().agents;
      const answer = await transport.request('agent.list', {});
      if (answer.ok && !stopped)
        store.setState({ agents: applyAgentList(store.getState().agents, answer.value, asked) });
      return answer;
    },
    loadAgentRun: async (runId) => {
      store.setState({ agents: watchRun(store.getState().agents, runId) });
      const asked = store.getState().agents;
      const answer = await transport.request('agent.get', { runId });
      if (stopped) return answer;
      const { agents } = store.getState();
      store.setState({
        agents: answer.ok ? applyAgentView(agents, answer.value, asked) : refuseAgentView(agents, runId, answer.denial),
      });
      return answer;
    },
    forgetAgentRun: (runId) => store.setState({ agents: forgetRun(store.getState().agents, runId) }),
    raiseNotice: (notice) => {
      const state = store.getState();
      const id = state.noticesRaised + 1;
      store.setState({ noticesRaised: id, notices: [...state.notices.slice(-29), { ...notice, id }] });
    },
    dismissNotice: (id) => {
      store.setState({ notices: store.getState().notices.filter((notice) => notice.id !== id) });
    },
    stop: () => {
      stopped = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
    },
  };
}

/** With the next drawing; a hidden window does not draw, so a timer stands behind it. */
const screenScheduler: FrameScheduler = {
  soon: (run) => {
    let done = false;
    const once = (): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      run();
    };
    const timer = setTimeout(once, 250);
    requestAnimationFrame(once);
  },
  nowMs: () => Date.now(),
};
