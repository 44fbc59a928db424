/** Brings a text into the plain form in which answers and documents are compared. */
import { item } from './item.ts';

/**
 * Compatibility form (full-width letters, ligatures, superscript digits), no accents, no invisible characters, digits of other
 * scripts as 0-9, lower case, markup gone. Punctuation stays: `tokenPattern` steps over it.
 */
export function fold(text: string): string {
  return plainDigits(withoutMarkup(text.normalize('NFKD').replace(INVISIBLE, ''))).toLowerCase();
}

/** Letters and digits only, words parted by one space: for comparing what was said, not how it was set. */
export function foldToWords(text: string): string {
  return fold(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/**
 * Finds one token in a folded text: its letters and digits in order, with at most a few other signs between them, and not as a
 * part of a longer word or number. Returns null for a token without letters and digits, or with more than 200.
 */
export function tokenPattern(token: string): RegExp | null {
  const signs = [...fold(token)].filter((sign) => /[\p{L}\p{N}]/u.test(sign));
  if (signs.length === 0 || signs.length > TOKEN_SIGNS_MAX) return null;
  const body = signs
    .map((sign, index) => (index === 0 ? sign : `${gapBefore(item(signs, index - 1), sign)}${sign}`))
    .join('');
  const edge = wordSigns(token);
  return new RegExp(`(?<![${edge}])${body}(?![${edge}])`, 'u');
}

/**
 * What continues a word like this one, as the inside of a character class. Japanese puts no space around a Latin word, so for a
 * Latin token only Latin letters and digits do.
 */
export function wordSigns(token: string): string {
  return /^[\x20-\x7e]*$/.test(token.normalize('NFKC')) ? 'A-Za-z\\p{N}' : '\\p{L}\\p{N}';
}

/** An expression for a longer one overflows the engine's stack. */
const TOKEN_SIGNS_MAX = 200;

/** Combining marks, and everything that takes no room: zero width, direction, soft hyphen, variation selectors, tags. */
const INVISIBLE = /[\p{M}\p{Cf}\u034f\u115f\u1160\u3164\uffa0]/gu;

/** Between letters and digits a separator of any kind; inside a run of letters or digits at most markup or one sign. */
function gapBefore(before: string, sign: string): string {
  const sameKind = /\p{L}/u.test(before) === /\p{L}/u.test(sign);
  return sameKind ? '[^\\p{L}\\p{N}]{0,4}' : '[^\\p{L}\\p{N}]{0,12}';
}

/** HTML tags and entities, LaTeX commands, escapes written out. Only well-known tag names, so that `<ZEBRA-7741>` stays. */
function withoutMarkup(text: string): string {
  if (!/[<&\\]/.test(text)) return text;
  return text
    .replace(
      /<\/?(?:b|i|u|s|em|strong|code|pre|kbd|tt|span|mark|sup|sub|small|p|br|hr|div|a|font|del|ins|li|ul|ol|t[drh]|table|h[1-6]|answer|code-block)(?:\s[^<>]{0,200})?\/?>/giu,
      '',
    )
    .replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|[a-z]{2,8});/giu, (_, decimal?: string, hex?: string) =>
      entity(decimal, hex),
    )
    .replace(/\\[a-z]{1,20}\*?\s?\{/giu, '{')
    .replace(/\\[nrt]/gu, ' ');
}

function entity(decimal: string | undefined, hex: string | undefined): string {
  const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : 0x20;
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : ' ';
}

/** First code points of the digit rows that answers really use (Arabic, Persian, Devanagari, Bengali, Thai and neighbours). */
const DIGIT_ROWS = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0,
  0x1810,
];

function plainDigits(text: string): string {
  return text.replace(/[\u0660-\u1819]/gu, (sign) => {
    const code = sign.charCodeAt(0);
    const row = DIGIT_ROWS.find((first) => code >= first && code < first + 10);
    return row === undefined ? sign : String(code - row);
  });
}
