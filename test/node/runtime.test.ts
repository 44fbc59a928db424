/** The whole runtime as a screen has it: every request once with real results, and what must survive an end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CallRecord, CallSummary } from '../../shared/contract/calls.ts';
import type { Denial } from '../../shared/contract/denials.ts';
import { type EngineEvent, eventSchema } from '../../shared/contract/events.ts';
import { isContextCell } from '../../shared/contract/experiments.ts';
import type { RunSummary } from '../../shared/contract/experiments.ts';
import type { CallId, RunId } from '../../shared/contract/ids.ts';
import { type RequestName, type RequestParams, type RequestResult, requests } from '../../shared/contract/requests.ts';
import { type Runtime, createRuntime, systemClock } from '../../shared/node/runtime.ts';
import type { RuntimeOptions } from '../../shared/node/parts.ts';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { openHome } from '../../shared/node/storage/home.ts';
import { openStore } from '../../shared/node/storage/store.ts';
import { samplePlan, sampleRun } from './storage/records.ts';
import { askAgents } from './ask-agents.ts';
import { askLedger } from './ask-ledger.ts';
import { experiment, must } from './experiments/sweep-experiment.ts';

interface Started {
  readonly runtime: Runtime;
  readonly events: EngineEvent[];
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  refused<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Denial>;
  /** The record of this call, once it has closed. */
  call(request: Partial<RequestParams<'call.start'>>): Promise<CallRecord>;
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-runtime-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function simulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator({ port: 0, timeScale: 0, ...options });
  onTestFinished(() => started.stop());
  return started;
}

/** Port 1 answers nobody: no test talks to an Ollama that happens to run here. */
const nobody = '127.0.0.1:1';

async function start(options: Partial<RuntimeOptions> = {}): Promise<Started> {
  const made = await createRuntime({
    host: 'test',
    home: freshFolder(),
    environment: { OLLAMA_HOST: nobody },
    simulatorTimeScale: 0,
    ...options,
  });
  const runtime = must(made);
  onTestFinished(() => runtime.stop());
  const events: EngineEvent[] = [];
  runtime.subscribe((event) => events.push(eventSchema.parse(event)));
  await runtime.ready;
  const handle = async (name: RequestName, params: unknown): ReturnType<Runtime['handle']> =>
    runtime.handle(name, requests[name].params.parse(params), {
      screenId: 'test',
      signal: new AbortController().signal,
    });
  const started: Started = {
    runtime,
    events,
    async ask(name, params) {
      return requests[name].result.parse(must(await handle(name, params))) as never;
    },
    async refused(name, params) {
      const answer = await handle(name, params);
      if (answer.ok) throw new Error(`${name} was not refused`);
      return answer.denial;
    },
    async call(request) {
      const { callId } = await started.ask('call.start', { ...callInput, ...request });
      await closed(started, callId);
      return started.ask('call.get', { callId });
    },
  };
  return started;
}

const callInput = {
  model: 'sim-reader',
  route: 'chat' as const,
  messages: [{ role: 'user' as const, content: 'The launch code is ZEBRA-7741. What is the launch code?' }],
  numCtx: null,
  numPredict: 20,
  think: 'default' as const,
  temperature: 0,
  seed: 7,
  policy: 'warn' as const,
};
const longText = 'The harbour master writes down every ship that comes in. '.repeat(1_000);

async function until<Value>(look: () => Value | undefined): Promise<Value> {
  for (let turn = 0; turn < 6_000; turn++) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it did not happen');
}

const closed = ({ events }: Started, callId: CallId): Promise<CallSummary> =>
  until(
    () => events.flatMap((event) => (event.type === 'call-closed' && event.call.id === callId ? [event.call] : []))[0],
  );

