/** Edges that reviews of recordings found, and the signs that decide nothing alone. */
import { describe, expect, test } from 'vitest';
import type { TruncationInput } from '../../../shared/engine/truncation/types.ts';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';
import { classifyTruncation } from '../../../shared/engine/truncation/classify.ts';

type Change = Omit<Partial<TruncationInput>, 'reply' | 'messages'> & {
  readonly reply?: Partial<TruncationInput['reply']>;
  readonly texts?: readonly (readonly [role: string, content: string])[];
};

const sentence = 'Section 1: requests about parking go to desk 100 and are answered within 1 days. ';

function verdict({
  texts = [['user', sentence]],
  reply = {},
  ...change
}: Change): ReturnType<typeof classifyTruncation> {
  const messages = texts.map(([role, content]) => ({ role, content }));
  const { total, messages: sizes } = estimateMessages(messages);
  return classifyTruncation({
    route: 'chat',
    promptPath: 'rendered',
    serverVersion: '0.33.0',
    raw: false,
    messages: messages.map((message, index) => ({
      role: message.role,
      characters: message.content.length,
      estimate: sizes[index] ?? total,
    })),
    estimate: total,
    hasUncountedParts: false,
    numCtxRequested: 512,
    windowRunning: 512,
    trainedContext: 32_768,
    numKeep: null,
    numPredict: 600,
    truncate: null,
    shift: null,
    addsBos: true,
    log: null,
    render: null,
    previous: null,
    ...change,
    reply: {
      status: 200,
      ending: 'done',
      promptEvalCount: 30,
      evalCount: 4,
      doneReason: 'stop',
      contextLength: null,
      error: null,
      needs: null,
      has: null,
      ...reply,
    },
  });
}
const short = (change: Change): unknown => {
  const { kinds, confidence } = verdict(change);
  return [kinds.join('+'), confidence];
};

describe('a count that is the cut size', () => {
  test('is intact where what was sent fits that count', () => {
    expect(short({ texts: [['user', sentence.repeat(11)]], reply: { promptEvalCount: 259 } })).toEqual([
      'intact',
      'certain',
    ]);
    expect(
      short({
        texts: [['user', '今日は天気がいいので、公園を散歩しました。'.repeat(20)]],
        reply: { promptEvalCount: 259 },
      }),
    ).toEqual(['intact', 'likely']);
  });

  test('is a cut where it does not', () => {
    const halved = verdict({ texts: [['user', sentence.repeat(60)]], reply: { promptEvalCount: 259 } });
    expect([halved.kinds, halved.confidence, halved.headKept, halved.tailKept]).toEqual([
      ['halved'],
      'certain',
      5,
      254,
    ]);
    expect(halved.next).toBe('Send again with num_ctx 4,096: nothing is lost.');
  });

  test('cannot be told with half of the window and a text that may be either', () => {
    expect(
      short({
        texts: [['user', '今日は天気がいいので、公園を散歩しました。'.repeat(33)]],
        reply: { promptEvalCount: 259 },
      }),
    ).toEqual(['unknown', 'possible']);
  });

  test('is none with images, with shift off and with truncate off', () => {
    const cut: Change = { texts: [['user', sentence.repeat(60)]], reply: { promptEvalCount: 259 } };
    const kindsOf = (change: Change): string => verdict({ ...cut, ...change }).kinds.join();
    expect([{ hasImages: true }, { shift: false }, { truncate: false }].map(kindsOf)).toEqual([
      'intact',
      'intact',
      'intact',
    ]);
    expect(kindsOf({ promptPath: 'native', route: 'generate' })).toBe('halved');
    // Up to 0.30.8 shift off did not keep the server from cutting.
    expect(kindsOf({ shift: false, serverVersion: '0.30.5', reply: { promptEvalCount: 511 } })).toBe('cut-to-window');
    // Flags that old servers do not know protect nothing.
    expect(kindsOf({ truncate: false, serverVersion: '0.11.0', reply: { promptEvalCount: 512 } })).toBe(
      'cut-to-window',
    );
  });

  test('speaks against a native path that was only read from the description of the model', () => {
    const fits: Change = {
      promptPath: 'native',
      texts: [['user', sentence.repeat(11)]],
      reply: { promptEvalCount: 259 },
    };
    expect(short(fits)).toEqual(['intact', 'certain']);
    expect(short({ ...fits, texts: [['user', sentence.repeat(60)]] })).toEqual(['halved', 'likely']);
  });

  test('set by a num_keep in the Modelfile is likely, with the num_keep it tells', () => {
    const halved = verdict({ texts: [['user', sentence.repeat(60)]], reply: { promptEvalCount: 300 } });
    expect([halved.kinds, halved.confidence]).toEqual([['halved'], 'likely']);
    expect(halved.evidence[0]?.text).toMatch(/num_keep of about 88/);
  });
});

