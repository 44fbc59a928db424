/** Chooses between desktop and browser. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildStale, root } from './builds.ts';
import { findElectron, hasDisplay } from './electron-binary.ts';
import { offerElectron } from './install-electron.ts';
import { runWebHost } from './run-web-host.ts';

/** A window that is gone by a signal this soon never was one: no usable sandbox, no usable display. */
const FAILED_START_MS_MAX = 10_000;

/** Answers the exit code. */
export async function start(args: readonly string[]): Promise<number> {
  const machine = { platform: process.platform, environment: process.env };
  const packageFolder = join(root, 'node_modules/electron');
  if (!hasDisplay(machine)) return inBrowser('There is no display for the desktop window', args);
  let binary = findElectron(packageFolder, machine);
  if (binary === null && (await offerElectron(root))) binary = findElectron(packageFolder, machine);
  if (binary === null) return inBrowser('Electron is not installed (npx install-electron fetches it)', args);
  await buildStale(['renderer', 'main', 'preload']);
  const ended = await runDesktop(binary, args);
  return ended.failedToStart ? inBrowser('Electron did not start here', args) : ended.code;
}

function inBrowser(reason: string, args: readonly string[]): Promise<number> {
  process.stdout.write(`${reason}: Spillway opens in the browser instead.\n`);
  return runWebHost(args);
}

function runDesktop(binary: string, args: readonly string[]): Promise<{ code: number; failedToStart: boolean }> {
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const child = spawn(binary, [root, ...args], { stdio: 'inherit' });
    let wasAsked = false;
    // Ctrl-C reaches the whole group: the window ends by itself, this only waits for it.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        wasAsked = true;
        child.kill(signal);
      });
    }
    child.once('error', () => {
      resolve({ code: 1, failedToStart: true });
    });
    child.once('exit', (code, signal) => {
      const wasQuick = performance.now() - startedMs < FAILED_START_MS_MAX;
      resolve({ code: code ?? 1, failedToStart: signal !== null && wasQuick && !wasAsked });
    });
  });
}
