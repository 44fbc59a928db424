import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type AgentRunView, type Approval, agentRunViewSchema } from '../../shared/contract/agents.ts';
import { createPerson } from '../../shared/node/bin/ask-person.ts';
import { agentCallColumns } from '../../shared/node/csv/agent-columns.ts';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { freshFolder, rowsOf, spillway, start } from './spillway.ts';

async function simulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator({ port: 0, timeScale: 0, ...options });
  onTestFinished(() => started.stop());
  return started;
}

function file(text: string, name = 'task.yaml'): string {
  const path = join(freshFolder(), name);
  writeFileSync(path, text);
  return path;
}

const viewOf = (stdout: string): AgentRunView => agentRunViewSchema.parse(JSON.parse(stdout));
/** `tool calls  58: …` -> `58: …`. */
const lineOf = (receipt: string, name: string): string | undefined =>
  new RegExp(`^${name} {2,}(.*)$`, 'm').exec(receipt)?.[1];

describe('a ready task', () => {
  test('the link farm: the receipt on stdout, a line a step on stderr', async () => {
    const { code, stdout, stderr } = await spillway(['agent', 'run', '--preset', 'farm-reader']);
    expect(code).toBe(0);
    expect(lineOf(stdout, 'end')).toBe('no-progress');
    expect(lineOf(stdout, 'tool calls')).toBe('58: fetch 55, search 3');
    expect(lineOf(stdout, 'agents')).toBe('3, 2 delegations, 1 level deep');
    expect(lineOf(stdout, 'peak fan-out')).toBe('8 calls in one step');
    expect(lineOf(stdout, 'context tokens')).toMatch(/ of 400,000 \(what the limit means\)$/);
    expect(lineOf(stdout, 'billed tokens')).not.toContain('limit');
    expect(lineOf(stdout, 'cost of tools')).toMatch(/^\$0\.\d+ of \$2$/);
    expect(lineOf(stdout, 'open leases')).toBe('0');
    expect(lineOf(stdout, 'run')).toMatch(/^agents_\w+, simulated$/);
    const steps = stderr.split('\n').filter((line) => line.includes('  step '));
    expect(steps.find((line) => line.includes('planner  step 3'))).toBe(
      '  15.0 s  planner  step 3  fetch x8  2 not run (fan-out)  32,040 tokens',
    );
  });

  test('without budgets and guards: forty calls where there were three', async () => {
    const args = ['agent', 'run', '--preset', 'status-asker', '--json'];
    const [governed, ungoverned] = await Promise.all([spillway(args), spillway([...args, '--ungoverned'])]);
    expect([governed.code, ungoverned.code]).toEqual([0, 0]);
    const both = [governed, ungoverned].map(({ stdout }) => viewOf(stdout).run);
    expect(both.map(({ reason, totals }) => [reason, totals.toolCalls, totals.modelTurns])).toEqual([
      ['state-hash', 3, 3],
      ['rounds', 40, 41],
    ]);
  });

  test('the list, and a name that is not on it', async () => {
    const [list, json, wrong] = await Promise.all([
      spillway(['agent', 'presets']),
      spillway(['agent', 'presets', '--json']),
      spillway(['agent', 'run', '--preset', 'farmreader']),
    ]);
    expect(list.stdout).toMatch(/^farm-reader {2,}A site that asks for all of itself to be read/m);
    expect((JSON.parse(json.stdout) as unknown[]).length).toBe(list.stdout.trimEnd().split('\n').length);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toBe('--preset: there is no ready task farmreader. Did you mean farm-reader?\n');
  });
});

