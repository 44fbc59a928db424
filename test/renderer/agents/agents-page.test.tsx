// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { AgentRunView, Approval, Bomb, GatewayCall } from '../../../shared/contract/agents.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { useScreen } from '../../../renderer/stores/screen-store.ts';
import '../../../renderer/pages/agents/agents-page.tsx';
import type { Script } from '../support/fake-transport.ts';
import { makeServer, makeSnapshot } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';
import { agentRunId, atWork, crowdedRun, farmRun } from './make-run.ts';

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

describe('before the first run', () => {
  test('ready tasks stand with what they show and cost; one press starts one, and its page is shown', async () => {
    const preset = {
      name: 'farm',
      title: 'Link farm',
      shows: 'A site that wants all of itself read.',
      scripted: true,
      task: farm.run.task,
    };
    const app = await draw(null, { 'agent.presets': () => ok([preset]) });
    await screen.findByText('A site that wants all of itself read.');
    screen.getByText('60 calls at most');
    fireEvent.click(screen.getByRole('button', { name: 'Run Link farm' }));
    await waitFor(() => expect(asked(app, 'agent.start')).toEqual([farm.run.task]));
    await waitFor(() => expect(location.hash).toBe('#agents/run-2'));
  });

  test('a task for a model waits for a server', async () => {
    const preset = { name: 'm', title: 'With files', shows: 'It reads.', scripted: false, task: farm.run.task };
    await draw(null, {
      'agent.presets': () => ok([preset]),
      'snapshot.get': () => ok(makeSnapshot({ server: makeServer({ state: 'down' }) })),
    });
    const run = await screen.findByRole('button', { name: 'Run With files' });
    expect((run as HTMLButtonElement).disabled).toBe(true);
    screen.getByText('No server answers yet.');
  });
});

