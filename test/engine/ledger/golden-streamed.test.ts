/** The golden trace as calls: through the corridor, streamed token by token by a scripted model. */
import { describe, expect, test } from 'vitest';
import { callRequestSchema } from '../../../shared/contract/calls.ts';
import type { CallRecord, CallRequest } from '../../../shared/contract/calls.ts';
import { ok } from '../../../shared/contract/denials.ts';
import type { CallId, RunId } from '../../../shared/contract/ids.ts';
import type { Directory } from '../../../shared/contract/plans.ts';
import { createEngine } from '../../../shared/engine/engine.ts';
import type { Engine } from '../../../shared/engine/engine.ts';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';
import type { ModelEvent, Subject } from '../../../shared/engine/ports.ts';
import { STORM_SYSTEM_PROMPT, stormMessage } from '../../../shared/engine/storm/message.ts';
import { preflight } from '../../../shared/engine/truncation/preflight.ts';
import { chunk, end, scriptedModel } from '../../support/scripted-model.ts';
import type { ScriptedModel } from '../../support/scripted-model.ts';
import { ledgerBench, withLimits } from './golden-bench.ts';
import type { LedgerBench } from './golden-bench.ts';
import { golden, reserveSteps, settleOf } from './golden-file.ts';

describe('the golden trace, streamed', () => {
  test('every balance is held while a reply comes, and settled after it; the refused never leave', async () => {
    const sent = reserveSteps.filter((step) => step.outcome === 'reserved').map((step) => settleOf(step.id)!);
    const bench = corridor(sent.map((step) => reply(step.input, step.output)));
    for (const step of reserveSteps) {
      expect([await bench.used(step.userKey), await bench.used(step.tenantKey)]).toEqual([
        step.before.user,
        step.before.tenant,
      ]);
      const opened = bench.events.length;
      const record = await run(bench.engine, requestOf(step.user));
      const told = bench.events.slice(opened);
      const settled = settleOf(step.id);
      if (settled === undefined) {
        expect(record.reply).toMatchObject({ ending: 'not-sent', answer: '' });
        expect(record.budget).toBeNull();
        expect(record.denial).toMatchObject({
          message: step.detail,
          retryAfterMs: step.retryAfter * 1_000,
          budget: { account: { scope: step.scope }, needed: step.estimate, limit: step.limit },
        });
        expect(told.map(({ type }) => type)).toEqual([
          'call-opened',
          'call-opened',
          'reservation-refused',
          'call-closed',
        ]);
        continue;
      }
      expect(record).toMatchObject({
        denial: null,
        reply: {
          ending: 'done',
          promptEvalCount: settled.input,
          evalCount: settled.output,
          answerChunks: settled.output,
        },
        budget: {
          tenant: 'acme',
          user: step.user,
          reservedInputTokens: step.estimate - golden.estimate.maxOutput,
          reservedOutputTokens: golden.estimate.maxOutput,
          resolution: 'settled',
          source: 'reported',
          chargedInputTokens: settled.input,
          chargedOutputTokens: settled.output,
          overrunTokens: 0,
        },
      });
      // Held before the first token, closed after the last, and the deltas lie between.
      const order = told.map(({ type }) => type);
      expect(order.filter((type) => type === 'call-delta')).toHaveLength(settled.output);
      expect(order.indexOf('reservation-opened')).toBeLessThan(order.indexOf('call-delta'));
      expect(order.indexOf('reservation-closed')).toBeGreaterThan(order.lastIndexOf('call-delta'));
      expect(
        told.find((event) => event.type === 'reservation-opened')?.balances.map(({ held, spent }) => held + spent),
      ).toEqual([step.after.user, step.after.tenant]);
      expect([await bench.used(step.userKey), await bench.used(step.tenantKey)]).toEqual([
        settled.after.user,
        settled.after.tenant,
      ]);
    }
    for (const [key, used] of Object.entries(golden.final)) expect([key, await bench.used(key)]).toEqual([key, used]);
    expect(bench.model.asked).toHaveLength(sent.length);
    for (const { body } of bench.model.asked)
      expect(body['options']).toMatchObject({ num_predict: golden.estimate.maxOutput });
    const alerts = bench.events.flatMap((event) => (event.type === 'budget-alerted' ? [event.alert.text] : []));
    expect(alerts).toEqual(['Tenant acme used 7,877 of 9,000 tokens this month, 1,123 left']);
    expect(await bench.ledger.audit()).toMatchObject({ ok: true, value: { sound: true, openHolds: 0 } });
  });

  test('twenty at once: three leave, and nothing is held when they have ended', async () => {
    const bench = corridor([1, 2, 3].map(() => reply(1_930, 39)));
    const records = await Promise.all(
      Array.from({ length: 20 }, (_, index) => run(bench.engine, requestOf(`u${index}`))),
    );
    expect(bench.model.asked).toHaveLength(3);
    expect(records.filter((record) => record.budget?.resolution === 'settled')).toHaveLength(3);
    expect(await bench.used('tenant:acme:2026-11')).toBe(3 * 1_969);
  });
});