const ended = ({ events }: Started, runId: RunId, state?: RunSummary['state']): Promise<RunSummary> =>
  until(
    () =>
      events.flatMap((event) =>
        event.type === 'run-changed' &&
        event.run.id === runId &&
        (state === undefined ? event.run.state !== 'running' : event.run.state === state)
          ? [event.run]
          : [],
      )[0],
  );

test('every request once, with real results', async () => {
  const screen = await start({ simulate: true });
  const asked = new Set<RequestName>();
  const { events } = screen;
  const ask: Started['ask'] = (name, params) => {
    asked.add(name);
    return screen.ask(name, params);
  };

  expect(await ask('snapshot.get', {})).toMatchObject({
    app: { host: 'test', home: screen.runtime.home.folder },
    server: { state: 'up', kind: 'simulator', urlSource: 'simulator', problem: null },
    openCalls: [],
    runs: [],
    tokensToday: null,
    notices: [],
  });
  expect(await ask('server.look', {})).toMatchObject({ state: 'up', version: '0.33.0-rc2' });
  expect(await ask('model.show', { model: 'sim-reader' })).toMatchObject({
    promptPath: 'rendered',
    addsBos: true,
    trainedContext: 131_072,
  });

  expect(await ask('model.load', { model: 'sim-reader', numCtx: null })).toMatchObject({
    running: [{ name: 'sim-reader:latest', contextLength: 4_096 }],
  });
  expect(
    await ask('call.preflight', { ...callInput, messages: [{ role: 'user', content: longText }], numCtx: 512 }),
  ).toMatchObject({
    outcome: 'does-not-fit',
    expected: 'halved',
    kept: 259,
    window: 512,
    windowSource: 'requested',
  });
  const { callId } = await ask('call.start', callInput);
  await closed(screen, callId);
  expect(await ask('call.get', { callId })).toMatchObject({
    simulated: true,
    numCtxRunning: 4_096,
    reply: { ending: 'done', answer: 'The launch code is ZEBRA-7741.' },
    truncation: { kinds: ['intact'], confidence: 'exact' },
  });
  expect(await ask('call.render', { callId })).toMatchObject({
    messages: [{ index: 0, role: 'user', kept: 'kept' }],
    verdict: { kinds: ['intact'], confidence: 'exact' },
  });
  expect(await ask('call.count', callInput)).toMatchObject({ how: 'evaluated', window: 4_096 });
  expect(await ask('call.list', {})).toMatchObject([{ id: callId, answerHead: 'The launch code is ZEBRA-7741.' }]);
  asked.add('call.cancel');
  expect(await screen.refused('call.cancel', { callId })).toMatchObject({ code: 'not-found' });

  const { documentId, characters } = await ask('document.put', { name: 'own.txt', text: longText });
  expect(characters).toBe(longText.length);
  const asks = experiment(
    { models: ['sim-reader'], numCtx: ['default', 512], sizes: [500, 5_000] },
    { document: { kind: 'own', documentId } },
  );
  expect(await ask('context.plan', asks)).toMatchObject({ cells: 4, calls: 6, warnings: [] });
  const { runId } = await ask('context.start', asks);
  expect(await ended(screen, runId)).toMatchObject({ state: 'done', cellsDone: 6, cellsTruncated: 1 });
  const { run, cells } = await ask('run.get', { runId });
  expect(run).toMatchObject({ simulated: true, state: 'done' });
  const cut = cells.filter(isContextCell).find((cell) => cell.plan.numCtx === 512 && cell.plan.size === 5_000);
  const got = await ask('cell.get', { runId, cellKey: must({ ok: true, value: cut?.plan.key ?? ('' as never) }) });
  expect(got).toMatchObject({ cell: { state: 'done' }, record: { truncation: { kinds: ['halved'], kept: 259 } } });
  expect(got.record?.request.messages[0]?.content).toContain('harbour master');
  expect((await ask('run.list', {})).map((each) => each.id)).toEqual([runId]);
  expect(await ask('run.list', { search: 'no such run' })).toEqual([]);

  const { exportId, rows, name } = await ask('export.open', { runId, options: { format: 'csv' } });
  expect([rows, name.endsWith('.csv')]).toEqual([6, true]);
  expect((await ask('export.read', { exportId })).chunk.startsWith('run_id,cell,')).toBe(true);

  asked.add('run.cancel').add('run.resume');
  expect(await screen.refused('run.cancel', { runId })).toMatchObject({ code: 'not-found', field: 'runId' });
  expect(await screen.refused('run.resume', { runId })).toMatchObject({ code: 'bad-input', field: 'runId' });
  expect(await ask('run.delete', { runId })).toEqual({});
  await askReasoning(screen, ask);
  expect(await screen.refused('run.get', { runId })).toMatchObject({ code: 'not-found' });

  await askCosts(screen, ask);

  await askLedger({ ask, refused: screen.refused, call: screen.call });
  await askAgents({
    ask,
    refused(name, params) {
      asked.add(name);
      return screen.refused(name, params);
    },
  });
  asked.add('storm.cancel');
  expect(await screen.refused('storm.cancel', { stormId: 'no such storm' })).toMatchObject({ code: 'not-found' });

  const reply = JSON.stringify({ done: true, done_reason: 'stop', prompt_eval_count: 2_051, eval_count: 5 });
  expect(await ask('reply.explain', { text: reply, window: 4_096 })).toMatchObject({
    truncation: { kinds: ['unknown'], confidence: 'possible' },
    read: { window: 4_096, promptEvalCount: 2_051 },
  });
  expect(await ask('settings.set', { theme: 'dark' })).toMatchObject({ theme: 'dark', localOnly: true });
  expect(await ask('simulator.start', {})).toMatchObject({ state: 'up', kind: 'simulator' });
  expect(await ask('simulator.stop', {})).toMatchObject({ state: 'down', kind: 'ollama', urlSource: 'OLLAMA_HOST' });
  expect(await ask('server.connect', { url: nobody })).toMatchObject({ state: 'down', urlSource: 'setting' });

  expect([...asked].sort()).toEqual(Object.keys(requests).sort());
  expect(events.filter((event) => event.type === 'notice-raised')).toEqual([]);
});

