/** Sums up the events of one stream into a reply, while it runs. Texts are kept as pieces: joining once costs less than growing. */
import type { MadeToolCall, Reply } from '../contract/calls.ts';
import { type Milliseconds, milliseconds } from '../contract/units.ts';
import type { ModelEvent, ReplyEnd } from './ports.ts';

export interface ReplyBuilder {
  readonly thinkingChunks: number;
  readonly answerChunks: number;
  /** Tokens that came: logprob entries where a chunk has them, else a chunk with something in it is one. */
  readonly tokensSeen: number;
  /** Counts one chunk; true when it was the first with text in it. */
  chunk(chunk: Extract<ModelEvent, { kind: 'chunk' }>, atMs: number): boolean;
  finish(end: ReplyEnd, wallMs: number): Reply;
}

export function createReplyBuilder(): ReplyBuilder {
  const thinking: string[] = [];
  const answer: string[] = [];
  let toolCalls = 0;
  const made: MadeToolCall[] = [];
  let tokensSeen = 0;
  let firstMs: Milliseconds | null = null;
  return {
    get thinkingChunks() {
      return thinking.length;
    },
    get answerChunks() {
      return answer.length;
    },
    get tokensSeen() {
      return tokensSeen;
    },
    chunk(chunk, atMs) {
      const isEmpty = chunk.thinking === '' && chunk.answer === '' && chunk.toolCalls === 0;
      tokensSeen += chunk.logprobEntries ?? (isEmpty ? 0 : 1);
      if (chunk.thinking !== '') thinking.push(chunk.thinking);
      if (chunk.answer !== '') answer.push(chunk.answer);
      toolCalls += chunk.toolCalls;
      if (chunk.made !== undefined) made.push(...chunk.made);
      if (firstMs !== null || isEmpty) return false;
      firstMs = milliseconds(Math.round(atMs));
      return true;
    },
    finish(end, wallMs) {
      const { raw: _raw, rawClipped: _clipped, rawBytes: _bytes, ...fields } = end;
      return {
        ...fields,
        thinking: thinking.join(''),
        answer: answer.join(''),
        thinkingChunks: thinking.length,
        answerChunks: answer.length,
        toolCalls,
        ...(made.length === 0 ? {} : { toolCallsMade: made }),
        timeToFirstTokenMs: firstMs,
        wallMs: milliseconds(Math.round(wallMs)),
      };
    },
  };
}
