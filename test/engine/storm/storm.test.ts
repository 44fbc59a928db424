import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stormAskSchema } from '../../../shared/contract/ledger.ts';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';
import { createCheckAfter } from '../../../shared/engine/storm/check-after.ts';
import { STORM_SYSTEM_PROMPT, stormMessage } from '../../../shared/engine/storm/message.ts';
import { STORM_MODEL, planStorm, stormRequest } from '../../../shared/engine/storm/plan.ts';
import { createSide } from '../../../shared/engine/storm/side.ts';
import { defaultProfiles } from '../../../shared/node/simulator/index.ts';
import { renderChat } from '../../../shared/node/simulator/templates.ts';
import { createTokenizer } from '../../../shared/node/simulator/tokenizer.ts';

const golden = JSON.parse(readFileSync(new URL('../../golden/ledger.json', import.meta.url), 'utf8')) as {
  estimate: {
    systemPrompt: string;
    systemTokens: number;
    messageChars: number;
    messageTokens: number;
    maxOutput: number;
    total: number;
  };
};

const ask = (fields: Partial<Parameters<typeof stormAskSchema.parse>[0] & object> = {}) => stormAskSchema.parse(fields);

/** As the simulator counts: the layout of the model, and BOS. */
function countedTokens(characters: number): number {
  const text = renderChat('turns', [
    { role: 'system', content: STORM_SYSTEM_PROMPT },
    { role: 'user', content: stormMessage(characters) },
  ]);
  return createTokenizer().count(text) + 1;
}

describe('message', () => {
  test('the classic size counts 1,930 tokens, and is estimated as three characters a token', () => {
    const { systemPrompt, messageChars, systemTokens, messageTokens, maxOutput, total } = golden.estimate;
    expect(STORM_SYSTEM_PROMPT).toBe(systemPrompt);
    const message = stormMessage(messageChars);
    expect(message).toHaveLength(messageChars);
    const estimate = estimateMessages([{ content: STORM_SYSTEM_PROMPT }, { content: message }]);
    expect(estimate.messages.map((one) => one.high)).toEqual([systemTokens, messageTokens]);
    expect(estimate.script).toBe('latin');
    expect(countedTokens(messageChars)).toBe(1_930);
    expect(planStorm(ask({ outputTokensMax: maxOutput })).reservedTokensEach).toBe(total);
  });

  test('any size: as long as asked, the same every time, and never above what is reserved for it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 100_000 })), (characters) => {
        const message = stormMessage(characters);
        expect(message).toHaveLength(characters);
        expect(stormMessage(characters)).toBe(message);
        const plan = planStorm(ask({ messageCharacters: characters, outputTokensMax: 1 }));
        const counted = countedTokens(characters);
        expect(counted).toBeLessThan(plan.reservedTokensEach);
        expect(plan.reservedTokensEach).toBeLessThan(plan.numCtx);
        // As dense as the classic one, beside the few tokens of system prompt and template.
        if (characters > 2_000) expect(Math.abs((counted - 19) / characters - 1_911 / 6_052)).toBeLessThan(0.006);
      }),
      { numRuns: 60 },
    );
  });
});

describe('plan', () => {
  test('a user each, or one for all; two limits, as asked', () => {
    const each = planStorm(ask({ calls: 3 }));
    expect(each.payers.map((payer) => payer.user)).toEqual(['user-1', 'user-2', 'user-3']);
    const one = planStorm(ask({ calls: 3, users: 'one', userLimit: null, tenantLimit: 0 }));
    expect(new Set(one.payers.map((payer) => payer.user))).toEqual(new Set(['user-1']));
    expect(
      one.directory.plans.map((plan) => plan.budgets.map(({ scope, window, limit }) => [scope, window, limit])),
    ).toEqual([
      [
        ['user', 'day', null],
        ['tenant', 'month', 0],
      ],
    ]);
  });

  test('the model is one of the simulator, and has the window for the largest ask', () => {
    const largest = planStorm(ask({ messageCharacters: 100_000, outputTokensMax: 10_000 }));
    const profile = defaultProfiles.find(({ name }) => name === STORM_MODEL);
    expect(profile?.trainedContext).toBeGreaterThanOrEqual(largest.numCtx);
    expect(planStorm(ask()).numCtx).toBe(4_096);
    const [payer] = largest.payers;
    if (payer === undefined) throw new Error('a storm has calls');
    expect(stormRequest(largest, { payer, outputTokensMax: 10_000, timeoutMs: 5 })).toMatchObject({
      model: STORM_MODEL,
      numCtx: 65_536,
      numPredict: 10_000,
      payer: { tenant: 'storm', user: 'user-1' },
    });
  });
});

describe('check after', () => {
  test('one after the other it holds a limit up to the call that crosses it', () => {
    const accounts = createCheckAfter({ userLimit: null, tenantLimit: 9_000 });
    const passed: boolean[] = [];
    for (let call = 0; call < 6; call += 1) {
      const refusal = accounts.refusalOf(`user-${call}`);
      passed.push(refusal === null);
      if (refusal === null) accounts.add(`user-${call}`, { inputTokens: 1_930, outputTokens: 39 });
    }
    expect({ passed, spent: accounts.spentTokens(), next: accounts.refusalOf('somebody') }).toEqual({
      passed: [true, true, true, true, true, false],
      spent: 9_845,
      next: 'tenant-month-limit-reached',
    });
  });

  test('at once it holds none; a reply without counts costs nothing', () => {
    const accounts = createCheckAfter({ userLimit: 6_000, tenantLimit: 9_000 });
    const refusals = Array.from({ length: 20 }, () => accounts.refusalOf('user-1'));
    expect(refusals.every((refusal) => refusal === null)).toBe(true);
    expect(accounts.add('user-1', { inputTokens: null, outputTokens: null })).toBe(0);
    accounts.add('user-1', { inputTokens: 6_000, outputTokens: 0 });
    expect([accounts.refusalOf('user-1'), accounts.refusalOf('user-2')]).toEqual(['user-day-limit-reached', null]);
  });

  test('a limit of 0 lets nothing through, no limit everything', () => {
    expect(createCheckAfter({ userLimit: 0, tenantLimit: null }).refusalOf('a')).toBe('user-day-limit-reached');
    expect(createCheckAfter({ userLimit: null, tenantLimit: 0 }).refusalOf('a')).toBe('tenant-month-limit-reached');
    const free = createCheckAfter({ userLimit: null, tenantLimit: null });
    free.add('a', { inputTokens: 1_000_000, outputTokens: 1 });
    expect(free.refusalOf('a')).toBeNull();
  });
});

describe('side', () => {
  test('counts what became of each call, and the most that was held at once', () => {
    const side = createSide(5);
    side.admit(0);
    side.hold(100);
    side.send(0);
    side.admit(1);
    side.hold(50);
    side.refuse(2, 'user-day-limit-held', 7);
    side.refuse(3, 'tenant-month-limit-reached', 3_600);
    side.refuse(4, 'tenant-month-limit-reached', 3_599);
    side.settle(100, 42);
    side.hold(30);
    side.settle(30, 0);
    side.end(0, 'done');
    side.send(0);
    expect(side.view()).toEqual({
      admitted: 2,
      refused: 3,
      spentTokens: 42,
      heldTokens: 50,
      heldTokensMax: 150,
      calls: ['done', 'waiting', 'refused', 'refused', 'refused'],
      refusedCode: 'tenant-month-limit-reached',
      retryAfterSeconds: 3_600,
    });
  });

  test('nothing is given back that was not held', () => {
    expect(() => createSide(1).settle(1, 0)).toThrow('Broken rule');
  });
});
