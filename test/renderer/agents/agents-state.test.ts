/** What events do to the slice of agent runs, and how a view is laid under what came meanwhile. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { AgentRunView, Approval, GatewayCall } from '../../../shared/contract/agents.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { newestAgentRun } from '../../../renderer/stores/agents-feed.ts';
import {
  AGENT_CALLS_MAX,
  AGENT_DETAILS_MAX,
  applyAgentEvents,
  applyAgentList,
  applyAgentView,
  emptyAgents,
  emptyDetail,
  forgetRun,
  watchRun,
} from '../../../renderer/stores/agents-state.ts';
import type { AgentsSlice } from '../../../renderer/stores/agents-state.ts';
import { agentRunId, atWork, farmRun } from './make-run.ts';

let farm: AgentRunView;
let work: AgentRunView;
beforeAll(async () => {
  farm = await farmRun();
  work = atWork(farm);
});

const runChanged = ({ run, nodes, breakers }: AgentRunView): EngineEvent => ({
  type: 'agent-run-changed',
  run,
  nodes,
  breakers,
});
const callChanged = (call: GatewayCall): EngineEvent => ({ type: 'agent-call-changed', runId: farm.run.id, call });
const detailOf = (slice: AgentsSlice) => slice.details.get(farm.run.id) ?? emptyDetail;
const callOf = (view: AgentRunView, index = 0): GatewayCall => view.calls[index] as GatewayCall;

describe('events', () => {
  test('a run that nobody watches is known in short only', () => {
    const slice = applyAgentEvents(emptyAgents, [runChanged(work), callChanged(callOf(farm))]);
    expect([slice.runs.get(farm.run.id), slice.details.size]).toEqual([work.run, 0]);
  });

  test('a run that is watched grows; a call that ends keeps its place', () => {
    const [first, second] = [callOf(farm), callOf(farm, 1)];
    const slice = applyAgentEvents(watchRun(emptyAgents, farm.run.id), [
      runChanged(work),
      callChanged({ ...first, outcome: 'running', endedMs: null }),
      callChanged(second),
      callChanged(first),
    ]);
    expect([...detailOf(slice).calls.values()]).toEqual([first, second]);
    expect([...detailOf(slice).nodes.keys()]).toEqual(['planner', 'planner.1', 'planner.2']);
  });

  test('leave what came in alone, and others than those of agents change nothing', () => {
    const before = watchRun(emptyAgents, farm.run.id);
    applyAgentEvents(before, [runChanged(work), callChanged(callOf(farm))]);
    expect([before.runs.size, detailOf(before).calls.size]).toEqual([0, 0]);
    expect(applyAgentEvents(before, [{ type: 'notice-raised', level: 'info', text: 'x', next: null }])).toBe(before);
  });

  test('calls are bounded, the oldest go and are counted', () => {
    const many = Array.from({ length: AGENT_CALLS_MAX + 7 }, (_, index) =>
      callChanged({ ...callOf(farm), id: `c${index}` }),
    );
    const detail = detailOf(applyAgentEvents(watchRun(emptyAgents, farm.run.id), many));
    expect([detail.calls.size, detail.callsDropped, detail.calls.keys().next().value]).toEqual([
      AGENT_CALLS_MAX,
      7,
      'c7',
    ]);
  });

  test('a trip and an end are news, each once', () => {
    const trip = farm.trips[0];
    if (trip === undefined) throw new Error('the farm trips a guard');
    const slice = applyAgentEvents(emptyAgents, [
      runChanged(work),
      { type: 'agent-guard-tripped', runId: farm.run.id, trip },
      runChanged(farm),
      runChanged(farm),
    ]);
    expect(slice.newsCount).toBe(2);
  });

  test('only a few runs are kept whole', () => {
    let slice = emptyAgents;
    for (let index = 0; index < 10; index += 1) slice = watchRun(slice, agentRunId(`run-${index}`));
    expect([...slice.details.keys()].map(String)).toEqual(['run-6', 'run-7', 'run-8', 'run-9']);
    expect(slice.details.size).toBe(AGENT_DETAILS_MAX);
  });
});

describe('a view that was asked for', () => {
  test('lies under what events told meanwhile', () => {
    const watched = watchRun(emptyAgents, farm.run.id);
    const done = callOf(farm);
    const later = applyAgentEvents(watched, [callChanged(done)]);
    const old: AgentRunView = { ...work, calls: [{ ...done, outcome: 'running', endedMs: null }], trips: [] };
    const detail = detailOf(applyAgentView(later, old, watched));
    expect([...detail.calls.values()]).toEqual([done]);
    expect([detail.loaded, detail.nodes.size]).toEqual([true, 3]);
  });

  test('does not let a run go on that has ended meanwhile; one that was cut off may', () => {
    const watched = applyAgentEvents(watchRun(emptyAgents, farm.run.id), [runChanged(work)]);
    const ended = applyAgentEvents(watched, [runChanged(farm)]);
    expect(applyAgentView(ended, work, watched).runs.get(farm.run.id)?.state).toBe('ended');
    const cut = { ...farm, run: { ...farm.run, state: 'interrupted' as const } };
    const before = applyAgentEvents(watchRun(emptyAgents, farm.run.id), [runChanged(cut)]);
    expect(applyAgentView(before, work, before).runs.get(farm.run.id)?.state).toBe('running');
  });

  test('does not tell a trip twice', () => {
    const watched = watchRun(emptyAgents, farm.run.id);
    const trip = farm.trips[0];
    if (trip === undefined) throw new Error('the farm trips a guard');
    const later = applyAgentEvents(watched, [{ type: 'agent-guard-tripped', runId: farm.run.id, trip }]);
    expect(detailOf(applyAgentView(later, farm, watched)).trips).toEqual(farm.trips);
  });

  test('of a run that is watched no more is dropped', () => {
    expect(applyAgentView(emptyAgents, farm, emptyAgents)).toBe(emptyAgents);
  });
});

describe('the list', () => {
  const approval = (id: string): Approval => ({
    id,
    runId: farm.run.id,
    kind: 'call',
    nodeId: 'planner',
    call: callOf(farm),
    nanoDollarsWorst: null,
    exhaustion: null,
    limitAsked: null,
  });

  test('an answer that was on its way does not bring back what was answered, nor lose what was asked', () => {
    const asked = applyAgentEvents(emptyAgents, [{ type: 'approval-asked', approval: approval('old') }]);
    const now = applyAgentEvents(asked, [
      { type: 'approval-ended', id: 'old', allowed: true },
      { type: 'approval-asked', approval: approval('new') },
    ]);
    const slice = applyAgentList(now, { runs: [work.run], approvals: [approval('old')] }, asked);
    expect([...slice.approvals.keys()]).toEqual(['new']);
    expect(slice.loaded).toBe(true);
  });

  test('a run that ended meanwhile stays ended', () => {
    const now = applyAgentEvents(emptyAgents, [runChanged(farm)]);
    expect(applyAgentList(now, { runs: [work.run], approvals: [] }, emptyAgents).runs.get(farm.run.id)?.state).toBe(
      'ended',
    );
  });

  test('what runs is shown first, else the newest; a deleted one is forgotten', () => {
    const older = { ...work.run, id: agentRunId('older'), startedAt: '2026-11-29T10:00:00.000Z' };
    expect(newestAgentRun([older, farm.run])).toBe('older');
    expect(newestAgentRun([{ ...older, state: 'ended' }, farm.run])).toBe(farm.run.id);
    expect(newestAgentRun([])).toBeNull();
    const slice = applyAgentEvents(watchRun(emptyAgents, farm.run.id), [runChanged(farm)]);
    expect([forgetRun(slice, farm.run.id).runs.size, forgetRun(slice, farm.run.id).details.size]).toEqual([0, 0]);
  });
});
