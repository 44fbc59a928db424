import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { classifyTruncation } from '../../../shared/engine/truncation/classify.ts';
import { halfLimit } from '../../../shared/engine/truncation/cut-size.ts';
import { texts, vocabularies } from './toy-texts.ts';
import { type ToyCall, seen, serve, toyTokens } from './toy-server.ts';

const LOSSES = ['messages-dropped', 'halved', 'cut-to-window'];
const RUNS = { numRuns: Number(process.env['MECHANISM_RUNS'] ?? 800), seed: 1_837 };

const histories = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(texts, texts), { maxLength: 5 }), texts)
  .map(([withSystem, turns, last]) => [
    ...(withSystem ? [{ role: 'system', content: 'You are a terse assistant. Remember code ORCHID-5.' }] : []),
    ...turns.flatMap(([asked, said]) => [
      { role: 'user', content: asked },
      { role: 'assistant', content: said.slice(0, 40) },
    ]),
    { role: 'user', content: last },
  ]);

const calls: fc.Arbitrary<ToyCall> = fc.record({
  messages: histories,
  route: fc.constantFrom('chat' as const, 'chat' as const, 'generate' as const),
  path: fc.constantFrom('rendered' as const, 'native' as const),
  version: fc.constantFrom('0.33.0-rc2', '0.30.11', '0.30.5', '0.24.0'),
  window: fc.integer({ min: 32, max: 1_500 }),
  numKeep: fc.constantFrom(null, null, 0, 4, 24, 40, 1_000, -1),
  numPredict: fc.constant(20),
  truncate: fc.constantFrom(null, null, null, false),
  vocabulary: vocabularies,
});

describe('verdicts from the fields alone, over every way a prompt can meet a window', () => {
  test('what went in whole is never called cut', () => {
    fc.assert(
      fc.property(calls, (call) => {
        const truth = serve(call);
        fc.pre(truth.status === 200 && truth.dropped === 0 && !truth.cut);
        const { kinds } = classifyTruncation(seen(call, truth));
        expect(kinds.filter((kind) => LOSSES.includes(kind) || kind === 'refused')).toEqual([]);
      }),
      RUNS,
    );
  });

  test('what lost something is never called intact for certain', () => {
    fc.assert(
      fc.property(calls, (call) => {
        const truth = serve(call);
        fc.pre(truth.status === 200 && (truth.dropped > 0 || truth.cut));
        const verdict = classifyTruncation(seen(call, truth));
        expect([verdict.kinds.includes('intact'), verdict.confidence]).not.toEqual([true, 'certain']);
      }),
      RUNS,
    );
  });

  test('a cut is certain where the estimate is above the window', () => {
    fc.assert(
      fc.property(calls, (call) => {
        const truth = serve(call);
        const input = seen(call, truth);
        const alwaysKept = input.messages.filter(
          (message, index) => index === input.messages.length - 1 || message.role === 'system',
        );
        const least =
          call.route === 'generate'
            ? input.estimate.low
            : alwaysKept.reduce((total, message) => total + message.estimate.low, 0);
        fc.pre(truth.status === 200 && truth.cut && least > call.window);
        const verdict = classifyTruncation(input);
        expect(verdict.confidence).toBe('certain');
        expect(verdict.kinds).toContain(truth.promptEvalCount! >= call.window - 1 ? 'cut-to-window' : 'halved');
        expect(verdict.kinds.includes('messages-dropped')).toBe(truth.dropped > 0);
        expect(verdict.kept).toBe(truth.promptEvalCount);
      }),
      RUNS,
    );
  });

  test('a count that is a cut size by chance is no proof', () => {
    fc.assert(
      fc.property(texts, vocabularies, fc.constantFrom(0, 1), (content, vocabulary, odd) => {
        const prompt = toyTokens(content, vocabulary) + vocabulary.templateTokens + (vocabulary.addsBos ? 1 : 0);
        const keep = vocabulary.addsBos ? 5 : 4;
        const window = 2 * prompt - keep + odd;
        fc.pre(prompt > 8 && halfLimit(window, keep) === prompt && window > 256);
        const call: ToyCall = {
          messages: [{ role: 'user', content }],
          route: 'chat',
          path: 'rendered',
          version: '0.33.0',
          window,
          numKeep: null,
          numPredict: 20,
          truncate: null,
          vocabulary,
        };
        const truth = serve(call);
        expect(truth.cut).toBe(false);
        expect(classifyTruncation(seen(call, truth)).kinds.filter((kind) => LOSSES.includes(kind))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('a count of the same text before makes the loss exact to the token', () => {
    fc.assert(
      fc.property(texts, vocabularies, fc.integer({ min: 16, max: 400 }), (content, vocabulary, window) => {
        const call: ToyCall = {
          messages: [{ role: 'user', content }],
          route: 'chat',
          path: 'rendered',
          version: '0.33.0',
          window,
          numKeep: null,
          numPredict: 20,
          truncate: null,
          vocabulary,
        };
        const truth = serve(call);
        fc.pre(truth.cut);
        const input = seen(call, truth);
        const estimate = {
          ...input.estimate,
          low: truth.sent,
          likely: truth.sent,
          high: truth.sent,
          source: 'counted',
        } as typeof input.estimate;
        const verdict = classifyTruncation({ ...input, estimate, addsBos: vocabulary.addsBos });
        expect({ sent: verdict.sent, lost: verdict.lost, confidence: verdict.confidence }).toEqual({
          sent: truth.sent,
          lost: truth.cutTokens,
          confidence: 'certain',
        });
      }),
    );
  });

  test('a refusal carries what the prompt needs', () => {
    fc.assert(
      fc.property(calls, (call) => {
        const truth = serve(call);
        fc.pre(truth.status === 400);
        const verdict = classifyTruncation(seen(call, truth));
        expect({ kinds: verdict.kinds, needs: verdict.needs }).toEqual({ kinds: ['refused'], needs: truth.needs });
      }),
    );
  });
});
