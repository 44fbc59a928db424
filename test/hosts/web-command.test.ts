/** `npm run web` as a person meets it: a real process, its lines, its codes, its end. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { toScreenSchema } from '../../shared/contract/frames.ts';
import { requests } from '../../shared/contract/requests.ts';
import { canOpen, readWebOptions } from '../../shared/node/bin/web-command.ts';

const entry = fileURLToPath(new URL('../../shared/node/bin/web.ts', import.meta.url));
let home: string;
const children: Program[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'spillway-home-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.process.kill('SIGKILL');
    await child.ended;
  }
  rmSync(home, { recursive: true, force: true });
});

describe('options', () => {
  test('all of them, in both spellings', () => {
    expect(
      readWebOptions([
        '--simulate',
        '--no-open',
        '--port=8080',
        '--host',
        '::1',
        '--home',
        '/data',
        '--ollama',
        'http://box:1',
      ]),
    ).toEqual({
      ok: true,
      value: {
        help: false,
        simulate: true,
        open: false,
        port: 8_080,
        address: '::1',
        home: '/data',
        ollama: 'http://box:1',
      },
    });
    expect(readWebOptions([])).toEqual({
      ok: true,
      value: {
        help: false,
        simulate: false,
        open: true,
        port: undefined,
        address: undefined,
        home: undefined,
        ollama: undefined,
      },
    });
  });

  test.each([
    [['--prot', '1'], /--prot/u],
    [['surprise'], /surprise/u],
    [['--port'], /--port/u],
    [['--port', 'http'], /--port must be a whole number from 0 to 65,535, not http/u],
    [['--port', '-1'], /--port/u],
    [['--port', '65536'], /--port/u],
    [['--port', '1e3'], /--port/u],
    [['--home', ' '], /--home is empty/u],
    [['--simulate=yes'], /--simulate/u],
  ])('%j is refused by name', (args, message) => {
    const read = readWebOptions(args);
    expect(read).toMatchObject({ ok: false, denial: { code: 'bad-input', message: expect.stringMatching(message) } });
    expect(read.ok ? '' : read.denial.message).not.toMatch(/\n/u);
  });

  test('a browser is opened only where somebody can see it', () => {
    expect(canOpen({ DISPLAY: ':0' }, 'linux')).toBe(true);
    expect(canOpen({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toBe(true);
    expect(canOpen({}, 'linux')).toBe(false);
    expect(canOpen({}, 'darwin')).toBe(true);
    expect(canOpen({ CI: 'true' }, 'darwin')).toBe(false);
    expect(canOpen({ CI: 'false' }, 'win32')).toBe(true);
  });
});

describe('the program', () => {
  test('prints the link, answers a screen over it, ends with 0 on Ctrl-C, and leaves nothing behind', async () => {
    const program = run(['--simulate', '--no-open', '--port', '0']);
    const link = await program.link;
    const cookie = (await fetch(link)).headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const { origin, host } = new URL(link);
    const socket = new WebSocket(`ws://${host}/ws`, { origin, headers: { cookie } });
    const snapshot = await new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => {
        socket.send(JSON.stringify({ kind: 'request', id: 1, name: 'snapshot.get', params: {} }));
      });
      socket.on('message', (data) => {
        const message = toScreenSchema.parse(JSON.parse(String(data)));
        if (message.kind === 'response' && message.ok) resolve(requests['snapshot.get'].result.parse(message.value));
      });
    });
    expect(snapshot).toMatchObject({ app: { host: 'browser', home }, server: { kind: 'simulator' } });
    program.process.kill('SIGINT');
    expect(await program.ended).toBe(0);
    expect(program.errors()).toBe('Stopping. Ctrl-C again ends it at once.\n');
    await expect(fetch(link)).rejects.toThrow();
    // The data folder is free again.
    const next = run(['--simulate', '--no-open', '--port', '0']);
    await next.link;
    next.process.kill('SIGTERM');
    expect(await next.ended).toBe(0);
  });

  test('a second start on the same data explains where the first one is', async () => {
    const first = run(['--simulate', '--no-open', '--port', '0']);
    const link = await first.link;
    const second = run(['--simulate', '--no-open', '--port', '0']);
    expect(await second.ended).toBe(1);
    expect(second.errors()).toContain('already runs');
    expect(second.errors()).toContain(new URL(link).host);
    expect(second.output()).toBe('');
  });

  test.each([
    [['--port', 'x'], '--port must be a whole number'],
    [['--nonsense'], '--nonsense'],
    [['--simulate', '--no-open', '--port', '0', '--host', '192.0.2.1'], '192.0.2.1'],
    [['--no-open', '--port', '0', '--ollama', 'ftp://x'], 'ftp'],
  ])('%j: one clear line, no page, code 2', async (args, said) => {
    const program = run(args);
    expect([await program.ended, program.output()]).toEqual([2, '']);
    expect(program.errors()).toContain(said);
    expect(program.errors().trim().split('\n')).toHaveLength(1);
  });

  test('--help says what there is', async () => {
    const program = run(['--help']);
    expect(await program.ended).toBe(0);
    for (const option of ['--simulate', '--no-open', '--port', '--host', '--home', '--ollama'])
      expect(program.output()).toContain(option);
  });
});

interface Program {
  readonly process: ChildProcess;
  readonly link: Promise<string>;
  readonly ended: Promise<number | null>;
  output(): string;
  errors(): string;
}

function run(args: readonly string[]): Program {
  const child = spawn(process.execPath, ['--no-warnings', entry, ...args], {
    env: { ...process.env, SPILLWAY_HOME: home, OLLAMA_HOST: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const link = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
      const found = /http:\S+token=\S+/u.exec(output);
      if (found !== null) resolve(found[0]);
    });
    void ended.then(() => {
      reject(new Error(`it ended without a link: ${errors}`));
    });
  });
  // Programs that are meant to be refused print no link.
  link.catch(() => undefined);
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
  const program = { process: child, link, ended, output: () => output, errors: () => errors };
  children.push(program);
  return program;
}
