/** From the axes of a reasoning experiment to the list of calls, in the order in which they run. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { PlanSummary } from '../../contract/experiments.ts';
import type { CellKey } from '../../contract/ids.ts';
import type { ReasoningCellPlan, ReasoningExperiment } from '../../contract/reasoning.ts';
import { type Milliseconds, type Tokens, tokens } from '../../contract/units.ts';
import { keyPart } from '../context-lab/key-part.ts';
import { CELLS_MAX, type PlanKnowledge, type PlanModelFacts, WARM_UP_NUM_PREDICT } from '../context-lab/plan.ts';
import { ANSWER_ONLY_TOKENS_MIN } from '../ask-again.ts';
import { firstSearchCell, searchCallsMax } from './cap-search.ts';
import { type NamedVariant, hasLogprobs, namedVariants, thinkName, whyNot } from './variants.ts';

export interface ReasoningModelFacts extends PlanModelFacts {
  /** null = not known. */
  readonly capabilities: readonly string[] | null;
}

export interface ReasoningKnowledge extends PlanKnowledge {
  readonly serverVersion: string | null;
  readonly model: (model: string) => ReasoningModelFacts;
}

export interface ReasoningPlan {
  readonly cells: ReasoningCellPlan[];
  readonly leftOut: NonNullable<PlanSummary['leftOut']>;
}

/**
 * One plan a call, a model at a time, so that nothing is loaded twice; within a model each repeat walks all lanes, so that they fill
 * side by side. The same experiment gives the same keys in the same order. Lanes that cannot work are left out with the reason.
 * Denied: nothing is left to run, or more than CELLS_MAX calls.
 */
export function planReasoning(experiment: ReasoningExperiment, known: ReasoningKnowledge): Result<ReasoningPlan> {
  const { repeats } = experiment.axes;
  const models = [...new Set(experiment.axes.models)];
  const variants = namedVariants(experiment);
  const tries = experiment.findCap === undefined ? 0 : searchCallsMax(experiment.findCap);
  const calls = models.length * (variants.length * repeats + tries + (experiment.warmUp ? 1 : 0));
  if (calls > CELLS_MAX)
    return denied('bad-input', `This would be ${grouped(calls)} calls; a run has at most ${grouped(CELLS_MAX)}.`, {
      field: 'axes',
      next: 'Take fewer models, variants or repeats, or split it into several runs.',
    });
  const cells: ReasoningCellPlan[] = [];
  const leftOut: { model: string; variant: string; reason: string }[] = [];
  for (const model of models) {
    const facts = { ...known.model(model), serverVersion: known.serverVersion };
    const lanes = variants.filter((variant) => {
      const reason = whyNot(model, variant, { ...facts, embeddingOnly: facts.embeddingOnly === true });
      if (reason !== null) leftOut.push({ model, variant: variant.name, reason });
      return reason === null;
    });
    const search = searchReason(experiment, model, facts);
    if (search.reason !== null) leftOut.push({ model, variant: search.variant, reason: search.reason });
    addModel(cells, experiment, model, lanes, search.isAsked && search.reason === null);
  }
  const first = leftOut[0];
  if (cells.length === 0 && first !== undefined)
    return denied('unsupported', first.reason, {
      field: 'axes.variants',
      next: 'Choose a model that can think, or a variant with thinking off.',
    });
  return ok({ cells, leftOut });
}

function addModel(
  cells: ReasoningCellPlan[],
  experiment: ReasoningExperiment,
  model: string,
  lanes: readonly NamedVariant[],
  searches: boolean,
): void {
  if (lanes.length === 0 && !searches) return;
  const numCtx = experiment.numCtx as Tokens | null;
  const push = (cell: Omit<ReasoningCellPlan, 'kind' | 'key' | 'index' | 'model' | 'numCtx'>): void => {
    const key = cellKey(model, cell.variant, cell.warmUp ? 'warm-up' : `r${cell.repeat}`);
    cells.push({ kind: 'reasoning', key, index: cells.length, model, numCtx, ...cell });
  };
  const { seed } = experiment;
  if (experiment.warmUp)
    push({ ...WARM_UP, numPredict: WARM_UP_NUM_PREDICT, thinkingCap: null, repeat: 0, seed, warmUp: true });
  for (let repeat = 0; repeat < experiment.axes.repeats; repeat++)
    for (const { name, think, numPredict, thinkingCap } of lanes)
      push({
        variant: name,
        think,
        numPredict,
        thinkingCap: thinkingCap ?? null,
        repeat,
        seed: seed + repeat,
        warmUp: false,
      });
  const first = searches ? firstSearchCell(experiment, model, cells.length) : null;
  if (first !== null) cells.push(first);
}

/** Whether a cap search is asked for, and why it cannot work on this model. */
function searchReason(
  { findCap }: ReasoningExperiment,
  model: string,
  facts: ReasoningModelFacts & { readonly serverVersion: string | null },
): { readonly isAsked: boolean; readonly variant: string; readonly reason: string | null } {
  if (findCap === undefined) return { isAsked: false, variant: '', reason: null };
  const reason = whyNot(model, findCap, { ...facts, embeddingOnly: facts.embeddingOnly === true });
  return { isAsked: true, variant: `find ${thinkName(findCap.think)}`, reason };
}

