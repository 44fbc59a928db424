/** Limits of one call, through the corridor: golden rows, exact sizes, ranks, counters. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallRequest, Message } from '../../../shared/contract/calls.ts';
import { type DenialCode, denialCodes, httpStatusOf } from '../../../shared/contract/denials.ts';
import { budgetCodes } from '../../../shared/contract/ledger.ts';
import { ASSISTANT_PLAN, type PlanInput, planSchema } from '../../../shared/contract/plans.ts';
import type { CallOutcome } from '../../../shared/engine/call.ts';
import { estimateMessages, estimateText } from '../../../shared/engine/estimate/estimate.ts';
import {
  type CallFacts,
  conversationTokens,
  inputTokensAtMost,
  limitDenial,
  newestUserMessage,
} from '../../../shared/engine/ledger/limits.ts';
import { utf8Bytes } from '../../../shared/engine/utf8.ts';
import { bench, conserved, head, prose, reply, request, system, until, user } from './bench.ts';

interface Golden {
  readonly conversation: {
    readonly perTurnEstimates: readonly number[];
    readonly rows: readonly {
      readonly maxConversationTokens: number;
      readonly turns: readonly { readonly turn: number; readonly estimate: number; readonly status: number }[];
    }[];
  };
  readonly request: readonly { readonly case: string; readonly bodyBytes: number; readonly status: number }[];
  readonly estimateTokens: readonly { readonly utf16Length: number; readonly tokens: number }[];
}
const golden = JSON.parse(readFileSync(new URL('../../golden/limits.json', import.meta.url), 'utf8')) as Golden;
const SYSTEM = 'You are the Bookstore assistant. Answer briefly.';
const statusOf = ({ denial }: Pick<CallOutcome, 'denial'>): number =>
  denial === null ? 200 : httpStatusOf(denial.code);

describe('statuses', () => {
  test('every code has one, and budgets are 429', () => {
    for (const code of denialCodes) expect(httpStatusOf(code)).toBeGreaterThanOrEqual(400);
    expect(new Set(budgetCodes.map(httpStatusOf))).toEqual(new Set([429]));
    expect(denialCodes.filter((code) => httpStatusOf(code) === 429)).toEqual(budgetCodes);
    const told: DenialCode[] = [
      'body-too-large',
      'message-too-long',
      'conversation-too-long',
      'output-over-cap',
      'model-not-in-plan',
      'key-used',
      'bound-unknown',
      'ledger-unavailable',
    ];
    expect(told.map(httpStatusOf)).toEqual([413, 400, 422, 422, 403, 409, 422, 503]);
  });
});

describe('the conversation', () => {
  test.each(golden.conversation.rows)(
    'at most $maxConversationTokens tokens',
    async ({ maxConversationTokens, turns }) => {
      const answer = prose(125);
      const made = bench({
        plan: { limits: { conversationTokensMax: maxConversationTokens } },
        scripts: turns.map(() => reply(1_930, 39, answer)),
      });
      let messages: Message[] = [system(SYSTEM)];
      for (const [index, { turn, estimate, status }] of turns.entries()) {
        messages = [...messages, user(prose(6_052))];
        expect([turn, conversationTokens(estimateMessages(messages))]).toEqual([index + 1, estimate]);
        expect(golden.conversation.perTurnEstimates[index]).toBe(estimate);
        const outcome = await made.call({ messages });
        expect(statusOf(outcome)).toBe(status);
        if (status !== 200) {
          expect(outcome.denial).toMatchObject({ code: 'conversation-too-long', field: 'messages' });
          expect(outcome.record.reply.ending).toBe('not-sent');
          expect(made.model.asked).toHaveLength(index);
          break;
        }
        messages = [...messages, { role: 'assistant', content: outcome.record.reply.answer }];
      }
      expect(await made.holds()).toEqual([]);
    },
  );
});

describe('the request', () => {
  const bodies = [
    'x'.repeat(40_000),
    'x'.repeat(9_000),
    'x'.repeat(8_000),
    'x'.repeat(8_001),
    '\u4e2d'.repeat(8_000),
    '\u4e2d'.repeat(8_000),
    'x'.repeat(32_754),
    'x'.repeat(32_755),
  ].map((message, index) => {
    const body = JSON.stringify({ message });
    return { message, body: index === 5 ? body.replaceAll('\u4e2d', '\\u4e2d') : body };
  });

  test.each(golden.request.map((row, index) => ({ ...row, ...bodies[index] })))(
    '$case: $status',
    ({ bodyBytes, status, message = '', body = '' }) => {
      expect([Buffer.byteLength(body), utf8Bytes(body)]).toEqual([bodyBytes, bodyBytes]);
      const denial = limitDenial(ASSISTANT_PLAN, { ...small, bodyBytes, messageCharacters: message.length });
      expect(statusOf({ denial })).toBe(status);
      expect(denial?.field ?? null).toBe({ 200: null, 400: 'messages', 413: 'body' }[status]);
    },
  );

  test('the body is measured as it leaves, to the byte, whatever is in it', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({
        unit: fc.constantFrom(
          '\u4e2d',
          '\ud83d\ude00',
          '\ud83d',
          '\ude00',
          '"',
          '\\',
          '\n',
          '\u0001',
          'a',
          '\u00e9',
          '\u2028',
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const first = bench({ scripts: [reply(1, 1)] });
        await first.call({ messages: [user(content)] });
        const bytes = Buffer.byteLength(JSON.stringify(first.model.asked[0]?.body));
        expect(utf8Bytes(content)).toBe(Buffer.byteLength(content));
        const fits = bench({ plan: { limits: { bodyBytesMax: bytes } }, scripts: [reply(1, 1)] });
        expect(statusOf(await fits.call({ messages: [user(content)] }))).toBe(200);
        const over = bench({ plan: { limits: { bodyBytesMax: bytes - 1 } } });
        expect(statusOf(await over.call({ messages: [user(content)] }))).toBe(413);
      }),
      { numRuns: 60 },
    );
  });

  test('the message limit is for the newest of the user, in UTF-16 units', async () => {
    const plan = { limits: { messageCharactersMax: 10 } };
    const { call } = bench({ plan, scripts: [reply(1, 1), reply(1, 1)] });
    const old = user('an older message of more than ten');
    expect(statusOf(await call({ messages: [old, user('0123456789')] }))).toBe(200);
    expect(statusOf(await call({ messages: [old, user('\ud83d\ude00'.repeat(5))] }))).toBe(200);
    expect(statusOf(await call({ messages: [old, user('0123456789a')] }))).toBe(400);
    // What an assistant or a tool said after it is no message of the user.
    expect(newestUserMessage([old, { role: 'assistant', content: 'x' }])).toBe(old);
    expect(statusOf(await call({ messages: [old, { role: 'tool', content: 'x' }] }))).toBe(400);
  });
});

describe('estimates', () => {
  test.each(golden.estimateTokens)('$utf16Length units of prose', ({ utf16Length, tokens }) => {
    const { high } = estimateText(prose(utf16Length));
    // A word or two of any vocabulary can be a token a character; from there on the classic figure holds.
    if (utf16Length >= 48 || utf16Length === 0) expect(high).toBe(tokens);
    else expect(high - tokens).toSatisfy((more: number) => more === 0 || more === 1);
  });
});

describe('the most that a prompt can be', () => {
  const marks = 64;
  test.each([
    ['a text counts by its bytes, not its characters', ['\u4e2d\ud83d\ude00'], null, 0, 7 + 2 * marks],
    ['each message has its marks', ['a', 'b', ''], null, 0, 2 + 4 * marks],
    ['the text of the model comes on top', ['a'], null, 500, 501 + 2 * marks],
    ['a window is a bound, padded to 256', ['a'.repeat(5_000)], 600, 0, 768],
    ['but none where the text is shorter', ['a'], 600, 0, 1 + 2 * marks],
  ] as const)('%s', (_what, texts, window, ownTextBytes, tokens) => {
    expect(inputTokensAtMost(texts.map(user), window, ownTextBytes)).toBe(tokens);
  });
});

const small: CallFacts = {
  model: 'probe',
  bodyBytes: 0,
  messageCharacters: 0,
  conversationTokens: 0,
  outputTokens: 1,
};

/** Each breaks one limit and no other. */
const breaking: readonly {
  readonly code: DenialCode;
  readonly limits: NonNullable<PlanInput['limits']>;
  readonly zero: NonNullable<PlanInput['limits']>;
  readonly change: Partial<CallRequest>;
}[] = [
  { code: 'not-allowed', limits: { wallClockMsMax: 0 }, zero: { wallClockMsMax: 0 }, change: {} },
  { code: 'body-too-large', limits: { bodyBytesMax: 20 }, zero: { bodyBytesMax: 0 }, change: {} },
  {
    code: 'message-too-long',
    limits: { messageCharactersMax: 5 },
    zero: { messageCharactersMax: 0 },
    change: { messages: [user('123456')] },
  },
  {
    code: 'conversation-too-long',
    limits: { conversationTokensMax: 1 },
    zero: { conversationTokensMax: 0 },
    change: {},
  },
  { code: 'output-over-cap', limits: { outputTokensMax: 99 }, zero: { outputTokensMax: 0 }, change: {} },
  { code: 'model-not-in-plan', limits: { models: ['other'] }, zero: { models: [] }, change: {} },
];

