import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const HALVED = 'test/fixtures/real/rendered-chat-long-one-message-default.json';
const INTACT = 'test/fixtures/real/english-sample.json';
const REFUSED = 'test/fixtures/real/native-chat-long-one-message-512.json';
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-explain-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly complaint: string;
}

function spillway(args: readonly string[], stdin?: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['shared/node/bin/cli.ts', 'explain', ...args],
      { maxBuffer: 50_000_000, env: { ...process.env, SPILLWAY_HOME: folder } },
      (error, out, complaint) => {
        resolve({ exit: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, complaint });
      },
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin ?? '');
  });
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('spillway explain', () => {
  test('--json prints one object a file and nothing else', async () => {
    const { exit, out, complaint } = await spillway(['--json', HALVED, INTACT]);
    const lines = out
      .trimEnd()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            file: string;
            truncation: { kinds: string[]; lost: number };
            reasoning: { outcome: string };
          },
      );
    expect(
      lines.map((line) => [line.file, line.truncation.kinds, line.truncation.lost, line.reasoning.outcome]),
    ).toEqual([
      [HALVED, ['halved'], 4_818, 'answered'],
      [INTACT, ['intact'], 0, 'answered'],
    ]);
    expect([exit, complaint]).toEqual([0, '']);
  });

  test('without it prints what a person reads', async () => {
    const { out } = await spillway([HALVED]);
    expect(out).toBe(
      [
        `${HALVED}: halved (exact)`,
        '  model     probe-rendered',
        '  server    0.33.0-rc2',
        '  window    4,096',
        '  sent      6,869',
        '  evaluated 2,051',
        '  lost      4,818',
        '  output    20',
        '  exact     Cut from 6,869 to 2,051 tokens, as the server log says.',
        '  certain   2,051 is the cut size for 4,096: 4,096 − ⌊(4,096 − 5) ÷ 2⌋',
        '  likely    2,051 is 26 % of characters ÷ 3 (8,021), under the 60 % mark.',
        '  next      Send again with num_ctx 8,192: nothing is lost.',
        '  answer    answered, cut off',
        '  thinking  none',
        '',
      ].join('\n'),
    );
  });

  test('reads stdin, a log of its own and what the recording lacks', async () => {
    const reply =
      '{"request":{"model":"m","messages":[{"role":"user","content":"hello there"}]},"reply":{"message":{"content":"x"},"done":true,"done_reason":"length","prompt_eval_count":12,"eval_count":500}}';
    const log = file(
      'server.log',
      'slot   operator(): id  0 | task 1 | new prompt, n_ctx_slot = 256, n_keep = 4, task.n_tokens = 12\nslot   operator(): id  0 | task 1 | slot context shift, n_keep = 5, n_left = 250, n_discard = 125\n',
    );
    const { exit, out } = await spillway(
      ['-', '--json', '--window', '256', '--version', '0.33.0', '--log', log],
      reply,
    );
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      file: '-',
      truncation: { kinds: ['shifted'], confidence: 'exact', shifts: 1 },
    });
  });

  test('goes on after a file that cannot be read, names it, and ends with 2', async () => {
    const { exit, out, complaint } = await spillway([
      '--json',
      join(folder, 'nobody.json'),
      folder,
      file('empty.json', ''),
      INTACT,
    ]);
    expect(exit).toBe(2);
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(complaint.trimEnd().split('\n')).toEqual([
      `${join(folder, 'nobody.json')} cannot be read: it does not exist. Check the name and that it may be read.`,
      `${folder} is a folder. Name the files in it.`,
      `${join(folder, 'empty.json')}: The text is empty. Paste a reply, or a file with request and response.`,
    ]);
  });

  test.each([
    ['halved', 3],
    ['refused,halved', 3],
    ['refused', 0],
  ])('--fail-on %s ends with %i', async (kinds, exit) => {
    expect((await spillway([HALVED, '--fail-on', kinds])).exit).toBe(exit);
  });

  test.each([
    [['--fail-on', 'halfed', REFUSED], /there is no verdict "halfed"/],
    [['--window', '0', REFUSED], /Give a whole number from 1 to 10,000,000/],
    [['--window', 'big', REFUSED], /Give a whole number/],
    [['--log', '/nowhere/server.log', REFUSED], /\/nowhere\/server.log cannot be read: it does not exist/],
    [[], /missing required argument/],
  ])('bad input %j ends with 2 and says why', async (args, complaint) => {
    const ended = await spillway(args);
    expect([ended.exit, ended.out]).toEqual([2, '']);
    expect(ended.complaint).toMatch(complaint);
  });

  test('UTF-16 from a shell redirect is read, and broken bytes do not matter', async () => {
    const utf16 = file(
      'utf16.json',
      Buffer.concat([
        Buffer.from([0xff, 0xfe]),
        Buffer.from('{"message":{"content":"a"},"done":true,"prompt_eval_count":5,"eval_count":1}', 'utf16le'),
      ]),
    );
    const broken = file(
      'broken.json',
      Buffer.concat([
        Buffer.from('{"message":{"content":"'),
        Buffer.from([0xd1, 0xff]),
        Buffer.from('"},"done":true,"prompt_eval_count":5,"eval_count":1}'),
      ]),
    );
    const { exit, out } = await spillway(['--json', utf16, broken]);
    expect([exit, out.trimEnd().split('\n').length]).toEqual([0, 2]);
  });

  test('control characters of a hostile recording do not reach the terminal', async () => {
    const hostile = file(
      'hostile.json',
      JSON.stringify({
        request: { model: 'm\u001b]0;owned\u0007' },
        reply: { message: { content: '' }, done: true, prompt_eval_count: 5, eval_count: 1 },
      }),
    );
    expect((await spillway([hostile])).out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});