describe('one message whose count is no cut size is whole, whatever ratios say', () => {
  const padded: Change = { windowRunning: 777, promptPath: 'native' };
  test.each<[string, string, number, Change]>([
    ['long English words', 'international responsibility '.repeat(60), 130, {}],
    ['runs of spaces', `word${' '.repeat(40)}`.repeat(40), 90, {}],
    ['padded: 999 tokens in 777', sentence.repeat(44), 999, padded],
  ])('%s', (_, content, promptEvalCount, change) => {
    expect(verdict({ texts: [['user', content]], reply: { promptEvalCount }, ...change }).kinds).toEqual(['intact']);
  });

  test('95 % of the window is told, and no more', () => {
    const full = verdict({ texts: [['user', sentence.repeat(22)]], reply: { promptEvalCount: 505 } });
    expect([full.kinds, full.confidence]).toEqual([['intact'], 'certain']);
    expect(full.evidence.at(-1)).toMatchObject({
      confidence: 'possible',
      text: 'The prompt fills 99 % of the window: a few tokens more are cut.',
    });
  });
});

describe('conversations', () => {
  const turns = (count: number, characters: number): (readonly [string, string])[] => [
    ['system', 'You are terse.'],
    ...Array.from(
      { length: count },
      (_, index) =>
        [
          index % 2 === 0 ? 'user' : 'assistant',
          index % 2 === 0 ? sentence.repeat(20).slice(0, characters) : 'Noted.',
        ] as const,
    ),
    ['user', 'Which code should you remember?'],
  ];

  test('a drop leaves the count under the window by less than the message that went last', () => {
    expect(short({ texts: turns(12, 600), reply: { promptEvalCount: 476 } })).toEqual(['messages-dropped', 'likely']);
    // 60 is what would be left of three messages, but too far under 512: the last one dropped had at most some 220 tokens.
    expect(verdict({ texts: turns(12, 600), reply: { promptEvalCount: 60 } }).kinds).toEqual(['unknown']);
  });

  test('what must fit is intact for certain', () => {
    expect(short({ texts: turns(4, 100), windowRunning: 4_096, reply: { promptEvalCount: 130 } })).toEqual([
      'intact',
      'certain',
    ]);
  });

  test('a count that fell while the conversation grew', () => {
    const texts = turns(6, 520);
    const open = { texts, reply: { promptEvalCount: 400 } };
    expect(short(open)).toEqual(['unknown', 'possible']);
    expect(short({ ...open, previous: { promptEvalCount: 490, characters: 1_400 } })).toEqual([
      'messages-dropped',
      'likely',
    ]);
    expect(short({ ...open, previous: { promptEvalCount: 490, characters: 9_000 } })).toEqual(['unknown', 'possible']);
  });

  test('a role that no template knows', () => {
    expect(short({ texts: [['banana', sentence]], reply: { promptEvalCount: 1 } })).toEqual(['unknown', 'likely']);
  });
});

