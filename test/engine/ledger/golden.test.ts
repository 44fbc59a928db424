/** The golden trace and its edges, to the token: test/golden/ledger.json. */
import { describe, expect, test } from 'vitest';
import { accountKey } from '../../../shared/contract/ledger.ts';
import type { Account } from '../../../shared/contract/ledger.ts';
import { eventSchema } from '../../../shared/contract/events.ts';
import { periodOf } from '../../../shared/engine/ledger/calendar.ts';
import { crossingsOf } from '../../../shared/engine/ledger/decide.ts';
import type { Held } from '../../../shared/engine/ledger/ledger.ts';
import { settlementOf } from '../../../shared/engine/ledger/settlement.ts';
import type { EndedCall } from '../../../shared/engine/ledger/settlement.ts';
import {
  GOLDEN_INPUT,
  GOLDEN_OUTPUT,
  askOf,
  goldenClockMs,
  ledgerBench,
  reported,
  withLimits,
} from './golden-bench.ts';
import type { LedgerBench } from './golden-bench.ts';
import { golden, reserveSteps, settleOf } from './golden-file.ts';

const { edges } = golden;

describe('the trace', () => {
  test('every balance before and after, every refusal, every alert', async () => {
    const bench = ledgerBench();
    const holds = new Map<string, Held>();
    const both = async (step: { userKey: string; tenantKey: string }): Promise<{ user: number; tenant: number }> => ({
      user: await bench.used(step.userKey),
      tenant: await bench.used(step.tenantKey),
    });
    for (const step of golden.trace) {
      bench.clock.nowMs = Date.parse(step.at);
      const alertsBefore = alertTexts(bench).length;
      expect([step.id, step.op, await both(step)]).toEqual([step.id, step.op, step.before]);
      if (step.op === 'reserve') {
        const answer = await bench.ledger.reserve(askOf(step.user, step.id));
        if (step.outcome === 'reserved') {
          expect(answer).toMatchObject({ ok: true, value: { repeated: false } });
          if (answer.ok) holds.set(step.id, answer.value);
        } else {
          expect(answer).toMatchObject({
            ok: false,
            denial: {
              message: step.detail,
              retryAfterMs: step.retryAfter * 1_000,
              budget: {
                account: { scope: step.scope },
                kind: 'reached',
                needed: step.estimate,
                spent: step.wouldBe - step.estimate,
                held: 0,
                limit: step.limit,
                free: step.limit - (step.wouldBe - step.estimate),
                retryAfterSeconds: step.retryAfter,
              },
            },
          });
        }
      } else {
        const closed = await bench.ledger.resolve(holds.get(step.id)!, reported(step.input, step.output));
        expect(closed).toMatchObject({ state: 'settled', charge: { overrunTokens: 0, source: 'reported' } });
      }
      expect([step.id, step.op, await both(step)]).toEqual([step.id, step.op, step.after]);
      const told = alertTexts(bench).slice(alertsBefore);
      expect(told).toEqual(step.op === 'settle' && step.alert !== null ? [ALERT] : []);
    }
    for (const [key, used] of Object.entries(golden.final)) expect([key, await bench.used(key)]).toEqual([key, used]);
    expect(alertTexts(bench)).toHaveLength(golden.alerts.length);
    expect(await bench.ledger.audit()).toMatchObject({ ok: true, value: { sound: true, openHolds: 0, faults: [] } });
    for (const event of bench.events) expect(eventSchema.parse(event)).toEqual(event);
  });

  test('counts by who and by scope: from what the ledger tells', async () => {
    const bench = ledgerBench();
    for (const step of reserveSteps) {
      const answer = await bench.ledger.reserve(askOf(step.user, step.id));
      const settle = settleOf(step.id);
      if (answer.ok) await bench.ledger.resolve(answer.value, reported(settle!.input!, settle!.output!));
    }
    const told = bench.events.flatMap((event): unknown[] => {
      if (event.type === 'reservation-refused') {
        const { tenant, refusal } = event.line;
        return [{ name: 'rejections', add: 1, tags: { tenant, scope: refusal?.account.scope } }];
      }
      if (event.type !== 'reservation-closed') return [];
      const { tenant, user } = event.reservation.detail;
      const { inputTokens, outputTokens } = event.reservation.charge!;
      return [
        { name: 'tokens', add: inputTokens, tags: { tenant, user, direction: 'input' } },
        { name: 'tokens', add: outputTokens, tags: { tenant, user, direction: 'output' } },
      ];
    });
    const wanted = golden.metrics.map((one) => ({ ...one, name: one.name.split('.').at(-1) }));
    expect(told).toEqual(wanted);
  });

  test('the alert is told once, in figures used and left', async () => {
    const bench = ledgerBench();
    for (const [user, key] of [
      ['ada', 'a'],
      ['ada', 'b'],
      ['grace', 'c'],
      ['grace', 'd'],
    ] as const) {
      const held = await hold(bench, user, key);
      await bench.ledger.resolve(held, reported(1_930, 39));
    }
    // A small one more, above 80 % again.
    const held = await hold(bench, 'linus', 'e', { inputTokens: 10, outputTokens: 10 });
    await bench.ledger.resolve(held, reported(10, 10));
    expect(bench.events.filter((event) => event.type === 'budget-alerted').map((event) => event.alert)).toEqual([
      {
        account: {
          book: 'real',
          tenant: 'acme',
          scope: 'tenant',
          name: 'acme',
          window: 'month',
          period: '2026-11',
          unit: 'tokens',
        },
        percent: 80,
        used: 7_876,
        limit: 9_000,
        at: golden.clock,
        text: 'Tenant acme used 7,876 of 9,000 tokens this month, 1,124 left',
      },
    ]);
  });
});

