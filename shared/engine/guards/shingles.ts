/** Phrases of five words, to tell new text from text that was seen in other words' places. */

const WORDS_PER_SHINGLE = 5;
/** Beyond this nothing more is remembered; what comes then counts as new, which never stops an honest agent. */
const SHINGLES_MAX = 300_000;

/** Lower case, split at everything that is no letter or digit of any script. */
export function shinglesOf(text: string): Set<string> {
  const words = wordsOf(text);
  const found = new Set<string>();
  for (let at = 0; at + WORDS_PER_SHINGLE <= words.length; at += 1) {
    found.add(words.slice(at, at + WORDS_PER_SHINGLE).join(' '));
  }
  // A text of fewer words is one phrase.
  if (found.size === 0 && words.length > 0) found.add(words.join(' '));
  return found;
}

/** How many of them are new, and how many there were; they are seen from then on. */
export function addShingles(seen: Set<string>, text: string): { readonly fresh: number; readonly all: number } {
  const found = shinglesOf(text);
  let fresh = 0;
  for (const shingle of found) {
    if (seen.has(shingle)) continue;
    fresh += 1;
    if (seen.size < SHINGLES_MAX) seen.add(shingle);
  }
  return { fresh, all: found.size };
}

/** Share of common phrases, 0 to 1. */
export function similarity(a: string, b: string): number {
  const [left, right] = [shinglesOf(a), shinglesOf(b)];
  if (left.size === 0 && right.size === 0) return 1;
  let common = 0;
  for (const shingle of left) if (right.has(shingle)) common += 1;
  return common / (left.size + right.size - common);
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
