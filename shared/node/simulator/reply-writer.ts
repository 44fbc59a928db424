/** From sampled pieces to reply chunks: the family's parser decides what is thinking, answer or tool call. */
import { createFamilyParser, familyCapabilities, hasOwnParser, type FamilyPiece } from './families/index.ts';
import { seededRandom } from './brain.ts';
import type { LogprobEntry, Metrics, ReplyChunk, ToolCall } from './options.ts';
import { isNative, type Turn } from './pipeline.ts';

export interface ReplyWriter {
  /** Answers false when the reply has failed and the model should stop. */
  push(piece: string): Promise<boolean>;
  /** What the parser still held goes into the done chunk. */
  finish(doneReason: string, metrics: Metrics, context: readonly number[] | undefined): Promise<void>;
  hasFailed(): boolean;
  /** Stops asking `until`: what comes now is shown. */
  passOn(): void;
}

/** `until` = true hides a piece and stops the model, without a failure. */
export function createReplyWriter(turn: Turn, until: ((piece: FamilyPiece) => boolean) | null = null): ReplyWriter {
  const { request, profile, sink, state } = turn;
  const parser = createFamilyParser(profile.family, {
    think: request.think,
    tools: request.tools,
    last: request.messages?.at(-1),
  });
  // llama-server delivers calls with the last chunk, whatever the family.
  const holdsCalls = isNative(turn) || familyCapabilities(profile.family).toolCallsInFinalChunk;
  const sendsEmpty = request.kind === 'generate' && !hasOwnParser(profile.family);
  const random = seededRandom(`${state.options.seed}/${turn.number}`);
  const heldCalls: ToolCall[] = [];
  let failed = false;
  let hides = until;

  /** False after a failure. */
  function takes(piece: FamilyPiece): boolean {
    for (const warning of piece.warnings ?? [])
      state.log.entry('WARN', warning.source, warning.message, Object.entries(warning.fields));
    if (piece.error === undefined) return true;
    failed = true;
    sink.fail(500, piece.error);
    return false;
  }

  const withId = (call: ToolCall): ToolCall => ({ id: `call_${letters(random)}`, function: call.function });

  return {
    async push(sampled) {
      let logprobs = request.logprobs && sampled !== '' ? [logprobOf(sampled, request.topLogprobs)] : [];
      for (const piece of parser.push(sampled)) {
        if (!takes(piece) || hides?.(piece) === true) return false;
        const calls = piece.toolCalls.map(withId);
        if (holdsCalls) heldCalls.push(...calls);
        const chunk = {
          ...noText,
          thinking: piece.thinking,
          content: piece.content,
          toolCalls: holdsCalls ? [] : calls,
          logprobs,
        };
        const isEmpty = chunk.thinking === '' && chunk.content === '' && chunk.toolCalls.length === 0;
        if (isEmpty && logprobs.length === 0 && !sendsEmpty) continue;
        logprobs = [];
        await sink.chunk(chunk);
      }
      if (logprobs.length > 0) await sink.chunk({ ...noText, logprobs });
      return true;
    },
    async finish(doneReason, metrics, context) {
      let thinking = '';
      let content = '';
      for (const piece of parser.end()) {
        if (!takes(piece)) return;
        thinking += piece.thinking;
        content += piece.content;
        heldCalls.push(...piece.toolCalls.map(withId));
      }
      const last: ReplyChunk = {
        ...noText,
        thinking,
        content,
        toolCalls: heldCalls,
        done: true,
        doneReason,
        metrics,
        ...(context === undefined ? {} : { context }),
      };
      await sink.chunk(last);
      sink.end();
    },
    hasFailed: () => failed,
    passOn() {
      hides = null;
    },
  };
}

const noText: ReplyChunk = { thinking: '', content: '', toolCalls: [], logprobs: [], done: false };
const idLetters = 'abcdefghijklmnopqrstuvwxyz0123456789';

function letters(random: () => number): string {
  return Array.from({ length: 8 }, () => idLetters[Math.floor(random() * idLetters.length)] ?? 'a').join('');
}

/** A likely value from the piece itself: the same piece always has the same one. */
function logprobOf(piece: string, top: number): LogprobEntry {
  const entry = (token: string, logprob: number) => ({ token, logprob, bytes: [...Buffer.from(token, 'utf8')] });
  const random = seededRandom(piece);
  const own = entry(piece, -random() * 2);
  if (top === 0) return own;
  const others = Array.from({ length: top - 1 }, (_, index) =>
    entry(fillers[index % fillers.length] ?? ' the', own.logprob - 1 - index - random()),
  );
  return { ...own, top_logprobs: [own, ...others] };
}

const fillers = [' the', ' a', ' and', ' of', ' to', ',', '.', '\n', ' in', ' is'];
