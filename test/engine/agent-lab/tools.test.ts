import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ASK_AGAIN, carrierTools, clockTools } from '../../../shared/engine/agent-lab/carrier.ts';
import {
  BROKEN_FILE,
  HANDBOOK,
  HANDBOOK_LINES,
  HOSTILE_NAMES,
  fileTools,
  fileTree,
} from '../../../shared/engine/agent-lab/file-tree.ts';
import { ATTEMPT_PRICE, failuresOf, flakyTools } from '../../../shared/engine/agent-lab/flaky.ts';
import { jobTools, looksUntilDone } from '../../../shared/engine/agent-lab/jobs.ts';
import { createCancel, never } from '../../../shared/engine/cancel.ts';
import type { Tool, ToolAnswer } from '../../../shared/engine/gateway/tool.ts';
import { parseJson } from '../../../shared/engine/guards/canonical.ts';
import { stateHash } from '../../../shared/engine/guards/fingerprint.ts';
import { sha256 } from '../agent/harness.ts';

const noSleep = (): Promise<void> => Promise.resolve();

/** Asks a tool as the gateway does: what does not fit is not run. */
async function ask(tools: readonly Tool[], name: string, args: unknown, signal = never): Promise<ToolAnswer> {
  const tool = tools.find(({ spec }) => spec.name === name);
  const parsed = parseJson(JSON.stringify(args));
  if (tool === undefined || !parsed.ok) throw new Error(`${name} cannot be asked`);
  const wrong = tool.spec.check(parsed.value);
  if (wrong !== null) throw new Error(wrong);
  return tool.invoke(parsed.value, { signal, attempt: 1, nodeId: 'agent' });
}
const say = async (...about: Parameters<typeof ask>): Promise<string> => (await ask(...about)).text.head;

describe('carrier and clock', () => {
  const { publishedStateHash: published } = JSON.parse(
    readFileSync(new URL('../../golden/loopguard.json', import.meta.url), 'utf8'),
  ) as { publishedStateHash: { preimage: string; jcsSha256: string } };

  test('the carrier says what it is known for, and its state is the published one', async () => {
    const tools = carrierTools(noSleep);
    const text = await say(tools, 'get_shipment_status', { orderId: 1_042 });
    expect(`get_shipment_status|{"orderId":1042}|${text}`).toBe(published.preimage);
    expect(text).toContain(ASK_AGAIN);
    const call = { tool: 'get_shipment_status', args: new Map([['orderId', 1_042]]) };
    expect(stateHash(call, text, [], sha256)).toBe(published.jcsSha256);
    expect(await say(tools, 'get_shipment_status', { orderId: '"}\n{' })).toBe(
      JSON.stringify({ orderId: '"}\n{', status: 'pending', message: ASK_AGAIN }),
    );
  });

  test('no two looks at the clock say the same', async () => {
    const tools = clockTools(noSleep);
    const looks: string[] = [];
    for (let at = 0; at < 2_000; at += 1) looks.push(await say(tools, 'get_time', {}));
    expect(new Set(looks).size).toBe(2_000);
    expect(looks[0]).toBe('It is 09:00:07.');
  });
});

describe('files', () => {
  const tools = fileTools(7, noSleep);

  test('the same seed gives the same tree, another one another', () => {
    expect([...fileTree(7)]).toEqual([...fileTree(7)]);
    expect(fileTree(8).get(BROKEN_FILE)).not.toEqual(fileTree(7).get(BROKEN_FILE));
    expect([...fileTree(8).keys()]).toEqual([...fileTree(7).keys()]);
  });

  test('a name that would be a line, markup or a way out stays one quoted name', async () => {
    const lines = (await say(tools, 'list_files', {})).split('\n');
    expect(lines).toHaveLength(fileTree(7).size);
    for (const line of lines) expect(line).toMatch(/^"(?:[^"\\]|\\.)*" \d+ lines$/);
    for (const name of HOSTILE_NAMES) {
      expect(lines.filter((line) => line.startsWith(`${JSON.stringify(name)} `))).toHaveLength(1);
      expect((await ask(tools, 'read_file', { path: name })).failed).toBe(false);
    }
    expect(await say(tools, 'list_files', { folder: 'docs' })).not.toContain('outside');
  });

  test('lines from first to last, both included', async () => {
    const lines = fileTree(7).get(HANDBOOK) ?? [];
    expect(lines).toHaveLength(HANDBOOK_LINES);
    expect(await say(tools, 'read_file', { path: HANDBOOK, from: 2, to: 3 })).toBe(`${lines[1]}\n${lines[2]}`);
    expect(await say(tools, 'read_file', { path: HANDBOOK, from: HANDBOOK_LINES })).toBe(lines.at(-1));
    expect(await say(tools, 'read_file', { path: HANDBOOK })).toBe(lines.join('\n'));
    expect(await ask(tools, 'read_file', { path: HANDBOOK, from: HANDBOOK_LINES + 1 })).toMatchObject({ failed: true });
  });

  test('search finds in names that mislead, too, and says where', async () => {
    const [line = ''] = fileTree(7).get('__proto__') ?? [];
    expect(await say(tools, 'search_files', { query: line.toUpperCase() })).toContain(`"__proto__" line 1: ${line}`);
    expect(await say(tools, 'search_files', { query: 'no such words anywhere' })).toMatch(/^No line has "no such/);
  });

  test('nothing but the tree is ever read, whatever it is asked for', async () => {
    const tree = fileTree(7);
    const paths = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '/etc/passwd',
        '../../etc/passwd',
        'constructor',
        'src/../docs/handbook.md',
        'src/parser.ts\0',
        '',
      ),
      fc.constantFrom(...tree.keys()),
    );
    const number = fc.option(fc.maxSafeInteger(), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(paths, number, number, async (path, from, to) => {
        const answer = await ask(tools, 'read_file', { path, from, to });
        const lines = tree.get(path);
        const inside = answer.text.head.split('\n').every((line) => lines?.includes(line) === true);
        expect(answer.failed ? 'refused' : inside).toBe(answer.failed ? 'refused' : true);
        if (lines === undefined) expect(answer.failed).toBe(true);
        expect(answer.failed && answer.text.bytes > 1_500).toBe(false);
      }),
    );
  });

  test('what does not fit is said by field', () => {
    const check = tools.find(({ spec }) => spec.name === 'read_file')?.spec.check;
    const of = (args: unknown): string | null | undefined => {
      const parsed = parseJson(JSON.stringify(args));
      return parsed.ok ? check?.(parsed.value) : 'no JSON';
    };
    expect(of({ path: 'a' })).toBeNull();
    expect(of({ path: 'a', from: 1, to: 2, why: 'because' })).toBeNull();
    expect(of({})).toBe('path must be a text');
    expect(of({ path: 3 })).toBe('path must be a text');
    expect(of({ path: 'a', from: '1' })).toBe('from must be a whole number');
    expect(of({ path: 'a', to: 1.5 })).toBe('to must be a whole number');
    expect(of({ path: 'a', to: null })).toBe('to must be a whole number');
    expect(of([])).toBe('the arguments must be an object');
  });

  test('it cannot be written to, and its tests fail the same way every time', async () => {
    const edit = { path: BROKEN_FILE, old: 'a', new: 'b' };
    expect(await ask(tools, 'edit_file', edit)).toMatchObject({ failed: true, retryable: false });
    const runs = [await say(tools, 'run_tests', {}), await say(tools, 'run_tests', {})];
    expect(runs[0]).toBe(runs[1]);
    expect(runs[0]).toContain('1 of 12 tests failed');
  });
});

