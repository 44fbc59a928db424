/** The main job, as a person does it: sweep, watch, stop, go on, export; also over a kill, and with a hostile server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../shared/node/simulator/index.ts';
import { useConsole } from './console.ts';
import { exportCsv, fill } from './steps.ts';

const spillway = useConsole();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

test('the default sweep shows the cliff, and its CSV says the same', async () => {
  const simulator = await simulated(0);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#context`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/^done/).waitFor();
  await page.getByText('SIMULATED').first().waitFor();
  await page.getByText('for every text').waitFor();
  const rows = await exportCsv(page);
  const measured = rows.filter((row) => row.warm_up === 'false');
  expect(
    measured.map((row) => [row.document_chars, row.num_ctx_running, row.truncation, row.needle, row.simulated]),
  ).toEqual([
    ['2000', '4096', 'intact', 'found', 'true'],
    ['10000', '4096', 'intact', 'found', 'true'],
    ['40000', '4096', 'halved', 'invented', 'true'],
    ['120000', '4096', 'halved', 'invented', 'true'],
    ['2000', '40960', 'intact', 'found', 'true'],
    ['10000', '40960', 'intact', 'found', 'true'],
    ['40000', '40960', 'intact', 'found', 'true'],
    ['120000', '40960', 'intact', 'found', 'true'],
  ]);
  const cut = measured.filter((row) => row.truncation === 'halved');
  expect(cut.map((row) => row.prompt_tokens_evaluated)).toEqual(['2051', '2051']);
  // A cell opens the one detail pane, with the evidence and the way on.
  await page
    .getByRole('grid', { name: /rows|calls|cells/i })
    .getByText('halved')
    .first()
    .click();
  const pane = page.getByRole('complementary');
  await pane
    .getByText(/2,051 is the cut size for 4,096/)
    .first()
    .waitFor();
  await pane.getByRole('tab', { name: 'Request' }).click();
  await pane
    .getByText(/num_predict/)
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'detached' });
});

test('stop reaches the server, finished cells stay, resume runs only the rest', async () => {
  const simulator = await simulated(0.5);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#context`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/ [2-9] of 10 calls/).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: /^Resume/ }).waitFor();
  const before = (await exportCsv(page)).filter((row) => row.ending === 'done');
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(10);
  await page.getByRole('button', { name: /^Resume/ }).click();
  await page.getByText(/^done/).waitFor();
  const after = await exportCsv(page);
  expect(after).toHaveLength(10);
  const idOf = new Map(after.map((row) => [row.cell, row.call_id]));
  expect(before.map((row) => idOf.get(row.cell))).toEqual(before.map((row) => row.call_id));
});

test('kill -9 in a sweep: at the next start the finished cells are there, and the run goes on', async () => {
  const simulator = await simulated(0.5);
  const first = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${first.link}#context`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/ [2-9] of 10 calls/).waitFor();
  await first.stop('SIGKILL');
  const second = await spillway.start(['--ollama', simulator.url]);
  const again = await spillway.open(`${second.link}#history`);
  await again
    .getByText(/interrupted/i)
    .first()
    .waitFor();
  await again.getByRole('grid').getByText('interrupted').first().dblclick();
  await again
    .getByRole('button', { name: /^Resume/ })
    .first()
    .click();
  await again.getByText(/^done/).first().waitFor();
  await again.goto(`${second.link.replace(/\?.*/, '')}#context`);
  await again.getByText(/^done/).first().waitFor();
  const rows = await exportCsv(again);
  expect(rows).toHaveLength(10);
  expect(new Set(rows.map((row) => row.cell)).size).toBe(10);
  expect(rows.every((row) => row.ending === 'done')).toBe(true);
});

test('500 cells: every one arrives, the page stays small', async () => {
  const simulator = await simulated(0);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#context`);
  await fill(page, 'Sizes', '500, 1k, 2k, 4k, 8k');
  await fill(page, 'Windows', '1024, 2048, 4096, 8192');
  await fill(page, 'Repeats', '25');
  await page
    .getByText(/500 calls|504 calls/)
    .first()
    .waitFor();
  const session = await page.context().newCDPSession(page);
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const before = await heap();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/^done/).waitFor({ timeout: 120_000 });
  const after = await heap();
  expect(after - before).toBeLessThan(40_000_000);
  // Virtual rows: hundreds of results, a screenful of nodes.
  expect(await page.getByRole('row').count()).toBeLessThan(100);
  expect(await exportCsv(page)).toHaveLength(504);
}, 180_000);

test('bad input names its field, and nothing starts', async () => {
  const simulator = await simulated(0);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#context`);
  for (const wrong of ['0', '-5', 'many']) {
    await fill(page, 'Windows', wrong, false);
    await page.getByRole('alert').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  }
});

test('names, answers and errors of a hostile server stay text', async () => {
  const server = await hostile();
  const host = await spillway.start(['--ollama', server]);
  const page = await spillway.open(`${host.link}#context`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page
    .getByText(/^done|^failed/)
    .first()
    .waitFor();
  // The attack is on the page, as the text that it is.
  expect(await page.locator('main').innerText()).toContain('<img src=x');
  for (const hash of ['#context', '#history', '#live', '#settings']) {
    await page.goto(host.link.replace(/\?.*/, '') + hash);
    await page.waitForTimeout(200);
    expect(
      await page.evaluate(() => [
        document.querySelectorAll('img, iframe, script:not([src])').length,
        (window as { hit?: unknown }).hit,
      ]),
    ).toEqual([0, undefined]);
  }
});

async function simulated(timeScale: number): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, timeScale });
  endings.push(() => simulator.stop());
  return simulator;
}

/** Every text it can choose is an attempt to run something. */
async function hostile(): Promise<string> {
  let calls = 0;
  const attack = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const model = {
    name: `${attack}:latest`,
    model: `${attack}:latest`,
    digest: attack,
    size: 1,
    modified_at: attack,
    details: { family: attack, parameter_size: attack, quantization_level: attack, context_length: 32_768 },
    capabilities: ['completion'],
  };
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '';
    if (path === '/api/version') return void response.end(JSON.stringify({ version: '0.33.0' }));
    if (path === '/api/tags') return void response.end(JSON.stringify({ models: [model] }));
    if (path === '/api/ps')
      return void response.end(
        JSON.stringify({ models: [{ ...model, context_length: 4096, size_vram: 0, expires_at: attack }] }),
      );
    if (path === '/api/show')
      return void response.end(
        JSON.stringify({
          template: attack,
          capabilities: ['completion'],
          model_info: { 'general.architecture': attack },
        }),
      );
    calls += 1;
    if (calls % 3 === 0) return void response.writeHead(500).end(JSON.stringify({ error: attack }));
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    response.write(`${JSON.stringify({ message: { role: 'assistant', content: attack }, done: false })}\n`);
    response.end(
      `${JSON.stringify({ message: { role: 'assistant', content: '' }, done: true, done_reason: attack, prompt_eval_count: 2051, eval_count: 9 })}\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
