/** First start and the Live page, as a person meets them. */
import { expect, test } from 'vitest';
import { useConsole } from './console.ts';

const spillway = useConsole();
const NOBODY = 'http://127.0.0.1:9';

test('with no Ollama the page says so and offers the simulator; the guided probe is one click from there', async () => {
  const host = await spillway.start(['--ollama', NOBODY]);
  const page = await spillway.open(host.link);
  await page.getByText('No Ollama at 127.0.0.1:9', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Start the simulator' }).click();
  await page.getByText('SIMULATED').first().waitFor();
  await page.getByRole('button', { name: /guided probe/i }).waitFor();
});

test('a call that is too long: warned before, named after, with the window that fits', async () => {
  const host = await spillway.start(['--simulate']);
  const page = await spillway.open(`${host.link}#live`);
  const sections = Array.from(
    { length: 500 },
    (_, index) =>
      `Section ${index + 1}: requests about parking go to desk ${100 + ((index * 37) % 900)} and are answered within ${1 + (index % 9)} days.`,
  );
  const text = `The launch code is ZEBRA-7741. ${sections.join(' ')}\n\nQuestion: What is the launch code? Answer with the code only.`;
  await page.getByRole('textbox', { name: 'num_ctx' }).fill('4096');
  await page.locator('textarea').first().fill(text);
  await page
    .getByText(/would be lost/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: /send anyway/i }).click();
  await page
    .getByText(/Cut to 2,051/)
    .first()
    .waitFor();
  await page
    .getByText(/2,051 is the cut size for 4,096/)
    .first()
    .waitFor();
  expect(await page.getByRole('region', { name: 'Reply' }).getByText('ZEBRA-7741').count()).toBe(0);
  await page
    .getByRole('button', { name: /^Send with/ })
    .first()
    .click();
  await page.getByRole('region', { name: 'Reply' }).getByText('ZEBRA-7741', { exact: true }).first().waitFor();
  await page.getByText('Nothing lost').first().waitFor();
});

test('the window of a server that nobody asked yet is learned by loading the model, without a call', async () => {
  const host = await spillway.start(['--simulate']);
  const page = await spillway.open(`${host.link}#live`);
  await page.locator('textarea').first().fill('word '.repeat(8_000));
  await page.getByText('window not known').first().waitFor();
  await page.getByRole('button', { name: 'Load it to see its window' }).click();
  await page
    .getByText(/would be lost/)
    .first()
    .waitFor();
  await page.getByText('window 4,096').first().waitFor();
  await page.getByText('today – tokens').waitFor();
});
