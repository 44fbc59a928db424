import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formOf, readForm, usualCapSearch, variantsWord } from '../../../renderer/pages/reasoning/form-text.ts';
import type { FormText, FormVariant } from '../../../renderer/pages/reasoning/form-text.ts';
import { reasoningExperimentSchema } from '../../../shared/contract/reasoning.ts';
import { makeReasoningRun } from './make-lanes.ts';

const { experiment } = makeReasoningRun('r');
const form = formOf(experiment);
const variant = (patch: Partial<FormVariant>): FormVariant => ({
  name: null,
  think: true,
  cap: '2,000',
  thinkingCap: '',
  then: 'stop',
  ...patch,
});

test('an experiment survives being written as a sentence', () => {
  const thinks = fc.constantFrom<FormVariant['think']>(true, false, 'default', 'low', 'medium', 'high', 'max');
  const some = fc.record({
    axes: fc.record({
      models: fc.array(
        fc.string({ minLength: 1, maxLength: 40 }).filter((name) => name.trim() === name && name !== ''),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      variants: fc.array(
        fc.record(
          {
            think: thinks,
            numPredict: fc.integer({ min: 1, max: 10_000_000 }),
            thinkingCap: fc.record({
              tokensMax: fc.integer({ min: 1, max: 10_000_000 }),
              then: fc.constantFrom('stop' as const, 'ask-again' as const),
            }),
          },
          { requiredKeys: ['think', 'numPredict'] },
        ),
        { minLength: 1, maxLength: 6 },
      ),
      repeats: fc.integer({ min: 1, max: 100 }),
    }),
    findCap: fc.option(
      fc.record({
        think: thinks,
        capMin: fc.integer({ min: 1, max: 500 }),
        capMax: fc.integer({ min: 500, max: 10_000_000 }),
        inARow: fc.integer({ min: 1, max: 20 }),
        within: fc.integer({ min: 1, max: 1_000_000 }),
        runsMax: fc.integer({ min: 1, max: 500 }),
      }),
      { nil: undefined },
    ),
    numCtx: fc.option(fc.integer({ min: 1, max: 10_000_000 })),
    seed: fc.nat(2_147_483_000),
    logprobs: fc.boolean(),
    warmUp: fc.boolean(),
  });
  fc.assert(
    fc.property(some, (patch) => {
      const whole = reasoningExperimentSchema.parse({ ...experiment, ...patch });
      expect(readForm(formOf(whole))).toEqual({ ok: true, experiment: whole });
    }),
  );
});

test('the sentence names variants as the lanes do', () => {
  expect(variantsWord(form.variants)).toBe('off / 2,000, on / 8,000, on / 256');
  expect(variantsWord([variant({}), variant({ thinkingCap: '256', then: 'ask-again' })])).toBe(
    'on / 2,000; on / 2,000, ask again at 256',
  );
});

describe('what cannot be read is a problem of its field', () => {
  const cases: readonly [Partial<FormText>, RegExp][] = [
    [{ models: [] }, /^models: /u],
    [{ prompt: '  ' }, /^prompt: /u],
    [{ variants: [] }, /^variants: give at least one/u],
    [{ variants: [variant({ cap: '0' })] }, /^variants: a cap is at least 1/u],
    [{ variants: [variant({ cap: 'lots' })] }, /^variants: "lots" is not a number/u],
    [{ variants: [variant({ thinkingCap: 'x' })] }, /^variants: "x" is not a number/u],
    [{ variants: [variant({ thinkingCap: '0' })] }, /thinking cap must be at least 1/u],
    [{ capSearch: { ...usualCapSearch, capMin: 'few' } }, /^cap search: "few" is not a whole number/u],
    [{ capSearch: { ...usualCapSearch, capMin: '9000' } }, /smallest cap/u],
    [{ capSearch: { ...usualCapSearch, inARow: '0' } }, /findCap\.inARow/u],
    [{ repeats: '0' }, /repeats/iu],
    [{ numCtx: 'wide' }, /^num_ctx: "wide"/u],
    [{ temperature: 'hot' }, /^temperature: /u],
    [{ seed: '1.5' }, /^seed: /u],
  ];
  test.each(cases)('%j', (patch, words) => {
    const reading = readForm({ ...form, ...patch });
    if (reading.ok) throw new Error('it was read');
    const [[field, problem] = ['', '']] = Object.entries(reading.problems);
    expect(problem).toMatch(words);
    expect(Object.keys(patch)).toEqual([field]);
  });
});