describe('generation', () => {
  test.each([
    [
      'num_ctx 300 ends at 512, not by the cap of 600',
      { windowRunning: 300, shift: false, reply: { promptEvalCount: 30, evalCount: 482, doneReason: 'length' } },
      'window-full',
      'certain',
    ],
    [
      '21 + 235 = 256 under a cap of 600',
      { windowRunning: 256, reply: { promptEvalCount: 21, evalCount: 235, doneReason: 'length' } },
      'window-full',
      'certain',
    ],
    [
      'ended by its cap',
      { windowRunning: 4_096, reply: { evalCount: 600, doneReason: 'length' } },
      'intact',
      'certain',
    ],
    [
      'shifted after a cut',
      { texts: [['user', sentence.repeat(60)]], reply: { promptEvalCount: 259, evalCount: 600, doneReason: 'length' } },
      'halved+shifted',
      'certain',
    ],
    [
      'an older server fills the window by cutting',
      {
        serverVersion: '0.24.0',
        texts: [['user', sentence.repeat(60)]],
        reply: { promptEvalCount: 512, evalCount: 20 },
      },
      'cut-to-window',
      'certain',
    ],
  ] as const)('%s', (_, change, kinds, confidence) => expect(short(change as Change)).toEqual([kinds, confidence]));

  test('more tokens than the window although shift was off: the window was another', () => {
    const other = verdict({ windowRunning: 256, shift: false, reply: { promptEvalCount: 30, evalCount: 600 } });
    expect([other.kinds, other.shifts]).toEqual([['intact'], 0]);
    expect(other.evidence.some((one) => one.text.includes('another one'))).toBe(true);
  });
});

