/** A model of a server as an agent: real HTTP, real ledger; what goes out, what comes into the transcript, how a run ends. */
import { describe, expect, test } from 'vitest';
import type { ShownEntry } from '../../../shared/contract/agents.ts';
import { defaultProfiles } from '../../../shared/node/simulator/profiles.ts';
import type { BrainAsk, ModelProfile } from '../../../shared/node/simulator/options.ts';
import { type Console, simulator, startConsole, until } from './agent-console.ts';

const CARRIER = 'get_shipment_status';

interface Scripted {
  readonly console: Console;
  /** What the server was asked, call by call. */
  readonly asks: BrainAsk[];
}

/** A console on a server whose model writes these texts, one a call, the last one for ever. */
async function scripted(texts: readonly string[], profile: Partial<ModelProfile> = {}): Promise<Scripted> {
  const asks: BrainAsk[] = [];
  const base = defaultProfiles.find(({ name }) => name === 'sim-loop:latest');
  if (base === undefined) throw new Error('there is a model that loops');
  const server = await simulator({
    profiles: [{ ...base, name: 'writes:latest', ...profile }],
    brain(ask) {
      asks.push(ask);
      return { pieces: [texts[Math.min(asks.length, texts.length) - 1] ?? ''] };
    },
  });
  return { asks, console: await startConsole({ ollamaUrl: server.url }) };
}

const written = (name: string, args: unknown): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const look = written(CARRIER, { orderId: '1042' });

const transcriptOf = async (at: Console, runId: string): Promise<ShownEntry[]> =>
  (await at.ask('agent.transcript', { runId: runId as never, nodeId: 'agent' })).entries;

describe('the looping model', () => {
  test('ends at the third equal answer with the defaults', async () => {
    const at = await startConsole({ simulate: true });
    const { run, calls, trips } = await at.run({ tools: ['carrier'] });
    expect(run).toMatchObject({ state: 'ended', reason: 'state-hash', simulated: true, scripted: false });
    expect([run.totals.toolCalls, run.totals.modelTurns]).toEqual([3, 3]);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    const stop = trips.find(({ stage }) => stage === 'stop');
    expect(stop).toMatchObject({ guard: 'state-hash', count: 3, limit: 2, calls: calls.map(({ id }) => id) });
  });

  test('goes to the end of its rounds without the ledger', async () => {
    const at = await startConsole({ simulate: true });
    const { run } = await at.run({ tools: ['clock'], governed: false, rounds: 12, closingCall: false });
    expect([run.reason, run.totals.toolCalls, run.totals.modelTurns]).toEqual(['rounds', 12, 12]);
  });
});

describe('what goes out and what comes back', () => {
  test('tools as functions, calls and results by name, every bound said aloud', async () => {
    const { console: at, asks } = await scripted([look, 'It is on its way.']);
    const { run, turns } = await at.run({
      ...{ model: 'writes', prompt: 'Where is order 1042?', tools: ['carrier'] },
      ...{ numPredict: 77, numCtx: 2_048, seed: 5, temperature: 0.5 },
    });
    expect([run.reason, run.answer]).toEqual(['done', 'It is on its way.']);
    const [first, second] = asks;
    expect(first?.request.tools).toMatchObject([
      { type: 'function', function: { name: CARRIER, parameters: { type: 'object', required: ['orderId'] } } },
      { type: 'function', function: { name: 'read_blob' } },
      { type: 'function', function: { name: 'delegate' } },
    ]);
    expect(first?.request.options).toMatchObject({ num_predict: 77, num_ctx: 2_048, seed: 5, temperature: 0.5 });
    const [call] = (await at.ask('agent.get', { runId: run.id })).calls;
    expect(second?.request.messages?.slice(2)).toMatchObject([
      { role: 'assistant', toolCalls: [{ function: { name: CARRIER, arguments: { orderId: '1042' } } }] },
      { role: 'tool', toolName: CARRIER, content: expect.stringContaining('"status":"pending"') as string },
    ]);
    expect(call).toMatchObject({ tool: CARRIER, outcome: 'done', argumentsHead: '{"orderId":"1042"}' });
    // Each turn is a call of its own, stored and paid like every other.
    for (const { callId } of turns) {
      const record = await at.ask('call.get', { callId: callId as never });
      expect(record.budget).not.toBeNull();
    }
    expect(new Set(turns.map(({ callId }) => callId)).size).toBe(2);
  });

  test.each([
    ['in its own field', { family: 'qwen3.5', thinks: 'always' }, 'I should look.</think>Nothing found.'],
    ['in the answer, between tags', { thinks: 'never' }, '<think>I should look.</think>Nothing found.'],
  ] as const)('thinking %s stays out of the transcript', async (_where, profile, text) => {
    const { console: at } = await scripted([text], profile);
    const { run } = await at.run({ model: 'writes', tools: ['carrier'] });
    expect(run.answer).toBe('Nothing found.');
    const said = (await transcriptOf(at, run.id)).map(({ content }) => content).join('\n');
    expect(said).toContain('Nothing found.');
    expect(said).not.toContain('I should look.');
  });

  test('names and arguments that are no names and no arguments go back as they can', async () => {
    const long = 'x'.repeat(5_000);
    const { console: at, asks } = await scripted([written(long, { orderId: 1 }), 'done']);
    const { run, calls } = await at.run({ model: 'writes', tools: ['carrier'] });
    expect([run.reason, calls.map(({ code }) => code)]).toEqual(['done', ['unknown-tool']]);
    expect(asks[1]?.request.messages?.at(-1)?.toolName).toBe('x'.repeat(300));
  });
});

