/** What a view of the ledger tells of its accounts: the last ones, those that are searched for, and those that are free still. */
import { expect, test } from 'vitest';
import { directorySchema } from '../../../shared/contract/plans.ts';
import type { Balance, LedgerView } from '../../../shared/contract/ledger.ts';
import { type Ledger, createLedger } from '../../../shared/engine/ledger/ledger.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import { reserveOf } from '../../node/ledger/asks.ts';
import { START_MS } from '../../node/ledger/asks.ts';

const USERS = 600;
const userOf = (index: number): string => `user-${String(index).padStart(3, '0')}`;
const directory = directorySchema.parse({
  plans: [{ name: 'p', budgets: [{ scope: 'user', window: 'day', unit: 'tokens', limit: 6_000 }] }],
  tenants: [{ id: 'acme', plan: 'p' }],
  users: Array.from({ length: USERS + 5 }, (_, index) => ({ tenant: 'acme', id: userOf(index), plan: 'p' })),
  defaultPlan: 'p',
});

/** The first 600 of 605 listed users hold 7 each, one after the other. */
async function crowd(): Promise<Ledger> {
  const store = createMemoryStore({ nowMs: () => START_MS });
  for (let index = 0; index < USERS; index += 1)
    await store.reserve(reserveOf([{ name: userOf(index), amount: 7, limit: 6_000 }]));
  return createLedger({
    store,
    directory: () => directory,
    prices: () => null,
    newId: () => 'id',
    owner: 'home/1',
    clockOffsetMs: () => 0,
    events: { emit: () => undefined },
  });
}

async function viewed(ledger: Ledger, search?: string): Promise<Omit<LedgerView, 'state'>> {
  const view = await ledger.view('simulated', search);
  if (!view.ok) throw new Error(view.denial.message);
  return view.value;
}

const heldOf = (balances: readonly Balance[]): unknown => balances.map(({ account, held }) => [account.name, held]);

test('a search finds accounts beyond the last 500, and those that nobody has called on', async () => {
  const ledger = await crowd();
  expect(heldOf((await viewed(ledger, 'USER-003')).balances)).toEqual([['user-003', 7]]);
  expect(heldOf((await viewed(ledger, 'user-604 acme')).balances)).toEqual([['user-604', 0]]);
  expect(heldOf((await viewed(ledger, 'user-60')).balances)).toEqual([
    ['user-600', 0],
    ['user-601', 0],
    ['user-602', 0],
    ['user-603', 0],
    ['user-604', 0],
  ]);
  expect((await viewed(ledger, 'nobody')).balances).toEqual([]);
  // The rest of the view is as without it.
  expect((await viewed(ledger, 'nobody')).reservations).toHaveLength(USERS);
});

test('a full view says of nobody that all is free who only stands further back', async () => {
  const { balances } = await viewed(await crowd());
  expect(balances.length).toBeGreaterThan(500);
  expect(balances.filter(({ held }) => held === 0)).toEqual([]);
  expect(new Set(balances.map(({ key }) => key)).size).toBe(balances.length);
});
