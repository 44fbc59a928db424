/** Puts the text of sampled tokens together again, and knows where each of them began. */
import type { LogprobEntry } from './types.ts';

/** starts: for each token the UTF-16 position in `text` at which it begins; one that only carries the rest of a letter begins behind it. */
export interface TokenText {
  readonly text: string;
  readonly starts: readonly number[];
}

export function joinTokens(entries: readonly LogprobEntry[]): TokenText {
  const decode = createDecoder();
  const starts: number[] = [];
  let text = '';
  for (const { token, bytes } of entries) {
    starts.push(text.length);
    text += bytes === null ? token : decode(bytes);
  }
  return { text, starts };
}

/** UTF-8 piece by piece: a letter appears when its last byte does. Broken bytes become U+FFFD. */
function createDecoder(): (bytes: readonly number[]) => string {
  let codePoint = 0;
  let missing = 0;
  return (bytes) => {
    let text = '';
    for (const byte of bytes) {
      if (missing > 0 && (byte & 0xc0) === 0x80) {
        codePoint = (codePoint << 6) | (byte & 0x3f);
        missing -= 1;
        if (missing === 0) text += codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\uFFFD';
        continue;
      }
      if (missing > 0) text += '\uFFFD';
      missing = byte < 0x80 ? 0 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
      if (missing > 0) codePoint = byte & (0x3f >> missing);
      else text += byte < 0x80 ? String.fromCharCode(byte) : '\uFFFD';
    }
    return text;
  };
}
