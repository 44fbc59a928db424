/**
 * What each path does with a prompt that is too long: a case for every row and column of the table of
 * server behaviour. Inputs are made by hand from the row.
 */
import { describe, expect, test } from 'vitest';
import { preflight } from '../../shared/engine/truncation/preflight.ts';
import {
  type Change,
  type Expected,
  expectPrompt,
  halved,
  history,
  longText,
  nestedReply,
  one,
  promptVerdict,
  prose,
} from './behaviour-cases.ts';

const refusedWhole = { kinds: ['refused'], confidence: 'exact', needs: 1_421, has: 512, fitsNumCtx: 2_048 } as const;
const refusedLong = { kinds: ['refused'], confidence: 'certain', needs: null, lost: null } as const;
const wentThrough = { kinds: ['intact'], confidence: 'certain', lost: 0 } as const;

const ways = ['truncate on, shift on', 'truncate on, shift off', 'truncate off'] as const;
type Way = (typeof ways)[number];
const flags: Record<Way, Change> = {
  'truncate on, shift on': {},
  'truncate on, shift off': { shift: false },
  'truncate off': { truncate: false },
};
const images: Change = { hasImages: true, hasUncountedParts: true };
const mlx: Change = { serverVersion: '0.33.0', texts: one, windowRunning: 512, trainedContext: 16_384 };
const overModel = "input length (17000 tokens) exceeds the model's maximum context length (16384 tokens)";

/** Rows and columns of "what each path does when too long". */
const paths: readonly (readonly [string, Way, Change, Expected])[] = [
  [
    'chat, rendered, text',
    ways[0],
    { texts: history, reply: { promptEvalCount: 320 } },
    { kinds: ['messages-dropped'], confidence: 'likely', kept: 320 },
  ],
  ['chat, rendered, text', ways[0], { texts: [history[0], ...one], reply: { promptEvalCount: 259 } }, halved],
  [
    'chat, rendered, text',
    ways[0],
    { texts: [...history.slice(0, 3), ...one], reply: { promptEvalCount: 259 } },
    { ...halved, kinds: ['messages-dropped', 'halved'], lostAtLeast: true },
  ],
  [
    'chat, rendered, text',
    ways[1],
    { texts: history, reply: { promptEvalCount: 320 } },
    { kinds: ['messages-dropped'] },
  ],
  ['chat, rendered, text', ways[1], { texts: one, reply: longText }, refusedLong],
  ['chat, rendered, text', ways[2], { texts: one, reply: nestedReply }, refusedWhole],
  [
    'chat, rendered, text',
    ways[2],
    { texts: [['user', prose(20)]], windowRunning: 300, numCtxRequested: 300, reply: { promptEvalCount: 400 } },
    wentThrough,
  ],
  [
    'chat, rendered, with images',
    ways[0],
    { ...images, texts: one, reply: nestedReply },
    { kinds: ['refused'], needs: 1_421, has: 512 },
  ],
  [
    'chat, rendered, with images',
    ways[0],
    { ...images, texts: one, reply: { promptEvalCount: 259 } },
    { kinds: ['intact'], confidence: 'likely' },
  ],
  [
    'chat, rendered, with images',
    ways[1],
    { ...images, texts: one, reply: nestedReply },
    { kinds: ['refused'], needs: 1_421, has: 512 },
  ],
  [
    'chat, rendered, with images',
    ways[2],
    { ...images, texts: one, reply: nestedReply },
    { kinds: ['refused'], needs: 1_421, has: 512 },
  ],
  [
    'chat, native',
    ways[0],
    { promptPath: 'native', texts: history, reply: { promptEvalCount: 320 } },
    { kinds: ['messages-dropped'], confidence: 'likely' },
  ],
  ['chat, native', ways[0], { promptPath: 'native', texts: one, reply: nestedReply }, refusedWhole],
  [
    'chat, native',
    ways[0],
    { promptPath: 'native', texts: [['user', prose(14)]], reply: { promptEvalCount: 259 } },
    wentThrough,
  ],
  // A setting of the server can overrule the path that the model describes: the count of a cut is believed, and not called certain.
  [
    'chat, native',
    ways[0],
    { promptPath: 'native', texts: one, reply: { promptEvalCount: 259 } },
    { kinds: ['halved'], confidence: 'likely' },
  ],
  ['chat, native', ways[1], { promptPath: 'native', texts: one, reply: nestedReply }, refusedWhole],
  ['chat, native', ways[2], { promptPath: 'native', texts: one, reply: nestedReply }, refusedWhole],
  [
    'generate, templated (either mode)',
    ways[0],
    { route: 'generate', texts: [history[0], ...one], reply: { promptEvalCount: 259 } },
    halved,
  ],
  [
    'generate, templated (either mode)',
    ways[0],
    { route: 'generate', promptPath: 'native', texts: one, reply: { promptEvalCount: 259 } },
    halved,
  ],
  ['generate, templated (either mode)', ways[1], { route: 'generate', texts: one, reply: longText }, refusedLong],
  ['generate, templated (either mode)', ways[2], { route: 'generate', texts: one, reply: nestedReply }, refusedWhole],
  [
    'generate raw / template / suffix',
    ways[0],
    { route: 'generate', raw: true, texts: one, reply: { promptEvalCount: 259 } },
    halved,
  ],
  [
    'generate raw / template / suffix',
    ways[1],
    { route: 'generate', raw: true, texts: one, reply: longText },
    refusedLong,
  ],
  [
    'generate raw / template / suffix',
    ways[2],
    { route: 'generate', raw: true, texts: one, reply: nestedReply },
    refusedWhole,
  ],
  ...ways.flatMap((way) => [
    [
      'MLX any',
      way,
      { ...mlx, reply: { promptEvalCount: 1_150, evalCount: 200 } },
      { ...wentThrough, kept: 1_150, shifts: 0 },
    ] as const,
    [
      'MLX any',
      way,
      { ...mlx, reply: { ...longText, error: overModel } },
      { kinds: ['refused'], confidence: 'exact', needs: 17_000, has: 16_384 },
    ] as const,
  ]),
];

