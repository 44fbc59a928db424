/** Token estimates and the preflight reading. An estimate always carries its band; it is never a measurement. */
import { z } from 'zod';
import { denialSchema } from './denials.ts';
import { charactersSchema, bytesSchema, tokensSchema } from './units.ts';

/** low <= likely <= high. `source`: from the script table, or learned from uncut calls of this model. */
export const estimateSchema = z.strictObject({
  low: tokensSchema,
  likely: tokensSchema,
  high: tokensSchema,
  characters: charactersSchema,
  charactersPerToken: z.number().positive(),
  source: z.enum(['script-table', 'learned', 'counted']),
});
export type Estimate = z.infer<typeof estimateSchema>;

/** A half-open range [from, to) of UTF-16 units in one message (index in the list that is sent). */
export const lostRangeSchema = z.strictObject({
  message: z.int().nonnegative(),
  from: charactersSchema,
  to: charactersSchema,
});
export type LostRange = z.infer<typeof lostRangeSchema>;

export const preflightSchema = z.strictObject({
  estimate: estimateSchema,
  parts: z.strictObject({ system: tokensSchema, history: tokensSchema, prompt: tokensSchema }),
  /** The window the call would run in; `source` says how it is known. */
  window: tokensSchema.nullable(),
  windowSource: z.enum(['requested', 'running', 'server-default', 'unknown']),
  trained: tokensSchema.nullable(),
  replyReserve: tokensSchema,
  outcome: z.enum(['fits', 'may-not-fit', 'reply-may-not-fit', 'does-not-fit', 'unknown']),
  expected: z.enum(['intact', 'messages-dropped', 'halved', 'cut-to-window', 'refused', 'unknown']),
  kept: tokensSchema.nullable(),
  lost: tokensSchema.nullable(),
  headKept: tokensSchema.nullable(),
  tailKept: tokensSchema.nullable(),
  lostRanges: z.array(lostRangeSchema),
  /** Smallest useful stop that holds prompt (pessimistic) and reply; null when none up to the trained window does. */
  fitsNumCtx: tokensSchema.nullable(),
  /** Likely memory of the model at that window, from what ps reported at other windows; null when not known. */
  fitsMemoryBytes: bytesSchema.nullable(),
  sentence: z.string(),
  /** What the ledger would hold for the call, and the limit of a call that would refuse it. Not there without a ledger. */
  admission: z
    .strictObject({
      inputTokens: z.int().nonnegative(),
      outputTokens: z.int().nonnegative(),
      denial: denialSchema.nullable(),
    })
    .optional(),
});
export type Preflight = z.infer<typeof preflightSchema>;

/**
 * What was learned about a model and a script from uncut calls. median, low, high: characters (UTF-16 units) per token of the
 * text without template; null where the calls did not say how long their texts were. samples: different ones in use;
 * samplesSeen: all that ever taught. factor: counted tokens for one of the script table.
 */
export const calibrationRowSchema = z.strictObject({
  model: z.string(),
  script: z.string(),
  samples: z.int().nonnegative(),
  samplesSeen: z.int().nonnegative(),
  median: z.number().positive().nullable(),
  low: z.number().positive().nullable(),
  high: z.number().positive().nullable(),
  factor: z.number().positive(),
});
export type CalibrationRow = z.infer<typeof calibrationRowSchema>;

/** simulated: learned from the simulator's models, which are no model of a real server even under one name. */
export const calibrationListRowSchema = calibrationRowSchema.extend({ simulated: z.boolean() });
export type CalibrationListRow = z.infer<typeof calibrationListRowSchema>;

/** What the script table says before anything is learned, for a text of that script. Characters (UTF-16 units) per token. */
export const startValueSchema = z.strictObject({
  script: z.string(),
  text: z.string(),
  median: z.number().positive(),
  low: z.number().positive(),
  high: z.number().positive(),
});
export type StartValue = z.infer<typeof startValueSchema>;
