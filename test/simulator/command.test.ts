/** `spillway simulator` as a process: it says where it is, ends cleanly, and refuses what it cannot do. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const cli = fileURLToPath(new URL('../../shared/node/bin/cli.ts', import.meta.url));

describe('spillway simulator', () => {
  test('prints its address on stderr, serves, writes its log, and ends with Ctrl-C', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-simulator-'));
    try {
      const file = join(folder, 'server.log');
      const run = start([
        '--port',
        '0',
        '--time-scale',
        '0',
        '--version-of',
        '0.24.0',
        '--num-ctx',
        '1024',
        '--log',
        file,
        '--debug',
      ]);
      const url = await run.until(/at (http:\/\/127\.0\.0\.1:\d+)/);
      expect(await (await fetch(`${url}/api/version`)).json()).toEqual({ version: '0.24.0' });
      const body = { model: 'sim-reader', prompt: 'word '.repeat(2_000), stream: false, options: { num_predict: 1 } };
      const reply = (await (
        await fetch(`${url}/api/generate`, { method: 'POST', body: JSON.stringify(body) })
      ).json()) as { prompt_eval_count: number };
      expect(reply.prompt_eval_count).toBe(1024);
      run.child.kill('SIGINT');
      expect(await run.ended).toEqual({ code: 0, stdout: '' });
      expect(readFileSync(file, 'utf8')).toContain('truncating input prompt');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('a port in use is a clear error', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', () => resolve()));
    const { port } = taken.address() as { port: number };
    const run = start(['--port', String(port)]);
    expect(await run.until(/(Port \d+ is in use: [^\n]+)/)).toBe(
      `Port ${port} is in use: give another with --port, or --port 0 for any free one.`,
    );
    expect((await run.ended).code).toBe(1);
    taken.close();
  });

  test.each([
    [['--port', 'x'], /give a whole number/],
    [['--port', '70000'], /from 0 to 65535/],
    [['--time-scale', '-1'], /at least 0/],
    [['--version-of', 'newest'], /"newest" is not a version/],
    [['--fault', 'gremlins'], /error-line/],
  ])('%j is bad input', async (args, message) => {
    const run = start(args);
    await run.until(new RegExp(`(${message.source})`));
    expect((await run.ended).code).toBe(2);
  });
});

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [cli, 'simulator', ...args]);
  let stderr = '';
  let stdout = '';
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  const ended = new Promise<{ code: number | null; stdout: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout })),
  );
  /** First group of the first match in stderr. */
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(stderr)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stderr.on('data', look);
      child.on('close', () =>
        pattern.test(stderr) ? look() : reject(new Error(`ended without ${pattern}: ${stderr}`)),
      );
      look();
    });
  return { child, ended, until };
}
