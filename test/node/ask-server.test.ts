/** What is asked of the server beside a call: which messages it keeps, and how many tokens a prompt has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CallRecord } from '../../shared/contract/calls.ts';
import type { Denial } from '../../shared/contract/denials.ts';
import { type RequestName, type RequestParams, type RequestResult, requests } from '../../shared/contract/requests.ts';
import { createRuntime } from '../../shared/node/runtime.ts';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { must } from './experiments/sweep-experiment.ts';

interface Screen {
  readonly simulator: Simulator;
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  refused<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Denial>;
  call(request: RequestParams<'call.start'>): Promise<CallRecord>;
}

async function start(options: SimulatorOptions = {}): Promise<Screen> {
  const simulator = await startSimulator({ port: 0, timeScale: 0, ...options });
  onTestFinished(() => simulator.stop());
  const home = mkdtempSync(join(tmpdir(), 'spillway-ask-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const runtime = must(await createRuntime({ host: 'test', home, environment: {}, ollamaUrl: simulator.url }));
  onTestFinished(() => runtime.stop());
  await runtime.ready;
  const handle: Screen['ask'] = async (name, params) => {
    const context = { screenId: 'test', signal: new AbortController().signal };
    const answer = await runtime.handle(name, requests[name].params.parse(params), context);
    if (!answer.ok) throw Object.assign(new Error(answer.denial.message), { denial: answer.denial });
    return requests[name].result.parse(answer.value) as never;
  };
  return {
    simulator,
    ask: handle,
    refused: (name, params) =>
      handle(name, params).then(
        () => Promise.reject(new Error(`${name} was not refused`)),
        (error: { denial: Denial }) => error.denial,
      ),
    async call(request) {
      const closed = new Promise<void>((resolve) => {
        runtime.subscribe((event) => void (event.type === 'call-closed' && resolve()));
      });
      const { callId } = await handle('call.start', request);
      await closed;
      return handle('call.get', { callId });
    },
  };
}

const turns = Array.from({ length: 8 }, (_, at) => [
  { role: 'user' as const, content: `Turn ${at}. ${'The harbour master writes down every ship. '.repeat(8)}` },
  { role: 'assistant' as const, content: `Noted ${at}.` },
]).flat();
const conversation = {
  model: 'sim-reader',
  route: 'chat' as const,
  messages: [
    { role: 'system' as const, content: 'You are terse.' },
    ...turns,
    { role: 'user' as const, content: 'Which turn?' },
  ],
  numCtx: 512,
  numPredict: 20,
  think: 'default' as const,
  temperature: 0,
  seed: 7,
  policy: 'warn' as const,
};
const longText = 'The harbour master writes down every ship that comes in. '.repeat(1_500);
const long = { ...conversation, messages: [{ role: 'user' as const, content: longText }], numCtx: 40_960 };

describe('what was kept', () => {
  test('each message, and the verdict that becomes exact', async () => {
    const screen = await start();
    const record = await screen.call(conversation);
    const picture = await screen.ask('call.render', { callId: record.id });
    const states = picture.messages.map((message) => message.kept);
    expect(states[0]).toBe('kept');
    expect(states.at(-1)).toBe('kept');
    const dropped = states.filter((state) => state === 'dropped').length;
    expect(dropped).toBeGreaterThan(2);
    expect(states).toEqual([
      'kept',
      ...Array<string>(dropped).fill('dropped'),
      ...Array<string>(17 - dropped).fill('kept'),
    ]);
    expect(picture.verdict).toMatchObject({ kinds: ['messages-dropped'], confidence: 'exact' });
    expect(picture.verdict.evidence.map((one) => one.source)).toContain('render');
    expect(picture.note).toContain('not visible here');
  });

  test('a call that was cut by tokens says that the cut is not in the picture', async () => {
    const screen = await start();
    const record = await screen.call({ ...long, numCtx: 512 });
    expect(record.truncation.kinds).toEqual(['halved']);
    const picture = await screen.ask('call.render', { callId: record.id });
    expect(picture.messages).toMatchObject([{ kept: 'kept' }]);
    expect(picture.note).toContain('was cut by tokens besides');
    expect(picture.verdict.kinds).toEqual(['halved']);
  });

  test('a server that is too old is not asked, and a call of generate has nothing to show', async () => {
    const old = await start({ version: '0.11.4' });
    const record = await old.call(conversation);
    expect(await old.refused('call.render', { callId: record.id })).toMatchObject({ code: 'unsupported' });
    const screen = await start();
    const generated = await screen.call({ ...long, route: 'generate' });
    expect(await screen.refused('call.render', { callId: generated.id })).toMatchObject({ code: 'unsupported' });
  });
});

describe('a prompt counted', () => {
  test('a short one is evaluated once in the window of the call, and is counted from then on', async () => {
    const screen = await start();
    const request = { ...conversation, numCtx: 4_096 };
    expect((await screen.ask('call.preflight', request)).estimate.source).not.toBe('counted');
    const counted = await screen.ask('call.count', request);
    const { estimate } = await screen.ask('call.preflight', { ...request, numCtx: 512 });
    expect(estimate).toMatchObject({ source: 'counted', low: counted.promptTokens, high: counted.promptTokens });
    const record = await screen.call(request);
    expect(counted).toEqual({
      promptTokens: record.reply.promptEvalCount,
      how: 'evaluated',
      costTokens: counted.promptTokens + 1,
      window: 4_096,
    });
  });

  for (const model of ['sim-reader', 'sim-native']) {
    test(`${model}: a long one is refused with its size, and nothing is evaluated`, async () => {
      const screen = await start();
      const request = { ...long, model };
      const counted = await screen.ask('call.count', request);
      expect(counted).toMatchObject({ how: 'refusal', costTokens: 0 });
      expect(counted.window).toBeLessThan(counted.promptTokens);
      expect(counted.promptTokens).toBe((await screen.call(request)).reply.promptEvalCount);
    });
  }

  test('a window that is too small tells the whole size, not what would be left', async () => {
    const screen = await start();
    const whole = await screen.ask('call.count', { ...conversation, numCtx: 4_096 });
    const small = await screen.ask('call.count', { ...conversation, numCtx: 512 });
    expect(small).toMatchObject({ promptTokens: whole.promptTokens, how: 'refusal', costTokens: 0 });
  });

  for (const version of ['0.11.4', '0.12.3', '0.24.0']) {
    test(`${version}: a server that refuses without a size, or cuts in spite of it, counts in a window that fits`, async () => {
      const screen = await start({ version });
      const counted = await screen.ask('call.count', { ...conversation, numCtx: 512 });
      expect(counted).toMatchObject({ how: 'evaluated', costTokens: counted.promptTokens + 1 });
      expect(counted.promptTokens).toBe((await screen.call({ ...conversation, numCtx: 8_192 })).reply.promptEvalCount);
    });
  }

  test('a refusal for another reason is told in the words of the server, and not tried again', async () => {
    const screen = await start();
    expect(await screen.refused('call.count', { ...conversation, think: true })).toMatchObject({
      code: 'server-error',
      message: expect.stringContaining('does not support thinking') as string,
    });
    expect(screen.simulator.logLines().filter((line) => line.includes('"/api/chat"'))).toHaveLength(1);
  });

  test('no window holds it and the server says no size: not counted, rather than a cut prompt', async () => {
    const screen = await start({ version: '0.11.4' });
    const text = 'The harbour master writes down every ship that comes in. '.repeat(12_000);
    const huge = { ...conversation, messages: [{ role: 'user' as const, content: text }], numCtx: null };
    expect(await screen.refused('call.count', huge)).toMatchObject({ code: 'server-error' });
  });
});
