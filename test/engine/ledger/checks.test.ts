/** What a store refuses before it looks at a balance: by the name of the field, and without a trace. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Result } from '../../../shared/contract/denials.ts';
import { AMOUNT_MAX } from '../../../shared/contract/plans.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { GrantAsk, LedgerStore, ReserveAsk, ResolveAsk } from '../../../shared/engine/ledger/store.ts';
import { lineFor, reserveAsk, resolveAsk } from './ledger-world.ts';
import type { Who } from './ledger-world.ts';

const start = Date.parse('2026-11-14T22:44:02Z');
const who: Who = { book: 'real', tenant: 0, user: 0, model: 0 };
const lines = [1, 4, 5].map((kind) => lineFor(who, kind, 5, 100, start));
const reserve = (id: string): ReserveAsk => reserveAsk(who, lines, { id, key: id, atMs: start });
const settle = (): ResolveAsk => resolveAsk({ id: 'held', book: 'real', tenant: 'acme' }, 'settle', 5, start);
const grant = (): GrantAsk => ({ ...lines[0]!, amount: 5, atMs: start, owner: 'home/1', reason: 'more' });

/** No whole number from 0 to AMOUNT_MAX, whatever else it is. */
const noAmount = fc.oneof(
  fc.constantFrom<unknown>(NaN, Infinity, -Infinity, -0, -1, 0.1, AMOUNT_MAX + 1, 2 ** 53, 1e300, Number.MIN_VALUE),
  fc.constantFrom<unknown>('', '5', '0.05', '1e3', true, false, undefined, 5n, [], [5], {}, new Date(0)),
  fc.integer({ max: -1 }),
  fc.double().filter((value) => !Number.isInteger(value)),
  fc.bigInt(),
  fc.string(),
);
const noTime = noAmount.filter(
  (value) => !(typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e14),
);

describe('what is no amount is refused by the name of its field', () => {
  const amounts = [
    'lines.0.amount',
    'lines.2.amount',
    'lines.1.limit',
    'detail.inputTokens',
    'detail.outputTokens',
    'detail.sentTokensEstimated',
  ];
  test.each(amounts)('reserve: %s', (path) =>
    refuses(noAmount, path, reserve('next'), (store, ask) => store.reserve(ask)),
  );

  test.each(['charge.tokens', 'charge.nano-dollars', 'charge.requests', 'inputTokens', 'outputTokens'])(
    'resolve: %s',
    (path) => refuses(noAmount, path, settle(), (store, ask) => store.resolve(ask)),
  );

  test.each(['amount', 'limit'])('grant: %s', (path) =>
    refuses(noAmount, path, grant(), (store, ask) => store.grant(ask)),
  );
});

describe('what is no time is refused by the name of its field', () => {
  test.each(['atMs', 'expiresAtMs', 'lines.0.startsAtMs', 'lines.2.endsAtMs'])('reserve: %s', (path) =>
    refuses(noTime, path, reserve('next'), (store, ask) => store.reserve(ask)),
  );
  test('resolve', () => refuses(noTime, 'atMs', settle(), (store, ask) => store.resolve(ask)));
  test('grant', () => refuses(noTime, 'atMs', grant(), (store, ask) => store.grant(ask)));
});

describe('a charge that its operation does not have', () => {
  const some = { tokens: 1, 'nano-dollars': 0, requests: 0 };
  test.each([
    ['settle', null, 'charge'],
    ['void', null, 'charge'],
    ['void', some, 'charge.tokens'],
    ['forfeit', some, 'charge'],
    ['expire', some, 'charge'],
  ] as const)('%s with %o', async (operation, charge, field) => {
    const store = await withHold();
    const answer = await store.resolve({ ...settle(), operation, charge });
    expect(answer).toMatchObject({ ok: false, denial: { code: 'bad-input', field } });
    expect(await store.reservations({ book: 'real', closed: 5 })).toMatchObject({ value: [{ state: 'open' }] });
  });
});

test('the same account twice in one reservation', async () => {
  const store = await withHold();
  const answer = await store.reserve({ ...reserve('next'), lines: [lines[0]!, lines[1]!, lines[0]!] });
  expect(answer).toMatchObject({ ok: false, denial: { code: 'bad-input', field: 'lines[2].account' } });
});

test('the largest amounts there are pass', async () => {
  const store = createMemoryStore({ nowMs: () => start });
  const line = { ...lines[0]!, amount: AMOUNT_MAX, limit: AMOUNT_MAX };
  expect(await store.reserve({ ...reserve('held'), lines: [line] })).toMatchObject({ value: { outcome: 'reserved' } });
  const charge = { tokens: AMOUNT_MAX, 'nano-dollars': AMOUNT_MAX, requests: 0 };
  expect(await store.resolve({ ...settle(), charge })).toMatchObject({ value: { reservation: { state: 'settled' } } });
});

async function withHold(): Promise<LedgerStore> {
  const store = createMemoryStore({ nowMs: () => start });
  expect(await store.reserve(reserve('held'))).toMatchObject({ value: { outcome: 'reserved' } });
  return store;
}

async function refuses<Ask>(
  values: fc.Arbitrary<unknown>,
  path: string,
  ask: Ask,
  say: (store: LedgerStore, ask: Ask) => Promise<Result<unknown>>,
): Promise<void> {
  const store = await withHold();
  const before = await everything(store);
  const field = path.replace(/\.(\d+)/g, '[$1]');
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      expect(await say(store, changed(ask, path.split('.'), value))).toMatchObject({
        ok: false,
        denial: { code: 'bad-input', field, message: expect.stringContaining(field) as string },
      });
    }),
  );
  expect(await everything(store)).toEqual(before);
  // The ask itself was right.
  expect(await say(store, ask)).toMatchObject({ ok: true });
}

async function everything(store: LedgerStore): Promise<unknown> {
  return [
    await store.entries({ book: 'real', limit: 100 }),
    await store.current({ book: 'real', atMs: start, limit: 100 }),
    await store.reservations({ book: 'real', closed: 100 }),
  ];
}

function changed<Ask>(ask: Ask, [name, ...rest]: readonly string[], value: unknown): Ask {
  const copy = (Array.isArray(ask) ? [...(ask as unknown[])] : { ...ask }) as Record<string, unknown>;
  copy[name!] = rest.length === 0 ? value : changed(copy[name!], rest, value);
  return copy as Ask;
}
