/** `spillway ledger` as a person calls it: beside a running console, on a folder without a ledger, on one that does not add up. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_DIRECTORY, directorySchema } from '../../shared/contract/plans.ts';
import type { Audit, Balance } from '../../shared/contract/ledger.ts';
import { type Ledger, createLedger } from '../../shared/engine/ledger/ledger.ts';
import { openRedisStore } from '../../shared/node/redis/store.ts';
import { type Home, openHome } from '../../shared/node/storage/home.ts';
import { openLedgerStore } from '../../shared/node/storage/ledger-store.ts';
import { acquireLock } from '../../shared/node/storage/lock.ts';
import { openStore } from '../../shared/node/storage/store.ts';
import { value } from '../node/storage/records.ts';
import { startRedis } from '../support/redis.ts';
import { freshFolder, rowsOf, spillway } from './spillway.ts';

/** Days and months begin twelve hours from now, so that no test runs over the end of one. */
const resetHour = (new Date().getUTCHours() + 12) % 24;
const planned = directorySchema.parse({
  ...DEFAULT_DIRECTORY,
  plans: DEFAULT_DIRECTORY.plans.map((plan) => ({ ...plan, resetHour })),
});

/** A console that is running: it holds the lock and both connections until the test has ended. */
function runningConsole(directory = planned): { home: Home; ledger: Ledger; folder: string } {
  const folder = freshFolder();
  const home = value(openHome({ flag: folder, environment: {} }));
  const lock = value(acquireLock(home, { pid: process.pid, host: 'browser', url: null }));
  const { store } = value(openStore({ home, clock: { now: () => new Date().toISOString() } }));
  value(store.saveDirectory({ json: JSON.stringify(directory), revision: 1 }));
  const ledgerStore = value(openLedgerStore({ file: home.databaseFile, nowMs: () => Date.now(), synchronous: 'full' }));
  let ids = 0;
  const ledger = createLedger({
    store: ledgerStore,
    directory: () => directory,
    prices: () => null,
    newId: () => `hold_${(ids += 1)}`,
    owner: 'console/start',
    clockOffsetMs: () => 0,
    events: { emit: () => undefined },
  });
  onTestFinished(async () => {
    await ledgerStore.close();
    store.close();
    lock.release();
  });
  return { home, ledger, folder };
}

async function reserve(ledger: Ledger, user: string, book: 'real' | 'simulated' = 'real') {
  return value(
    await ledger.reserve({
      key: `${book}-${user}`,
      book,
      payer: { tenant: 'acme', user },
      model: 'llama3.2',
      experiment: null,
      callId: null,
      inputTokens: 2_034,
      outputTokens: 400,
      sentTokensEstimated: null,
      wallClockMs: 600_000,
      strict: false,
    }),
  );
}

const settled = { operation: 'settle', inputTokens: 2_034, outputTokens: 39, source: 'reported', reason: '' } as const;

async function filled(): Promise<{ folder: string; home: Home; ledger: Ledger }> {
  const made = runningConsole();
  const ada = await reserve(made.ledger, 'ada');
  expect(await made.ledger.resolve(ada, settled)).not.toBeNull();
  await reserve(made.ledger, 'grace');
  return made;
}

