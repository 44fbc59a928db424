import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type Explanation, explanationSchema } from '../../../shared/contract/explain.ts';
import { explain } from '../../../shared/engine/explain/explain.ts';

const fixtures = ['real', 'old', 'scripted', 'embed', 'config'].flatMap((folder) =>
  readdirSync(`test/fixtures/${folder}`).map((file) => `${folder}/${file}`),
);
const textOf = (name: string): string => readFileSync(`test/fixtures/${name}`, 'utf8');

function explained(text: string, more: Partial<Parameters<typeof explain>[0]> = {}): Explanation {
  const result = explain({ text, ...more });
  if (!result.ok) throw new Error(result.denial.message);
  return explanationSchema.parse(result.value);
}

test.each(fixtures)('%s is read or refused, and the reading fits the contract', (name) => {
  const result = explain({ text: textOf(name) });
  if (result.ok) explanationSchema.parse(result.value);
  else expect(result.denial.code).toBe('bad-input');
});

/** The same call in every shape a person may have it in. */
describe('one halved call', () => {
  const file = JSON.parse(textOf('real/rendered-chat-long-one-message-default.json')) as {
    request: { path: string; body: unknown };
    response: { body: string };
    log: string[];
  };
  const request = file.request.body;
  const reply = JSON.parse(file.response.body) as Record<string, unknown>;
  const lines = [
    { ...reply, done: false, prompt_eval_count: undefined, eval_count: undefined },
    { ...reply, message: { role: 'assistant', content: '' } },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n');
  const known = { version: '0.33.0', window: 4_096 };

  test.each([
    ['request and response', JSON.stringify({ request, response: reply })],
    ['request and reply', JSON.stringify({ request, reply })],
    ['request and lines', JSON.stringify({ request, response: lines })],
    ['request as text, reply as text', JSON.stringify({ request: JSON.stringify(request), reply: file.response.body })],
    [
      'a proxy log with url and body',
      JSON.stringify({
        request: { url: 'http://127.0.0.1:11434/api/chat?x=1', body: request },
        response: { status: 200, body: reply },
      }),
    ],
    ['indented, with a byte order mark', `\ufeff${JSON.stringify({ request, reply }, null, 2)}`],
    [
      "a row of Spillway's history",
      JSON.stringify({
        path: '/api/chat',
        sentBody: JSON.stringify(request),
        rawReply: lines,
        serverVersion: '0.33.0',
        numCtxRunning: 4_096,
        reply: { status: 200, ending: 'done' },
      }),
    ],
  ])('%s', (_, text) => {
    const { truncation, read } = explained(text, known);
    expect([truncation.kinds, truncation.confidence, truncation.kept, truncation.fitsNumCtx]).toEqual([
      ['halved'],
      'certain',
      2_051,
      8_192,
    ]);
    expect(read).toMatchObject({
      model: 'probe-rendered',
      version: '0.33.0',
      window: 4_096,
      promptEvalCount: 2_051,
      evalCount: 20,
    });
    expect(read.answer).not.toBe('');
  });

  test('the reply alone does not prove a cut', () => {
    const { truncation } = explained(file.response.body, known);
    expect([truncation.kinds, truncation.confidence]).toEqual([['unknown'], 'possible']);
  });

  test('a log that is given makes it exact', () => {
    const { truncation } = explained(JSON.stringify({ request, reply }), {
      ...known,
      log: ['noise', ...file.log, ''].join('\r\n'),
    });
    expect([truncation.confidence, truncation.lost]).toEqual(['exact', 4_818]);
  });

  test('a log of other calls does not', () => {
    const other = file.log.join('\n').replaceAll('2051', '1027');
    const { truncation } = explained(JSON.stringify({ request, reply }), { ...known, log: other });
    expect([truncation.confidence, truncation.lost]).toEqual(['certain', null]);
    expect(truncation.evidence.at(-1)?.text).toBe('The server log has no lines of this call.');
  });

  test('a window that is given beats the recording', () => {
    expect(explained(JSON.stringify({ ...file, log: [] }), { window: 8_192 }).truncation.kinds).not.toContain('halved');
  });
});

describe('routes', () => {
  test.each([
    ['real/rendered-v1-chat-stream.json', 12, 8],
    ['real/v1-messages.json', 12, 8],
    ['real/v1-messages-stream.json', 12, 8],
    ['real/v1-responses.json', 12, 8],
    ['real/v1-completions.json', 12, 6],
    ['scripted/v1-think-stream.json', 14, 29],
    ['scripted/tool-harmony-stream.json', null, null],
  ])('%s', (name, promptTokens, evalTokens) => {
    const { read } = explained(textOf(name));
    if (promptTokens !== null) expect([read.promptEvalCount, read.evalCount]).toEqual([promptTokens, evalTokens]);
    else expect(read.promptEvalCount).toBeGreaterThan(0);
  });

  test('the guess in message_start is not taken for a count', () => {
    expect(
      explained(
        JSON.stringify({
          request: {},
          response: 'data: {"type":"message_start","message":{"usage":{"input_tokens":2}}}\n\n',
        }),
      ).read.promptEvalCount,
    ).toBeNull();
  });

  test('num_ctx on an OpenAI route sets no window, and the next step says where it would', () => {
    const file = JSON.parse(textOf('real/rendered-v1-chat-num-ctx-ignored.json')) as {
      running_after: unknown;
      log: unknown;
    };
    const { truncation, read } = explained(JSON.stringify({ ...file, running_after: [], log: [] }));
    expect(read.window).toBeNull();
    expect(truncation.kinds).toEqual(['halved']);
    expect(truncation.confidence).toBe('likely');
    expect(truncation.next).toMatch(/^Send it to \/api\/chat with num_ctx 8,192 \(this route ignores num_ctx\)/);
  });

  test('each part of a content is a message of its own, images forbid the cut', () => {
    const body = {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Section 1. '.repeat(2_000) },
            { type: 'image_url', image_url: { url: 'data:' } },
          ],
        },
      ],
    };
    const { truncation } = explained(
      JSON.stringify({
        request: { path: '/v1/chat/completions', body },
        response: {
          status: 200,
          body: {
            choices: [{ message: { content: 'x' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 2_051, completion_tokens: 3 },
          },
        },
      }),
      { window: 4_096 },
    );
    expect(truncation.kinds).not.toContain('halved');
  });
});

