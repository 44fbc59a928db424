/**
 * Tokens that were counted and are visible nowhere. Said only when the count is far above what the visible text can need, because
 * markers, end tokens and odd vocabularies take some tokens in every reply.
 */

export const HIDDEN_TOKENS_MIN = 8;

/** A tool call is written as data with its own markers: what those take at most, besides name and arguments. */
const TOOL_MARKER_TOKENS = 24;

/**
 * The most tokens a visible text can need: 2 characters a token in words; one a digit, and one a sign that stands beside a digit or
 * another sign, as in lists of numbers and code (measured: 600 tokens for 742 characters of "1, 2, 3"); bytes where no vocabulary
 * has a word.
 */
export function tokensAtMost(text: string): number {
  let halves = 0;
  let isBehindLetter = true;
  for (const sign of text) {
    const codePoint = sign.codePointAt(0) ?? 0;
    const isLetter =
      codePoint >= 0x80 || (codePoint >= 0x41 && codePoint <= 0x7a && (codePoint < 0x5b || codePoint > 0x60));
    halves += codePoint < 0x80 ? (isLetter || isBehindLetter ? 1 : 2) : rareHalves(codePoint);
    if (codePoint >= 0x30 && codePoint <= 0x39 && isBehindLetter) halves += 1;
    isBehindLetter = isLetter;
  }
  return halves / 2;
}

function rareHalves(codePoint: number): number {
  if (codePoint < 0x250) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 4 : 8;
}

export interface HiddenQuestion {
  readonly visible: readonly string[];
  readonly toolCalls: number;
  readonly toolCharacters: number;
  /** Generated tokens as counted. */
  readonly evalCount: number;
}

/** Tokens nothing visible explains, 0 when they can be explained. */
export function hiddenTokens({ visible, toolCalls, toolCharacters, evalCount }: HiddenQuestion): number {
  // Every unit of text explains half a token at least, which settles most replies without reading them.
  const units = visible.reduce((sum, text) => sum + text.length, 0);
  if (evalCount - units / 2 < HIDDEN_TOKENS_MIN) return 0;
  const shown = visible.reduce((sum, text) => sum + tokensAtMost(text), 0);
  const tools = toolCalls === 0 ? 0 : toolCharacters / 2 + toolCalls * TOOL_MARKER_TOKENS;
  const unexplained = evalCount - shown - tools;
  return unexplained >= HIDDEN_TOKENS_MIN ? Math.floor(unexplained) : 0;
}