/** The ready experiment on a model that thinks for ever, and what its lanes say. */
async function askReasoning(screen: Started, ask: Started['ask']): Promise<void> {
  const { experiment: ready, warnings } = await ask('reasoning.preset', { model: 'sim-overthink' });
  expect([ready.axes.variants.length, warnings]).toEqual([3, []]);
  const fitted = await ask('reasoning.preset', { model: 'sim-reader' });
  expect(fitted.experiment.axes.variants).toEqual([{ think: false, numPredict: 2_000 }]);
  expect(fitted.warnings).toHaveLength(2);
  expect(await ask('reasoning.plan', ready)).toMatchObject({ cells: 3, calls: 4, warnings: [], leftOut: [] });
  const { runId } = await ask('reasoning.start', ready);
  expect(await ended(screen, runId)).toMatchObject({ kind: 'reasoning', state: 'done', cellsDone: 4 });
  const { lanes } = await ask('reasoning.summary', { runId });
  expect(lanes.map(({ variant, starved, obeyed }) => [variant, starved, obeyed?.sentence ?? null])).toEqual([
    ['off/2000', 1, 'off obeyed 0 of 1'],
    ['on/8000', 1, null],
    ['on/256', 1, null],
  ]);
  const { exportId } = await ask('export.open', { runId, options: { format: 'csv' } });
  expect((await ask('export.read', { exportId })).chunk).toContain(',error,variant,outcome,outcome_cause,');
  expect(await ask('run.delete', { runId })).toEqual({});
}

