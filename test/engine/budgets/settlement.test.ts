/** What every ending of a call is charged, and that nothing is left open after any of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endings } from '../../../shared/contract/calls.ts';
import type { CallBudget } from '../../../shared/contract/ledger.ts';
import type { PriceSet } from '../../../shared/contract/costs.ts';
import { type Plan, type PlanInput, directorySchema } from '../../../shared/contract/plans.ts';
import { tokens } from '../../../shared/contract/units.ts';
import { type EndedCall, settlementOf } from '../../../shared/engine/ledger/settlement.ts';
import type { ModelEvent, ReplyEnd } from '../../../shared/engine/ports.ts';
import { chunk, end } from '../../support/scripted-model.ts';
import { type Bench, bench, conserved, head, prose, reply, request, system, until, user } from './bench.ts';

/** Reserved are 1,000 + 200, likely 800; 30 tokens of output were seen; the server counted 700 and 90 where it counted. */
const base: EndedCall = {
  reply: { ending: 'done', abortedBy: null, status: 200, promptEvalCount: null, evalCount: null },
  wasSent: true,
  outputTokensSeen: 30,
  reservedInputTokens: 1_000,
  reservedOutputTokens: 200,
  inputTokensLikely: 800,
  onCancel: 'forfeit',
};
type Row = readonly [
  what: string,
  onCancel: Plan['onCancel'],
  change: Partial<EndedCall['reply']> & Partial<Pick<EndedCall, 'wasSent' | 'outputTokensSeen'>>,
  operation: string,
  input: number,
  output: number,
  source: string,
  reason: string,
];
const counts = { promptEvalCount: tokens(700), evalCount: tokens(90) };
const by = (abortedBy: EndedCall['reply']['abortedBy']): Partial<EndedCall['reply']> => ({
  ending: 'aborted',
  abortedBy,
});

