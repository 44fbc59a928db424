/**
 * The same reading while the reply streams. However the text is cut into chunks, the verdict at the end is the one of the whole; only
 * an estimated split rests on the chunks themselves.
 */
import type { ReasoningVerdict } from '../../contract/verdicts.ts';
import { classifyReasoning } from './classify.ts';
import { type ReplyParts, partsOf } from './parts.ts';
import { heldLength } from './tags.ts';
import type { LogprobEntry, ReasoningEnd, ReasoningPiece, ReasoningSettings } from './types.ts';

/**
 * thinking, answer: what a person can be shown now. held: units at the end that may still become a tag, in neither. isThinking: what
 * comes next is thinking, as far as can be told. Chunks count one a token on a server that streams.
 */
export interface LiveReading {
  readonly thinking: string;
  readonly answer: string;
  readonly held: number;
  readonly isThinking: boolean;
  readonly thinkingChunks: number;
  readonly contentChunks: number;
}

export interface ReasoningReader {
  push(piece: ReasoningPiece): void;
  /** Reads what is there; costs one pass over the content, so once a frame is often enough. Cached until something is pushed. */
  look(): LiveReading;
  /** The verdict as if the reply ended now, in this way. window: where it is known only by now. */
  finish(end: ReasoningEnd, shifts?: number | null, window?: number | null): ReasoningVerdict;
  /** UTF-16 units that came after a field was full and were left out. */
  readonly charactersDropped: number;
}

/** Units kept of each field; entries and chunk positions kept. A reply over them is judged by what is kept. */
export const FIELD_CHARACTERS_MAX = 8_000_000;
const LIST_MAX = 2_000_000;

export function createReasoningReader(settings: ReasoningSettings): ReasoningReader {
  let thinking = '';
  let content = '';
  let toolCalls = 0;
  let toolCharacters = 0;
  let thinkingChunks = 0;
  let charactersDropped = 0;
  let live: LiveReading | null = null;
  const contentStarts: number[] = [];
  const logprobs: LogprobEntry[] = [];

  const grown = (field: string, piece: string): string => {
    if (field.length + piece.length <= FIELD_CHARACTERS_MAX) return field + piece;
    const room = Math.max(0, FIELD_CHARACTERS_MAX - field.length);
    charactersDropped += Math.max(0, piece.length - room);
    return field + (piece.length > room ? piece.slice(0, room) : piece);
  };

  return {
    get charactersDropped() {
      return charactersDropped;
    },
    push(piece) {
      live = null;
      if (piece.thinking !== undefined && piece.thinking !== '') {
        thinking = grown(thinking, piece.thinking);
        thinkingChunks += 1;
      }
      if (piece.content !== undefined && piece.content !== '') {
        if (contentStarts.length < LIST_MAX) contentStarts.push(content.length);
        content = grown(content, piece.content);
      }
      toolCalls += piece.toolCalls ?? 0;
      toolCharacters += piece.toolCharacters ?? 0;
      if (piece.logprobs === undefined) return;
      for (const entry of piece.logprobs) if (logprobs.length < LIST_MAX) logprobs.push(entry);
    },
    look() {
      live ??= liveReading(thinking, content, thinkingChunks, contentStarts.length);
      return live;
    },
    finish: (end, shifts = null, window = settings.window) =>
      classifyReasoning({
        settings: { ...settings, window },
        thinking,
        content,
        toolCalls,
        toolCharacters,
        chunks: { thinkingChunks, contentStarts },
        logprobs: logprobs.length === 0 ? null : logprobs,
        shifts,
        end,
      }),
  };
}

function liveReading(thinking: string, content: string, thinkingChunks: number, contentChunks: number): LiveReading {
  const held = heldLength(content === '' ? thinking : content);
  const shownContent = content === '' ? '' : content.slice(0, content.length - held);
  const shownThinking = content === '' ? thinking.slice(0, thinking.length - held) : thinking;
  const parts = partsOf(shownThinking, shownContent);
  return {
    thinking: parts.fieldThinking + parts.taggedThinking,
    answer: parts.fieldAnswer ?? parts.answer,
    held,
    isThinking: isThinkingNow(parts, shownContent),
    thinkingChunks,
    contentChunks,
  };
}

function isThinkingNow(parts: ReplyParts, content: string): boolean {
  if (content.trim() !== '') return parts.content.isOpen;
  return parts.fieldThinking !== '' && parts.fieldAnswer === null;
}
