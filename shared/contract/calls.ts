/** One governed call: what is asked, what came back, what is said about it. */
import { z } from 'zod';
import { denialSchema } from './denials.ts';
import { callIdSchema, cellKeySchema, runIdSchema } from './ids.ts';
import { estimateSchema, preflightSchema } from './estimates.ts';
import { callBudgetSchema } from './ledger.ts';
import { payerSchema } from './plans.ts';
import { bytesSchema, charactersSchema, millisecondsSchema, tokensSchema } from './units.ts';
import { needleOutcomeSchema, reasoningVerdictSchema, truncationVerdictSchema } from './verdicts.ts';

/** As the model wrote it; a server that gives arguments as an object has them here as compact JSON. */
export const madeToolCallSchema = z.strictObject({ name: z.string(), argumentsText: z.string() });
export type MadeToolCall = z.infer<typeof madeToolCallSchema>;

export const messageSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** Of an assistant message: the calls it made. */
  toolCalls: z.array(madeToolCallSchema).max(1_000).optional(),
  /** Of a tool message: whose result it is. */
  toolName: z.string().max(300).optional(),
});

/** A tool that the model is told of; parameters are a JSON Schema. */
export const toolDefinitionSchema = z.strictObject({
  name: z.string().min(1).max(300),
  description: z.string().max(100_000),
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;
export type Message = z.infer<typeof messageSchema>;

export const thinkSchema = z.union([
  z.boolean('must be true, false, low, medium, high, max or default'),
  z.enum(['low', 'medium', 'high', 'max']),
  z.literal('default'),
]);
export type Think = z.infer<typeof thinkSchema>;

export const policySchema = z.enum(['warn', 'refuse', 'allow']);
export type Policy = z.infer<typeof policySchema>;

/** A unique text that was planted, where it went, and the question it answers. */
export const needleSchema = z.strictObject({
  token: z.string().min(1).max(200),
  depthPercent: z.number().min(0).max(100),
  decoys: z.array(z.string()).max(50),
});
export type Needle = z.infer<typeof needleSchema>;

export const numCtxSchema = z
  .int('num_ctx must be a whole number')
  .min(1, 'num_ctx must be at least 1; leave it empty for the server default')
  .max(10_000_000, 'num_ctx must be at most 10,000,000');
export const numPredictSchema = z
  .int('num_predict must be a whole number')
  .min(1, 'num_predict must be at least 1: 0 takes every bound off on most models')
  .max(10_000_000, 'num_predict must be at most 10,000,000');

/**
 * Thinking is stopped from this side after `tokensMax` tokens, which the server knows nothing of. What was thought is kept;
 * `ask-again` then asks once more for the answer only, as a call of its own.
 */
export const thinkingCapSchema = z.strictObject({
  tokensMax: z
    .int('the thinking cap must be a whole number')
    .min(1, 'the thinking cap must be at least 1; leave it out for no cap')
    .max(10_000_000, 'the thinking cap must be at most 10,000,000'),
  then: z.enum(['stop', 'ask-again']).default('stop'),
});
export type ThinkingCap = z.infer<typeof thinkingCapSchema>;

/** numCtx null = server default (the option is left out). think `default` = the field is left out. */
export const callRequestSchema = z.strictObject({
  model: z.string().trim().min(1, 'choose a model').max(500),
  route: z.enum(['chat', 'generate']),
  messages: z.array(messageSchema).min(1, 'write a message').max(10_000),
  numCtx: numCtxSchema.nullable(),
  numPredict: numPredictSchema,
  numKeep: z.int().min(-1).max(10_000_000).optional(),
  think: thinkSchema,
  temperature: z.number().min(0).max(5),
  seed: z.int(),
  policy: policySchema,
  stream: z.boolean().default(true),
  needles: z.array(needleSchema).max(20).default([]),
  /** Wall clock limit for the whole call. */
  timeoutMs: millisecondsSchema.optional(),
  thinkingCap: thinkingCapSchema.optional(),
  /** Asked for where the server has them. */
  logprobs: z.boolean().optional(),
  tools: z.array(toolDefinitionSchema).max(1_000).optional(),
  /** Who pays; left out = the payer of the settings. */
  payer: payerSchema.optional(),
  /** The same key again is the same call: it is sent and charged once. */
  idempotencyKey: z.string().min(1).max(200).optional(),
});
export type CallRequest = z.infer<typeof callRequestSchema>;

/** Terminal states on the wire: four of the stream, two before it, one that never left. */
export const endings = ['done', 'error-line', 'cut', 'aborted', 'refused', 'unreachable', 'not-sent'] as const;
export type Ending = (typeof endings)[number];

/** Reply fields as the server gave them, durations in ms. null = the field was not there. */
export const replySchema = z.strictObject({
  status: z.int().nullable(),
  ending: z.enum(endings),
  /** Why it was aborted: the person, or a limit. */
  abortedBy: z.enum(['person', 'timeout', 'shutdown', 'thinking-cap']).nullable(),
  done: z.boolean().nullable(),
  doneReason: z.string().nullable(),
  promptEvalCount: tokensSchema.nullable(),
  evalCount: tokensSchema.nullable(),
  totalDurationMs: millisecondsSchema.nullable(),
  loadDurationMs: millisecondsSchema.nullable(),
  promptEvalDurationMs: millisecondsSchema.nullable(),
  evalDurationMs: millisecondsSchema.nullable(),
  /** Length of the `context` array of /api/generate. */
  contextLength: z.int().nonnegative().nullable(),
  error: z.string().nullable(),
  /** From the nested 400: what the prompt needs, what the window has. */
  needs: tokensSchema.nullable(),
  has: tokensSchema.nullable(),
  thinking: z.string(),
  answer: z.string(),
  thinkingChunks: z.int().nonnegative(),
  answerChunks: z.int().nonnegative(),
  toolCalls: z.int().nonnegative(),
  /** What they were; left out where there were none. */
  toolCallsMade: z.array(madeToolCallSchema).optional(),
  /** Measured here, on the monotonic clock. */
  timeToFirstTokenMs: millisecondsSchema.nullable(),
  wallMs: millisecondsSchema,
});
export type Reply = z.infer<typeof replySchema>;

export const needleReadingSchema = z.strictObject({
  token: z.string(),
  depthPercent: z.number(),
  outcome: needleOutcomeSchema,
  /** For invented and echoed: what the answer said instead. */
  said: z.string().nullable(),
});

/** The answer itself stands in the reply; `probableAnswer` is cut at 2,000 characters. */
export const callReasoningSchema = reasoningVerdictSchema.omit({ answer: true });
export type CallReasoning = z.infer<typeof callReasoningSchema>;

/** The call whose thinking was stopped, and which this one asks again for the answer. thinkingTokens: as counted while it ran. */
export const askedAfterSchema = z.strictObject({
  callId: callIdSchema,
  thinkingTokens: tokensSchema,
  promptEvalCount: tokensSchema.nullable(),
  wallMs: millisecondsSchema,
});

/** The stored row. Everything a person needs to repeat the call or to judge the verdict. */
export const callRecordSchema = z.strictObject({
  id: callIdSchema,
  runId: runIdSchema.nullable(),
  cellKey: cellKeySchema.nullable(),
  startedAt: z.iso.datetime(),
  simulated: z.boolean(),
  server: z.string(),
  serverVersion: z.string().nullable(),
  modelDigest: z.string().nullable(),
  request: callRequestSchema,
  /** Method-less path such as /api/chat, and the body as it went out. */
  path: z.string(),
  sentBody: z.string(),
  promptCharacters: charactersSchema,
  estimate: estimateSchema,
  preflight: preflightSchema.nullable(),
  numCtxRunning: tokensSchema.nullable(),
  vramBytes: bytesSchema.nullable(),
  memoryBytes: bytesSchema.nullable(),
  reply: replySchema,
  rawReply: z.string(),
  rawReplyClipped: z.boolean(),
  truncation: truncationVerdictSchema,
  needle: needleOutcomeSchema,
  needles: z.array(needleReadingSchema),
  /** Not there on rows of versions that did not judge it; null for a call that never left. */
  reasoning: callReasoningSchema.nullable().optional(),
  askedAfter: askedAfterSchema.nullable().optional(),
  /** Not there on rows of versions without a ledger; null where nothing was reserved. */
  budget: callBudgetSchema.nullable().optional(),
  /** A summary, written by the call named, stands for that many messages of the conversation. Not there on most rows. */
  shortened: z
    .strictObject({ callId: callIdSchema, messagesReplaced: z.int().positive(), tokensBefore: tokensSchema })
    .nullable()
    .optional(),
  /** Why a call never left, with the figures of a budget; null where it was sent. Not there on older rows. */
  denial: denialSchema.nullable().optional(),
});
export type CallRecord = z.infer<typeof callRecordSchema>;

/** What lists and the wire carry: a record without its long texts. `answerHead` is at most 200 characters. */
export const callSummarySchema = callRecordSchema
  .omit({ request: true, sentBody: true, rawReply: true, preflight: true, reply: true })
  .extend({
    model: z.string(),
    route: z.enum(['chat', 'generate']),
    numCtxRequested: tokensSchema.nullable(),
    numPredict: z.int(),
    temperature: z.number(),
    seed: z.int(),
    think: thinkSchema,
    promptEvalCount: tokensSchema.nullable(),
    evalCount: tokensSchema.nullable(),
    doneReason: z.string().nullable(),
    ending: z.enum(endings),
    answerHead: z.string(),
    error: z.string().nullable(),
    timeToFirstTokenMs: millisecondsSchema.nullable(),
    loadDurationMs: millisecondsSchema.nullable(),
    promptEvalDurationMs: millisecondsSchema.nullable(),
    evalDurationMs: millisecondsSchema.nullable(),
    totalDurationMs: millisecondsSchema.nullable(),
    wallMs: millisecondsSchema,
  });
export type CallSummary = z.infer<typeof callSummarySchema>;
