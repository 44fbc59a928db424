// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentTaskInput } from '../../../shared/contract/agents.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { TaskForm } from '../../../renderer/pages/agents/task-form.tsx';
import { firstTaskDraft, useTaskDraft } from '../../../renderer/pages/agents/task-store.ts';
import type { Script } from '../support/fake-transport.ts';
import { drawPart, makePreset, makeTask } from './draw.tsx';

afterEach(cleanup);
beforeEach(() => useTaskDraft.setState(firstTaskDraft, true));

const tool = {
  name: 'get_shipment_status',
  source: 'carrier',
  description: 'Looks up where the parcel of an order is.',
  parameters: {},
  nanoDollarsWorst: 2_000_000,
  latencyMsUsual: 400,
  outputBytesUsual: 200,
  sideEffect: false,
  polls: true,
  timeoutMs: 30_000,
  attemptsMax: 3,
  callsMax: null,
  approval: false,
};
const started: AgentTaskInput[] = [];
const script: Script = {
  'agent.presets': () => ok([makePreset('carrier'), makePreset('clock', { tools: ['clock'] })]),
  'agent.tools': () => ok({ tools: [tool], problems: [] }),
};
const form = (more: Script = {}, props: { start?: AgentTaskInput; busy?: boolean } = {}) => {
  started.length = 0;
  return drawPart(<TaskForm busy={false} onStart={(task) => started.push(task)} {...props} />, { ...script, ...more });
};
const type = (label: string | RegExp, value: string): void => {
  fireEvent.change(screen.getByLabelText(label, { selector: 'input,textarea,select' }), { target: { value } });
};
const press = (name: string | RegExp): void => {
  fireEvent.click(screen.getByRole('button', { name }));
};
const start = (): HTMLButtonElement => screen.getByRole<HTMLButtonElement>('button', { name: 'Start' });
const said = (): string => screen.getByRole('status').textContent ?? '';

test('it begins with the first preset, says what it may take at most, and starts what the boxes say', async () => {
  await form();
  await waitFor(() => expect(said()).toMatch(/^At most 60 calls, 400,000 context tokens, \$2\.00, 300 s\./));
  type('Begin with', 'clock');
  type('Calls', '12');
  type('Money, dollars', '0.5');
  type('Agents in all', '');
  await waitFor(() => expect(said()).toMatch(/^At most 12 calls, 400,000 context tokens, \$0\.50, 300 s\./));
  press('Start');
  expect(started).toHaveLength(1);
  expect(started[0]).toMatchObject({
    name: 'clock',
    model: 'script:clock',
    tools: ['clock'],
    limits: { calls: 12, nanoDollars: 500_000_000, descendants: null },
  });
});

test('what is wrong stands at its field and below, and nothing starts', async () => {
  await form();
  await waitFor(() => expect(start().disabled).toBe(false));
  type('Calls', 'many');
  expect(screen.getByRole('alert').textContent).toBe('Calls must be a whole number, or empty.');
  expect(screen.getByLabelText('Calls', { selector: 'input' }).getAttribute('aria-invalid')).toBe('true');
  expect(said()).toBe('Calls must be a whole number, or empty.');
  expect(start().disabled).toBe(true);
  fireEvent.submit(screen.getByRole('form', { name: 'Task' }));
  expect(started).toEqual([]);
});

test('busy: nothing is started a second time', async () => {
  await form({}, { busy: true });
  await waitFor(() => expect(said()).toMatch(/^At most/));
  expect(start().disabled).toBe(true);
  fireEvent.submit(screen.getByRole('form', { name: 'Task' }));
  expect(started).toEqual([]);
});

test('tools: asked for as they are chosen, with price, time and what to know', async () => {
  const { transport } = await form();
  const table = within(await screen.findByRole('table', { name: 'Tools of the task' }));
  const cells = table.getAllByRole('cell').map((cell) => cell.textContent);
  expect(cells).toEqual(['get_shipment_status', 'carrier', '$0.002', '400 ms', '200 B', 'polls3 tries']);
  fireEvent.click(screen.getByLabelText(/^jobs/));
  await waitFor(() => {
    const asked = transport.asked.filter(({ name }) => name === 'agent.tools').at(-1);
    expect(asked?.params).toMatchObject({ task: { tools: ['carrier', 'jobs'] } });
  });
});