describe('several limits', () => {
  test('every pair: the one with the higher rank is told, and nothing is sent', async () => {
    const pairs = breaking.flatMap((one) => breaking.map((other) => [one, other] as const));
    for (const [one, other] of pairs) {
      const made = bench({ plan: { limits: { ...one.limits, ...other.limits } } });
      const { denial } = await made.call({ ...one.change, ...other.change });
      const expected = Math.min(denialCodes.indexOf(one.code), denialCodes.indexOf(other.code));
      expect(denial?.code).toBe(denialCodes[expected]);
      expect(made.model.asked).toEqual([]);
    }
  });

  test('a limit of the call is told before a budget, and holds nothing', async () => {
    const made = bench({
      plan: { limits: { models: [] }, budgets: [{ scope: 'user', window: 'day', unit: 'tokens', limit: 0 }] },
    });
    expect((await made.call()).denial?.code).toBe('model-not-in-plan');
    expect(await made.entries()).toEqual([]);
  });

  test('each code is counted on a line of its own, and each refusal is an event', async () => {
    for (const { code, limits, change } of breaking) {
      const made = bench({ plan: { limits } });
      for (let time = 0; time < 3; time += 1) await made.call(change);
      expect(await made.refusals()).toMatchObject([
        { code, count: 3, tenant: 'acme', user: 'ada', model: 'probe', refusal: null },
      ]);
      expect(made.events.filter(({ type }) => type === 'reservation-refused')).toHaveLength(3);
    }
    const limits = { outputTokensMax: 99, messageCharactersMax: 20 };
    const budgets = [{ scope: 'user', window: 'day', unit: 'tokens', limit: 10 }] as const;
    const made = bench({ plan: { limits, budgets: [...budgets] } });
    await made.call();
    await made.call({ messages: [user('x'.repeat(21))] });
    await made.call({ messages: [user('x'.repeat(21))] });
    await made.call({ numPredict: 50 });
    expect((await made.refusals()).map(({ code, count }) => [code, count])).toEqual([
      ['user-day-limit-too-small', 1],
      ['message-too-long', 2],
      ['output-over-cap', 1],
    ]);
  });
});

