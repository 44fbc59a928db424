/** Tokens and requests a minute, which roll: no clock boundary lets twice as much through. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bench, conserved, prose, reply, user } from './bench.ts';

const minute = (
  unit: 'tokens' | 'requests',
  limit: number,
): { scope: 'user'; window: 'minute'; unit: typeof unit; limit: number } => ({
  scope: 'user',
  window: 'minute',
  unit,
  limit,
});

describe('tokens a minute', () => {
  test('five times 120,000 characters within one are refused at the third, and pass after it', async () => {
    const big = { messages: [user(prose(120_000))], numCtx: 65_536 };
    const made = bench({
      plan: { budgets: [minute('tokens', 100_000)] },
      scripts: Array.from({ length: 4 }, () => reply(40_000, 90)),
    });
    const codes: (string | null)[] = [];
    for (let call = 0; call < 5; call += 1) {
      codes.push((await made.call(big)).denial?.code ?? null);
      made.advance(5_000);
    }
    expect(codes).toEqual([null, null, ...Array.from({ length: 3 }, () => 'user-minute-limit-reached')]);
    expect(made.model.asked).toHaveLength(2);
    // The first went out at second 0; now it is second 25. Told is the second in which it leaves the minute.
    const { denial } = await made.call(big);
    expect(denial).toMatchObject({ retryAfterMs: 36_000, budget: { spent: 80_180, limit: 100_000, needed: 40_100 } });
    made.advance(35_999);
    expect((await made.call(big)).denial?.code).toBe('user-minute-limit-reached');
    made.advance(1);
    expect((await made.call(big)).denial).toBeNull();
    await conserved(made);
  });

  test('one that is larger than the minute says that waiting does not help', async () => {
    const made = bench({ plan: { budgets: [minute('tokens', 1_000)] } });
    const { denial } = await made.call({ messages: [user(prose(120_000))] });
    expect(denial).toMatchObject({
      code: 'user-minute-limit-too-small',
      next: 'Shorten it, allow less output, or raise the limit.',
    });
    expect(denial?.retryAfterMs).toBeUndefined();
  });
});

describe('requests a minute', () => {
  test('the fourth of three waits, and passes when told', async () => {
    const made = bench({
      plan: { budgets: [minute('requests', 3)] },
      scripts: Array.from({ length: 4 }, () => reply(1, 1)),
    });
    for (let call = 0; call < 3; call += 1) expect((await made.call()).denial).toBeNull();
    const { denial } = await made.call();
    expect(denial).toMatchObject({
      code: 'user-minute-limit-reached',
      message: 'Request budget exhausted for user ada.',
    });
    made.advance((denial?.retryAfterMs ?? 0) - 1_000);
    expect((await made.call()).denial?.code).toBe('user-minute-limit-reached');
    made.advance(1_000);
    expect((await made.call()).denial).toBeNull();
  });

  test('whenever they come: never more than the limit in any 60 seconds, and the time that is told is enough', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 25 }),
        async (limit, pauses) => {
          const made = bench({
            plan: { budgets: [minute('requests', limit)] },
            scripts: Array.from({ length: 60 }, () => reply(1, 1)),
          });
          const passed: number[] = [];
          for (const pause of pauses) {
            made.advance(pause);
            const { denial } = await made.call();
            if (denial === null) passed.push(made.nowMs());
            else {
              made.advance(denial.retryAfterMs ?? 0);
              expect((await made.call()).denial).toBeNull();
              passed.push(made.nowMs());
            }
          }
          for (const at of passed) {
            expect(passed.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(limit);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