const table: readonly Row[] = [
  ['done, counted', 'forfeit', counts, 'settle', 700, 90, 'reported', ''],
  ['done, counted', 'observed', counts, 'settle', 700, 90, 'reported', ''],
  [
    'done, counted 0 and 0',
    'forfeit',
    { promptEvalCount: tokens(0), evalCount: tokens(0) },
    'settle',
    0,
    0,
    'reported',
    '',
  ],
  ['done, no count', 'forfeit', {}, 'settle', 1_000, 30, 'observed', ''],
  ['done, no count', 'observed', {}, 'settle', 1_000, 30, 'observed', ''],
  ['done, no count, nothing seen', 'forfeit', { outputTokensSeen: 0 }, 'settle', 1_000, 200, 'observed', ''],
  ['done, prompt counted', 'forfeit', { promptEvalCount: tokens(700) }, 'settle', 700, 30, 'observed', ''],
  ['done, output counted', 'forfeit', { evalCount: tokens(90) }, 'settle', 1_000, 90, 'observed', ''],
  [
    'error line',
    'forfeit',
    { ending: 'error-line' },
    'forfeit',
    1_000,
    200,
    'reserved',
    'the server failed in the middle',
  ],
  [
    'error line',
    'observed',
    { ending: 'error-line' },
    'settle',
    800,
    30,
    'observed',
    'the server failed in the middle',
  ],
  ['cut', 'forfeit', { ending: 'cut' }, 'forfeit', 1_000, 200, 'reserved', 'the reply ended without its last line'],
  ['cut', 'observed', { ending: 'cut' }, 'settle', 800, 30, 'observed', 'the reply ended without its last line'],
  ['stopped by the person', 'forfeit', by('person'), 'forfeit', 1_000, 200, 'reserved', 'it was stopped'],
  ['stopped by the person', 'observed', by('person'), 'settle', 800, 30, 'observed', 'it was stopped'],
  [
    'stopped, nothing seen',
    'observed',
    { ...by('person'), outputTokensSeen: 0 },
    'settle',
    800,
    0,
    'observed',
    'it was stopped',
  ],
  ['timed out', 'forfeit', by('timeout'), 'forfeit', 1_000, 200, 'reserved', 'its time was over'],
  ['timed out', 'observed', by('timeout'), 'settle', 800, 30, 'observed', 'its time was over'],
  ['shut down', 'forfeit', by('shutdown'), 'forfeit', 1_000, 200, 'reserved', 'the console was closed'],
  ['shut down', 'observed', by('shutdown'), 'settle', 800, 30, 'observed', 'the console was closed'],
  ['connection broke', 'forfeit', by(null), 'forfeit', 1_000, 200, 'reserved', 'the connection broke'],
  [
    'stopped on its way out',
    'forfeit',
    { ...by('person'), status: null, wasSent: false },
    'void',
    0,
    0,
    'none',
    'it never reached the server',
  ],
  [
    'stopped on its way out',
    'observed',
    { ...by('person'), status: null, wasSent: false },
    'void',
    0,
    0,
    'none',
    'it never reached the server',
  ],
  ['thinking stopped', 'forfeit', by('thinking-cap'), 'settle', 800, 30, 'observed', 'its thinking was stopped'],
  ['thinking stopped', 'observed', by('thinking-cap'), 'settle', 800, 30, 'observed', 'its thinking was stopped'],
  [
    'thinking stopped, counted',
    'forfeit',
    { ...by('thinking-cap'), ...counts },
    'settle',
    700,
    90,
    'reported',
    'its thinking was stopped',
  ],
  ...(['forfeit', 'observed'] as const).flatMap((onCancel): Row[] => [
    ...[400, 404, 413, 429, 503].map((status): Row => [
      `refused with ${status}`,
      onCancel,
      { ending: 'refused', status },
      'settle',
      0,
      0,
      'none',
      `the server refused it with status ${status}`,
    ]),
    [
      'unreachable, never sent',
      onCancel,
      { ending: 'unreachable', status: null, wasSent: false },
      'void',
      0,
      0,
      'none',
      'it never reached the server',
    ],
    [
      'not sent',
      onCancel,
      { ending: 'not-sent', status: null, wasSent: false },
      'void',
      0,
      0,
      'none',
      'it was never sent',
    ],
  ]),
  ...[500, 502].flatMap((status): Row[] => [
    [
      `refused with ${status}`,
      'forfeit',
      { ending: 'refused', status },
      'forfeit',
      1_000,
      200,
      'reserved',
      `the server failed with status ${status}`,
    ],
    [
      `refused with ${status}`,
      'observed',
      { ending: 'refused', status, outputTokensSeen: 0 },
      'settle',
      800,
      0,
      'observed',
      `the server failed with status ${status}`,
    ],
  ]),
  [
    'unreachable after it was sent',
    'forfeit',
    { ending: 'unreachable', status: null },
    'forfeit',
    1_000,
    200,
    'reserved',
    'no answer came',
  ],
  [
    'unreachable after it was sent',
    'observed',
    { ending: 'unreachable', status: null, outputTokensSeen: 0 },
    'settle',
    800,
    0,
    'observed',
    'no answer came',
  ],
];

describe('the table', () => {
  test.each(table)('%s, %s', (_what, onCancel, change, operation, inputTokens, outputTokens, source, reason) => {
    const { wasSent = true, outputTokensSeen = 30, ...fields } = change;
    const call = { ...base, onCancel, wasSent, outputTokensSeen, reply: { ...base.reply, ...fields } };
    expect(settlementOf(call)).toEqual({ operation, inputTokens, outputTokens, source, reason });
  });

  test('has every ending under both policies', () => {
    for (const ending of endings) {
      for (const onCancel of ['forfeit', 'observed']) {
        expect(table.some(([, policy, change]) => policy === onCancel && (change.ending ?? 'done') === ending)).toBe(
          true,
        );
      }
    }
  });

  test('an unknown count is never charged as 0, and nothing is charged above what was reserved without a count', () => {
    const ended = fc.record<EndedCall>({
      reply: fc.record<EndedCall['reply']>({
        ending: fc.constantFrom('done', 'error-line', 'cut', 'aborted'),
        abortedBy: fc.constantFrom(null, 'person', 'timeout', 'shutdown', 'thinking-cap'),
        status: fc.constant(200),
        promptEvalCount: fc.constant(null),
        evalCount: fc.option(fc.nat(500)) as never,
      }),
      wasSent: fc.constant(true),
      outputTokensSeen: fc.nat(200),
      reservedInputTokens: fc.integer({ min: 50, max: 1_000 }),
      reservedOutputTokens: fc.integer({ min: 200, max: 500 }),
      inputTokensLikely: fc.integer({ min: 1, max: 50 }),
      onCancel: fc.constantFrom('forfeit', 'observed'),
    });
    fc.assert(
      fc.property(ended, (call) => {
        const { inputTokens, outputTokens, source, operation } = settlementOf(call);
        expect(inputTokens).toBeGreaterThan(0);
        expect(inputTokens).toBeLessThanOrEqual(call.reservedInputTokens);
        expect(outputTokens).toBeGreaterThanOrEqual(Math.min(call.outputTokensSeen, call.reply.evalCount ?? Infinity));
        expect(source).not.toBe('reported');
        expect(operation).not.toBe('void');
      }),
    );
  });
});

