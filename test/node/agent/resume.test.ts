/** A console that is killed under its agents: what the next one finds, and how a run goes on from there. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentRunId, AgentTaskInput, AgentRunView } from '../../../shared/contract/agents.ts';
import { farmTask } from '../../../shared/engine/agent-lab/farm-task.ts';
import { startChild } from '../../faults/child.ts';
import { type Console, freshFolder, startConsole, until } from './agent-console.ts';

/** Starts a run in a process of its own, kills that while the call after `allowed` others waits, and starts the next console. */
async function killed(
  allowed: number,
  task: AgentTaskInput,
): Promise<{ at: Console; runId: AgentRunId; home: string }> {
  const home = freshFolder();
  const child = startChild('agent-run', home, String(allowed), JSON.stringify(task));
  const line = await child.line();
  await child.kill();
  const runId = /^waiting (.+)$/.exec(line ?? '')?.[1] as AgentRunId;
  return { at: await startConsole({ home, simulate: true }), runId, home };
}

const asking: AgentTaskInput = {
  ...{ prompt: 'Where is order 1042?', model: 'script:status-asker', tools: ['carrier'] },
  approvalAboveNanoDollars: 0,
};

/** Allows what is asked from now on. */
function allowAll(at: Console): void {
  at.runtime.subscribe((event) => {
    if (event.type === 'approval-asked') {
      setImmediate(() => void at.ask('agent.approve', { id: event.approval.id, allow: true }));
    }
  });
}

const rootOf = ({ nodes }: AgentRunView): AgentRunView['nodes'][number] | undefined =>
  nodes.find(({ parentId }) => parentId === null);

