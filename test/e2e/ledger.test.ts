/** The storm as a workshop sees it: the same calls at once, twice, with real calls to the simulator behind the page. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useConsole } from './console.ts';
import { fill } from './steps.ts';

const spillway = useConsole();

const stormOf = (page: Page): Locator => page.getByRole('region', { name: 'Storm', exact: true });

interface Tanks {
  readonly checkAfter: Locator;
  readonly reserveFirst: Locator;
}

function tanksOf(page: Page): Tanks {
  const half = (name: string): Locator => stormOf(page).getByRole('region', { name });
  return { checkAfter: half('Check after the reply'), reserveFirst: half('Reserve first') };
}

async function runStorm(page: Page): Promise<void> {
  const run = stormOf(page).getByRole('button', { name: 'Run the storm' });
  await run.click();
  await stormOf(page).getByRole('button', { name: 'Stop' }).waitFor();
  await run.waitFor();
}

test('the default storm: 20 let through and 39,380 of 9,000 spent, 3 let through and 7,302 held; no book knows of it', async () => {
  const host = await spillway.start(['--simulate']);
  const page = await spillway.open(`${host.link}#ledger`);
  const { checkAfter, reserveFirst } = tanksOf(page);
  await checkAfter.getByText('not run yet').waitFor();
  await stormOf(page).getByRole('button', { name: 'Run the storm' }).click();

  // While it runs, the three holds stand.
  await reserveFirst.getByRole('img', { name: /^Reserve first: 0 spent, 7,302 held, limit 9,000$/ }).waitFor();
  await reserveFirst.getByRole('img', { name: '3 running, 17 refused' }).waitFor();

  await checkAfter.getByText('39,380', { exact: true }).waitFor();
  await checkAfter.getByText('spent, 4.4 times the limit').waitFor();
  await checkAfter.getByText('20 of 20 calls let through, none refused').waitFor();
  await checkAfter.getByRole('img', { name: '20 done' }).waitFor();
  await reserveFirst.getByText('7,302', { exact: true }).waitFor();
  await reserveFirst.getByText('held at most, under the limit').waitFor();
  await reserveFirst.getByText(/^3 of 20 calls let through, 17 refused · .*Retry-After/).waitFor();
  await reserveFirst.getByRole('img', { name: '3 done, 17 refused' }).waitFor();
  await reserveFirst.getByRole('img', { name: /: 5,907 spent, 0 held, limit 9,000$/ }).waitFor();

  await page.reload();
  await tanksOf(page).checkAfter.getByText('39,380', { exact: true }).waitFor();
  await page.getByText('Nothing was charged yet').waitFor();
  await page.getByText(/^today – tokens/).waitFor();
});

test('one user, unlimited, and a storm that is stopped; without a server the storm brings its own simulator', async () => {
  const host = await spillway.start(['--ollama', 'http://127.0.0.1:9']);
  const page = await spillway.open(`${host.link}#ledger`);
  const { checkAfter, reserveFirst } = tanksOf(page);
  await stormOf(page)
    .getByRole('button', { name: /^Users: / })
    .click();
  await page.getByRole('dialog', { name: 'Users' }).getByRole('combobox').selectOption('one');
  await page.keyboard.press('Escape');
  await runStorm(page);
  await reserveFirst.getByText(/^2 of 20 calls let through, 18 refused/).waitFor();
  await reserveFirst.getByText('4,868', { exact: true }).waitFor();

  await fill(page, 'User limit, tokens', '');
  await fill(page, 'Tenant limit, tokens', '');
  await fill(page, 'Calls at once', '4');
  await runStorm(page);
  for (const side of [checkAfter, reserveFirst]) {
    await side.getByText(/^4 of 4 calls let through, none refused/).waitFor();
    await side.getByRole('img', { name: /: 7,876 spent, 0 held, no limit$/ }).waitFor();
  }

  await fill(page, 'Calls at once', '200');
  await stormOf(page).getByRole('button', { name: 'Run the storm' }).click();
  await reserveFirst.getByRole('img', { name: / 486,800 held, no limit$/ }).waitFor();
  await stormOf(page).getByRole('button', { name: 'Stop' }).click();
  await stormOf(page)
    .getByText(/^Stopped\./)
    .waitFor();
  await reserveFirst.getByRole('img', { name: /, 0 held, no limit$/ }).waitFor();
  expect(await reserveFirst.getByRole('img', { name: /failed/ }).count()).toBe(1);
});
