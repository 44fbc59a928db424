/** Servers that do what servers must not do. Each is a real process; whatever it does, the others work and nothing is left of it. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createBreakers } from '../../../shared/engine/gateway/breaker.ts';
import { createBudgetTree } from '../../../shared/engine/budget-tree/tree.ts';
import { runAttempts } from '../../../shared/engine/gateway/attempts.ts';
import { never } from '../../../shared/engine/cancel.ts';
import { DEFAULT_LIMITS } from '../../../shared/contract/agents.ts';
import { isProgram, withParent, withoutNetwork } from '../../../shared/node/mcp/launch.ts';
import {
  connected,
  createCancel,
  everything,
  freshFolder,
  freshMark,
  json,
  misbehaving,
  processesWith,
  until,
} from './servers.ts';

const hostFile = fileURLToPath(new URL('./children/host.ts', import.meta.url));

describe('a start that fails is a problem, and the others work', () => {
  test('one that never says a word, one that is no program, one that is no folder', async () => {
    const mark = freshMark();
    const { tools, problems } = await connected(
      {
        silent: misbehaving('never-starts', mark),
        missing: { ...misbehaving('', mark), command: '/no/such/program' } as never,
        astray: misbehaving('dies', mark, '', { cwd: '/no/such/folder' }),
        good: misbehaving('dies', mark),
      },
      10_000,
    );
    expect(problems).toEqual([
      'MCP server silent: It did not start: no answer within 10000 ms.',
      'MCP server missing: There is no program /no/such/program. Install it, or give its whole path.',
      'MCP server astray: There is no folder /no/such/folder. Give one that is there.',
    ]);
    expect(tools.map(({ spec }) => spec.name)).toEqual(['good.go']);
    expect(processesWith(mark)).toHaveLength(1);
  });
});

describe('calls', () => {
  test('one that hangs is stopped, and the server is told', async () => {
    const file = join(freshFolder(), 'seen');
    const { call, close } = await connected({ s: misbehaving('hangs', freshMark(), file) });
    const cancel = createCancel();
    const asked = call('s.go', {}, cancel.signal);
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('called'));
    cancel.cancel('person');
    expect(await asked).toMatchObject({
      failed: true,
      retryable: false,
      text: { head: 's.go failed: it was stopped' },
    });
    await until(() => readFileSync(file, 'utf8').includes('notifications/cancelled'));
    await close();
  });

  test('one that dies in mid-call fails, may be repeated, and is started again', async () => {
    const { call } = await connected({ s: misbehaving('dies', freshMark()) });
    const before = await call('s.go', {});
    const died = await call('s.go', { how: 'die' });
    expect(died).toMatchObject({
      failed: true,
      retryable: true,
      text: { head: 's.go failed: the server is gone: it ended with code 7' },
    });
    const after = await call('s.go', {});
    expect(after.failed).toBe(false);
    expect(after.text.head).not.toBe(before.text.head);
  });

  test('one that works in between is started as often as it dies', async () => {
    const { call } = await connected({ s: misbehaving('dies', freshMark()) });
    for (let at = 0; at < 5; at += 1) {
      expect((await call('s.go', { how: 'die' })).failed).toBe(true);
      expect((await call('s.go', {})).failed).toBe(false);
    }
  });

  test('one that dies every time opens its breaker, and is not started for ever', async () => {
    const { tool } = await connected({ s: misbehaving('always-dies', freshMark()) });
    const tree = createBudgetTree('root', DEFAULT_LIMITS, {
      keepCalls: 0,
      carveRule: 'keep',
      closing: { tokens: 0, nanoDollars: 0 },
      spawnsPerMinute: null,
    });
    const breakers = createBreakers();
    const ports = {
      nowMs: () => performance.now(),
      after: () => () => undefined,
      tree,
      breakers,
      onLease: () => undefined,
    };
    const heads: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const ran = await runAttempts({ nodeId: 'root', tool: tool('s.go'), args: json({}), signal: never }, ports);
      heads.push(`${ran.attempts} ${ran.answer.text.head}`);
    }
    expect(breakers.states(performance.now())).toMatchObject([{ upstream: 'mcp s', state: 'open', failures: 5 }]);
    expect(heads.at(-1)).toContain('The server ended 4 times (it ended with code 7); it is not started again.');
  });

  test('results of no known form become text', async () => {
    const { call } = await connected({ s: misbehaving('odd-results', freshMark()) });
    const shown = async (result: unknown): Promise<unknown> => {
      const { text, failed, retryable } = await call('s.go', { result });
      return [text.head, failed, retryable];
    };
    expect(await shown({})).toEqual(['', false, false]);
    expect(await shown({ content: 'no list' })).toEqual(['', false, false]);
    expect(
      await shown({ content: [null, 7, { type: 'new' }, { type: 'text' }, { type: 'text', text: 'end' }] }),
    ).toEqual([
      '[a part of the kind unknown, not shown]\n[a part of the kind unknown, not shown]\n' +
        '[a part of the kind new, not shown]\n[a text that is none, not shown]\nend',
      false,
      false,
    ]);
    expect(await shown({ content: [{ type: 'text', text: 'no' }], isError: true })).toEqual(['no', true, false]);
    expect(await shown({ structuredContent: { a: [1] } })).toEqual(['{"a":[1]}', false, false]);
    expect(await shown({ content: [{ type: 'text', text: '{ "a": [1] }' }], structuredContent: { a: [1] } })).toEqual([
      '{ "a": [1] }',
      false,
      false,
    ]);
    expect(await shown({ content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 } })).toEqual([
      'x\n{"a":1}',
      false,
      false,
    ]);
    const image = { type: 'image', data: 'AAAA'.repeat(10), mimeType: 'image/png\n\u001b[2J' };
    expect(await shown({ content: [image] })).toEqual(['[image image/png [2J, 30 bytes, not shown]', false, false]);
    const resource = { type: 'resource', resource: { uri: 'a://b', text: 'secret', mimeType: 'text/plain' } };
    expect(await shown({ content: [resource] })).toEqual([
      '[resource a://b text/plain, 6 bytes, not shown]',
      false,
      false,
    ]);
    expect(await shown(7)).toMatchObject([expect.stringContaining('s.go failed'), true, false]);
  });

  test('a server that asks for a model, roots or a form gets none', async () => {
    const file = join(freshFolder(), 'seen');
    const { call } = await connected({ s: misbehaving('asks-back', freshMark(), file) });
    expect((await call('s.go', {})).text.head).toBe('asked');
  });
});

describe('sizes', () => {
  test('a result of 50 MB goes to the folder of the run; its beginning and end stay', async () => {
    const { call, blobs } = await connected({ s: misbehaving('large-result', freshMark()) });
    const { text, failed } = await call('s.go', {});
    expect({ failed, bytes: text.bytes, digest: text.digest?.length }).toEqual({
      failed: false,
      bytes: 50_000_000,
      digest: 64,
    });
    expect(text.head.length).toBe(262_144);
    const page = await blobs.read(text.handle ?? '', 49_999_990, 100);
    expect(page).toEqual({ text: '0123456789', nextOffset: null, bytes: 50_000_000 });
  });

  test.each([
    ['long-line', 'it sent a message of more than 64 MB'],
    ['garbage-lines', 'it writes something other than messages on stdout'],
    ['unasked-messages', 'it sent more than 10000 messages that nobody asked for'],
    ['stderr-flood', 'it wrote more than 64 MB to stderr'],
  ])('%s', async (kind, why) => {
    const mark = freshMark();
    const { call, close } = await connected({ s: misbehaving(kind, mark) });
    const answer = await call('s.go', {});
    expect([answer.text.head, answer.retryable]).toEqual([`s.go failed: the server is gone: ${why}`, true]);
    await close();
    expect(processesWith(mark)).toEqual([]);
  });

  test('some lines that are no messages are passed over', async () => {
    const { call } = await connected({ s: misbehaving('some-garbage', freshMark()) });
    expect((await call('s.go', {})).text.head).toBe('fine');
  });
});

describe('processes', () => {
  test('one that ignores SIGTERM, and its child in a group of its own, are gone after close', async () => {
    const mark = freshMark();
    const file = join(freshFolder(), 'seen');
    const { call, close } = await connected({ s: misbehaving('ignores-sigterm', mark, file) });
    await call('s.go', {});
    await until(() => processesWith(mark).length === 2);
    await close();
    expect(processesWith(mark)).toEqual([]);
    expect(readFileSync(file, 'utf8')).toContain('SIGTERM');
  });

  test.each(['eats-memory', 'child-eats-memory'])('%s: it is ended at its limit', async (kind) => {
    const mark = freshMark();
    const { call } = await connected({ s: misbehaving(kind, mark, '', { memoryMegabytesMax: 300 }) });
    expect((await call('s.go', {})).text.head).toBe(
      's.go failed: the server is gone: it used more than 300 MB of memory',
    );
    await until(() => processesWith(mark).length === 0);
  });

  test('it sees only basics and what it was given, in a folder of its own that goes with it', async () => {
    process.env['SPILLWAY_TEST_SECRET'] = 'not for servers';
    onTestFinished(() => void delete process.env['SPILLWAY_TEST_SECRET']);
    const { call, close } = await connected({
      s: misbehaving('surroundings', freshMark(), '', { env: { GIVEN: 'yes' } }),
    });
    const seen = JSON.parse((await call('s.go', { port: 1 })).text.head) as {
      cwd: string;
      env: Record<string, string>;
    };
    expect(seen.env).toMatchObject({ GIVEN: 'yes', PATH: process.env['PATH'] });
    expect(Object.keys(seen.env)).not.toContain('SPILLWAY_TEST_SECRET');
    expect(existsSync(seen.cwd)).toBe(true);
    await close();
    expect(existsSync(seen.cwd)).toBe(false);
  });

  test('without network it reaches nothing; where that cannot be had it is not started', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const { problems, tools, call } = await connected({
      open: misbehaving('surroundings', freshMark()),
      shut: misbehaving('surroundings', freshMark(), '', { network: false }),
    });
    const reach = async (name: string): Promise<string> =>
      (JSON.parse((await call(name, { port })).text.head) as { reach: string }).reach;
    expect(await reach('open.go')).toBe('connected');
    if ((await withoutNetwork()) === null) {
      expect(problems).toEqual([expect.stringContaining('this machine cannot take it away')]);
      expect(tools).toHaveLength(1);
    } else expect(await reach('shut.go')).toMatch(/ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL/);
  });
});

describe('where there is what ends a child with its parent', () => {
  test('a server that does not listen is gone when we are killed', async () => {
    const mark = freshMark();
    const host = spawn(process.execPath, [hostFile, join(freshFolder(), 'seen'), mark], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // What it cannot clean up goes with the test.
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: freshFolder() },
    });
    const ended = new Promise((resolve) => host.once('exit', resolve));
    await new Promise((resolve) => host.stdout.once('data', resolve));
    const [server] = processesWith(mark).filter((line) => line.includes(' ignores-sigterm-alone '));
    expect(server).toBeDefined();
    host.kill('SIGKILL');
    await ended;
    if ((await withParent()).length > 0) await until(() => processesWith(mark).length === 0);
    else for (const line of processesWith(mark)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  });

  test('a program is looked for where it will be', async () => {
    const about = { path: process.env['PATH'] ?? '', cwd: freshFolder() };
    writeFileSync(join(about.cwd, 'own'), '', { mode: 0o755 });
    writeFileSync(join(about.cwd, 'text'), '', { mode: 0o644 });
    const found = await Promise.all(
      ['sh', process.execPath, './own', './text', '/', 'own', '/no/such'].map((one) => isProgram(one, about)),
    );
    expect(found).toEqual([true, true, true, false, false, false, false]);
  });
});

describe('what a server says of its tools', () => {
  test('names are made harmless; clashes and names of the gateway are left out, and said', async () => {
    const { tools, problems, tool, call } = await connected({
      's.1 \u202e': misbehaving('hostile-names', freshMark()),
    });
    const names = tools.map(({ spec }) => spec.name);
    expect(names).toEqual(['s_1_.a_b_script_', `s_1_.${'x'.repeat(59)}`, 's_1_.wide', 's_1_.odd', 's_1_.__proto__']);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
    expect(problems.map((problem) => problem.replace('MCP server s.1: ', ''))).toEqual([
      'The tool delegate is left out: delegate is a tool of the gateway.',
      'The tool Read_Blob is left out: read_blob is a tool of the gateway.',
      'The tool a b_script_ is left out: there already is a tool s_1_.a_b_script_.',
      `The tool ${'x'.repeat(99)}… is left out: there already is a tool s_1_.${'x'.repeat(59)}.`,
      expect.stringContaining('One of its tools is left out'),
      expect.stringContaining('One of its tools is left out'),
      expect.stringContaining('One of its tools is left out'),
      expect.stringContaining('One of its tools is left out'),
    ]);
    expect(tool('s_1_.wide').spec.description).toMatch(/^\[31md+…$/);
    expect(tool('s_1_.wide').spec.description).toHaveLength(2_000);
    expect(tool('s_1_.odd').spec).toMatchObject({ parameters: { type: 'object' }, approval: false, attemptsMax: 1 });
    expect(tool('s_1_.wide').spec).toMatchObject({ approval: true, sideEffect: false });
    expect((await call('s_1_.a_b_script_', {})).text.head).toBe('a b\u202e\n<script>');
  });

  test('schemas that take for ever are given up', async () => {
    const { tool, problems } = await connected({ s: misbehaving('schema-bombs', freshMark()) });
    expect(() => tool('s.doubling').spec.check(json({ a: 1 }))).toThrow('too deep or too large');
    expect(() => tool('s.endless').spec.check(json({ a: 1 }))).toThrow('too deep or too large');
    expect(tool('s.slow').spec.check(json({ a: `${'a'.repeat(50)}!` }))).toBeNull();
    expect(tool('s.deep').spec.parameters).toEqual({ type: 'object' });
    expect(tool('s.wide').spec.parameters).toEqual({ type: 'object' });
    expect(problems).toEqual([
      'MCP server s: The arguments of s.deep are described at such length that they are neither shown nor checked.',
      'MCP server s: The arguments of s.wide are described at such length that they are neither shown nor checked.',
    ]);
  });

  test('so many tools are read and no more; a list that changes changes nothing', async () => {
    const many = await connected({ s: misbehaving('many-tools', freshMark()) });
    expect(many.tools).toHaveLength(200);
    expect(many.problems).toEqual(['MCP server s: It has more tools than the 200 that were read.']);
    const { tools, call } = await connected({ s: misbehaving('changes-tools', freshMark()) });
    expect((await call('s.first', {})).text.head).toBe('changed');
    expect((await call('s.first', {})).text.head).toBe('changed');
    expect(tools.map(({ spec }) => spec.name)).toEqual(['s.first']);
  });
});

test('closing twice is closing once, and a call after it fails', async () => {
  const mark = freshMark();
  const { call, close } = await connected({ e: everything(mark) });
  await Promise.all([close(), close()]);
  expect(processesWith(mark)).toEqual([]);
  expect(await call('e.echo', { message: 'late' })).toMatchObject({ failed: true });
  expect(processesWith(mark)).toEqual([]);
});
