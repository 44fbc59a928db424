/**
 * Who used the tokens of a reply. With log probabilities it is a count: one entry a sampled token, hidden ones too, and one more in
 * `eval_count` for the end token. Else it is an estimate: chunks, or characters where it came whole, scaled to `eval_count`.
 */
import type { ReasoningSplit } from '../../contract/verdicts.ts';
import { tokens } from '../../contract/units.ts';
import { estimateText } from '../estimate/estimate.ts';
import type { ReplyParts } from './parts.ts';
import { type Segment, segmentText } from './segments.ts';
import { joinTokens } from './token-text.ts';
import type { ReasoningInput } from './types.ts';

export function splitOf(input: ReasoningInput, parts: ReplyParts, hidden: number): ReasoningSplit | null {
  return countedSplit(input, parts) ?? estimatedSplit(input, parts, hidden);
}

type Kind = 'thinking' | 'answer' | 'hidden' | 'other';

/** null without entries, and where the visible text is not what the tokens spell. */
export function countedSplit(input: ReasoningInput, parts: ReplyParts): ReasoningSplit | null {
  const { logprobs } = input;
  if (logprobs === null || logprobs.length === 0) return null;
  const raw = joinTokens(logprobs);
  const ranges = visibleRanges(input, parts, raw.text);
  if (ranges === null) return null;
  const invisible = segmentText(raw.text, { startsInThinking: false, followsThinking: false }).segments;
  const counts: Record<Kind, number> = { thinking: 0, answer: 0, hidden: 0, other: 0 };
  let at = 0;
  let under = 0;
  for (const [index, start] of raw.starts.entries()) {
    const piece = raw.text.slice(start, raw.starts[index + 1] ?? raw.text.length);
    const first = start + (piece.length - piece.trimStart().length);
    const place = piece.trim() === '' ? start : first;
    while ((ranges[at]?.end ?? Infinity) <= place) at += 1;
    while ((invisible[under]?.end ?? Infinity) <= place) under += 1;
    const range = ranges[at];
    const isVisible = range !== undefined && range.start <= place;
    counts[isVisible ? kindOf(range) : unseenKind(invisible[under], piece, input.toolCalls)] += 1;
  }
  return countedFrom(counts, logprobs.length, input);
}

function kindOf(segment: Segment): Kind {
  return segment.kind === 'mark' ? 'other' : segment.kind;
}

function unseenKind(segment: Segment | undefined, piece: string, toolCalls: number): Kind {
  if (piece.trim() === '' || segment === undefined || segment.kind === 'mark') return 'other';
  return segment.kind === 'answer' && toolCalls > 0 ? 'other' : 'hidden';
}

function countedFrom(counts: Readonly<Record<Kind, number>>, entries: number, input: ReasoningInput): ReasoningSplit {
  const { evalCount, doneReason } = input.end;
  const endToken = doneReason === 'stop' || doneReason === 'tool_calls' ? 1 : 0;
  const missing = evalCount === null ? 0 : evalCount - entries - endToken;
  return {
    source: 'counted',
    basis: 'logprobs',
    thinkingTokens: tokens(counts.thinking),
    answerTokens: tokens(counts.answer),
    hiddenTokens: tokens(counts.hidden),
    otherTokens: tokens(counts.other + (evalCount === null ? 0 : Math.max(0, evalCount - entries))),
    thinkingOutsideCount: missing < 0,
    errorTokens: evalCount === null ? null : missing,
    errorPercent: evalCount === null || evalCount === 0 ? null : percentOf(missing, evalCount),
  };
}

/** Where the visible text stands among the tokens, by what it is. null where it is not found: a server may change what it shows. */
function visibleRanges(input: ReasoningInput, parts: ReplyParts, raw: string): readonly Segment[] | null {
  const content = placed(raw, input.content, parts.content.segments, raw.length);
  if (content === null) return null;
  const thinking = placed(raw, input.thinking, fieldSegments(parts), content[0]?.start ?? raw.length);
  return thinking === null ? null : [...thinking, ...content];
}

function fieldSegments(parts: ReplyParts): readonly Segment[] {
  if (parts.fieldAnswer !== null) return parts.field.segments;
  return parts.field.segments.map((segment) => ({ ...segment, kind: segment.kind === 'mark' ? 'mark' : 'thinking' }));
}