describe('killed in mid-run', () => {
  test('it is listed as cut off, and what was under way is charged', async () => {
    const { at, runId } = await killed(2, asking);
    const { notices } = await at.ask('snapshot.get', {});
    expect(notices).toContainEqual({
      level: 'warning',
      text: 'An agent run was cut off when Spillway ended. What it had used is charged.',
      next: 'Resume it on the Agents page.',
    });
    const { runs, approvals } = await at.ask('agent.list', {});
    expect(runs.map(({ id, state, reason }) => [id, state, reason])).toEqual([[runId, 'interrupted', 'interrupted']]);
    expect(approvals).toEqual([]);
    const view = await at.ask('agent.get', { runId });
    // Two calls for a thousandth each, and the worst case of the one that waited.
    expect(rootOf(view)).toMatchObject({
      ...{ state: 'ended', reason: 'interrupted', held: { calls: 0, tokens: 0, nanoDollars: 0 } },
      used: { calls: 3, nanoDollars: 2 * 1_000_000 + 2_000_000 },
    });
    // Nothing of a run that is over runs or waits.
    expect(view.calls.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['done', null],
      ['done', null],
      ['not-run', 'cancelled'],
    ]);
    expect([...view.calls, ...view.turns].filter(({ endedMs }) => endedMs === null)).toEqual([]);
    const { entries } = await at.ask('agent.transcript', { runId, nodeId: 'agent' });
    expect(entries.map(({ role }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
    ]);
  });

  test('it goes on where it stood: the third equal answer is the third', async () => {
    const { at, runId } = await killed(2, { ...asking, guards: { identicalCalls: null } });
    allowAll(at);
    await at.ask('agent.resume', { runId });
    const view = await at.ended(runId);
    expect([view.run.state, view.run.reason]).toEqual(['ended', 'state-hash']);
    expect(view.calls.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['done', null],
      ['done', null],
      ['not-run', 'cancelled'],
      ['done', null],
    ]);
    // Nothing was refilled: the call that was cut off stays charged.
    expect(rootOf(view)?.used).toMatchObject({ calls: 4, nanoDollars: 3 * 1_000_000 + 2_000_000 });
    expect(view.trips.find(({ stage }) => stage === 'stop')).toMatchObject({ guard: 'state-hash', count: 3, limit: 2 });
    const { entries } = await at.ask('agent.transcript', { runId, nodeId: 'agent' });
    const results = entries.filter(({ role }) => role === 'tool');
    expect(results.map(({ ran }) => ran)).toEqual([true, true, false, true]);
    expect(results[2]?.content).toContain('the console ended while this was under way');
    expect(await at.refused('agent.resume', { runId })).toMatchObject({ code: 'not-allowed' });
  });

  test('a call that may have been made counts as made: the next equal one is the fourth', async () => {
    const { at, runId } = await killed(2, asking);
    allowAll(at);
    await at.ask('agent.resume', { runId });
    const { calls, trips } = await at.ended(runId);
    expect(calls[3]).toMatchObject({ outcome: 'refused', code: 'identical-call' });
    expect(trips.find(({ guard }) => guard === 'identical-calls')).toMatchObject({
      stage: 'block',
      count: 4,
      limit: 3,
    });
  });

  test('a budget that had room for the call that was cut off has none for another', async () => {
    const { at, runId } = await killed(1, { ...asking, limits: { calls: 2 } });
    allowAll(at);
    await at.ask('agent.resume', { runId });
    const view = await at.ended(runId);
    expect([view.run.reason, view.run.totals.toolCalls]).toEqual(['budget-calls', 1]);
    expect(rootOf(view)).toMatchObject({ used: { calls: 2 }, exhaustion: { dimension: 'calls', used: 2, limit: 2 } });
  });

  test('agents below the root are over, and what they had left is back with the root', async () => {
    const { at, runId } = await killed(30, { ...farmTask(), approvalAboveNanoDollars: 0 });
    const before = await at.ask('agent.get', { runId });
    const children = before.nodes.filter(({ parentId }) => parentId !== null);
    expect(children.length).toBeGreaterThan(0);
    expect(before.nodes.every(({ state }) => state === 'ended')).toBe(true);
    expect(children.some(({ reason }) => reason === 'interrupted')).toBe(true);
    const used = before.nodes.reduce((sum, node) => sum + node.used.calls, 0);
    const root = rootOf(before);
    expect((root?.used.calls ?? 0) + (root?.carved.calls ?? 0)).toBe(used);
    allowAll(at);
    await at.ask('agent.resume', { runId });
    const after = await at.ended(runId);
    expect(after.run.state).toBe('ended');
    const nodesUsed = after.nodes.reduce((sum, node) => sum + node.used.calls, 0);
    expect(nodesUsed).toBeGreaterThanOrEqual(used);
    expect(nodesUsed).toBeLessThanOrEqual(root?.limits.calls ?? 0);
    for (const { id, state } of after.nodes) expect([id, state]).toEqual([id, 'ended']);
  });

  test('a model of a server goes on as well, with a ledger that knows what was sent', async () => {
    const { at, runId } = await killed(1, { ...asking, model: 'sim-loop', guards: { identicalCalls: null } });
    allowAll(at);
    await at.ask('agent.resume', { runId });
    const { run, turns } = await at.ended(runId);
    expect([run.state, run.reason, run.totals.toolCalls, run.totals.modelTurns]).toEqual(['ended', 'state-hash', 3, 4]);
    const { reservations } = await at.ask('ledger.get', {});
    expect(reservations.map(({ state }) => state)).toEqual(turns.map(() => 'settled'));
    expect(await at.ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0 });
  });

  test('without its server it cannot go on yet, and loses nothing by the attempt', async () => {
    const { at, runId, home } = await killed(1, { ...asking, model: 'sim-loop' });
    await at.ask('simulator.stop', {});
    expect(await at.refused('agent.resume', { runId })).toMatchObject({ code: 'no-server' });
    expect((await at.ask('agent.get', { runId })).run.state).toBe('interrupted');
    expect(existsSync(join(home, 'agent-outputs', runId))).toBe(true);
  });

  test('a person deletes it: row and outputs are gone', async () => {
    const { at, runId, home } = await killed(0, asking);
    expect(existsSync(join(home, 'agent-outputs', runId))).toBe(true);
    await at.ask('agent.delete', { runId });
    expect((await at.ask('agent.list', {})).runs).toEqual([]);
    expect(readdirSync(join(home, 'agent-outputs'))).toEqual([]);
    expect(await at.refused('agent.resume', { runId })).toMatchObject({ code: 'not-found' });
  });
});

test('outputs of runs that are over are gone at the next start', async () => {
  const home = freshFolder();
  const first = await startConsole({ home, simulate: true });
  const { run } = await first.run({ model: 'script:big-page-reader', tools: ['big-page'] });
  const folder = join(home, 'agent-outputs', run.id);
  await until(() => (existsSync(folder) ? true : undefined));
  await first.runtime.stop();
  const second = await startConsole({ home });
  expect(existsSync(folder)).toBe(false);
  expect((await second.ask('agent.get', { runId: run.id })).run).toMatchObject({ state: 'ended', reason: run.reason });
  expect(await second.refused('agent.transcript', { runId: run.id, nodeId: 'agent' })).toMatchObject({
    code: 'not-found',
  });
});
