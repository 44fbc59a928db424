/** What a start says of the ledger it finds: nothing where it adds up, the fault where it does not. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createRuntime } from '../../../shared/node/runtime.ts';

async function start(home: string) {
  const started = await createRuntime({ host: 'test', home, simulate: true, simulatorTimeScale: 0, environment: {} });
  if (!started.ok) throw new Error(started.denial.message);
  await started.value.ready;
  return started.value;
}

test('a balance that was changed behind the ledger is told at the next start, with what to do', async () => {
  const home = mkdtempSync(join(tmpdir(), 'spillway-start-'));
  const first = await start(home);
  const granted = await first.handle(
    'ledger.grant',
    {
      tenant: 'acme',
      scope: 'user',
      name: 'ada',
      window: 'day',
      unit: 'tokens',
      amount: 500,
      reason: '',
      book: 'real',
    },
    { signal: new AbortController().signal } as never,
  );
  expect(granted.ok).toBe(true);
  await first.stop();

  const sound = await start(home);
  expect(sound.notices.filter((notice) => notice.level === 'error')).toEqual([]);
  const file = sound.home.databaseFile;
  await sound.stop();

  const behind = new BetterSqlite3(file);
  behind.exec('UPDATE ledger_accounts SET granted = granted + 1');
  behind.close();
  const third = await start(home);
  expect(third.notices).toContainEqual({
    level: 'error',
    text: expect.stringMatching(/^The ledger does not add up: .*granted is 501, its entries sum to 500/),
    next: expect.stringContaining('Audit'),
  });
  await third.stop();
});
