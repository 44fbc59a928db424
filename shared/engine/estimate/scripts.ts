/**
 * Classes of UTF-16 units, and what a run of each class costs in tokens. The numbers are start values: `likely` was fitted to
 * counts measured with a 262,144-word vocabulary, `low` is what no common vocabulary goes below, `high` what small ones need.
 */
export const unitClasses = [
  'letter',
  'digit',
  'punctuation',
  'space',
  'line-break',
  'latin-extended',
  'alphabet',
  'abugida',
  'kana',
  'han',
  'hangul',
  'cjk-punctuation',
  'surrogate',
  'joiner',
  'symbol',
  'control',
  'rare-alphabet',
] as const;
export type UnitClass = (typeof unitClasses)[number];

/** What a text mostly consists of; the key under which a ratio is learned. */
export const scripts = [
  'latin',
  'code',
  'whitespace',
  'alphabet',
  'abugida',
  'cjk',
  'hangul',
  'emoji',
  'other',
] as const;
export type Script = (typeof scripts)[number];

export const LETTER = 0;
export const DIGIT = 1;
export const PUNCTUATION = 2;
export const SPACE = 3;
export const LINE_BREAK = 4;
export const LATIN_EXTENDED = 5;
export const ALPHABET = 6;
export const RARE_ALPHABET = 16;

/** Tokens per unit for the classes that are linear in their length, in the order of `unitClasses`; words have a rule of their own. */
export const perUnit: readonly { readonly low: number; readonly likely: number; readonly high: number }[] = [
  { low: 0, likely: 0, high: 0 }, // letter: see wordTokens
  { low: 0, likely: 0, high: 0 }, // digit: see run rules
  { low: 0, likely: 0, high: 0 }, // punctuation
  { low: 0, likely: 0, high: 0 }, // space
  { low: 0, likely: 0, high: 0 }, // line-break
  { low: 0, likely: 0.5, high: 1.3 }, // latin-extended: on top of the word it stands in
  { low: 0, likely: 0, high: 0 }, // alphabet: a word, see wordTokens
  { low: 0.22, likely: 0.45, high: 1.8 }, // abugida
  { low: 0.33, likely: 0.42, high: 1.25 }, // kana
  { low: 0.36, likely: 0.7, high: 1.4 }, // han
  { low: 0.35, likely: 0.65, high: 1.6 }, // hangul
  { low: 0.3, likely: 0.95, high: 1.6 }, // cjk-punctuation
  { low: 0.3, likely: 0.5, high: 1.5 }, // surrogate: one token an emoji, two units
  { low: 0.1, likely: 0.6, high: 2 }, // joiner: zero-width joiner, variation selectors
  { low: 0.1, likely: 0.8, high: 2 }, // symbol
  { low: 0.2, likely: 1.2, high: 3 }, // control and private use
  { low: 0, likely: 0, high: 0 }, // rare-alphabet: a word, as alphabet
];

/** Class of every UTF-16 unit, made once: one look-up a unit is what keeps 5 MB under 300 ms. */
export const classOfUnit: Uint8Array = buildTable();

function buildTable(): Uint8Array {
  const table = new Uint8Array(65_536).fill(unitClasses.indexOf('control'));
  const set = (name: UnitClass, ...ranges: readonly (readonly [number, number])[]): void => {
    for (const [from, to] of ranges) table.fill(unitClasses.indexOf(name), from, to + 1);
  };
  set(
    'symbol',
    [0x00a1, 0x00bf],
    [0x02b0, 0x02ff],
    [0x2000, 0x2bff],
    [0x2e00, 0x2e7f],
    [0xfe10, 0xfe6f],
    [0xa700, 0xa71f],
    [0xfffc, 0xfffd],
  );
  set(
    'latin-extended',
    [0x00c0, 0x02af],
    [0x0300, 0x036f],
    [0x1e00, 0x1eff],
    [0x2c60, 0x2c7f],
    [0xa720, 0xa7ff],
    [0xab30, 0xab6f],
    [0xfb00, 0xfb06],
  );
  set(
    'alphabet',
    [0x0370, 0x08ff],
    [0x10a0, 0x10ff],
    [0x13a0, 0x13ff],
    [0x1c80, 0x1cbf],
    [0x1f00, 0x1fff],
    [0x2d00, 0x2dff],
    [0xa640, 0xa69f],
    [0xfb13, 0xfdff],
    [0xfe70, 0xfefe],
  );
  // Greek, Hebrew, Armenian, Georgian and others: smaller vocabularies spell them out letter by letter. Cyrillic and Arabic are common.
  set('rare-alphabet', [0x0370, 0x03ff], [0x0530, 0x05ff], [0x0700, 0x08ff], [0x10a0, 0x10ff], [0x13a0, 0x13ff]);
  set('rare-alphabet', [0x1c90, 0x1cbf], [0x1f00, 0x1fff], [0x2d00, 0x2d2f], [0x2d30, 0x2d7f]);
  set(
    'abugida',
    [0x0900, 0x109f],
    [0x1200, 0x139f],
    [0x1400, 0x1c7f],
    [0x1cc0, 0x1cff],
    [0xa4d0, 0xa63f],
    [0xa6a0, 0xa6ff],
    [0xa800, 0xa95f],
    [0xa980, 0xab2f],
    [0xab70, 0xabff],
  );
  set('kana', [0x3040, 0x312f], [0x31a0, 0x31ff], [0xff66, 0xff9f]);
  set('han', [0x2e80, 0x2fdf], [0x3200, 0x4dbf], [0x4e00, 0x9fff], [0xa000, 0xa4cf], [0xf900, 0xfaff]);
  set('hangul', [0x1100, 0x11ff], [0x3130, 0x318f], [0xa960, 0xa97f], [0xac00, 0xd7ff]);
  set('cjk-punctuation', [0x3000, 0x303f], [0xff00, 0xff65], [0xffa0, 0xffef]);
  set('surrogate', [0xd800, 0xdfff]);
  set('joiner', [0x200b, 0x200f], [0xfe00, 0xfe0f], [0x2060, 0x2064], [0xfeff, 0xfeff]);
  set('space', [0x20, 0x20], [0x00a0, 0x00a0], [0x2002, 0x200a]);
  set('line-break', [0x09, 0x0d], [0x2028, 0x2029]);
  set('punctuation', [0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]);
  // Quotation marks, dashes and ellipses of ordinary prose cost what ASCII marks cost.
  set('punctuation', [0x2010, 0x2027], [0x00ab, 0x00ab], [0x00bb, 0x00bb]);
  set('digit', [0x30, 0x39]);
  set('letter', [0x41, 0x5a], [0x61, 0x7a]);
  return table;
}