describe('a run that ended', () => {
  test('says what was spent, what ended it, and what is left', async () => {
    await draw(farm);
    await screen.findByText('of 60.');
    screen.getByText('58 calls');
    screen.getByText('205,346 context tokens of 400,000 · $0.232 of $2.00 · 93 s of 300 s · 2 calls unspent');
    screen.getByText('632,994 billed tokens');
    screen.getByText('scripted model · virtual time');
    const tree = screen.getByRole('tree', { name: 'Budget tree' });
    const items = within(tree).getAllByRole('treeitem');
    expect(items.map((item) => item.getAttribute('aria-label')?.split('. calls')[0])).toEqual([
      'planner, no new text',
      'planner.1, calls used up',
      'planner.2, calls used up',
    ]);
    expect(items[0]?.getAttribute('aria-label')).toContain('calls: 58 calls, of 60: 18 itself, 40 its agents');
    within(tree).getByText('refused at 75 s: asked for 15 calls, nothing left to carve');
    screen.getByText('guard: three steps without new text');
    screen.getByText('25 of 25 used');
    screen.getByText('no new text stopped planner at 90 s, 1 more');
  });

  test('names what the same task comes to without budgets, where a lab has run it', async () => {
    const bomb: Bomb = {
      id: 'b',
      shape: 'link-farm',
      title: 'Link farm',
      unit: 'tool calls',
      without: { runId: agentRunId('x'), count: 1_976, secondCount: null },
      with: { runId: farm.run.id, count: 58, secondCount: null },
      secondUnit: null,
      state: 'done',
    };
    await draw(farm, { 'bomb.list': () => ok([bomb]) });
    await screen.findByText('of 60. The same task without budgets: 1,976.');
  });

  test('an agent opens its receipt: limit = used + held + its agents + left', async () => {
    await draw(farm);
    fireEvent.click((await screen.findAllByRole('treeitem'))[0] as HTMLElement);
    const pane = screen.getByRole('complementary', { name: 'Details of planner' });
    const rows = within(within(pane).getByRole('table', { name: 'Receipt' })).getAllByRole('row');
    const cells = (row: HTMLElement | undefined): (string | null)[] =>
      row === undefined ? [] : [...row.children].map((cell) => cell.textContent);
    expect(cells(rows[1])).toEqual(['calls', '60', '18', '0', '40', '2']);
    expect(cells(rows[2])).toEqual(['tokens', '400,000', '62,149', '0', '143,197', '194,654']);
    fireEvent.keyDown(document.body, { key: 'ArrowDown' });
    screen.getByText('calls: 18 used, 7 held of 25; 1 more asked for.');
    fireEvent.keyDown(document.body, { key: 'Escape' });
    expect(screen.queryByRole('complementary')).toBeNull();
  });

  test('a call opens its evidence and the whole output behind its handle, page by page', async () => {
    const app = await draw(farm, {
      'agent.blob': ({ offset }) =>
        ok({
          text: offset === 0 ? 'first page, and screen' : 'second page',
          nextOffset: offset === 0 ? 64_000 : null,
          bytes: 70_000,
        }),
    });
    const call = farm.calls.find(({ handle, nodeId }) => handle !== null && nodeId === 'planner');
    fireEvent.click(await screen.findByRole('button', { name: `blob ${call?.handle ?? ''}` }));
    const dialog = await screen.findByRole('dialog', { name: `Output ${call?.handle ?? ''}` });
    await within(dialog).findByText('bytes 0 to 64,000 of 70,000');
    fireEvent.change(within(dialog).getByLabelText('Find in this page'), { target: { value: 'SCREEN' } });
    within(dialog).getByText('1 of 1 place');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Next page' }));
    await within(dialog).findByText('bytes 64,000 to 70,000 of 70,000');
    expect(asked(app, 'agent.blob')).toEqual([
      { runId: farm.run.id, handle: call?.handle, offset: 0 },
      { runId: farm.run.id, handle: call?.handle, offset: 64_000 },
    ]);
  });

  test('runs again with its own task', async () => {
    const app = await draw(farm);
    fireEvent.click(await screen.findByRole('button', { name: 'Run again, 60 calls at most' }));
    await waitFor(() => expect(asked(app, 'agent.start')).toEqual([farm.run.task]));
  });

  test('a refusal to start is said with its next step', async () => {
    await draw(farm, { 'agent.start': () => denied('busy', '8 agent runs are under way.', { next: 'Stop one.' }) });
    fireEvent.click(await screen.findByRole('button', { name: /^Run again/u }));
    await screen.findByText('8 agent runs are under way.');
    screen.getByText('Stop one.');
  });

  test('a run that is not there says so, and leads on', async () => {
    await draw(null, {}, 'gone');
    await screen.findByText('There is no such agent run.');
    screen.getByRole('button', { name: 'Show the newest run' });
  });
});

describe('a run under way', () => {
  test('grows with events and stops where it was started: one agent, or all', async () => {
    const view = atWork(farm);
    const app = await draw({ ...view, calls: [], turns: [], trips: [] });
    await screen.findByText('58 calls');
    const call = farm.calls.find(({ tool }) => tool === 'search');
    if (call === undefined) throw new Error('the farm is searched');
    act(() => app.transport.emit({ type: 'agent-call-changed', runId: view.run.id, call }));
    await screen.findByText('search X-200 opinions planner');
    fireEvent.click(screen.getByRole('button', { name: 'Stop planner.1' }));
    fireEvent.click(screen.getByRole('button', { name: 'Stop all' }));
    await waitFor(() =>
      expect(asked(app, 'agent.cancel')).toEqual([
        { runId: view.run.id, nodeId: 'planner.1' },
        { runId: view.run.id, nodeId: null },
      ]),
    );
    app.transport.script['agent.get'] = () => ok(farm);
    act(() => app.transport.emit({ type: 'agent-run-changed', run: farm.run, nodes: farm.nodes, breakers: [] }));
    await screen.findByRole('button', { name: 'Run again, 60 calls at most' });
    // Once more at its end: what the last frames told may have been less than all.
    await waitFor(() => expect(asked(app, 'agent.get').length).toBeGreaterThan(1));
  });

  test('one that was cut off can go on', async () => {
    const cut = { ...farm, run: { ...farm.run, state: 'interrupted' as const, reason: 'interrupted' as const } };
    const app = await draw(cut);
    fireEvent.click(await screen.findByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(asked(app, 'agent.resume')).toEqual([{ runId: farm.run.id }]));
  });

  test('one that failed says why, in its words', async () => {
    const failed = {
      ...farm,
      run: {
        ...farm.run,
        state: 'failed' as const,
        reason: 'model-failed' as const,
        problem: 'The server answered 500.',
        openLeases: 2,
      },
    };
    await draw(failed);
    await screen.findByText('The server answered 500.');
    screen.getByText('2 leases still open: work outside of the run goes on.');
  });
});

