/** The reasoning experiment as a person does it: run, watch, look at the verdict, take the rows; and what the page says to input. */
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../shared/node/simulator/index.ts';
import { useConsole } from './console.ts';
import { exportCsv, fill } from './steps.ts';

const spillway = useConsole();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

test('the default experiment on a model that thinks for ever: three settings, no answer, and the CSV says why', async () => {
  const simulator = await simulated(0);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#live`);
  await page.getByRole('link', { name: /^Reasoning/ }).click();
  await choose(page, 'sim-overthink:latest');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/^done ·/).waitFor();
  await page.getByText('SIMULATED').first().waitFor();
  await page.getByText('0 of 3').waitFor();
  const figures = page.getByRole('figure');
  for (const text of ['2,000 tokens,', '8,000 tokens,', '256 tokens,'])
    await figures.getByText(new RegExp(`^${text} .* s, no answer`)).waitFor();
  const rows = (await exportCsv(page)).filter((row) => row.warm_up === 'false');
  expect(
    rows.map((row) => [
      row.variant,
      row.outcome,
      row.outcome_cause,
      row.thinking_place,
      row.obedience,
      row.eval_tokens,
      row.answer_tokens,
      row.done_reason,
      row.simulated,
    ]),
  ).toEqual([
    ['off/2000', 'starved', 'cap', 'answer-tagged', 'not-obeyed', '2000', '0', 'length', 'true'],
    ['on/8000', 'starved', 'cap', 'field', 'not-asked', '8000', '0', 'length', 'true'],
    ['on/256', 'starved', 'cap', 'field', 'not-asked', '256', '0', 'length', 'true'],
  ]);
  // A lane opens the one detail pane: the texts apart, what it rests on, and the way on with its cost.
  await page.getByRole('grid', { name: 'Rows of this run' }).getByText('on / 8,000').click();
  const pane = page.getByRole('complementary');
  await pane.getByText(/8,000 tokens, .* s, no answer/).waitFor();
  await pane.getByRole('tab', { name: 'Evidence' }).click();
  await pane.getByText('8,000 tokens came, the cap was 8,000.').waitFor();
  await pane.getByRole('tab', { name: 'Reply' }).click();
  await pane.getByText('The answer is empty.').waitFor();
  await pane.getByText(/2 calls · up to/).waitFor();
  await pane.getByRole('button', { name: 'Try in two steps' }).click();
  await page
    .getByText(/ask again at 256/)
    .first()
    .waitFor();
  await page.getByText(/^done ·/).waitFor();
});

test('repeats fill a strip, a run is stopped and goes on where it was', async () => {
  const simulator = await simulated(0.02);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#live`);
  await page.locator('h1').click();
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await choose(page, 'sim-overthink:latest');
  await fill(page, 'Repeats', '3');
  await page.locator('h1').click();
  await page.keyboard.press('Space');
  await page.getByText(/ [2-8] of 10 calls/).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: /^Resume/ }).click();
  await page.getByText(/^done ·/).waitFor();
  const dots = page.getByRole('button', { name: /^run \d: no answer/ });
  await dots.nth(8).waitFor();
  expect(await dots.count()).toBe(9);
  await page.getByText('off obeyed 0 of 3').first().waitFor();
  const rows = await exportCsv(page);
  expect(rows).toHaveLength(10);
  expect(new Set(rows.map((row) => row.cell)).size).toBe(10);
});

test('a model that cannot think: its lane says so, on is not offered, off answers', async () => {
  const simulator = await simulated(0);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#reasoning`);
  await choose(page, 'sim-honest:latest');
  await page.getByRole('button', { name: /^Variants: / }).click();
  const dialog = page.getByRole('dialog', { name: 'Variants' });
  await dialog.getByText(/sim-honest:latest cannot think: on and the levels would be refused/).waitFor();
  expect(await dialog.getByLabel('think of variant 1').locator('option', { hasText: 'on' }).first().isDisabled()).toBe(
    true,
  );
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/^done ·/).waitFor();
  await page.getByText('This model cannot think: there is no thinking to show.').first().waitFor();
  const rows = (await exportCsv(page)).filter((row) => row.warm_up === 'false');
  expect(rows.map((row) => [row.variant, row.outcome, row.thinking_place])).toEqual([['off/2000', 'answered', 'none']]);
});

test('bad input names its field, and nothing starts', async () => {
  const simulator = await simulated(0);
  const host = await spillway.start(['--ollama', simulator.url]);
  const page = await spillway.open(`${host.link}#reasoning`);
  for (const [field, wrong] of [
    ['Repeats', '0'],
    ['Repeats', 'many'],
    ['Variants', '-5'],
    ['num_ctx', 'wide'],
  ] as const) {
    await fill(page, field, wrong, false);
    await page.getByRole('alert').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
    await fill(page, field, field === 'Variants' ? '2000' : '1');
  }
});

async function simulated(timeScale: number): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, timeScale });
  endings.push(() => simulator.stop());
  return simulator;
}

/** One model in the sentence, and the ready experiment for it. */
async function choose(page: Page, model: string): Promise<void> {
  await page.getByRole('button', { name: /^Models: / }).click();
  const dialog = page.getByRole('dialog', { name: 'Models' });
  const chosen = dialog.getByRole('option').filter({ hasText: '✓' });
  if ((await chosen.filter({ hasText: model }).count()) === 0) {
    await chosen.first().click();
    await dialog.getByRole('option').filter({ hasText: model }).click();
  }
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'preset: prime' }).click();
}