/** What was learned from the calls before, and what they would have cost. */
async function askCosts(screen: Started, ask: Started['ask']): Promise<void> {
  await screen.call({ messages: [{ role: 'user', content: longText.slice(0, 4_000) }] });
  const { rows, startValues } = await ask('calibration.list', {});
  const row = rows.find(({ model }) => model === 'sim-reader:latest');
  expect(row).toMatchObject({ simulated: true, script: 'latin' });
  expect([row?.low, row?.median, row?.high].every((value) => typeof value === 'number')).toBe(true);
  expect(startValues.slice(0, 4).map(({ script }) => script)).toEqual(['latin', 'code', 'cjk', 'emoji']);
  const exported = await ask('calibration.export', { format: 'csv' });
  expect(exported.rows).toBe(rows.length);
  expect(exported.text).toContain('\r\nsim-reader:latest,true,latin,');
  expect(await ask('calibration.forget', { model: 'sim-reader' })).toEqual({ models: 0 });
  expect(await ask('calibration.forget', { model: 'sim-reader', simulated: true })).toEqual({ models: 1 });
  expect((await ask('calibration.list', {})).rows.some(({ model }) => model === 'sim-reader:latest')).toBe(false);
  expect(await ask('calibration.forget', { model: null })).toMatchObject({ models: expect.any(Number) });
  expect((await ask('calibration.list', {})).rows).toEqual([]);

  const sonnet = { name: 'Claude Sonnet 5.5', date: '2026-11-14' };
  expect((await ask('prices.list', {})).map(({ set, own }) => [set.name, own])).toEqual([
    ['local', false],
    ['Claude Sonnet 5.5', false],
  ]);
  const mine = { name: 'mine', date: '2026-11-20', source: 'a bill', inputPerMillion: '0.05', outputPerMillion: 1 };
  expect((await ask('prices.set', mine)).at(-1)).toMatchObject({
    own: true,
    set: { name: 'mine', inputNanoDollarsPerToken: 50, outputNanoDollarsPerToken: 1_000 },
  });
  expect(await screen.refused('prices.set', mine)).toMatchObject({ field: 'name' });
  expect(await screen.refused('prices.set', { ...mine, inputPerMillion: '-1' })).toMatchObject({
    field: 'inputPerMillion',
  });
  const question = { turns: 20, toolOutputTokens: [500, 40_000] };
  const resend = await ask('cost.resend', { question, priceSet: sonnet });
  expect(resend.lines.map((line) => [line.totalTokens, line.totalCost])).toEqual([
    [155_000, 310_000_000],
    [7_660_000, 15_320_000_000],
  ]);
  const conversation = { turns: 20, baseTokens: 3_000, addedTokensPerTurn: 500, outputTokensPerTurn: 0 };
  const priceSet = { name: 'mine', date: '2026-11-20' };
  expect((await ask('cost.conversation', { conversation, priceSet })).total).toBe(155_000 * 50);
  const month = { conversationsPerDay: 10, days: 30 };
  expect((await ask('cost.month', { conversation, month, priceSet })).total).toBe(155_000 * 50 * 300);

  const calls = await ask('cost.calls', { priceSet: sonnet });
  expect(calls.simulated).toBe(true);
  const { inputTokens, outputTokens, cost } = calls.session;
  expect(calls.session.calls).toBeGreaterThan(1);
  expect(cost.total).toBe((inputTokens ?? 0) * 2_000 + (outputTokens ?? 0) * 10_000);
  await screen.ask('settings.set', { asIfPriceSet: priceSet });
  expect((await ask('prices.forget', priceSet)).some(({ own }) => own)).toBe(false);
  expect((await screen.ask('snapshot.get', {})).settings.asIfPriceSet).toBeNull();
  expect(await screen.refused('prices.forget', sonnet)).toMatchObject({ code: 'not-found' });
  expect(await screen.refused('cost.calls', { priceSet })).toMatchObject({ field: 'priceSet' });
}