/** `think` is left to the server, so that no model refuses it. */
const WARM_UP = { variant: 'warm-up', think: 'default' } as const;

function cellKey(model: string, variant: string, run: string): CellKey {
  return [keyPart(model, 80), keyPart(variant, 80), run].join('|') as CellKey;
}

/** Calls and tokens are the most that a cap search can take. */
export function reasoningSummary(
  experiment: ReasoningExperiment,
  { cells, leftOut }: ReasoningPlan,
  known: ReasoningKnowledge,
): PlanSummary {
  const characters = promptCharactersOf(experiment);
  const tries = experiment.findCap === undefined ? 1 : searchCallsMax(experiment.findCap);
  let tokensMax = 0;
  let calls = 0;
  let timeMs: number | null = 0;
  for (const cell of cells) {
    const times = cell.search === true ? tries : 1;
    const output = outputTokensMax(cell);
    calls += times;
    tokensMax += times * (Math.ceil(characters / 2) + TEMPLATE_TOKENS + output);
    const ms: number | null = timeMs === null ? null : known.callMs(cell.model, promptTokensLikely(experiment), output);
    timeMs = ms === null || timeMs === null ? null : timeMs + times * ms;
  }
  return {
    cells: calls - cells.filter((cell) => cell.warmUp).length,
    calls,
    tokensMax: tokens(Math.ceil(tokensMax)),
    timeMs: timeMs === null ? null : (Math.round(timeMs) as Milliseconds),
    warnings: [...new Set([...leftOut.map(leftOutWords), ...warningsOf(experiment, known)])].slice(0, WARNINGS_MAX),
    leftOut,
  };
}

const WARNINGS_MAX = 100;
const TEMPLATE_TOKENS = 30;

/** Prompt tokens for time estimates: prose at 3.6 characters a token. */
export function promptTokensLikely(experiment: ReasoningExperiment): number {
  return promptCharactersOf(experiment) / 3.6 + TEMPLATE_TOKENS;
}

/** The most a cell can generate: its cap, and the second call where one may follow. */
export function outputTokensMax({ numPredict, thinkingCap }: ReasoningCellPlan): number {
  if (thinkingCap === null || thinkingCap.tokensMax >= numPredict) return numPredict;
  if (thinkingCap.then === 'stop') return numPredict;
  return numPredict + Math.max(ANSWER_ONLY_TOKENS_MIN, numPredict - thinkingCap.tokensMax);
}

function promptCharactersOf({ prompt, system, messages }: ReasoningExperiment): number {
  const before = (messages ?? []).reduce((sum, message) => sum + message.content.length, 0);
  return prompt.length + (system?.length ?? 0) + before;
}

const leftOutWords = ({ model, variant, reason }: ReasoningPlan['leftOut'][number]): string =>
  `${variant} is left out on ${model}: ${reason}`;

function warningsOf(experiment: ReasoningExperiment, known: ReasoningKnowledge): string[] {
  const variants = namedVariants(experiment);
  const warnings = experiment.axes.models.flatMap((model) => modelWarnings(model, experiment, variants, known));
  for (const { name, numPredict, thinkingCap } of variants) {
    if (thinkingCap === undefined) continue;
    if (thinkingCap.tokensMax >= numPredict)
      warnings.push(
        `${name}: the thinking cap is not below num_predict ${grouped(numPredict)}, so it never stops anything.`,
      );
    if (!experiment.stream)
      warnings.push(`${name}: thinking can be stopped only while it streams. Switch streaming on.`);
  }
  if (experiment.axes.repeats > 1 && experiment.temperature === 0)
    warnings.push(
      'At temperature 0 repeats mostly say the same. Raise the temperature to see how often a setting holds.',
    );
  if (experiment.logprobs && hasLogprobs(known.serverVersion) === false)
    warnings.push(
      `Ollama ${known.serverVersion} has no logprobs (0.12.11 has), so the split of tokens is an estimate.`,
    );
  return warnings;
}

function modelWarnings(
  model: string,
  { numCtx, ...experiment }: ReasoningExperiment,
  variants: readonly NamedVariant[],
  known: ReasoningKnowledge,
): string[] {
  const facts = known.model(model);
  if (facts.there === false)
    return [`${model} is not on this server; its cells will fail. Pull it, or choose another model.`];
  const warnings: string[] = [];
  const trained = facts.trainedContext;
  if (numCtx !== null && trained !== null && numCtx > trained)
    warnings.push(
      `num_ctx ${grouped(numCtx)} is above the ${grouped(trained)} that ${model} was trained with; the server takes ${grouped(trained)}.`,
    );
  const asked = numCtx ?? facts.defaultNumCtx;
  const window = asked === null ? null : trained === null ? asked : Math.min(asked, trained);
  const prompt = Math.ceil(promptTokensLikely({ numCtx, ...experiment }));
  const over = variants.filter(({ numPredict }) => window !== null && prompt + numPredict > window);
  if (window !== null && over.length > 0)
    warnings.push(
      `${over.map(({ name }) => name).join(', ')} can fill the window of ${grouped(window)} before the cap: ${model} then loses its head or stops early. Raise num_ctx.`,
    );
  return warnings;
}

const grouped = (value: number): string => value.toLocaleString('en-US');
