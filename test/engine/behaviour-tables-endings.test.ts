/** What was measured of counts, endings and other routes on a live server, row by row: the verdict on a call made by hand from the row. */
import { describe, expect, test } from 'vitest';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import {
  type Case,
  type Change,
  expectPrompt,
  halved,
  history,
  one,
  promptVerdict,
  prose,
  recorded,
  tooLong,
} from './behaviour-cases.ts';
import { read } from './reasoning/support.ts';

const rows = [
  'eval_count',
  'cache',
  'embeddings',
  'two slots',
  'native window',
  'repeat guard in the wild',
  'unknown role',
  'two names over the same weights',
  'truncated= in the two debug lines',
  'client leaves',
  'repeat guard',
  'runner dies',
  'tool call that cannot be parsed',
  'characters per token',
] as const;
type Row = (typeof rows)[number];

const long = (window: number): Change => ({
  texts: [['user', prose(Math.ceil(window / 8))]],
  windowRunning: window,
  numCtxRequested: window,
});
const at = (level: string, message: string, fields: string): string =>
  `time=2026-11-29T12:00:00.000Z level=${level} source=x.go:1 msg="${message}" ${fields}`;
const newPrompt = (tokens: number): string =>
  `slot launch_slot_: id  0 | task 7 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = ${tokens}`;
const chat = (content: string): object => ({ model: 'm', messages: [{ role: 'user', content }], stream: false });
const noDone = { model: 'm', message: { role: 'assistant', content: ' 1'.repeat(31) }, done: false };
const errorLine = (error: string): string =>
  `${JSON.stringify({ message: { role: 'assistant', content: 'Yes' }, done: false })}\n${JSON.stringify({ error })}\n`;
const token = (text: string): { token: string; bytes: null } => ({ token: text, bytes: null });

