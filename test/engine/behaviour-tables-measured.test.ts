/**
 * What was measured of cuts, refusals and shifts on a live server, row by row: the verdict on a call made by hand from the row.
 * The rows about a server that answers are in behaviour-tables-server.test.ts.
 */
import { describe, expect, test } from 'vitest';
import {
  type Case,
  type Change,
  expectPrompt,
  halved,
  history,
  nested,
  nestedReply,
  one,
  promptVerdict,
  prose,
  recorded,
  tooLong,
} from './behaviour-cases.ts';
import { read } from './reasoning/support.ts';

const rows = [
  'token cut',
  'num_ctx 300',
  'history too long, rendered',
  'system prompt or last message alone too long',
  'native, one long message',
  'native history',
  'generate',
  '/v1/chat/completions',
  'num_predict 0',
  'num_predict -1 or unset',
  'shift and sliding windows',
  'shift',
] as const;
type Row = (typeof rows)[number];

const long = (window: number): Change => ({
  texts: [['user', prose(Math.ceil(window / 8))]],
  windowRunning: window,
  numCtxRequested: window,
});
const cutRow = (window: number, numKeep: number | null, kept: number, headKept: number): Case => [
  'token cut',
  `num_ctx ${window}, num_keep ${numKeep ?? 'unset'} leaves ${kept}`,
  () =>
    expectPrompt(
      { ...long(window), numKeep, reply: { promptEvalCount: kept, evalCount: 1 } },
      {
        kinds: [kept >= window - 1 ? 'cut-to-window' : 'halved'],
        confidence: 'certain',
        kept,
        headKept,
        tailKept: kept - headKept,
      },
    ),
];
const at = (level: string, message: string, fields: string): string =>
  `time=2026-11-29T12:00:00.000Z level=${level} source=x.go:1 msg="${message}" ${fields}`;
const newPrompt = (tokens: number): string =>
  `slot launch_slot_: id  0 | task 7 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = ${tokens}`;
const chat = (content: string): object => ({ model: 'm', messages: [{ role: 'user', content }], stream: false });
const v1 = (prompt: number, completion: number, finish: string): object => ({
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: finish }],
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
});

