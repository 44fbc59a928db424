import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Message } from '../../../shared/contract/calls.ts';
import { preflightSchema } from '../../../shared/contract/estimates.ts';
import { fittingNumCtx } from '../../../shared/engine/truncation/fits.ts';
import { type PreflightInput, preflight } from '../../../shared/engine/truncation/preflight.ts';

const recorded = (name: string): Message[] =>
  (
    JSON.parse(readFileSync(`test/fixtures/real/${name}.json`, 'utf8')) as {
      request: { body: { messages: Message[] } };
    }
  ).request.body.messages;
const document = recorded('rendered-chat-long-one-message-default');
const history = recorded('rendered-history-450');

const asked: PreflightInput = {
  messages: document,
  route: 'chat',
  promptPath: 'rendered',
  serverVersion: '0.33.0-rc2',
  addsBos: true,
  window: 4_096,
  windowSource: 'requested',
  trained: 32_768,
  numPredict: 20,
  numKeep: null,
  policy: 'warn',
};

describe('one message of 6,869 tokens that an earlier call counted', () => {
  test('into 4,096', () => {
    const { estimate: _, ...reading } = preflight({ ...asked, counted: 6_869 });
    expect(reading).toEqual({
      parts: { system: 0, history: 0, prompt: 6_869 },
      window: 4_096,
      windowSource: 'requested',
      trained: 32_768,
      replyReserve: 20,
      outcome: 'does-not-fit',
      expected: 'halved',
      kept: 2_051,
      lost: 4_818,
      headKept: 5,
      tailKept: 2_046,
      lostRanges: [{ message: 0, from: 3, to: expect.any(Number) }],
      fitsNumCtx: 8_192,
      fitsMemoryBytes: null,
      sentence: '4,818 of 6,869 tokens would be lost: the first 5 and the last 2,046 stay',
    });
  });

  test('what would stay at the end is what the server kept there, to a few words', () => {
    const [range] = preflight({ ...asked, counted: 6_869 }).lostRanges;
    const text = document[0]!.content;
    // 2,046 tokens of this text, template taken off.
    const expected = text.length - (2_041 * text.length) / 6_861;
    expect(Math.abs((range?.to ?? 0) - expected)).toBeLessThan(100);
  });

  test.each([
    [
      'without the count',
      {},
      'does-not-fit',
      'halved',
      /^About 4,\d{3} of 6,9\d\d tokens would be lost: the first 5 and the last 2,046 stay$/,
    ],
    [
      'on a native path',
      { promptPath: 'native', counted: 6_883 },
      'does-not-fit',
      'refused',
      /^6,883 tokens do not fit 4,096: the server would refuse it$/,
    ],
    [
      'generate on a native model',
      { promptPath: 'native', route: 'generate', counted: 6_869 },
      'does-not-fit',
      'halved',
      /^4,818 of 6,869/,
    ],
    [
      'an older server',
      { serverVersion: '0.24.0', counted: 6_870 },
      'does-not-fit',
      'cut-to-window',
      /^2,774 of 6,870 tokens would be lost: the first 4 and the last 4,092 stay$/,
    ],
    [
      'num_keep -1',
      { numKeep: -1, counted: 6_869 },
      'does-not-fit',
      'cut-to-window',
      /^2,774 of 6,869 tokens would be lost: the first 4,095 stay$/,
    ],
    [
      'refuse when over',
      { policy: 'refuse', counted: 6_869 },
      'does-not-fit',
      'refused',
      /it would be refused, as asked$/,
    ],
    [
      'window of 8,192',
      { window: 8_192, counted: 6_869 },
      'fits',
      'intact',
      /^6,869 of 8,192 tokens: nothing would be lost$/,
    ],
    [
      'a long reply',
      { window: 8_192, numPredict: 2_000, counted: 6_869 },
      'reply-may-not-fit',
      'intact',
      /^The prompt fits with 6,869 tokens, but a reply of 2,000 may not: the window is 8,192$/,
    ],
    [
      'just under, by estimate',
      { window: 7_200 },
      'may-not-fit',
      'intact',
      /^About 6,9\d\d tokens, up to 8,0\d\d, may not fit 7,200$/,
    ],
    [
      'window not known',
      { window: null, windowSource: 'unknown' },
      'unknown',
      'unknown',
      /the window is not known yet$/,
    ],
  ] as const)('%s', (_, change, outcome, expected, sentence) => {
    const reading = preflight({ ...asked, ...change });
    expect([reading.outcome, reading.expected]).toEqual([outcome, expected]);
    expect(reading.sentence).toMatch(sentence);
  });

  test('the cliff: 4,095 tokens go in whole, one more is halved', () => {
    expect([4_095, 4_096].map((counted) => preflight({ ...asked, counted }).kept)).toEqual([4_095, 2_051]);
  });

  test('one native message may use the padding: 999 tokens go into 777', () => {
    const native = { ...asked, promptPath: 'native', window: 777, counted: 999 } as const;
    expect(preflight(native).expected).toBe('intact');
    expect(preflight({ ...native, counted: 1_024 }).expected).toBe('refused');
  });
});