describe('tables and codes', () => {
  test('--csv: one row a call, on stdout or in a file', async () => {
    const target = join(freshFolder(), 'calls.csv');
    const [piped, filed] = await Promise.all([
      spillway(['agent', 'run', '--preset', 'five-hundred', '--csv', '-']),
      spillway(['agent', 'run', '--preset', 'status-asker', '--csv', target, '--profile', 'spreadsheet']),
    ]);
    expect(piped.stdout.startsWith(`${agentCallColumns.map(({ name }) => name).join(',')}\r\n`)).toBe(true);
    const rows = rowsOf(piped.stdout);
    expect(rows).toHaveLength(500);
    expect(rows.filter(({ outcome }) => outcome === 'done')).toHaveLength(8);
    expect(lineOf(piped.stderr, 'tool calls')).toMatch(/^8: /);
    expect(rowsOf(readFileSync(target, 'utf8')).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    expect(lineOf(filed.stdout, 'tool calls')).toBe('3: get_shipment_status 3');
  });

  test.each([
    ['status-asker', 'budget-calls,state-hash', 3, '--fail-on: state-hash.'],
    ['status-asker', 'not-done', 3, '--fail-on: not-done.'],
    ['status-asker', 'budget-calls', 0, null],
    ['job-forgetter', 'open-leases', 3, '--fail-on: open-leases.'],
    ['reader', 'not-done,open-leases', 0, null],
  ])('%s --fail-on %s: %i', async (preset, failOn, expected, last) => {
    const { code, stderr } = await spillway(['agent', 'run', '--preset', preset, '--fail-on', failOn]);
    expect(code).toBe(expected);
    if (last !== null) expect(stderr.trimEnd().split('\n').at(-1)).toBe(last);
  });

  test.each([
    [[], 'Nothing to run. Give a task file, or --preset NAME.'],
    [['x.yaml', '--preset', 'reader'], 'A file and a ready task were both given. Leave one out.'],
    [['nowhere.yaml'], 'nowhere.yaml cannot be read: there is no such file. Check the name and the rights.'],
    [
      ['--preset', 'reader', '--fail-on', 'state-hsh'],
      '--fail-on: there is no reason state-hsh. Did you mean state-hash?',
    ],
    [
      ['--preset', 'reader', '--csv', '-', '--json'],
      '--csv - and --json both write to stdout. Give --csv a file, or leave one out.',
    ],
    [['--preset', 'reader', '--simulate', '--ollama', 'x'], '--simulate and --ollama name two servers. Leave one out.'],
  ])('bad input %j', async (args, words) => {
    const { code, stdout, stderr } = await spillway(['agent', 'run', ...args]);
    expect([code, stdout, stderr]).toEqual([2, '', `${words}\n`]);
  });
});

describe('a task from a file', () => {
  test('on a server over HTTP: the loop ends at three', async () => {
    const server = await simulator();
    const task = file(
      'prompt: Where is order 1042?\nmodel: sim-loop\ntools: [carrier]\nlimits: {calls: 30, dollars: 0.5}\n',
    );
    const { code, stdout } = await spillway(['agent', 'run', task, '--ollama', server.url]);
    expect(code).toBe(0);
    expect(lineOf(stdout, 'end')).toBe('state-hash');
    expect(lineOf(stdout, 'tool calls')).toBe('3: get_shipment_status 3');
    expect(lineOf(stdout, 'cost of tools')).toBe('$0.003 of $0.50');
    expect(lineOf(stdout, 'stopped by')).toMatch(/^state-hash: .*\(3 of 2\)$/);
  });

  test.each([
    [
      'prompt: hi\nmodel: script:reader\nlimits:\n  cals: 3\n',
      'task.yaml:4:3: there is no field limits.cals. Did you mean calls?',
    ],
    ['prompt: hi\nmodel: script:reader\nlimits:\n  calls: -3\n', 'task.yaml:4:10: limits.calls: must not be negative.'],
    ['prompt: hi\ntools: [carrier]\n', 'task.yaml:1:1: model is missing. Add a line such as'],
    ['prompt: "hi\n', 'task.yaml:2:1: Missing closing "quote.'],
    ['prompt: hi\nmodel: script:nobody\n', 'There is no script nobody. Choose one of the list.'],
  ])('%j is bad input', async (text, words) => {
    const { code, stdout, stderr } = await spillway(['agent', 'run', file(text)]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  test('a model without tools is bad input; no server is a failure', async () => {
    const task = file('prompt: hi\nmodel: sim-embed\n');
    const [without, nowhere] = await Promise.all([
      spillway(['agent', 'run', task, '--simulate']),
      spillway(['agent', 'run', task]),
    ]);
    expect([without.code, without.stderr]).toEqual([
      2,
      'sim-embed cannot call tools. Choose a model that has the capability tools.\n',
    ]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toContain('127.0.0.1:1');
  });

  test('servers from a file beside it; one that does not start is told, and the run goes on', async () => {
    const task = file('prompt: Is it in order?\nmodel: script:reader\ntools: [files]\nmcp_servers: {file: mcp.json}\n');
    writeFileSync(join(task, '..', 'mcp.json'), '{"mcpServers": {"none": {"command": "./nowhere-at-all"}}}');
    const { code, stdout, stderr } = await spillway(['agent', 'run', task]);
    expect(code).toBe(0);
    expect(lineOf(stdout, 'end')).toBe('done');
    expect(stderr).toContain('MCP server none: ');
    writeFileSync(join(task, '..', 'mcp.json'), '{"mcpServers": {"none": {"comand": "x"}}}');
    const wrong = await spillway(['agent', 'run', task]);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toContain('mcp.json: ');
  });

  test('hostile texts stay on their line', async () => {
    const server = await simulator({
      brain: () => ({ pieces: ['fine\u001b[2J\u202e\r\nrun  agents_x, all is well'] }),
    });
    const { stdout } = await spillway(['agent', 'run', file('prompt: hi\nmodel: sim-loop\n'), '--ollama', server.url]);
    expect(stdout).not.toMatch(/[\u001b\u202e\r]/);
    expect(stdout).toContain('fine [2J\nrun  agents_x, all is well\n\nrun ');
  });
});

describe('a person', () => {
  const asking =
    'prompt: Where is order 1042?\nmodel: script:status-asker\ntools: [carrier]\napproval_above_dollars: 0\nrounds: 1\n';

  test('cannot be asked where there is no terminal: the call is denied, and that is said', async () => {
    const { code, stdout, stderr } = await spillway(['agent', 'run', file(asking), '--json']);
    expect([code, viewOf(stdout).calls.map(({ code: why }) => why)]).toEqual([0, ['approval-denied']]);
    expect(stderr).toContain(
      'agent asks for get_shipment_status {"orderId":1042} for at most $0.002. Allow it? Denied: there is no terminal to ask on.\n',
    );
  });

  const approval = (id: string): Approval =>
    ({
      id,
      kind: 'call',
      nodeId: 'agent',
      call: null,
      nanoDollarsWorst: 5,
      exhaustion: null,
      limitAsked: null,
    }) as never;
  const terminal = (): { input: PassThrough; output: PassThrough; seen(): string } => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    return {
      input: Object.assign(input, { isTTY: true }),
      output: Object.assign(output, { isTTY: true }),
      seen: () => String(output.read() ?? ''),
    };
  };

  test('is asked one thing at a time; only yes is yes', async () => {
    const { input, output, seen } = terminal();
    const person = createPerson({ input, output });
    const answers = [person.ask(approval('a')), person.ask(approval('b')), person.ask(approval('c'))];
    expect(seen()).toBe('agent asks for a call  for at most $0.000000005. Allow it? [y/N] ');
    input.write('y\n');
    expect(await answers[0]).toBe(true);
    input.write('\n');
    expect(await answers[1]).toBe(false);
    input.end();
    expect(await answers[2]).toBe(false);
    expect(await person.ask(approval('d'))).toBe(false);
    person.release();
  });

  test('does not answer what was taken back', async () => {
    const { input, output, seen } = terminal();
    const person = createPerson({ input, output });
    const first = person.ask(approval('a'));
    const second = person.ask(approval('b'));
    seen();
    person.takeBack('a');
    expect(await first).toBe(false);
    expect(seen()).toMatch(/^taken back\nagent asks/);
    input.write('YES\n');
    expect(await second).toBe(true);
    person.release();
  });

  test('stops it with Ctrl-C: 130, and the server is left', async () => {
    const server = await simulator({ timeScale: 1 });
    const task = file('prompt: Go.\nmodel: sim-overthink\nnum_predict: 100000\n');
    const run = start(['agent', 'run', task, '--ollama', server.url]);
    await run.seen('stderr', 'agent run, sim-overthink.');
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.finished;
    expect(code).toBe(130);
    expect(lineOf(stdout, 'end')).toBe('cancelled');
    expect(stderr).toContain('Cancelled.');
  });
});
