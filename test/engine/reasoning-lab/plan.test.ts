/** From axes to calls: order, keys, names, what cannot work and why. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellPlanSchema, planSummarySchema } from '../../../shared/contract/experiments.ts';
import {
  type ReasoningExperiment,
  type ReasoningVariant,
  reasoningExperimentSchema,
} from '../../../shared/contract/reasoning.ts';
import { reasoningRequest } from '../../../shared/engine/reasoning-lab/cell-request.ts';
import {
  type ReasoningKnowledge,
  type ReasoningModelFacts,
  planReasoning,
  reasoningSummary,
} from '../../../shared/engine/reasoning-lab/plan.ts';
import { fittedPreset, reasoningPreset } from '../../../shared/engine/reasoning-lab/presets.ts';
import { namedVariants, settingsName, whyNot } from '../../../shared/engine/reasoning-lab/variants.ts';

const thinker: ReasoningModelFacts = {
  there: true,
  trainedContext: 131_072,
  defaultNumCtx: 4_096,
  capabilities: ['completion', 'thinking'],
};

function knowing(
  facts: Partial<ReasoningModelFacts> = {},
  serverVersion: string | null = '0.33.0',
): ReasoningKnowledge {
  return { serverVersion, model: () => ({ ...thinker, ...facts }), callMs: () => null };
}

function experiment(
  axes: Partial<ReasoningExperiment['axes']> = {},
  more: Partial<ReasoningExperiment> = {},
): ReasoningExperiment {
  return reasoningExperimentSchema.parse({
    kind: 'reasoning',
    axes: { models: ['thinker'], variants: [{ think: false, numPredict: 2_000 }], repeats: 1, ...axes },
    prompt: 'Is 7 prime?',
    numCtx: 16_384,
    ...more,
  });
}

const twoLanes: ReasoningVariant[] = [
  { think: false, numPredict: 2_000 },
  { think: true, numPredict: 8_000 },
];

function planned(of: ReasoningExperiment, known = knowing()): ReturnType<typeof cellsOf> {
  return cellsOf(of, known);
}

function cellsOf(of: ReasoningExperiment, known: ReasoningKnowledge) {
  const plan = planReasoning(of, known);
  if (!plan.ok) throw new Error(plan.denial.message);
  return plan.value;
}

describe('order', () => {
  test('a model at a time, a warm-up first, and every repeat walks all lanes', () => {
    const { cells } = planned(experiment({ models: ['a', 'b'], variants: twoLanes, repeats: 2 }, { seed: 40 }));
    expect(cells.map(({ key, seed }) => `${key} ${seed}`)).toEqual([
      'a|warm-up|warm-up 40',
      'a|off/2000|r0 40',
      'a|on/8000|r0 40',
      'a|off/2000|r1 41',
      'a|on/8000|r1 41',
      'b|warm-up|warm-up 40',
      'b|off/2000|r0 40',
      'b|on/8000|r0 40',
      'b|off/2000|r1 41',
      'b|on/8000|r1 41',
    ]);
    expect(cells.map(({ index }) => index)).toEqual([...cells.keys()]);
  });

  test('property: keys are stable and unique, plans are valid, models stand together', () => {
    const think = fc.constantFrom<ReasoningVariant['think']>(true, false, 'default', 'low', 'high', 'max');
    const variant = fc.record(
      { think, numPredict: fc.integer({ min: 1, max: 9_000 }) },
      { requiredKeys: ['think', 'numPredict'] },
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ minLength: 1, maxLength: 200 }).filter((name) => name.trim() !== ''),
          { minLength: 1, maxLength: 4 },
        ),
        fc.array(variant, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        (models, variants, repeats) => {
          const of = experiment({ models, variants, repeats });
          const { cells } = planned(of);
          expect(planned(of).cells).toEqual(cells);
          expect(new Set(cells.map(({ key }) => key)).size).toBe(cells.length);
          for (const cell of cells) expect(cellPlanSchema.parse(cell)).toEqual(cell);
          const changes = cells.filter((cell, index) => index > 0 && cell.model !== cells[index - 1]?.model).length;
          expect(changes).toBe(new Set(cells.map(({ model }) => model)).size - 1);
        },
      ),
    );
  });

  test('more calls than a run may have are refused', () => {
    const variants = Array.from({ length: 50 }, (_, index) => ({ think: true, numPredict: index + 1 }));
    const models = Array.from({ length: 5 }, (_, index) => `m${index}`);
    expect(planReasoning(experiment({ models, variants, repeats: 100 }), knowing())).toMatchObject({
      ok: false,
      denial: { code: 'bad-input', field: 'axes', message: 'This would be 25,005 calls; a run has at most 20,000.' },
    });
  });
});

describe('lanes', () => {
  test('names say the settings; what is asked twice runs once; equal names are told apart', () => {
    const cap = { tokensMax: 500, then: 'ask-again' as const };
    const variants: ReasoningVariant[] = [
      ...twoLanes,
      { think: false, numPredict: 2_000, name: 'again' },
      { think: 'high', numPredict: 10, name: 'mine' },
      { think: 'low', numPredict: 10, name: 'mine' },
      { think: true, numPredict: 8_000, thinkingCap: cap },
      { think: true, numPredict: 8_000, thinkingCap: { ...cap, then: 'stop' } },
      { think: 'default', numPredict: 8_000 },
    ];
    expect(namedVariants(experiment({ variants })).map(({ name }) => name)).toEqual([
      'off/2000',
      'on/8000',
      'mine',
      'mine (2)',
      'on/8000/t500+',
      'on/8000/t500',
      'default/8000',
    ]);
    expect(settingsName({ think: 'max', numPredict: 1 })).toBe('max/1');
  });

  test('what cannot work is left out with its reason, and off stays', () => {
    const variants: ReasoningVariant[] = [
      ...twoLanes,
      { think: 'high', numPredict: 100 },
      { think: 'default', numPredict: 9 },
    ];
    const of = experiment({ models: ['plain'], variants });
    const known = knowing({ capabilities: ['completion', 'tools'] });
    const plan = planned(of, known);
    expect(plan.cells.map(({ variant }) => variant)).toEqual(['warm-up', 'off/2000', 'default/9']);
    const summary = reasoningSummary(of, plan, known);
    expect(planSummarySchema.parse(summary)).toMatchObject({ cells: 2, calls: 3 });
    expect(summary.warnings).toEqual([
      'on/8000 is left out on plain: plain cannot think, so think on would be refused.',
      'high/100 is left out on plain: plain cannot think, so think high would be refused.',
    ]);
    expect(summary.leftOut?.map(({ variant }) => variant)).toEqual(['on/8000', 'high/100']);
  });

  test('nothing left to run is refused', () => {
    const of = experiment({ variants: [{ think: true, numPredict: 100 }] });
    expect(planReasoning(of, knowing({ capabilities: ['completion'] }))).toMatchObject({
      ok: false,
      denial: { code: 'unsupported', field: 'axes.variants' },
    });
  });

  test('what is not known is not left out', () => {
    const asks = { think: 'max' as const };
    const known = { capabilities: null, embeddingOnly: false, serverVersion: null };
    expect(whyNot('m', asks, known)).toBeNull();
    expect(whyNot('m', asks, { ...known, serverVersion: '0.21.9' })).toBe(
      'think max needs Ollama 0.22.0, and this is 0.21.9.',
    );
    expect(whyNot('m', asks, { ...known, serverVersion: '0.22.0' })).toBeNull();
    expect(whyNot('m', { think: false }, { ...known, embeddingOnly: true })).toBe(
      'm makes embeddings and cannot answer.',
    );
  });
});

describe('what is said before the start', () => {
  const warningsOf = (of: ReasoningExperiment, known = knowing()): readonly string[] =>
    reasoningSummary(of, planned(of, known), known).warnings;

  test('tokens are the upper bound, with the second call where one may follow', () => {
    const cap = { tokensMax: 500, then: 'ask-again' as const };
    const of = experiment({ variants: [{ think: true, numPredict: 1_000, thinkingCap: cap }] }, { warmUp: false });
    // Prompt 11 characters at 2 each, 30 of the template, 1,000 and 500 of output.
    expect(reasoningSummary(of, planned(of), knowing()).tokensMax).toBe(6 + 30 + 1_500);
  });

  test('a window that the cap can fill, a model that is not there, a cap that never stops', () => {
    expect(warningsOf(experiment({ variants: twoLanes }))).toEqual([]);
    expect(warningsOf(experiment({ variants: twoLanes }, { numCtx: null }))).toEqual([
      'on/8000 can fill the window of 4,096 before the cap: thinker then loses its head or stops early. Raise num_ctx.',
    ]);
    expect(warningsOf(experiment(), knowing({ there: false }))).toEqual([
      'thinker is not on this server; its cells will fail. Pull it, or choose another model.',
    ]);
    const capped = [{ think: true, numPredict: 100, thinkingCap: { tokensMax: 100, then: 'stop' as const } }];
    expect(warningsOf(experiment({ variants: capped }, { stream: false }))).toEqual([
      'on/100/t100: the thinking cap is not below num_predict 100, so it never stops anything.',
      'on/100/t100: thinking can be stopped only while it streams. Switch streaming on.',
    ]);
  });

  test('repeats that say the same, counts that the server cannot give', () => {
    expect(warningsOf(experiment({ repeats: 3 }))).toHaveLength(1);
    expect(warningsOf(experiment({ repeats: 3 }, { temperature: 0.7 }))).toEqual([]);
    expect(warningsOf(experiment(), knowing({}, '0.12.10'))).toEqual([
      'Ollama 0.12.10 has no logprobs (0.12.11 has), so the split of tokens is an estimate.',
    ]);
    expect(warningsOf(experiment(), knowing({}, '0.12.11'))).toEqual([]);
  });
});

describe('the ready experiment', () => {
  test('off/2000, on/8000, on/256 in a window that holds them', () => {
    const { experiment: ready, warnings } = reasoningPreset('prime', { model: 'm', trainedContext: null });
    expect(namedVariants(ready).map(({ name }) => name)).toEqual(['off/2000', 'on/8000', 'on/256']);
    expect(ready.prompt).toBe('Is 1000003 a prime number? Answer only yes or no.');
    expect([ready.numCtx, warnings]).toEqual([16_384, []]);
    expect(reasoningPreset('prime', { model: 'm', trainedContext: 8_192 })).toMatchObject({
      experiment: { numCtx: 8_192 },
      warnings: ['m was trained with 8,192 tokens, so that is used in place of 16,384.'],
    });
  });

  test('fits the model', () => {
    const facts = { trainedContext: 131_072, capabilities: ['completion'], embeddingOnly: false } as never;
    const { experiment: fitted, warnings } = fittedPreset('prime', { model: 'm', facts, serverVersion: null });
    expect(namedVariants(fitted).map(({ name }) => name)).toEqual(['off/2000']);
    expect(warnings).toEqual([
      'on/8000 is left out: m cannot think, so think on would be refused.',
      'on/256 is left out: m cannot think, so think on would be refused.',
    ]);
    expect(fittedPreset('prime', { model: 'm', facts: null, serverVersion: null }).warnings).toEqual([]);
  });
});

test('the request of a cell: system, earlier turns, prompt, and every setting said aloud', () => {
  const of = experiment(
    { variants: [{ think: 'high', numPredict: 300, thinkingCap: { tokensMax: 50, then: 'stop' } }] },
    {
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
      seed: 3,
    },
  );
  const [warmUp, cell] = planned(of).cells;
  if (cell === undefined || warmUp === undefined) throw new Error('no cell');
  expect(reasoningRequest(of, cell)).toEqual({
    model: 'thinker',
    route: 'chat',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Is 7 prime?' },
    ],
    numCtx: 16_384,
    numPredict: 300,
    think: 'high',
    temperature: 0,
    seed: 3,
    policy: 'warn',
    stream: true,
    needles: [],
    logprobs: true,
    thinkingCap: { tokensMax: 50, then: 'stop' },
  });
  expect(reasoningRequest(of, warmUp)).toMatchObject({ think: 'default', numPredict: 8, logprobs: false });
});
