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
  const thinking = createField();
  const content = createField();
  let toolCalls = 0;
  let toolCharacters = 0;
  let thinkingChunks = 0;
  let live: LiveReading | null = null;
  const contentStarts: number[] = [];
  const logprobs: LogprobEntry[] = [];

  return {
    get charactersDropped() {
      return thinking.dropped + content.dropped;
    },
    push(piece) {
      live = null;
      if (piece.thinking !== undefined && piece.thinking !== '') {
        thinking.add(piece.thinking);
        thinkingChunks += 1;
      }
      if (piece.content !== undefined && piece.content !== '') {
        if (contentStarts.length < LIST_MAX) contentStarts.push(content.length);
        content.add(piece.content);
      }
      toolCalls += piece.toolCalls ?? 0;
      toolCharacters += piece.toolCharacters ?? 0;
      if (piece.logprobs === undefined) return;
      for (const entry of piece.logprobs) if (logprobs.length < LIST_MAX) logprobs.push(entry);
    },
    look() {
      live ??= liveReading(thinking.read(), content.read(), thinkingChunks, contentStarts.length);
      return live;
    },
    finish: (end, shifts = null, window = settings.window) =>
      classifyReasoning({
        settings: { ...settings, window },
        thinking: thinking.read(),
        content: content.read(),
        toolCalls,
        toolCharacters,
        chunks: { thinkingChunks, contentStarts },
        logprobs: logprobs.length === 0 ? null : logprobs,
        shifts,
        end,
      }),
  };
}

interface Field {
  readonly length: number;
  /** Units that came after the field was full. */
  readonly dropped: number;
  add(piece: string): void;
  read(): string;
}

/** Pieces are joined when somebody reads: that costs less than a text that grows with each of them. */
function createField(): Field {
  let pieces: string[] = [];
  let length = 0;
  let dropped = 0;
  return {
    get length() {
      return length;
    },
    get dropped() {
      return dropped;
    },
    add(piece) {
      const room = FIELD_CHARACTERS_MAX - length;
      if (piece.length > room) dropped += piece.length - room;
      const kept = piece.length > room ? piece.slice(0, room) : piece;
      if (kept === '') return;
      pieces.push(kept);
      length += kept.length;
    },
    read() {
      if (pieces.length > 1) pieces = [pieces.join('')];
      return pieces[0] ?? '';
    },
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
