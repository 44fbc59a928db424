/** `spillway mcp` as a client sees it: the library's own client over stdio, the reference servers behind the gateway. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freshFolder, spillway, start } from './spillway.ts';

const entry = fileURLToPath(new URL('../../shared/node/bin/cli.ts', import.meta.url));
const packageFile = (path: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${path}`, import.meta.url));
const childFile = fileURLToPath(new URL('../node/mcp/children/misbehaving.ts', import.meta.url));

describe('calls', () => {
  test('tools of all servers, with read_blob; calls go through', async () => {
    const files = join(freshFolder(), 'files');
    mkdirSync(files);
    writeFileSync(join(files, 'a.txt'), 'content of a');
    const { client, stderr } = await opened({ everything: everything(), files: filesystem(files), broken: broken() });
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['everything.echo', 'files.read_text_file', 'read_blob']));
    expect(tools.find(({ name }) => name === 'files.write_file')).toMatchObject({
      inputSchema: { type: 'object', required: ['path', 'content'] },
      annotations: { readOnlyHint: false, destructiveHint: true },
    });
    expect(client.getInstructions()).toContain('60 calls');
    expect(await call(client, 'everything.get-sum', { a: 1, b: 2 })).toEqual([false, 'The sum of 1 and 2 is 3.']);
    expect(await call(client, 'files.read_text_file', { path: join(files, 'a.txt') })).toEqual([false, 'content of a']);
    // The client asks its person by the hints; here nothing waits.
    expect((await call(client, 'files.write_file', { path: join(files, 'b.txt'), content: 'b' }))[0]).toBe(false);
    expect(readFileSync(join(files, 'b.txt'), 'utf8')).toBe('b');
    expect((await call(client, 'files.read_text_file', { path: '/etc/hostname' }))[0]).toBe(true);
    expect(stderr()).toContain('MCP server broken: There is no program /no/such/program.');
  });

  test('what is over a limit is a result with figures, and a line on stderr', async () => {
    const rules = { toolRules: { 'everything.get-sum': { nanoDollars: 400_000_000 } } };
    const { client, stderr } = await opened({ everything: everything() }, ['--dollars', '0.5'], rules);
    expect((await call(client, 'everything.get-sum', { a: 1, b: 1 }))[0]).toBe(false);
    const refused = await client.callTool({ name: 'everything.get-sum', arguments: { a: 1, b: 2 } });
    const facts = {
      error: 'budget',
      message: expect.stringContaining('500000000 nano-dollars'),
      dimension: 'nano-dollars',
      used: 400_000_000,
      limit: 500_000_000,
    };
    expect(refused).toMatchObject({ isError: true, structuredContent: facts });
    expect(JSON.parse(textOf(refused))).toEqual(facts);
    // What costs nothing goes on.
    expect(await call(client, 'everything.echo', { message: 'free' })).toEqual([false, 'Echo: free']);
    await seen(stderr, /^Refused everything\.get-sum \(budget\): .*500000000/m);
  });

  test('calls of the session are counted, read_blob among them', async () => {
    const { client } = await opened({ everything: everything() }, ['--calls', '3', '--output-bytes', '200']);
    const long = 'word '.repeat(200);
    const [, cut] = await call(client, 'everything.echo', { message: long });
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(200);
    const [, handle, offset] = /read_blob\(handle='([^']+)', offset=(\d+)\)/.exec(cut) ?? [];
    const [, page] = await call(client, 'read_blob', { handle, offset: Number(offset) });
    expect(`Echo: ${long}`).toContain(page.slice(0, page.indexOf('\n[')));
    expect((await call(client, 'read_blob', { handle: '../../etc/hostname' }))[1]).toContain('no such handle');
    expect(JSON.parse((await call(client, 'everything.echo', { message: 'x' }))[1])).toMatchObject({
      error: 'budget',
      dimension: 'calls',
      used: 3,
      limit: 3,
    });
  });

  test('the same call again and again is refused, and then ends the session', async () => {
    const { client, stderr } = await opened({ everything: everything() }, [], {
      guards: { stateHash: null, cycles: null, noProgress: null },
    });
    const codes: string[] = [];
    for (let at = 0; at < 7; at += 1) {
      const [isError, words] = await call(client, 'everything.echo', { message: 'again' });
      codes.push(isError ? (JSON.parse(words) as { error: string }).error : 'ran');
    }
    expect(codes).toEqual(['ran', 'ran', 'ran', 'identical-call', 'identical-call', 'identical-call', 'not-run']);
    await seen(stderr, /^This session is over: identical-calls\./m);
    const free = await opened({ everything: everything() }, ['--no-guards']);
    for (let at = 0; at < 6; at += 1) {
      expect(await call(free.client, 'everything.echo', { message: 'again' })).toEqual([false, 'Echo: again']);
    }
  });

  test('broken arguments, unknown tools and too many at once are refused in words', async () => {
    const { client } = await opened({ everything: everything() }, ['--at-once', '2']);
    expect(JSON.parse((await call(client, 'everything.get-sum', { a: 'x' }))[1])).toEqual({
      error: 'broken-arguments',
      message: 'b is missing',
    });
    expect(JSON.parse((await call(client, 'everything.nothing', {}))[1])).toMatchObject({ error: 'unknown-tool' });
    const giveUp = new AbortController();
    const long = { name: 'everything.trigger-long-running-operation', arguments: { duration: 3_600, steps: 1 } };
    const hanging = [1, 2].map((at) =>
      client
        .callTool({ ...long, arguments: { ...long.arguments, steps: at } }, undefined, { signal: giveUp.signal })
        .catch(() => 'stopped'),
    );
    expect(JSON.parse((await call(client, 'everything.echo', { message: 'third' }))[1])).toMatchObject({
      error: 'fan-out',
    });
    giveUp.abort();
    expect(await Promise.all(hanging)).toEqual(['stopped', 'stopped']);
    // A stopped call gives its place back.
    const again = async (): Promise<boolean> =>
      (await call(client, 'everything.echo', { message: `${Math.random()}` }))[0];
    await eventually(async () => !(await again()));
  });

  test('a call that has to be allowed asks the person through the client, where it can', async () => {
    const rules = { toolRules: { 'everything.echo': { approval: true } } };
    const answers = ['accept', 'decline'] as const;
    let asked = 0;
    const { client } = await opened({ everything: everything() }, [], rules, (one) =>
      one.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        expect(params.message).toContain('Allow everything.echo {"message":');
        const action = answers[asked] ?? 'decline';
        asked += 1;
        return { action };
      }),
    );
    expect(await call(client, 'everything.echo', { message: 'a' })).toEqual([false, 'Echo: a']);
    expect(JSON.parse((await call(client, 'everything.echo', { message: 'b' }))[1])).toMatchObject({
      error: 'approval-denied',
    });
    const mute = await opened({ everything: everything() }, [], rules);
    expect((await call(mute.client, 'everything.echo', { message: 'a' }))[0]).toBe(true);
    await seen(mute.stderr, /this client cannot ask one/);
  });
});

describe('ends', () => {
  test('with the client; nothing of it is left, not even under a server that does not listen', async () => {
    const seenFile = join(freshFolder(), 'seen');
    const { client, stderr, mark } = await opened({
      everything: everything(),
      deaf: { command: process.execPath, args: [childFile, 'ignores-sigterm', seenFile, 'mark'] },
    });
    await call(client, 'deaf.go', {});
    expect(processesWith(mark).length).toBeGreaterThanOrEqual(2);
    await client.close();
    await eventually(() => Promise.resolve(processesWith(mark).length === 0));
    expect(stderr()).toContain('Session ended: 1 calls, 0 refused.');
  });

  test('at once where there is no client; at a signal with the code for that', async () => {
    const mark = freshMark();
    const started = start(['mcp', '--servers', serversFile({ everything: everything() }, mark)]);
    // Its stdin is closed from the start: a client that is not there.
    expect(await started.finished).toMatchObject({ code: 0, stdout: '' });
    expect(processesWith(mark)).toEqual([]);

    const child = spawn(process.execPath, [entry, 'mcp', '--servers', serversFile({ everything: everything() }, mark)]);
    const ended = new Promise((resolve) => child.once('close', resolve));
    await eventually(() => Promise.resolve(processesWith(mark).length === 2));
    child.kill('SIGTERM');
    expect(await ended).toBe(130);
    expect(processesWith(mark)).toEqual([]);
  });

  test('what cannot be used is said before anything is started', async () => {
    const file = (text: string): string => {
      const path = join(freshFolder(), 'servers.json');
      writeFileSync(path, text);
      return path;
    };
    const said = async (path: string, ...flags: string[]): Promise<[number | null, string]> => {
      const { code, stderr } = await spillway(['mcp', '--servers', path, ...flags]);
      return [code, stderr];
    };
    expect(await said('/no/such/file')).toEqual([2, expect.stringContaining('cannot be read')]);
    expect(await said(file('{'))).toEqual([2, expect.stringContaining('no JSON')]);
    expect(await said(file('{"mcpServers": {}}'))).toEqual([2, expect.stringContaining('names no server')]);
    expect(await said(file('{"mcpServers": {"a": {"command": 1}}}'))).toEqual([
      2,
      expect.stringContaining('mcpServers.a.command'),
    ]);
    const good = file('{"mcpServers": {"a": {"command": "/no/such/program"}}}');
    expect(await said(good, '--calls', 'many')).toEqual([2, expect.stringContaining('--calls takes a number')]);
    expect(await said(good, '--at-once', '0')).toEqual([2, expect.stringContaining('--at-once takes a number from 1')]);
  });
});

test('where no server has tools it ends by itself, and says so', async () => {
  const child = spawn(process.execPath, [entry, 'mcp', '--servers', serversFile({ broken: broken() }, freshMark())]);
  let text = '';
  child.stderr.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, text]).toEqual([
    1,
    'MCP server broken: There is no program /no/such/program. Install it, or give its whole path.\nNo server has tools.\n',
  ]);
});

interface ServerInput {
  readonly command: string;
  readonly args: readonly string[];
}
const everything = (): ServerInput => ({
  command: process.execPath,
  args: [packageFile('server-everything/dist/index.js'), 'stdio', 'mark'],
});
const filesystem = (folder: string): ServerInput => ({
  command: process.execPath,
  args: [packageFile('server-filesystem/dist/index.js'), folder],
});
const broken = (): ServerInput => ({ command: '/no/such/program', args: [] });

/** `mark` in the arguments of a server becomes one by which its processes are found. */
function serversFile(servers: Record<string, ServerInput>, mark: string, more: object = {}): string {
  const marked = Object.entries(servers).map(([name, { command, args }]) => [
    name,
    { command, args: args.map((arg) => (arg === 'mark' ? mark : arg)) },
  ]);
  const path = join(freshFolder(), `servers-${mark}.json`);
  writeFileSync(path, JSON.stringify({ mcpServers: Object.fromEntries(marked), spillway: more }));
  return path;
}

