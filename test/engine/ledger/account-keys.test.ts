import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountKey, books } from '../../../shared/contract/ledger.ts';
import type { Account } from '../../../shared/contract/ledger.ts';
import { budgetScopes, budgetUnits, budgetWindows } from '../../../shared/contract/plans.ts';
import { accountOfKey } from '../../../shared/engine/ledger/balances.ts';

// Names of the marks that keys are made of, besides any text.
const name = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', '3', '0', ':', '%', '{', '}', ' ', '\u2003', '\u00a0', '%3a', '%20', '\n'),
    minLength: 1,
  }),
  fc.string({ unit: 'binary', minLength: 1 }),
);
const account: fc.Arbitrary<Account> = fc.record({
  book: fc.constantFrom(...books),
  tenant: name,
  scope: fc.constantFrom(...budgetScopes),
  name,
  window: fc.constantFrom(...budgetWindows),
  period: fc.constantFrom('run', 'rolling', '2026-11', '2026-11-14', 'w2026-11-09'),
  unit: fc.constantFrom(...budgetUnits),
});

test('a key says its account, so that no two share one', () => {
  fc.assert(
    fc.property(account, (one) => {
      const key = accountKey(one);
      expect(accountOfKey(key)).toEqual(one);
      expect(key.split(':')).toHaveLength(7);
      expect(key).not.toMatch(/[ \t\n{}]/);
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ['a 03b', 'a\u2003b'],
  ['a:b', 'a%3ab'],
  ['a', 'a '],
])('"%s" and "%s" are two', (first, second) => {
  const about = {
    book: 'real',
    tenant: 't',
    scope: 'user',
    window: 'day',
    period: '2026-11-14',
    unit: 'tokens',
  } as const;
  expect(accountKey({ ...about, name: first })).not.toBe(accountKey({ ...about, name: second }));
});

test.each([
  '',
  'a:b',
  'real:t:user:ada:day:2026-11-14',
  'real:t:user:a b:day:2026-11-14:tokens',
  'real:t:user:%zz:day:p:tokens',
])('"%s" is no key', (text) => expect(accountOfKey(text)).toBeNull());
