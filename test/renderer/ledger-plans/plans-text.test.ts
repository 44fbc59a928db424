import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import {
  AMOUNT_MAX,
  ASSISTANT_PLAN,
  LAB_PLAN,
  budgetScopes,
  budgetUnits,
  budgetWindows,
  planSchema,
} from '../../../shared/contract/plans.ts';
import { readDollars } from '../../../renderer/pages/ledger/plans-money.ts';
import { planField, readPlan, textOfPlan, withFieldText } from '../../../renderer/pages/ledger/plans-text.ts';
import type { PlanText } from '../../../renderer/pages/ledger/plans-text.ts';
import { standingWarnings } from '../../../renderer/pages/ledger/plans-warning.tsx';
import { withPlan, withoutPlan } from '../../../renderer/pages/ledger/plans-store.ts';
import { DEFAULT_DIRECTORY, directorySchema } from '../../../shared/contract/plans.ts';

const assistant = textOfPlan(ASSISTANT_PLAN);
const problems = (text: PlanText, others = [LAB_PLAN]): Readonly<Record<string, string>> => {
  const read = readPlan(text, others);
  return 'problems' in read ? read.problems : {};
};
const limits = (patch: Partial<PlanText['limits']>): PlanText => ({
  ...assistant,
  limits: { ...assistant.limits, ...patch },
});
const budget = (patch: Partial<PlanText['budgets'][number]>): PlanText => ({
  ...assistant,
  budgets: assistant.budgets.map((row, at) => (at === 0 ? { ...row, ...patch } : row)),
});

const limit = fc.option(fc.integer({ min: 0, max: 10_000_000_000 }), { nil: null });
const anyPlan = fc
  .record({
    name: fc.stringMatching(/^[A-Za-z0-9 ä'"<>]{1,60}$/).filter((name) => name.trim() !== ''),
    limits: fc.record({
      messageCharactersMax: limit,
      conversationTokensMax: limit,
      outputTokensMax: limit,
      wallClockMsMax: limit,
      bodyBytesMax: limit,
      models: fc.option(fc.uniqueArray(fc.stringMatching(/^[a-z0-9.:/-]{1,30}$/), { maxLength: 5 }), {
        nil: null,
      }),
    }),
    onConversationOverflow: fc.constantFrom('refuse' as const, 'summarise' as const),
    budgets: fc.uniqueArray(
      fc.record({
        scope: fc.constantFrom(...budgetScopes),
        window: fc.constantFrom(...budgetWindows),
        unit: fc.constantFrom(...budgetUnits),
        limit: fc.option(fc.integer({ min: 0, max: AMOUNT_MAX }), { nil: null }),
        alertsPercent: fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }),
        retryAfterSeconds: fc.option(fc.integer({ min: 1, max: 31_622_400 }), { nil: null }),
      }),
      { maxLength: 8, selector: ({ scope, window, unit }) => `${scope} ${window} ${unit}` },
    ),
    timeZone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/Los_Angeles'),
    resetHour: fc.integer({ min: 0, max: 23 }),
    weekStartsOn: fc.integer({ min: 1, max: 7 }),
    onCancel: fc.constantFrom('forfeit' as const, 'observed' as const),
    overrun: fc.constantFrom('mark' as const, 'strict' as const),
    prices: fc.constantFrom(null, { name: 'Big model', date: '2026-11-14' }),
  })
  .map((plan) => planSchema.parse(plan));

describe('a plan as text', () => {
  test('any plan comes back from its boxes as it was', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        expect(readPlan(textOfPlan(plan), [])).toEqual({ plan });
      }),
      { numRuns: 300 },
    );
  });

  test('the wall clock stands in seconds, money in dollars', () => {
    expect(assistant.limits.wallClockMsMax).toBe('30');
    expect(
      textOfPlan({ ...ASSISTANT_PLAN, limits: { ...ASSISTANT_PLAN.limits, wallClockMsMax: 1_050 } }).limits,
    ).toMatchObject({
      wallClockMsMax: '1.05',
    });
    const read = readPlan(budget({ unit: 'nano-dollars', limit: '2.50' }), []);
    expect('plan' in read && read.plan.budgets[0]).toMatchObject({ unit: 'nano-dollars', limit: 2_500_000_000 });
  });

  test('empty is no limit and 0 allows nothing; grouped figures are read', () => {
    const read = readPlan(limits({ outputTokensMax: '', messageCharactersMax: '0', bodyBytesMax: '32,768' }), []);
    expect('plan' in read && read.plan.limits).toMatchObject({
      outputTokensMax: null,
      messageCharactersMax: 0,
      bodyBytesMax: 32_768,
    });
  });
});

