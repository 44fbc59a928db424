import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { contextColumns } from '../../shared/node/csv/context-columns.ts';
import { freshFolder, rowsOf, spillway, start } from './spillway.ts';

const header = contextColumns.map((column) => column.name).join(',');

async function simulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator({ port: 0, timeScale: 0, ...options });
  onTestFinished(() => started.stop());
  return started;
}

function file(name: string, text: string): string {
  const path = join(freshFolder(), name);
  writeFileSync(path, text);
  return path;
}

describe('the default experiment on the simulator', () => {
  test('shows the cliff: rows on stdout and nothing else there, progress on stderr', async () => {
    const { code, stdout, stderr } = await spillway(['run', '--default', 'context', '--simulate', '--csv', '-']);
    expect(code).toBe(0);
    expect(stdout.startsWith(`${header}\r\n`)).toBe(true);
    const rows = rowsOf(stdout).filter((row) => row['warm_up'] === 'false');
    expect(
      rows.map((row) => [row['document_chars'], row['num_ctx_running'], row['truncation'], row['needle'] === 'found']),
    ).toEqual([
      ['2000', '4096', 'intact', true],
      ['10000', '4096', 'intact', true],
      ['40000', '4096', 'halved', false],
      ['120000', '4096', 'halved', false],
      ['2000', '40960', 'intact', true],
      ['10000', '40960', 'intact', true],
      ['40000', '40960', 'intact', true],
      ['120000', '40960', 'intact', true],
    ]);
    for (const row of rows) {
      expect(row['simulated']).toBe('true');
      if (row['truncation'] === 'halved') expect(row['prompt_tokens_evaluated']).toBe('2051');
    }
    expect(stderr).toContain('10 of 10 cells done, 2 lost something.');
    expect(stderr).not.toContain('\r');
  });

  test('gives the same rows for the same seed, other codes for another', async () => {
    const args = ['run', '--default', 'context', '--simulate', '--csv', '-', '--seed'];
    const [first, again, other] = await Promise.all([
      spillway([...args, '5']),
      spillway([...args, '5']),
      spillway([...args, '6']),
    ]);
    const answers = (text: string): unknown[] =>
      rowsOf(text).map((row) => [row['cell'], row['seed'], row['answer'], row['prompt_tokens_evaluated']]);
    expect(answers(first.stdout)).toEqual(answers(again.stdout));
    expect(answers(first.stdout)).not.toEqual(answers(other.stdout));
  });

  test('prints JSON objects, one a line', async () => {
    const { code, stdout } = await spillway(['run', '--preset', 'needle-last', '--simulate', '--json']);
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows).toHaveLength(10);
    expect(Object.keys(rows[0] ?? {})).toEqual(contextColumns.map((column) => column.name));
    // A right answer does not prove an uncut prompt.
    expect(rows.filter((row) => row['truncation'] === 'halved').map((row) => row['needle'])).toEqual([
      'found',
      'found',
    ]);
  });

  test('writes a file for spreadsheets', async () => {
    const target = join(freshFolder(), 'out.csv');
    const { code, stdout, stderr } = await spillway([
      'run',
      '--default',
      'context',
      '--simulate',
      '--csv',
      target,
      '--profile',
      'spreadsheet',
      '--separator',
      ';',
    ]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`10 rows in ${target}.`);
    expect(readFileSync(target, 'utf8').startsWith(`\ufeff${header.replaceAll(',', ';')}\r\n`)).toBe(true);
  });

  test('--fail-on: 3 when the verdict occurred, 0 when it did not', async () => {
    const halved = await spillway(['run', '--default', 'context', '--simulate', '--fail-on', 'refused,halved']);
    expect([halved.code, halved.stderr.trim().split('\n').at(-1)]).toEqual([3, '--fail-on: halved occurred.']);
    expect((await spillway(['run', '--default', 'context', '--simulate', '--fail-on', 'refused'])).code).toBe(0);
  });
});

