import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ASSISTANT_PLAN,
  DEFAULT_DIRECTORY,
  LAB_PLAN,
  type Plan,
  type PlanInput,
  planSchema,
  planWarningSchema,
} from '../../../shared/contract/plans.ts';
import { LOCAL_PRICES } from '../../../shared/engine/costs/costs.ts';
import { WINDOW_DEFAULT, planWarnings } from '../../../shared/engine/ledger/plan-warnings.ts';

const around = { window: 4_096, priceSets: [LOCAL_PRICES] };

function warningsOf(plan: Omit<PlanInput, 'name'>, surroundings: Parameters<typeof planWarnings>[1] = around) {
  return planWarnings({ plans: [planSchema.parse({ name: 'p', ...plan })] }, surroundings);
}
const fieldsOf = (plan: Omit<PlanInput, 'name'>): string[] => warningsOf(plan).map((one) => one.field);

test('the classic limits let the opening be cut, and 3,696 is safe', () => {
  const golden = JSON.parse(readFileSync(new URL('../../golden/limits.json', import.meta.url), 'utf8')) as {
    conversation: { numCtxFinding: string };
  };
  expect(golden.conversation.numCtxFinding).toContain('MaxConversationTokens <= 3696 at 4096');
  expect(planWarnings(DEFAULT_DIRECTORY, around)).toEqual([
    {
      plan: 'assistant',
      field: 'limits.conversationTokensMax',
      text: '6,000 + 400 exceed the window of 4,096: the opening would be cut without a word; 3,696 is safe.',
      next: 'Set at most 3,696, or ask for a window of 6,400.',
      safe: 3_696,
    },
  ]);
  expect(WINDOW_DEFAULT).toBe(4_096);
  expect(planWarnings({ plans: [LAB_PLAN] }, around)).toEqual([]);
});

test('what is called safe is safe, and one more is not', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20_000 }),
      fc.integer({ min: 1, max: 3_000 }),
      fc.integer({ min: 512, max: 32_768 }),
      (conversationTokensMax, outputTokensMax, window) => {
        const found = (conversation: number): Plan['limits'] =>
          planSchema.parse({ name: 'p', limits: { conversationTokensMax: conversation, outputTokensMax } }).limits;
        const about = (conversation: number) =>
          planWarnings(
            { plans: [{ ...ASSISTANT_PLAN, budgets: [], limits: found(conversation) }] },
            { ...around, window },
          ).find((one) => one.field === 'limits.conversationTokensMax');
        const warning = about(conversationTokensMax);
        expect(warning === undefined).toBe(conversationTokensMax + outputTokensMax <= window);
        const safe = warning?.safe ?? null;
        if (safe === null) return;
        expect(about(safe)).toBeUndefined();
        expect(about(safe + 1)).toBeDefined();
      },
    ),
  );
});

describe('limits of a call', () => {
  test.each([
    [{ messageCharactersMax: 0 }, 'limits.messageCharactersMax'],
    [{ conversationTokensMax: 0 }, 'limits.conversationTokensMax'],
    [{ outputTokensMax: 0 }, 'limits.outputTokensMax'],
    [{ wallClockMsMax: 0 }, 'limits.wallClockMsMax'],
    [{ bodyBytesMax: 0 }, 'limits.bodyBytesMax'],
    [{ models: [] }, 'limits.models'],
  ])('%j allows nothing, and says so once', (limits, field) => {
    const found = warningsOf({ limits });
    expect(found.map((one) => one.field)).toEqual([field]);
    expect(found[0]?.text).toContain('nothing is allowed');
  });

  test('a window that is known counts, not the default one', () => {
    const limits = { conversationTokensMax: 6_000, outputTokensMax: 400 };
    expect(warningsOf({ limits }, { ...around, window: 8_192 })).toEqual([]);
    expect(warningsOf({ limits: { conversationTokensMax: 5_000 } })[0]).toMatchObject({ safe: 4_096 });
    expect(fieldsOf({ limits: { outputTokensMax: 4_096 } })).toEqual(['limits.outputTokensMax']);
    expect(fieldsOf({ limits: { outputTokensMax: 4_095 } })).toEqual([]);
    const both = warningsOf({ limits: { conversationTokensMax: 100, outputTokensMax: 5_000 } });
    expect(both.map(({ field, safe }) => [field, safe])).toEqual([
      ['limits.conversationTokensMax', undefined],
      ['limits.outputTokensMax', 4_095],
    ]);
  });

  test('a body that is no larger than its message', () => {
    expect(fieldsOf({ limits: { bodyBytesMax: 8_000, messageCharactersMax: 8_000 } })).toEqual(['limits.bodyBytesMax']);
    expect(fieldsOf({ limits: { bodyBytesMax: 8_001, messageCharactersMax: 8_000 } })).toEqual([]);
  });

  test('shortening without a limit', () => {
    expect(fieldsOf({ onConversationOverflow: 'summarise' })).toEqual(['onConversationOverflow']);
    expect(fieldsOf({ onConversationOverflow: 'summarise', limits: { conversationTokensMax: 100 } })).toEqual([]);
  });
});