describe('every ending closes its hold', () => {
  test.each([
    ['forfeit', null, 2_434, 'forfeited', 'reserved'],
    ['observed', 44, 119, 'settled', 'observed'],
  ] as const)(
    'stopped after 44 prompt and 75 generated tokens, under %s',
    async (onCancel, counted, used, resolution, source) => {
      const script = [...reply(44, 75).slice(0, -1), 'wait' as const];
      const bench = corridor([script], { directory: withLimits({}, { onCancel }), counted });
      const opened = bench.engine.open(requestOf('ada'));
      if (!opened.ok) throw new Error(opened.denial.message);
      await until(() => bench.events.filter(({ type }) => type === 'call-delta').length === 75);
      bench.engine.cancel(opened.value.id, 'person');
      const { record } = await opened.value.done;
      expect(record.budget).toMatchObject({ resolution, source });
      expect(await bench.used('user:ada:2026-11-14')).toBe(used);
      expect(await bench.ledger.audit()).toMatchObject({ value: { sound: true, openHolds: 0 } });
    },
  );

  const sent: ModelEvent = { kind: 'sent' };
  test.each([
    ['nothing listens', [end({ status: null, ending: 'unreachable' })], 0, 'voided'],
    [
      'the connection breaks after the request went out',
      [sent, end({ status: null, ending: 'unreachable' })],
      2_434,
      'forfeited',
    ],
    ['the server refuses it', [sent, end({ status: 400, ending: 'refused' })], 0, 'settled'],
    ['the server fails before a token', [sent, end({ status: 500, ending: 'refused' })], 2_434, 'forfeited'],
    ['the server fails in the middle', [sent, chunk('a'), end({ ending: 'error-line' })], 2_434, 'forfeited'],
    ['the last line is missing', [sent, chunk('a'), end({ ending: 'cut' })], 2_434, 'forfeited'],
    ['its time is over', [sent, chunk('a'), end({ ending: 'aborted', abortedBy: 'timeout' })], 2_434, 'forfeited'],
    ['a whole reply has no counts', [sent, chunk('a'), chunk('b'), end()], 2_036, 'settled'],
    ['a whole reply has no counts and no text', [sent, end()], 2_434, 'settled'],
  ] as const)('%s', async (_what, script, used, resolution) => {
    const bench = corridor([[...script]]);
    const record = await run(bench.engine, requestOf('ada'));
    expect(record.budget?.resolution).toBe(resolution);
    expect(await bench.used('user:ada:2026-11-14')).toBe(used);
    expect(await bench.ledger.audit()).toMatchObject({ value: { sound: true, openHolds: 0 } });
  });
});

interface Corridor extends LedgerBench {
  readonly engine: Engine;
  readonly model: ScriptedModel;
}

function corridor(
  scripts: (ModelEvent | 'wait')[][],
  options: { directory?: Directory; counted?: number | null } = {},
): Corridor {
  const bench = ledgerBench(options.directory);
  const model = scriptedModel(scripts);
  const subject: Subject = {
    server: '127.0.0.1:11434',
    serverVersion: '0.33.0',
    simulated: false,
    facts: null,
    digest: null,
    learned: null,
    defaultNumCtx: null,
    running: [],
    countedOf: () => options.counted ?? null,
  };
  let ids = 0;
  const engine = createEngine({
    clock: { now: () => golden.clock, monotonicMs: () => 0 },
    ids: { call: () => `call-${(ids += 1)}` as CallId, run: () => 'run-1' as RunId },
    model,
    subjects: { of: async () => ok(subject) },
    estimator: {
      estimate: async (messages, learned) => estimateMessages(messages, learned),
      preflight: async (input) => preflight(input),
    },
    journal: { callClosed: () => ok(undefined) },
    events: { emit: (event) => void bench.events.push(event) },
    budgets: { ledger: bench.ledger, payer: () => ({ tenant: 'acme', user: 'ada' }), wallClockMs: () => 30_000 },
  });
  return { ...bench, engine, model };
}

function requestOf(user: string): CallRequest {
  return callRequestSchema.parse({
    model: 'probe',
    route: 'chat',
    messages: [
      { role: 'system', content: STORM_SYSTEM_PROMPT },
      { role: 'user', content: stormMessage(golden.estimate.messageChars) },
    ],
    numCtx: 4_096,
    numPredict: golden.estimate.maxOutput,
    think: 'default',
    temperature: 0,
    seed: 7,
    policy: 'warn',
    payer: { tenant: 'acme', user },
  });
}

const reply = (input: number, output: number): ModelEvent[] => [
  { kind: 'sent' },
  { kind: 'headers', status: 200 },
  ...Array.from({ length: output }, (_, index) => chunk(` t${index}`)),
  end({ promptEvalCount: input as never, evalCount: output as never }),
];

async function run(engine: Engine, request: CallRequest): Promise<CallRecord> {
  const opened = engine.open(request);
  if (!opened.ok) throw new Error(opened.denial.message);
  return (await opened.value.done).record;
}

async function until(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !done(); turn += 1) await Promise.resolve();
}
