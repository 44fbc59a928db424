/** Experiments: axes, plan, cells, runs (design, sections 5 and 6; the default is the classic context experiment). */
import { z } from 'zod';
import { callSummarySchema, numCtxSchema, numPredictSchema, policySchema, thinkSchema } from './calls.ts';
import { cellKeySchema, documentIdSchema, runIdSchema } from './ids.ts';
import { reasoningCellPlanSchema, reasoningExperimentSchema } from './reasoning.ts';
import { millisecondsSchema, tokensSchema } from './units.ts';

/** A size in characters (number), or in tokens (aimed at with the estimate). */
export const documentSizeSchema = z.union([
  z
    .int('a size must be a whole number of characters')
    .min(100, 'a document has at least 100 characters')
    .max(5_000_000, 'a document has at most 5,000,000 characters'),
  z.strictObject({ tokens: z.int().min(30).max(2_000_000) }),
]);
export type DocumentSize = z.infer<typeof documentSizeSchema>;

export const documentSourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('generated') }),
  /** The person's own text, stored before; sizes then cut or repeat it. */
  z.strictObject({ kind: z.literal('own'), documentId: documentIdSchema }),
]);

export const contextAxesSchema = z.strictObject({
  models: z.array(z.string().trim().min(1).max(500)).min(1, 'choose at least one model').max(50),
  /** 'default' = leave num_ctx to the server. */
  numCtx: z
    .array(z.union([z.literal('default'), numCtxSchema]))
    .min(1, 'give at least one window')
    .max(50),
  sizes: z.array(documentSizeSchema).min(1, 'give at least one size').max(100),
  /** Each entry is one variant: one depth, or several needles at several depths. Percent, 0 = first line. */
  needleDepths: z
    .array(z.union([z.number().min(0).max(100), z.array(z.number().min(0).max(100)).min(1).max(10)]))
    .min(1)
    .max(50),
  routes: z
    .array(z.enum(['chat', 'generate']))
    .min(1)
    .max(2),
  policies: z.array(policySchema).min(1).max(3),
  repeats: z.int().min(1).max(100),
});
export type ContextAxes = z.infer<typeof contextAxesSchema>;

export const contextExperimentSchema = z.strictObject({
  kind: z.literal('context'),
  name: z.string().max(200).optional(),
  axes: contextAxesSchema,
  document: documentSourceSchema.default({ kind: 'generated' }),
  questionPosition: z.enum(['last', 'first']).default('last'),
  question: z.string().max(2_000).optional(),
  numPredict: numPredictSchema.default(60),
  temperature: z.number().min(0).max(5).default(0),
  think: thinkSchema.default('default'),
  /** Seed of the document and of the first repeat; repeat r uses seed + r. */
  seed: z.int().min(0).max(2_147_483_000).default(7),
  /** One unrecorded-in-averages call per model and window first. */
  warmUp: z.boolean().default(true),
  timeoutMs: millisecondsSchema.optional(),
});
export type ContextExperiment = z.infer<typeof contextExperimentSchema>;

export const presets = ['needle-first', 'needle-last', 'needle-anywhere'] as const;

/** One call to make. `index` is the place in running order: grouped by model and num_ctx so that nothing reloads twice. */
export const contextCellPlanSchema = z.strictObject({
  /** Left out: rows of versions that knew one kind have none. */
  kind: z.literal('context').optional(),
  key: cellKeySchema,
  index: z.int().nonnegative(),
  model: z.string(),
  numCtx: tokensSchema.nullable(),
  size: documentSizeSchema,
  /** Documents are addressed by size and depth; this is the plan's number for it, for rows and columns of the map. */
  depths: z.array(z.number()),
  route: z.enum(['chat', 'generate']),
  policy: policySchema,
  repeat: z.int().nonnegative(),
  seed: z.int(),
  warmUp: z.boolean(),
});
export type ContextCellPlan = z.infer<typeof contextCellPlanSchema>;

export const cellPlanSchema = z.union([reasoningCellPlanSchema, contextCellPlanSchema]);
export type CellPlan = z.infer<typeof cellPlanSchema>;

export const planSummarySchema = z.strictObject({
  cells: z.int(),
  calls: z.int(),
  /** Upper bound: estimated prompts (pessimistic) plus num_predict, over all calls. */
  tokensMax: tokensSchema,
  /** null until a speed of this model has been measured. */
  timeMs: millisecondsSchema.nullable(),
  /** Said on screen: a window that is clamped to the trained one, a model that is missing, a size that cannot fit. */
  warnings: z.array(z.string()),
  /** Variants that cannot work and are not run; each is in the warnings too. */
  leftOut: z.array(z.strictObject({ model: z.string(), variant: z.string(), reason: z.string() })).optional(),
});
export type PlanSummary = z.infer<typeof planSummarySchema>;

export const cellStates = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;
/** A cell on screen: its plan, its state and, when it ran, the summary of its call. */
const cellResult = {
  state: z.enum(cellStates),
  documentCharacters: z.int().nonnegative().nullable(),
  call: callSummarySchema.nullable(),
};
export const contextCellSchema = z.strictObject({ plan: contextCellPlanSchema, ...cellResult });
export type ContextCell = z.infer<typeof contextCellSchema>;
export const reasoningCellSchema = z.strictObject({ plan: reasoningCellPlanSchema, ...cellResult });
export type ReasoningCell = z.infer<typeof reasoningCellSchema>;
export const cellSchema = z.union([reasoningCellSchema, contextCellSchema]);
export type Cell = z.infer<typeof cellSchema>;

export const isReasoningCell = (cell: Cell): cell is ReasoningCell => cell.plan.kind === 'reasoning';
export const isContextCell = (cell: Cell): cell is ContextCell => cell.plan.kind !== 'reasoning';

export const experimentSchema = z.discriminatedUnion('kind', [contextExperimentSchema, reasoningExperimentSchema]);
export type Experiment = z.infer<typeof experimentSchema>;

export const runStates = ['running', 'done', 'cancelled', 'interrupted', 'failed'] as const;
const runFields = {
  id: runIdSchema,
  name: z.string(),
  state: z.enum(runStates),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  simulated: z.boolean(),
  server: z.string(),
  serverVersion: z.string().nullable(),
  cellsTotal: z.int(),
  cellsDone: z.int(),
  cellsFailed: z.int(),
  tokensEvaluated: tokensSchema,
  /** How many recorded cells lost something, for the list. */
  cellsTruncated: z.int(),
  etaMs: millisecondsSchema.nullable(),
  warnings: z.array(z.string()),
  error: z.string().nullable(),
};
export const contextRunSchema = z.strictObject({
  ...runFields,
  kind: z.literal('context'),
  experiment: contextExperimentSchema,
});
export type ContextRun = z.infer<typeof contextRunSchema>;
export const reasoningRunSchema = z.strictObject({
  ...runFields,
  kind: z.literal('reasoning'),
  experiment: reasoningExperimentSchema,
});
export type ReasoningRun = z.infer<typeof reasoningRunSchema>;
export const runSummarySchema = z.discriminatedUnion('kind', [contextRunSchema, reasoningRunSchema]);
export type RunSummary = z.infer<typeof runSummarySchema>;

export const csvProfiles = ['machine', 'spreadsheet'] as const;
export const exportOptionsSchema = z.strictObject({
  format: z.enum(['csv', 'json']),
  profile: z.enum(csvProfiles).default('machine'),
  separator: z.enum([',', ';', '\t']).default(','),
  decimalMark: z.enum(['.', ',']).default('.'),
});
export type ExportOptions = z.infer<typeof exportOptionsSchema>;
