/** Text of strangers beside the console's own words: what is not seen, or turns text around, is written out. */

/**
 * Control characters (line breaks and tabs stay), overrides of direction, and characters without a width as `\u202e`; those that
 * letters and emoji are joined with stay. Only for what is shown: what is copied is the text itself.
 */
export function withSigns(text: string): string {
  return UNSEEN.test(text) ? text.replaceAll(UNSEEN_ALL, written) : text;
}

const SIGNS = String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]`;
const UNSEEN = new RegExp(SIGNS, 'u');
const UNSEEN_ALL = new RegExp(SIGNS, 'gu');

function written(sign: string): string {
  const code = (sign.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
