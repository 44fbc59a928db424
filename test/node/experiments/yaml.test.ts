import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { nearest } from '../../../shared/node/experiments/nearest.ts';
import { parseExperimentYaml } from '../../../shared/node/experiments/yaml.ts';

const read = (text: string, model?: string) =>
  parseExperimentYaml(text, 'context.yaml', model === undefined ? {} : { model });
const refusal = (text: string): string => {
  const result = read(text);
  return result.ok
    ? 'accepted'
    : `${result.denial.message}${result.denial.next === undefined ? '' : ` ${result.denial.next}`}`;
};

test('a whole experiment, named as in the CSV, axes at the top', () => {
  const text = `# the classic one
name: Nightly
models: [llama3.2:3b, gemma3:270m]
num_ctx: [default, 4096, 40960]
sizes: [2000, {tokens: 9000}]
needle_depths: [0, [10, 90]]
routes: [chat, generate]
policy: refuse
repeats: 3
question_position: first
question: Which code?
num_predict: 80
temperature: 0.2
think: low
seed: 11
warm_up: false
timeout_ms: 60000
document: {file: handbook.txt}
`;
  expect(read(text)).toEqual({
    ok: true,
    value: {
      documentFile: 'handbook.txt',
      experiment: {
        kind: 'context',
        name: 'Nightly',
        axes: {
          models: ['llama3.2:3b', 'gemma3:270m'],
          numCtx: ['default', 4_096, 40_960],
          sizes: [2_000, { tokens: 9_000 }],
          needleDepths: [0, [10, 90]],
          routes: ['chat', 'generate'],
          policies: ['refuse'],
          repeats: 3,
        },
        document: { kind: 'generated' },
        questionPosition: 'first',
        question: 'Which code?',
        numPredict: 80,
        temperature: 0.2,
        think: 'low',
        seed: 11,
        warmUp: false,
        timeoutMs: 60_000,
      },
    },
  });
});

test('the least: one model, or none where a default is given; the rest is the classic experiment', () => {
  const least = read('model: m');
  expect(least).toEqual(read('{"models": ["m"]}'));
  expect(least).toEqual(read('seed: 7', 'm'));
  expect(least).toMatchObject({
    ok: true,
    value: {
      experiment: {
        axes: { models: ['m'], numCtx: ['default'], sizes: [2_000, 10_000, 40_000, 120_000], needleDepths: [0] },
        numPredict: 60,
      },
    },
  });
});

test('axes may stand under axes, names as in the contract', () => {
  expect(
    read('kind: context\naxes:\n  models: [m]\n  numCtx: [512]\n  needleDepths: [100]\nnumPredict: 5\n'),
  ).toMatchObject({
    ok: true,
    value: { experiment: { axes: { numCtx: [512], needleDepths: [100] }, numPredict: 5 } },
  });
});

test.each([
  ['model: m\nsizez: 3', 'context.yaml:2:1: there is no field sizez. Did you mean sizes?'],
  ['model: m\nnum_ctxs: 3', 'context.yaml:2:1: there is no field num_ctxs. Did you mean num_ctx?'],
  [
    'model: m\naxes:\n  seed: 3',
    'context.yaml:3:3: there is no field seed. Fields are models, num_ctx, sizes, needle_depths, routes, policies, repeats.',
  ],
  [
    'model: m\nnum_ctx: [default, 0]',
    'context.yaml:2:20: num_ctx[1]: num_ctx must be at least 1; leave it empty for the server default. Correct it and run again.',
  ],
  [
    'model: m\nnum_ctx: -5',
    'context.yaml:2:10: num_ctx must be at least 1; leave it empty for the server default. Correct it and run again.',
  ],
  ['model: m\nnum_ctx: big', 'context.yaml:2:10: num_ctx must be a whole number. Correct it and run again.'],
  ['model: m\nnum_ctx: 1.5', 'context.yaml:2:10: num_ctx must be a whole number. Correct it and run again.'],
  [
    'model: m\nsizes:\n  - 2000\n  - 5',
    'context.yaml:4:5: sizes[1]: a document has at least 100 characters. Correct it and run again.',
  ],
  [
    'model: m\nneedle_depths: [0, [50, 101]]',
    'context.yaml:2:25: needle_depths[1][1]: Too big: expected number to be <=100. Correct it and run again.',
  ],
  [
    'model: m\nnum_predict: 0',
    'context.yaml:2:14: num_predict must be at least 1: 0 takes every bound off on most models. Correct it and run again.',
  ],
  [
    'model: m\nrepeats: many',
    'context.yaml:2:10: repeats: Invalid input: expected number, received string. Correct it and run again.',
  ],
  ['model: m\nmodels: [n]', 'context.yaml:2:1: models is given twice. Keep one of them.'],
  ['seed: 3', 'context.yaml: models is missing. Add a line such as `models: [llama3.2]`, or give --model NAME.'],
  ['model: m\n\tseed: 3', 'context.yaml:2:1: Tabs are not allowed as indentation. Correct the YAML there.'],
  ['model: "m', 'context.yaml:1:10: Missing closing "quote. Correct the YAML there.'],
  ['- model: m', 'context.yaml:1:1: an experiment is a list of fields, such as `models: [llama3.2]`.'],
  ['', 'context.yaml:1:1: an experiment is a list of fields, such as `models: [llama3.2]`.'],
  [
    'model: m\ndocument: 7',
    'context.yaml:2:1: document is either generated or a file. Write `document: generated` or `document: {file: handbook.txt}`.',
  ],
  [
    'kind: reasoning\nmodel: m\nsizes: [200]',
    'context.yaml:3:1: there is no field sizes. Fields are models, variants, repeats, kind, name, prompt, system, messages, num_ctx, temperature, seed, stream, logprobs, warm_up, timeout_ms, find_cap, axes.',
  ],
  [
    'kind: reasoning\nmodel: m\nvariants: [on/0]',
    'context.yaml:3:12: variants[0]: num_predict must be at least 1: 0 takes every bound off on most models. Correct it and run again.',
  ],
])('%j', (text, message) => {
  expect(refusal(text)).toBe(message);
});

