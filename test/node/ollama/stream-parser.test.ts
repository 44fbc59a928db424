import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplyEnd } from '../../../shared/engine/ports.ts';
import type { ParserOptions, Stop } from '../../../shared/node/ollama/stream-parser.ts';
import { bytesOf, type Collected, endOfStream, okHead, parsedEvents, summed, tear } from './support.ts';

const read = (text: string, options: Partial<ParserOptions> = {}, stop: Stop = endOfStream): Collected =>
  summed(parsedEvents([bytesOf(text)], options, stop));

const line = (content: unknown, more: object = {}): string =>
  `${JSON.stringify({ model: 'm', message: { role: 'assistant', content }, done: false, ...more })}\n`;
const last = (more: object = {}): string =>
  `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', ...more })}\n`;

describe('terminal states', () => {
  const partial = line('one ') + line('two ');

  test.each<[string, string, { [Key in keyof ReplyEnd]?: unknown }]>([
    [
      'a done line',
      partial + last({ prompt_eval_count: 7 }),
      { ending: 'done', done: true, promptEvalCount: 7, error: null },
    ],
    ['a done line without a newline', partial + last().trimEnd(), { ending: 'done', done: true }],
    [
      'an error line',
      `${partial}{"error":"out of memory"}\n`,
      { ending: 'error-line', error: 'out of memory', done: false },
    ],
    [
      'an error line without a newline',
      `${partial}{"error":"out of memory"}`,
      { ending: 'error-line', error: 'out of memory' },
    ],
    ['an error object', `${partial}{"error":{"message":"bad","type":"x"}}\n`, { ending: 'error-line', error: 'bad' }],
    ['plain text', `${partial}internal failure\n`, { ending: 'error-line', error: 'internal failure' }],
    ['plain text without a newline', `${partial}internal failure`, { ending: 'error-line', error: 'internal failure' }],
    [
      'an HTML page',
      `${partial}<html><title>502 Bad Gateway</title></html>\n`,
      { ending: 'error-line', error: 'an HTML page came instead of a reply ("502 Bad Gateway")' },
    ],
    ['a line that only looks like JSON', `${partial}{"message":\n`, { ending: 'error-line', error: '{"message":' }],
    ['JSON that is no object', `${partial}null\n`, { ending: 'error-line', error: 'null' }],
    ['the end of the stream', partial, { ending: 'cut', done: false, error: 'The reply stopped without a done line' }],
    [
      'the end inside a line',
      `${partial}{"model":"m","mess`,
      { ending: 'cut', error: 'The reply stopped in the middle of a line' },
    ],
  ])('%s', (_what, text, end) => {
    const got = read(text);
    expect(got.end).toMatchObject(end);
    expect(got.answer).toBe('one two ');
  });

  test('nothing at all is a cut', () => {
    expect(read('').end).toMatchObject({ ending: 'cut', done: null, raw: '', rawBytes: 0 });
    expect(read('', { whole: true }).end).toMatchObject({ ending: 'cut', done: null });
  });

  test('a broken connection keeps what came, and says what broke it', () => {
    const got = read(`${partial}{"mo`, {}, { kind: 'broken', error: 'reset', abortedBy: 'person' });
    expect(got.end).toMatchObject({ ending: 'aborted', abortedBy: 'person', error: 'reset', raw: `${partial}{"mo` });
    expect(got.answer).toBe('one two ');
  });

  test('the done line may carry text and tool calls; bytes behind it do not count', () => {
    const got = read(
      `${line('a')}${last({ message: { content: 'b', thinking: 't', tool_calls: [{}, {}] } })}${line('never')}`,
    );
    expect(got).toMatchObject({ answer: 'ab', thinking: 't', toolCalls: 2, end: { ending: 'done' } });
    expect(got.end.raw).not.toContain('never');
  });

  test('the error line of a runner gives need and window too', () => {
    const go = 'llama-server chat error: map[code:400 message:too long n_ctx:512 n_prompt_tokens:513 type:x]';
    expect(read(`${JSON.stringify({ error: go })}\n`).end).toMatchObject({
      ending: 'error-line',
      needs: 513,
      has: 512,
      error: go,
    });
  });

  test('carriage returns, a byte order mark, empty lines and glued lines are no trouble', () => {
    const text = `\uFEFF${line('a')}\n\r\n${line('b')}${last()}`.replaceAll('\n', '\r\n');
    expect(read(text)).toMatchObject({ answer: 'ab', chunks: 2, end: { ending: 'done' } });
  });

  test('event streams are read by their content type', () => {
    const sse = { head: { ...okHead, contentType: 'text/event-stream; charset=utf-8' } };
    const text = `: hello\n\nevent: message\ndata: ${line('a')}\ndata:${line('b')}\ndata: ${last()}\ndata: [DONE]\n\n`;
    expect(read(text, sse)).toMatchObject({ answer: 'ab', end: { ending: 'done' } });
    expect(read(text)).toMatchObject({ end: { ending: 'error-line', error: ': hello' } });
  });

  test('broken UTF-8 becomes replacement marks, a whole letter torn in two does not', () => {
    const bytes = bytesOf(line('Ќ 🦊'));
    const broken = Uint8Array.from([...bytesOf('{"message":{"content":"'), 0xd0, ...bytesOf('"}}\n')]);
    expect(summed(parsedEvents([...bytes].map((byte) => Uint8Array.of(byte)))).answer).toBe('Ќ 🦊');
    expect(summed(parsedEvents([broken])).answer).toBe('\uFFFD');
  });
});

