/** A conversation over its plan's limit, where the plan pays for a summary of it. */
import { describe, expect, test } from 'vitest';
import type { CallRequest, Message } from '../../../shared/contract/calls.ts';
import type { CellKey, RunId } from '../../../shared/contract/ids.ts';
import { conversationTokens } from '../../../shared/engine/ledger/limits.ts';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';
import { chunk, end } from '../../support/scripted-model.ts';
import { type Bench, type BenchOptions, bench, conserved, head, prose, reply, system, until, user } from './bench.ts';

const assistant = (content: string): Message => ({ role: 'assistant', content });
const SYSTEM = system('You are the Bookstore assistant. Answer briefly.');
const QUESTION = user('And which of them is the cheapest?');
const past = [user(prose(900)), assistant(prose(900)), user(prose(900)), assistant(prose(600))];
const messages = [SYSTEM, ...past, QUESTION];
const tokensBefore = conversationTokens(estimateMessages(messages));
const limits = { conversationTokensMax: 600 };

const made = (options: BenchOptions & { readonly more?: object } = {}): Bench =>
  bench({ ...options, plan: { limits, onConversationOverflow: 'summarise', ...options.plan } });
const keysOf = async (one: Bench): Promise<(string | null)[]> =>
  (await one.entries()).filter(({ operation }) => operation === 'reserve').map(({ key }) => key);

describe('a conversation that is too long', () => {
  test('is shortened by a call of its own: two calls, two holds, one answer', async () => {
    const one = made({ scripts: [reply(1_100, 60, 'They spoke of three books.'), reply(90, 12, 'The second.')] });
    const { id, done } = one.open({ messages, idempotencyKey: 'k' });
    const { record, denial } = await done;
    expect(denial).toBeNull();
    expect(one.model.asked.map(({ body }) => body)).toMatchObject([
      {
        messages: [
          { role: 'system' },
          { role: 'user', content: past.map((m) => `${m.role}: ${m.content}`).join('\n\n') },
        ],
        think: false,
        truncate: false,
        options: { num_predict: 150 },
      },
      {
        messages: [
          SYSTEM,
          { role: 'system', content: 'Summary of the conversation so far:\nThey spoke of three books.' },
          QUESTION,
        ],
        options: { num_predict: 100 },
      },
    ]);
    const [summary, main] = one.records;
    expect(one.records).toHaveLength(2);
    expect(record).toEqual(main);
    expect(record).toMatchObject({
      id,
      reply: { answer: 'The second.' },
      shortened: { callId: summary?.id, messagesReplaced: 4, tokensBefore },
      budget: { chargedInputTokens: 90, chargedOutputTokens: 12 },
    });
    expect(summary).toMatchObject({
      runId: null,
      cellKey: null,
      budget: { chargedInputTokens: 1_100, chargedOutputTokens: 60 },
    });
    expect(summary?.shortened).toBeUndefined();
    expect(await keysOf(one)).toEqual(['k/summary', 'k']);
    expect(await one.balance('user')).toMatchObject({ spent: 1_262, held: 0 });
    await conserved(one);
  });

  test('is within its limit afterwards, however much of its allowance the summary takes', async () => {
    // About six characters a token, the most that English has.
    for (const limit of [400, 600, 1_000]) {
      const one = made({
        plan: { limits: { conversationTokensMax: limit } },
        scripts: [reply(1_100, 1, prose(6 * Math.floor(limit / 4))), reply(90, 12)],
      });
      expect((await one.call({ messages })).denial).toBeNull();
    }
  });

  test('is summarised in half of what its kept part leaves, since a text is estimated at up to twice its tokens', async () => {
    const kept = [system(prose(1_050)), QUESTION];
    const one = made({ scripts: [reply(1_100, 1, 'Three books.'), reply(90, 12)] });
    expect((await one.call({ messages: [...kept.slice(0, 1), ...past, ...kept.slice(1)] })).denial).toBeNull();
    const room = Math.floor((600 - conversationTokens(estimateMessages(kept)) - 16) / 2);
    expect(room).toBeLessThan(150);
    expect(one.model.asked[0]?.body).toMatchObject({ options: { num_predict: room } });
  });

  test('limits of a message and a body are not for its transcript, but for what goes on from it', async () => {
    const narrow = { conversationTokensMax: 600, messageCharactersMax: 200, bodyBytesMax: 1_000 };
    const one = made({ plan: { limits: narrow }, scripts: [reply(1_100, 60, 'Three books.'), reply(90, 12)] });
    expect((await one.call({ messages })).denial).toBeNull();
  });

  test.each([
    ['message-too-long', { messageCharactersMax: 10 }],
    ['output-over-cap', { outputTokensMax: 99 }],
    ['model-not-in-plan', { models: ['other'] }],
    ['not-allowed', { wallClockMsMax: 0 }],
  ])('is not summarised for a call that is refused anyway: %s', async (code, more) => {
    const one = made({ plan: { limits: { ...limits, ...more } } });
    const { denial } = await one.call({ messages });
    // The one with the higher rank is told.
    expect(denial?.code).toBe(code === 'message-too-long' || code === 'not-allowed' ? code : 'conversation-too-long');
    expect(one.model.asked).toEqual([]);
  });

  test('has its summary before the question, also where something stands behind that', async () => {
    const late = system('Prices are in euros.');
    const one = made({ scripts: [reply(1, 1, 'Three books.'), reply(1, 1)] });
    await one.call({ messages: [SYSTEM, ...past, QUESTION, late] });
    const sent = one.model.asked[1]?.body.messages as Message[];
    expect(sent.map(({ content }) => content.slice(0, 9))).toEqual([
      'You are t',
      'Summary o',
      'And which',
      'Prices ar',
    ]);
  });

  test('is paid from the budget of its run too', async () => {
    const one = made({
      plan: { budgets: [{ scope: 'experiment', window: 'run', unit: 'tokens', limit: 10_000 }] },
      scripts: [reply(1_100, 60, 'Three books.'), reply(90, 12)],
    });
    await one.open({ messages }, { runId: 'run-1' as RunId, cellKey: 'cell' as CellKey }).done;
    expect(one.records.map(({ runId, cellKey }) => [runId, cellKey])).toEqual([
      ['run-1', null],
      ['run-1', 'cell'],
    ]);
    expect(await one.balance('experiment')).toMatchObject({ spent: 1_262 });
  });

  test('with a key that was used: neither is sent again, and that is what is said', async () => {
    const one = made({ scripts: [reply(1_100, 60, 'Three books.'), reply(90, 12)] });
    await one.call({ messages, idempotencyKey: 'k' });
    const { denial, record } = await one.call({ messages, idempotencyKey: 'k' });
    expect(denial?.code).toBe('key-used');
    expect(record.request.messages).toEqual(messages);
    expect(one.model.asked).toHaveLength(2);
    await conserved(one);
  });
});

