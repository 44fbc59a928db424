/** On an old Node an entry in TypeScript ends without a word that helps, so something older than TypeScript has to say it. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const check = read('scripts/require-node.cjs');

function under(version: string): { said: string; code: number | null } {
  const seen = { said: '', code: null as number | null };
  const process = {
    versions: { node: version },
    execPath: '/usr/bin/node',
    stderr: { write: (text: string) => (seen.said += text) },
    exit: (code: number) => (seen.code = code),
  };
  runInNewContext(check, { process });
  return seen;
}

test.each(['18.0.0', '20.20.2', '22.17.1', '23.5.0'])('Node %s ends with 2 and says what to do', (version) => {
  const { said, code } = under(version);
  expect(code).toBe(2);
  expect(said).toContain(`this is ${version} (/usr/bin/node)`);
  expect(said).toContain('npm ci');
});

test.each(['22.18.0', '23.6.0', '24.21.0', '26.0.0'])('Node %s goes on', (version) => {
  expect(under(version)).toEqual({ said: '', code: null });
});

test('every script of npm that starts one of our entries has it loaded first', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const entries = Object.entries(scripts).filter(([, line]) => /\b(?:scripts|shared)\/\S+\.ts\b/.test(line));
  expect(entries.map(([name]) => name).sort()).toEqual(
    expect.arrayContaining(['build', 'dev', 'spillway', 'start', 'web']),
  );
  for (const [, line] of entries) expect(line).toMatch(/^node -r \.\/scripts\/require-node\.cjs (?:scripts|shared)\//);
});
