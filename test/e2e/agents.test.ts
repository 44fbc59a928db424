/** Agent runs as a workshop sees them: the link farm to its end, bombs, stops, questions to a person, a kill, the labs, the form. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import type { AgentRunId, AgentTaskInput } from '../../shared/contract/agents.ts';
import { type Simulator, startSimulator } from '../../shared/node/simulator/index.ts';
import type { Brain, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { type Screen, useConsole } from './console.ts';
import { exportCsv, until } from './steps.ts';

const spillway = useConsole();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const tree = (page: Page): Locator => page.getByRole('tree', { name: 'Budget tree' });
const node = (page: Page, name: RegExp): Locator => tree(page).getByRole('treeitem', { name });
const transcript = (page: Page): Locator => page.getByRole('grid', { name: 'Transcript' });
const question = (page: Page): Locator => page.getByRole('alert', { name: 'An agent asks' });

test('the link farm from the empty page: 58 of 60, who ended why, whole outputs, rows; and again after a restart', async () => {
  const { host, screen } = await started({ timeScale: 0 });
  const page = await spillway.open(`${host.link}#agents`);
  await page.getByText('No agent run yet').waitFor();
  await page.getByRole('button', { name: 'Run Link farm' }).click();
  await seeFarm(page);

  // The trip names the calls that it rests on, and they are marked.
  await page
    .getByText(/^Stopped: /)
    .first()
    .waitFor();
  await page.getByText('cut to 16,000 of 24,000 bytes').first().waitFor();

  // A whole output, page by page.
  await transcript(page)
    .getByRole('button', { name: /^blob / })
    .last()
    .click();
  const blob = page.getByRole('dialog', { name: /^Output / });
  await blob.getByText('bytes 0 to 24,000 of 24,000').waitFor();
  await page.keyboard.press('Escape');
  await blob.waitFor({ state: 'detached' });

  const runId = (await screen.ask('agent.list', {})).runs[0]?.id as AgentRunId;
  const rows = await exportCsv(page);
  const executed = rows.filter(({ tool, outcome }) => tool !== 'delegate' && outcome === 'done');
  const { run } = await screen.ask('agent.get', { runId });
  expect(executed).toHaveLength(58);
  expect(run.totals).toMatchObject({ toolCalls: 58, delegations: 2, agents: 3, contextTokens: 205_346 });
  expect(rows.filter(({ outcome }) => outcome === 'refused' || outcome === 'not-run')).toHaveLength(run.totals.refused);
  expect(rows).toHaveLength(58 + 2 + run.totals.refused);
  expect(new Set(rows.map(({ call_id }) => call_id)).size).toBe(rows.length);
  expect(new Set(rows.map(({ simulated, scripted }) => `${simulated} ${scripted}`))).toEqual(new Set(['true true']));

  await page.reload();
  await seeFarm(page);
  await host.stop();
  const second = await spillway.start(['--simulate']);
  const again = await spillway.open(`${second.link}#agents`);
  await seeFarm(again);
  expect(await exportCsv(again)).toEqual(rows);
  // Outputs were those of the console that ended: the page says so, and does not break.
  await transcript(again)
    .getByRole('button', { name: /^blob / })
    .last()
    .click();
  await again
    .getByRole('dialog', { name: /^Output / })
    .getByText(/There is no such output/)
    .waitFor();
});

async function seeFarm(page: Page): Promise<void> {
  await page.getByText('58 calls', { exact: true }).first().waitFor();
  await page.getByText(/^of 60\./).waitFor();
  await page.getByText('scripted model · virtual time').waitFor();
  await node(page, /^planner, no new text/).waitFor();
  await node(page, /^planner\.1, calls used up/).waitFor();
  await node(page, /^planner\.2, calls used up/).waitFor();
  expect(await tree(page).getByRole('treeitem').count()).toBe(3);
}

test('two bombs of the lab: 41 and 40 become 3 and 3, 1,976 become 58', async () => {
  const { host } = await started({ timeScale: 0 });
  const page = await spillway.open(`${host.link}#agents/labs`);
  const loop = page.getByRole('region', { name: 'Loop', exact: true });
  await loop.getByRole('button', { name: 'Run' }).click();
  await loop.getByText('41 model and 40 tool calls become 3 and 3.').waitFor();
  await loop.getByRole('group', { name: 'Without the ledger' }).getByText('41 / 40').waitFor();
  await loop.getByRole('group', { name: 'With the ledger' }).getByText('3 / 3').waitFor();
  const farm = page.getByRole('region', { name: 'Link farm', exact: true });
  await farm.getByRole('button', { name: 'Run' }).click();
  await farm.getByText('1,976 tool calls become 58, 34 times fewer.').waitFor();
  await farm.getByRole('group', { name: 'With the ledger' }).getByRole('button', { name: 'Open the run' }).click();
  await page.getByText('of 60. The same task without budgets: 1,976.').waitFor();
});

const spawning: AgentTaskInput = {
  name: 'asks for ever',
  prompt: 'Go on.',
  model: 'sim-loop:latest',
  limits: { calls: null, tokens: null, nanoDollars: null, wallClockMs: null, descendants: null },
  rounds: 10_000,
  spawnsPerMinute: null,
  guards: { stateHash: null, identicalCalls: null, cycles: null, noProgress: null, brokenArguments: null },
};

/** Gives its task to an agent below it while it may, and asks for an output that is not there while it may not. */
const givesOn: Brain = ({ request }) => {
  const names = request.tools.map((tool) => (tool as { function: { name: string } }).function.name);
  const call = names.includes('delegate')
    ? { name: 'delegate', arguments: { task: 'Go on.', calls: 5 } }
    : { name: names[0], arguments: { handle: 'status' } };
  return { pieces: `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`.split(/(?=\W)/) };
};

