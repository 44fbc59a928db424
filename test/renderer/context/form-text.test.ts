import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextExperimentSchema } from '../../../shared/contract/experiments.ts';
import { defaultExperiment } from '../../../renderer/stores/default-probe.ts';
import { entriesOf, fieldOf, formOf, readForm } from '../../../renderer/pages/context/form-text.ts';
import type { FormText } from '../../../renderer/pages/context/form-text.ts';

const classic = formOf(contextExperimentSchema.parse(defaultExperiment('gemma3:270m', null)));
const read = (patch: Partial<FormText>) => readForm({ ...classic, ...patch });
const axesOf = (patch: Partial<FormText>) => {
  const reading = read(patch);
  return reading.ok ? reading.experiment.axes : reading.problems;
};

describe('typed values', () => {
  test('what a person writes for windows', () => {
    expect(axesOf({ windows: 'default, 4,096, 16,384 40k' })).toMatchObject({
      numCtx: ['default', 4_096, 16_384, 40_960],
    });
    expect(axesOf({ windows: 'server default;4096,8192' })).toMatchObject({ numCtx: ['default', 4_096, 8_192] });
  });

  test('what a person writes for sizes', () => {
    expect(axesOf({ sizes: '2k, 10000 1.5M' })).toMatchObject({ sizes: [2_000, 10_000, 1_500_000] });
    expect(axesOf({ sizes: '2k, 8000t' })).toMatchObject({ sizes: [2_000, { tokens: 8_000 }] });
    expect(axesOf({ sizes: '2k 500 tok'.replace(' tok', 'tok'), sizeUnit: 'tokens' })).toMatchObject({
      sizes: [{ tokens: 2_000 }, { tokens: 500 }],
    });
  });

  test('one needle, several texts, several needles in one text', () => {
    expect(axesOf({ depths: '0 %, 50, 0 + 100, 10 and 90 %' })).toMatchObject({
      needleDepths: [0, 50, [0, 100], [10, 90]],
    });
  });

  test.each([
    ['windows', { windows: '0' }],
    ['windows', { windows: '-4096' }],
    ['windows', { windows: 'wide' }],
    ['windows', { windows: '' }],
    ['windows', { windows: '4096.5' }],
    ['windows', { windows: '99999999999' }],
    ['sizes', { sizes: '5' }],
    ['sizes', { sizes: '6M' }],
    ['sizes', { sizes: '10kb' }],
    ['sizes', { sizes: '' }],
    ['depths', { depths: '101' }],
    ['depths', { depths: '-1' }],
    ['depths', { depths: '5 +' }],
    ['depths', { depths: '0+1+2+3+4+5+6+7+8+9+10' }],
    ['repeats', { repeats: '0' }],
    ['repeats', { repeats: 'three' }],
    ['repeats', { repeats: '101' }],
    ['numPredict', { numPredict: '0' }],
    ['temperature', { temperature: 'hot' }],
    ['temperature', { temperature: '9' }],
    ['seed', { seed: '1.5' }],
    ['models', { models: [] }],
    ['routes', { routes: [] }],
    ['policies', { policies: [] }],
  ] as const)('a bad %s %j names its field and what to write', (field, patch) => {
    const reading = read(patch as Partial<FormText>);
    expect(reading.ok ? [] : Object.keys(reading.problems)).toEqual([field]);
    expect(reading.ok ? '' : reading.problems[field]).toMatch(/\S.*\.$/u);
  });

  test('any text is read or is a problem, never a crash', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(text, text, text, text, text, (windows, sizes, depths, repeats, seed) => {
        const reading = read({ windows, sizes, depths, repeats, seed });
        if (reading.ok) expect(contextExperimentSchema.safeParse(reading.experiment).success).toBe(true);
        else expect(Object.values(reading.problems).every((problem) => problem.length < 300)).toBe(true);
      }),
    );
  });

  test('any experiment survives the form', () => {
    const distinct = <Value>(one: fc.Arbitrary<Value>) => fc.array(one, { minLength: 1, maxLength: 5 });
    const depth = fc.oneof(
      fc.integer({ min: 0, max: 100 }),
      fc.double({ min: 0, max: 100, noNaN: true }).map(Math.abs),
    );
    const experiments = fc
      .record({
        kind: fc.constant('context'),
        axes: fc.record({
          models: distinct(fc.stringMatching(/^[a-z]{1,9}:[a-z0-9]{1,4}$/u)),
          numCtx: distinct(fc.oneof(fc.constant('default'), fc.integer({ min: 1, max: 10_000_000 }))),
          sizes: distinct(
            fc.oneof(
              fc.integer({ min: 100, max: 5_000_000 }),
              fc.record({ tokens: fc.integer({ min: 30, max: 2_000_000 }) }),
            ),
          ),
          needleDepths: distinct(fc.oneof(depth, fc.array(depth, { minLength: 2, maxLength: 10 }))),
          routes: fc.constantFrom(['chat'], ['chat', 'generate']),
          policies: fc.constantFrom(['warn'], ['refuse', 'allow']),
          repeats: fc.integer({ min: 1, max: 100 }),
        }),
        questionPosition: fc.constantFrom('last', 'first'),
        numPredict: fc.integer({ min: 1, max: 10_000_000 }),
        temperature: fc.double({ min: 0, max: 5, noNaN: true }).map(Math.abs),
        think: fc.constantFrom(true, false, 'low', 'default'),
        seed: fc.integer({ min: 0, max: 2_147_483_000 }),
        warmUp: fc.boolean(),
      })
      .map((value) => contextExperimentSchema.parse(value));
    fc.assert(
      fc.property(experiments, (experiment) => {
        expect(readForm(formOf(experiment))).toEqual({ ok: true, experiment });
      }),
    );
  });

  test('entries stand apart by comma, space, semicolon and line; grouping commas stay', () => {
    expect(entriesOf(' 1,000; 2,000\n3 4,5')).toEqual(['1,000', '2,000', '3', '4', '5']);
  });

  test('a refusal of the engine finds its place in the sentence', () => {
    expect(['axes.sizes[1]', 'axes.numCtx', 'numPredict', 'seed', 'document.documentId'].map(fieldOf)).toEqual([
      'sizes',
      'windows',
      'numPredict',
      'seed',
      'document',
    ]);
  });
});