describe('a conversation', () => {
  test('loses its oldest messages, never the system text', () => {
    const reading = preflight({ ...asked, messages: history, window: 512 });
    expect(reading.expected).toBe('messages-dropped');
    expect(reading.lostRanges.map((range) => range.message)).toEqual([1, 2, 3, 4, 5]);
    expect(
      reading.lostRanges.every((range) => range.from === 0 && range.to === history[range.message]!.content.length),
    ).toBe(true);
    expect(reading.sentence).toMatch(/the 5 oldest messages go$/);
  });

  test('whose last message alone is too long loses everything before it, and is halved', () => {
    const reading = preflight({ ...asked, messages: [...history, ...document], window: 512 });
    expect([reading.expected, reading.kept]).toEqual(['halved', 259]);
    expect(reading.lostRanges.filter((range) => range.message > 0 && range.message < history.length)).toHaveLength(
      history.length - 1,
    );
  });
});

test('memory at the window that fits comes from two windows that were seen', () => {
  const seen = [
    { window: 512, bytes: 275_188_284 },
    { window: 4_096, bytes: 287_246_908 },
  ];
  expect(preflight({ ...asked, counted: 6_869, memorySeen: seen }).fitsMemoryBytes).toBe(301_028_193);
  expect(preflight({ ...asked, counted: 6_869, memorySeen: seen.slice(1) }).fitsMemoryBytes).toBeNull();
});

test.each([
  [6_869, 20, null, 8_192],
  [38_980, 60, null, 40_960],
  [4_095, 1, null, 4_096],
  [4_095, 0, null, 4_096],
  [4_096, 0, null, 8_192],
  [300_000, 100, null, 301_056],
  [6_869, 20, 7_000, 7_000],
  [6_869, 20, 6_888, null],
  [6_869, 20, 6_889, 6_889],
])('%i tokens and a reply of %i, trained %s: num_ctx %s', (prompt, reply, trained, expected) =>
  expect(fittingNumCtx(prompt, reply, trained)).toBe(expected),
);

test('any prompt in any window gives a reading whose numbers agree', () => {
  const message = fc.record({
    role: fc.constantFrom('system' as const, 'user' as const, 'assistant' as const, 'tool' as const),
    content: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.nat({ max: 300 }).map((times) => 'Section 1: parking. '.repeat(times)),
      fc.nat({ max: 80 }).map((times) => '今日は🙂'.repeat(times)),
    ),
  });
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 8 }),
      fc.option(fc.integer({ min: 1, max: 4_000 })),
      fc.constantFrom('rendered' as const, 'native' as const, 'unknown' as const),
      fc.constantFrom('chat' as const, 'generate' as const),
      fc.constantFrom('0.33.0', '0.30.5', '0.24.0', null),
      fc.option(fc.integer({ min: -1, max: 2_000 })),
      fc.option(fc.boolean()),
      (messages, window, promptPath, route, serverVersion, numKeep, addsBos) => {
        const reading = preflightSchema.parse(
          preflight({ ...asked, messages, window, promptPath, route, serverVersion, numKeep, addsBos }),
        );
        const { estimate, parts, kept, lost, headKept, tailKept, lostRanges } = reading;
        expect(parts.system + parts.history + parts.prompt).toBe(estimate.likely);
        if (kept !== null && lost !== null) expect(kept + lost).toBe(estimate.likely);
        if (headKept !== null && tailKept !== null) expect(headKept + tailKept).toBe(kept);
        if (reading.expected === 'intact') expect(lostRanges).toEqual([]);
        for (const { message: index, from, to } of lostRanges) {
          const text = messages[index]?.content ?? '';
          expect([from < to, to <= text.length]).toEqual([true, true]);
          expect([from, to].filter((at) => at > 0 && at < text.length && text.codePointAt(at - 1)! > 0xffff)).toEqual(
            [],
          );
        }
      },
    ),
    { numRuns: 500 },
  );
});