describe('what is wrong stands at its box', () => {
  test.each([
    [
      limits({ messageCharactersMax: 'many' }),
      'limits.messageCharactersMax',
      'Message must be a whole number of characters.',
    ],
    [limits({ conversationTokensMax: '-1' }), 'limits.conversationTokensMax', 'Conversation must not be negative.'],
    [limits({ outputTokensMax: '1.5' }), 'limits.outputTokensMax', 'Output must be a whole number of tokens.'],
    [limits({ wallClockMsMax: '0.0001' }), 'limits.wallClockMsMax', /^Wall clock must be seconds/],
    [budget({ limit: 'NaN' }), 'budgets[0].limit', 'Limit must be a whole number.'],
    [budget({ limit: '-0' }), 'budgets[0].limit', 'Limit must not be negative.'],
    [budget({ limit: '1000000000000001' }), 'budgets[0].limit', /^Limit must be at most/],
    [budget({ unit: 'nano-dollars', limit: '0.0000000001' }), 'budgets[0].limit', /^Limit must be dollars/],
    [budget({ alerts: '80, 101' }), 'budgets[0].alertsPercent', /^Alerts must be up to five whole percents/],
    [budget({ alerts: '80.5' }), 'budgets[0].alertsPercent', /^Alerts must be/],
    [budget({ retryAfter: '0' }), 'budgets[0].retryAfterSeconds', /^Retry-After must be whole seconds/],
    [{ ...assistant, name: ' ' }, 'name', 'Name must not be empty.'],
    [{ ...assistant, name: 'lab' }, 'name', 'Name is there twice.'],
    [{ ...assistant, timeZone: 'Mars/Olympus' }, 'timeZone', 'Time zone is no time zone this machine knows.'],
  ] as const)('%#: %s', (text, field, words) => {
    const said = problems(text as PlanText);
    expect(Object.keys(said)).toEqual([field]);
    expect(said[field]).toMatch(words);
  });

  test('two rows of one scope, window and unit are one too many', () => {
    const [row] = assistant.budgets;
    if (row === undefined) throw new Error('the assistant has budgets');
    const said = problems({ ...assistant, budgets: [...assistant.budgets, { ...row, id: 99 }] });
    expect(said).toEqual({ 'budgets[2]': 'user, day, tokens is there twice. Change or remove one.' });
  });

  test('a refusal of the engine is found by the path it names', () => {
    expect(planField('directory.plans[3].budgets[1].limit')).toEqual({ index: 3, field: 'budgets[1].limit' });
    expect(planField('plans[0].name')).toEqual({ index: 0, field: 'name' });
    expect(planField('users[2].plan')).toBeNull();
    expect(planField(undefined)).toBeNull();
  });
});

describe('dollars', () => {
  test('every sum comes back from its text to the nano-dollar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (value) => {
        expect(readDollars(decimalDollars(nanoDollars(value)))).toBe(value);
      }),
    );
  });
  test.each([
    ['', null],
    ['$3', 3_000_000_000],
    ['1,000.5', 1_000_500_000_000],
    ['.5', 500_000_000],
    ['0.000000001', 1],
    ['2.500000000000', 2_500_000_000],
  ])('%j is %j', (text, value) => expect(readDollars(text)).toBe(value));
  test.each(['0.0000000001', '-1', '1e3', '.', 'NaN', '1,00', '9007200', 'Infinity'])('%j is no sum', (text) =>
    expect(readDollars(text)).toBeNaN(),
  );
});

describe('changes of the directory', () => {
  test('a plan that is renamed takes its users, tenants and the default with it', () => {
    const directory = directorySchema.parse({
      ...DEFAULT_DIRECTORY,
      users: [{ tenant: 'acme', id: 'ada', plan: 'assistant' }],
      defaultPlan: 'assistant',
    });
    const changed = withPlan(directory, 'assistant', { ...ASSISTANT_PLAN, name: 'shop' });
    expect(directorySchema.safeParse(changed).success).toBe(true);
    expect(changed.users[0]?.plan).toBe('shop');
    expect(changed.tenants.find(({ id }) => id === 'acme')?.plan).toBe('shop');
    expect(changed.defaultPlan).toBe('shop');
  });
  test('a plan that is removed leaves nobody with a plan that is not there', () => {
    const changed = withoutPlan(DEFAULT_DIRECTORY, 'assistant');
    expect(directorySchema.safeParse(changed).success).toBe(true);
    expect(changed.tenants.find(({ id }) => id === 'acme')?.plan).toBeNull();
  });
});

test('a warning goes when its box is typed into, and the safe value can be set', () => {
  const warning = {
    plan: 'assistant',
    field: 'limits.conversationTokensMax',
    text: 'too much',
    next: null,
    safe: 3_696,
  };
  expect(standingWarnings([warning], assistant, assistant)).toEqual([warning]);
  const changed = withFieldText(assistant, warning.field, warning.safe);
  expect(changed.limits.conversationTokensMax).toBe('3696');
  expect(standingWarnings([warning], changed, assistant)).toEqual([]);
});
