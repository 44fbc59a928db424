/** The console as a person has it: the browser host in a process of its own, and a page in Debian's Chromium. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { WebSocket } from 'ws';
import type { Denial, Result } from '../../shared/contract/denials.ts';
import { toScreenSchema } from '../../shared/contract/frames.ts';
import { type RequestName, type RequestParams, type RequestResult, requests } from '../../shared/contract/requests.ts';
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
  /** On the socket of this host, beside its pages. */
  screen(link: string): Promise<Screen>;
  /** A page of its own profile; what it logs as an error fails the test. */
  open(link: string, options?: { width?: number; height?: number; theme?: 'light' | 'dark' }): Promise<Page>;
}

/** A screen without a page: what a person cannot ask for by pressing something, an attacker can. */
export interface Screen {
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  refused<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Denial>;
}

async function openScreen(link: string): Promise<{ screen: Screen; close(): void }> {
  const cookie = (await fetch(link)).headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const { origin, host } = new URL(link);
  const socket = new WebSocket(`ws://${host}/ws`, { origin, headers: { cookie } });
  await once(socket, 'open');
  const waiting = new Map<number, (answer: Result<unknown>) => void>();
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer) => {
    const message = toScreenSchema.parse(JSON.parse(data.toString()));
    if (message.kind !== 'response') return;
    waiting.get(message.id)?.(message.ok ? { ok: true, value: message.value } : { ok: false, denial: message.denial });
    waiting.delete(message.id);
  });
  let asked = 0;
  const send = (name: RequestName, params: unknown): Promise<Result<unknown>> => {
    const id = (asked += 1);
    socket.send(JSON.stringify({ kind: 'request', id, name, params }));
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return {
    close: () => socket.terminate(),
    screen: {
      async ask(name, params) {
        const answer = await send(name, params);
        if (!answer.ok) throw new Error(`${name}: ${answer.denial.message}`);
        return requests[name].result.parse(answer.value) as never;
      },
      async refused(name, params) {
        const answer = await send(name, params);
        if (answer.ok) throw new Error(`${name} was not refused`);
        return answer.denial;
      },
    },
  };
}

/** One browser a file; hosts, pages and folders go with each test. */
export function useConsole(): Console {
  let browser: Browser | null = null;
  let homeFolder: string | null = null;
  const hosts: Host[] = [];
  const contexts: BrowserContext[] = [];
  const screens: { close(): void }[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch(chromiumLaunch);
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    for (const screen of screens.splice(0)) screen.close();
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
    async screen(link) {
      const opened = await openScreen(link);
      screens.push(opened);
      return opened.screen;
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