describe('many at once', () => {
  test.each([
    ['one user', (): string => 'ada', edges.twentyConcurrentReservations.sameUser, 'user:ada:2026-11-14', 4_868],
    [
      'twenty users',
      (index: number): string => `u${index}`,
      edges.twentyConcurrentReservations.twentyUsers,
      'tenant:acme:2026-11',
      7_302,
    ],
  ] as const)('20 of %s', async (_who, userOf, wanted, key, reserved) => {
    const bench = ledgerBench();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => bench.ledger.reserve(askOf(userOf(index), `k${index}`))),
    );
    const refused = answers.flatMap((answer) => (answer.ok ? [] : [answer.denial.budget]));
    expect([answers.length - refused.length, refused.length]).toEqual([wanted.admitted, wanted.rejected]);
    // Nobody has spent anything yet: what is in the way are the holds of others, and they end.
    expect(refused.map((one) => [one?.account.scope, one?.kind])).toEqual(refused.map(() => [wanted.scope, 'held']));
    expect(await bench.used(key)).toBe(reserved);
    const shown = wanted as { userReserved?: number; tenantReserved?: number };
    expect(shown.userReserved ?? shown.tenantReserved).toBe(reserved);
  });

  test('one key many times is one hold', async () => {
    const bench = ledgerBench();
    const answers = await Promise.all(Array.from({ length: 20 }, () => bench.ledger.reserve(askOf('ada', 'same'))));
    expect(answers.map((answer) => answer.ok && answer.value.repeated)).toEqual([
      false,
      ...Array<boolean>(19).fill(true),
    ]);
    expect(await bench.used('user:ada:2026-11-14')).toBe(2_434);
  });
});

