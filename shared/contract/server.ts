/** The model server as seen from here, and the models it has. */
import { z } from 'zod';
import { bytesSchema, tokensSchema } from './units.ts';

/** One address that was tried and what it said, for the first-start page. */
export const lookSchema = z.strictObject({ address: z.string(), outcome: z.string() });

export const runningModelSchema = z.strictObject({
  name: z.string(),
  digest: z.string().nullable(),
  contextLength: tokensSchema.nullable(),
  sizeBytes: bytesSchema.nullable(),
  vramBytes: bytesSchema.nullable(),
  expiresAt: z.string().nullable(),
});
export type RunningModel = z.infer<typeof runningModelSchema>;

export const modelSummarySchema = z.strictObject({
  name: z.string(),
  digest: z.string().nullable(),
  sizeBytes: bytesSchema.nullable(),
  family: z.string().nullable(),
  parameterSize: z.string().nullable(),
  quantization: z.string().nullable(),
  trainedContext: tokensSchema.nullable(),
  /** null = the server does not say in its list. */
  capabilities: z.array(z.string()).nullable(),
  /** Runs elsewhere: refused in local-only mode. */
  cloud: z.boolean(),
});
export type ModelSummary = z.infer<typeof modelSummarySchema>;

export const modelFactsSchema = z.strictObject({
  name: z.string(),
  digest: z.string().nullable(),
  architecture: z.string().nullable(),
  trainedContext: tokensSchema.nullable(),
  capabilities: z.array(z.string()),
  addsBos: z.boolean().nullable(),
  /** rendered: Ollama builds the prompt (can halve one message). native: the runner does (refuses instead). */
  promptPath: z.enum(['rendered', 'native', 'unknown']),
  slidingWindow: tokensSchema.nullable(),
  /** num_ctx set in the Modelfile, which beats the server default. */
  modelfileNumCtx: tokensSchema.nullable(),
  embeddingOnly: z.boolean(),
  /** What the model's own file can add to a prompt: system text, messages, literals of the template. Not there = not read. */
  ownTextBytes: bytesSchema.nullable().optional(),
  /** false: run by an engine that takes prompts beyond num_ctx whole. Not there = not read. */
  keepsWindow: z.boolean().optional(),
});
export type ModelFacts = z.infer<typeof modelFactsSchema>;

export const serverStatusSchema = z.strictObject({
  state: z.enum(['looking', 'up', 'down']),
  kind: z.enum(['ollama', 'simulator']),
  url: z.string(),
  /** Where the address came from. */
  urlSource: z.enum(['default', 'OLLAMA_HOST', 'setting', 'flag', 'simulator']),
  version: z.string().nullable(),
  /** Why it is down, one sentence with the next step. */
  problem: z.string().nullable(),
  looks: z.array(lookSchema),
  looksCount: z.int().nonnegative(),
  lastLookAt: z.iso.datetime().nullable(),
  models: z.array(modelSummarySchema),
  running: z.array(runningModelSchema),
  ollamaInstalled: z.boolean().nullable(),
});
export type ServerStatus = z.infer<typeof serverStatusSchema>;

/**
 * The server's log, if it is read. source: path or command, '' = none. lines: read since it was opened. unmatched: lines about
 * calls that are no call of this console, or could be several; the last of them are there to look at.
 */
export const serverLogSchema = z.strictObject({
  state: z.enum(['off', 'open', 'not-found', 'not-readable']),
  source: z.string(),
  simulated: z.boolean(),
  /** Why it is not open, with the next step. */
  problem: z.string().nullable(),
  lines: z.int().nonnegative(),
  unmatched: z.int().nonnegative(),
  unmatchedLast: z.array(z.string()),
});
export type ServerLogState = z.infer<typeof serverLogSchema>;