const budgets = [
  { scope: 'user', window: 'day', unit: 'tokens', limit: 1_000_000 },
  { scope: 'tenant', window: 'month', unit: 'tokens', limit: 1_000_000 },
  { scope: 'tenant', window: 'day', unit: 'nano-dollars', limit: 1_000_000_000 },
  { scope: 'user', window: 'minute', unit: 'requests', limit: 1_000 },
] as const;
const setName = { name: 'prices', date: null };
const prices: PriceSet = {
  ...setName,
  source: 'these tests',
  inputNanoDollarsPerToken: 2_000 as PriceSet['inputNanoDollarsPerToken'],
  outputNanoDollarsPerToken: 8_000 as PriceSet['outputNanoDollarsPerToken'],
  cachedNanoDollarsPerToken: null,
};
const priced: Omit<PlanInput, 'name'> = { budgets: [...budgets], prices: setName };

/** The figures of a record's budget that the journal holds too, from its last entry about that hold. */
async function journalled(made: Bench, { reservationId }: CallBudget): Promise<object> {
  const entries = (await made.entries()).filter((entry) => entry.reservationId === reservationId);
  const reserved = entries.find(({ operation }) => operation === 'reserve');
  const closed = entries.findLast(({ operation }) => operation !== 'reserve' && operation !== 'alert');
  return {
    reservationId,
    tenant: closed?.tenant,
    user: closed?.user,
    book: closed?.book,
    reservedInputTokens: reserved?.inputTokens,
    reservedOutputTokens: reserved?.outputTokens,
    resolution: { settle: 'settled', forfeit: 'forfeited', void: 'voided', expire: 'expired' }[
      closed?.operation as 'settle'
    ],
    source: closed?.source,
    chargedInputTokens: closed?.inputTokens,
    chargedOutputTokens: closed?.outputTokens,
    chargedNanoDollars: closed?.lines.find(({ unit }) => unit === 'nano-dollars')?.amount,
    overrunTokens: closed?.lines.find(({ unit }) => unit === 'tokens')?.overrun,
    reason: closed?.reason,
  };
}

