/** What a person does on the pages with runs, step by step. */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';

/** Opens a value of the sentence, writes into its first box, and closes it again. */
export async function fill(page: Page, label: string, value: string, close = true): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${label}: `) }).click();
  await page.getByRole('dialog', { name: label }).getByRole('textbox').first().fill(value);
  if (close) await page.keyboard.press('Escape');
}

/** The rows of the run on the page, through its export menu. */
export async function exportCsv(page: Page): Promise<Record<string, string>[]> {
  await page
    .getByRole('button', { name: /^Export/ })
    .first()
    .click();
  const download = page.waitForEvent('download');
  await page.getByText('CSV for programs').click();
  return parse(readFileSync(await (await download).path(), 'utf8'), { columns: true });
}

/** Looks again until there is something; gives up after a number of looks, not after a time that was hoped for. */
export async function until<Value>(
  look: () => Value | null | undefined | Promise<Value | null | undefined>,
): Promise<Value> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not happen');
}
