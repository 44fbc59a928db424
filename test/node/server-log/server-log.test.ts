/** The log beside the calls, on simulated time: never needed, never in the way. */
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CallId } from '../../../shared/contract/ids.ts';
import type { ServerLogState } from '../../../shared/contract/server.ts';
import type { LogCallEnded, LogCallSent } from '../../../shared/engine/ports.ts';
import { childSource } from '../../../shared/node/server-log/child-source.ts';
import { type LogQuestion, planLog } from '../../../shared/node/server-log/places.ts';
import { LOG_WAIT_MS_MAX, createServerLog } from '../../../shared/node/server-log/server-log.ts';

const lines = [
  'time=2026-11-29T20:22:01.906Z level=WARN source=llama_server.go:317 msg="truncating input prompt" limit=259 prompt=1421 keep=5 new=259',
  'slot   operator(): id  1 | task 0 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = 259',
  'slot   operator(): id  1 | task 0 | cached n_tokens = 0, memory_seq_rm [0, end)',
  'slot      release: id  1 | task 0 | stop processing: n_tokens = 266, truncated = 0',
];
const access = '[GIN] 2026/11/29 - 20:22:02 | 200 |  2.029789433s |       127.0.0.1 | POST     "/api/chat"';

const sent = (id: string): LogCallSent => ({
  id: id as CallId,
  path: '/api/chat',
  numCtx: 512,
  low: 1_200,
  high: 1_700,
  messages: 1,
});
const ended = (id: string, fields: Partial<LogCallEnded> = {}): LogCallEnded => ({
  id: id as CallId,
  status: 200,
  promptEvalCount: 259 as never,
  evalCount: 8 as never,
  needs: null,
  totalDurationMs: 2_029 as never,
  ...fields,
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Time goes on only where the log waits; `onWait` is what happens in the world meanwhile. */
function bench(onWait: (nowMs: number) => void = () => undefined) {
  const path = join(freshFolder(), 'server.log');
  writeFileSync(path, '');
  let nowMs = 1_000;
  let waits = 0;
  const states: ServerLogState[] = [];
  const log = createServerLog({
    clock: { now: () => '2026-11-29T20:22:00.000Z', monotonicMs: () => nowMs },
    onChange: (state) => states.push(state),
    simulatorLines: () => () => undefined,
    environment: {},
    wait: async (ms) => {
      nowMs += ms;
      waits += 1;
      onWait(nowMs);
    },
  });
  onTestFinished(() => log.stop());
  return { log, path, states, now: () => nowMs, waits: () => waits };
}

const write = (path: string, texts: readonly string[]): void =>
  appendFileSync(path, texts.map((text) => `${text}\n`).join(''));

describe('a call and its lines', () => {
  test('that are there already: no wait at all', async () => {
    const { log, path, now, waits } = bench();
    log.use({ kind: 'file', path });
    log.sent(sent('a'));
    write(path, [...lines, access]);
    expect(await log.linesFor(ended('a'))).toEqual({ lines: [...lines, access], debug: false, isShared: false });
    expect([now(), waits()]).toEqual([1_000, 0]);
  });

  test('that come a little later are waited for', async () => {
    let writeLate = (): void => undefined;
    const { log, path, waits } = bench((nowMs) => {
      if (nowMs >= 1_060) writeLate();
    });
    log.use({ kind: 'file', path });
    log.sent(sent('a'));
    write(path, lines.slice(0, 2));
    writeLate = () => {
      write(path, lines.slice(2));
      writeLate = () => undefined;
    };
    expect((await log.linesFor(ended('a')))?.lines).toEqual(lines);
    expect(waits()).toBeGreaterThan(0);
  });

  test('that never come: the wait is bounded, and after three of them nobody waits any more', async () => {
    const { log, path, now } = bench();
    log.use({ kind: 'file', path });
    const waited: number[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const before = now();
      log.sent(sent(id));
      expect(await log.linesFor(ended(id))).toEqual({ lines: [], debug: false, isShared: false });
      waited.push(now() - before);
    }
    expect(waited).toEqual([LOG_WAIT_MS_MAX, LOG_WAIT_MS_MAX, LOG_WAIT_MS_MAX, 0, 0]);
    expect(LOG_WAIT_MS_MAX).toBeLessThan(300);
  });

  test('that are garbled are no lines', async () => {
    const { log, path } = bench();
    log.use({ kind: 'file', path });
    log.sent(sent('a'));
    write(
      path,
      lines.map((line) => line.slice(0, -4)),
    );
    appendFileSync(path, Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0xc3]));
    expect((await log.linesFor(ended('a')))?.lines).toEqual([]);
  });

  test('a call that failed, broke off or was stopped is not waited for', async () => {
    const { log, path, now } = bench();
    log.use({ kind: 'file', path });
    for (const [id, fields] of [
      ['a', { status: 404, promptEvalCount: null, evalCount: null }],
      ['b', { status: null, promptEvalCount: null, evalCount: null }],
    ] as const) {
      log.sent(sent(id));
      await log.linesFor(ended(id, fields));
    }
    expect(now()).toBe(1_000);
  });
});

