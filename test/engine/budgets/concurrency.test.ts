/** Calls at once, the same call twice, and calls that belong together: through the engine. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallRequest } from '../../../shared/contract/calls.ts';
import type { CellKey, RunId } from '../../../shared/contract/ids.ts';
import { ASSISTANT_PLAN, directorySchema } from '../../../shared/contract/plans.ts';
import { chunk, end } from '../../support/scripted-model.ts';
import { type Bench, bench, conserved, head, prose, reply, system, until, user } from './bench.ts';

const golden = JSON.parse(readFileSync(new URL('../../golden/ledger.json', import.meta.url), 'utf8')) as {
  readonly edges: {
    readonly twentyConcurrentReservations: {
      readonly sameUser: { readonly admitted: number; readonly rejected: number; readonly userReserved: number };
      readonly twentyUsers: { readonly admitted: number; readonly rejected: number; readonly tenantReserved: number };
    };
  };
};
const { sameUser, twentyUsers } = golden.edges.twentyConcurrentReservations;
const directory = directorySchema.parse({
  plans: [ASSISTANT_PLAN],
  tenants: [{ id: 'acme', plan: 'assistant' }],
  defaultPlan: 'assistant',
});
const question: Partial<CallRequest> = {
  messages: [system('You are the Bookstore assistant. Answer briefly.'), user(prose(6_052))],
  numPredict: 400,
};
const refusedOf = (made: Bench): number => made.records.filter(({ reply: { ending } }) => ending === 'not-sent').length;

describe('twenty at once', () => {
  test.each([
    [
      'of twenty users',
      (index: number) => `user-${index}`,
      twentyUsers.admitted,
      twentyUsers.tenantReserved,
      'tenant-month-limit-held',
    ],
    ['of one user', () => 'ada', sameUser.admitted, sameUser.userReserved, 'user-day-limit-held'],
  ] as const)('%s', async (_what, userOf, admitted, reserved, code) => {
    const scripts = Array.from({ length: admitted }, () => [...head, chunk('Well'), 'wait' as const]);
    const made = bench({ directory, scripts });
    const calls = Array.from({ length: 20 }, (_, index) =>
      made.open({ ...question, payer: { tenant: 'acme', user: userOf(index) } }),
    );
    await until(() => refusedOf(made) === 20 - admitted && made.model.signals.length === admitted);
    // One more than the script would have thrown: nobody else was asked.
    expect(made.model.asked).toHaveLength(admitted);
    expect(await made.balance('tenant')).toMatchObject({ spent: 0, held: admitted * 2_434 });
    expect(admitted * 2_434).toBe(reserved);
    for (const { denial } of made.records) expect(denial?.code).toBe(code);
    expect((await made.refusals()).reduce((sum, { count }) => sum + count, 0)).toBe(20 - admitted);
    await made.engine.stop('person');
    await Promise.all(calls.map(({ done }) => done));
    expect(await made.balance('tenant')).toMatchObject({ spent: reserved, held: 0 });
    await conserved(made);
  });

  test('any number of calls of any size: held and spent never pass the limit', async () => {
    const one = fc.record({ characters: fc.nat(4_000), numPredict: fc.integer({ min: 1, max: 900 }), who: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 25 }), async (asks) => {
        const made = bench({ directory: openPlan(3_000), scripts: asks.map(() => reply(0, 1)) });
        await Promise.all(
          asks.map(async ({ characters, numPredict, who }) => {
            await made.call({
              messages: [user(prose(characters))],
              numPredict,
              payer: { tenant: 'acme', user: `u${who}` },
            });
          }),
        );
        const told = made.events.flatMap((event) =>
          event.type === 'reservation-opened' || event.type === 'reservation-closed' ? event.balances : [],
        );
        for (const { spent, held } of told) expect(spent + held).toBeLessThanOrEqual(3_000);
        await conserved(made);
      }),
      { numRuns: 60 },
    );
  });
});

function openPlan(limit: number): typeof directory {
  return directorySchema.parse({
    plans: [{ name: 'p', budgets: [{ scope: 'tenant', window: 'month', unit: 'tokens', limit }] }],
    defaultPlan: 'p',
  });
}

describe('the same key', () => {
  const keyed = { idempotencyKey: 'order-7' };
  const plan = { budgets: [{ scope: 'user', window: 'day', unit: 'tokens', limit: 5_000 }] } as const;

  test('twice is sent and charged once; the second says so', async () => {
    const made = bench({ plan: { budgets: [...plan.budgets] }, scripts: [reply(30, 7)] });
    expect((await made.call(keyed)).denial).toBeNull();
    const again = await made.call(keyed);
    expect(again.denial).toMatchObject({ code: 'key-used', field: 'idempotencyKey' });
    expect(again.record).toMatchObject({ budget: null, reply: { ending: 'not-sent' } });
    expect(made.model.asked).toHaveLength(1);
    expect(await made.balance('user')).toMatchObject({ spent: 37, held: 0 });
    expect(await made.refusals()).toMatchObject([{ code: 'key-used', count: 1 }]);
    await conserved(made);
  });

  test('also while the first one still runs, and both at once', async () => {
    const made = bench({ plan: { budgets: [...plan.budgets] }, scripts: [[...head, 'wait']] });
    const [first, second] = [made.open(keyed), made.open(keyed)];
    expect((await second.done).denial?.code).toBe('key-used');
    expect((await made.call(keyed)).denial?.code).toBe('key-used');
    expect(await made.holds()).toHaveLength(1);
    made.engine.cancel(first.id, 'person');
    await first.done;
    expect((await made.call(keyed)).denial?.code).toBe('key-used');
    expect(made.model.asked).toHaveLength(1);
    await conserved(made);
  });

  test('is sent and charged once when the server was not there for the first try', async () => {
    const unreachable = [end({ ending: 'unreachable', status: null })];
    const made = bench({ plan: { budgets: [...plan.budgets] }, scripts: [unreachable, reply(30, 7)] });
    const first = await made.call(keyed);
    expect(first.record.budget).toMatchObject({ resolution: 'voided', chargedInputTokens: 0, chargedOutputTokens: 0 });
    expect(await made.balance('user')).toMatchObject({ spent: 0, held: 0 });
    // Another length too: of the first try nothing is left.
    const retry = await made.call({ ...keyed, numPredict: 50 });
    expect([retry.denial, retry.record.budget?.resolution]).toEqual([null, 'settled']);
    const third = await made.call({ ...keyed, numPredict: 50 });
    expect(third.denial).toMatchObject({ code: 'key-used', field: 'idempotencyKey' });
    expect(made.model.asked).toHaveLength(2);
    expect(await made.balance('user')).toMatchObject({ spent: 37, held: 0 });
    const told = (await made.entries()).map(({ operation, key }) => [operation, key]);
    expect(told).toEqual(['reserve', 'void', 'reserve', 'settle'].map((operation) => [operation, 'order-7']));
    await conserved(made);
  });

  test('for another question is refused too; for another tenant it is another key', async () => {
    const made = bench({ plan: { budgets: [...plan.budgets] }, scripts: [reply(30, 7), reply(30, 7)] });
    await made.call(keyed);
    expect((await made.call({ ...keyed, numPredict: 50 })).denial?.code).toBe('key-used');
    expect((await made.call({ ...keyed, payer: { tenant: 'globex', user: 'ada' } })).denial).toBeNull();
  });

  test('after a refusal may pass: a refused call used no key', async () => {
    const made = bench({ plan: { budgets: [...plan.budgets] }, scripts: [[...head, 'wait'], reply(30, 7)] });
    const first = made.open({ numPredict: 4_900 });
    await until(() => made.model.asked.length === 1);
    expect((await made.call(keyed)).denial).toMatchObject({ code: 'user-day-limit-held' });
    made.engine.cancel(first.id, 'person');
    await first.done;
    expect((await made.call(keyed)).denial).toMatchObject({ code: 'user-day-limit-reached' });
    made.advance(24 * 3_600_000);
    expect((await made.call(keyed)).denial).toBeNull();
    await conserved(made);
  });
});

describe('asking again', () => {
  const asking = { thinkingCap: { tokensMax: 3, then: 'ask-again' as const }, think: true, idempotencyKey: 'k' };
  const thinking = [...head, ...Array.from({ length: 5 }, () => chunk('', ' hm')), 'wait' as const];

  test('is a call of its own: its own hold, its own charge, the same one pays', async () => {
    const made = bench({ scripts: [thinking, reply(50, 4, 'Yes.')] });
    const { record } = await made.call(asking);
    expect(record).toMatchObject({
      reply: { answer: 'Yes.' },
      budget: { chargedInputTokens: 50, chargedOutputTokens: 4 },
    });
    expect(made.records).toHaveLength(2);
    const [first, second] = made.records;
    expect(first?.budget).toMatchObject({ source: 'observed', chargedOutputTokens: 3, resolution: 'settled' });
    expect(new Set([first?.budget?.reservationId, second?.budget?.reservationId]).size).toBe(2);
    const reserved = (await made.entries()).filter(({ operation }) => operation === 'reserve');
    expect(reserved.map(({ key, user: who }) => [key, who])).toEqual([
      ['k', 'ada'],
      ['k/again', 'ada'],
    ]);
    const sum = made.records.reduce(
      (all, { budget }) => all + (budget?.chargedInputTokens ?? 0) + (budget?.chargedOutputTokens ?? 0),
      0,
    );
    expect(await made.balance('user')).toMatchObject({ spent: sum, held: 0 });
    await conserved(made);
  });

  test('is refused when there is nothing left for it; the first stays charged', async () => {
    const made = bench({
      plan: { budgets: [{ scope: 'user', window: 'day', unit: 'requests', limit: 1 }] },
      scripts: [thinking],
    });
    const { record, denial } = await made.call(asking);
    expect(denial?.code).toBe('user-day-limit-reached');
    expect(record.askedAfter?.callId).toBe(made.records[0]?.id);
    expect(made.records.map(({ budget }) => budget?.resolution ?? null)).toEqual(['settled', null]);
    await conserved(made);
  });
});

describe('cells of a run', () => {
  test('hold on the run as a whole, which another run does not touch', async () => {
    const made = bench({
      plan: { budgets: [{ scope: 'experiment', window: 'run', unit: 'tokens', limit: 300 }] },
      scripts: [reply(60, 50), reply(60, 50), reply(60, 50)],
    });
    const cell = (runId: string, key: string): Promise<unknown> =>
      made.open({}, { runId: runId as RunId, cellKey: key as CellKey }).done.then(({ denial }) => denial?.code ?? null);
    expect(await cell('run-1', 'a')).toBeNull();
    expect(await cell('run-1', 'b')).toBeNull();
    expect(await cell('run-1', 'c')).toBe('experiment-run-limit-reached');
    expect(await cell('run-2', 'a')).toBeNull();
    expect(await made.balance('experiment', 'tokens', 'run-1')).toMatchObject({ spent: 220, limit: 300, endsAt: null });
    await conserved(made);
  });
});

test('a broken line at the end of one call leaves the others alone', async () => {
  const made = bench({ scripts: [[...head, end({ ending: 'error-line' })], reply(3, 4)] });
  await Promise.all([made.call(), made.call()]);
  await conserved(made);
});