test('one agent is stopped, then all: the server sees it, nothing is held, every turn is in the books; two screens, one late', async () => {
  // Twice as slow as a small model: a turn is under way whenever somebody looks.
  const simulator = await simulated({ timeScale: 2, brain: givesOn });
  const { host, screen } = await started({ ollama: simulator.url });
  const early = await spillway.open(`${host.link}#agents`);
  const { runId } = await screen.ask('agent.start', spawning);
  await node(early, /^agent\.1\.1, running/).waitFor();

  const late = await spillway.open(`${host.link}#agents/${runId}`);
  for (const page of [early, late]) {
    await node(page, /^agent, waits for its agent/).waitFor();
    await node(page, /^agent\.1, waits for its agent/).waitFor();
  }
  await turnUnderWay(screen, 'agent.1.1', runId);
  await late.getByRole('button', { name: 'Stop agent.1.1' }).click();
  for (const page of [early, late]) await node(page, /^agent\.1\.1, stopped/).waitFor();
  await until(() => simulator.aborted.length > 0 || null);

  // The one above goes on without it.
  await node(early, /^agent\.1\.2, running/).waitFor();
  await turnUnderWay(screen, 'agent.1.2', runId);
  // Pressed twice is no problem to tell of.
  await early.getByRole('button', { name: 'Stop all' }).dblclick();
  for (const page of [early, late]) {
    await page.getByRole('button', { name: /^Run again/ }).waitFor();
    await node(page, /^agent, stopped/).waitFor();
    expect(await node(page, /running|waits/).count()).toBe(0);
    expect(await tree(page).getByRole('treeitem').count()).toBe(4);
  }
  expect(await early.getByText('Problem', { exact: true }).count()).toBe(0);
  // The one that came late has seen as much as the one that was there all along.
  const shown = async (page: Page): Promise<string> => {
    await page.getByRole('checkbox', { name: 'all agents' }).check();
    return [await tree(page).innerText(), await page.getByText(/^\d+ lines · /).innerText()].join('\n');
  };
  await until(async () => ((await shown(early)) === (await shown(late)) ? true : null));
  await until(() => simulator.aborted.length > 1 || null);
  expect(new Set(simulator.aborted.map(({ model }) => model))).toEqual(new Set(['sim-loop:latest']));

  const { turns, nodes, run } = await screen.ask('agent.get', { runId });
  expect([run.state, run.reason]).toEqual(['cancelled', 'cancelled']);
  for (const { held } of nodes) expect(held).toEqual({ calls: 0, tokens: 0, nanoDollars: 0 });
  const { reservations } = await screen.ask('ledger.get', { book: 'simulated' });
  expect(reservations.filter(({ state }) => state === 'open')).toEqual([]);
  const called = turns.flatMap(({ callId }) => (callId === null ? [] : [callId]));
  expect(called.length).toBeGreaterThanOrEqual(4);
  const booked = new Set(reservations.map(({ detail }) => detail.callId));
  expect(called.filter((id) => !booked.has(id))).toEqual([]);
  expect(await screen.ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0, faults: [] });
});

