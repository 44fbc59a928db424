/** One door for both kinds of experiment: plan, summary, the call of a cell, and what it will cost. */
import type { CallRequest } from '../contract/calls.ts';
import { type Result, ok } from '../contract/denials.ts';
import type { CellPlan, Experiment, PlanSummary } from '../contract/experiments.ts';
import { type CellSources, cellRequest } from './context-lab/cell-request.ts';
import { evaluatedTokens, outputTokens, planContext, planSummary } from './context-lab/plan.ts';
import { must } from './must.ts';
import { reasoningRequest } from './reasoning-lab/cell-request.ts';
import {
  type ReasoningKnowledge,
  outputTokensMax,
  planReasoning,
  promptTokensLikely,
  reasoningSummary,
} from './reasoning-lab/plan.ts';

export type LabKnowledge = ReasoningKnowledge;

export interface LabPlan {
  readonly cells: readonly CellPlan[];
  readonly summary: PlanSummary;
}

export function planExperiment(experiment: Experiment, known: LabKnowledge): Result<LabPlan> {
  if (experiment.kind === 'context') {
    const cells = planContext(experiment);
    return cells.ok ? ok({ cells: cells.value, summary: planSummary(experiment, cells.value, known) }) : cells;
  }
  const plan = planReasoning(experiment, known);
  return plan.ok ? ok({ cells: plan.value.cells, summary: reasoningSummary(experiment, plan.value, known) }) : plan;
}

export interface LabCall {
  readonly request: CallRequest;
  /** null where there is no document. */
  readonly documentCharacters: number | null;
}

export function callOfCell(experiment: Experiment, plan: CellPlan, sources: CellSources): LabCall {
  if (experiment.kind === 'context') {
    must(plan.kind !== 'reasoning', 'a cell is of the kind of its run');
    return cellRequest(experiment, plan, sources);
  }
  must(plan.kind === 'reasoning', 'a cell is of the kind of its run');
  return { request: reasoningRequest(experiment, plan), documentCharacters: null };
}

/** For time estimates. window null = not known. */
export function tokensOfCell(
  experiment: Experiment,
  plan: CellPlan,
  window: number | null,
): { readonly prompt: number; readonly output: number } {
  if (experiment.kind === 'context') {
    must(plan.kind !== 'reasoning', 'a cell is of the kind of its run');
    return { prompt: evaluatedTokens(plan.size, window), output: outputTokens(experiment, plan) };
  }
  must(plan.kind === 'reasoning', 'a cell is of the kind of its run');
  return { prompt: promptTokensLikely(experiment), output: outputTokensMax(plan) };
}
