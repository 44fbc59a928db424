/** Experiments for tests and their child processes; knows no test runner. */
import type { Result } from '../../../shared/contract/denials.ts';
import { contextExperimentSchema } from '../../../shared/contract/experiments.ts';
import type { ContextAxes, ContextExperiment } from '../../../shared/contract/experiments.ts';

export function experiment(
  change: Partial<ContextAxes> = {},
  more: Partial<ContextExperiment> = {},
): ContextExperiment {
  return contextExperimentSchema.parse({
    kind: 'context',
    axes: {
      models: ['m'],
      numCtx: ['default', 8_192],
      sizes: [500, 1_000, 2_000],
      needleDepths: [0],
      routes: ['chat'],
      policies: ['warn'],
      repeats: 1,
      ...change,
    },
    ...more,
  });
}

export function must<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`refused: ${result.denial.message}`);
  return result.value;
}