async function turnUnderWay(screen: Screen, nodeId: string, runId: AgentRunId): Promise<void> {
  await until(async () => {
    const { openCalls } = await screen.ask('snapshot.get', {});
    const { turns } = await screen.ask('agent.get', { runId });
    const turn = turns.find((one) => one.nodeId === nodeId && one.endedMs === null);
    return turn !== undefined && openCalls.length > 0 ? true : null;
  });
}

test('a call above the threshold asks on every page: allowed, then denied; a stop takes the next question back', async () => {
  const { host, screen } = await started({ timeScale: 0 });
  const page = await spillway.open(`${host.link}#agents/new`);
  const form = await fromReady(page, 'Call again');
  await form.getByLabel('Ask a person above').fill('0');
  await form.getByText('dollars a call').waitFor();
  await form.getByRole('button', { name: 'Start' }).click();
  await question(page)
    .getByText(/at most \$0\.002 · get_shipment_status .*1042/)
    .waitFor();

  await page.getByRole('link', { name: /^Context/ }).click();
  await question(page)
    .getByText(/A call waits for you/)
    .waitFor();
  await question(page).getByRole('button', { name: 'Show the run' }).click();
  await node(page, /^agent, running/).waitFor();
  await page.getByRole('link', { name: /^Live/ }).click();
  await answered(page, screen, 'Allow this call');
  // Who comes later, or again, is asked too.
  await page.reload();
  await answered(page, screen, 'Deny');
  await nextQuestion(screen);
  await page.getByRole('link', { name: /^Agents/ }).click();
  await page.getByText('refused: not allowed by a person').waitFor();
  await page.getByText('waits for a person').waitFor();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await question(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Run again/ }).waitFor();
  const rows = await exportCsv(page);
  expect(rows.map(({ outcome, code }) => [outcome, code])).toEqual([
    ['done', ''],
    ['refused', 'approval-denied'],
    ['refused', 'cancelled'],
  ]);
});

test('a budget that is used up is raised once, and then it is the end', async () => {
  const { host, screen } = await started({ timeScale: 0 });
  const page = await spillway.open(`${host.link}#agents/new`);
  const form = await fromReady(page, 'Drifting range');
  await form.getByLabel('Calls', { exact: true }).first().fill('1');
  await form.getByLabel('Raise once by').fill('100');
  await form.getByRole('button', { name: 'Start' }).click();
  await question(page).getByText('1 of 1 calls used. It asks for a limit of 2, once.').waitFor();
  await answered(page, screen, 'Allow once');
  await page.getByText('2 calls', { exact: true }).waitFor();
  await page.getByText(/^of 2\./).waitFor();
  await node(page, /^agent, calls used up/).waitFor();
  expect(await question(page).count()).toBe(0);

  await page.getByRole('button', { name: /^Run again/ }).click();
  await question(page).getByRole('button', { name: 'End the run' }).click();
  await page.getByText('1 call', { exact: true }).waitFor();
  await node(page, /^agent, calls used up/).waitFor();
});

test('eight runs at once and no more: the form says so itself', async () => {
  const { host, screen } = await started({});
  const task: AgentTaskInput = { prompt: 'Where is order 1042?', model: 'script:status-asker', tools: ['carrier'] };
  for (let run = 0; run < 8; run += 1) await screen.ask('agent.start', { ...task, approvalAboveNanoDollars: 0 });
  const page = await spillway.open(`${host.link}#agents/new`);
  const form = await fromReady(page, 'Work that is done');
  await form.getByRole('button', { name: 'Start' }).click();
  const dialog = page.getByRole('dialog', { name: 'New agent run' });
  await dialog.getByRole('alert').getByText('8 agent runs are under way. Wait for one to end, or stop one.').waitFor();
  await page.keyboard.press('Escape');
  await question(page).getByText('7 more wait').waitFor();
  expect((await screen.ask('agent.list', {})).runs).toHaveLength(8);
});