describe('without a log', () => {
  test('off, unknown or not there: null at once', async () => {
    const { log, path, now } = bench();
    for (const plan of [
      { kind: 'off' },
      { kind: 'none' },
      { kind: 'file', path: `${path}.not-there` },
      { kind: 'file', path: join(path, 'below-a-file') },
    ] as const) {
      log.use(plan);
      log.sent(sent('a'));
      expect(await log.linesFor(ended('a'))).toBeNull();
    }
    expect(now()).toBe(1_000);
  });

  test('its state says why', () => {
    const { log, path, states } = bench();
    log.use({ kind: 'off' });
    log.use({ kind: 'file', path: `${path}.not-there` });
    log.use({ kind: 'file', path });
    log.use({ kind: 'file', path });
    expect(states.map(({ state, problem }) => [state, problem])).toEqual([
      ['off', null],
      ['not-found', `${path}.not-there is not there. It is read as soon as it is.`],
      ['open', null],
    ]);
  });
});

test('lines about calls of others are counted and the last of them shown', () => {
  const { log, path } = bench();
  log.use({ kind: 'file', path });
  write(path, ['a line about nothing', ...lines]);
  log.poll();
  expect(log.state()).toEqual({
    state: 'open',
    source: path,
    simulated: false,
    problem: null,
    lines: 5,
    unmatched: 4,
    unmatchedLast: expect.arrayContaining([lines[0]]) as string[],
  });
});

describe('which log', () => {
  const question: LogQuestion = {
    setting: '',
    isOwnSimulator: false,
    isOtherSimulator: false,
    host: '127.0.0.1',
    port: 11_434,
    environment: { HOME: '/nobody', LOCALAPPDATA: 'C:\\Data' },
    platform: 'darwin',
  };
  const macOS = { kind: 'file', path: '/nobody/.ollama/logs/server.log' };
  test.each<[string, Partial<LogQuestion>, object]>([
    ['macOS', {}, macOS],
    ['localhost', { host: 'localhost' }, macOS],
    ['another machine', { host: '10.0.0.9' }, { kind: 'none' }],
    ['another server here', { port: 11_435 }, { kind: 'none' }],
    ['a simulator of another process', { isOtherSimulator: true }, { kind: 'none' }],
    ['off', { setting: 'off', isOwnSimulator: true }, { kind: 'off' }],
    ['the simulator here', { setting: '/x.log', isOwnSimulator: true }, { kind: 'simulator' }],
    [
      'a path beats everything about the server',
      { setting: ' /x.log ', host: '10.0.0.9' },
      { kind: 'file', path: '/x.log' },
    ],
    ['a path at home', { setting: '~/x.log' }, { kind: 'file', path: '/nobody/x.log' }],
    ['journal', { setting: 'journal', host: '10.0.0.9' }, { kind: 'journal' }],
    ['serve', { setting: 'serve', port: 11_500 }, { kind: 'serve', address: '127.0.0.1:11500' }],
    ['serve elsewhere', { setting: 'serve', host: '10.0.0.9' }, { kind: 'none' }],
    ['Linux without any', { platform: 'linux' }, { kind: 'none' }],
  ])('%s', (_, fields, plan) => {
    expect(planLog({ ...question, ...fields })).toEqual(plan);
  });

  test('Linux with a file', () => {
    const home = freshFolder();
    mkdirSync(join(home, '.ollama', 'logs'), { recursive: true });
    const path = join(home, '.ollama', 'logs', 'server.log');
    writeFileSync(path, '');
    expect(planLog({ ...question, platform: 'linux', environment: { HOME: home } })).toEqual({ kind: 'file', path });
  });
});

describe('a program that writes the log', () => {
  const script = (text: string): string => {
    const path = join(freshFolder(), 'program');
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const started = (command: string, readsErrors: boolean) => {
    const got: string[] = [];
    const source = childSource(
      { command, args: ['-f'], readsErrors, restarts: false },
      { line: (text) => got.push(text), gap: () => got.push('(gap)') },
    );
    onTestFinished(() => source.stop());
    return { got, source };
  };

  test('its lines come as they are written, half ones when they are whole', async () => {
    const { got, source } = started(script("printf 'one\\ntw'; printf 'o\\n'; printf 'half'; exec sleep 60"), false);
    await until(() => got.length === 2);
    expect(got).toEqual(['one', 'two']);
    expect(source.state()).toEqual({ state: 'open', problem: null });
  });

  test('an own server writes to both streams', async () => {
    const { got } = started(script('echo out; echo err >&2; exec sleep 60'), true);
    await until(() => got.length === 2);
    expect([...got].sort()).toEqual(['err', 'out']);
  });

  test('one that is not there, that ends, that may not read: said with the reason', async () => {
    const missing = started(join(freshFolder(), 'nothing'), false);
    await until(() => missing.source.state().problem !== null);
    expect(missing.source.state().state).toBe('not-found');
    const ends = started(script('echo no such unit >&2; exit 3'), false);
    await until(() => ends.got.includes('(gap)'));
    expect(ends.source.state()).toMatchObject({
      state: 'not-readable',
      problem: expect.stringContaining('code 3: no such unit') as string,
    });
    const closed = started(
      script('echo "No journal files were opened due to insufficient permissions." >&2; exec sleep 60'),
      false,
    );
    await until(() => closed.source.state().state === 'not-readable');
    expect(closed.source.state().problem).toContain('systemd-journal');
  });

  test('it ends with the console', async () => {
    const { source, got } = started(script('echo up; exec sleep 60'), false);
    await until(() => got.length === 1);
    await source.stop();
    await source.stop();
  });
});

async function until(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 4_000 && !done(); turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(done()).toBe(true);
}
