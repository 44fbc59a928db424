/** From the axes of an experiment to the list of calls, in the order in which they run. */
import { item } from './item.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { ContextCellPlan, ContextExperiment, DocumentSize, PlanSummary } from '../../contract/experiments.ts';
import type { CellKey } from '../../contract/ids.ts';
import { type Milliseconds, type Tokens, tokens } from '../../contract/units.ts';
import { smallestDocument } from './document.ts';
import { keyPart } from './key-part.ts';

/** Warm-ups included. */
export const CELLS_MAX = 20_000;

/**
 * One plan a call. Cells that share model, window and reload-relevant flags stand together, so that nothing is loaded twice; the
 * first of each such group is a warm-up, when the experiment wants them. The same experiment gives the same keys in the same
 * order. Denied: more than CELLS_MAX cells, a document too small for its needles.
 */
export function planContext(experiment: ContextExperiment): Result<ContextCellPlan[]> {
  const axes = distinctAxes(experiment);
  const tooSmall = findTooSmall(experiment);
  if (tooSmall !== null) return tooSmall;
  const measured =
    axes.models.length *
    axes.numCtx.length *
    axes.sizes.length *
    axes.depths.length *
    axes.routes.length *
    axes.policies.length *
    experiment.axes.repeats;
  const groups = axes.models.length * axes.numCtx.length * reloadGroups(axes.policies).length;
  const cells = measured + (experiment.warmUp ? groups : 0);
  if (cells > CELLS_MAX) {
    return denied(
      'bad-input',
      `This would be ${cells.toLocaleString('en-US')} calls; a run has at most ${CELLS_MAX.toLocaleString('en-US')}.`,
      {
        field: 'axes',
        next: 'Take fewer models, windows, sizes, depths or repeats, or split it into several runs.',
      },
    );
  }
  return ok(listCells(experiment, axes));
}

/** What is known about a model before the run; everything may be unknown. */
export interface PlanModelFacts {
  /** false: the server does not list it. null: the list is not known. */
  readonly there: boolean | null;
  readonly trainedContext: number | null;
  /** The window that calls without num_ctx ran in, null when none was seen. */
  readonly defaultNumCtx: number | null;
  /** Left out = not known. */
  readonly embeddingOnly?: boolean;
}

export interface PlanKnowledge {
  readonly model: (model: string) => PlanModelFacts;
  /** Time of one call in ms, null without a measured speed. */
  readonly callMs: (model: string, promptTokens: number, outputTokens: number) => number | null;
}

/** For the line above the start button. tokensMax charges every document at two characters a token or its asked tokens. */
export function planSummary(
  experiment: ContextExperiment,
  cells: readonly ContextCellPlan[],
  known: PlanKnowledge,
): PlanSummary {
  let tokensMax = 0;
  let timeMs: number | null = 0;
  for (const cell of cells) {
    const output = outputTokens(experiment, cell);
    tokensMax += pessimisticTokens(cell.size) + output;
    const window = cell.numCtx ?? known.model(cell.model).defaultNumCtx;
    const ms: number | null =
      timeMs === null ? null : known.callMs(cell.model, evaluatedTokens(cell.size, window), output);
    timeMs = ms === null || timeMs === null ? null : timeMs + ms;
  }
  return {
    cells: cells.filter((cell) => !cell.warmUp).length,
    calls: cells.length,
    tokensMax: tokens(Math.ceil(tokensMax)),
    timeMs: timeMs === null ? null : (Math.round(timeMs) as Milliseconds),
    warnings: planWarnings(experiment, known),
  };
}

/** Prompt tokens of a cell for time estimates: prose at 3.6 characters a token. */
export function likelyTokens(size: DocumentSize): number {
  return (typeof size === 'number' ? size / 3.6 : size.tokens) + TEMPLATE_TOKENS;
}

/** What the model will read of it: a text that is too long for the window is cut to about half of it. */
export function evaluatedTokens(size: DocumentSize, window: number | null): number {
  const wanted = likelyTokens(size);
  return window === null || wanted <= window ? wanted : window / 2;
}

/** A warm-up asks for few tokens: it is there to load the model. */
export function outputTokens(experiment: ContextExperiment, cell: ContextCellPlan): number {
  return cell.warmUp ? Math.min(experiment.numPredict, WARM_UP_NUM_PREDICT) : experiment.numPredict;
}

export const WARM_UP_NUM_PREDICT = 8;
const WARM_UP_CHARACTERS = 500;
const TEMPLATE_TOKENS = 30;

interface Axes {
  readonly models: readonly string[];
  readonly numCtx: readonly (number | null)[];
  readonly sizes: readonly DocumentSize[];
  readonly depths: readonly (readonly number[])[];
  readonly routes: readonly ContextCellPlan['route'][];
  readonly policies: readonly ContextCellPlan['policy'][];
}

function listCells(experiment: ContextExperiment, axes: Axes): ContextCellPlan[] {
  const cells: ContextCellPlan[] = [];
  const push = (cell: Omit<ContextCellPlan, 'index' | 'key'>): void => {
    cells.push({ key: cellKey(cell), index: cells.length, ...cell });
  };
  for (const model of axes.models) {
    for (const numCtx of axes.numCtx) {
      for (const policies of reloadGroups(axes.policies)) {
        const shared = { model, numCtx: numCtx as Tokens | null };
        if (experiment.warmUp) push({ ...shared, ...warmUp(experiment, axes, item(policies, 0)) });
        for (const policy of policies) {
          for (const route of axes.routes) {
            for (const size of axes.sizes) {
              for (const depths of axes.depths) {
                for (let repeat = 0; repeat < experiment.axes.repeats; repeat++) {
                  push({
                    ...shared,
                    size,
                    depths: [...depths],
                    route,
                    policy,
                    repeat,
                    seed: experiment.seed + repeat,
                    warmUp: false,
                  });
                }
              }
            }
          }
        }
      }
    }
  }
  return cells;
}