describe('nothing and no limit', () => {
  test('0 allows nothing, null limits nothing, for each limit', async () => {
    for (const { code, zero, change } of breaking) {
      const none = bench({ plan: { limits: zero } });
      expect((await none.call(change)).denial?.code).toBe(code);
      expect(none.model.asked).toEqual([]);
      const nulls = Object.fromEntries(Object.keys(zero).map((name) => [name, null]));
      const all = bench({ plan: { limits: nulls }, scripts: [reply(5, 5)] });
      expect(
        (await all.call({ ...change, messages: [user(prose(100_000))], numPredict: 1_000_000 })).denial,
      ).toBeNull();
    }
    for (const unit of ['tokens', 'requests'] as const) {
      for (const window of ['run', 'month', 'week', 'day', 'minute'] as const) {
        const nothing = bench({ plan: { budgets: [{ scope: 'user', window, unit, limit: 0 }] } });
        expect((await nothing.call()).denial).toMatchObject({
          code: `user-${window}-limit-too-small`,
          message: 'The limit of user ada is 0: nothing is allowed.',
          next: 'Ask for a limit.',
        });
        const free = bench({
          plan: { budgets: [{ scope: 'user', window, unit, limit: null }] },
          scripts: [reply(5, 5)],
        });
        expect((await free.call({ numPredict: 10_000_000 })).denial).toBeNull();
      }
    }
  });

  test('a plan without a budget for a call lets it go, and writes down what it used', async () => {
    for (const plan of [
      {},
      { budgets: [{ scope: 'conversation', window: 'day', unit: 'tokens', limit: 1 } as const] },
    ]) {
      const made = bench({ plan, scripts: [reply(30, 7)] });
      expect((await made.call()).denial).toBeNull();
      expect(await made.balance('user')).toMatchObject({ limit: null, free: null, spent: 37, held: 0 });
    }
  });
});