describe('status', () => {
  test('a table in 80 columns, while the console runs on that folder', async () => {
    const { folder } = await filled();
    const { code, stdout, stderr } = await spillway(['ledger', 'status', '--home', folder]);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^Ledger in SQLite, real book, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, 1 open hold$/);
    expect(lines[2]).toBe('SCOPE              PERIOD UNIT      LIMIT     SPENT      HELD      FREE ENDS IN');
    expect(lines[3]).toBe('acme');
    const cells = lines.slice(4).map((line) => line.trim().split(/ {2,}/).slice(0, 8).join('|'));
    expect(cells[0]).toMatch(/^whole tenant\|month\|tok\|9,000\|2,073\|2,434\|4,493 \d+[dhm]/);
    expect(cells[1]).toMatch(/^user ada\|day\|tok\|6,000\|2,073\|0\|3,927 \d+[hm]/);
    expect(cells[2]).toMatch(/^user grace\|day\|tok\|6,000\|0\|2,434\|3,566 \d+[hm]/);
    expect(cells[3]).toMatch(/^user linus\|day\|tok\|6,000\|0\|0\|6,000 \d+[hm]/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('--json and --csv have the figures', async () => {
    const { folder } = await filled();
    const json = await spillway(['ledger', 'status', '--json', '--home', folder]);
    const status = JSON.parse(json.stdout) as { store: string; book: string; openHolds: number; balances: Balance[] };
    expect([json.code, status.store, status.book, status.openHolds]).toEqual([0, 'sqlite', 'real', 1]);
    expect(status.balances.find(({ account }) => account.name === 'ada')).toMatchObject({
      limit: 6_000,
      spent: 2_073,
      held: 0,
      free: 3_927,
    });
    const csv = await spillway(['ledger', 'status', '--csv', '-', '--home', folder]);
    expect(rowsOf(csv.stdout).find((row) => row['scope_name'] === 'grace')).toMatchObject({
      held: '2434',
      free: '3566',
    });
  });

  test('--simulated is the other book', async () => {
    const { folder, ledger } = await filled();
    await reserve(ledger, 'linus', 'simulated');
    const { stdout } = await spillway(['ledger', 'status', '--simulated', '--json', '--home', folder]);
    const { balances } = JSON.parse(stdout) as { balances: Balance[] };
    const held = balances.filter((balance) => balance.held > 0).map(({ account }) => account.name);
    expect([held.sort(), balances.every(({ account }) => account.book === 'simulated')]).toEqual([
      ['acme', 'linus'],
      true,
    ]);
  });

  test('the plans of the folder count, and names cannot reach the terminal', async () => {
    const { folder, ledger } = runningConsole(
      directorySchema.parse({
        ...planned,
        users: [{ tenant: 'acme', id: `\u202e${'漢'.repeat(50)}`, plan: 'assistant' }],
        plans: planned.plans.map((plan) =>
          plan.name === 'assistant'
            ? {
                ...plan,
                budgets: [
                  { scope: 'user', window: 'day', unit: 'tokens', limit: 123_456_789_012 },
                  { scope: 'user', window: 'minute', unit: 'requests', limit: 3 },
                  { scope: 'user', window: 'run', unit: 'nano-dollars', limit: 2_500_000_000 },
                ],
              }
            : plan,
        ),
      }),
    );
    await reserve(ledger, 'ada');
    const { stdout } = await spillway(['ledger', 'status', '--home', folder]);
    expect(stdout).not.toContain('\u202e');
    expect(stdout).toMatch(/user ada +day +tok +123\.4G +0 +2,434 +123\.4G/);
    expect(stdout).toMatch(/user ada +minute calls +3 +0 +1 +2 rolling/);
    expect(stdout).toMatch(/user ada +run +\$ +\$2\.50 +\$0 +\$0 +\$2\.50 never/);
    // Each of these signs takes two columns of a terminal.
    expect(stdout).toMatch(/\n {2}user 漢{5}… {1,2}run/);
    for (const line of stdout.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test('no ledger yet is no failure: it says so and what to do', async () => {
    const folder = freshFolder();
    const plain = await spillway(['ledger', 'status', '--home', folder]);
    expect([plain.code, plain.stdout]).toEqual([0, '']);
    expect(plain.stderr).toBe(
      `No ledger yet in ${folder}: nothing was called from there. Start the console, or name its folder with --home.\n`,
    );
    for (const rest of [
      ['audit'],
      ['export', 'journal'],
      ['grant', '--tenant', 'a', '--window', 'day', '--tokens', '1'],
    ]) {
      const { code, stderr } = await spillway(['ledger', ...rest, '--home', folder]);
      expect([code, stderr]).toEqual([1, plain.stderr]);
    }
  });
});

test('after a run: its rows say what was charged, and the balances are their sum', async () => {
  const folder = freshFolder();
  const home = value(openHome({ flag: folder, environment: {} }));
  const { store } = value(openStore({ home, clock: { now: () => new Date().toISOString() } }));
  value(store.saveDirectory({ json: JSON.stringify(planned), revision: 1 }));
  store.close();
  const run = await spillway(['run', '--default', 'context', '--simulate', '--csv', '-', '--home', folder]);
  const rows = rowsOf(run.stdout);
  expect([run.code, rows.length]).toEqual([0, 10]);
  for (const row of rows) {
    expect(row).toMatchObject({
      budget_tenant: 'local',
      budget_user: 'local',
      budget_plan: 'lab',
      charge_source: 'reported',
      budget_resolution: 'settled',
      charged_tokens: String(Number(row['prompt_tokens_evaluated']) + Number(row['eval_tokens'])),
    });
    expect(Number(row['reserved_tokens'])).toBeGreaterThan(0);
  }
  const status = await spillway(['ledger', 'status', '--simulated', '--home', folder]);
  const sum = rows.reduce((total, row) => total + Number(row['charged_tokens']), 0).toLocaleString('en-US');
  expect(status.stdout).toContain('no open holds');
  expect(status.stdout).toMatch(new RegExp(`user local +day +tok +unlimited +${sum} +0 unlimited`));
  const audit = await spillway(['ledger', 'audit', '--home', folder]);
  expect(audit).toMatchObject({ code: 0, stdout: 'Sound: 20 entries, 2 accounts, 0 open holds.\n' });
});

describe('audit', () => {
  test('one line and 0 when it adds up', async () => {
    const { folder } = await filled();
    const { code, stdout } = await spillway(['ledger', 'audit', '--home', folder]);
    expect([code, stdout]).toEqual([0, 'Sound: 3 entries, 3 accounts, 1 open hold.\n']);
    const json = await spillway(['ledger', 'audit', '--json', '--home', folder]);
    expect(JSON.parse(json.stdout)).toMatchObject({ sound: true, entries: 3, openHolds: 1, faults: [] });
  });

  test('the faults and 1 when it does not', async () => {
    const { folder, home } = await filled();
    const database = new Database(home.databaseFile);
    const table = (
      database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ledger_a%'")
        .pluck()
        .all() as string[]
    )[0];
    database.exec(`UPDATE ${table} SET spent = spent - 73 WHERE spent = 2073 AND key LIKE '%:user:%'`);
    database.close();
    const { code, stdout } = await spillway(['ledger', 'audit', '--home', folder]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^NOT SOUND: 3 entries, 3 accounts, 1 open hold\./);
    expect(stdout).toMatch(/:user:ada:day:\S+: spent is 2000, its entries sum to 2073/);
    const json = await spillway(['ledger', 'audit', '--json', '--home', folder]);
    expect([json.code, (JSON.parse(json.stdout) as Audit).sound]).toEqual([1, false]);
  });
});

describe('export', () => {
  test('the journal to stdout, to a file, and as JSON', async () => {
    const { folder } = await filled();
    const { code, stdout, stderr } = await spillway(['ledger', 'export', 'journal', '--home', folder]);
    const rows = rowsOf(stdout);
    expect([code, stderr, rows.length]).toEqual([0, '', 6]);
    expect(rows[2]).toMatchObject({ operation: 'settle', amount: '2073', unit: 'tokens', simulated: 'false' });
    const file = join(freshFolder(), 'journal.csv');
    const toFile = await spillway(['ledger', 'export', 'journal', '--csv', file, '--home', folder]);
    expect([toFile.code, toFile.stdout, readFileSync(file, 'utf8')]).toEqual([0, '', stdout]);
    const json = await spillway(['ledger', 'export', 'journal', '--json', '--home', folder]);
    expect((JSON.parse(json.stdout) as unknown[]).length).toBe(6);
  });

  test('balances and reservations, for spreadsheets too', async () => {
    const { folder } = await filled();
    const balances = await spillway(['ledger', 'export', 'balances', '--home', folder]);
    expect(
      rowsOf(balances.stdout)
        .map((row) => row['scope_name'])
        .sort(),
    ).toEqual(['acme', 'ada', 'grace']);
    const sheet = await spillway([
      'ledger',
      'export',
      'reservations',
      '--profile',
      'spreadsheet',
      '--separator',
      ';',
      '--home',
      folder,
    ]);
    expect(sheet.stdout.startsWith('\ufeffreservation_id;key;')).toBe(true);
  });

  test.each([
    [['ledger', 'export', 'everything'], 'There is no table everything. Give journal, balances, reservations.\n'],
    [
      ['ledger', 'export', 'journal', '--csv', '-', '--json'],
      '--csv and --json are two formats. Leave one out; --json writes to stdout.\n',
    ],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await spillway(args);
    expect([code, stderr]).toEqual([2, message]);
  });

  test('a file that cannot be made', async () => {
    const { folder } = await filled();
    const { code, stderr } = await spillway([
      'ledger',
      'export',
      'journal',
      '--csv',
      join(folder, 'no', 'such'),
      '--home',
      folder,
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('cannot be written: its folder is not there.');
  });
});

describe('grant', () => {
  const grant = (...rest: string[]) => spillway(['ledger', 'grant', ...rest]);

  test('adds to the limit of now, and the running console sees it', async () => {
    const { folder, ledger } = await filled();
    const { code, stdout, stderr } = await grant(
      '--tenant',
      'acme',
      '--user',
      'ada',
      '--window',
      'day',
      '--tokens',
      '5000',
      '--reason',
      'workshop',
      '--home',
      folder,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^Granted 5,000 tokens to user ada of acme, day \d{4}-\d\d-\d\d: limit 11,000, spent 2,073, held 0, free 8,927\.\n$/,
    );
    const { balances } = value(await ledger.view('real'));
    expect(balances.find(({ account }) => account.name === 'ada')).toMatchObject({ limit: 11_000, granted: 5_000 });
    const [entry] = value(await ledger.store.entries({ book: 'real', operations: ['grant'], limit: 1 }));
    expect(entry).toMatchObject({ owner: 'command-line', reason: 'workshop', tenant: 'acme', user: 'ada' });
    expect(value(await ledger.audit()).sound).toBe(true);
  });

  test('the whole tenant, in the simulated book, as JSON', async () => {
    const { folder } = await filled();
    const { code, stdout } = await grant(
      '--tenant',
      'acme',
      '--window',
      'month',
      '--tokens',
      '1',
      '--simulated',
      '--json',
      '--home',
      folder,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      limit: 9_001,
      granted: 1,
      account: { book: 'simulated', scope: 'tenant' },
    });
  });

  test.each([
    [[], '--tenant is missing. Say whose budget: --tenant acme.'],
    [['--tenant', ' '], '--tenant must not be empty. Correct the name.'],
    [['--tenant', 'acme'], '--window is missing. Say which limit: --window day.'],
    [
      ['--tenant', 'acme', '--window', 'day'],
      '--tokens, --requests or --dollars is missing. Say how much: --tokens 5000.',
    ],
    [['--tenant', 'acme', '--user', 'a', '--model', 'm'], '--model and --user name two budgets. Leave one out.'],
    [
      ['--tenant', 'acme', '--window', 'day', '--tokens', '1', '--dollars', '1'],
      '--dollars and --tokens are two amounts. Grant one at a time.',
    ],
    ...['0', '-5', '1.5', 'NaN', 'Infinity', '1e3', '', '9007199254740993'].map((amount): [string[], string] => [
      ['--tenant', 'acme', '--window', 'day', `--tokens=${amount}`],
      '--tokens must be a whole number from 1 to 1,000,000,000,000,000. Correct it and grant again.',
    ]),
    ...['0', '-1', '0.0000000001', '1,5', '1e3', '10000000'].map((amount): [string[], string] => [
      ['--tenant', 'acme', '--window', 'day', `--dollars=${amount}`],
      '--dollars must be dollars from 0.000000001 to 1,000,000, such as 2.50. Correct it and grant again.',
    ]),
  ])('%j is bad input that names its flag', async (args, message) => {
    const { code, stdout, stderr } = await grant(...args);
    expect([code, stdout, stderr]).toEqual([2, '', `${message}\n`]);
  });

  test('a window that is none, and one that the plan has no limit for', async () => {
    const none = await grant('--tenant', 'acme', '--window', 'year', '--tokens', '1');
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("'--window <period>'");
    const { folder } = await filled();
    const { code, stderr } = await grant(
      '--tenant',
      'acme',
      '--user',
      'ada',
      '--window',
      'week',
      '--tokens',
      '1',
      '--home',
      folder,
    );
    expect([code, stderr]).toEqual([
      2,
      '--window week: The plan assistant has no limit for that user and week. There is nothing to grant where there is no limit.\n',
    ]);
  });
});

test('a database of an older Spillway is left as it is', async () => {
  const { folder, home } = runningConsole();
  const database = new Database(home.databaseFile);
  database.pragma('user_version = 1');
  database.close();
  const { code, stderr } = await spillway(['ledger', 'status', '--home', folder]);
  expect(code).toBe(1);
  expect(stderr).toContain('was made by an older Spillway. Start the console once: it brings the file up to date.');
});

describe('in a Redis', () => {
  /** Spent 2,073 of a budget that several consoles share. */
  async function shared(): Promise<{ url: string; ledger: Ledger }> {
    const redis = await startRedis();
    const store = value(await openRedisStore({ url: redis.url }));
    onTestFinished(async () => {
      await store.close();
      await redis.close();
    });
    const ledger = createLedger({
      store,
      directory: () => planned,
      prices: () => null,
      newId: () => 'hold_shared',
      owner: 'elsewhere/start',
      clockOffsetMs: () => 0,
      events: { emit: () => undefined },
    });
    expect(await ledger.resolve(await reserve(ledger, 'ada'), settled)).not.toBeNull();
    return { url: redis.url, ledger };
  }

  /** A folder with the plans and this address in its settings. */
  function folderWith(redisUrl: string): string {
    const folder = freshFolder();
    const home = value(openHome({ flag: folder, environment: {} }));
    const { store } = value(openStore({ home, clock: { now: () => new Date().toISOString() } }));
    value(store.saveDirectory({ json: JSON.stringify(planned), revision: 1 }));
    value(store.saveSettings({ ...store.settings(), redisUrl }));
    store.close();
    return folder;
  }

  test('every command works there, on the setting before the environment', async () => {
    const { url, ledger } = await shared();
    const folder = folderWith(url);
    const ask = (...args: string[]) =>
      spillway(['ledger', ...args, '--home', folder], { SPILLWAY_REDIS_URL: 'redis://127.0.0.1:1' });
    const status = await ask('status');
    expect([status.code, status.stderr]).toEqual([0, '']);
    expect(status.stdout).toMatch(/^Ledger in Redis, real book, .*, no open holds\n/);
    expect(status.stdout).toMatch(/user ada +day +tok +6,000 +2,073 +0 +3,927 /);
    expect(await ask('audit')).toMatchObject({ code: 0, stdout: 'Sound: 2 entries, 2 accounts, 0 open holds.\n' });
    const granted = await ask('grant', '--tenant', 'acme', '--user', 'ada', '--window', 'day', '--tokens', '100');
    expect(granted.stdout).toMatch(/limit 6,100, spent 2,073, held 0, free 4,027\.\n$/);
    expect(value(await ledger.view('real')).balances[0]?.granted).toBe(100);
    expect(rowsOf((await ask('export', 'journal')).stdout).map((row) => row['operation'])).toEqual([
      'grant',
      'settle',
      'settle',
      'reserve',
      'reserve',
    ]);
  });

  test('a folder without a database takes the address of the environment', async () => {
    const { url } = await shared();
    const { code, stdout } = await spillway(['ledger', 'status'], { SPILLWAY_REDIS_URL: url });
    expect([code, stdout.split(',')[0]]).toEqual([0, 'Ledger in Redis']);
  });
});

test('an address of Redis that is none is bad input', async () => {
  const { code, stderr } = await spillway(['ledger', 'status'], { SPILLWAY_REDIS_URL: 'http://nowhere' });
  expect(code).toBe(2);
  expect(stderr).toContain('is no address of a Redis');
});

test('a Redis that does not answer is told, not taken for an empty ledger', async () => {
  const { code, stdout, stderr } = await spillway(['ledger', 'status'], { SPILLWAY_REDIS_URL: 'redis://127.0.0.1:1' });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('127.0.0.1:1');
});