describe('no summary', () => {
  const asIs = async (one: Bench, change: Partial<CallRequest> = {}, asked = 1): Promise<void> => {
    const { denial, record } = await one.call({ messages, ...change });
    expect(denial).toMatchObject({ code: 'conversation-too-long', field: 'messages' });
    expect(record.reply.ending).toBe('not-sent');
    expect(record.request.messages).toEqual(change.messages ?? messages);
    expect(record.shortened).toBeUndefined();
    expect(one.model.asked).toHaveLength(asked);
    await conserved(one);
  };

  test.each([
    ['it breaks off', [...head, chunk('Half of'), end({ ending: 'error-line' })]],
    ['it is empty', [...head, chunk('', 'Hm.'), chunk(' \n'), end({})]],
    [
      'its transcript is over the window, which refuses it',
      [...head, end({ ending: 'refused', status: 400, needs: 1_200 as never, has: 512 as never })],
    ],
    ['the server is away', [end({ ending: 'unreachable', status: null })]],
  ])('%s: the conversation is refused as it was', async (_why, script) => {
    await asIs(made({ scripts: [script] }));
  });

  test('the budget does not have enough for it', async () => {
    const one = made({ plan: { budgets: [{ scope: 'user', window: 'day', unit: 'tokens', limit: 1_000 }] } });
    await asIs(one, {}, 0);
    expect((await one.refusals()).map(({ code }) => code)).toEqual([
      'conversation-too-long',
      'user-day-limit-too-small',
    ]);
  });

  test.each([
    ['nothing but a question', { messages: [SYSTEM, user(prose(4_000))] }],
    ['what stays is too long already', { messages: [system(prose(1_750)), ...past, QUESTION] }],
    ['one prompt has no turns', { route: 'generate' as const, messages: [SYSTEM, user(prose(4_000))] }],
  ])('%s: refused, and nothing is paid', async (_why, change) => {
    await asIs(made(), change, 0);
  });

  test('a plan that refuses does not pay for one, and one within its limit needs none', async () => {
    await asIs(made({ plan: { onConversationOverflow: 'refuse' } }), {}, 0);
    const short = made({ scripts: [reply(9, 9)] });
    expect((await short.call({ messages: [SYSTEM, QUESTION] })).record.shortened).toBeUndefined();
    expect(short.model.asked).toHaveLength(1);
  });

  test('a summary that goes on beyond its allowance: refused with it, and both are on record', async () => {
    const one = made({ scripts: [reply(1_100, 400, prose(3_000))] });
    const { denial, record } = await one.call({ messages });
    expect(denial?.code).toBe('conversation-too-long');
    expect(record.shortened).toMatchObject({ messagesReplaced: 4 });
    expect(one.records[0]?.budget).toMatchObject({ chargedOutputTokens: 400, resolution: 'settled' });
    await conserved(one);
  });
});

test('a cancel during the summary ends both: one is charged, the other never leaves', async () => {
  const one = made({ scripts: [[...head, chunk('They'), 'wait']] });
  const { id, done } = one.open({ messages });
  await until(() => one.events.some(({ type }) => type === 'call-delta'));
  expect(one.engine.openCalls().map((call) => call.id)).not.toContain(id);
  expect(one.engine.cancel(id, 'person')).toBe(true);
  const { denial, record } = await done;
  expect(denial?.code).toBe('cancelled');
  expect(record.reply).toMatchObject({ ending: 'not-sent', abortedBy: 'person' });
  expect(one.records.map(({ budget }) => budget?.resolution ?? null)).toEqual(['forfeited', null]);
  expect(one.engine.openCalls()).toEqual([]);
  await conserved(one);
});
