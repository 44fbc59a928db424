import { describe, expect, test } from 'vitest';
import { callRequestSchema } from '../../../shared/contract/calls.ts';
import { settingsSchema } from '../../../shared/contract/settings.ts';
import {
  buildRequest,
  contentOf,
  parseWhole,
  thinkChoices,
  windowStops,
} from '../../../renderer/pages/live/build-request.ts';
import type { RequestDraft } from '../../../renderer/pages/live/build-request.ts';

const settings = settingsSchema.parse({});
const draft: RequestDraft = {
  model: 'gemma3:270m',
  numCtx: '',
  numPredict: '',
  think: 'default',
  temperature: '0',
  seed: '7',
  policy: null,
  system: '',
  turns: [],
  content: 'What is the launch code?',
};
const build = (patch: Partial<RequestDraft>) => buildRequest({ ...draft, ...patch }, settings, 'default');

describe('buildRequest', () => {
  test('empty boxes mean the server default and the numbers of Settings', () => {
    const { request, problems } = build({});
    expect(problems).toEqual({});
    expect(callRequestSchema.parse(request)).toEqual(request);
    expect(request).toMatchObject({ numCtx: null, numPredict: 256, policy: 'warn', messages: [{ role: 'user' }] });
  });

  test.each([
    ['8192', 8192],
    ['8,192', 8192],
    [' 40 960 ', 40960],
    ['999', 999],
  ])('num_ctx %j is %i', (typed, numCtx) => {
    expect(build({ numCtx: typed }).request?.numCtx).toBe(numCtx);
  });

  test.each([
    ['0', 'num_ctx must be at least 1; leave it empty for the server default.'],
    ['-4096', 'num_ctx must be at least 1; leave it empty for the server default.'],
    ['4k', 'num_ctx must be a whole number, such as 8192.'],
    ['4096.5', 'num_ctx must be a whole number, such as 8192.'],
    ['1e3', 'num_ctx must be a whole number, such as 8192.'],
    ['0x10', 'num_ctx must be a whole number, such as 8192.'],
    ['99999999', 'num_ctx must be at most 10,000,000.'],
    ['9'.repeat(30), 'num_ctx is too large.'],
  ])('num_ctx %j is refused with the reason', (typed, problem) => {
    const built = build({ numCtx: typed });
    expect(built).toEqual({ request: null, problems: { numCtx: problem } });
  });

  test('an output without a bound is never built', () => {
    expect(build({ numPredict: '0' }).problems.numPredict).toContain('0 takes every bound off');
    expect(build({ numPredict: '-1' }).request).toBeNull();
  });

  test.each(['', '-1', 'hot', '6', '1e1'])('temperature %j is refused', (temperature) => {
    expect(build({ temperature }).problems.temperature).toContain('0 to 5');
  });

  test('a comma is a decimal mark too', () => {
    expect(build({ temperature: '0,7' }).request?.temperature).toBe(0.7);
  });

  test('every problem is told at once, beside its field', () => {
    expect(Object.keys(build({ numCtx: '0', seed: 'x', content: '', model: '' }).problems).sort()).toEqual([
      'message',
      'model',
      'numCtx',
      'seed',
    ]);
  });

  test('the system text goes first', () => {
    const turns = [
      { role: 'user' as const, content: 'Hello' },
      { role: 'assistant' as const, content: 'Bonjour' },
    ];
    expect(build({ system: 'Answer in French.', turns }).request?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
  });
});

test('files stand before the message, in their order', () => {
  const files = [
    { id: 1, name: 'a', text: 'A' },
    { id: 2, name: 'b', text: 'B' },
  ];
  expect(contentOf(files, 'Q')).toBe('A\n\nB\n\nQ');
  expect(contentOf(files, '')).toBe('A\n\nB');
  expect(contentOf([], 'Q')).toBe('Q');
});

test.each([
  ['1,2', 'problem'],
  ['1,234', 'value'],
  ['12,34', 'problem'],
])('grouping of %j: %s', (text, key) => {
  expect(Object.keys(parseWhole(text))).toEqual([key]);
});

test('stops of the slider rise and end at the trained context', () => {
  expect(windowStops(32_768)).toEqual([2_048, 4_096, 8_192, 16_384, 32_768]);
  expect(windowStops(40_960).slice(-2)).toEqual([32_768, 40_960]);
  expect(windowStops(512)).toEqual([512]);
});

test('think follows what the model can', () => {
  expect(thinkChoices(['completion'], 'gemma3')).toEqual([]);
  expect(thinkChoices(['completion', 'thinking'], 'gptoss')).not.toContain(false);
  expect(thinkChoices(['completion', 'thinking'], 'qwen3')).toContain(false);
  expect(thinkChoices(null, null)).toContain(true);
});