describe('refusals', () => {
  const refused = (status: number, body: string, more: Partial<typeof okHead> & { location?: string } = {}): ReplyEnd =>
    read(body, { head: { ...okHead, status, statusText: '', ...more } as typeof okHead }).end;

  test.each<[number, string, string]>([
    [404, '{"error":"model \'x\' not found"}', "model 'x' not found"],
    [403, '', '403: the server does not allow this Host or Origin'],
    [500, '', '500, with no text'],
    [
      502,
      '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
      '502: an HTML page came instead of a reply ("502 Bad Gateway")',
    ],
    [405, '405 method not allowed', '405 method not allowed'],
    [500, '{"error":""}', 'The server gave an empty error'],
    [400, '{"error":{"message":"bad","type":"t"}}', 'bad'],
    [
      503,
      '{"error":"server busy, please try again.  maximum pending requests exceeded"}',
      'server busy, please try again.  maximum pending requests exceeded',
    ],
  ])('%i %s', (status, body, error) => {
    expect(refused(status, body)).toMatchObject({
      ending: 'refused',
      status,
      error,
      raw: body,
      done: null,
      needs: null,
    });
  });

  test('a redirect is a refusal that says where to', () => {
    const end = read('', {
      head: { ...okHead, status: 308, statusText: 'Permanent Redirect', location: 'https://x/' } as never,
    }).end;
    expect(end).toMatchObject({
      ending: 'refused',
      error: '308 Permanent Redirect: the address redirects to https://x/',
    });
  });

  test.each<[string, number | null, number | null]>([
    ['request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it', 5000, 4096],
    ["input length (90 tokens) exceeds the model's maximum context length (80 tokens)", 90, 80],
    ['the input length exceeds the context length', null, null],
    ['{"error":{"code":400,"message":"m","n_prompt_tokens":9,"n_ctx":8}}', 9, 8],
    ['runner said {"error":{"n_prompt_tokens":9,"n_ctx":8}}', 9, 8],
    ['{"error":{"message":"m","n_prompt_tokens":"9","n_ctx":-1}}', null, null],
  ])('need and window in %s', (error, needs, has) => {
    expect(refused(400, JSON.stringify({ error }))).toMatchObject({ needs, has });
  });

  test('a long refusal is kept up to its limit', () => {
    const end = refused(500, 'x'.repeat(3_000_000));
    expect(end.error).toHaveLength(4_000);
    expect(end.raw).toHaveLength(1024 * 1024);
    expect(end.rawClipped).toBe(true);
  });
});

describe('fields', () => {
  test('nanoseconds become milliseconds, rounded; an explicit 0 is 0 and a missing field is null', () => {
    expect(
      read(last({ total_duration: 1_499_999, load_duration: 1_500_000, eval_duration: 0, eval_count: 0 })).end,
    ).toMatchObject({
      totalDurationMs: 1,
      loadDurationMs: 2,
      evalDurationMs: 0,
      evalCount: 0,
      promptEvalCount: null,
      promptEvalDurationMs: null,
      contextLength: null,
    });
  });

  test.each([['12'], [-1], [1.5], [null], [{}], [[]], [true], [1e300]])('a count of %j is not a count', (value) => {
    expect(read(last({ eval_count: value, prompt_eval_count: value })).end).toMatchObject({
      evalCount: null,
      promptEvalCount: null,
    });
  });

  test('wrong types of texts, reasons and lists are fields that are not there', () => {
    const got = read(
      line(5) +
        line(null, { message: 'x', logprobs: {} }) +
        last({ done_reason: 7, context: 'x', total_duration: 'y' }),
    );
    expect(got).toMatchObject({
      answer: '',
      thinking: '',
      toolCalls: 0,
      logprobs: null,
      end: { ending: 'done', doneReason: null, contextLength: null },
    });
  });

  test('logprob entries are counted per chunk, also where no text is shown', () => {
    const got = read(line('', { logprobs: [{}, {}] }) + line('a', { logprobs: [{}] }) + last());
    expect(got).toMatchObject({ logprobs: 3, chunks: 2 });
  });

  test('any object as a line never throws and never makes a field of a wrong type', () => {
    const value = fc.jsonValue();
    const record = fc.record(
      {
        done: value,
        message: value,
        response: value,
        error: value,
        prompt_eval_count: value,
        eval_count: value,
        total_duration: value,
        context: value,
        logprobs: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), (lines) => {
        const { end } = read(lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
        for (const count of [end.promptEvalCount, end.evalCount, end.totalDurationMs, end.contextLength]) {
          expect(count === null || (Number.isSafeInteger(count) && count >= 0)).toBe(true);
        }
        expect(['done', 'error-line', 'cut']).toContain(end.ending);
        expect(end.error === null || end.error !== '').toBe(true);
      }),
    );
  });
});

