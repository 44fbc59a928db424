/**
 * The desktop host: one instance, one engine, one window. What it decides is where things are on this machine; budgets,
 * verdicts and guards are decided in the engine.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BrowserWindow, app, dialog, protocol, session } from 'electron';
import type { Denial } from '../shared/contract/denials.ts';
import { createRuntime } from '../shared/node/runtime.ts';
import type { Runtime } from '../shared/node/runtime.ts';
import { openHome } from '../shared/node/storage/home.ts';
import { hardenApp, hardenSession } from './hardening.ts';
import { connectWindow } from './ipc.ts';
import { setMenu } from './menu.ts';
import { PAGE_SCHEME } from './page-address.ts';
import { createPageHandler } from './page-protocol.ts';
import { focusWindow, openWindow } from './window.ts';

/** A stop that hangs must not keep the program alive. */
const STOP_MS_MAX = 10_000;

const { values: flags } = parseArgs({
  // Chromium's own switches stand among the arguments too.
  strict: false,
  options: { home: { type: 'string' }, ollama: { type: 'string' }, simulate: { type: 'boolean' } },
});

hardenApp();
protocol.registerSchemesAsPrivileged([
  { scheme: PAGE_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
]);

const home = openHome({ flag: textOf(flags.home) });
if (home.ok) {
  // One instance for each data folder; Chromium's files stay inside it.
  app.setPath('userData', join(home.value.folder, 'desktop'));
  if (app.requestSingleInstanceLock()) void start();
  else app.quit();
} else {
  void refuse(home.denial);
}

async function start(): Promise<void> {
  const built = fileURLToPath(new URL('.', import.meta.url));
  let runtime: Runtime | null = null;
  let window: BrowserWindow | null = null;
  app.on('second-instance', () => {
    focusWindow(window);
  });
  app.on('window-all-closed', () => {
    app.quit();
  });
  app.on('before-quit', (event) => {
    if (runtime === null) return;
    event.preventDefault();
    const stopping = runtime;
    runtime = null;
    void endWith(stopping);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      app.quit();
    });
  }

  await app.whenReady();
  const created = await createRuntime({
    host: 'desktop',
    home: textOf(flags.home),
    simulate: flags.simulate === true,
    ollamaUrl: textOf(flags.ollama),
  });
  if (!created.ok) return refuse(created.denial);
  runtime = created.value;
  hardenSession(session.defaultSession);
  protocol.handle(PAGE_SCHEME, createPageHandler(join(built, '..', 'renderer')));
  setMenu();
  app.on('browser-window-created', (_event, opened) => {
    window = opened;
    connectWindow(opened.webContents, created.value);
  });
  await openWindow(join(built, 'preload.cjs'));
}

async function endWith(runtime: Runtime): Promise<void> {
  setTimeout(() => {
    app.exit(1);
  }, STOP_MS_MAX).unref();
  await runtime.stop();
  app.exit(0);
}

async function refuse(denial: Denial): Promise<void> {
  await app.whenReady();
  const sentence = `${denial.message}${denial.next === undefined ? '' : `\n\n${denial.next}`}`;
  process.stderr.write(`${sentence.replaceAll('\n\n', ' ')}\n`);
  dialog.showErrorBox('Spillway cannot start', sentence);
  app.exit(1);
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