/** Presses, and waits until nobody waits for that answer any more. */
async function answered(page: Page, screen: Screen, name: string): Promise<void> {
  const id = await nextQuestion(screen);
  await question(page).getByRole('button', { name }).click();
  await until(async () => ((await screen.ask('agent.list', {})).approvals.some((one) => one.id === id) ? null : true));
}

async function nextQuestion(screen: Screen): Promise<string> {
  return until(async () => (await screen.ask('agent.list', {})).approvals[0]?.id);
}

test('kill -9 in mid-run: listed as cut off, its turn is charged, Resume goes on and the guard ends it', async () => {
  const simulator = await simulated({ timeScale: 1 });
  const first = await started({ ollama: simulator.url });
  const page = await spillway.open(`${first.host.link}#agents`);
  await page.getByRole('button', { name: 'Run A model that is told to call again' }).click();
  await until(async () => {
    const runId = (await first.screen.ask('agent.list', {})).runs[0]?.id;
    if (runId === undefined) return null;
    const { calls, turns } = await first.screen.ask('agent.get', { runId });
    return calls.some(({ outcome }) => outcome === 'done') && turns.some(({ endedMs }) => endedMs === null)
      ? true
      : null;
  });
  await first.host.stop('SIGKILL');

  const second = await started({ ollama: simulator.url });
  const again = await spillway.open(`${second.host.link}#agents`);
  await again.getByText('An agent run was cut off when Spillway ended. What it had used is charged.').waitFor();
  await node(again, /^agent, cut off/).waitFor();
  await again.getByRole('button', { name: /^Runs: / }).click();
  await again.getByRole('list', { name: 'Runs' }).getByText('cut off', { exact: true }).waitFor();
  await again.keyboard.press('Escape');
  const { reservations } = await second.screen.ask('ledger.get', { book: 'simulated' });
  expect(new Set(reservations.map(({ state }) => state))).toEqual(new Set(['settled', 'forfeited']));
  await again.getByRole('button', { name: 'Resume' }).click();
  await node(again, /^agent, (same state again|same call again|no new text)/).waitFor();
  await again
    .getByText(/^Stopped: /)
    .first()
    .waitFor();
  const rows = await exportCsv(again);
  expect(rows.filter(({ outcome }) => outcome === 'done').length).toBeGreaterThan(1);
  expect(rows.filter(({ outcome }) => outcome === 'running' || outcome === 'waiting-approval')).toEqual([]);
  expect(await second.screen.ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0 });
});

test('the guard lab: another order is the same, a key twice is refused, an accent written in two ways is not the same', async () => {
  const { host } = await started({});
  const page = await spillway.open(`${host.link}#agents/labs`);
  await page.getByRole('radio', { name: 'Guards' }).click();
  const lab = page.getByRole('region', { name: 'Guard lab' });
  const write = async (first: string, second: string): Promise<void> => {
    for (const [name, args] of [
      ['First call', first],
      ['Second call', second],
    ] as const) {
      const box = lab.getByRole('group', { name });
      await box.getByLabel('Tool').fill('search');
      await box.getByLabel('Arguments, JSON').fill(args);
    }
  };
  const verdict = lab.getByRole('status');
  await write('{"q": "café", "limit": 5}', '{"limit": 5.0, "q": "caf\\u00e9"}');
  await verdict.getByText('The same call', { exact: true }).waitFor();
  await write('{"q": "café"}', '{"q": "cafe\u0301"}');
  await verdict.getByText('Different calls', { exact: true }).waitFor();
  await write('{"id": 7, "id": 8}', '{"id": 8}');
  await verdict.getByText('No comparison', { exact: true }).waitFor();
  await verdict.getByText('The first cannot be read. The gateway answers it with a refusal.').waitFor();
});

