/** The built shell, run without Electron: a preload that requires too much, or a main that does not start, is seen here. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acquireLock } from '../../shared/node/storage/lock.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;

beforeAll(async () => {
  // Below the root, so that the main finds the packages as it does in an installation.
  folder = mkdtempSync(join(root, 'node_modules/.cache-bundle-'));
  for (const config of ['vite.main.config.ts', 'vite.preload.config.ts']) {
    await build({
      configFile: join(root, config),
      root,
      logLevel: 'error',
      build: { outDir: join(folder, 'electron') },
    });
  }
  const renderer = join(folder, 'renderer');
  await import('node:fs/promises').then(({ mkdir }) => mkdir(renderer));
  writeFileSync(join(renderer, 'index.html'), '<!doctype html><title>Spillway</title>');
}, 60_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('the built preload needs nothing that a sandboxed page does not have, and exposes exactly two functions', () => {
  const exposed: Record<string, Record<string, unknown>> = {};
  const sent: unknown[][] = [];
  const heard: Record<string, (...values: unknown[]) => void> = {};
  const electron = {
    contextBridge: { exposeInMainWorld: (name: string, bridge: Record<string, unknown>) => (exposed[name] = bridge) },
    ipcRenderer: {
      on: (channel: string, listener: (...values: unknown[]) => void) => (heard[channel] = listener),
      send: (...values: unknown[]) => sent.push(values),
    },
  };
  const allowed: Record<string, unknown> = { electron, events: {}, timers: {}, url: {} };
  const require = (name: string): unknown => {
    if (!Object.hasOwn(allowed, name)) throw new Error(`module not found: ${name}`);
    return allowed[name];
  };
  const module = { exports: {} };
  runInNewContext(readFileSync(join(folder, 'electron/preload.cjs'), 'utf8'), {
    require,
    module,
    exports: module.exports,
  });

  expect(Object.keys(exposed)).toEqual(['spillway']);
  const bridge = exposed.spillway as { send(message: unknown): void; subscribe(listener: unknown): () => void };
  expect(Object.keys(bridge).sort()).toEqual(['send', 'subscribe']);
  bridge.send('{"kind":"request"}');
  bridge.send({ not: 'a text' });
  expect(sent).toEqual([['spillway-to-engine', '{"kind":"request"}']]);

  const texts: string[] = [];
  const unsubscribe = bridge.subscribe((text: string) => texts.push(text));
  heard['spillway-to-screen']?.({}, 'one');
  unsubscribe();
  heard['spillway-to-screen']?.({}, 'two');
  expect([texts, sent.slice(1)]).toEqual([['one'], [['spillway-taken'], ['spillway-taken']]]);
  expect(() => bridge.subscribe('no function')).toThrow();
});

test('the built main starts: scheme, window, page, a request, and a clean end', async () => {
  const home = mkdtempSync(join(tmpdir(), 'spillway-home-'));
  const { lines, code } = await runMain(home);
  expect(code).toBe(0);
  expect(lines[0]).toEqual({ what: 'looked', pageStatus: 200, host: 'desktop' });
  expect(lines[1]).toMatchObject({
    what: 'shown',
    windows: 1,
    calls: ['loadURL spillway://app/index.html', 'show'],
    preload: join(folder, 'electron/preload.cjs'),
    schemes: [
      { scheme: 'spillway', privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
    ],
    paths: { userData: join(home, 'desktop') },
    sandboxed: true,
    errorBoxes: [],
  });
  expect(existsSync(join(home, 'lock.json'))).toBe(false);
  rmSync(home, { recursive: true, force: true });
});

test('a second instance quits at once and opens nothing', async () => {
  const home = mkdtempSync(join(tmpdir(), 'spillway-home-'));
  const { lines } = await runMain(home, { FAKE_SECOND_INSTANCE: '1' });
  expect(lines).toMatchObject([{ what: 'shown', windows: 0, quits: 1 }]);
  expect(existsSync(join(home, 'spillway.sqlite'))).toBe(false);
  rmSync(home, { recursive: true, force: true });
});

test('a data folder that another host holds is explained in a box', async () => {
  const home = mkdtempSync(join(tmpdir(), 'spillway-home-'));
  const lock = acquireLock({ folder: home }, { pid: process.pid, host: 'browser', url: 'http://127.0.0.1:11480/' });
  if (!lock.ok) throw new Error(lock.denial.message);
  const { lines, code } = await runMain(home);
  lock.value.release();
  expect(code).toBe(1);
  expect(lines).toMatchObject([
    { what: 'exit', windows: 0, errorBoxes: [expect.stringMatching(/already runs here .*127\.0\.0\.1:11480/u)] },
  ]);
  rmSync(home, { recursive: true, force: true });
});

function runMain(
  home: string,
  more: Record<string, string> = {},
): Promise<{ lines: Record<string, unknown>[]; code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        '--no-warnings',
        '--import',
        join(root, 'test/electron/electron-hooks.ts'),
        join(folder, 'electron/main.js'),
        '--simulate',
      ],
      { env: { ...process.env, ...more, SPILLWAY_HOME: home }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 25_000 },
    );
    let out = '';
    let problems = '';
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (problems += part.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      const lines = out
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      if (lines.length === 0) reject(new Error(`the main said nothing: ${problems}`));
      else resolve({ lines, code });
    });
  });
}
