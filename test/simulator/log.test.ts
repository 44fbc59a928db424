/** The log: formats, levels, the ring's bound, the tailable file. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../shared/node/simulator/log.ts';
import { goDuration, goJson, goTime } from '../../shared/node/simulator/wire.ts';
import { chat, logged, withSimulator } from './with-simulator.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('lines have the forms of the real server', async () => {
  const log = createLog({ debug: true, file: null });
  log.entry('WARN', 'llama_server.go:317', 'truncating input prompt', [
    ['limit', 2051],
    ['note', 'two words'],
    ['empty', ''],
    ['say', 'a="b"'],
  ]);
  log.access(200, 1_484_135_428, 'POST', '/api/chat');
  log.access(404, 50_806, 'GET', '/x');
  const [first, second, third] = log.lines();
  expect(first).toMatch(
    /^time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=WARN source=llama_server\.go:317 msg="truncating input prompt" limit=2051 note="two words" empty="" say="a=\\"b\\""$/,
  );
  expect(second).toMatch(
    /^\[GIN\] \d{4}\/\d\d\/\d\d - \d\d:\d\d:\d\d \| 200 \| {1,2}1\.484135428s \| {7}127\.0\.0\.1 \| POST {5}"\/api\/chat"$/,
  );
  expect(third).toMatch(/\| 404 \| +50\.806µs \| {7}127\.0\.0\.1 \| GET {6}"\/x"$/);
});

test('DEBUG lines need debug', () => {
  const quiet = createLog({ debug: false, file: null });
  quiet.entry('DEBUG', 'a.go:1', 'x', []);
  quiet.entry('INFO', 'a.go:1', 'y', []);
  expect(quiet.lines()).toHaveLength(1);
});

test('the ring is bounded and says how much it dropped', () => {
  const log = createLog({ debug: false, file: null });
  for (let index = 0; index < 12_000; index += 1) log.raw(`line ${index}`);
  expect(log.lines().length).toBeLessThanOrEqual(5_000);
  expect(log.lines().length + log.dropped()).toBe(12_000);
  expect(log.lines().at(-1)).toBe('line 11999');
});

test('the file is appended to while calls run, and can be tailed', async () => {
  const file = join(folder, 'server.log');
  writeFileSync(file, 'older line\n');
  await withSimulator({ logFile: file, debug: true }, async (simulator) => {
    await chat(simulator, 'word '.repeat(900), { options: { num_ctx: 512 } });
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('msg="truncating input prompt" limit=259');
    expect(readFileSync(file, 'utf8')).toMatch(/^older line\n/);
    await chat(simulator, 'Say hi.');
    await expect
      .poll(() => readFileSync(file, 'utf8').trimEnd().split('\n').slice(1))
      .toEqual([...simulator.logLines()]);
  });
});

test('a file over its bound moves aside', async () => {
  const file = join(folder, 'server.log');
  writeFileSync(file, 'x'.repeat(50_000_001));
  const log = createLog({ debug: false, file });
  log.raw('after');
  await log.close();
  expect(readdirSync(folder).sort()).toEqual(['server-1.log', 'server.log']);
  expect(readFileSync(file, 'utf8')).toBe('after\n');
});

test('the start tells the settings, a load the path of the prompts', async () => {
  await withSimulator({ defaultNumCtx: 8192, numParallel: 2 }, async (simulator) => {
    for (const model of ['sim-reader', 'sim-native', 'sim-harmony', 'sim-qwen3.5'])
      await chat(simulator, 'Say hi.', { model });
    expect(logged(simulator, 'msg="server config"')[0]).toMatch(
      /env="map\[OLLAMA_CONTEXT_LENGTH:8192 .*OLLAMA_NUM_PARALLEL:2 /,
    );
    expect(logged(simulator, 'msg="vram-based default context"')[0]).toMatch(/total_vram="0 B" default_num_ctx=8192$/);
    expect(logged(simulator, 'msg="template selection"').map((line) => /selected=(\S+)/.exec(line)?.[1])).toEqual([
      'go_template',
      'gguf_chat_template',
      'harmony',
      'parser',
    ]);
  });
});

test('dropped messages are told at DEBUG only, cuts at WARN', async () => {
  const messages = Array.from({ length: 12 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: 'word '.repeat(120),
  }));
  for (const [model, kept] of [
    ['sim-reader', 'truncated=4'],
    ['sim-native', 'truncated=8'],
  ] as const) {
    await withSimulator({ debug: true }, async (simulator) => {
      const reply = await chat(simulator, '', { model, messages, options: { num_ctx: 512 } });
      expect(reply.status).toBe(200);
      expect(logged(simulator, 'messages which exceed context length')).toHaveLength(1);
      expect(logged(simulator, 'messages which exceed context length')[0]).toMatch(
        new RegExp(`level=DEBUG .*${kept}$`),
      );
    });
    await withSimulator({}, async (simulator) => {
      await chat(simulator, '', { model, messages, options: { num_ctx: 512 } });
      expect(logged(simulator, 'exceed context length')).toEqual([]);
    });
  }
});

test.each([
  [999, '999ns'],
  [50_806, '50.806µs'],
  [61_130, '61.13µs'],
  [1_200_000, '1.2ms'],
  [1_426_000_000, '1.426s'],
  [64_500_000_000, '1m4.5s'],
  [3_600_000_000_000, '1h0m0s'],
])('%i ns is %s', (nanoseconds, text) => {
  expect(goDuration(nanoseconds)).toBe(text);
});

test('times and JSON as Go writes them', () => {
  expect(goTime(Date.UTC(2026, 10, 29, 19, 42, 3) + 500)).toBe('2026-11-29T19:42:03.5Z');
  expect(goTime(Date.UTC(2026, 10, 29, 19, 42, 3))).toBe('2026-11-29T19:42:03Z');
  expect(goJson({ a: '<b>&\u2028', c: '\ud800x', d: '\\ud800' })).toBe(
    '{"a":"\\u003cb\\u003e\\u0026\\u2028","c":"\ufffdx","d":"\\\\ud800"}',
  );
});