test('the form: wrong servers are named, 0 and empty are said in words, and a model reads a file through a real MCP server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-e2e-files-'));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'keys.txt');
  writeFileSync(path, 'The lamp room key hangs behind the door.');
  const simulator = await simulated({ timeScale: 0, brain: readsOnce(path) });
  const { host } = await started({ ollama: simulator.url });
  const page = await spillway.open(`${host.link}#agents/new`);
  const form = page.getByRole('form', { name: 'Task' });
  const servers = form.getByLabel('MCP servers, JSON');
  const read = form.getByRole('button', { name: 'Read', exact: true });
  for (const [text, words] of [
    ['{"mcpServers": {"files": {"command": 7}}}', /mcpServers\.files\.command/],
    ['{"mcpServers": {"files": {"url": "file:///etc"}}}', /mcpServers\.files\.url is no http or https address/],
    ['{"mcpServers": {', /is no JSON .* at character \d+/],
    ['{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', /names a field twice at character \d+/],
  ] as const) {
    await servers.fill(text);
    await read.click();
    await form.getByText(words).waitFor();
  }
  const server = fileURLToPath(
    new URL('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url),
  );
  await servers.fill(JSON.stringify({ mcpServers: { files: { command: process.execPath, args: [server, folder] } } }));
  await read.click();
  await form.getByRole('list', { name: 'MCP servers' }).getByText('files', { exact: true }).waitFor();

  const calls = form.getByLabel('Calls', { exact: true }).first();
  const start = form.getByRole('button', { name: 'Start' });
  await calls.fill('0');
  await form.getByText('no call is allowed').waitFor();
  await calls.fill('');
  await form.getByText('unlimited').first().waitFor();
  await calls.fill('-1');
  await form
    .getByText(/^Calls must be /)
    .first()
    .waitFor();
  expect(await start.isDisabled()).toBe(true);
  await calls.fill('5');
  await form.getByText('5 calls', { exact: true }).waitFor();

  await form.getByLabel('What the agent should do').fill('Where is the key of the lamp room?');
  await form.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option').filter({ hasText: 'sim-loop' }).click();
  await start.click();
  await node(page, /^agent, done/).waitFor();
  await page.getByText('1 call', { exact: true }).waitFor();
  await transcript(page)
    .getByText(/^The lamp room key hangs behind the door/)
    .first()
    .waitFor();
  await page.getByText('The key hangs behind the door.').first().waitFor();
  expect(await exportCsv(page)).toMatchObject([{ tool: 'files.read_text_file', outcome: 'done', simulated: 'true' }]);
});

/** Reads the file, and answers when it has seen what is in it. */
function readsOnce(path: string): Brain {
  const call = { name: 'files.read_text_file', arguments: { path } };
  return ({ promptText }) => ({
    pieces: promptText.includes('hangs behind')
      ? ['The key hangs', ' behind the door.']
      : [`<tool_call>\n${JSON.stringify(call)}\n</tool_call>`],
  });
}

/** A ready task in the form, from the dialog that is open. */
async function fromReady(page: Page, title: string): Promise<Locator> {
  const dialog = page.getByRole('dialog', { name: 'New agent run' });
  await dialog.getByRole('radio', { name: 'Ready tasks' }).click();
  await dialog.getByRole('button', { name: `Change ${title}`, exact: true }).click();
  return dialog.getByRole('form', { name: 'Task' });
}

interface Running {
  readonly host: Awaited<ReturnType<typeof spillway.start>>;
  readonly screen: Screen;
}

async function started({ ollama, timeScale }: { ollama?: string; timeScale?: number }): Promise<Running> {
  const host = await spillway.start(ollama === undefined ? ['--simulate'] : ['--ollama', ollama]);
  const screen = await spillway.screen(host.link);
  if (timeScale !== undefined) await screen.ask('settings.set', { simulatorTimeScale: timeScale });
  await until(async () => ((await screen.ask('snapshot.get', {})).server.state === 'up' ? true : null));
  return { host, screen };
}

async function simulated(options: SimulatorOptions): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, ...options });
  endings.push(() => simulator.stop());
  return simulator;
}