describe('an experiment from a file', () => {
  test('runs its axes against a server, with its own document', async () => {
    const server = await simulator();
    const folder = freshFolder();
    writeFileSync(join(folder, 'handbook.txt'), 'The ferry leaves at nine. Nobody feeds the gulls. '.repeat(100));
    writeFileSync(
      join(folder, 'context.yaml'),
      'model: sim-reader\nnum_ctx: [2048, 512]\nsizes: [3000]\nneedle_depths: [0, [25, 75]]\nroutes: [chat, generate]\nwarm_up: false\ndocument: {file: handbook.txt}\n',
    );
    const { code, stdout } = await spillway([
      'run',
      join(folder, 'context.yaml'),
      '--ollama',
      server.url,
      '--csv',
      '-',
    ]);
    expect(code).toBe(0);
    const rows = rowsOf(stdout);
    expect(
      rows.map((row) => [
        row['route'],
        row['num_ctx_running'],
        row['needle_depth_percent'],
        row['truncation'],
        row['simulated'],
      ]),
    ).toEqual(
      ['2048', '512'].flatMap((window) =>
        ['chat', 'generate'].flatMap((route) =>
          ['0', '25+75'].map((depth) => [route, window, depth, window === '512' ? 'halved' : 'intact', 'true']),
        ),
      ),
    );
    for (const row of rows) expect(Number(row['document_chars'])).toBeGreaterThan(2_940);
  });

  test('bad YAML is told with file, line and column; nothing runs', async () => {
    const path = file('probe.yaml', 'model: m\nnum_ctx:\n  - 4096\n  - 0\n');
    expect(await spillway(['run', path, '--simulate', '--csv', '-'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'probe.yaml:4:5: num_ctx[1]: num_ctx must be at least 1; leave it empty for the server default. Correct it and run again.\n',
    });
  });
});

describe('bad input ends with 2 and one sentence', () => {
  test.each([
    [['run'], 'Nothing to run. Give an experiment file, or --default context or reasoning.'],
    [['run', 'nowhere.yaml'], 'nowhere.yaml cannot be read: there is no such file. Check the name and the rights.'],
    [['run', '.'], '. is a folder. Give a file.'],
    [
      ['run', '--default', 'reasoning', '--preset', 'needle-last'],
      '--preset needle-last is a variant of the context experiment. Leave one out.',
    ],
    [['run', 'a.yaml', '--default', 'context'], 'A file and a built-in experiment were both given. Leave one out.'],
    [
      ['run', '--default', 'context', '--fail-on', 'halvd'],
      '--fail-on: there is no verdict halvd. Did you mean halved?',
    ],
    [
      ['run', '--default', 'context', '--csv', '-', '--json'],
      '--csv - and --json both write to stdout. Give --csv a file, or leave one out.',
    ],
    [
      ['run', '--default', 'context', '--simulate', '--ollama', '127.0.0.1'],
      '--simulate and --ollama name two servers. Leave one out.',
    ],
  ])('%j', async (args, message) => {
    expect(await spillway(args)).toEqual({ code: 2, stdout: '', stderr: `${message}\n` });
  });

  test.each([
    [['run', '--default', 'context', '--seed', 'x'], "option '--seed <number>' argument 'x' is invalid."],
    [['run', '--default', 'context', '--nope'], "unknown option '--nope'"],
    [['run', '--default', 'contex'], 'Allowed choices are context, reasoning.'],
    [['run', '--default', 'context', '--ollama', 'http://:99999'], 'the port must be a number from 1 to 65535'],
    [['run', '--default', 'context', '--ollama', 'ftp://x'], 'ftp:// is not a scheme of Ollama'],
    [
      ['run', '--default', 'context', '--simulate', '--csv', '/no/such/folder/x.csv'],
      'cannot be written: its folder is not there.',
    ],
    [
      ['run', '--default', 'context', '--simulate', '--model', 'sim-raeder'],
      'The simulator has no model sim-raeder. Did you mean sim-reader?',
    ],
    [['nope'], "unknown command 'nope'"],
  ])('%j', async (args, part) => {
    const { code, stdout, stderr } = await spillway(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(part);
  });

  test.runIf(existsSync('/dev/zero'))('a document without end is read up to its bound', async () => {
    const path = file('x.yaml', 'model: sim-reader\ndocument: {file: /dev/zero}');
    expect(await spillway(['run', path, '--simulate'])).toEqual({
      code: 2,
      stdout: '',
      stderr: '/dev/zero has more than 22,000,000 bytes. Give a smaller file.\n',
    });
  });

  test('a file that is no text', async () => {
    const path = join(freshFolder(), 'x.yaml');
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
    expect(await spillway(['run', path])).toEqual({
      code: 2,
      stdout: '',
      stderr: `${path} cannot be read: it is no UTF-8 text. Check the name and the rights.\n`,
    });
  });
});

test('no server: 1, and what to do', async () => {
  const { code, stdout, stderr } = await spillway(['run', '--default', 'context', '--csv', '-']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('No Ollama at 127.0.0.1:1');
  expect(stderr).toContain('--simulate');
});

test('cells that fail end with 1, their rows are there', async () => {
  const server = await simulator({ faults: ['server-error'] });
  const path = file('x.yaml', 'model: sim-reader\nnum_ctx: 2048\nsizes: [500, 600]\nwarm_up: false');
  const { code, stdout, stderr } = await spillway(['run', path, '--ollama', server.url, '--csv', '-']);
  expect(code).toBe(1);
  expect(rowsOf(stdout).map((row) => [row['cell_state'], row['http_status'], row['needle']])).toEqual([
    ['failed', '500', 'none'],
    ['failed', '500', 'none'],
  ]);
  expect(stderr).toContain('0 of 2 cells done, 2 failed');
});

test('a connection that breaks in the middle of a reply is a failed cell: 1, not the cancel of a person', async () => {
  const server = await simulator({ faults: ['drop-connection'] });
  const path = file('x.yaml', 'model: sim-reader\nnum_ctx: 2048\nsizes: [500]\nwarm_up: false');
  const { code, stdout, stderr } = await spillway(['run', path, '--ollama', server.url, '--csv', '-']);
  expect(code).toBe(1);
  expect(rowsOf(stdout)).toMatchObject([{ cell_state: 'failed', ending: 'aborted', prompt_tokens_evaluated: '' }]);
  expect(rowsOf(stdout)[0]?.['error']).toContain('The connection broke in the middle of the reply');
  expect(stderr).toContain('0 of 1 cell done, 1 failed');
});

test('a server that goes away in a sweep ends it with 1; the reason and the next step are said once', async () => {
  const server = await simulator({ timeScale: 0.05 });
  const sizes = Array.from({ length: 40 }, (_, index) => 500 + index).join(', ');
  const path = file('x.yaml', `model: sim-reader\nnum_ctx: 2048\nsizes: [${sizes}]\nwarm_up: false`);
  const running = start(['run', path, '--ollama', server.url, '--csv', '-']);
  await running.seen('stderr', ' 2/40');
  await server.stop();
  const { code, stdout, stderr } = await running.finished;
  expect(code).toBe(1);
  expect(
    stderr.match(/5 calls in a row did not reach the server: .*\. Start the server, then resume the run\.\n/g)?.length,
  ).toBe(1);
  expect(rowsOf(stdout).filter((row) => row['ending'] === 'unreachable' || row['ending'] === 'not-sent').length).toBe(
    5,
  );
});

test('a model that cannot answer is said before its cells fail', async () => {
  const path = file('x.yaml', 'model: sim-embed\nnum_ctx: 512\nsizes: [500]\nwarm_up: false');
  const { code, stderr } = await spillway(['run', path, '--simulate']);
  expect(code).toBe(1);
  expect(stderr).toContain('Note: sim-embed only makes embeddings; its cells will fail. Choose another model.');
});

test.each([
  [500, '{"error":"boom"}', 'gave no list of its models: boom.'],
  [200, '<html>no</html>', 'answers, but is not Ollama.'],
])('a server that gives no list of its models: 1, with what it said (%i)', async (status, body, said) => {
  const server = createServer((request, response) =>
    request.url === '/api/version' ? response.end('{"version":"0.33.0"}') : response.writeHead(status).end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = file('x.yaml', 'model: anything\nsizes: [500]');
  const { code, stdout, stderr } = await spillway(['run', path, '--ollama', url, '--csv', '-']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain('It has none');
});

// The device that is always full stands on Linux alone.
test.runIf(existsSync('/dev/full'))(
  'a full disk behind stdout or the file: 1, in one sentence, without a stack',
  async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const args = ['run', '--default', 'context', '--simulate', '--csv'];
    const [piped, named] = await Promise.all([
      start([...args, '-'], {}, full).finished,
      spillway([...args, '/dev/full']),
    ]);
    for (const [{ code, stderr }, what] of [
      [piped, 'stdout'],
      [named, '/dev/full'],
    ] as const) {
      expect(code).toBe(1);
      expect(stderr).toContain(`${what} could not be written to its end: the disk is full.`);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  },
);

describe('stopping', () => {
  const slow = 'model: sim-reader\nnum_ctx: 40960\nsizes: [500, 100000, 110000]\nwarm_up: false';

  test('Ctrl-C aborts the call on the server, keeps the rows, ends with 130; the rest can be resumed', async () => {
    let hasArrived = false;
    // Called with every prompt that the server reads.
    const pinTokens = (text: string): null => {
      hasArrived ||= text.length > 50_000;
      return null;
    };
    const server = await simulator({ timeScale: 0.5, pinTokens });
    const target = join(freshFolder(), 'out.csv');
    const running = start(['run', file('slow.yaml', slow), '--ollama', server.url, '--csv', target]);
    await running.seen('stderr', '1/3');
    await until(() => hasArrived);
    running.child.kill('SIGINT');
    const { code, stdout, stderr } = await running.finished;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toContain('Cancelled. The finished cells are kept');
    await until(() => server.aborted.length > 0);
    expect(server.aborted.length).toBe(1);
    const rows = rowsOf(readFileSync(target, 'utf8'));
    expect(rows[0]).toMatchObject({ cell_state: 'done', document_chars: '500', needle: 'found' });
    expect(rows.slice(1).map((row) => [row['cell_state'], row['ending']])).toEqual([['cancelled', 'aborted']]);
  });

  test('a reader that leaves stops the run without a stack trace', async () => {
    const server = await simulator({ timeScale: 0.5 });
    const running = start(['run', file('slow.yaml', slow), '--ollama', server.url, '--csv', '-']);
    await running.seen('stdout', header);
    running.child.stdout?.destroy();
    const { code, stderr } = await running.finished;
    expect(code).toBe(130);
    expect(stderr).not.toContain('EPIPE');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  async function until(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 2_000 && !condition(); turn++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(condition()).toBe(true);
  }
});

test('a data folder in use: 1, and where', async () => {
  const home = freshFolder();
  const server = await simulator({ timeScale: 0.5 });
  const first = start([
    'run',
    file('slow.yaml', 'model: sim-reader\nnum_ctx: 40960\nsizes: [100000]\nwarm_up: false'),
    '--ollama',
    server.url,
    '--home',
    home,
  ]);
  await first.seen('stderr', '1 call,');
  const second = await spillway(['run', '--default', 'context', '--simulate', '--home', home]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`Spillway already runs here (pid ${first.child.pid}`);
  first.child.kill('SIGINT');
  expect((await first.finished).code).toBe(130);
});