describe('what waits for a person', () => {
  const approval = (view: AgentRunView): Approval => ({
    id: 'ask-1',
    runId: view.run.id,
    kind: 'call',
    nodeId: 'planner',
    call: { ...(view.calls[0] as GatewayCall), outcome: 'waiting-approval' },
    nanoDollarsWorst: 4_000_000,
    exhaustion: null,
    limitAsked: null,
  });

  test('is asked on every page, and goes when somebody has answered', async () => {
    const app = await draw(atWork(farm), { 'agent.approve': () => ok({}) });
    act(() => useScreen.setState({ route: { page: 'live', id: '' } }));
    act(() => app.transport.emit({ type: 'approval-asked', approval: approval(farm) }));
    const bar = await screen.findByRole('alert', { name: 'An agent asks' });
    expect(bar.textContent).toContain('at most $0.004 · search {"query":"X-200 opinions planner"}');
    within(bar).getByRole('button', { name: 'Show the run' });
    const deny = within(bar).getByRole<HTMLButtonElement>('button', { name: 'Deny' });
    await waitFor(() => expect(deny.disabled).toBe(false));
    fireEvent.click(deny);
    await waitFor(() => expect(asked(app, 'agent.approve')).toEqual([{ id: 'ask-1', allow: false }]));
    act(() => app.transport.emit({ type: 'approval-ended', id: 'ask-1', allowed: false }));
    await waitFor(() => expect(screen.queryByRole('alert', { name: 'An agent asks' })).toBeNull());
  });
});

describe('a crowd', () => {
  test('40 agents, 5,000 calls and hostile names are text, few elements, and no markup', async () => {
    const crowd = crowdedRun(farm, 40, 5_000);
    await draw(crowd);
    await screen.findByText('5,000 rows', { exact: false });
    expect(document.querySelector('img')).toBeNull();
    expect(within(screen.getByRole('tree')).getAllByRole('treeitem').length).toBeLessThan(40);
    expect(screen.getByRole('grid', { name: 'Transcript' }).querySelectorAll('[role=row]').length).toBeLessThan(60);
    // Boxes of one look are one path: elements grow with agents, not with calls.
    expect(screen.getByRole('application').querySelectorAll('*').length).toBeLessThan(1_000);
  });
});

describe('the keyboard', () => {
  test('goes from call to call in the lanes, names each, and opens one', async () => {
    await draw(farm);
    await screen.findAllByRole('treeitem');
    const chart = screen.getByRole('application');
    fireEvent.keyDown(chart, { key: 'ArrowRight' });
    expect(chart.parentElement?.textContent).toContain('search X-200 opinions planner · done · step 1, 3 s');
    fireEvent.keyDown(chart, { key: 'ArrowRight' });
    expect(chart.parentElement?.textContent).toContain('fetch list 1 · done · step 2, 8 s');
    fireEvent.keyDown(chart, { key: 'Enter' });
    screen.getByRole('complementary', { name: 'Details of fetch list 1' });
  });

  test('g a leads here, and a guard that trips elsewhere leaves a dot', async () => {
    const app = await draw(atWork(farm));
    act(() => useScreen.setState({ route: { page: 'live', id: '' } }));
    const [trip] = farm.trips;
    if (trip === undefined) throw new Error('the farm trips a guard');
    act(() => app.transport.emit({ type: 'agent-guard-tripped', runId: farm.run.id, trip }));
    await screen.findByRole('img', { name: 'a guard tripped or a run ended' });
    fireEvent.keyDown(document.body, { key: 'g' });
    fireEvent.keyDown(document.body, { key: 'a' });
    await waitFor(() => expect(location.hash).toBe('#agents'));
  });
});