describe('failing servers', () => {
  test('a busy one works after so many failures as its seed says, each path for itself', async () => {
    const seen = new Set<number>();
    for (let seed = 0; seed < 20; seed += 1) {
      const tools = flakyTools(seed, noSleep);
      const failures = failuresOf(seed, 'status');
      seen.add(failures);
      for (let at = 0; at < failures; at += 1) {
        expect(await ask(tools, 'fetch_flaky', { path: 'status' })).toMatchObject({ failed: true, retryable: true });
      }
      expect(await ask(tools, 'fetch_flaky', { path: 'status' })).toMatchObject({ failed: false });
      expect((await ask(tools, 'fetch_flaky', { path: 'other' })).failed).toBe(true);
    }
    expect([...seen].sort()).toEqual([1, 2]);
  });

  test('what is missing is not tried again; a server that is down always is', async () => {
    const tools = flakyTools(7, noSleep, { clientAttempts: 3 });
    expect(await ask(tools, 'fetch_flaky', { path: 'missing page' })).toMatchObject({
      failed: true,
      retryable: false,
      nanoDollars: ATTEMPT_PRICE,
    });
    expect(await ask(tools, 'fetch_down', { path: 'status' })).toMatchObject({
      failed: true,
      retryable: true,
      nanoDollars: 3 * ATTEMPT_PRICE,
    });
  });

  test('a client that is stopped does not try again', async () => {
    const stopped = createCancel();
    stopped.cancel('person');
    const tools = flakyTools(7, noSleep, { clientAttempts: 3 });
    expect(await ask(tools, 'fetch_down', { path: 'status' }, stopped.signal)).toMatchObject({
      nanoDollars: ATTEMPT_PRICE,
    });
  });
});

describe('jobs', () => {
  const stateOf = async (tools: readonly Tool[], job: string): Promise<unknown> =>
    (JSON.parse(await say(tools, 'job_status', { job })) as { state: unknown }).state;

  test('a job is done after so many looks, and its lease then ends nothing', async () => {
    const tools = jobTools(7, noSleep);
    const started = await ask(tools, 'start_job', { name: 'backup' });
    const looks = looksUntilDone(7, 'backup');
    for (let at = 1; at < looks; at += 1) expect(await stateOf(tools, 'job-1')).toBe('running');
    expect(await stateOf(tools, 'job-1')).toBe('done');
    await started.lease?.release();
    expect(await stateOf(tools, 'job-1')).toBe('done');
  });

  test('a lease ends its job, so does a call, and a stubborn one is ended by neither', async () => {
    const tools = jobTools(7, noSleep);
    const [first, , third] = [
      await ask(tools, 'start_job', { name: 'mail' }),
      await ask(tools, 'start_job', { name: 'index' }),
      await ask(tools, 'start_job', { name: 'stubborn' }),
    ];
    await first.lease?.release();
    expect(await stateOf(tools, 'job-1')).toBe('cancelled');
    await ask(tools, 'cancel_job', { job: 'job-2' });
    expect(await stateOf(tools, 'job-2')).toBe('cancelled');
    expect((await ask(tools, 'cancel_job', { job: 'job-3' })).failed).toBe(true);
    await expect(third.lease?.release()).rejects.toThrow('does not end');
    expect(await stateOf(tools, 'job-3')).toBe('running');
    expect((await ask(tools, 'job_status', { job: 'job-4\n' })).text.head).toBe('There is no job "job-4\\n".');
  });

  test('without a ledger nobody holds the job', async () => {
    expect((await ask(jobTools(7, noSleep, { hasLeases: false }), 'start_job', { name: 'mail' })).lease).toBeNull();
  });
});
