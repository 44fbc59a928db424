/** Every request about agents, the tool-bomb lab and the guard lab, once, with real results. */
import { expect } from 'vitest';
import type { AgentRunView } from '../../shared/contract/agents.ts';
import type { Denial } from '../../shared/contract/denials.ts';
import type { RequestName, RequestParams, RequestResult } from '../../shared/contract/requests.ts';

export interface Asking {
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  refused<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Denial>;
}

export async function askAgents({ ask, refused }: Asking): Promise<void> {
  const presets = await ask('agent.presets', {});
  const bigPage = presets.find(({ name }) => name === 'big-page-reader');
  if (bigPage === undefined) throw new Error('there is a task with a big page');
  // The tasks for a real model have the first one of the server that has tools.
  expect(presets.filter(({ scripted }) => !scripted).map(({ task }) => task.model)).toEqual(
    presets.filter(({ scripted }) => !scripted).map(() => 'sim-loop:latest'),
  );
  const { tools, problems } = await ask('agent.tools', { task: { ...bigPage.task, tools: ['big-page', 'jobs'] } });
  expect([tools.length > 2, problems]).toEqual([true, []]);

  const { runId } = await ask('agent.start', bigPage.task);
  const view = await ended(ask, runId);
  expect(view.run).toMatchObject({ state: 'ended', reason: 'done', answer: 'The code word is MAPLE.' });
  expect((await ask('agent.list', {})).runs.map(({ id }) => id)).toEqual([runId]);
  const { entries, total } = await ask('agent.transcript', { runId, nodeId: 'agent', from: 1, limit: 2 });
  expect([entries.map(({ index, role }) => [index, role]), total > 3]).toEqual([
    [
      [1, 'user'],
      [2, 'assistant'],
    ],
    true,
  ]);
  const handle = view.calls.find((call) => call.handle !== null)?.handle ?? '';
  const page = await ask('agent.blob', { runId, handle, offset: 0 });
  expect([page.bytes > 9_000_000, Buffer.byteLength(page.text)]).toEqual([true, 64_000]);
  expect(await refused('agent.blob', { runId, handle: '../../etc/passwd', offset: 0 })).toMatchObject({
    code: 'not-found',
  });
  const { exportId, rows } = await ask('agent.export', { runId, what: 'calls', options: { format: 'csv' } });
  expect(rows).toBe(view.calls.length);
  expect((await ask('export.read', { exportId })).chunk).toContain(runId);
  expect(await ask('agent.budgets', {})).toEqual([]);

  expect(await refused('agent.resume', { runId })).toMatchObject({ code: 'not-allowed' });
  expect(await refused('agent.cancel', { runId, nodeId: null })).toMatchObject({ code: 'not-found' });
  expect(await refused('agent.approve', { id: 'nobody', allow: true })).toMatchObject({ code: 'not-found' });
  await ask('agent.delete', { runId });
  expect(await refused('agent.get', { runId })).toMatchObject({ code: 'not-found' });
  const { servers } = await ask('agent.readServers', { text: '{"mcpServers": {"files": {"command": "x"}}}' });
  expect(servers).toMatchObject({ files: { command: 'x', args: [] } });
  await askLabs({ ask, refused });
}

async function askLabs({ ask, refused }: Asking): Promise<void> {
  const { id } = await ask('bomb.start', { shape: 'link-farm' });
  const bomb = await until(async () => {
    const found = (await ask('bomb.list', {})).find((one) => one.id === id);
    return found?.state === 'running' ? undefined : found;
  });
  expect(bomb).toMatchObject({ state: 'done', without: { count: 1_976 }, with: { count: 58 } });
  expect(await refused('bomb.cancel', { id })).toMatchObject({ code: 'not-found' });

  const call = (args: string): { tool: string; args: string; result: null } => ({ tool: 'search', args, result: null });
  const compared = await ask('guard.compare', { first: call('{"a":1,"b":2}'), second: call('{"b":2,"a":1}') });
  expect(compared).toMatchObject({ sameCall: true, first: { fault: null } });
}

const ended = (ask: Asking['ask'], runId: AgentRunView['run']['id']): Promise<AgentRunView> =>
  until(async () => {
    const view = await ask('agent.get', { runId });
    return view.run.state === 'running' ? undefined : view;
  });

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let turn = 0; turn < 6_000; turn += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it did not happen');
}