async function opened(
  servers: Record<string, ServerInput>,
  flags: readonly string[] = [],
  more: object = {},
  handle: ((client: Client) => void) | null = null,
): Promise<{ readonly client: Client; stderr(): string; readonly mark: string }> {
  const mark = freshMark();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, 'mcp', '--servers', serversFile(servers, mark, more), ...flags],
    stderr: 'pipe',
    env: { SPILLWAY_HOME: freshFolder() },
  });
  let text = '';
  transport.stderr?.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: handle === null ? {} : { elicitation: {} } },
  );
  handle?.(client);
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, stderr: () => text, mark };
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<[boolean, string]> {
  const result = await client.callTool({ name, arguments: args });
  return [result.isError === true, textOf(result)];
}

const textOf = ({ content }: Awaited<ReturnType<Client['callTool']>>): string =>
  (content as { type: string; text: string }[]).map(({ text }) => text).join('\n');

const seen = (stderr: () => string, words: RegExp): Promise<void> =>
  eventually(() => Promise.resolve(words.test(stderr())));

/** Waits for what another process does; the limit only ends a test that would never end. */
async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Nothing with this mark is left when the test has ended, or it fails. */
function freshMark(): string {
  const mark = `mark${randomBytes(8).toString('hex')}`;
  onTestFinished(() => eventually(() => Promise.resolve(processesWith(mark).length === 0)));
  return mark;
}

function processesWith(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(mark) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}
