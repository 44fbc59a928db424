/** What Spillway says about a reply (design, section 4.1 and 4.2). */
import { z } from 'zod';
import { charactersSchema, tokensSchema } from './units.ts';

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
/** Why a starved reply starved, or why a refused one was refused; null where it cannot be told or is none of these. */
export const reasoningCauses = [
  'cap',
  'window',
  'shift',
  'stop',
  'capability',
  'think-value',
  'prompt-too-long',
  'server',
] as const;
/** What ended the reply, whatever its outcome. `repeat`: the server's guard against repeating ended it. */
export const replyEnds = ['stop', 'cap', 'window', 'shift', 'repeat', 'client', 'connection', 'error', 'none'] as const;
/** field: its own field. answer-tagged: in the answer, set off by tags. hidden: counted and visible nowhere. */
export const thinkingPlaces = ['answer-tagged', 'field', 'hidden', 'none'] as const;
/** Estimates: planning prose without tags in the answer; a reply that ended by itself with everything in the thinking field. */
export const thinkingSuspicions = ['answer-untagged', 'answer-in-field'] as const;
/** not-asked: thinking was not switched off. unknown: the reply broke off before anything could be told. */
export const obediences = ['obeyed', 'not-obeyed', 'suspect', 'not-asked', 'unknown'] as const;

/**
 * Who used the generated tokens. thinking, answer, hidden, other (markers, tool calls, the end token) add up to `evalCount` where
 * that is known; tokens of a former pass (`thinkingOutsideCount`) are on top. A part is null where it cannot be told. errorTokens,
 * errorPercent: how far what was seen is from `evalCount` before it was scaled; 0 for a count.
 */
export const reasoningSplitSchema = z.strictObject({
  source: z.enum(['counted', 'estimated']),
  basis: z.enum(['logprobs', 'chunks', 'characters']),
  thinkingTokens: tokensSchema.nullable(),
  answerTokens: tokensSchema.nullable(),
  hiddenTokens: tokensSchema.nullable(),
  otherTokens: tokensSchema.nullable(),
  thinkingOutsideCount: z.boolean(),
  errorTokens: z.int().nullable(),
  errorPercent: z.number().nullable(),
});
export type ReasoningSplit = z.infer<typeof reasoningSplitSchema>;

/**
 * complete: ended by itself; null where that is not known. places: sorted; empty = unknown, since only suspected. answer: without
 * tagged thinking, trimmed. answerFrom: `field` where a closing tag in the thinking field marks the answer. probableAnswer: an offer,
 * never used by itself. strayMarkers: control tokens left in the answer. thinking/answerCharacters: UTF-16 units that are visible.
 */
export const reasoningVerdictSchema = z.strictObject({
  outcome: z.enum(outcomes),
  cause: z.enum(reasoningCauses).nullable(),
  endedBy: z.enum(replyEnds),
  complete: z.boolean().nullable(),
  places: z.array(z.enum(thinkingPlaces)),
  suspected: z.enum(thinkingSuspicions).nullable(),
  obedience: z.enum(obediences),
  answer: z.string(),
  answerFrom: z.enum(['content', 'field']).nullable(),
  probableAnswer: z.string().nullable(),
  thinkingCharacters: charactersSchema,
  answerCharacters: charactersSchema,
  strayMarkers: z.array(z.string()),
  split: reasoningSplitSchema.nullable(),
  /** Sentences with the numbers in them. */
  evidence: z.array(z.string()),
  next: z.string().nullable(),
});
export type ReasoningVerdict = z.infer<typeof reasoningVerdictSchema>;

export const needleOutcomes = ['found', 'lost', 'invented', 'echoed', 'none'] as const;
export const needleOutcomeSchema = z.enum(needleOutcomes);
export type NeedleOutcome = (typeof needleOutcomes)[number];