function warmUp(
  experiment: ContextExperiment,
  axes: Axes,
  policy: ContextCellPlan['policy'],
): Omit<ContextCellPlan, 'index' | 'key' | 'model' | 'numCtx'> {
  return {
    size: WARM_UP_CHARACTERS,
    depths: [0],
    route: item(axes.routes, 0),
    policy,
    repeat: 0,
    seed: experiment.seed,
    warmUp: true,
  };
}

/** `refuse` sends shift:false, and another shift reloads the model: those cells stand apart. */
function reloadGroups(policies: Axes['policies']): Axes['policies'][] {
  const shifting = policies.filter((policy) => policy !== 'refuse');
  const refusing = policies.filter((policy) => policy === 'refuse');
  return [shifting, refusing].filter((group) => group.length > 0);
}

/** An entry that is listed twice is run once; `default` comes first among the windows. */
function distinctAxes(experiment: ContextExperiment): Axes {
  const { axes } = experiment;
  const numCtx = distinct(axes.numCtx.map((entry) => (entry === 'default' ? null : entry)));
  return {
    models: distinct(axes.models),
    numCtx: [...numCtx.filter((entry) => entry === null), ...numCtx.filter((entry) => entry !== null)],
    sizes: distinct(axes.sizes, sizeName),
    depths: distinct(
      axes.needleDepths.map((entry) => (typeof entry === 'number' ? [entry] : entry)),
      (entry) => entry.join('+'),
    ),
    routes: distinct(axes.routes),
    policies: distinct(axes.policies),
  };
}

function distinct<Item>(items: readonly Item[], name: (item: Item) => unknown = (item) => item): Item[] {
  const seen = new Map<unknown, Item>();
  for (const item of items) if (!seen.has(name(item))) seen.set(name(item), item);
  return [...seen.values()];
}

function findTooSmall(
  experiment: ContextExperiment,
): { ok: false; denial: ReturnType<typeof denied>['denial'] } | null {
  const depths = experiment.axes.needleDepths.map((entry) => (typeof entry === 'number' ? [entry] : entry));
  const smallest = Math.max(...depths.map(smallestDocument));
  const index = experiment.axes.sizes.findIndex((size) => typeof size === 'number' && size < smallest);
  if (index === -1) return null;
  return denied(
    'bad-input',
    `A document of ${String(experiment.axes.sizes[index])} characters is too small for its needles; it needs ${smallest}.`,
    {
      field: `axes.sizes[${index}]`,
      next: `Give at least ${smallest} characters, or fewer needles.`,
    },
  );
}

function planWarnings(experiment: ContextExperiment, known: PlanKnowledge): string[] {
  const warnings: string[] = [];
  const axes = distinctAxes(experiment);
  for (const model of axes.models) {
    const facts = known.model(model);
    if (facts.there === false) {
      warnings.push(`${model} is not on this server; its cells will fail. Pull it, or choose another model.`);
      continue;
    }
    if (facts.embeddingOnly === true) {
      warnings.push(`${model} only makes embeddings; its cells will fail. Choose another model.`);
      continue;
    }
    for (const numCtx of axes.numCtx) {
      if (numCtx !== null && facts.trainedContext !== null && numCtx > facts.trainedContext) {
        warnings.push(
          `num_ctx ${grouped(numCtx)} is above the ${grouped(facts.trainedContext)} that ${model} was trained with; the server takes ${grouped(facts.trainedContext)}.`,
        );
      }
    }
    const largest = Math.max(...axes.sizes.map(likelyTokens));
    if (facts.trainedContext !== null && largest + experiment.numPredict > facts.trainedContext) {
      warnings.push(
        `The largest document (about ${grouped(Math.round(largest))} tokens) fits no window of ${model}, which ends at ${grouped(facts.trainedContext)}.`,
      );
    }
  }
  return warnings.slice(0, WARNINGS_MAX);
}

const WARNINGS_MAX = 100;
const grouped = (value: number): string => value.toLocaleString('en-US');

const pessimisticTokens = (size: DocumentSize): number =>
  (typeof size === 'number' ? Math.ceil(size / 2) : Math.ceil(size.tokens * 1.25)) + TEMPLATE_TOKENS;

const sizeName = (size: DocumentSize): string => (typeof size === 'number' ? `${size}c` : `${size.tokens}t`);

/** Readable, made of the axes only, at most 200 characters. Long names are cut and told apart by a hash. */
function cellKey(cell: Omit<ContextCellPlan, 'index' | 'key'>): CellKey {
  const window = cell.numCtx === null ? 'default' : String(cell.numCtx);
  const parts = [
    keyPart(cell.model, 80),
    `ctx=${window}`,
    sizeName(cell.size),
    `at=${keyPart(cell.depths.join('+'), 50)}`,
    cell.route,
    cell.policy,
    cell.warmUp ? 'warm-up' : `r${cell.repeat}`,
  ];
  return parts.join('|') as CellKey;
}