describe('a reasoning experiment', () => {
  const read = (text: string) => {
    const parsed = parseExperimentYaml(text, 'reasoning.yaml', { model: 'm' });
    if (!parsed.ok) throw new Error(parsed.denial.message);
    return parsed.value.experiment;
  };

  test('needs nothing but its kind', () => {
    expect(read('kind: reasoning')).toMatchObject({
      kind: 'reasoning',
      axes: {
        models: ['m'],
        variants: [
          { think: false, numPredict: 2_000 },
          { think: true, numPredict: 8_000 },
          { think: true, numPredict: 256 },
        ],
        repeats: 1,
      },
      prompt: 'Is 1000003 a prime number? Answer only yes or no.',
      numCtx: null,
      logprobs: true,
    });
  });

  test('variants as people write them: short, as fields, one alone, with a thinking cap', () => {
    const long = [
      'kind: reasoning',
      'prompt: Is 7 prime?',
      'num_ctx: default',
      'repeats: 10',
      'variants:',
      '  - off/200',
      '  - HIGH / 300 / t40+',
      '  - {name: mine, think: on, num_predict: 400, thinking_cap: 50}',
      '  - {think: default, numPredict: 500, thinking-cap: {tokens_max: 60, then: ask-again}}',
    ];
    expect(read(long.join('\n'))).toMatchObject({
      numCtx: null,
      axes: {
        repeats: 10,
        variants: [
          { think: false, numPredict: 200 },
          { think: 'high', numPredict: 300, thinkingCap: { tokensMax: 40, then: 'ask-again' } },
          { name: 'mine', think: true, numPredict: 400, thinkingCap: { tokensMax: 50, then: 'stop' } },
          { think: 'default', numPredict: 500, thinkingCap: { tokensMax: 60, then: 'ask-again' } },
        ],
      },
    });
    expect(read('kind: reasoning\nvariant: on/9').axes).toMatchObject({ variants: [{ think: true, numPredict: 9 }] });
  });

  test('a cap search with or without lanes', () => {
    const text = 'kind: reasoning\nvariants: []\nfind_cap: {think: off, cap_max: 900, in_a_row: 2}';
    expect(read(text)).toMatchObject({
      axes: { variants: [] },
      findCap: { think: false, capMin: 16, capMax: 900, inARow: 2, within: 16, runsMax: 60 },
    });
  });

  test.each([
    ['kind: reasoning\nvariants: []', 'reasoning.yaml:2:11: variants: give at least one variant.'],
    [
      'kind: reasoning\nvariants: [{think: maybe, num_predict: 3}]',
      'reasoning.yaml:2:20: variants[0].think: must be true, false, low, medium, high, max or default.',
    ],
    [
      'kind: reasoning\nfind_cap: {cap_min: 9, cap_max: 3}',
      'reasoning.yaml:2:33: find_cap.cap_max: must not be below the smallest cap.',
    ],
    ['kind: reasoning\nprompt: " "', 'reasoning.yaml:2:9: prompt: write a prompt.'],
  ])('%j is refused with its place', (text, message) => {
    const parsed = parseExperimentYaml(text, 'reasoning.yaml', { model: 'm' });
    expect(parsed.ok ? 'accepted' : parsed.denial.message).toBe(message);
  });
});

describe('hostile files', () => {
  test('any text is an answer, never an error', () => {
    const line = fc.constantFrom(
      'model: m',
      'num_ctx: [',
      'sizes: {a: b}',
      '? [x]: y',
      '<<: *a',
      'a: &a [*a]',
      '"__proto__": {x: 1}',
      'axes: &x {axes: *x}',
      'seed: !!binary x',
      '%YAML 9',
      '---',
      '...',
      'axes: 3',
      'models: {}',
      'think: ~',
      '\u0000',
      'constructor: 1',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n')),
        ),
        (text) => {
          const result = read(text);
          if (!result.ok) expect(result.denial.message.startsWith('context.yaml')).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('aliases that grow without end are refused', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'
        .split('')
        .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]`),
    ].join('\n');
    expect(read(bomb).ok).toBe(false);
  });

  test('a file that is a document is named as one', () => {
    expect(refusal(`question: ${'x'.repeat(1_000_001)}`)).toContain('Give the document as a file of its own');
  });
});

test('the nearest word, or none', () => {
  expect(
    ['repeat', 'neddle_depths', 'NumCtx', 'polices', 'zzz'].map((word) =>
      nearest(word, ['models', 'num_ctx', 'needle_depths', 'policies', 'repeats']),
    ),
  ).toEqual(['repeats', 'needle_depths', 'num_ctx', 'policies', null]);
});
