/** Verdicts for a reply that was recorded elsewhere (design, section 6). */
import { z } from 'zod';
import { needleOutcomeSchema, reasoningVerdictSchema, truncationVerdictSchema } from './verdicts.ts';

export const explainInputSchema = z.strictObject({
  /** A fixture-shaped file, or request and reply JSON, or reply JSON / NDJSON alone. */
  text: z.string().min(1, 'paste a reply').max(16_000_000),
  version: z.string().max(100).optional(),
  window: z.int().min(1).max(10_000_000).optional(),
  log: z.string().max(16_000_000).optional(),
});
export type ExplainInput = z.infer<typeof explainInputSchema>;

/** reasoning is null for a route that writes no text. */
export const explanationSchema = z.strictObject({
  truncation: truncationVerdictSchema,
  reasoning: reasoningVerdictSchema
    .pick({
      outcome: true,
      cause: true,
      complete: true,
      places: true,
      suspected: true,
      obedience: true,
      answer: true,
    })
    .nullable(),
  read: z.strictObject({
    model: z.string().nullable(),
    version: z.string().nullable(),
    window: z.int().nullable(),
    path: z.string().nullable(),
    promptEvalCount: z.int().nullable(),
    evalCount: z.int().nullable(),
    answer: z.string(),
    needle: needleOutcomeSchema,
  }),
});
export type Explanation = z.infer<typeof explanationSchema>;
