import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openHome } from '../../shared/node/storage/home.ts';
import { openLedgerStore } from '../../shared/node/storage/ledger-store.ts';
import { acquireLock } from '../../shared/node/storage/lock.ts';
import { openStore } from '../../shared/node/storage/store.ts';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import { START_MS, reserveOf } from '../node/ledger/asks.ts';
import { value } from '../node/storage/records.ts';
import { freshFolder, spillway } from './spillway.ts';

interface Report {
  readonly healthy: boolean;
  readonly checks: {
    readonly name: string;
    readonly state: string;
    readonly text: string;
    readonly next: string | null;
  }[];
}

async function report(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ code: number | null; report: Report }> {
  const { code, stdout } = await spillway(['doctor', '--json', ...args], environment);
  return { code, report: JSON.parse(stdout) as Report };
}

const named = (found: Report, name: string) => found.checks.filter((check) => check.name === name);

test('no server is a problem with a next step', async () => {
  const { code, report: found } = await report([]);
  expect([code, found.healthy]).toEqual([1, false]);
  expect(named(found, 'ollama')).toEqual([
    {
      name: 'ollama',
      state: 'problem',
      text: expect.stringContaining('No Ollama at 127.0.0.1:1') as string,
      next: 'With --simulate the simulator takes its place.',
    },
  ]);
  expect(named(found, 'database')[0]?.text).toBe('None yet; the first start makes it.');
  expect(named(found, 'ports')).toHaveLength(2);
});

test('a server with models is fine', async () => {
  const server = await startSimulator({ port: 0, timeScale: 0 });
  onTestFinished(() => server.stop());
  const { code, report: found } = await report(['--ollama', server.url]);
  expect([code, found.healthy]).toEqual([0, true]);
  expect(named(found, 'ollama')[0]?.text).toContain('0.33.0-rc2');
  expect(named(found, 'models')[0]?.text).toMatch(/^\d+ models; none is loaded\.$/);
});

test('a wrong OLLAMA_HOST is named', async () => {
  const { code, report: found } = await report([], { OLLAMA_HOST: 'ftp://nowhere' });
  expect(code).toBe(1);
  expect(named(found, 'ollama')[0]?.text).toContain('OLLAMA_HOST');
});

test('a data folder that cannot be used is named', async () => {
  const blocked = join(freshFolder(), 'file');
  writeFileSync(blocked, 'in the way');
  const { code, report: found } = await report(['--home', blocked]);
  expect(code).toBe(1);
  expect(named(found, 'data folder')[0]).toMatchObject({ state: 'problem' });
});

test('a folder in use: by whom and where, without the token that lets in', async () => {
  const folder = freshFolder();
  const home = openHome({ flag: folder, environment: {} });
  if (!home.ok) throw new Error(home.denial.message);
  const url = 'http://127.0.0.1:11480/?token=SECRET';
  const lock = acquireLock(home.value, { pid: process.pid, host: 'browser', url });
  if (!lock.ok) throw new Error(lock.denial.message);
  onTestFinished(() => lock.value.release());
  const { report: found } = await report(['--home', folder]);
  expect(named(found, 'database')[0]?.text).toBe(`In use by Spillway, pid ${process.pid}, http://127.0.0.1:11480/.`);
  expect(JSON.stringify(found)).not.toContain('SECRET');
});

test('a damaged database is moved aside and told, a newer one is left alone and told', async () => {
  const damaged = freshFolder();
  writeFileSync(join(damaged, 'spillway.sqlite'), 'not a database at all');
  const first = await report(['--home', damaged]);
  expect(
    named(first.report, 'database')
      .map((check) => check.text)
      .join(' '),
  ).toContain('It was moved to');

  const newer = freshFolder();
  const database = new Database(join(newer, 'spillway.sqlite'));
  database.pragma('user_version = 999');
  database.exec('CREATE TABLE t (x)');
  database.close();
  const second = await report(['--home', newer]);
  expect(second.code).toBe(1);
  expect(named(second.report, 'database')[0]).toMatchObject({ state: 'problem' });
  expect(existsSync(join(newer, 'spillway.sqlite'))).toBe(true);
});

test('a ledger that adds up, also while a console uses it; one that does not; one in a Redis that is away', async () => {
  const folder = freshFolder();
  expect(named((await report(['--home', folder])).report, 'ledger')).toEqual([]);
  const home = value(openHome({ flag: folder, environment: {} }));
  const lock = value(acquireLock(home, { pid: process.pid, host: 'browser', url: null }));
  onTestFinished(() => lock.release());
  value(openStore({ home, clock: { now: () => '2026-11-14T09:30:00.000Z' } })).store.close();
  const ledger = value(openLedgerStore({ file: home.databaseFile, nowMs: () => START_MS, synchronous: 'full' }));
  onTestFinished(() => ledger.close());
  value(await ledger.reserve(reserveOf()));
  expect(named((await report(['--home', folder])).report, 'ledger')).toEqual([
    { name: 'ledger', state: 'ok', text: 'Sound, in SQLite, 1 entry, 1 open hold.', next: null },
  ]);

  const database = new Database(home.databaseFile);
  database.exec('UPDATE ledger_accounts SET held = held - 1');
  database.close();
  const broken = await report(['--home', folder]);
  expect([broken.code, named(broken.report, 'ledger')[0]]).toMatchObject([
    1,
    {
      state: 'problem',
      text: expect.stringContaining('Does not add up: ') as string,
      next: 'All of it: spillway ledger audit',
    },
  ]);

  const away = await report([], { SPILLWAY_REDIS_URL: 'redis://127.0.0.1:1' });
  expect(named(away.report, 'ledger')).toMatchObject([
    { state: 'problem', text: expect.stringContaining('127.0.0.1:1') as string },
  ]);
});

test('a server that answers and is no Ollama is told as such', async () => {
  const server = createServer((_request, response) => response.end('<html>Welcome</html>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { code, report: found } = await report(['--ollama', `127.0.0.1:${(server.address() as AddressInfo).port}`]);
  expect(code).toBe(1);
  expect(named(found, 'ollama')[0]?.text).toContain('answers, but is not Ollama');
});

test('prints one line a check', async () => {
  const { stdout } = await spillway(['doctor']);
  for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^(ok|warning|PROBLEM) +\S/);
});

test('help and version of the command line', async () => {
  const help = await spillway(['--help']);
  expect(help.code).toBe(0);
  for (const name of ['run', 'explain', 'simulator', 'ledger', 'web', 'doctor'])
    expect(help.stdout).toContain(`  ${name} `);
  expect((await spillway(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