describe('a window that is not listed under the name of the model', () => {
  const file = JSON.parse(textOf('real/native-generate-raw-long.json')) as {
    request: { body: { options: Record<string, unknown> } };
    running_after: unknown;
  };

  test('is the one that was asked for', () => {
    const text = JSON.stringify({
      ...file,
      log: [],
      running_after: [{ model: 'another:latest', context_length: 4_096 }],
    });
    expect(explained(text).truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain' });
  });

  test('is that of the only runner where none was asked for', () => {
    const { num_ctx: _, ...options } = file.request.body.options;
    const request = { ...file.request, body: { ...file.request.body, options } };
    const text = JSON.stringify({
      ...file,
      request,
      log: [],
      running_after: [{ model: 'another:latest', context_length: 512 }],
    });
    expect(explained(text).truncation).toMatchObject({ kinds: ['halved'], confidence: 'certain' });
  });
});

describe('endings', () => {
  test.each([
    [
      '{"error":"an error was encountered while running the model: unexpected EOF"}',
      'The call failed for another reason than its length.',
    ],
    [
      '{"message":{"role":"assistant","content":"one"},"done":false}\n{"error":"unexpected EOF"}',
      'The stream broke with an error before its counts came.',
    ],
    [
      '{"message":{"role":"assistant","content":"one"},"done":false}\n',
      'The reply ended without a done line, so it has no counts.',
    ],
    [
      '{"message":{"role":"assistant","content":"one"},"done":false}\n{"message":{"role":"assis',
      'The stream broke with an error before its counts came.',
    ],
    [
      '{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}',
      'Nothing was asked: the model was only loaded.',
    ],
  ])('%s', (text, why) => {
    const { truncation } = explained(text);
    expect([truncation.kinds, truncation.confidence, truncation.evidence[0]?.text]).toEqual([['unknown'], 'none', why]);
  });

  test('a need packed as text in text is unwrapped', () => {
    const inner = {
      error: {
        code: 400,
        message: 'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
        n_prompt_tokens: 5_000,
        n_ctx: 4_096,
      },
    };
    const twice = JSON.stringify({ error: JSON.stringify({ error: JSON.stringify(inner) }) });
    expect(explained(twice).truncation).toMatchObject({
      kinds: ['refused'],
      confidence: 'exact',
      needs: 5_000,
      has: 4_096,
      fitsNumCtx: 8_192,
    });
  });

  test('a missing count is not zero', () => {
    const { read, truncation } = explained(
      '{"message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"stop"}',
    );
    expect([read.promptEvalCount, read.evalCount, truncation.kept, truncation.shifts]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('hostile input', () => {
  test.each([
    ['', 'The text is empty.'],
    ['  \n', 'The text is empty.'],
    ['[]', 'This is no reply of a chat or generate route.'],
    ['{}', 'This is no reply of a chat or generate route.'],
    ['null', 'This is no reply of a chat or generate route.'],
    ['42', 'This is no reply of a chat or generate route.'],
    ['{"a":1}', 'This is no reply of a chat or generate route.'],
  ])('%s is refused in words', (text, message) => {
    expect(explain({ text })).toMatchObject({ ok: false, denial: { code: 'bad-input', field: 'text', message } });
  });

  test('wrong types are as good as missing', () => {
    const body = {
      model: 7,
      message: 'x',
      prompt_eval_count: '12',
      eval_count: -3,
      done: 'yes',
      done_reason: {},
      context: 'long',
    };
    const request = {
      path: 9,
      body: { messages: [null, 'x', { role: 4, content: { a: 1 } }], options: { num_ctx: '4096', num_keep: 1e99 } },
    };
    const { read } = explained(
      JSON.stringify({
        request,
        response: { status: '200', body },
        running_after: [{ model: 'm', context_length: '8' }],
        log: [1, null],
        server: 'x',
      }),
    );
    expect(read).toMatchObject({ promptEvalCount: null, evalCount: null, window: null, version: null });
  });

  test('any JSON in any place is read or refused, never thrown', () => {
    const parts = fc.constantFrom(
      'request',
      'response',
      'reply',
      'body',
      'messages',
      'content',
      'options',
      'num_ctx',
      'num_keep',
      'prompt_eval_count',
      'eval_count',
      'context',
      'done',
      'error',
      'choices',
      'usage',
      'delta',
      'type',
      'log',
      'running_after',
      'context_length',
      'path',
      'status',
      'input',
      'output',
      'sentBody',
      'rawReply',
      '__proto__',
      'toString',
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom(
          null,
          true,
          0,
          -1,
          4,
          512,
          259,
          1e308,
          '',
          'message',
          'response',
          '/api/chat',
          '{"error":"x"}',
          'done',
        ),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(parts, tie('tree'), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const result = explain({ text: JSON.stringify(value) ?? '', window: 512 });
        if (result.ok) explanationSchema.parse(result.value);
      }),
      { numRuns: 2_000 },
    );
  });

  test('any text, and any recording torn, doubled or changed in one place, is read or refused', () => {
    const recordings = [
      'real/rendered-chat-history-drop.json',
      'real/rendered-v1-chat-stream.json',
      'real/v1-messages-stream.json',
      'real/native-chat-history-drop.json',
      'scripted/die-stream.json',
    ].map(textOf);
    const damaged = fc
      .tuple(
        fc.constantFrom(...recordings),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.constantFrom('cut', 'insert', 'replace'),
      )
      .map(([text, share, noise, how]) => {
        const at = Math.floor(share * text.length);
        return how === 'cut'
          ? text.slice(0, at)
          : `${text.slice(0, at)}${noise}${text.slice(how === 'insert' ? at : at + noise.length)}`;
      });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), damaged), (text) => {
        const result = explain({ text, version: text.slice(0, 60), log: text });
        if (result.ok) explanationSchema.parse(result.value);
      }),
      { numRuns: 600 },
    );
  });

  test('deep nesting and long lines end', () => {
    for (const text of [
      '['.repeat(200_000),
      '{"error":'.repeat(50_000),
      `{"error":${JSON.stringify('{"error":"'.repeat(20_000))}}`,
      'a'.repeat(2_000_000),
      'data: '.repeat(200_000),
      '\n'.repeat(500_000),
    ]) {
      const result = explain({ text });
      if (result.ok) explanationSchema.parse(result.value);
    }
  });
});
