// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { AgentRunView } from '../../../shared/contract/agents.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { useScreen } from '../../../renderer/stores/screen-store.ts';
import '../../../renderer/pages/agents/agents-page.tsx';
import type { Script } from '../support/fake-transport.ts';
import { drawApp } from '../support/screen.tsx';
import { HOSTILE, agentRunId, atWork, crowdedRun, farmRun } from './make-run.ts';

let farm: AgentRunView;
beforeAll(async () => {
  farm = await farmRun();
});
afterEach(cleanup);

async function draw(view: AgentRunView | null, script: Script = {}, route = '') {
  const app = drawApp(
    {},
    {
      'agent.list': () => ok({ runs: view === null ? [] : [view.run], approvals: [] }),
      'agent.get': () => (view === null ? denied('not-found', 'There is no such agent run.') : ok(view)),
      'agent.cancel': () => ok({}),
      'agent.resume': () => ok({}),
      'agent.start': () => ok({ runId: agentRunId('run-2') }),
      'agent.transcript': () => ok({ entries: [], total: 0 }),
      'bomb.list': () => ok([]),
      ...script,
    },
  );
  location.hash = route === '' ? 'agents' : `agents/${route}`;
  act(() => useScreen.setState({ route: { page: 'agents', id: route } }));
  await screen.findByRole('main', { name: 'Agents' });
  return app;
}

const asked = (app: { transport: { asked: { name: string; params: unknown }[] } }, name: string): unknown[] =>
  app.transport.asked.filter((one) => one.name === name).map(({ params }) => params);

describe('a run that ended', () => {
  test('says what was spent, what ended it, and what is left', async () => {
    await draw(farm);
    await screen.findByText('58 calls');
    screen.getByText('of 60.');
    screen.getByText(
      '205,346 context tokens of 400,000 · 632,994 billed · $0.232 of $2.00 · 93 s of 300 s · 2 calls unspent',
    );
    const tree = screen.getByRole('tree', { name: 'Budget tree' });
    const items = within(tree).getAllByRole('treeitem');
    expect(items.map((item) => item.getAttribute('aria-label')?.split('.  ')[0]?.slice(0, 26))).toEqual([
      'planner, no new text. call',
      'planner.1, calls used up. ',
      'planner.2, calls used up. ',
    ]);
    expect(items[0]?.getAttribute('aria-label')).toContain('calls: 58 calls, of 60: 18 itself, 40 its agents');
    within(tree).getByText('refused at 75 s: asked for 15 calls, nothing left to carve');
    screen.getByText('guard: three steps without new text');
    screen.getByText('25 of 25 calls used');
  });
});