test('MCP servers: faults are named, what is read is listed, and they are started only when asked', async () => {
  const servers = {
    files: { command: 'npx', args: ['server-filesystem'], env: {}, memoryMegabytesMax: 1_024, network: true },
  };
  const readServers = vi.fn(
    () => denied('bad-input', 'mcpServers.files.command must be a text.', { next: 'Name the program.' }) as never,
  );
  const { transport } = await form({ 'agent.readServers': readServers });
  await screen.findByRole('table', { name: 'Tools of the task' });
  type('MCP servers, JSON', '{"mcpServers":{"files":{"command":7}}}');
  press('Read');
  expect((await screen.findByRole('alert')).textContent).toBe(
    'mcpServers.files.command must be a text. Name the program.',
  );
  transport.script['agent.readServers'] = () => ok({ servers });
  const asked = (): number => transport.asked.filter(({ name }) => name === 'agent.tools').length;
  const before = asked();
  press('Read');
  const list = within(await screen.findByRole('list', { name: 'MCP servers' }));
  expect(list.getByText('npx server-filesystem')).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
  expect(asked()).toBe(before);
  press('Ask the servers for their tools');
  await waitFor(() => expect(asked()).toBe(before + 1));
  expect(transport.asked.at(-1)?.params).toMatchObject({ task: { mcpServers: servers } });
  press('Start');
  expect(started[0]).toMatchObject({ mcpServers: servers });
});

test('guards: off is null, numbers and lists are kept', async () => {
  await form();
  await waitFor(() => expect(start().disabled).toBe(false));
  fireEvent.click(screen.getByLabelText('Cycles'));
  type('repeats allowed', '5');
  type('When a guard fires', 'stop');
  type('Exempt tools', 'a, b');
  type('Ignored fields, one tool a line', 'list: cursor');
  press('Start');
  expect(started[0]?.guards).toMatchObject({
    cycles: null,
    stateHash: { maxRepeats: 5 },
    ladder: 'stop',
    exempt: ['a', 'b'],
    ignoredFields: { list: ['cursor'] },
  });
});

test('a class that has run often enough proposes limits, and they are taken only by a press', async () => {
  const proposed = { calls: 22, tokens: 80_000, nanoDollars: 40_000_000, wallClockMs: 9_000 };
  await form({
    'agent.budgets': () =>
      ok([{ taskClass: 'orders', runs: 15, runsDone: 14, proposed, headroomPercent: 25, enough: true }]),
  });
  await waitFor(() => expect(start().disabled).toBe(false));
  type('Class of tasks', 'orders');
  await screen.findByText('p99 of 14 good runs + 25 %: 22 calls, 80,000 tokens, $0.04, 9 s');
  expect(said()).toContain('60 calls');
  press('Take it');
  await waitFor(() => expect(said()).toMatch(/^At most 22 calls, 80,000 context tokens, \$0\.04, 9 s\./));
});

test('a task that is handed in stands in the boxes; the same one again does not wipe what was typed', async () => {
  const task = makeTask({ name: 'once more', prompt: 'Again.' });
  const drawn = await form({}, { start: task });
  expect(await screen.findByDisplayValue('Again.')).toBeTruthy();
  type('Name', 'changed');
  drawn.unmount();
  await form({}, { start: { ...task } });
  expect(await screen.findByDisplayValue('changed')).toBeTruthy();
});

test('models: scripts of the presets and models of the server that can call tools', async () => {
  await form();
  await waitFor(() => expect(start().disabled).toBe(false));
  fireEvent.click(screen.getByRole('combobox', { name: 'Model' }));
  const options = within(await screen.findByRole('listbox'))
    .getAllByRole('option')
    .map((option) => option.textContent ?? '');
  expect(options.map((option) => option.replace(/script, virtual.*|268M.*/, ''))).toEqual([
    'script:carrier',
    'script:clock',
    'llama3.2:3b',
  ]);
  fireEvent.click(screen.getByRole('option', { name: /llama3/ }));
  await waitFor(() => expect(said()).not.toContain('Scripted'));
});

test('a preset for a real model takes one of the server that can call tools', async () => {
  const real = { ...makePreset('real', { model: 'choose a model with tools' }), scripted: false };
  await form({ 'agent.presets': () => ok([real]) });
  await waitFor(() => expect(start().disabled).toBe(false));
  press('Start');
  expect(started[0]).toMatchObject({ name: 'real', model: 'llama3.2:3b' });
});

test('without presets the form still stands, and says why', async () => {
  await form({ 'agent.presets': () => denied('unsupported', 'No agents here.', { next: 'Update the console.' }) });
  expect((await screen.findByText('No agents here. Update the console.')).getAttribute('role')).toBe('alert');
  expect(start().disabled).toBe(true);
});