describe('what each path does when too long', () => {
  test.each(paths)('%s, %s: case %#', (_row, way, change, expected) => {
    expectPrompt({ ...change, ...flags[way] }, expected);
  });

  test('chat, rendered, with images, messages dropped: the size of the whole is not known, so no limit of the model is blamed', () => {
    const texts = [
      ['user', prose(30)],
      ['assistant', 'Noted.'],
      ['user', 'Hi.'],
    ] as const;
    const verdict = promptVerdict({ ...images, texts, reply: { promptEvalCount: 300 } });
    expect([verdict.kinds, verdict.next]).toEqual([['messages-dropped'], 'Shorten the text, or raise num_ctx.']);
  });

  test('every row has a case in every column', () => {
    const rows = [...new Set(paths.map(([row]) => row))];
    expect(rows).toHaveLength(6);
    const covered = new Set(paths.map(([row, way]) => `${row}/${way}`));
    expect(rows.flatMap((row) => ways.filter((way) => !covered.has(`${row}/${way}`)))).toEqual([]);
  });

  /** The same table before anything is sent. */
  test.each([
    ['chat, rendered, text: history', { messages: history }, 'messages-dropped'],
    ['chat, rendered, text: one message', {}, 'halved'],
    ['chat, rendered, text: shift and truncate off', { policy: 'refuse' }, 'refused'],
    ['chat, native: history', { messages: history, promptPath: 'native' }, 'messages-dropped'],
    ['chat, native: one message', { promptPath: 'native' }, 'refused'],
    ['generate, on a native model', { promptPath: 'native', route: 'generate' }, 'halved'],
    ['generate: shift and truncate off', { route: 'generate', policy: 'refuse' }, 'refused'],
  ] as const)('expected before sending: %s', (_name, { messages = one, ...change }: PreflightChange, expected) => {
    const reading = preflight({
      route: 'chat',
      promptPath: 'rendered',
      policy: 'warn',
      serverVersion: '0.33.0',
      addsBos: true,
      window: 512,
      windowSource: 'requested',
      trained: 32_768,
      numPredict: 20,
      numKeep: null,
      ...change,
      messages: messages.map(([role, content]) => ({ role, content })),
    });
    expect([reading.outcome, reading.expected]).toEqual(['does-not-fit', expected]);
  });
});

type Role = 'system' | 'user' | 'assistant';
interface PreflightChange {
  readonly messages?: readonly (readonly [Role, string])[];
  readonly promptPath?: 'rendered' | 'native';
  readonly route?: 'chat' | 'generate';
  readonly policy?: 'warn' | 'refuse';
}
