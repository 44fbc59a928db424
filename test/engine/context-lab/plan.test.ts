import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { contextExperimentSchema, cellPlanSchema } from '../../../shared/contract/experiments.ts';
import type { ContextAxes, ContextExperiment } from '../../../shared/contract/experiments.ts';
import { CELLS_MAX, planContext, planSummary, type PlanKnowledge } from '../../../shared/engine/context-lab/plan.ts';
import { defaultExperiment, presetExperiment } from '../../../shared/engine/context-lab/presets.ts';

const axes: ContextAxes = {
  models: ['m'],
  numCtx: ['default'],
  sizes: [2_000],
  needleDepths: [0],
  routes: ['chat'],
  policies: ['warn'],
  repeats: 1,
};
const experiment = (change: Partial<ContextAxes> = {}, more: Partial<ContextExperiment> = {}): ContextExperiment =>
  contextExperimentSchema.parse({ kind: 'context', axes: { ...axes, ...change }, ...more });
const cells = (from: ContextExperiment) => {
  const planned = planContext(from);
  if (!planned.ok) throw new Error(planned.denial.message);
  return planned.value;
};

const experimentArbitrary = fc
  .record({
    models: fc.array(
      fc.string({ minLength: 1, maxLength: 300 }).filter((name) => name.trim() !== ''),
      { minLength: 1, maxLength: 3 },
    ),
    numCtx: fc.array(fc.oneof(fc.constant('default' as const), fc.integer({ min: 1, max: 100_000 })), {
      minLength: 1,
      maxLength: 4,
    }),
    sizes: fc.array(
      fc.oneof(
        fc.integer({ min: 600, max: 5_000_000 }),
        fc.record({ tokens: fc.integer({ min: 30, max: 2_000_000 }) }),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    needleDepths: fc.array(
      fc.oneof(
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 10 }),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    routes: fc.uniqueArray(fc.constantFrom('chat' as const, 'generate' as const), { minLength: 1 }),
    policies: fc.uniqueArray(fc.constantFrom('warn' as const, 'refuse' as const, 'allow' as const), { minLength: 1 }),
    repeats: fc.integer({ min: 1, max: 4 }),
  })
  .map((some) => experiment(some));

describe('the plan', () => {
  test('has unique keys in running order, the same each time, each a valid plan', () => {
    fc.assert(
      fc.property(experimentArbitrary, (any) => {
        const planned = cells(any);
        expect(new Set(planned.map((cell) => cell.key)).size).toBe(planned.length);
        expect(planned.map((cell) => cell.index)).toEqual(planned.map((_, index) => index));
        expect(cells(any)).toEqual(planned);
        for (const cell of planned) expect(cellPlanSchema.safeParse(cell).success).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('never comes back to a model, window and shift it has left, and warms each of them up once, first', () => {
    fc.assert(
      fc.property(experimentArbitrary, (any) => {
        const groups = cells(any).map((cell) => ({
          name: JSON.stringify([cell.model, cell.numCtx, cell.policy === 'refuse']),
          warmUp: cell.warmUp,
        }));
        const starts = groups.filter((group, index) => index === 0 || groups[index - 1]?.name !== group.name);
        expect(new Set(starts.map((group) => group.name)).size).toBe(starts.length);
        expect(starts.every((group) => group.warmUp)).toBe(true);
        expect(groups.filter((group) => group.warmUp)).toHaveLength(starts.length);
      }),
      { numRuns: 60 },
    );
  });

  test('key of a cell stays when other axes grow', () => {
    const before = cells(experiment()).map((cell) => cell.key);
    const after = new Set(
      cells(experiment({ models: ['a', 'm'], sizes: [500, 2_000], numCtx: [4_096, 'default'], repeats: 3 })).map(
        (cell) => cell.key,
      ),
    );
    expect(before.filter((key) => !after.has(key))).toEqual([]);
    expect(before).toEqual(['m|ctx=default|500c|at=0|chat|warn|warm-up', 'm|ctx=default|2000c|at=0|chat|warn|r0']);
  });

  test('the default window runs first, repeats rise by seed, doubles run once', () => {
    const planned = cells(experiment({ numCtx: [8_192, 'default', 8_192], repeats: 2 }, { warmUp: false, seed: 40 }));
    expect(planned.map((cell) => [cell.numCtx, cell.repeat, cell.seed])).toEqual([
      [null, 0, 40],
      [null, 1, 41],
      [8_192, 0, 40],
      [8_192, 1, 41],
    ]);
  });

  test(`holds at most ${CELLS_MAX} calls`, () => {
    const sizes = Array.from({ length: 100 }, (_, index) => 1_000 + index);
    expect(planContext(experiment({ sizes, repeats: 100, needleDepths: [0, 50] }, { warmUp: false })).ok).toBe(true);
    expect(planContext(experiment({ sizes, repeats: 100, needleDepths: [0, 50] }, { warmUp: true }))).toEqual({
      ok: false,
      denial: {
        code: 'bad-input',
        message: 'This would be 20,001 calls; a run has at most 20,000.',
        field: 'axes',
        next: 'Take fewer models, windows, sizes, depths or repeats, or split it into several runs.',
      },
    });
  });

  test('a document too small for its needles is refused by its field', () => {
    const planned = planContext(experiment({ sizes: [2_000, 150], needleDepths: [[0, 20, 40, 60, 80]] }));
    expect(planned).toMatchObject({ ok: false, denial: { code: 'bad-input', field: 'axes.sizes[1]' } });
  });
});

describe('the summary', () => {
  const known = (trainedContext: number | null, there: boolean | null = true): PlanKnowledge => ({
    model: () => ({ there, trainedContext, defaultNumCtx: 4_096 }),
    callMs: () => null,
  });

  test('counts cells without and calls with warm-ups, bounds the tokens, and knows no time before it was measured', () => {
    const planned = cells(experiment({ numCtx: ['default', 8_192] }));
    const summary = planSummary(experiment({ numCtx: ['default', 8_192] }), planned, known(131_072));
    expect(summary).toEqual({
      cells: 2,
      calls: 4,
      tokensMax: 2 * (1_030 + 60) + 2 * (280 + 8),
      timeMs: null,
      warnings: [],
    });
  });

  test('adds up measured times', () => {
    const summary = planSummary(experiment(), cells(experiment()), {
      model: () => ({ there: true, trainedContext: null, defaultNumCtx: null }),
      callMs: () => 1_500.4,
    });
    expect(summary.timeMs).toBe(3_001);
  });

  test('charges a text that will be cut with what the model then reads', () => {
    const long = experiment({ numCtx: ['default', 8_192], sizes: [360_000] }, { warmUp: false });
    const read: number[] = [];
    planSummary(long, cells(long), { ...known(null), callMs: (_, promptTokens) => read.push(promptTokens) });
    expect(read).toEqual([2_048, 4_096]);
  });

  test('warns of a window above the trained one, a size that fits nowhere and a missing model', () => {
    const large = experiment({ numCtx: [40_960], sizes: [120_000] });
    expect(planSummary(large, cells(large), known(32_768)).warnings).toEqual([
      'num_ctx 40,960 is above the 32,768 that m was trained with; the server takes 32,768.',
      'The largest document (about 33,363 tokens) fits no window of m, which ends at 32,768.',
    ]);
    expect(planSummary(large, cells(large), known(null, false)).warnings).toEqual([
      'm is not on this server; its cells will fail. Pull it, or choose another model.',
    ]);
    expect(planSummary(large, cells(large), known(null, null)).warnings).toEqual([]);
  });
});

describe('presets', () => {
  test('the default is the classic experiment', () => {
    expect(defaultExperiment({ model: 'm', trainedContext: 131_072 })).toEqual({
      experiment: {
        kind: 'context',
        name: 'Needle first',
        axes: {
          models: ['m'],
          numCtx: ['default', 40_960],
          sizes: [2_000, 10_000, 40_000, 120_000],
          needleDepths: [0],
          routes: ['chat'],
          policies: ['warn'],
          repeats: 1,
        },
        document: { kind: 'generated' },
        questionPosition: 'last',
        numPredict: 60,
        temperature: 0,
        think: 'default',
        seed: 7,
        warmUp: true,
      },
      warnings: [],
    });
  });

  test('a smaller trained context takes the place of 40,960, and that is said', () => {
    const { experiment: small, warnings } = defaultExperiment({ model: 'm', trainedContext: 32_768 });
    expect(small.axes.numCtx).toEqual(['default', 32_768]);
    expect(warnings).toEqual(['m was trained with 32,768 tokens, so that is used in place of 40,960.']);
  });

  test('the others move the needle', () => {
    expect(presetExperiment('needle-last', { model: 'm', trainedContext: null }).experiment.axes.needleDepths).toEqual([
      100,
    ]);
    expect(
      presetExperiment('needle-anywhere', { model: 'm', trainedContext: null }).experiment.axes.needleDepths,
    ).toEqual([0, 25, 50, 75, 100]);
  });
});