const cases: readonly (readonly [Row, Case[1], Case[2]])[] = [
  [
    'eval_count',
    'one more than the entries where the text ended by itself',
    () => {
      const verdict = read({
        content: 'Yes, it is.',
        end: { evalCount: 5 },
        more: { logprobs: ['Yes', ',', ' it', ' is.'].map(token) },
      });
      expect(verdict).toMatchObject({
        places: ['none'],
        split: { source: 'counted', answerTokens: 4, hiddenTokens: 0, otherTokens: 1 },
      });
    },
  ],
  [
    'eval_count',
    'the same where it ended by length',
    () => {
      const verdict = read({
        content: 'Yes, it is.',
        end: { evalCount: 4, doneReason: 'length' },
        settings: { numPredict: 4 },
        more: { logprobs: ['Yes', ',', ' it', ' is.'].map(token) },
      });
      expect(verdict.split).toMatchObject({ source: 'counted', answerTokens: 4, hiddenTokens: 0, otherTokens: 0 });
    },
  ],
  [
    'cache',
    'the count stays the same and stays comparable',
    () =>
      expectPrompt(
        { texts: [['user', prose(10)]], reply: { promptEvalCount: 195 } },
        { kinds: ['intact'], confidence: 'certain', sent: 195 },
      ),
  ],
  [
    'embeddings',
    'over the window',
    () =>
      expectPrompt(
        { route: 'embed', texts: one, reply: { promptEvalCount: 512, evalCount: null, doneReason: null } },
        { kinds: ['cut-to-window'], confidence: 'certain', kept: 512, headKept: 512, tailKept: 0 },
      ),
  ],
  [
    'embeddings',
    'several inputs: one of them is over',
    () =>
      expectPrompt(
        {
          route: 'embed',
          texts: [
            ['user', tooLong],
            ['user', 'hi'],
          ],
          reply: { promptEvalCount: 516, evalCount: null, doneReason: null },
        },
        { kinds: ['cut-to-window'], confidence: 'certain' },
      ),
  ],
  [
    'embeddings',
    'num_ctx 128 cuts to 128',
    () =>
      expectPrompt(
        {
          route: 'embed',
          texts: one,
          windowRunning: 128,
          reply: { promptEvalCount: 128, evalCount: null, doneReason: null },
        },
        { kinds: ['cut-to-window'], kept: 128 },
      ),
  ],
  [
    'embeddings',
    '9,000 is clamped to 512',
    () =>
      expectPrompt(
        {
          route: 'embed',
          texts: one,
          numCtxRequested: 9_000,
          windowRunning: null,
          trainedContext: 512,
          reply: { promptEvalCount: 512, evalCount: null, doneReason: null },
        },
        { kinds: ['cut-to-window'], kept: 512 },
      ),
  ],
  ...(['/api/embed', '/api/embeddings'] as const).map(
    (path) =>
      [
        'embeddings',
        `truncate off: refused by ${path}`,
        () => {
          const status = path === '/api/embed' ? 400 : 500;
          expect(
            recorded({
              path,
              body: { model: 'm', input: tooLong, truncate: false },
              status,
              reply: { error: 'the input length exceeds the context length' },
            }),
          ).toMatchObject({ truncation: { kinds: ['refused'] }, reasoning: null });
        },
      ] as const,
  ),
  [
    'embeddings',
    'an empty list has no counts',
    () =>
      expect(
        recorded({ path: '/api/embed', body: { model: 'm', input: [] }, reply: { model: 'm', embeddings: [] } })
          .truncation,
      ).toMatchObject({ kinds: ['unknown'], confidence: 'none' }),
  ],
  [
    'two slots',
    'the window is per slot',
    () => {
      expectPrompt({ ...long(1_024), reply: { promptEvalCount: 515 } }, { kinds: ['halved'], confidence: 'certain' });
      expectPrompt({ ...long(512), reply: { promptEvalCount: 259 } }, halved);
    },
  ],
  [
    'native window',
    '777 takes 999 whole, and ends at 1,024',
    () => {
      const native: Change = {
        promptPath: 'native',
        texts: [['user', prose(50)]],
        windowRunning: 777,
        numCtxRequested: 777,
        numPredict: 600,
      };
      expectPrompt(
        { ...native, reply: { promptEvalCount: 999, evalCount: 4 } },
        { kinds: ['intact'], kept: 999, shifts: 0 },
      );
      expectPrompt(
        { ...native, reply: { promptEvalCount: 999, evalCount: 25, doneReason: 'length' } },
        { kinds: ['window-full'] },
      );
    },
  ],
  [
    'repeat guard in the wild',
    'no done line, nothing repeats',
    () => {
      const { truncation, reasoning } = recorded({
        body: chat('Hi.'),
        reply: { message: { role: 'assistant', content: 'Well, I' }, done: false },
      });
      expect(truncation).toMatchObject({ kinds: ['unknown'], confidence: 'none' });
      expect(reasoning).toMatchObject({ outcome: 'cut', complete: false });
    },
  ],
  [
    'unknown role',
    'its message may have vanished',
    () => {
      const verdict = promptVerdict({ texts: [['narrator', prose(3)]], reply: { promptEvalCount: 1 } });
      expect(verdict.kinds).toEqual(['unknown']);
      expect(verdict.evidence[0]?.text).toContain('"narrator"');
    },
  ],
  [
    'unknown role',
    'in a conversation that fits by far too',
    () => {
      const texts = [
        ['narrator', prose(3)],
        ['user', 'Hi.'],
      ] as const;
      expectPrompt({ texts, reply: { promptEvalCount: 10 } }, { kinds: ['unknown'], confidence: 'likely', lost: null });
      expectPrompt({ texts, reply: { promptEvalCount: 74 } }, { kinds: ['intact'], kept: 74 });
    },
  ],
  [
    'two names over the same weights',
    'the only running window is taken',
    () => {
      const call = {
        body: chat(tooLong),
        reply: {
          model: 'm',
          message: { content: 'Yes.' },
          done: true,
          done_reason: 'stop',
          prompt_eval_count: 259,
          eval_count: 4,
        },
        running: [{ name: 'other:latest', context_length: 512 }],
      };
      expect(recorded(call).truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain' });
    },
  ],
  [
    'truncated= in the two debug lines',
    'rendered: messages kept, from the end',
    () => {
      const [line] = promptVerdict({
        texts: history,
        log: [at('DEBUG', 'truncating input messages which exceed context length', 'truncated=4'), newPrompt(320)],
        reply: { promptEvalCount: 320 },
      }).evidence;
      expect(line?.text).toMatch(/^1 message dropped/);
    },
  ],
  [
    'truncated= in the two debug lines',
    'native: index of the first kept',
    () => {
      const [line] = promptVerdict({
        promptPath: 'native',
        texts: history,
        log: [
          at('DEBUG', 'truncating native chat messages which exceed context length', 'truncated=4'),
          newPrompt(320),
        ],
        reply: { promptEvalCount: 320 },
      }).evidence;
      expect(line?.text).toMatch(/^3 messages dropped/);
    },
  ],
  ...(['mid-stream', 'before headers'] as const).map(
    (when) =>
      [
        'client leaves',
        when,
        () => {
          const status = when === 'mid-stream' ? 200 : null;
          const end = { status, ending: 'aborted', promptEvalCount: null, evalCount: null, doneReason: null } as const;
          expectPrompt(
            { reply: { ...end, abortedBy: 'person' } },
            { kinds: ['unknown'], confidence: 'none', shifts: null },
          );
          expect(read({ content: status === null ? '' : 'Ye', end })).toMatchObject({
            outcome: 'cut',
            endedBy: 'client',
            complete: false,
            obedience: 'not-asked',
          });
        },
      ] as const,
  ),
  [
    'repeat guard',
    'streamed: no done line after 31 equal tokens',
    () => {
      const reply = Array.from({ length: 31 }, () =>
        JSON.stringify({ message: { role: 'assistant', content: ' 1' }, done: false }),
      ).join('\n');
      expect(recorded({ body: { ...chat('Hi.'), stream: true }, reply })).toMatchObject({
        truncation: { kinds: ['unknown'] },
        reasoning: { outcome: 'cut', complete: false },
      });
      expect(read({ content: ' 1'.repeat(31), end: { ending: 'cut', doneReason: null } }).endedBy).toBe('repeat');
    },
  ],
  [
    'repeat guard',
    'not streamed: 200 with done false',
    () =>
      expect(recorded({ body: chat('Hi.'), reply: noDone })).toMatchObject({
        truncation: { kinds: ['unknown'] },
        reasoning: { outcome: 'cut', complete: false },
      }),
  ],
  [
    'runner dies',
    'streamed: an error line',
    () =>
      expect(
        recorded({
          body: { ...chat('Hi.'), stream: true },
          reply: errorLine('an error was encountered while running the model: unexpected EOF'),
        }),
      ).toMatchObject({
        truncation: { kinds: ['unknown'], confidence: 'none' },
        reasoning: { outcome: 'error-mid-stream', complete: false },
      }),
  ],
  [
    'runner dies',
    'not streamed: 500',
    () =>
      expect(
        recorded({
          body: chat('Hi.'),
          status: 500,
          reply: { error: 'an error was encountered while running the model: unexpected EOF' },
        }),
      ).toMatchObject({
        truncation: { kinds: ['unknown'], confidence: 'none' },
        reasoning: { outcome: 'refused', cause: 'server' },
      }),
  ],
  ...[
    'EOF',
    'failed to parse JSON: unexpected end of JSON input',
    "error parsing tool call: raw='{', err=unexpected end of JSON input",
  ].flatMap((error) => [
    [
      'tool call that cannot be parsed',
      `500: ${error}`,
      () =>
        expect(recorded({ body: chat('Hi.'), status: 500, reply: { error } })).toMatchObject({
          truncation: { kinds: ['unknown'] },
          reasoning: { outcome: 'refused', cause: 'server' },
        }),
    ] as const,
    [
      'tool call that cannot be parsed',
      `a line: ${error}`,
      () =>
        expect(recorded({ body: { ...chat('Hi.'), stream: true }, reply: errorLine(error) })).toMatchObject({
          truncation: { kinds: ['unknown'] },
          reasoning: { outcome: 'error-mid-stream' },
        }),
    ] as const,
  ]),
  ...(
    [
      ['English', prose(40), 3.6],
      ['code', 'for (let i = 0; i < n; i++) { total += items[i].price; }\n'.repeat(40), 2.6],
      ['Japanese', '今日は天気がいいので、公園を散歩しました。'.repeat(40), 1.7],
      ['emoji', '🙂🚀'.repeat(100), 1],
    ] as const
  ).map(
    ([name, text, ratio]) =>
      [
        'characters per token',
        `${name}: ${ratio} lies in the band`,
        () => {
          const { low, high } = estimateMessages([{ content: text }]).total;
          const counted = (name === 'emoji' ? [...text].length : text.length) / ratio + 8;
          expect(low).toBeLessThanOrEqual(counted);
          expect(high).toBeGreaterThanOrEqual(counted);
        },
      ] as const,
  ),
];

describe('measured counts and endings', () => {
  test.each(cases)('%s: %s', (_row, _part, run) => run());

  test('every row has a case', () => {
    const covered = new Set(cases.map(([row]) => row));
    expect(rows.filter((row) => !covered.has(row))).toEqual([]);
  });
});