describe('edges', () => {
  test.each(edges.boundary)('a user limit of $userLimit and a need of $estimate', async ({ userLimit, admitted }) => {
    const bench = ledgerBench(withLimits({ user: userLimit }));
    const answer = await bench.ledger.reserve(askOf('ada', 'k'));
    expect(answer.ok).toBe(admitted);
    // More than the whole limit: waiting does not help, and nobody is told to.
    if (!answer.ok) {
      expect(answer.denial).toMatchObject({ code: 'user-day-limit-too-small', budget: { retryAfterSeconds: null } });
      expect(answer.denial.retryAfterMs).toBeUndefined();
    }
  });

  test('0 is nothing, empty is no limit', async () => {
    expect((await ledgerBench(withLimits({ user: 0 })).ledger.reserve(askOf('ada', 'k'))).ok).toBe(false);
    const free = ledgerBench(withLimits({ user: null, tenant: null }));
    for (let index = 0; index < 50; index += 1) await hold(free, 'ada', `k${index}`);
    expect(await free.used('user:ada:2026-11-14')).toBe(50 * 2_434);
  });

  test('a call over midnight is charged where it was reserved, and the new day begins with nothing', async () => {
    const bench = ledgerBench(undefined, Date.parse('2026-11-30T23:59:50.000Z'));
    const held = await hold(bench, 'ada', 'k');
    bench.clock.nowMs = Date.parse('2026-12-01T00:00:10.000Z');
    await bench.ledger.resolve(held, reported(1_930, 39));
    for (const [key, used] of Object.entries(edges.settleAfterMidnight.fixed)) {
      expect([key, await bench.used(key)]).toEqual([key, used]);
    }
    expect([await bench.used('user:ada:2026-12-01'), await bench.used('tenant:acme:2026-12')]).toEqual([0, 0]);
    // Also while it was open: the new day does not know of it.
    await hold(bench, 'ada', 'next');
    expect(await bench.used('user:ada:2026-12-01')).toBe(2_434);
  });

  test('a reply without counts is charged what was reserved, not its output twice', async () => {
    const bench = ledgerBench(withLimits({ user: edges.usageMissing.userLimit }));
    const held = await hold(bench, 'ada', 'k');
    await bench.ledger.resolve(held, settlementOf({ ...ended, outputTokensSeen: 0 }));
    expect(await bench.used('user:ada:2026-11-14')).toBe(edges.usageMissing.fixedUserUsed);
  });

  test('a dense script is charged, marked as overrun, and the next request waits for the next day', async () => {
    const bench = ledgerBench();
    const { estimate, actualIfOneTokenPerChar, overrun } = edges.denseScript;
    const held = await hold(bench, 'ada', 'k', { inputTokens: estimate - GOLDEN_OUTPUT });
    const closed = await bench.ledger.resolve(held, reported(actualIfOneTokenPerChar - 39, 39));
    expect(closed?.charge?.overrunTokens).toBe(overrun);
    const view = await bench.ledger.view('real');
    expect(view.ok && view.value.balances.find(({ account }) => account.name === 'ada')).toMatchObject({
      spent: actualIfOneTokenPerChar,
      overrun,
      free: 0,
    });
    const next = await bench.ledger.reserve(askOf('ada', 'next', { inputTokens: 1, outputTokens: 1 }));
    expect(next).toMatchObject({ ok: false, denial: { code: 'user-day-limit-reached', retryAfterMs: 4_558_000 } });
    bench.clock.nowMs += 4_558_000;
    expect((await bench.ledger.reserve(askOf('ada', 'tomorrow', { inputTokens: 1, outputTokens: 1 }))).ok).toBe(true);
    expect(await bench.ledger.audit()).toMatchObject({ ok: true, value: { sound: true } });
  });

  test.each([
    ['forfeit', edges.cancelled.userUsed, 'forfeited'],
    ['observed', edges.cancelled.tokensActuallyGenerated.released, 'settled'],
  ] as const)('a call that was stopped, under %s', async (onCancel, used, state) => {
    const bench = ledgerBench();
    const held = await hold(bench, 'ada', 'k');
    const { prompt, generated } = edges.cancelled.tokensActuallyGenerated;
    const stopped: EndedCall = {
      ...ended,
      reply: { ...ended.reply, ending: 'aborted', abortedBy: 'person' },
      inputTokensLikely: prompt,
      outputTokensSeen: generated,
      onCancel,
    };
    expect(await bench.ledger.resolve(held, settlementOf(stopped))).toMatchObject({ state });
    expect(await bench.used('user:ada:2026-11-14')).toBe(used);
  });

  test('users of two tenants with one name do not share a day', async () => {
    const bench = ledgerBench(withLimits({ user: 2_434 }));
    for (const tenant of edges.keyCollision.tenants) {
      const answer = await bench.ledger.reserve(askOf('ada', 'same key', { payer: { tenant, user: 'ada' } }));
      expect(answer).toMatchObject({ ok: true, value: { repeated: false } });
      expect(await bench.used('user:ada:2026-11-14', tenant)).toBe(2_434);
    }
  });

  test('eighty percent, for every limit from 1 to 20,000: used x 5 >= limit x 4, in whole numbers', () => {
    const account: Account = {
      book: 'real',
      tenant: 't',
      scope: 'tenant',
      name: 't',
      window: 'month',
      period: 'p',
      unit: 'tokens',
    };
    const about = {
      account,
      key: accountKey(account),
      granted: 0,
      held: 0,
      overrun: 0,
      endsAtMs: null,
      timeZone: 'UTC',
    };
    const told = (spent: number, limit: number): boolean =>
      crossingsOf({ ...about, spent, limit, alerts: [{ percent: 80, raised: false }] }).length === 1;
    const wrong: number[] = [];
    for (let limit = 1; limit <= 20_000; limit += 1) {
      const first = Math.ceil((limit * 4) / 5);
      const isRight = first * 5 >= limit * 4 && (first - 1) * 5 < limit * 4;
      if (!isRight || !told(first, limit) || told(first - 1, limit)) wrong.push(limit);
    }
    expect(wrong).toEqual([]);
    expect([told(7_200, 9_000), told(7_199, 9_000), told(0, 0)]).toEqual([true, false, false]);
  });

  test.each(edges.retryAfterUser.rows)('at $clock a user is told to wait $ceil s', async ({ clock, ceil }) => {
    const bench = ledgerBench(withLimits({ user: 3_000 }), Date.parse(clock));
    await bench.ledger.resolve(await hold(bench, 'ada', 'k'), reported(1_930, 39));
    const answer = await bench.ledger.reserve(askOf('ada', 'next'));
    expect(answer).toMatchObject({
      ok: false,
      denial: { retryAfterMs: ceil * 1_000, budget: { account: { scope: 'user' } } },
    });
    // The promise holds: after that many seconds it fits.
    bench.clock.nowMs += ceil * 1_000;
    expect((await bench.ledger.reserve(askOf('ada', 'after'))).ok).toBe(true);
  });

  test('a tenant is told an hour, though its month has 1,386,958 s left', async () => {
    const { endsAtMs } = periodOf('month', goldenClockMs, { timeZone: 'UTC', resetHour: 0, weekStartsOn: 1 });
    expect(((endsAtMs ?? 0) - goldenClockMs) / 1_000).toBe(edges.retryAfterTenant.secondsToMonthEnd);
    const bench = ledgerBench(withLimits({ tenant: 3_000 }));
    await bench.ledger.resolve(await hold(bench, 'ada', 'k'), reported(1_930, 39));
    const answer = await bench.ledger.reserve(askOf('grace', 'next'));
    expect(answer).toMatchObject({ ok: false, denial: { retryAfterMs: edges.retryAfterTenant.value * 1_000 } });
  });

  test('of two scopes that are both used up, the user is told', async () => {
    const bench = ledgerBench(withLimits({ user: 3_000, tenant: 3_000 }));
    await bench.ledger.resolve(await hold(bench, 'ada', 'k'), reported(1_930, 39));
    const answer = await bench.ledger.reserve(askOf('ada', 'next'));
    expect(answer).toMatchObject({ ok: false, denial: { code: 'user-day-limit-reached' } });
  });
});

const ALERT = 'Tenant acme used 7,877 of 9,000 tokens this month, 1,123 left';

const ended: EndedCall = {
  reply: { ending: 'done', abortedBy: null, status: 200, promptEvalCount: null, evalCount: null },
  wasSent: true,
  outputTokensSeen: 0,
  reservedInputTokens: GOLDEN_INPUT,
  reservedOutputTokens: GOLDEN_OUTPUT,
  inputTokensLikely: 1_930,
  onCancel: 'forfeit',
};

function alertTexts(bench: LedgerBench): string[] {
  return bench.events.flatMap((event) => (event.type === 'budget-alerted' ? [event.alert.text] : []));
}

async function hold(
  bench: LedgerBench,
  user: string,
  key: string,
  change: Parameters<typeof askOf>[2] = {},
): Promise<Held> {
  const answer = await bench.ledger.reserve(askOf(user, key, change));
  if (!answer.ok) throw new Error(answer.denial.message);
  return answer.value;
}
