/** The reasoning experiment: one prompt, variants of thinking and output cap side by side (design, section 4.2 and 6). */
import { z } from 'zod';
import { messageSchema, numCtxSchema, numPredictSchema, thinkSchema, thinkingCapSchema } from './calls.ts';
import { cellKeySchema, runIdSchema } from './ids.ts';
import { millisecondsSchema, tokensSchema } from './units.ts';

/** One lane: what is asked of thinking, and the output cap. `name` is shown and written to rows; left out = `off/2000`. */
export const reasoningVariantSchema = z.strictObject({
  name: z.string().trim().min(1).max(60).optional(),
  think: thinkSchema,
  numPredict: numPredictSchema,
  thinkingCap: thinkingCapSchema.optional(),
});
export type ReasoningVariant = z.infer<typeof reasoningVariantSchema>;

export const reasoningAxesSchema = z.strictObject({
  models: z.array(z.string().trim().min(1).max(500)).min(1, 'choose at least one model').max(50),
  variants: z.array(reasoningVariantSchema).max(50),
  repeats: z.int().min(1).max(100),
});
export type ReasoningAxes = z.infer<typeof reasoningAxesSchema>;

/**
 * Looks for the smallest num_predict with `inARow` answers in a row, between two ends and to within so many tokens. One call at a
 * time decides the next, so the cells of a search join the run while it goes.
 */
export const capSearchSchema = z.strictObject({
  think: thinkSchema.default(true),
  capMin: numPredictSchema.default(16),
  capMax: numPredictSchema.default(8_000),
  inARow: z.int().min(1).max(20).default(3),
  within: z.int().min(1).max(1_000_000).default(16),
  /** At most so many calls for each model. */
  runsMax: z.int().min(1).max(500).default(60),
});
export type CapSearch = z.infer<typeof capSearchSchema>;

const reasoningFields = z.strictObject({
  kind: z.literal('reasoning'),
  name: z.string().max(200).optional(),
  axes: reasoningAxesSchema,
  /** What is asked. With `messages` it is the last turn of the conversation. */
  prompt: z.string().trim().min(1, 'write a prompt').max(1_000_000),
  system: z.string().max(1_000_000).optional(),
  /** Turns before the prompt. */
  messages: z.array(messageSchema).max(1_000).optional(),
  /** null = the server's default window. */
  numCtx: numCtxSchema.nullable().default(null),
  temperature: z.number().min(0).max(5).default(0),
  /** Seed of the first repeat; repeat r uses seed + r. */
  seed: z.int().min(0).max(2_147_483_000).default(7),
  stream: z.boolean().default(true),
  /** Asked for where the server has them (0.12.11): the split is then a count. */
  logprobs: z.boolean().default(true),
  /** One short call per model first, left out of every average. */
  warmUp: z.boolean().default(true),
  timeoutMs: millisecondsSchema.optional(),
  /** Runs after the lanes of each model. */
  findCap: capSearchSchema.optional(),
});
export const reasoningExperimentSchema = reasoningFields.superRefine(({ axes, findCap }, context) => {
  if (axes.variants.length === 0 && findCap === undefined)
    context.addIssue({ code: 'custom', path: ['axes', 'variants'], message: 'give at least one variant' });
  if (findCap !== undefined && findCap.capMax < findCap.capMin)
    context.addIssue({ code: 'custom', path: ['findCap', 'capMax'], message: 'must not be below the smallest cap' });
});
export type ReasoningExperiment = z.infer<typeof reasoningExperimentSchema>;

export const reasoningPresets = ['prime'] as const;
export type ReasoningPresetName = (typeof reasoningPresets)[number];

/** One call to make. `index` is the place in running order: grouped by model, so that nothing reloads twice. */
export const reasoningCellPlanSchema = z.strictObject({
  kind: z.literal('reasoning'),
  key: cellKeySchema,
  index: z.int().nonnegative(),
  model: z.string(),
  /** The lane's name; unique in its run. */
  variant: z.string(),
  think: thinkSchema,
  numPredict: z.int().min(1),
  thinkingCap: thinkingCapSchema.nullable(),
  numCtx: tokensSchema.nullable(),
  repeat: z.int().nonnegative(),
  seed: z.int(),
  warmUp: z.boolean(),
  /** A try of the cap search: in no lane. `repeat` counts the tries. */
  search: z.literal(true).optional(),
});
export type ReasoningCellPlan = z.infer<typeof reasoningCellPlanSchema>;

/** How often a switch was obeyed. `of`: runs where it could be told. */
export const obeyedRateSchema = z.strictObject({
  obeyed: z.int().nonnegative(),
  notObeyed: z.int().nonnegative(),
  suspect: z.int().nonnegative(),
  of: z.int().nonnegative(),
  /** Such as `off obeyed 7 of 10`. */
  sentence: z.string(),
});
export type ObeyedRate = z.infer<typeof obeyedRateSchema>;

/** One lane over its repeats, warm-ups left out. Medians are null where no run gave the figure; `estimated` where any was. */
export const laneSummarySchema = z.strictObject({
  model: z.string(),
  variant: z.string(),
  runs: z.int().nonnegative(),
  ended: z.int().nonnegative(),
  answered: z.int().nonnegative(),
  /** Answered and ended by itself. */
  complete: z.int().nonnegative(),
  starved: z.int().nonnegative(),
  thinkingTokensMedian: tokensSchema.nullable(),
  answerTokensMedian: tokensSchema.nullable(),
  splitSource: z.enum(['counted', 'estimated']).nullable(),
  wallMsMedian: millisecondsSchema.nullable(),
  /** null where thinking was not switched off. */
  obeyed: obeyedRateSchema.nullable(),
});
export type LaneSummary = z.infer<typeof laneSummarySchema>;

/** How far the cap search of a model has come. cap: the smallest that is known to be enough; notEnough: the largest that failed. */
export const capResultSchema = z.strictObject({
  model: z.string(),
  think: thinkSchema,
  state: z.enum(['searching', 'found', 'not-found', 'gave-up']),
  cap: tokensSchema.nullable(),
  notEnough: tokensSchema.nullable(),
  runsMade: z.int().nonnegative(),
  sentence: z.string(),
});
export type CapResult = z.infer<typeof capResultSchema>;

export const reasoningSummarySchema = z.strictObject({
  runId: runIdSchema,
  lanes: z.array(laneSummarySchema),
  caps: z.array(capResultSchema).optional(),
});
export type ReasoningSummary = z.infer<typeof reasoningSummarySchema>;
