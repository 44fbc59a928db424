/** Money and calibration as a person meets them: the calculator, a set of one's own that outlives the host, a call that teaches. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useConsole } from './console.ts';

const spillway = useConsole();

test('the calculator, prices of one’s own after a restart, and what a call would have cost', async () => {
  const first = await spillway.start(['--simulate']);
  let page = await spillway.open(`${first.link}#costs`);
  const sums = page.getByRole('table', { name: 'Sums of the calculator' });
  await sums.getByRole('cell', { name: '155,000', exact: true }).waitFor();
  await sums.getByRole('cell', { name: '7,660,000', exact: true }).waitFor();
  await sums.getByRole('cell', { name: '$15.36', exact: true }).waitFor();
  await page.getByRole('figure').getByText('7,660,000').waitFor();

  await page.getByRole('button', { name: 'Add prices' }).click();
  const form = page.getByRole('form', { name: 'Add prices' });
  await form.getByLabel('Name').fill('mine');
  await form.getByLabel('Date').fill('2026-11-20');
  await form.getByLabel('Source').fill('a bill');
  await form.getByLabel(/^Input price/).fill('0.0001');
  await form.getByLabel(/^Output price/).fill('1000');
  await form.getByRole('button', { name: 'Add' }).click();
  await form.getByText(/^Input price has a fraction of a nano-dollar per token/).waitFor();
  await form.getByLabel(/^Input price/).fill('1000');
  await form.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('table', { name: 'Price sets' }).getByText('mine').waitFor();
  await first.stop();

  const second = await spillway.start(['--simulate']);
  page = await spillway.open(`${second.link}#live`);
  await page.getByLabel('Message', { exact: true }).fill('The harbour master writes down every ship. '.repeat(20));
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^today [\d,]+ tokens$/).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /^Costs/ }).click();
  await page.getByLabel('As if priced by').selectOption({ label: 'mine, 2026-11-20' });
  const calls = page.getByRole('table', { name: 'Calls, as if' }).getByRole('row', { name: /^This session/ });
  await calls.waitFor();
  const [count, input, output, here, asIf] = await calls.getByRole('cell').allTextContents();
  const tokens = (text: string | undefined): number => Number((text ?? '').replaceAll(',', ''));
  expect([count, here]).toEqual(['1', '$0']);
  // A thousand dollars a million: a tenth of a cent a token.
  expect(Number((asIf ?? '').slice(1))).toBeCloseTo((tokens(input) + tokens(output)) / 1_000, 9);

  await page.getByRole('link', { name: /^Settings/ }).click();
  const learned = page.getByRole('table', { name: 'Learned characters per token' });
  await learned.getByRole('row', { name: /^English and alike 1 / }).waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV, 1 row' }).click();
  const file = await (await downloading).path();
  expect(readFileSync(file, 'utf8')).toMatch(/^model,simulated,script,.*\r\nsim-[a-z-]+:latest,true,latin,1,1,/);
  await page.getByRole('button', { name: 'Forget all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
  await page.getByText(/^Nothing is learned yet/).waitFor();
});
