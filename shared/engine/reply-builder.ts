/** Sums up the events of one stream into a reply, while it runs. Texts are kept as pieces: joining once costs less than growing. */
import type { Reply } from '../contract/calls.ts';
import { type Milliseconds, milliseconds } from '../contract/units.ts';
import type { ModelEvent, ReplyEnd } from './ports.ts';

export interface ReplyBuilder {
  readonly thinkingChunks: number;
  readonly answerChunks: number;
  /** Counts one chunk; true when it was the first with text in it. */
  chunk(chunk: Extract<ModelEvent, { kind: 'chunk' }>, atMs: number): boolean;
  finish(end: ReplyEnd, wallMs: number): Reply;
}

export function createReplyBuilder(): ReplyBuilder {
  const thinking: string[] = [];
  const answer: string[] = [];
  let toolCalls = 0;
  let firstMs: Milliseconds | null = null;
  return {
    get thinkingChunks() {
      return thinking.length;
    },
    get answerChunks() {
      return answer.length;
    },
    chunk(chunk, atMs) {
      if (chunk.thinking !== '') thinking.push(chunk.thinking);
      if (chunk.answer !== '') answer.push(chunk.answer);
      toolCalls += chunk.toolCalls;
      if (firstMs !== null || (chunk.thinking === '' && chunk.answer === '' && chunk.toolCalls === 0)) return false;
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
        timeToFirstTokenMs: firstMs,
        wallMs: milliseconds(Math.round(wallMs)),
      };
    },
  };
}