describe('what stays', () => {
  test('settings are there after a restart; a flag is for this process only', async () => {
    const home = freshFolder();
    const first = await start({ home, simulate: true });
    await first.ask('settings.set', { theme: 'dark', localOnly: false, numPredict: 99 });
    // A patch touches what it names and nothing else.
    await first.ask('settings.set', { csvSeparator: ';' });
    await first.runtime.stop();
    const second = await start({ home });
    expect((await second.ask('snapshot.get', {})).settings).toMatchObject({
      theme: 'dark',
      localOnly: false,
      numPredict: 99,
      csvSeparator: ';',
      useSimulator: false,
    });
    expect((await second.ask('snapshot.get', {})).server).toMatchObject({ kind: 'ollama', state: 'down' });
  });

  test('the choice of the simulator is kept, and an address named by flag beats it', async () => {
    const home = freshFolder();
    const first = await start({ home });
    expect((await first.ask('simulator.start', {})).kind).toBe('simulator');
    await first.runtime.stop();
    const second = await start({ home });
    expect((await second.ask('snapshot.get', {})).server).toMatchObject({ kind: 'simulator', state: 'up' });
    await second.runtime.stop();
    const third = await start({ home, ollamaUrl: nobody });
    expect((await third.ask('snapshot.get', {})).server).toMatchObject({ kind: 'ollama', urlSource: 'flag' });
  });

  test('a wrong address is refused with its field, and changes nothing', async () => {
    const screen = await start({ simulate: true });
    expect(await screen.refused('server.connect', { url: 'ftp://x' })).toMatchObject({
      code: 'bad-input',
      field: 'url',
    });
    expect((await screen.ask('snapshot.get', {})).server).toMatchObject({ kind: 'simulator', state: 'up' });
    expect((await screen.ask('snapshot.get', {})).settings.ollamaUrl).toBe('');
  });

  test('a run that was cut off is marked and told at the next start', async () => {
    const home = freshFolder();
    const { store } = must(openStore({ home: must(openHome({ flag: home, environment: {} })), clock: systemClock }));
    const run = must(store.openRun(sampleRun({ state: 'running' }), [samplePlan(0)]));
    store.close();
    const screen = await start({ home });
    const { notices, runs } = await screen.ask('snapshot.get', {});
    expect(notices).toMatchObject([
      {
        level: 'warning',
        text: expect.stringContaining('A run was cut off') as string,
        next: 'Resume it from History.',
      },
    ]);
    expect(runs).toMatchObject([{ id: run.id, state: 'interrupted' }]);
  });

  test('the end in mid-call: the server sees it, and the record says aborted by the end of the program', async () => {
    const home = freshFolder();
    let hasBegun = false;
    // Called with every prompt that the server reads.
    const pinTokens = (): null => ((hasBegun = true), null);
    const server = await simulator({ timeScale: 1, pinTokens });
    const first = await start({ home, ollamaUrl: server.url });
    const { callId } = await first.ask('call.start', {
      ...callInput,
      messages: [{ role: 'user', content: longText }],
      numCtx: 40_960,
    });
    await until(() => hasBegun || undefined);
    await first.runtime.stop();
    await until(() => server.aborted[0]);
    const second = await start({ home, ollamaUrl: server.url });
    expect(await second.ask('call.get', { callId })).toMatchObject({
      reply: { ending: 'aborted', abortedBy: 'shutdown', promptEvalCount: null },
      truncation: { kinds: ['unknown'] },
    });
    expect((await second.ask('snapshot.get', {})).openCalls).toEqual([]);
  });

  test('a second runtime on the same folder is refused and says where the first is', async () => {
    const home = freshFolder();
    const first = await start({ home, simulate: true });
    first.runtime.announce('http://127.0.0.1:12345');
    const second = await createRuntime({ host: 'test', home, environment: { OLLAMA_HOST: nobody } });
    expect(second.ok ? null : second.denial.message).toContain(`pid ${process.pid}, http://127.0.0.1:12345`);
    await first.runtime.stop();
    await first.runtime.stop();
    await start({ home });
  });
});