describe('sources that are exact', () => {
  test('context tells the uncut prompt', () => {
    const cut = verdict({
      route: 'generate',
      texts: [['user', sentence.repeat(60)]],
      reply: { promptEvalCount: 259, evalCount: 20, contextLength: 1_440, doneReason: 'length' },
    });
    expect([cut.kinds, cut.confidence, cut.sent, cut.lost]).toEqual([['halved'], 'exact', 1_421, 1_162]);
    const whole = verdict({ route: 'generate', reply: { promptEvalCount: 30, evalCount: 20, contextLength: 49 } });
    expect([whole.kinds, whole.confidence, whole.lost]).toEqual([['intact'], 'exact', 0]);
  });

  test('a long output leaves the size of the loss open, and a near miss is no proof', () => {
    const texts = [['user', sentence.repeat(60)]] as const;
    const long: Change = { route: 'generate', texts, windowRunning: 4_096, numPredict: 900 };
    const cut = verdict({
      ...long,
      windowRunning: 512,
      reply: { promptEvalCount: 259, evalCount: 900, contextLength: 2_300, doneReason: 'length' },
    });
    expect([cut.kinds, cut.lost]).toEqual([['halved', 'shifted'], null]);
    const near = { promptEvalCount: 512, evalCount: 100, contextLength: 616, doneReason: 'length' };
    expect(
      verdict({
        ...long,
        serverVersion: '0.24.0',
        windowRunning: 512,
        texts: [['user', sentence.repeat(22)]],
        reply: near,
      }).kinds,
    ).toEqual(['unknown']);
  });

  test('a render with and without truncation tells dropped messages', () => {
    const gone = verdict({
      render: { keptCharacters: 1_000, uncutCharacters: 4_000 },
      reply: { promptEvalCount: 300 },
    });
    expect([gone.kinds, gone.confidence]).toEqual([['messages-dropped'], 'exact']);
    expect(short({ render: { keptCharacters: 81, uncutCharacters: 81 } })).toEqual(['intact', 'exact']);
  });

  test('the log tells a cut even when the client left before the counts', () => {
    const log = ['time=x level=WARN msg="truncating input prompt" limit=259 prompt=1421 keep=5 new=259'];
    const cut = verdict({
      texts: [['user', sentence.repeat(60)]],
      log,
      reply: { ending: 'aborted', promptEvalCount: null, evalCount: null },
    });
    expect([cut.kinds, cut.confidence, cut.lost]).toEqual([['halved'], 'exact', 1_162]);
  });

  test('the log alone tells the kind of a cut where the window is not known', () => {
    const kindOf = (kept: number, serverVersion: string | null): string => {
      const log = [`level=WARN msg="truncating input prompt" limit=${kept} prompt=9000 keep=4 new=${kept}`];
      return verdict({
        log,
        serverVersion,
        windowRunning: null,
        numCtxRequested: null,
        reply: { promptEvalCount: kept },
      }).kinds.join();
    };
    expect([kindOf(2_050, '0.33.0'), kindOf(4_096, '0.24.0'), kindOf(4_096, null), kindOf(2_050, null)]).toEqual([
      'halved',
      'cut-to-window',
      'cut-to-window',
      'halved',
    ]);
  });

  test('the log tells the window where the one asked for was too large for the model', () => {
    const log = [
      'level=WARN msg="requested context size too large for model" num_ctx=100000 n_ctx_train=2048',
      'slot   operator(): id  0 | task 0 | new prompt, n_ctx_slot = 2048, n_keep = 4, task.n_tokens = 30',
    ];
    const small = verdict({
      log,
      trainedContext: null,
      windowRunning: null,
      numCtxRequested: 100_000,
      reply: { promptEvalCount: 30, evalCount: 2_018, doneReason: 'length' },
    });
    expect(small.kinds).toEqual(['window-full']);
  });

  test('a log whose lines do not carry the count proves nothing by silence', () => {
    const log = ['[GIN] 2026/11/29 - 20:00:35 | 200 |  387.459517ms |       127.0.0.1 | POST     "/api/chat"'];
    expect(short({ log })).toEqual(['intact', 'certain']);
  });

  test('a debug log without a line about dropped messages proves that none was', () => {
    const texts = Array.from({ length: 7 }, () => ['user', sentence.repeat(4)] as const);
    const log = ['slot   operator(): id  0 | task 0 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = 490'];
    const full: Change = { texts, reply: { promptEvalCount: 490, evalCount: 1 } };
    expect(short({ ...full, log })).toEqual(['unknown', 'possible']);
    expect(short({ ...full, log: [...log, 'time=x level=DEBUG source=server.go msg="completion request"'] })).toEqual([
      'intact',
      'exact',
    ]);
  });

  test('0.30.0 leaves cached tokens out, so its low counts say nothing', () => {
    expect(
      short({ serverVersion: '0.30.0', texts: [['user', sentence.repeat(60)]], reply: { promptEvalCount: 3 } }),
    ).toEqual(['unknown', 'possible']);
    const generate: Change = {
      serverVersion: '0.30.0',
      route: 'generate',
      windowRunning: 4_096,
      numCtxRequested: 4_096,
      texts: [['user', sentence.repeat(60)]],
      reply: { promptEvalCount: 3, evalCount: 20, contextLength: 1_420 },
    };
    expect(verdict(generate)).toMatchObject({ kept: null, lost: null });
  });

  test('a count of 0 for a prompt with text in it says nothing', () => {
    expect(verdict({ reply: { promptEvalCount: 0 } })).toMatchObject({ kinds: ['unknown'], kept: null, lost: null });
  });

  test('thinking leaves the loss in the context field proven and its size open', () => {
    const cut: Change = {
      route: 'generate',
      texts: [['user', sentence.repeat(60)]],
      reply: { promptEvalCount: 259, evalCount: 20, doneReason: 'length', contextLength: 1_440 },
    };
    expect(verdict(cut)).toMatchObject({ kinds: ['halved'], confidence: 'exact', lost: 1_162 });
    expect(verdict({ ...cut, reply: { ...cut.reply, thinking: 'Let me see.' } })).toMatchObject({
      kinds: ['halved'],
      confidence: 'certain',
      lost: null,
    });
  });

  test('a connection that broke is told apart from a call that was stopped', () => {
    const why = (abortedBy: string | null): string | undefined =>
      verdict({ reply: { ending: 'aborted', promptEvalCount: null, evalCount: null, doneReason: null, abortedBy } })
        .evidence[0]?.text;
    expect(why(null)).toBe('The connection broke before its counts came.');
    expect(why('person')).toBe('The call was stopped before its counts came.');
  });
});

test('a window beyond what the model was trained for is never proposed', () => {
  const refused = verdict({
    trainedContext: 2_048,
    reply: { status: 400, ending: 'refused', promptEvalCount: null, error: 'x', needs: 5_000, has: 2_048 },
  });
  expect([refused.kinds, refused.fitsNumCtx, refused.next]).toEqual([
    ['refused'],
    null,
    'Shorten the text: the model was trained for 2,048 tokens.',
  ]);
});