function placed(raw: string, shown: string, segments: readonly Segment[], before: number): readonly Segment[] | null {
  const trimmed = shown.trim();
  if (trimmed === '') return [];
  const at = before < trimmed.length ? -1 : raw.lastIndexOf(trimmed, before - trimmed.length);
  if (at === -1) return null;
  const offset = at - (shown.length - shown.trimStart().length);
  return segments.map(({ kind, start, end }) => ({ kind, start: Math.max(at, start + offset), end: end + offset }));
}

/** What was seen of each kind, in tokens: chunks, where nearly every token came as its own; else an estimate from the text. */
interface Seen {
  readonly basis: 'chunks' | 'characters';
  readonly field: number;
  readonly tagged: number;
  readonly answer: number;
}

function estimatedSplit(input: ReasoningInput, parts: ReplyParts, hidden: number): ReasoningSplit | null {
  const { evalCount, doneReason } = input.end;
  const seen = seenOf(input, parts);
  const sum = seen.field + seen.tagged + seen.answer;
  if (evalCount === null) return sum === 0 ? null : unscaled(seen);
  const outside = input.settings.structured && seen.field > 0 && sum > evalCount * OUTSIDE_FROM;
  const inside = { thinking: seen.tagged + (outside ? 0 : seen.field), answer: seen.answer };
  const insideSum = inside.thinking + inside.answer;
  const endToken = doneReason === 'stop' || doneReason === 'tool_calls' ? Math.min(1, evalCount) : 0;
  const isScaled = hidden === 0 && input.toolCalls === 0;
  const room = evalCount - endToken;
  const share = isScaled ? room : Math.min(room, insideSum);
  const thinking = insideSum === 0 ? 0 : Math.round((share * inside.thinking) / insideSum);
  const answer = insideSum === 0 ? 0 : share - thinking;
  const rest = evalCount - thinking - answer;
  const unseen = Math.min(rest, hidden);
  return {
    source: 'estimated',
    basis: seen.basis,
    thinkingTokens: tokens(thinking + (outside ? seen.field : 0)),
    answerTokens: tokens(answer),
    hiddenTokens: tokens(unseen),
    otherTokens: tokens(rest - unseen),
    thinkingOutsideCount: outside,
    errorTokens: evalCount - insideSum,
    errorPercent: evalCount === 0 ? null : percentOf(evalCount - insideSum, evalCount),
  };
}

/** A count this far below what was seen belongs to the second of two passes. */
const OUTSIDE_FROM = 1.25;

function unscaled(seen: Seen): ReasoningSplit {
  return {
    source: 'estimated',
    basis: seen.basis,
    thinkingTokens: tokens(seen.field + seen.tagged),
    answerTokens: tokens(seen.answer),
    hiddenTokens: null,
    otherTokens: null,
    thinkingOutsideCount: false,
    errorTokens: null,
    errorPercent: null,
  };
}

function seenOf(input: ReasoningInput, parts: ReplyParts): Seen {
  const chunks = input.chunks;
  const count = chunks === null ? 0 : chunks.thinkingChunks + chunks.contentStarts.length;
  const { evalCount } = input.end;
  // A proxy in between may have joined chunks: then they say nothing about tokens.
  if (chunks !== null && count > 1 && (evalCount === null || count * 2 >= evalCount))
    return seenInChunks(input, parts, chunks.thinkingChunks);
  return {
    basis: 'characters',
    field: parts.fieldAnswer === null ? likely(input.thinking) : likely(parts.fieldThinking),
    tagged: likely(parts.taggedThinking),
    answer: likely(parts.answer) + likely(parts.fieldAnswer ?? ''),
  };
}

function seenInChunks(input: ReasoningInput, parts: ReplyParts, thinkingChunks: number): Seen {
  let tagged = 0;
  let answer = 0;
  let at = 0;
  const { segments } = parts.content;
  for (const start of input.chunks?.contentStarts ?? []) {
    while ((segments[at]?.end ?? Infinity) <= start) at += 1;
    if (segments[at]?.kind === 'thinking') tagged += 1;
    else if (segments[at]?.kind === 'answer') answer += 1;
  }
  const behind = parts.fieldAnswer?.length ?? 0;
  const moved = behind === 0 ? 0 : Math.round((thinkingChunks * behind) / input.thinking.length);
  return { basis: 'chunks', field: thinkingChunks - moved, tagged, answer: answer + moved };
}

function likely(text: string): number {
  return text === '' ? 0 : estimateText(text).likely;
}

function percentOf(part: number, whole: number): number {
  return Math.round((part / whole) * 1_000) / 10;
}
