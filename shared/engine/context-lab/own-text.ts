/** The person's own text: brought to size at whitespace, and opened where a sentence ends. */

/** At most `length` characters: cut at the last whitespace before it, or repeated with an empty line in between. */
export function fitOwnText(text: string, length: number): string {
  if (text.length >= length) return cutAtWhitespace(text, length);
  if (text.trim() === '') return text.padEnd(length, ' ');
  const parts: string[] = [text];
  let used = text.length;
  while (used + PARAGRAPH.length + text.length <= length) {
    parts.push(PARAGRAPH, text);
    used += PARAGRAPH.length + text.length;
  }
  const left = length - used - PARAGRAPH.length;
  if (left > 0) {
    const rest = cutAtWhitespace(text, left);
    if (rest.trim() !== '') parts.push(PARAGRAPH, rest);
  }
  return parts.join('');
}

/** The place nearest to `at` where a sentence or line ends; else where a word ends; else `at`, never inside a character. */
export function splitAtSentence(text: string, at: number): number {
  const from = Math.max(0, at - SEARCH_CHARACTERS_MAX);
  const piece = text.slice(from, at + SEARCH_CHARACTERS_MAX);
  const near = (pattern: RegExp): number | null => {
    let best: number | null = null;
    for (const match of piece.matchAll(pattern)) {
      const place = from + match.index + (match[1]?.length ?? 0);
      if (best === null || Math.abs(place - at) < Math.abs(best - at)) best = place;
    }
    return best;
  };
  return near(/([.!?]["')\]]{0,3})(?=\s)|([。！？])|(?=\n)/gu) ?? near(/(?=\s)/g) ?? outsidePair(text, at);
}

const PARAGRAPH = '\n\n';
const SEARCH_CHARACTERS_MAX = 2_000;

function cutAtWhitespace(text: string, length: number): string {
  if (text.length <= length) return text;
  const from = Math.max(0, length - SEARCH_CHARACTERS_MAX);
  const tail = text.slice(from, length + 1);
  const space = Math.max(tail.lastIndexOf(' '), tail.lastIndexOf('\n'), tail.lastIndexOf('\t'));
  if (space > 0) return text.slice(0, from + space);
  return text.slice(0, outsidePair(text, length));
}

/** Not between the two halves of a character beyond U+FFFF. */
function outsidePair(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
