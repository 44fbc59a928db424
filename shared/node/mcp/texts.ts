/** Texts of a server: hostile, so one line of them at most where they stand in a sentence, and no signs that are not seen. */

/** For sentences: names, reasons, last words. */
export function lineOf(text: string, charactersMax = 300): string {
  const plain = text
    .slice(0, charactersMax * 4)
    .toWellFormed()
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Cc}\s\u2028\u2029]+/gu, ' ')
    .trim();
  return clipped(plain, charactersMax).replace(/\.$/, '');
}

/** For descriptions: line breaks stay, other control signs go. */
export function described(text: string, charactersMax: number): string {
  const plain = text
    .slice(0, charactersMax * 4)
    .toWellFormed()
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, '')
    .trim();
  return clipped(plain, charactersMax);
}

function clipped(text: string, charactersMax: number): string {
  return text.length > charactersMax
    ? `${text
        .slice(0, charactersMax - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`
    : text;
}
