/** `--log` of `run` and `web`: processes of their own, a real file between them. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readWebOptions } from '../../shared/node/bin/web-command.ts';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import { freshFolder, rowsOf, spillway } from './spillway.ts';

async function simulatorWith(logFile: string): Promise<string> {
  writeFileSync(logFile, '');
  const simulator = await startSimulator({ port: 0, timeScale: 0 });
  simulator.state.log.onLine((line) => appendFileSync(logFile, `${line}\n`));
  onTestFinished(() => simulator.stop());
  return simulator.url;
}

function experiment(): string {
  const path = join(freshFolder(), 'cut.yaml');
  writeFileSync(path, 'models: [sim-reader]\nnum_ctx: [512]\nsizes: [500, 6000]\nrepeats: 2\n');
  return path;
}

const confidences = (stdout: string): unknown[] =>
  rowsOf(stdout)
    .filter((row) => row['warm_up'] === 'false')
    .map((row) => [row['truncation'], row['truncation_confidence']]);

test('run --log FILE: verdicts are exact, equal cells one after the other too', async () => {
  const log = join(freshFolder(), 'server.log');
  const url = await simulatorWith(log);
  const { code, stdout, stderr } = await spillway(['run', experiment(), '--ollama', url, '--log', log, '--csv', '-']);
  expect([code, stderr.includes('Note:')]).toEqual([0, false]);
  expect(confidences(stdout).sort()).toEqual([
    ['halved', 'exact'],
    ['halved', 'exact'],
    ['intact', 'exact'],
    ['intact', 'exact'],
  ]);
});

test('a log that is not there is said once, and the rows are as without it', async () => {
  const url = await simulatorWith(join(freshFolder(), 'server.log'));
  const missing = join(freshFolder(), 'none.log');
  const { code, stdout, stderr } = await spillway([
    'run',
    experiment(),
    '--ollama',
    url,
    '--log',
    missing,
    '--csv',
    '-',
  ]);
  expect(code).toBe(0);
  expect(stderr).toContain(`Note: ${missing} is not there.`);
  expect(confidences(stdout)).toContainEqual(['halved', 'certain']);
});

test('an empty --log is named', async () => {
  expect(await spillway(['run', '--default', 'context', '--log', ''])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--log is empty.') as string,
  });
  expect(readWebOptions(['--log', ''])).toMatchObject({ ok: false, denial: { field: '--log' } });
  expect(readWebOptions(['--log', 'journal'])).toMatchObject({ ok: true, value: { log: 'journal' } });
});
