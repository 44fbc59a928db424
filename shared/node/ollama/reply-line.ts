/** One JSON line of /api/chat or /api/generate, read leniently: a field of the wrong type is a field that is not there. */
import type { MadeToolCall } from '../../contract/calls.ts';
import type { ModelEvent, ReplyEnd } from '../../engine/ports.ts';
import type { LogprobEntry } from '../../engine/reasoning/types.ts';
import { milliseconds, tokens } from '../../contract/units.ts';

export type Chunk = Extract<ModelEvent, { kind: 'chunk' }>;

/** What a line may say besides its texts. Durations in ms, rounded once, here; null = not said. */
export type LineFields = Pick<
  ReplyEnd,
  | 'done'
  | 'doneReason'
  | 'promptEvalCount'
  | 'evalCount'
  | 'totalDurationMs'
  | 'loadDurationMs'
  | 'promptEvalDurationMs'
  | 'evalDurationMs'
  | 'contextLength'
>;

export const noFields: LineFields = {
  done: null,
  doneReason: null,
  promptEvalCount: null,
  evalCount: null,
  totalDurationMs: null,
  loadDurationMs: null,
  promptEvalDurationMs: null,
  evalDurationMs: null,
  contextLength: null,
};

/** All chunks are made here, so that the common one, with texts alone, always has the same form for the compiler. */
export function textChunk(thinking: string, answer: string): Chunk {
  return { kind: 'chunk', thinking, answer, toolCalls: 0, logprobEntries: null };
}

export function chunkOf(line: Readonly<Record<string, unknown>>): Chunk {
  const message = asRecord(line.message);
  const texts = textChunk(
    asText(message.thinking) || asText(line.thinking),
    asText(message.content) || asText(line.response),
  );
  const toolCalls = message.tool_calls ?? line.tool_calls;
  const calls = Array.isArray(toolCalls) ? toolCalls : [];
  const entries = Array.isArray(line.logprobs) ? line.logprobs : null;
  if (calls.length === 0 && entries === null) return texts;
  return {
    ...texts,
    toolCalls: calls.length,
    ...(calls.length === 0 ? {} : { made: calls.slice(0, TOOL_CALLS_MAX).map(madeOf) }),
    logprobEntries: entries === null ? null : entries.length,
    ...(entries === null || entries.length === 0 ? {} : { logprobs: entries.map(entryOf) }),
  };
}

/** Of one line; a line has a bound of its own. */
const TOOL_CALLS_MAX = 1_000;

function madeOf(call: unknown): MadeToolCall {
  const asked = asRecord(asRecord(call).function);
  const { arguments: args } = asked;
  return { name: asText(asked.name), argumentsText: typeof args === 'string' ? args : JSON.stringify(args ?? {}) };
}

/** `bytes` are the token's UTF-8: a token may end in mid-letter, and its text then holds replacement marks. */
function entryOf(entry: unknown): LogprobEntry {
  const { token, bytes } = asRecord(entry);
  const isBytes = Array.isArray(bytes) && bytes.length > 0 && bytes.every((byte) => typeof byte === 'number');
  return { token: asText(token), bytes: isBytes ? (bytes as number[]) : null };
}

/** A chunk that carries nothing a person or a count could use. */
export function isEmpty(chunk: Chunk): boolean {
  return chunk.thinking === '' && chunk.answer === '' && chunk.toolCalls === 0 && (chunk.logprobEntries ?? 0) === 0;
}

export function fieldsOf(line: Readonly<Record<string, unknown>>): LineFields {
  return {
    done: typeof line.done === 'boolean' ? line.done : null,
    doneReason: typeof line.done_reason === 'string' ? line.done_reason : null,
    promptEvalCount: asTokens(line.prompt_eval_count),
    evalCount: asTokens(line.eval_count),
    totalDurationMs: asMilliseconds(line.total_duration),
    loadDurationMs: asMilliseconds(line.load_duration),
    promptEvalDurationMs: asMilliseconds(line.prompt_eval_duration),
    evalDurationMs: asMilliseconds(line.eval_duration),
    contextLength: Array.isArray(line.context) ? line.context.length : null,
  };
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A whole number that is not negative. 0 stays 0. */
export function asTokens(value: unknown): ReturnType<typeof tokens> | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? tokens(value) : null;
}

function asMilliseconds(nanoseconds: unknown): ReturnType<typeof milliseconds> | null {
  if (typeof nanoseconds !== 'number' || !Number.isFinite(nanoseconds) || nanoseconds < 0) return null;
  const rounded = Math.round(nanoseconds / 1e6);
  return Number.isSafeInteger(rounded) ? milliseconds(rounded) : null;
}
