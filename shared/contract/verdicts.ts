/** What Spillway says about a reply (design, section 4.1 and 4.2). */
import { z } from 'zod';
import { tokensSchema } from './units.ts';

export const truncationKinds = [
  'intact',
  'messages-dropped',
  'halved',
  'cut-to-window',
  'refused',
  'shifted',
  'window-full',
  'unknown',
] as const;
export const truncationKindSchema = z.enum(truncationKinds);
export type TruncationKind = (typeof truncationKinds)[number];

/** Rising strength. `none` stands for evidence that was looked for and is not there. */
export const confidences = ['none', 'possible', 'likely', 'certain', 'exact'] as const;
export const confidenceSchema = z.enum(confidences);
export type Confidence = (typeof confidences)[number];

export const evidenceSources = [
  'server-log',
  'nested-error',
  'error-text',
  'render',
  'context-field',
  'cut-size',
  'window-arithmetic',
  'estimate',
  'conversation',
  'needle',
  'limits',
] as const;
export const evidenceSchema = z.strictObject({
  confidence: confidenceSchema,
  source: z.enum(evidenceSources),
  /** One sentence with the numbers in it. */
  text: z.string(),
  /** The raw line or field the sentence rests on. */
  raw: z.string().optional(),
});
export type Evidence = z.infer<typeof evidenceSchema>;

/**
 * kinds: several can hold at once, never empty. kept, lost: prompt tokens the model saw and never saw; null = not known.
 * lostAtLeast: true where dropped messages come on top of `lost`. headKept, tailKept: tokens that stayed at each end of a cut.
 * shifts: context shifts during generation. needs, has: from a refusal. sent: the prompt in tokens when known exactly.
 */
export const truncationVerdictSchema = z.strictObject({
  kinds: z.array(truncationKindSchema).min(1),
  confidence: confidenceSchema,
  sent: tokensSchema.nullable(),
  kept: tokensSchema.nullable(),
  lost: tokensSchema.nullable(),
  lostAtLeast: z.boolean(),
  headKept: tokensSchema.nullable(),
  tailKept: tokensSchema.nullable(),
  shifts: z.int().nonnegative().nullable(),
  needs: tokensSchema.nullable(),
  has: tokensSchema.nullable(),
  evidence: z.array(evidenceSchema),
  /** The next step in one sentence, or null when there is nothing to do. */
  next: z.string().nullable(),
  /** A num_ctx that would hold it, when one is known. */
  fitsNumCtx: tokensSchema.nullable(),
});
export type TruncationVerdict = z.infer<typeof truncationVerdictSchema>;

export const outcomes = ['answered', 'tool-only', 'starved', 'empty', 'cut', 'error-mid-stream', 'refused'] as const;
export const needleOutcomes = ['found', 'lost', 'invented', 'echoed', 'none'] as const;
export const needleOutcomeSchema = z.enum(needleOutcomes);
export type NeedleOutcome = (typeof needleOutcomes)[number];
