/** Agent runs of a console: who is asked, who is stopped, what is bounded, and that nothing is left when it ends. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AgentTaskInput, type Approval, agentTaskSchema } from '../../../shared/contract/agents.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import type { AgentModel } from '../../../shared/engine/agent/model.ts';
import { farmTask } from '../../../shared/engine/agent-lab/farm-task.ts';
import { createBreakers } from '../../../shared/engine/gateway/breaker.ts';
import { type Agents, createAgents } from '../../../shared/node/agent/agents.ts';
import { createWorld } from '../../../shared/node/agent/world.ts';
import { systemClock } from '../../../shared/node/runtime.ts';
import { everything, freshMark, processesWith } from '../mcp/servers.ts';
import { type Console, freshFolder, startConsole, until } from './agent-console.ts';

const asking: AgentTaskInput = {
  ...{ prompt: 'Where is order 1042?', model: 'script:status-asker', tools: ['carrier'] },
  approvalAboveNanoDollars: 0,
};

/** What is asked of a person is answered with what this says; null = nobody answers. */
function answering(at: Console, answer: (approval: Approval) => boolean | null): Approval[] {
  const asked: Approval[] = [];
  at.runtime.subscribe((event) => {
    if (event.type !== 'approval-asked') return;
    asked.push(event.approval);
    const allow = answer(event.approval);
    if (allow !== null) setImmediate(() => void at.ask('agent.approve', { id: event.approval.id, allow }));
  });
  return asked;
}

/** Two levels of delegation, and a call at the bottom of them. */
const handingDown: AgentModel = {
  async turn({ depth, transcript }) {
    const isFirst = transcript.every(({ role }) => role !== 'assistant');
    const call =
      depth < 2 ? ['delegate', { task: 'a part', calls: 10 - depth }] : ['get_shipment_status', { orderId: 1 }];
    return {
      text: isFirst ? '' : 'The part was not done.',
      toolCalls: isFirst ? [{ id: '', name: String(call[0]), argumentsText: JSON.stringify(call[1]) }] : [],
      ...{ promptTokens: null, outputTokens: null, callId: null, failed: null },
    };
  },
};

const waiting = (at: Console): Promise<Approval> => until(async () => (await at.ask('agent.list', {})).approvals[0]);

describe('a person is asked', () => {
  test('a call that may cost too much waits, and runs when it is allowed', async () => {
    const at = await startConsole();
    const asked = answering(at, () => true);
    const { run, calls } = await at.run(asking);
    expect([run.reason, calls.map(({ outcome }) => outcome)]).toEqual(['state-hash', ['done', 'done', 'done']]);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toMatchObject({
      ...{ runId: run.id, kind: 'call', nodeId: 'agent', nanoDollarsWorst: 2_000_000, exhaustion: null },
      call: { tool: 'get_shipment_status', outcome: 'waiting-approval', argumentsHead: '{"orderId":1042}' },
    });
  });

  test('no is a refusal that the model reads; nothing was paid', async () => {
    const at = await startConsole();
    answering(at, () => false);
    const { run, calls, nodes } = await at.run({ ...asking, rounds: 1 });
    expect(calls).toMatchObject([{ outcome: 'refused', code: 'approval-denied', nanoDollars: 0 }]);
    expect([run.totals.toolCalls, nodes[0]?.used.calls]).toEqual([0, 0]);
    expect(at.events.filter(({ type }) => type === 'approval-ended')).toMatchObject([{ allowed: false }]);
  });

  test('what is below the threshold is not asked about', async () => {
    const at = await startConsole();
    const asked = answering(at, () => false);
    const { run } = await at.run({ ...asking, approvalAboveNanoDollars: 2_000_000 });
    expect([run.totals.toolCalls, asked]).toEqual([3, []]);
  });

  test('for more budget once, and not again', async () => {
    const at = await startConsole();
    const asked = answering(at, () => true);
    const task = { ...asking, approvalAboveNanoDollars: null, guards: { stateHash: null, identicalCalls: null } };
    const { run, nodes } = await at.run({
      ...task,
      ...{ guards: { ...task.guards, cycles: null, noProgress: null }, limits: { calls: 2 }, raiseOncePercent: 100 },
    });
    expect([run.reason, run.totals.toolCalls, nodes[0]?.limits.calls]).toEqual(['budget-calls', 4, 4]);
    expect(asked).toMatchObject([{ kind: 'raise', limitAsked: 4, exhaustion: { dimension: 'calls', limit: 2 } }]);
  });

  test('an answer that nobody waits for', async () => {
    const at = await startConsole();
    expect(await at.refused('agent.approve', { id: 'x', allow: true })).toMatchObject({ code: 'not-found' });
  });
});

