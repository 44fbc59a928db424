/** The Agents page against those who write its texts: pages, tools and models; and against a screen that asks for what is not its own. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import type { AgentRunId, AgentRunView, AgentTaskInput } from '../../shared/contract/agents.ts';
import { type Screen, useConsole } from './console.ts';
import { HOSTILE_MODEL, hostileServer } from './hostile-server.ts';
import { attack, longName } from './hostile-texts.ts';
import { until } from './steps.ts';

const spillway = useConsole();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const EVIL_PAGE = 'evil.read_page';

const hostile: AgentTaskInput = {
  name: `${attack}${longName}`.slice(0, 200),
  prompt: `Read the page. ${attack}`,
  model: HOSTILE_MODEL,
  taskClass: attack.slice(0, 100),
  mcpServers: {
    evil: { command: process.execPath, args: [fileURLToPath(new URL('children/hostile-mcp.ts', import.meta.url))] },
  },
  spawnsPerMinute: null,
};

test('a page that asks for all of its links: eight of a step run, nothing is rendered, the layout holds', async () => {
  const server = await hostileServer();
  endings.push(() => server.stop());
  const host = await spillway.start(['--ollama', server.url]);
  const screen = await spillway.screen(host.link);
  await until(async () => ((await screen.ask('snapshot.get', {})).server.state === 'up' ? true : null));
  const page = await spillway.open(`${host.link}#agents`);
  await countHits(page);
  const { runId } = await screen.ask('agent.start', hostile);
  const view = await ended(screen, runId);

  // What the page and the model asked for was bound; every call has one answer.
  expect(view.run.totals.peakFanOut).toBeLessThanOrEqual(8);
  expect(view.run.totals.toolCalls).toBeLessThanOrEqual(60);
  expect(view.calls.filter(({ code }) => code === 'fan-out').length).toBeGreaterThanOrEqual(32);
  expect(view.nodes.reduce((sum, { used }) => sum + used.calls, 0)).toBeLessThanOrEqual(60);
  const codes = new Set(view.calls.map(({ code }) => code));
  expect([...codes]).toEqual(expect.arrayContaining(['unknown-tool', 'unknown-handle', 'nothing-to-carve']));
  const huge = view.calls.find(({ outputBytes }) => outputBytes > 10_000_000);
  expect(huge?.shownBytes).toBeLessThanOrEqual(16_000);
  for (const { id } of view.nodes) await answersOnce(screen, view, id);

  // Everything that a person can open, open.
  await page.getByRole('tree', { name: 'Budget tree' }).getByRole('treeitem').first().click();
  await harmless(page);
  await page.getByRole('complementary').getByText('What it came back with').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: 'all agents' }).check();
  const grid = page.getByRole('grid', { name: 'Transcript' });
  for (const text of ['<img src=x', longName.slice(0, 30)]) {
    await grid.getByText(text).first().click();
    await page.getByRole('complementary').getByText('What the model read').first().waitFor();
    await harmless(page);
    await page.keyboard.press('Escape');
  }
  await page.getByRole('tab', { name: 'Messages' }).click();
  await page
    .getByRole('button', { name: /^Show all .* characters/ })
    .first()
    .click();
  await harmless(page);
  for (const chip of ['Guards', 'Upstreams', 'Left running', 'Amplification']) {
    await page.getByRole('tablist', { name: 'Guards and limits' }).getByRole('tab', { name: chip }).click();
    await harmless(page);
  }
  await page.getByRole('button', { name: /^Runs: / }).click();
  await harmless(page);
  await page.keyboard.press('Escape');
  await page.locator('h1').click();
  await page.keyboard.press('p');
  await page.getByText(/It ended: /).waitFor();
  await harmless(page);

  // A small window: nothing sticks out of it.
  await page.keyboard.press('p');
  await page.setViewportSize({ width: 900, height: 640 });
  await page.locator('h1').waitFor();
  await harmless(page);
  const other = await spillway.open(`${host.link}#history`);
  await harmless(other);
});

test('ten megabytes: the page goes on, 16,000 bytes are in the transcript, the rest is paged; and handles of another run open nothing', async () => {
  const host = await spillway.start(['--simulate']);
  const screen = await spillway.screen(host.link);
  await screen.ask('settings.set', { simulatorTimeScale: 0 });
  const page = await spillway.open(`${host.link}#agents`);
  await page.getByRole('button', { name: 'Run A page of ten megabytes' }).click();
  await page
    .getByRole('tree')
    .getByRole('treeitem', { name: /^agent, done/ })
    .waitFor();
  await page.getByText(/^cut to 16,000 of 10,000,000 bytes/).waitFor();
  await page
    .getByRole('button', { name: /^blob / })
    .first()
    .click();
  const blob = page.getByRole('dialog', { name: /^Output / });
  await blob.getByText(/^bytes 0 to [\d,]+ of 10,000,000$/).waitFor();
  // What is looked for stays from page to page.
  await blob.getByRole('textbox', { name: 'Find in this page' }).fill('code word');
  await blob.getByText('1 of 1 place').waitFor();
  await blob.getByRole('button', { name: 'Next page' }).click();
  await blob.getByText(/^bytes 64,000 to 128,000 of 10,000,000$/).waitFor();
  await blob.getByText('not here').waitFor();
  await blob.getByRole('button', { name: 'Page before' }).click();
  await blob.getByText('1 of 1 place').waitFor();

  const first = (await screen.ask('agent.list', {})).runs[0]?.id as AgentRunId;
  const { calls } = await screen.ask('agent.get', { runId: first });
  const handle = calls.find((call) => call.handle !== null)?.handle ?? '';
  const { entries } = await screen.ask('agent.transcript', { runId: first, nodeId: 'agent' });
  const results = entries.filter(({ role }) => role === 'tool').map(({ content }) => Buffer.byteLength(content));
  expect(Math.max(...results)).toBeLessThanOrEqual(16_000);
  expect((await screen.ask('agent.blob', { runId: first, handle, offset: 0 })).bytes).toBe(10_000_000);

  // The same task again is another run: the handles of one are nothing in the other.
  const { tools, prompt, model } = (await screen.ask('agent.get', { runId: first })).run.task;
  const { runId: second } = await screen.ask('agent.start', { tools, prompt, model });
  await ended(screen, second);
  for (const wrong of [handle, `../${first}/${handle}`, `../../settings`, '.', '', '%00', handle.slice(1)]) {
    expect(await screen.refused('agent.blob', { runId: second, handle: wrong, offset: 0 })).toMatchObject({
      code: 'not-found',
      field: 'handle',
    });
  }
  for (const runId of ['../agent-outputs', `${first}/..`, '__proto__', attack] as unknown as AgentRunId[]) {
    await screen.refused('agent.blob', { runId, handle, offset: 0 });
    await screen.refused('agent.get', { runId });
    await screen.refused('agent.delete', { runId });
    await screen.refused('agent.resume', { runId });
  }
  expect((await screen.ask('agent.blob', { runId: first, handle, offset: 9_999_990 })).nextOffset).toBe(null);
  expect(await screen.refused('agent.approve', { id: `${first}/raise`, allow: true })).toMatchObject({
    code: 'not-found',
  });
});

test('tools of a hostile server in the form, and its call in the question to a person', async () => {
  const server = await hostileServer();
  endings.push(() => server.stop());
  const host = await spillway.start(['--ollama', server.url]);
  const screen = await spillway.screen(host.link);
  const page = await spillway.open(`${host.link}#agents/new`);
  await countHits(page);
  const form = page.getByRole('form', { name: 'Task' });
  const { evil } = hostile.mcpServers ?? {};
  await form.getByLabel('MCP servers, JSON').fill(JSON.stringify({ mcpServers: { [attack]: evil } }));
  await form.getByRole('button', { name: 'Read', exact: true }).click();
  await form.getByRole('button', { name: 'Ask the servers for their tools' }).click();
  await form.getByRole('table', { name: 'Tools of the task' }).getByText('read_page').waitFor();
  await harmless(page);
  await page.keyboard.press('Escape');

  await until(async () => ((await screen.ask('snapshot.get', {})).server.state === 'up' ? true : null));
  await screen.ask('agent.start', {
    ...hostile,
    approvalAboveNanoDollars: 0,
    toolRules: { [EVIL_PAGE]: { nanoDollarsWorst: 1 } },
  });
  const bar = page.getByRole('alert', { name: 'An agent asks' });
  await bar.getByText('<img src=x').first().waitFor();
  await harmless(page);
  // Its text cannot turn the price around or hide it.
  expect(await bar.innerText()).toMatch(/A call waits for you · at most \$0\.000000001 · evil\.read_page \{.*\\u202e/s);
  expect(await bar.innerText()).not.toContain('\u202e');
  // However long the call is, both answers stay in reach.
  const box = await bar.boundingBox();
  expect(box?.height).toBeLessThan(120);
  await bar.getByRole('button', { name: 'Allow this call' }).click();
  await page.getByText(/[2-9] more wait/).waitFor();
  await harmless(page);
  const { approvals, runs } = await screen.ask('agent.list', {});
  expect(approvals.length).toBeLessThanOrEqual(8);
  await page.getByRole('button', { name: 'Stop all' }).click();
  await bar.waitFor({ state: 'detached' });
  for (const { id } of approvals) await screen.refused('agent.approve', { id, allow: true });
  expect(runs).toHaveLength(1);
});

test('addresses that are no run, and the guard lab fed with anything, stay text', async () => {
  const host = await spillway.start(['--simulate']);
  const page = await spillway.open(`${host.link}#agents/labs`);
  await countHits(page);
  await page.getByRole('radio', { name: 'Guards' }).click();
  const lab = page.getByRole('region', { name: 'Guard lab' });
  for (const name of ['First call', 'Second call']) {
    const box = lab.getByRole('group', { name });
    await box.getByLabel('Tool').fill(attack);
    await box.getByLabel('Arguments, JSON').fill(JSON.stringify({ [attack]: longName.repeat(100) }));
    await box.getByLabel('Result').fill(attack.repeat(2_000));
  }
  await lab.getByRole('status').getByText('The same call', { exact: true }).waitFor();
  await harmless(page);
  for (const id of [attack, longName, '%E0%A4%A', '../../etc', 'new/../labs']) {
    await page.evaluate((hash) => void (location.hash = `agents/${hash}`), encodeURIComponent(id));
    await page.getByText(/There is no such agent run/).waitFor();
    await harmless(page);
  }
});

/** A flag that any script of a text would set, and a count of what asks for anything outside. */
async function countHits(page: Page): Promise<void> {
  page.on('dialog', () => void page.evaluate(() => void Object.assign(window, { hit: 'dialog' })));
  await page.context().route('**/*', (route) => {
    const { hostname } = new URL(route.request().url());
    return hostname === '127.0.0.1' ? route.continue() : route.abort();
  });
}

/** Nothing was made of a text but text, and nothing is wider than the window. */
async function harmless(page: Page): Promise<void> {
  const seen = await page.evaluate(() => ({
    hit: (window as { hit?: unknown }).hit ?? null,
    made: document.querySelectorAll('img, iframe, object, script:not([src]), a[href^="javascript" i]').length,
    sticksOut:
      document.documentElement.scrollWidth > window.innerWidth || document.body.scrollWidth > window.innerWidth,
  }));
  expect(seen).toEqual({ hit: null, made: 0, sticksOut: false });
}

async function ended(screen: Screen, runId: AgentRunId): Promise<AgentRunView> {
  return until(async () => {
    const view = await screen.ask('agent.get', { runId });
    return view.run.state === 'running' ? null : view;
  });
}

/** Each call that a model asked for has one result in its transcript, and no result is of a call that nobody made. */
async function answersOnce(screen: Screen, { run }: AgentRunView, nodeId: string): Promise<void> {
  const { entries } = await screen.ask('agent.transcript', { runId: run.id, nodeId, limit: 500 });
  const asked = entries.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const answered = entries.flatMap(({ role, callId }) => (role === 'tool' ? [callId] : []));
  expect(answered).toEqual(asked);
}
