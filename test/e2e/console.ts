/** The console as a person has it: the browser host in a process of its own, and a page in Debian's Chromium. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { chromiumLaunch } from '../support/chromium.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Host {
  readonly link: string;
  readonly pid: number;
  /** What it wrote so far, both streams. */
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `web.ts` on a free port and waits for its link. */
export async function startHost(
  home: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<Host> {
  const child: ChildProcess = spawn(
    process.execPath,
    ['shared/node/bin/web.ts', '--no-open', '--port', '0', '--home', home, ...args],
    {
      cwd: root,
      env: { ...process.env, OLLAMA_HOST: '', SPILLWAY_HOME: '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const ended = once(child, 'exit') as Promise<[number | null]>;
  let text = '';
  const link = await new Promise<string>((resolve, reject) => {
    const take = (part: Buffer): void => {
      text += part.toString();
      const found = /https?:\/\/\S+token=\S+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    void ended.then(([code]) => reject(new Error(`the host ended with ${code}: ${text}`)));
  });
  return {
    link,
    pid: child.pid ?? 0,
    output: () => text,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return (await ended)[0];
    },
  };
}

export interface Console {
  home(): string;
  start(args?: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Host>;
  /** A page of its own profile; what it logs as an error fails the test. */
  open(link: string, options?: { width?: number; height?: number; theme?: 'light' | 'dark' }): Promise<Page>;
}

/** One browser a file; hosts, pages and folders go with each test. */
export function useConsole(): Console {
  let browser: Browser | null = null;
  let homeFolder: string | null = null;
  const hosts: Host[] = [];
  const contexts: BrowserContext[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch(chromiumLaunch);
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    for (const host of hosts.splice(0)) await host.stop();
    if (homeFolder !== null) rmSync(homeFolder, { recursive: true, force: true });
    homeFolder = null;
    const seen = problems.splice(0);
    if (seen.length > 0) throw new Error(`The page complained: ${seen.join('; ')}`);
  });

  const home = (): string => (homeFolder ??= mkdtempSync(join(tmpdir(), 'spillway-e2e-')));
  return {
    home,
    async start(args = [], environment = {}) {
      const host = await startHost(home(), args, environment);
      hosts.push(host);
      return host;
    },
    async open(link, { width = 1280, height = 800, theme = 'light' } = {}) {
      if (browser === null) throw new Error('the browser is not there');
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        acceptDownloads: true,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => {
        // A host that is killed on purpose closes the line; the page says so itself.
        if (message.type() === 'error' && !/WebSocket|ERR_CONNECTION|net::|404|401/.test(message.text()))
          problems.push(message.text());
      });
      await page.goto(link);
      await page.waitForSelector('main');
      return page;
    },
  };
}
