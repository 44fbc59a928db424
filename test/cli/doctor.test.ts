import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
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

test('prints one line a check', async () => {
  const { stdout } = await spillway(['doctor']);
  for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^(ok|warning|PROBLEM) +\S/);
});

test('help and version of the command line', async () => {
  const help = await spillway(['--help']);
  expect(help.code).toBe(0);
  for (const name of ['run', 'explain', 'simulator', 'web', 'doctor']) expect(help.stdout).toContain(`  ${name} `);
  expect((await spillway(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
