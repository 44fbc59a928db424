/** The log watch in the whole runtime: verdicts become exact, four calls at once and rotations in mid-line included. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CallRecord } from '../../../shared/contract/calls.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  requests,
} from '../../../shared/contract/requests.ts';
import type { RuntimeOptions } from '../../../shared/node/parts.ts';
import { createRuntime } from '../../../shared/node/runtime.ts';
import { startSimulator } from '../../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../../shared/node/simulator/options.ts';

const NOT_OPEN = 'The server log is not open to this console. With it the verdict would be exact.';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-log-runtime-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function start(options: Partial<RuntimeOptions> = {}) {
  const made = await createRuntime({
    host: 'test',
    home: freshFolder(),
    // Port 1 answers nobody.
    environment: { OLLAMA_HOST: '127.0.0.1:1', HOME: freshFolder() },
    simulatorTimeScale: 0,
    ...options,
  });
  if (!made.ok) throw new Error(made.denial.message);
  const runtime = made.value;
  onTestFinished(() => runtime.stop());
  const events: EngineEvent[] = [];
  runtime.subscribe((event) => events.push(event));
  await runtime.ready;
  async function ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>> {
    const context = { screenId: 'test', signal: new AbortController().signal };
    const answer = await runtime.handle(name, requests[name].params.parse(params), context);
    if (!answer.ok) throw new Error(answer.denial.message);
    return requests[name].result.parse(answer.value) as never;
  }
  async function call(text: string, fields: Partial<RequestParams<'call.start'>> = {}): Promise<CallRecord> {
    const { callId } = await ask('call.start', { ...request, messages: [{ role: 'user', content: text }], ...fields });
    for (let turn = 0; turn < 6_000; turn += 1) {
      if (events.some((event) => event.type === 'call-closed' && event.call.id === callId)) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return ask('call.get', { callId });
  }
  return { ask, call, events };
}

const request = {
  model: 'sim-reader',
  route: 'chat' as const,
  messages: [],
  numCtx: 512,
  numPredict: 20,
  think: 'default' as const,
  temperature: 0,
  seed: 7,
  policy: 'warn' as const,
};
const sentences = (count: number): string => 'The harbour master writes down every ship that comes in. '.repeat(count);

async function server(options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator({ port: 0, timeScale: 0, ...options });
  onTestFinished(() => started.stop());
  return started;
}

describe('the simulator here', () => {
  test('its cuts are exact, with the line, and the weaker evidence stays; all of it is marked simulated', async () => {
    const screen = await start({ simulate: true });
    const record = await screen.call(sentences(400));
    expect(record.simulated).toBe(true);
    expect(record.truncation).toMatchObject({ kinds: ['halved'], confidence: 'exact', kept: 259 });
    const [first, ...others] = record.truncation.evidence;
    expect(first).toMatchObject({ confidence: 'exact', source: 'server-log' });
    expect(first?.raw).toContain(
      `msg="truncating input prompt" limit=259 prompt=${record.truncation.sent} keep=5 new=259`,
    );
    expect(others.map((one) => one.source)).toContain('cut-size');
    expect((await screen.ask('snapshot.get', {})).serverLog).toMatchObject({
      state: 'open',
      source: "the simulator's own log",
      simulated: true,
    });
  });

  test('a prompt that fits is exact too; shifts are counted by their lines', async () => {
    const screen = await start({ simulate: true });
    expect((await screen.call('Why is the sky blue?')).truncation).toMatchObject({
      kinds: ['intact'],
      confidence: 'exact',
    });
    const long = await screen.call('Is 1000003 a prime number?', {
      model: 'sim-overthink',
      numCtx: 256,
      numPredict: 900,
    });
    expect(long.truncation).toMatchObject({ kinds: ['shifted'], confidence: 'exact' });
    expect(long.truncation.shifts).toBeGreaterThan(2);
  });

  test('off is off: as before, and it says what is missing', async () => {
    const screen = await start({ simulate: true, serverLog: 'off' });
    const { truncation } = await screen.call(sentences(400));
    expect(truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain', kept: 259 });
    expect(truncation.evidence.map((one) => one.text)).toContain(NOT_OPEN);
  });
});

describe('a log file', () => {
  /** A server whose lines are written to a file by `write`. */
  async function logged(write: (path: string, line: string) => void, options: SimulatorOptions = {}) {
    const path = join(freshFolder(), 'server.log');
    writeFileSync(path, '');
    const simulator = await server({ debug: true, ...options });
    simulator.state.log.onLine((line) => write(path, line));
    return { path, simulator };
  }

  test('the setting opens it, and its state is told to every screen', async () => {
    const { path, simulator } = await logged((file, line) => appendFileSync(file, `${line}\n`));
    const screen = await start({ ollamaUrl: simulator.url });
    expect((await screen.call(sentences(400))).truncation.confidence).toBe('certain');
    await screen.ask('settings.set', { serverLog: path });
    expect(screen.events.filter((event) => event.type === 'server-log-changed').at(-1)).toMatchObject({
      log: { state: 'open', source: path, simulated: true },
    });
    expect((await screen.call(sentences(400))).truncation).toMatchObject({ kinds: ['halved'], confidence: 'exact' });
  });

  test('dropped messages are exact where the log has debug lines', async () => {
    const { path, simulator } = await logged((file, line) => appendFileSync(file, `${line}\n`));
    const screen = await start({ ollamaUrl: simulator.url, serverLog: path });
    const messages = [1, 2, 3, 4].flatMap(() => [
      { role: 'user' as const, content: sentences(12) },
      { role: 'assistant' as const, content: 'Noted.' },
    ]);
    const record = await screen.call('', { messages: [...messages, { role: 'user', content: 'What was said?' }] });
    expect(record.truncation).toMatchObject({ kinds: ['messages-dropped'], confidence: 'exact' });
  });

  test.each([
    ['renamed in mid-line', (path: string) => renameSync(path, `${path}.1`)],
    ['cut to nothing in mid-line', (path: string) => truncateSync(path, 0)],
  ])(
    'four calls at once, the file %s again and again: no verdict rests on the line of another call',
    async (_, rotate) => {
      let count = 0;
      const { path, simulator } = await logged(
        (file, line) => {
          count += 1;
          if (count % 7 !== 0) return appendFileSync(file, `${line}\n`);
          const half = Math.floor(line.length / 2);
          appendFileSync(file, line.slice(0, half));
          rotate(file);
          appendFileSync(file, `${line.slice(half)}\n`);
        },
        { numParallel: 4 },
      );
      const screen = await start({ ollamaUrl: simulator.url, serverLog: path });
      let exact = 0;
      for (let round = 0; round < 4; round += 1) {
        const records = await Promise.all([70, 150, 330, 720].map((size) => screen.call(sentences(size + round))));
        // What the server itself knows of each call: its prompt tokens are in the one line it wrote about it.
        const prompts = simulator.logLines().flatMap((line) => /prompt=(\d+) keep/.exec(line)?.[1] ?? []);
        for (const { truncation, promptCharacters } of records) {
          expect(truncation.kinds).toEqual(['halved']);
          const raw = truncation.evidence.find((one) => one.source === 'server-log')?.raw;
          if (truncation.confidence !== 'exact' || raw === undefined) continue;
          exact += 1;
          const prompt = Number(/prompt=(\d+) keep/.exec(raw)?.[1]);
          expect(prompts).toContain(String(prompt));
          // The text is the same sentence over and over: its tokens follow its length.
          expect(Math.abs(prompt / (promptCharacters / sentences(1).length) - 11)).toBeLessThan(2.5);
        }
      }
      // Lines that stayed whole still count.
      expect(exact).toBeGreaterThan(0);
    },
  );

  test('four calls at once in a log that is whole are all exact', async () => {
    const { path, simulator } = await logged((file, line) => appendFileSync(file, `${line}\n`), { numParallel: 4 });
    const screen = await start({ ollamaUrl: simulator.url, serverLog: path });
    const records = await Promise.all([70, 190, 520, 1_400].map((size) => screen.call(sentences(size))));
    expect(records.map(({ truncation }) => truncation.confidence)).toEqual(['exact', 'exact', 'exact', 'exact']);
    const sent = records.map(({ truncation }) => truncation.sent ?? 0);
    expect([...sent].sort((a, b) => a - b)).toEqual(sent);
  });

  test('the log of another server proves nothing and costs nothing but a moment', async () => {
    const other = await logged((file, line) => appendFileSync(file, `${line}\n`));
    const simulator = await server();
    const screen = await start({ ollamaUrl: simulator.url, serverLog: other.path });
    const { truncation } = await screen.call(sentences(400));
    expect(truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain' });
    expect(truncation.evidence.map((one) => one.text)).toContain('The server log has no lines of this call.');
  });

  test('a file that is not there: as before, and it says so', async () => {
    const path = join(freshFolder(), 'not-there.log');
    const simulator = await server();
    const screen = await start({ ollamaUrl: simulator.url, serverLog: path });
    const { truncation } = await screen.call(sentences(400));
    expect(truncation).toMatchObject({ confidence: 'certain' });
    expect(truncation.evidence.map((one) => one.text)).toContain(NOT_OPEN);
    expect((await screen.ask('snapshot.get', {})).serverLog).toMatchObject({ state: 'not-found', source: path });
  });
});
