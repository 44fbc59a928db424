import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ParserOptions } from '../../../shared/node/ollama/stream-parser.ts';
import { bytesOf, parsedEvents, type Recording, recording, recordings, summed, tear } from './support.ts';

const modelCalls = recordings().filter(
  ({ request, response }) =>
    /^\/api\/(chat|generate)$/.test(request.path) && request.method === 'POST' && !response.clientLeft,
);

function optionsFor({ request, response }: Recording): Partial<ParserOptions> {
  const contentType = response.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
  const body = request.body as { stream?: boolean } | null;
  return {
    head: { statusText: 'OK', location: null, status: response.status, contentType },
    whole: body?.stream === false,
  };
}

describe('recorded replies', () => {
  test('there are many of them', () => expect(modelCalls.length).toBeGreaterThan(100));

  test.each(modelCalls.map((each) => [each.name, each] as const))(
    '%s: any tear gives the same events',
    (_name, each) => {
      const body = bytesOf(each.response.body);
      const options = optionsFor(each);
      const expected = parsedEvents([body], options);
      fc.assert(
        fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
          expect(parsedEvents(tear(body, cuts), options)).toEqual(expected);
        }),
        { numRuns: 15 },
      );
    },
  );

  test.each(modelCalls.map((each) => [each.name, each] as const))('%s: byte by byte', (_name, each) => {
    const body = bytesOf(each.response.body).subarray(0, 5_000);
    const options = optionsFor(each);
    expect(
      parsedEvents(
        [...body].map((_byte, at) => body.subarray(at, at + 1)),
        options,
      ),
    ).toEqual(parsedEvents([body], options));
  });

  test.each(modelCalls.map((each) => [each.name, each] as const))(
    '%s: fields and texts are those of the lines',
    (_name, each) => {
      const got = summed(parsedEvents([bytesOf(each.response.body)], optionsFor(each)));
      expect(got.end.raw).toBe(each.response.body);
      expect(got.end.status).toBe(each.response.status);
      if (each.response.status !== 200) {
        expect(got.end.ending).toBe('refused');
        return;
      }
      const lines = each.response.body
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as Line);
      const final = lines.at(-1);
      expect(got.answer).toBe(lines.map((each) => each.message?.content ?? each.response ?? '').join(''));
      expect(got.thinking).toBe(lines.map((each) => each.message?.thinking ?? each.thinking ?? '').join(''));
      expect(got.end).toMatchObject({
        ending:
          final?.error !== undefined
            ? 'error-line'
            : final?.done === true || final?._debug_info !== undefined
              ? 'done'
              : 'cut',
        doneReason: final?.done_reason ?? null,
        promptEvalCount: final?.prompt_eval_count ?? null,
        evalCount: final?.eval_count ?? null,
        totalDurationMs: final?.total_duration === undefined ? null : Math.round(final.total_duration / 1e6),
        contextLength: final?.context?.length ?? null,
        error:
          final?.error ??
          (final?.done === true || final?._debug_info !== undefined ? null : 'The reply stopped without a done line'),
      });
    },
  );

  interface Line {
    message?: { content?: string; thinking?: string };
    response?: string;
    thinking?: string;
    done?: boolean;
    done_reason?: string;
    error?: string;
    prompt_eval_count?: number;
    eval_count?: number;
    total_duration?: number;
    context?: number[];
    _debug_info?: object;
  }

  test('the nested refusal gives need and window', () => {
    const each = recording('real/native-chat-truncate-false-stream');
    expect(summed(parsedEvents([bytesOf(each.response.body)], optionsFor(each))).end).toMatchObject({
      ending: 'refused',
      needs: 1435,
      has: 512,
      error: 'request (1435 tokens) exceeds the available context size (512 tokens), try increasing it',
    });
  });

  test('the repeat guard, streamed and whole, is a cut that keeps its text', () => {
    for (const name of ['scripted/repeat-stream', 'scripted/repeat-whole']) {
      const each = recording(name);
      const got = summed(parsedEvents([bytesOf(each.response.body)], optionsFor(each)));
      expect(got.answer).toBe('ha '.repeat(31));
      expect(got.end).toMatchObject({
        ending: 'cut',
        done: false,
        doneReason: null,
        promptEvalCount: null,
        evalCount: null,
      });
    }
  });
});
