/** The service beside the golden trace: a store that is away, counts that cannot be, restarts, expiry, grants, refusals. */
import { describe, expect, test } from 'vitest';
import { denied } from '../../../shared/contract/denials.ts';
import { AMOUNT_MAX } from '../../../shared/contract/plans.ts';
import { HOLD_GRACE_MS } from '../../../shared/engine/ledger/ledger.ts';
import type { Held } from '../../../shared/engine/ledger/ledger.ts';
import type { LedgerStore } from '../../../shared/engine/ledger/store.ts';
import { askOf, ledgerBench, reported, withLimits } from './golden-bench.ts';
import type { LedgerBench } from './golden-bench.ts';

const DAY = 'user:ada:2026-11-14';

describe('settlements', () => {
  test('while the store is away they wait, and are made once when it is back', async () => {
    const bench = ledgerBench();
    const held = await hold(bench, 'ada', 'k');
    const store = bench.store as { -readonly [Name in keyof LedgerStore]: LedgerStore[Name] };
    const { resolve } = store;
    store.resolve = async () => denied('ledger-unavailable', 'Redis is away.');
    expect(await bench.ledger.resolve(held, reported(1_930, 39))).toBeNull();
    await bench.ledger.tend();
    expect(await bench.used(DAY)).toBe(2_434);
    store.resolve = resolve;
    await bench.ledger.tend();
    await bench.ledger.tend();
    expect(await bench.used(DAY)).toBe(1_969);
    expect(bench.events.map(({ type }) => type)).toEqual(['reservation-opened', 'reservation-closed']);
  });

  test.each([
    ['a count that is no amount', AMOUNT_MAX + 1],
    ['a count that is no safe number', 2 ** 60],
    ['a count that leaves no room for others', AMOUNT_MAX],
  ])('%s: the whole reservation stays, and the hold is closed', async (_what, tokens) => {
    const bench = ledgerBench();
    const held = await hold(bench, 'ada', 'k');
    const closed = await bench.ledger.resolve(held, reported(tokens, 39));
    expect(closed).toMatchObject({
      state: 'forfeited',
      charge: { inputTokens: 2_034, outputTokens: 400, source: 'reserved', overrunTokens: 0 },
    });
    expect(await bench.used(DAY)).toBe(2_434);
    expect(await bench.ledger.audit()).toMatchObject({ value: { sound: true, openHolds: 0 } });
  });

  test('the same one twice changes nothing and tells nothing', async () => {
    const bench = ledgerBench();
    const held = await hold(bench, 'ada', 'k');
    const first = await bench.ledger.resolve(held, reported(1_930, 39));
    expect(await bench.ledger.resolve(held, reported(1, 1))).toEqual(first);
    expect(await bench.used(DAY)).toBe(1_969);
    expect(bench.events.filter(({ type }) => type === 'reservation-closed')).toHaveLength(1);
  });
});

describe('holds that nobody ends', () => {
  test('expire by their time and a grace, once, charged as reserved, and are told', async () => {
    const bench = ledgerBench();
    const held = await hold(bench, 'ada', 'k');
    bench.clock.nowMs += 30_000 + HOLD_GRACE_MS - 1;
    await bench.ledger.tend();
    expect(bench.events.map(({ type }) => type)).toEqual(['reservation-opened']);
    bench.clock.nowMs += 1;
    await bench.ledger.tend();
    await bench.ledger.tend();
    expect(bench.events.slice(1)).toMatchObject([
      { type: 'reservation-closed', reservation: { state: 'expired', charge: { source: 'reserved' } } },
    ]);
    // The call ends after all: its settlement comes too late and changes nothing.
    expect(await bench.ledger.resolve(held, reported(1, 1))).toMatchObject({ state: 'expired' });
    expect(await bench.used(DAY)).toBe(2_434);
  });

  test('of a console that is gone are forfeited at the next start, and only those', async () => {
    const bench = ledgerBench();
    await hold(bench, 'ada', 'mine');
    await hold(bench, 'grace', 'done').then((held) => bench.ledger.resolve(held, reported(1, 1)));
    expect(await bench.ledger.recover((owner) => owner === 'other/1')).toEqual({ ok: true, value: [] });
    const recovered = await bench.ledger.recover((owner) => owner.startsWith('home/'));
    expect(recovered).toMatchObject({ ok: true, value: [{ key: 'mine', state: 'forfeited' }] });
    expect(await bench.ledger.recover(() => true)).toEqual({ ok: true, value: [] });
    expect(await bench.used(DAY)).toBe(2_434);
  });
});

test('a grant lets in what was refused, in its period only', async () => {
  const bench = ledgerBench(withLimits({ user: 3_000 }));
  await bench.ledger.resolve(await hold(bench, 'ada', 'k'), reported(1_930, 39));
  expect((await bench.ledger.reserve(askOf('ada', 'next'))).ok).toBe(false);
  const about = { book: 'real', tenant: 'acme', scope: 'user', name: 'ada', window: 'day', unit: 'tokens' } as const;
  const missing = 1_969 + 2_434 - 3_000;
  expect(await bench.ledger.grant({ ...about, amount: missing - 1, reason: 'a' })).toMatchObject({
    ok: true,
    value: { limit: 3_000 + missing - 1 },
  });
  expect((await bench.ledger.reserve(askOf('ada', 'next'))).ok).toBe(false);
  expect(await bench.ledger.grant({ ...about, amount: 1, reason: 'b' })).toMatchObject({ value: { granted: missing } });
  expect((await bench.ledger.reserve(askOf('ada', 'next'))).ok).toBe(true);
  bench.clock.nowMs += 86_400_000;
  await hold(bench, 'ada', 'tomorrow');
  expect((await bench.ledger.reserve(askOf('ada', 'tomorrow 2'))).ok).toBe(false);
  expect(await bench.ledger.grant({ ...about, window: 'week', amount: 1, reason: '' })).toMatchObject({
    ok: false,
    denial: { field: 'window' },
  });
});

test('equal refusals are one line with a count', async () => {
  const bench = ledgerBench(withLimits({ user: 2_434 }));
  await hold(bench, 'ada', 'k');
  for (let index = 0; index < 5; index += 1) {
    await bench.ledger.reserve(askOf('ada', `r${index}`));
    bench.clock.nowMs += 1_000;
  }
  const view = await bench.ledger.view('real');
  expect(view).toMatchObject({
    value: {
      refusals: [
        {
          code: 'user-day-limit-held',
          user: 'ada',
          count: 5,
          firstAt: '2026-11-14T22:44:02.000Z',
          lastAt: '2026-11-14T22:44:06.000Z',
        },
      ],
    },
  });
});

test('what is held by others is another refusal than what is used up, and waits for the first to end', async () => {
  const bench = ledgerBench(withLimits({ user: 3_000 }));
  const held = await hold(bench, 'ada', 'k');
  bench.clock.nowMs += 500;
  const waits = await bench.ledger.reserve(askOf('ada', 'next'));
  expect(waits).toMatchObject({ denial: { code: 'user-day-limit-held', retryAfterMs: 90_000 } });
  await bench.ledger.resolve(held, reported(1_930, 39));
  const ends = await bench.ledger.reserve(askOf('ada', 'next'));
  expect(ends).toMatchObject({ denial: { code: 'user-day-limit-reached', retryAfterMs: 4_558_000 } });
});

async function hold(bench: LedgerBench, user: string, key: string): Promise<Held> {
  const answer = await bench.ledger.reserve(askOf(user, key));
  if (!answer.ok) throw new Error(answer.denial.message);
  return answer.value;
}