describe('a call that the server cannot read', () => {
  const broken = '<tool_call>\n{"name": "get_shipment_status", "arguments": {"orderId": "10\n</tool_call>';

  // What the recorded servers say: JSON of one family under the parser of another is the end of its text.
  test.each([
    ['qwen3', broken, 'failed to parse JSON: '],
    ['qwen3.5', look, 'EOF'],
    [
      'harmony',
      '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"orderId": "10<|call|>',
      'error parsing tool call: ',
    ],
  ])('%s: the model is told, and can do better', async (family, text, words) => {
    const { console: at } = await scripted([text, 'On its way.'], { family });
    const { run, trips } = await at.run({ model: 'writes', tools: ['carrier'] });
    expect([run.state, run.reason, run.totals.modelTurns, trips]).toEqual(['ended', 'done', 2, []]);
    const told = (await transcriptOf(at, run.id)).filter(({ role }) => role === 'user')[1];
    expect(told?.content.startsWith(`Your last tool call could not be read (${words}`)).toBe(true);
  });

  test('again and again it ends the run as broken arguments', async () => {
    const { console: at } = await scripted([broken]);
    const { run, trips } = await at.run({ model: 'writes', tools: ['carrier'] });
    expect([run.state, run.reason, run.totals.modelTurns]).toEqual(['ended', 'broken-arguments', 6]);
    expect(trips.map(({ guard, stage, count, tool }) => [guard, stage, count, tool])).toEqual([
      ['broken-arguments', 'warn', 3, 'a call that could not be read'],
      ['broken-arguments', 'block', 4, 'a call that could not be read'],
      ['broken-arguments', 'stop', 5, 'a call that could not be read'],
    ]);
  });

  test('what broke on the server is no fault of the model', async () => {
    const server = await simulator({ faults: ['error-line'] });
    const at = await startConsole({ ollamaUrl: server.url });
    const { run } = await at.run({ model: 'sim-overthink', tools: ['carrier'] });
    expect([run.state, run.reason, run.totals.modelTurns]).toEqual(['failed', 'model-failed', 1]);
    expect(run.problem).toContain('an error was encountered while running the model');
  });
});

describe('what may not be', () => {
  test('a model without tools is refused before anything is sent', async () => {
    const server = await simulator();
    const at = await startConsole({ ollamaUrl: server.url });
    expect(await at.refused('agent.start', { prompt: 'Go.', model: 'sim-embed' })).toEqual({
      ...{ code: 'unsupported', field: 'model', message: 'sim-embed cannot call tools.' },
      next: 'Choose a model that has the capability tools.',
    });
    expect(await at.refused('agent.start', { prompt: 'Go.', model: 'nobody' })).toMatchObject({
      code: 'unknown-model',
    });
    expect(await at.refused('agent.start', { prompt: 'Go.', model: 'script:nobody' })).toMatchObject({
      ...{ code: 'bad-input', field: 'model', message: 'There is no script nobody.' },
    });
    expect(await at.refused('agent.start', { prompt: 'Go.', model: 'big:cloud' })).toMatchObject({
      code: 'cloud-model',
    });
    expect(at.events.filter(({ type }) => type === 'call-opened')).toEqual([]);
  });

  test('no server: the refusal says what to do', async () => {
    const at = await startConsole();
    expect(await at.refused('agent.start', { prompt: 'Go.', model: 'sim-loop' })).toMatchObject({ code: 'no-server' });
  });

  test('a turn that the ledger refuses ends the run, with the code of the refusal', async () => {
    const at = await startConsole({ simulate: true });
    const { directory, revision } = await at.ask('directory.get', {});
    const budget = { scope: 'user' as const, window: 'day' as const, unit: 'tokens' as const, limit: 4_000 };
    const plans = [...directory.plans, { name: 'small', budgets: [budget] }];
    const users = [{ tenant: 'acme', id: 'ada', plan: 'small' }];
    await at.ask('directory.set', { directory: { ...directory, plans, users }, revision });
    const payer = { tenant: 'acme', user: 'ada' };
    const { run, turns } = await at.run({ tools: ['clock'], payer, numPredict: 900, guards: { identicalCalls: null } });
    expect([run.state, run.reason]).toEqual(['failed', 'model-failed']);
    expect(run.problem).toMatch(/^user-day-limit-(?:reached|too-small|held): /);
    expect(turns.length).toBeGreaterThan(1);
    const { reservations } = await at.ask('ledger.get', {});
    const own = reservations.filter(({ detail }) => detail.user === 'ada');
    // The refused turn was stored, and never held anything.
    expect(own.map(({ state }) => state)).toEqual(turns.slice(1).map(() => 'settled'));
  });
});

describe('a stop', () => {
  test('reaches the server in mid-turn', async () => {
    const server = await simulator({ timeScale: 1 });
    const at = await startConsole({ ollamaUrl: server.url });
    const runId = await at.begin({ model: 'sim-overthink', tools: ['carrier'], numPredict: 100_000 });
    await until(() => at.events.find((event) => event.type === 'call-delta'));
    await at.ask('agent.cancel', { runId, nodeId: null });
    const { run, turns } = await at.ended(runId);
    expect([run.state, run.reason]).toEqual(['cancelled', 'cancelled']);
    const record = await at.ask('call.get', { callId: turns[0]?.callId as never });
    expect(record.reply).toMatchObject({ ending: 'aborted', abortedBy: 'person' });
    await until(() => (server.aborted.length > 0 ? true : undefined));
  });

  test('time that is over in mid-turn ends the run as that', async () => {
    const server = await simulator({ timeScale: 20 });
    const at = await startConsole({ ollamaUrl: server.url });
    const { run, nodes } = await at.run({ tools: ['carrier'], limits: { wallClockMs: 300 } });
    expect([run.state, run.reason, run.problem]).toEqual(['ended', 'budget-time', null]);
    expect(nodes[0]?.state).toBe('ended');
  });
});