describe('bounds', () => {
  test('a line of 1 MB passes', () => {
    const text = 'é'.repeat(500_000);
    expect(summed(parsedEvents(tear(bytesOf(line(text) + last()), [1, 65_536, 500_001, 700_000]))).answer).toBe(text);
  });

  test('a line over the limit is a named error, whole or torn, and what came before is kept', () => {
    const bytes = bytesOf(line('a') + line('b'.repeat(2_000)) + last());
    for (const pieces of [[bytes], tear(bytes, [100, 200, 1_500])]) {
      const got = summed(parsedEvents(pieces, { lineBytesMax: 1_000 }));
      expect(got.answer).toBe('a');
      expect(got.end).toMatchObject({
        ending: 'aborted',
        abortedBy: null,
        error: 'A line of the reply is longer than 1,000 bytes',
      });
    }
  });

  test('a line over the limit behind the done line does not count, nor does one that only shares its portion', () => {
    const long = line('b'.repeat(2_000));
    expect(read(line('a') + last() + long, { lineBytesMax: 1_000 })).toMatchObject({
      answer: 'a',
      end: { ending: 'done', raw: line('a') + last() },
    });
    expect(read(line('a').repeat(50) + last(), { lineBytesMax: 200 })).toMatchObject({
      answer: 'a'.repeat(50),
      end: { ending: 'done' },
    });
  });

  test('the raw copy ends with the line that ended the reply, whatever bytes stand around it', () => {
    const noise = fc
      .uint8Array({ maxLength: 12 })
      .filter((bytes) => !bytes.some((byte) => byte === 0x22 || byte === 0x5c));
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 4 }), noise, (texts, behind) => {
        const texted = texts.map((bytes) => bytes.map((byte) => (byte < 0x20 ? 0xc3 : byte)));
        const before = texted.flatMap((bytes) => [
          ...bytesOf('{"message":{"content":"'),
          ...bytes,
          ...bytesOf('"}}\n'),
        ]);
        const reply = [...before, ...bytesOf(last())];
        const { end, chunks } = summed(parsedEvents([Uint8Array.from([...reply, ...behind, 0x0a])]));
        expect({ chunks, ending: end.ending, rawBytes: end.rawBytes }).toEqual({
          chunks: texts.length,
          ending: 'done',
          rawBytes: reply.length,
        });
      }),
    );
  });

  test('the raw copy stops at its limit, between characters, and the count goes on', () => {
    const text = line('éé') + last();
    const at = bytesOf(text.slice(0, text.indexOf('é'))).byteLength + 1;
    expect(read(text, { rawBytesMax: at }).end).toMatchObject({
      raw: text.slice(0, text.indexOf('é')),
      rawClipped: true,
      rawBytes: bytesOf(text).byteLength,
    });
  });
});

describe('replies that are not streamed', () => {
  const whole = { whole: true };

  test('a document over several lines is one reply', () => {
    const text = JSON.stringify(
      { message: { content: 'a', thinking: 't' }, done: true, done_reason: 'length', eval_count: 3 },
      null,
      2,
    );
    expect(read(text, whole)).toMatchObject({
      answer: 'a',
      thinking: 't',
      chunks: 1,
      end: { ending: 'done', evalCount: 3 },
    });
  });

  test('a server that streams all the same is read line by line', () => {
    expect(read(line('a') + line('b') + last(), whole)).toMatchObject({
      answer: 'ab',
      chunks: 2,
      end: { ending: 'done' },
    });
  });

  test('done:false is a cut; half a document too', () => {
    expect(read('{"message":{"content":"ha"},"done":false}', whole)).toMatchObject({
      answer: 'ha',
      end: { ending: 'cut' },
    });
    expect(read('{"message":{"content":"ha"', whole).end).toMatchObject({
      ending: 'cut',
      error: 'The reply stopped in the middle of a line',
    });
  });

  test('an error document in a 200 is an error', () => {
    expect(read('{"error":"no"}', whole).end).toMatchObject({ ending: 'error-line', error: 'no' });
  });
});
