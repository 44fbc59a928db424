import { describe, expect, test } from 'vitest';
import { balanceSchema } from '../../../shared/contract/ledger.ts';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { DEFAULT_DIRECTORY, LOCAL_PAYER, directorySchema } from '../../../shared/contract/plans.ts';
import { leftSentence, payerView, shortBy } from '../../../renderer/pages/live/payer-left.ts';

const ada = { tenant: 'acme', user: 'ada' };
const needs = { tokens: 2_434, model: 'llama3.2:3b' };

function balance(scope: 'user' | 'tenant' | 'model', name: string, patch: Record<string, unknown> = {}): Balance {
  const window = scope === 'user' ? 'day' : 'month';
  const period = scope === 'user' ? '2026-11-14' : '2026-11';
  return balanceSchema.parse({
    key: `${scope}/${name}`,
    account: { book: 'simulated', tenant: 'acme', scope, name, window, period, unit: 'tokens' },
    limit: scope === 'user' ? 6_000 : 9_000,
    granted: 0,
    spent: 3_937,
    held: 0,
    free: scope === 'user' ? 2_063 : 5_063,
    overrun: 0,
    endsAt: scope === 'user' ? '2026-11-15T00:00:00.000Z' : '2026-12-01T00:00:00.000Z',
    timeZone: 'UTC',
    alerts: [],
    ...patch,
  });
}

describe('what a payer has left', () => {
  test('the tightest limit is told, in the words of its period, beside what the call would hold', () => {
    const { left, name } = payerView(
      ada,
      DEFAULT_DIRECTORY,
      [balance('user', 'ada'), balance('tenant', 'acme')],
      needs,
    );
    expect(name).toBe('ada, acme');
    expect(left.map(leftSentence)).toEqual([
      'ada: 2,063 of 6,000 left today; this call would hold 2,434',
      'acme: 5,063 of 9,000 left this month; this call would hold 2,434',
    ]);
    expect(left.map(shortBy)).toEqual([371, null]);
  });

  test('who was never seen has the whole limit of the plan', () => {
    const { left } = payerView({ tenant: 'acme', user: 'new' }, DEFAULT_DIRECTORY, [], needs);
    expect(left.map(({ scope, free }) => [scope, free])).toEqual([
      ['user', 6_000],
      ['tenant', 9_000],
    ]);
  });

  test('local has no limits, and says so; a listed plan beats that of the tenant', () => {
    expect(payerView(LOCAL_PAYER, DEFAULT_DIRECTORY, [], needs)).toEqual({
      name: 'as local (no limits)',
      plan: 'lab',
      left: [],
    });
    const own = directorySchema.parse({ ...DEFAULT_DIRECTORY, users: [{ tenant: 'acme', id: 'ada', plan: 'lab' }] });
    expect(payerView(ada, own, [], needs).left.map(({ scope }) => scope)).toEqual(['tenant']);
  });

  test('balances of others, of other tenants and of a period that is over do not count', () => {
    const { left } = payerView(
      ada,
      DEFAULT_DIRECTORY,
      [
        balance('user', 'grace', { free: 1 }),
        balance('user', 'ada', { free: 5_000 }),
        balance('user', 'ada', { free: 2, endsAt: '2026-11-14T00:00:00.000Z' }),
        {
          ...balance('user', 'ada', { free: 3, endsAt: '2026-11-16T00:00:00.000Z' }),
          account: { ...balance('user', 'ada').account, tenant: 'other' },
        },
      ],
      needs,
    );
    expect(left.map(({ scope, free }) => [scope, free])).toEqual([
      ['user', 5_000],
      ['tenant', 9_000],
    ]);
  });

  test('a grant raises the limit, and a limit the plan no longer has holds nobody back', () => {
    const granted = balance('user', 'ada', { limit: 8_000, granted: 2_000, free: 4_063 });
    expect(payerView(ada, DEFAULT_DIRECTORY, [granted], needs).left[0]).toMatchObject({ limit: 8_000, free: 4_063 });
    const gone = balance('model', needs.model);
    expect(payerView(ada, DEFAULT_DIRECTORY, [gone], needs).left.map(({ scope }) => scope)).toEqual(['user', 'tenant']);
  });

  test('requests need one, and of money nothing is claimed here', () => {
    const directory = directorySchema.parse({
      ...DEFAULT_DIRECTORY,
      plans: [
        {
          name: 'lab',
          budgets: [
            { scope: 'user', window: 'minute', unit: 'requests', limit: 5 },
            { scope: 'user', window: 'day', unit: 'nano-dollars', limit: 2_000_000_000 },
          ],
        },
      ],
      tenants: [],
      users: [],
    });
    const { left } = payerView(ada, directory, [], needs);
    expect(left.map(leftSentence).sort()).toEqual([
      'ada: $2 of $2 left today',
      'ada: 5 of 5 calls left this minute; this call would hold 1',
    ]);
  });
});
