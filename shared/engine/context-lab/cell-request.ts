/** Makes the call of one cell. Made when the cell's turn comes and dropped after it: a sweep never holds its documents. */
import type { CallRequest } from '../../contract/calls.ts';
import type { ContextCellPlan, ContextExperiment } from '../../contract/experiments.ts';
import { buildDocument } from './document.ts';
import { outputTokens } from './plan.ts';
import { contextMessages } from './prompt.ts';

export interface CellSources {
  /** The person's own text, null = generated. */
  readonly ownText: string | null;
  readonly estimateTokens: (text: string) => number;
}

export interface CellRequest {
  readonly request: CallRequest;
  /** Characters of the document, needles included, question not. */
  readonly documentCharacters: number;
}

/** The same experiment and plan give the same request. */
export function cellRequest(experiment: ContextExperiment, plan: ContextCellPlan, sources: CellSources): CellRequest {
  const document = buildDocument({
    size: plan.size,
    depths: plan.depths,
    seed: plan.seed,
    ownText: plan.warmUp ? null : sources.ownText,
    estimateTokens: sources.estimateTokens,
  });
  const question = experiment.question?.trim() || document.question;
  return {
    documentCharacters: document.text.length,
    request: {
      model: plan.model,
      route: plan.route,
      messages: contextMessages({ document: document.text, question, position: experiment.questionPosition }),
      numCtx: plan.numCtx,
      numPredict: outputTokens(experiment, plan),
      think: experiment.think,
      temperature: experiment.temperature,
      seed: plan.seed,
      policy: plan.policy,
      stream: true,
      needles: [...document.needles],
      ...(experiment.timeoutMs === undefined ? {} : { timeoutMs: experiment.timeoutMs }),
    },
  };
}
