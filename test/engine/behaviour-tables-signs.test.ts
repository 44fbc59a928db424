/** Every sign of loss there is: a case for every row of the table of server behaviour. Inputs are made by hand from the row. */
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

const cutLog =
  'time=2026-11-29T12:00:00.000Z level=WARN source=llama_server.go:317 msg="truncating input prompt" limit=259 prompt=1421 keep=5 new=259';
const droppedLog =
  'time=2026-11-29T12:00:00.000Z level=DEBUG source=prompt.go:77 msg="truncating input messages which exceed context length" truncated=3';
const promptLine = (tokens: number): string =>
  `slot launch_slot_: id  0 | task 12 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = ${tokens}`;
const shiftLine = 'slot update_slots: id  0 | task 12 | slot context shift, n_keep = 5, n_left = 506, n_discard = 253';

const signs: readonly Case[] = [
  [
    'count equals the limit',
    '512 and num_keep 4',
    () => expectPrompt({ texts: one, reply: { promptEvalCount: 259 } }, halved),
  ],
  [
    'count equals the limit',
    'num_keep 64 in 2,048',
    () =>
      expectPrompt(
        { texts: [['user', prose(150)]], windowRunning: 2_048, numKeep: 64, reply: { promptEvalCount: 1_057 } },
        { kinds: ['halved'], confidence: 'certain', headKept: 65 },
      ),
  ],
  [
    'count equals the limit',
    'without a begin token',
    () =>
      expectPrompt(
        { texts: one, addsBos: false, reply: { promptEvalCount: 258 } },
        { kinds: ['halved'], confidence: 'certain', headKept: 4 },
      ),
  ],
  [
    'count equals the limit',
    'one more is no cut',
    () => expectPrompt({ texts: [['user', prose(13)]], reply: { promptEvalCount: 260 } }, { kinds: ['intact'] }),
  ],
  ...(['0.30.0', '0.30.5', '0.30.10'] as const).map((serverVersion): Case => [
    'count of the window in old servers',
    serverVersion,
    () =>
      expectPrompt(
        { texts: one, serverVersion, reply: { promptEvalCount: 511, evalCount: 1 } },
        { kinds: ['cut-to-window'], confidence: 'certain' },
      ),
  ]),
  ...(['0.24.0', '0.29.9'] as const).map((serverVersion): Case => [
    'count of the window in old servers',
    serverVersion,
    () => expectPrompt({ texts: one, serverVersion, reply: { promptEvalCount: 512 } }, { kinds: ['cut-to-window'] }),
  ]),
  [
    'context less output and count',
    'lost',
    () =>
      expectPrompt(
        {
          route: 'generate',
          texts: one,
          reply: { promptEvalCount: 259, evalCount: 20, doneReason: 'length', contextLength: 1_440 },
        },
        { ...halved, confidence: 'exact', sent: 1_421, lost: 1_162 },
      ),
  ],
  [
    'context less output and count',
    'nothing lost',
    () =>
      expectPrompt(
        { route: 'generate', reply: { promptEvalCount: 30, evalCount: 20, doneReason: 'length', contextLength: 49 } },
        { kinds: ['intact'], confidence: 'exact', sent: 30 },
      ),
  ],
  [
    'context less output and count',
    'raw has none, the size alone speaks',
    () =>
      expectPrompt(
        { route: 'generate', raw: true, texts: one, reply: { promptEvalCount: 259, evalCount: 20 } },
        halved,
      ),
  ],
  [
    'prompt and output over the window',
    'one shift',
    () =>
      expectPrompt(
        { reply: { promptEvalCount: 30, evalCount: 483, doneReason: 'length' } },
        { kinds: ['shifted'], confidence: 'certain', shifts: 1 },
      ),
  ],
  [
    'prompt and output over the window',
    'the count of shifts',
    () =>
      expectPrompt(
        { reply: { promptEvalCount: 30, evalCount: 483 + 3 * 253, doneReason: 'stop' } },
        { kinds: ['shifted'], shifts: 4 },
      ),
  ],
  [
    'prompt and output over the window',
    'one token less is none',
    () => expectPrompt({ reply: { promptEvalCount: 30, evalCount: 481 } }, { kinds: ['intact'], shifts: 0 }),
  ],
  [
    'prompt and output over the window',
    'shift off ends at the window',
    () =>
      expectPrompt(
        { shift: false, numPredict: 600, reply: { promptEvalCount: 30, evalCount: 482, doneReason: 'length' } },
        { kinds: ['window-full'], confidence: 'certain', shifts: 0 },
      ),
  ],
  [
    'prompt and output over the window',
    'padded: 300 ends at 512',
    () =>
      expectPrompt(
        { windowRunning: 300, numCtxRequested: 300, reply: { promptEvalCount: 30, evalCount: 400 } },
        { kinds: ['intact'], shifts: 0 },
      ),
  ],
  [
    'count fell although the history grew',
    'alone decides where the estimate leaves it open',
    () => {
      const close: Change = {
        texts: [
          ['user', prose(4)],
          ['assistant', prose(22)],
          ['user', prose(1)],
        ],
        reply: { promptEvalCount: 440 },
      };
      expect(promptVerdict(close).kinds).not.toContain('messages-dropped');
      expectPrompt(
        { ...close, previous: { promptEvalCount: 490, characters: 2_000 } },
        { kinds: ['messages-dropped'], confidence: 'likely' },
      );
    },
  ],
  [
    'count fell although the history grew',
    'fell',
    () =>
      expectPrompt(
        { texts: history, previous: { promptEvalCount: 500, characters: 1_200 }, reply: { promptEvalCount: 320 } },
        { kinds: ['messages-dropped'], confidence: 'likely' },
      ),
  ],
  [
    'count fell although the history grew',
    'the text was shortened instead',
    () =>
      expectPrompt(
        {
          texts: history.slice(0, 3),
          previous: { promptEvalCount: 500, characters: 3_000 },
          reply: { promptEvalCount: 300 },
        },
        { kinds: ['intact'] },
      ),
  ],
  [
    'render with and without truncation',
    'shorter',
    () =>
      expectPrompt(
        { texts: history, render: { keptCharacters: 1_200, uncutCharacters: 2_400 }, reply: { promptEvalCount: 320 } },
        { kinds: ['messages-dropped'], confidence: 'exact' },
      ),
  ],
  [
    'render with and without truncation',
    'the same',
    () =>
      expectPrompt(
        { texts: history, render: { keptCharacters: 2_400, uncutCharacters: 2_400 }, reply: { promptEvalCount: 500 } },
        { kinds: ['intact'], confidence: 'exact' },
      ),
  ],
  [
    'render with and without truncation',
    'shows no token cut',
    () =>
      expectPrompt(
        { texts: one, render: { keptCharacters: 4_900, uncutCharacters: 4_900 }, reply: { promptEvalCount: 259 } },
        halved,
      ),
  ],
  [
    'local estimate against the count',
    'decides nothing alone',
    () => {
      const verdict = promptVerdict({
        texts: [['user', prose(30)]],
        windowRunning: null,
        numCtxRequested: null,
        reply: { promptEvalCount: 300 },
      });
      expect(verdict.kinds).toEqual(['unknown']);
      expect(verdict.confidence).toBe('likely');
    },
  ],
  [
    'server log',
    'token cut',
    () =>
      expectPrompt(
        { texts: one, log: [cutLog, promptLine(259)], reply: { promptEvalCount: 259 } },
        { ...halved, confidence: 'exact', sent: 1_421, lost: 1_162 },
      ),
  ],
  [
    'server log',
    'messages',
    () =>
      expectPrompt(
        { texts: history, log: [droppedLog, promptLine(320)], reply: { promptEvalCount: 320 } },
        { kinds: ['messages-dropped'], confidence: 'exact' },
      ),
  ],
  [
    'server log',
    'shift',
    () =>
      expectPrompt(
        { log: [promptLine(30), shiftLine], reply: { promptEvalCount: 30, evalCount: 500 } },
        { kinds: ['shifted'], confidence: 'exact', shifts: 1 },
      ),
  ],
  [
    'server log',
    'silence below debug level proves nothing about messages',
    () => {
      const verdict = promptVerdict({ texts: history, log: [promptLine(320)], reply: { promptEvalCount: 320 } });
      expect(verdict.confidence).not.toBe('exact');
    },
  ],
  [
    'worked example',
    'generate: 6,000 tokens in 4,096, 300 out',
    () => {
      const verdict = promptVerdict({
        route: 'generate',
        texts: [['user', prose(300)]],
        windowRunning: 4_096,
        numPredict: 300,
        reply: { promptEvalCount: 2_051, evalCount: 300, doneReason: 'length', contextLength: 6_299 },
      });
      expect(verdict).toMatchObject({
        kinds: ['halved'],
        confidence: 'certain',
        kept: 2_051,
        headKept: 5,
        tailKept: 2_046,
      });
      // Over 200 tokens of output may come back as other tokens: the number stands in the evidence as "about".
      expect(verdict.lost).toBeNull();
      expect(verdict.evidence[0]?.text).toContain('about 3,949 were lost');
    },
  ],
  [
    'worked example',
    'the same as native chat',
    () =>
      expectPrompt(
        {
          promptPath: 'native',
          texts: [['user', prose(300)]],
          windowRunning: 4_096,
          reply: { ...nestedReply, error: nested(6_014, 4_096), needs: 6_014, has: 4_096 },
        },
        { kinds: ['refused'], needs: 6_014, fitsNumCtx: 8_192 },
      ),
  ],
  [
    'worked example',
    'the same as rendered chat',
    () =>
      expectPrompt(
        { texts: [history[0], ['user', prose(300)]], windowRunning: 4_096, reply: { promptEvalCount: 2_051 } },
        { kinds: ['halved'], confidence: 'certain', headKept: 5 },
      ),
  ],
  [
    'exact counts without generating',
    'from the nested refusal',
    () => {
      const { truncation } = recorded({
        body: { model: 'm', messages: [{ role: 'user', content: tooLong }], truncate: false },
        status: 400,
        reply: nested(1_421, 512),
      });
      expect(truncation).toMatchObject({ kinds: ['refused'], sent: 1_421, needs: 1_421, has: 512 });
    },
  ],
  [
    'exact counts without generating',
    'from one token of output',
    () =>
      expectPrompt(
        { numPredict: 1, reply: { promptEvalCount: 30, evalCount: 1, doneReason: 'length' } },
        { kinds: ['intact'], sent: 30 },
      ),
  ],
];

describe('signs of loss', () => {
  test.each(signs)('%s: %s', (_row, _part, run) => run());

  test('every row has a case', () => {
    expect([...new Set(signs.map(([row]) => row))]).toHaveLength(10);
  });
});