describe('what is learned', () => {
  test('the default window, from the first call that asks for none', async () => {
    const screen = await start({ simulate: true });
    const ask = { ...callInput, messages: [{ role: 'user' as const, content: longText }] };
    expect(await screen.ask('call.preflight', ask)).toMatchObject({
      window: null,
      windowSource: 'unknown',
      outcome: 'unknown',
    });
    await screen.call({});
    const known = {
      window: 4_096,
      windowSource: 'server-default',
      outcome: 'does-not-fit',
      expected: 'halved',
      kept: 2_051,
    };
    expect(await screen.ask('call.preflight', ask)).toMatchObject(known);
    // What happens to be loaded is no default.
    await screen.call({ numCtx: 512 });
    expect(await screen.ask('call.preflight', ask)).toMatchObject(known);
    // A load alone shows it too.
    await screen.ask('model.load', { model: 'sim-native', numCtx: null });
    expect(await screen.ask('call.preflight', { ...ask, model: 'sim-native' })).toMatchObject({
      ...known,
      expected: 'refused',
      kept: null,
    });
    expect(await screen.ask('call.preflight', { ...ask, model: 'sim-honest' })).toMatchObject({
      windowSource: 'unknown',
    });
  });

  test('the exact size of a prompt that went through whole', async () => {
    const screen = await start({ simulate: true });
    const { reply } = await screen.call({});
    expect((await screen.ask('call.preflight', callInput)).estimate).toMatchObject({
      source: 'counted',
      likely: reply.promptEvalCount,
    });
    expect(
      (await screen.ask('call.preflight', { ...callInput, seed: 8, messages: [{ role: 'user', content: 'Other.' }] }))
        .estimate.source,
    ).not.toBe('counted');
  });

  test('a turn that counts less than the one before it, although the conversation grew', async () => {
    const server = await simulator();
    const { call } = await start({ ollamaUrl: server.url });
    const text = (seed: number): string =>
      Array.from(
        { length: 200 },
        (_, index) => `Section ${index + seed}: requests about parking go to desk ${index * 7} in two days.`,
      ).join(' ');
    const first = [{ role: 'user', content: `${text(1)} Say ok.` }] as const;
    const before = await call({ messages: [...first], numCtx: 4_096, numPredict: 4 });
    const after = await call({
      messages: [...first, { role: 'assistant', content: 'ok' }, { role: 'user', content: text(2).slice(0, 6_000) }],
      numCtx: 4_096,
      numPredict: 4,
    });
    expect(after.reply.promptEvalCount).toBeLessThan(Number(before.reply.promptEvalCount));
    expect(after.truncation.kinds).toContain('messages-dropped');
    expect(after.truncation.evidence.map((one) => one.source)).toContain('conversation');
  });

  test('tokens of today are what the replies reported; simulated ones are counted apart', async () => {
    const home = freshFolder();
    const first = await start({ home, simulate: true });
    const one = (await first.call({})).reply;
    const two = (await first.call({ numCtx: 512, messages: [{ role: 'user', content: longText }] })).reply;
    const sum = [one, two].reduce((all, reply) => all + (reply.promptEvalCount ?? 0) + (reply.evalCount ?? 0), 0);
    expect(two.promptEvalCount).toBe(259);
    expect((await first.ask('snapshot.get', {})).tokensToday).toBe(sum);
    await first.ask('simulator.stop', {});
    expect((await first.ask('snapshot.get', {})).tokensToday).toBeNull();
  });
});