describe('models of a plan', () => {
  const plan = planSchema.parse({ name: 'p', limits: { models: ['llama3.2', 'qwen3:8b', 'hf.co/org/repo'] } });
  test.each([
    ['llama3.2', true],
    ['llama3.2:latest', true],
    ['LLAMA3.2', true],
    ['llama3.2:1b', false],
    ['qwen3:8b', true],
    ['qwen3', false],
    ['qwen3:latest', false],
    ['hf.co/org/repo:latest', true],
    ['repo', false],
  ])('%s: %s', (model, isAllowed) => {
    expect(limitDenial(plan, { ...small, model })?.code ?? null).toBe(isAllowed ? null : 'model-not-in-plan');
  });

  test('a model has one budget, however it is spelt', async () => {
    const made = bench({
      plan: { budgets: [{ scope: 'model', window: 'day', unit: 'requests', limit: 2 }] },
      scripts: [reply(5, 5), reply(5, 5)],
    });
    expect((await made.call({ model: 'probe' })).denial).toBeNull();
    expect((await made.call({ model: 'Probe:latest' })).denial).toBeNull();
    expect((await made.call({ model: 'PROBE' })).denial?.code).toBe('model-day-limit-reached');
    expect(await made.balance('model')).toMatchObject({ account: { name: 'probe:latest' }, spent: 2 });
    const granted = await made.ledger.grant({
      book: 'real',
      tenant: 'acme',
      scope: 'model',
      name: 'probe',
      window: 'day',
      unit: 'requests',
      amount: 1,
      reason: '',
    });
    expect(granted).toMatchObject({ ok: true, value: { limit: 3, free: 1 } });
  });
});

test('the output asked for is what leaves, and the reserved amount is no less', async () => {
  const made = bench({ scripts: [reply(5, 5)] });
  const { record } = await made.call({ numPredict: 100 });
  expect(made.model.asked[0]?.body).toMatchObject({ options: { num_predict: 100 } });
  expect(record.budget).toMatchObject({ reservedOutputTokens: 100 });
  expect(request.numPredict).toBe(100);
});

test('the wall clock of the plan is the time limit of the call, where it is shorter', async () => {
  const made = bench({
    plan: { limits: { wallClockMsMax: 30_000 } },
    scripts: Array.from({ length: 3 }, () => reply(5, 5)),
  });
  await made.call();
  await made.call({ timeoutMs: 5_000 as never });
  await made.call({ timeoutMs: 90_000 as never });
  expect(made.model.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([30_000, 5_000, 30_000]);
});

test('a time limit beyond all calendars is taken; its hold ends within a month or so', async () => {
  const made = bench({ scripts: [[...head, 'wait']] });
  const { done } = made.open({ timeoutMs: Number.MAX_SAFE_INTEGER as never });
  await until(() => made.model.asked.length === 1);
  expect(await made.holds()).toMatchObject([{ expiresAt: '2026-12-15T22:45:02.000Z' }]);
  await made.engine.stop('person');
  await done;
  await conserved(made);
});
