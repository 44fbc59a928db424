/** Through the corridor: whatever a call comes to, nothing is left open, and the record says what the journal says. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endings } from '../../../shared/contract/calls.ts';
import type { CallBudget } from '../../../shared/contract/ledger.ts';
import type { PriceSet } from '../../../shared/contract/costs.ts';
import { type PlanInput, directorySchema } from '../../../shared/contract/plans.ts';
import type { ModelEvent, ReplyEnd } from '../../../shared/engine/ports.ts';
import { chunk, end } from '../../support/scripted-model.ts';
import { type Bench, bench, conserved, head, prose, reply, request, system, until, user } from './bench.ts';

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

  test('a fault of our own in the middle of a call leaves no hold behind', async () => {
    // Past its script the model throws: before anything left, and after.
    const early = bench();
    await expect(early.open().done).rejects.toThrow('The script has 0 calls');
    await conserved(early);
    const late = bench({ scripts: [[...head, chunk('We')]] });
    await expect(late.open().done).rejects.toThrow('always ends with its end');
    expect((await late.entries()).map(({ operation }) => operation)).toEqual(['reserve', 'forfeit']);
    await conserved(late);
    expect(late.engine.openCalls()).toEqual([]);
  });
});