describe('budgets', () => {
  const day = { scope: 'user', window: 'day', unit: 'tokens', limit: 300 } as const;

  test('a limit of 0, and none at all', () => {
    expect(fieldsOf({ budgets: [{ ...day, limit: 0 }] })).toEqual(['budgets[0].limit']);
    expect(fieldsOf({ budgets: [{ ...day, limit: null }] })).toEqual([]);
    expect(fieldsOf({ budgets: [{ ...day, limit: null, alertsPercent: [50] }] })).toEqual(['budgets[0].alertsPercent']);
  });

  test('an output cap that no call under the budget can have', () => {
    const cap = (outputTokensMax: number) => fieldsOf({ limits: { outputTokensMax }, budgets: [day] });
    expect(cap(300)).toEqual(['budgets[0].limit']);
    expect(cap(299)).toEqual([]);
    expect(fieldsOf({ limits: { outputTokensMax: 300 }, budgets: [{ ...day, unit: 'requests' }] })).toEqual([]);
  });

  test('money: without prices it is never spent; with them the cap is priced', () => {
    const prices = { ...LOCAL_PRICES, name: 'own', date: '2026-11-01', outputNanoDollarsPerToken: 10 } as never;
    const plan = (limit: number) => ({
      prices: { name: 'own', date: '2026-11-01' },
      limits: { outputTokensMax: 400 },
      budgets: [{ ...day, unit: 'nano-dollars' as const, limit }],
    });
    const about = { ...around, priceSets: [LOCAL_PRICES, prices] };
    expect(warningsOf(plan(4_000), about).map((one) => one.field)).toEqual(['budgets[0].limit']);
    expect(warningsOf(plan(4_001), about)).toEqual([]);
    expect(fieldsOf(plan(4_001))).toEqual(['prices']);
    expect(warningsOf(plan(4_001), { ...around, priceSets: null })).toEqual([]);
    expect(warningsOf({ budgets: [{ ...day, unit: 'nano-dollars' }] })[0]?.text).toContain('never reached');
  });

  test.each([
    ['minute', 60],
    ['day', 86_400],
    ['week', 604_800],
    ['month', 2_678_400],
  ] as const)('a time to wait that is longer than a %s', (window, seconds) => {
    const wait = (retryAfterSeconds: number) => warningsOf({ budgets: [{ ...day, window, retryAfterSeconds }] });
    expect(wait(seconds)).toEqual([]);
    expect(wait(seconds + 1)).toMatchObject([{ field: 'budgets[0].retryAfterSeconds', safe: seconds }]);
  });

  test('waiting for a limit that never starts anew', () => {
    expect(fieldsOf({ budgets: [{ ...day, window: 'run', retryAfterSeconds: 1 }] })).toEqual([
      'budgets[0].retryAfterSeconds',
    ]);
  });

  test('observed on cancel is told where a stopped call can have done more than was seen', () => {
    const observed = { onCancel: 'observed' as const, budgets: [day] };
    expect(fieldsOf(observed)).toEqual([]);
    expect(fieldsOf({ ...observed, limits: { wallClockMsMax: 30_000 } })).toEqual(['onCancel']);
    expect(fieldsOf({ ...observed, overrun: 'strict' })).toEqual(['onCancel']);
    expect(fieldsOf({ onCancel: 'observed', overrun: 'strict' })).toEqual([]);
  });
});

test('warnings have the form of the contract and are bounded', () => {
  const plans = Array.from({ length: 200 }, (_, index) =>
    planSchema.parse({
      name: `p${index}`,
      limits: { outputTokensMax: 0, bodyBytesMax: 0, messageCharactersMax: 0, wallClockMsMax: 0 },
    }),
  );
  const found = planWarnings({ plans }, around);
  expect(found).toHaveLength(500);
  for (const one of found) expect(planWarningSchema.parse(one)).toEqual(one);
});