describe('through the corridor', () => {
  test('whatever a stream does: one resolution, no open hold, all conserved, the record says what the journal says', async () => {
    const oneChunk = fc
      .record({
        answer: fc.string({ maxLength: 5 }),
        thinking: fc.string({ maxLength: 5 }),
        entries: fc.option(fc.nat(3)),
      })
      .map(({ answer, thinking, entries }): ModelEvent => ({
        kind: 'chunk',
        answer,
        thinking,
        toolCalls: 0,
        logprobEntries: entries,
      }));
    const ends = fc
      .record({
        ending: fc.constantFrom(...endings),
        abortedBy: fc.constantFrom(null, 'person' as const, 'timeout' as const),
        status: fc.constantFrom(null, 200, 400, 404, 500, 503),
        promptEvalCount: fc.option(fc.nat(3_000)),
        evalCount: fc.option(fc.nat(100)),
      })
      .map((fields): ModelEvent => end(fields as Partial<ReplyEnd>));
    const script = fc
      .record({ sent: fc.boolean(), chunks: fc.array(oneChunk, { maxLength: 6 }), last: ends })
      .map(({ sent, chunks, last }) => [...(sent ? head : []), ...chunks, last]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(script, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('forfeit' as const, 'observed' as const),
        fc.boolean(),
        async (scripts, onCancel, caps) => {
          const made = bench({ plan: { ...priced, onCancel }, prices, scripts });
          const change = caps ? { thinkingCap: { tokensMax: 2, then: 'stop' as const } } : {};
          const outcomes = await Promise.all(scripts.map(() => made.call(change)));
          await conserved(made);
          for (const { record } of outcomes) {
            const budget = record.budget;
            if (budget === null || budget === undefined) throw new Error('there is no budget on the record');
            expect(budget).toMatchObject(await journalled(made, budget));
            expect(budget).toMatchObject({ plan: 'plan', reservedOutputTokens: request.numPredict });
            if (record.reply.ending === 'done' && record.reply.promptEvalCount === null) {
              expect(budget.chargedInputTokens).toBeGreaterThan(0);
            }
          }
          const charged = outcomes.reduce(
            (sum, { record }) =>
              sum + (record.budget?.chargedInputTokens ?? 0) + (record.budget?.chargedOutputTokens ?? 0),
            0,
          );
          expect(await made.balance('user', 'tokens')).toMatchObject({
            spent: charged,
            held: 0,
            free: 1_000_000 - charged,
          });
          for (const { body } of made.model.asked) {
            expect((body.options as { num_predict: number }).num_predict).toBe(request.numPredict);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('tokens are counted by logprob entries where there are any, else by chunks that say something', async () => {
    const piece = (answer: string, logprobEntries: number | null): ModelEvent => ({
      kind: 'chunk',
      answer,
      thinking: '',
      toolCalls: 0,
      logprobEntries,
    });
    const made = bench({
      plan: { onCancel: 'observed' },
      scripts: [
        [
          ...head,
          piece('ab', 3),
          piece('', 2),
          piece('', 0),
          piece('c', null),
          piece('', null),
          end({ ending: 'cut', done: null }),
        ],
        [
          ...head,
          { kind: 'chunk', answer: '', thinking: '', toolCalls: 2, logprobEntries: null },
          end({ ending: 'cut' }),
        ],
      ],
    });
    expect((await made.call()).record.budget).toMatchObject({ chargedOutputTokens: 6, source: 'observed' });
    expect((await made.call()).record.budget).toMatchObject({ chargedOutputTokens: 1, source: 'observed' });
  });

  test('the golden abort: 75 tokens came; all stays under forfeit, what was seen is charged under observed', async () => {
    const messages = [system('You are the Bookstore assistant. Answer briefly.'), user(prose(6_052))];
    const script = [...head, ...Array.from({ length: 75 }, (_, index) => chunk(` ${index}`)), 'wait' as const];
    for (const onCancel of ['forfeit', 'observed'] as const) {
      const made = bench({
        plan: { onCancel, budgets: [{ scope: 'user', window: 'day', unit: 'tokens', limit: 6_000 }] },
        scripts: [script],
        subject: { countedOf: () => (onCancel === 'observed' ? 44 : null) },
      });
      const { id, done } = made.open({ messages, numPredict: 400 });
      await until(() => made.events.filter(({ type }) => type === 'call-delta').length === 75);
      made.engine.cancel(id, 'person');
      const { record } = await done;
      expect(record.budget).toMatchObject(
        onCancel === 'forfeit'
          ? { resolution: 'forfeited', source: 'reserved', chargedInputTokens: 2_034, chargedOutputTokens: 400 }
          : { resolution: 'settled', source: 'observed', chargedInputTokens: 44, chargedOutputTokens: 75 },
      );
      expect(await made.balance('user')).toMatchObject({ spent: onCancel === 'forfeit' ? 2_434 : 119, held: 0 });
      await conserved(made);
    }
  });

  test('a prompt above its reservation is charged and marked, and the next call is refused when that passes the limit', async () => {
    const plan = { budgets: [{ scope: 'user' as const, window: 'day' as const, unit: 'tokens' as const, limit: 500 }] };
    const made = bench({ plan, scripts: [reply(640, 20)] });
    const { record } = await made.call();
    const reserved = (record.budget?.reservedInputTokens ?? 0) + 100;
    expect(reserved).toBeLessThan(500);
    expect(record.budget).toMatchObject({
      resolution: 'settled',
      source: 'reported',
      chargedInputTokens: 640,
      chargedOutputTokens: 20,
      overrunTokens: 660 - reserved,
    });
    expect(await made.balance('user')).toMatchObject({ spent: 660, overrun: 660 - reserved, free: 0, limit: 500 });
    const { denial } = await made.call();
    expect(denial).toMatchObject({
      code: 'user-day-limit-reached',
      message: 'Token budget exhausted for user ada.',
      retryAfterMs: 4_558_000,
    });
    expect(made.model.asked).toHaveLength(1);
    await conserved(made);
  });

  test('the rest of a reply whose thinking was stopped was made too: the count of the server is charged', async () => {
    const thoughts = Array.from({ length: 50 }, () => chunk('', ' hm'));
    const made = bench({
      scripts: [
        [...head, ...thoughts, ...reply(12, 60).slice(2)],
        [...head, ...thoughts, 'wait'],
      ],
    });
    const capped = { thinkingCap: { tokensMax: 10, then: 'stop' as const }, think: true };
    const whole = (await made.call(capped)).record;
    expect(whole.reply).toMatchObject({
      ending: 'aborted',
      abortedBy: 'thinking-cap',
      evalCount: null,
      thinkingChunks: 10,
    });
    expect(whole.budget).toMatchObject({
      resolution: 'settled',
      source: 'reported',
      chargedInputTokens: 12,
      chargedOutputTokens: 60,
    });
    const stopped = (await made.call(capped)).record;
    expect(stopped.budget).toMatchObject({ resolution: 'settled', source: 'observed', chargedOutputTokens: 10 });
    expect(stopped.budget?.chargedInputTokens).toBe(stopped.estimate.likely);
  });

  test('what is refused by the server costs a request and no tokens', async () => {
    const plan = { budgets: [{ scope: 'user' as const, window: 'day' as const, unit: 'requests' as const, limit: 2 }] };
    const made = bench({
      plan,
      scripts: [
        [...head, end({ ending: 'refused', status: 400, done: null })],
        [end({ ending: 'unreachable', status: null, done: null })],
        reply(1, 1),
      ],
    });
    await made.call();
    expect(await made.balance('user')).toMatchObject({ spent: 1, held: 0 });
    await made.call();
    expect(await made.balance('user')).toMatchObject({ spent: 1, held: 0 });
    await made.call();
    expect((await made.call()).denial).toMatchObject({
      code: 'user-day-limit-reached',
      message: 'Request budget exhausted for user ada.',
    });
  });

  test('a cancel while the reservation is made: nothing leaves, nothing is charged', async () => {
    let cancel = (): void => undefined;
    const made = bench({
      wrap: (store) => ({
        ...store,
        reserve: async (ask) => {
          const answer = await store.reserve(ask);
          cancel();
          return answer;
        },
      }),
    });
    const { id, done } = made.open();
    cancel = () => made.engine.cancel(id, 'person');
    const { record, denial } = await done;
    expect(denial?.code).toBe('cancelled');
    expect(record.reply).toMatchObject({ ending: 'not-sent', abortedBy: 'person' });
    expect(record.budget).toMatchObject({
      resolution: 'voided',
      source: 'none',
      chargedInputTokens: 0,
      chargedOutputTokens: 0,
    });
    expect(made.model.asked).toEqual([]);
    await conserved(made);
  });

  test('money of a tenant is spent by the prices of its plan where the user has none', async () => {
    const made = bench({
      prices,
      scripts: [reply(10, 2)],
      directory: directorySchema.parse({
        plans: [
          { name: 'own' },
          {
            name: 'shared',
            prices: setName,
            budgets: [{ scope: 'tenant', window: 'day', unit: 'nano-dollars', limit: 1_000_000_000 }],
          },
        ],
        tenants: [{ id: 'acme', plan: 'shared' }],
        users: [{ tenant: 'acme', id: 'ada', plan: 'own' }],
        defaultPlan: 'own',
      }),
    });
    expect((await made.call()).record.budget).toMatchObject({ chargedNanoDollars: 10 * 2_000 + 2 * 8_000 });
    expect(await made.balance('tenant')).toMatchObject({ spent: 36_000, held: 0 });
  });
});