/** A server that is Ollama in everything that is read, and answers chats as told. */
async function ollama(chat: 'answers' | 'never'): Promise<{ url: string; chats: string[] }> {
  const chats: string[] = [];
  const named = (name: string, more = {}): object => ({
    name,
    model: name,
    digest: name,
    size: 1,
    details: {},
    ...more,
  });
  const bodies: Record<string, object> = {
    '/api/version': { version: '0.33.0' },
    '/api/tags': {
      models: [named('m:latest'), named('far:latest', { remote_model: 'far', remote_host: 'https://models.example' })],
    },
    '/api/ps': { models: [] },
    '/api/show': { model_info: {}, capabilities: ['completion'] },
  };
  const server = createServer((request, response) => {
    const body = bodies[request.url ?? ''];
    if (body !== undefined) return void response.end(JSON.stringify(body));
    if (request.method !== 'POST') return void response.writeHead(404).end();
    chats.push(request.url ?? '');
    if (chat === 'answers')
      response.end(
        '{"message":{"content":"Yes."},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}\n',
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, chats };
}

describe('what is refused here', () => {
  test.each(['m:120b-cloud', 'm:cloud', 'far', 'FAR:latest'])(
    'a cloud model in local-only mode never leaves: %s',
    async (model) => {
      const server = await ollama('answers');
      const screen = await start({ ollamaUrl: server.url });
      expect(await screen.refused('call.preflight', { ...callInput, model })).toMatchObject({
        code: 'cloud-model',
        field: 'model',
      });
      expect(await screen.call({ model })).toMatchObject({
        reply: { ending: 'not-sent', status: null, error: expect.stringContaining('local-only mode') as string },
        truncation: { kinds: ['unknown'] },
      });
      expect(await screen.refused('model.load', { model, numCtx: null })).toMatchObject({ code: 'cloud-model' });
      expect(server.chats).toEqual([]);
      await screen.ask('settings.set', { localOnly: false });
      expect(await screen.call({ model })).toMatchObject({ reply: { ending: 'done', answer: 'Yes.' } });
      expect(server.chats).toEqual(['/api/chat']);
    },
  );

  test('no server: the call is not sent, and the next step is said', async () => {
    const screen = await start();
    expect(await screen.refused('call.preflight', callInput)).toMatchObject({ code: 'no-server' });
    expect(await screen.refused('model.show', { model: 'm' })).toMatchObject({ code: 'no-server' });
    expect(await screen.refused('context.start', experiment({ models: ['m'] }))).toMatchObject({ code: 'no-server' });
    expect((await screen.call({})).reply).toMatchObject({
      ending: 'not-sent',
      error: expect.stringContaining('No Ollama at 127.0.0.1:1') as string,
    });
  });

  test('the time limit of the settings holds for calls of a sweep that bring none of their own', async () => {
    const server = await ollama('never');
    const screen = await start({ ollamaUrl: server.url });
    await screen.ask('settings.set', { callTimeoutMs: 1_000 });
    const asks = experiment({ models: ['m'], numCtx: [512], sizes: [500] }, { warmUp: false });
    const { runId } = await screen.ask('context.start', asks);
    expect(await ended(screen, runId)).toMatchObject({ state: 'done', cellsDone: 0, cellsFailed: 1 });
    const [cell] = (await screen.ask('run.get', { runId })).cells;
    expect(cell).toMatchObject({ state: 'failed', call: { ending: 'aborted', error: 'no first token in 1 s' } });
  });
});

test('a call can be stopped by its person: the server sees it, the text so far is kept', async () => {
  const server = await simulator({ timeScale: 1 });
  const screen = await start({ ollamaUrl: server.url });
  const { callId } = await screen.ask('call.start', { ...callInput, model: 'sim-overthink', numPredict: 2_000 });
  await until(() => screen.events.find((event) => event.type === 'call-delta' && event.callId === callId));
  expect((await screen.ask('snapshot.get', {})).openCalls).toMatchObject([{ id: callId, phase: 'streaming' }]);
  expect(await screen.ask('call.cancel', { callId })).toEqual({});
  await closed(screen, callId);
  const { reply } = await screen.ask('call.get', { callId });
  expect(reply).toMatchObject({ ending: 'aborted', abortedBy: 'person' });
  expect(reply.thinking).not.toBe('');
  await until(() => server.aborted[0]);
});
