/**
 * The browser host as a person meets it: from start to first paint, and long tasks of the page while tokens stream in at 2,000
 * and 10,000 a second. Runs the host as its own process and Debian's Chromium.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type Page, chromium } from 'playwright-core';
import { chromiumLaunch } from '../support/chromium.ts';
import type { Figure } from './figures.ts';

const SECONDS = 6;

export async function benchScreen(): Promise<Figure[]> {
  const browser = await chromium.launch(chromiumLaunch);
  try {
    const figures = [await firstPaint(browser)];
    for (const rate of [2_000, 10_000]) figures.push(...(await longTasks(browser, rate)));
    return figures;
  } finally {
    await browser.close();
  }
}

async function firstPaint(browser: Browser): Promise<Figure> {
  // Once to warm the disk cache, as on any start but the first; the median of three counts.
  const times: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const beganMs = performance.timeOrigin + performance.now();
    const host = await startHost(['--simulate']);
    const page = await browser.newPage();
    await page.goto(host.link);
    await page.waitForSelector('main');
    const paintMs = await page.evaluate(
      () => performance.timeOrigin + (performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN),
    );
    times.push(paintMs - beganMs);
    await page.close();
    await host.stop();
  }
  times.shift();
  times.sort((a, b) => a - b);
  return {
    name: 'browser host, start to first paint',
    value: times[1] ?? NaN,
    unit: 'ms',
    limit: 1_500,
    beside: 'process start to first contentful paint, median of 3',
  };
}

async function longTasks(browser: Browser, rate: number): Promise<Figure[]> {
  const server = await tokenServer(rate);
  const host = await startHost(['--ollama', server.url]);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.goto(`${host.link}#live`);
    await page
      .getByRole('textbox', { name: /message/i })
      .first()
      .fill('Count for ever.');
    await watchLongTasks(page);
    await page.getByRole('button', { name: /^send/i }).first().click();
    await page.waitForTimeout(SECONDS * 1_000);
    const seen = await page.evaluate(() => (window as never as { longTasks: number[] }).longTasks);
    const shown = await page.locator('main').innerText();
    if (!/token/.test(shown)) throw new Error('nothing streamed to the page');
    const longest = Math.max(0, ...seen);
    return [
      {
        name: `longest task at ${rate} tokens a second`,
        value: longest,
        unit: 'ms',
        limit: 50,
        beside: `${seen.filter((ms) => ms > 50).length} tasks over 50 ms in ${SECONDS} s, ${Math.round(server.sent() / SECONDS)} tokens/s sent`,
      },
    ];
  } finally {
    await page.close();
    await host.stop();
    server.stop();
  }
}

async function watchLongTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: number[] = [];
    (window as never as { longTasks: number[] }).longTasks = seen;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.push(entry.duration);
    }).observe({ type: 'longtask' });
  });
}

async function startHost(args: readonly string[]): Promise<{ link: string; stop(): Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), 'spillway-bench-'));
  const child: ChildProcess = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('../../shared/node/bin/web.ts', import.meta.url)),
      '--no-open',
      '--port',
      '0',
      '--home',
      home,
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const link = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const found = /https?:\/\/\S+token=\S+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
  return {
    link,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Looks enough like an Ollama for the Live page, and streams one line a token at the given rate until the client leaves. */
async function tokenServer(rate: number): Promise<{ url: string; sent: () => number; stop: () => void }> {
  let sent = 0;
  const model = {
    name: 'bench:latest',
    model: 'bench:latest',
    modified_at: '2026-11-29T00:00:00Z',
    size: 1,
    digest: 'b',
    details: {
      format: 'gguf',
      family: 'llama',
      families: ['llama'],
      parameter_size: '1B',
      quantization_level: 'Q4_K_M',
      context_length: 131_072,
    },
    capabilities: ['completion'],
  };
  const answers: Record<string, unknown> = {
    '/api/version': { version: '0.33.0' },
    '/api/tags': { models: [model] },
    '/api/ps': { models: [] },
    '/api/show': {
      model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 },
      capabilities: ['completion'],
      details: model.details,
    },
  };
  const server = createServer((request, response) => {
    request.resume();
    const answer = answers[request.url ?? ''];
    if (answer !== undefined) return void response.end(JSON.stringify(answer));
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    const beganMs = performance.now();
    let mine = 0;
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - beganMs) / 1_000) * rate);
      let lines = '';
      for (; mine < due; mine += 1)
        lines += `{"model":"bench:latest","created_at":"2026-11-29T00:00:00Z","message":{"role":"assistant","content":" token${mine}"},"done":false}\n`;
      sent = mine;
      response.write(lines);
    }, 5);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