describe('a stop', () => {
  test('of a run takes back what it asked', async () => {
    const at = await startConsole();
    const runId = await at.begin(asking);
    const { id } = await waiting(at);
    await at.ask('agent.cancel', { runId, nodeId: null });
    const { run, calls } = await at.ended(runId);
    expect([run.state, run.reason, calls[0]?.outcome]).toEqual(['cancelled', 'cancelled', 'refused']);
    expect(at.events).toContainEqual({ type: 'approval-ended', id, allowed: false });
    expect((await at.ask('agent.list', {})).approvals).toEqual([]);
    expect(await at.refused('agent.cancel', { runId, nodeId: null })).toMatchObject({ code: 'not-found' });
  });

  test('of a question for more budget', async () => {
    const at = await startConsole();
    const runId = await at.begin({ ...asking, limits: { nanoDollars: 0 }, raiseOncePercent: 10 });
    expect((await waiting(at)).kind).toBe('raise');
    await at.ask('agent.cancel', { runId, nodeId: 'agent' });
    expect((await at.ended(runId)).run.state).toBe('cancelled');
    expect((await at.ask('agent.list', {})).approvals).toEqual([]);
  });

  test('of one agent leaves the others alone', async () => {
    const at = await startConsole();
    let stopped: string | null = null;
    answering(at, ({ runId, nodeId, id }) => {
      if (nodeId === 'planner' || (stopped !== null && stopped !== nodeId)) return true;
      if (stopped === null) setImmediate(() => void at.ask('agent.cancel', { runId, nodeId }));
      stopped = nodeId;
      void id;
      return null;
    });
    const { run, nodes } = await at.run({ ...farmTask(), approvalAboveNanoDollars: 0 });
    expect(run.state).toBe('ended');
    expect(nodes.find(({ id }) => id === stopped)?.reason).toBe('cancelled');
    const others = nodes.filter(({ id }) => id !== stopped);
    // Another agent of the planner went on to its own end.
    expect(others.filter(({ parentId }) => parentId === 'planner').length).toBeGreaterThan(0);
    expect(others.map(({ reason }) => reason)).not.toContain('cancelled');
    expect(at.events.filter(({ type }) => type === 'approval-asked').length).toBe(
      at.events.filter(({ type }) => type === 'approval-ended').length,
    );
  });

  test('of an agent takes back what those below it asked, and the one above goes on', async () => {
    const events: EngineEvent[] = [];
    const world = createWorld();
    const agents: Agents = createAgents({
      engine: { open: () => denied('bad-input', 'No model here.'), cancel: () => false },
      world: { ...world, scenario: () => ({ model: () => handingDown, rootName: 'root', settings: null }) },
      ...{ breakers: createBreakers(), clock: systemClock, home: { folder: freshFolder() } },
      store: {
        ...{ saveAgentRun: () => ok(null), agentRestart: () => null, agentRun: () => null, agentRuns: () => [] },
        ...{ removeAgentRun: () => ok(null), interruptAgentRuns: () => ok(0) },
      },
      ...{ pace: () => 0, isSimulated: () => true, checkModel: async () => ok(null) },
      emit(event) {
        events.push(event);
        if (event.type !== 'approval-asked') return;
        const { runId, nodeId } = event.approval;
        setImmediate(() => agents.cancel(runId, nodeId.slice(0, nodeId.lastIndexOf('.'))));
      },
    });
    const started = await agents.start(agentTaskSchema.parse({ ...asking, closingCall: false, keepCalls: 0 }));
    if (!started.ok) throw new Error(started.denial.message);
    const view = await agents.ended(started.value.runId);
    expect([view?.run.state, view?.run.answer]).toEqual(['ended', 'The part was not done.']);
    expect(view?.nodes.map(({ depth, reason }) => [depth, reason])).toEqual([
      [0, 'done'],
      [1, 'cancelled'],
      [2, 'cancelled'],
    ]);
    expect(events.filter(({ type }) => type === 'approval-ended')).toMatchObject([{ allowed: false }]);
    // At once, and not only when all is over: a script's clock stands while a person is asked.
    const goesOn = events.findIndex((event) => event.type === 'agent-turn-changed' && event.turn.turn === 2);
    expect(events.findIndex(({ type }) => type === 'approval-ended')).toBeLessThan(goesOn);
  });

  test('of the console ends runs and what they started', async () => {
    const mark = freshMark();
    const at = await startConsole();
    const runId = await at.begin({ ...asking, mcpServers: { everything: everything(mark) } });
    await waiting(at);
    expect(processesWith(mark)).toHaveLength(1);
    await at.runtime.stop();
    expect(processesWith(mark)).toEqual([]);
    const last = at.events.findLast((event) => event.type === 'agent-run-changed' && event.run.id === runId);
    expect(last).toMatchObject({ run: { state: 'cancelled', reason: 'cancelled' } });
  });

  test('of the console while servers are still starting', async () => {
    const mark = freshMark();
    const at = await startConsole();
    const started = at.refused('agent.start', { ...asking, mcpServers: { everything: everything(mark) } });
    await until(() => (processesWith(mark).length > 0 ? true : undefined));
    await at.runtime.stop();
    expect(processesWith(mark)).toEqual([]);
    expect(await started).toMatchObject({ code: 'cancelled' });
  });
});

describe('bounds', () => {
  test('so many runs at once and no more, however they are started', async () => {
    const at = await startConsole();
    const answers = await Promise.allSettled(Array.from({ length: 12 }, () => at.begin(asking)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    expect(await at.refused('agent.start', asking)).toMatchObject({ code: 'busy' });
    const runs = (await at.ask('agent.list', {})).runs;
    expect(runs.map(({ state }) => state)).toEqual(Array.from({ length: 8 }, () => 'running'));
  });

  test('transcripts and outputs are kept of the last runs, rows of all', async () => {
    const at = await startConsole();
    const first = await at.run({ ...asking, approvalAboveNanoDollars: null });
    for (let count = 0; count < 31; count += 1) await at.run({ ...asking, approvalAboveNanoDollars: null });
    expect((await at.ask('agent.list', {})).runs).toHaveLength(32);
    const outputs = join(at.runtime.home.folder, 'agent-outputs');
    await until(() => (readdirSync(outputs).length <= 30 ? true : undefined));
    expect(await at.refused('agent.transcript', { runId: first.run.id, nodeId: 'agent' })).toMatchObject({
      code: 'not-found',
    });
    expect((await at.ask('agent.get', { runId: first.run.id })).calls).toHaveLength(3);
  });
});