const cases: readonly (readonly [Row, Case[1], Case[2]])[] = [
  ...(
    [
      [512, null, 259, 5],
      [4_096, null, 2_051, 5],
      [300, null, 153, 5],
      [4, null, 3, 3],
      [512, 40, 277, 41],
      [512, -1, 511, 511],
      [512, 1_000, 511, 511],
    ] as const
  ).map(([window, numKeep, kept, head]) => cutRow(window, numKeep, kept, head) as readonly [Row, Case[1], Case[2]]),
  [
    'token cut',
    'its log line',
    () =>
      expectPrompt(
        {
          ...long(4_096),
          log: [at('WARN', 'truncating input prompt', 'limit=2051 prompt=6869 keep=5 new=2051'), newPrompt(2_051)],
          reply: { promptEvalCount: 2_051 },
        },
        { kinds: ['halved'], confidence: 'exact', sent: 6_869, kept: 2_051, lost: 4_818, headKept: 5 },
      ),
  ],
  [
    'num_ctx 300',
    'cuts by 300, not by the padded 512',
    () => {
      expectPrompt({ ...long(300), reply: { promptEvalCount: 153 } }, { kinds: ['halved'], confidence: 'certain' });
      expectPrompt(
        { ...long(300), texts: [['user', prose(13)]], reply: { promptEvalCount: 259 } },
        { kinds: ['intact'] },
      );
    },
  ],
  [
    'history too long, rendered',
    'without the log: never a formula value, never called cut',
    () => {
      for (const promptEvalCount of [402, 450, 508]) {
        const { kinds } = promptVerdict({
          texts: [...history.slice(0, 4), ['assistant', prose(10)], ['user', prose(8)]],
          reply: { promptEvalCount },
        });
        expect(kinds).toEqual(['messages-dropped']);
      }
    },
  ],
  [
    'history too long, rendered',
    'the debug line makes it exact',
    () =>
      expectPrompt(
        {
          texts: [...history, ['assistant', 'No.'], ['user', 'Why?']],
          log: [at('DEBUG', 'truncating input messages which exceed context length', 'truncated=6'), newPrompt(410)],
          reply: { promptEvalCount: 410 },
        },
        { kinds: ['messages-dropped'], confidence: 'exact', kept: 410 },
      ),
  ],
  [
    'system prompt or last message alone too long',
    'system',
    () =>
      expectPrompt(
        {
          texts: [
            ['system', tooLong],
            ['user', 'Hi.'],
          ],
          reply: { promptEvalCount: 259 },
        },
        halved,
      ),
  ],
  [
    'system prompt or last message alone too long',
    'last message, both levels',
    () =>
      expectPrompt(
        { texts: [...history.slice(0, 3), ...one], reply: { promptEvalCount: 259 } },
        { ...halved, kinds: ['messages-dropped', 'halved'], lostAtLeast: true },
      ),
  ],
  [
    'native, one long message',
    'the refusal has the exact count',
    () => {
      const { truncation, reasoning } = recorded({ body: chat(tooLong), status: 400, reply: nested(1_435, 512) });
      expect(truncation).toMatchObject({
        kinds: ['refused'],
        confidence: 'exact',
        sent: 1_435,
        needs: 1_435,
        has: 512,
        fitsNumCtx: 2_048,
      });
      expect(reasoning).toMatchObject({ outcome: 'refused', cause: 'prompt-too-long' });
    },
  ],
  [
    'native history',
    'missed by one after dropping: what was needed before is not known',
    () => {
      const reply = { ...nestedReply, error: nested(513, 512), needs: 513, has: 512 };
      expectPrompt(
        { promptPath: 'native', texts: history, reply },
        { kinds: ['refused'], sent: null, lost: null, needs: 513, has: 512 },
      );
      const log = [
        at('DEBUG', 'truncating native chat messages which exceed context length', 'truncated=2'),
        'srv  send_error: task id = 7, error: request (513 tokens) exceeds the available context size (512 tokens), try increasing it',
      ];
      expectPrompt(
        { promptPath: 'native', texts: history, log, reply },
        { kinds: ['messages-dropped', 'refused'], lostAtLeast: true },
      );
    },
  ],
  [
    'generate',
    'context tells the whole: 1,440 - 20 + 1 - 259',
    () =>
      expectPrompt(
        {
          route: 'generate',
          texts: one,
          reply: { promptEvalCount: 259, evalCount: 20, doneReason: 'length', contextLength: 1_440 },
        },
        { ...halved, confidence: 'exact', lost: 1_162 },
      ),
  ],
  [
    'generate',
    'raw has no context',
    () =>
      expectPrompt(
        { route: 'generate', raw: true, texts: one, reply: { promptEvalCount: 259 } },
        { ...halved, lost: null },
      ),
  ],
  [
    'generate',
    'on a native model it is cut, not refused',
    () =>
      expectPrompt({ route: 'generate', promptPath: 'native', texts: one, reply: { promptEvalCount: 259 } }, halved),
  ],
  [
    '/v1/chat/completions',
    'num_ctx is not heeded: cut at the default window',
    () => {
      const body = { ...chat(prose(400)), options: { num_ctx: 16_384 } };
      const { truncation } = recorded({
        path: '/v1/chat/completions',
        body,
        reply: v1(2_051, 4, 'stop'),
        running: [{ name: 'm:latest', context_length: 4_096 }],
      });
      expect(truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain', kept: 2_051 });
      expect(truncation.next).toContain('/api/chat');
    },
  ],
  [
    '/v1/chat/completions',
    'the window that was asked for is not taken for the one that ran',
    () =>
      expectPrompt(
        {
          route: 'v1-chat',
          texts: [['user', prose(400)]],
          numCtxRequested: 16_384,
          windowRunning: null,
          reply: { promptEvalCount: 2_051 },
        },
        { kinds: ['halved'], confidence: 'likely', kept: 2_051 },
      ),
  ],
  [
    '/v1/chat/completions',
    'a native model refuses',
    () => {
      const reply = {
        error: {
          message: (JSON.parse(nested(6_883, 4_096)) as { error: string }).error,
          type: 'invalid_request_error',
        },
      };
      expect(
        recorded({ path: '/v1/chat/completions', body: chat(prose(400)), status: 400, reply }).truncation,
      ).toMatchObject({ kinds: ['refused'], needs: 6_883, has: 4_096 });
    },
  ],
  [
    '/v1/chat/completions',
    'max_completion_tokens bounds nothing: the window ended it',
    () => {
      const body = { ...chat('Count.'), max_completion_tokens: 4_084 };
      const { truncation, reasoning } = recorded({
        path: '/v1/chat/completions',
        body,
        reply: v1(12, 4_084, 'length'),
        running: [{ name: 'm:latest', context_length: 4_096 }],
      });
      expect(truncation.kinds).toEqual(['window-full']);
      expect(reasoning?.complete).toBe(false);
    },
  ],
  [
    'num_predict 0',
    'rendered: no bound, many shifts',
    () => {
      const numbers = { promptEvalCount: 27, evalCount: 7_006, doneReason: 'stop' } as const;
      expectPrompt({ numPredict: 0, reply: numbers }, { kinds: ['shifted'], shifts: 26 });
      expect(
        read({ content: 'x'.repeat(14_000), settings: { numPredict: 0, window: 512 }, end: { ...numbers } }).endedBy,
      ).toBe('stop');
    },
  ],
  [
    'num_predict 0',
    'rendered, stopped from this side: no counts, nothing is claimed',
    () =>
      expectPrompt(
        {
          numPredict: 0,
          reply: { ending: 'aborted', abortedBy: 'person', promptEvalCount: null, evalCount: null, doneReason: null },
        },
        { kinds: ['unknown'], confidence: 'none' },
      ),
  ],
  [
    'num_predict 0',
    'is no cap: the window ends it where it cannot shift',
    () => {
      const reply = { promptEvalCount: 12, evalCount: 500, doneReason: 'length' };
      expectPrompt({ numPredict: 0, reply }, { kinds: ['window-full'], confidence: 'certain' });
      const settings = { numPredict: 0, window: 512 };
      expect(read({ thinking: 'Let me see. '.repeat(90), settings, end: reply })).toMatchObject({ cause: 'window' });
    },
  ],
  [
    'num_predict 0',
    'native: one token',
    () =>
      expectPrompt(
        { promptPath: 'native', numPredict: 0, reply: { promptEvalCount: 27, evalCount: 1, doneReason: 'length' } },
        { kinds: ['intact'], shifts: 0 },
      ),
  ],
  ...([-1, null] as const).map(
    (numPredict) =>
      [
        'num_predict -1 or unset',
        `${numPredict}: ten windows`,
        () => {
          const reply = { promptEvalCount: 14, evalCount: 640, doneReason: 'length' };
          expectPrompt(
            { windowRunning: 64, numCtxRequested: 64, numPredict, reply },
            { kinds: ['shifted'], confidence: 'certain' },
          );
          expect(read({ content: 'x '.repeat(640), settings: { numPredict, window: 64 }, end: reply })).toMatchObject({
            outcome: 'answered',
            endedBy: 'shift',
            complete: false,
          });
        },
      ] as const,
  ),
  [
    'shift and sliding windows',
    '12 + 4,084 = 4,096 with length',
    () => {
      const reply = { promptEvalCount: 12, evalCount: 4_084, doneReason: 'length' };
      expectPrompt(
        { windowRunning: 4_096, numPredict: 8_000, reply },
        { kinds: ['window-full'], confidence: 'certain', shifts: 0 },
      );
      expect(
        read({ thinking: 'Let me see.', settings: { numPredict: 8_000, window: 4_096 }, end: reply }),
      ).toMatchObject({ outcome: 'starved', cause: 'window' });
    },
  ],
  [
    'shift',
    '600 tokens from 27 at 256: three',
    () =>
      expectPrompt(
        { windowRunning: 256, numPredict: 600, reply: { promptEvalCount: 27, evalCount: 600, doneReason: 'length' } },
        { kinds: ['shifted'], confidence: 'certain', shifts: 3 },
      ),
  ],
  [
    'shift',
    'off: it ends at 256',
    () =>
      expectPrompt(
        {
          windowRunning: 256,
          numPredict: 600,
          shift: false,
          reply: { promptEvalCount: 27, evalCount: 229, doneReason: 'length' },
        },
        { kinds: ['window-full'], shifts: 0 },
      ),
  ],
];

describe('measured cuts and shifts', () => {
  test.each(cases)('%s: %s', (_row, _part, run) => run());

  test('every row has a case', () => {
    const covered = new Set(cases.map(([row]) => row));
    expect(rows.filter((row) => !covered.has(row))).toEqual([]);
  });
});
