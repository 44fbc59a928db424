/**
 * A deterministic, script-aware tokenizer. Pieces are slices of the text, so joining them gives the text back exactly.
 * Rules, measured against a Gemma 3 vocabulary: a word with its leading space is one token up to ten letters, digits stand
 * alone, Han goes in pairs, kana in threes, punctuation runs in up to three, an emoji is one, chat tags are one.
 */
export interface Tokenizer {
  /** End offset (UTF-16) of every piece, in order. */
  ends(text: string): Uint32Array;
  /** Number of pieces. Stops early and answers `atMost + 1` when there are more. */
  count(text: string, atMost?: number): number;
  pieces(text: string): string[];
  /** A stable number for a piece, 0..262143. */
  idOf(piece: string): number;
}

export function createTokenizer(): Tokenizer {
  return {
    ends: endsOf,
    count: countOf,
    pieces: piecesOf,
    idOf: hashOf,
  };
}

const wordLettersMax = 10;
const wordPieceLetters = 6;
const punctuationRunMax = 3;
const spaceRunMax = 16;
const tagLettersMax = 25;
const capitalRunMin = 5;
const vocabularySize = 262_144;

/** Kinds of UTF-16 units. */
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const NEWLINE = 4;
const PUNCTUATION = 5;
const HAN = 6;
const KANA = 7;
const HANGUL = 8;
const OTHER_LETTER = 9;
const SINGLE = 10;
const HIGH_SURROGATE = 11;

const asciiKinds = buildAsciiKinds();

function endsOf(text: string): Uint32Array {
  let ends = new Uint32Array(Math.max(16, Math.ceil(text.length / 2)));
  let count = 0;
  for (let at = 0; at < text.length;) {
    at = pieceEnd(text, at);
    if (count === ends.length) ends = grown(ends, text.length);
    ends[count] = at;
    count += 1;
  }
  return ends.subarray(0, count);
}

function countOf(text: string, atMost = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (let at = 0; at < text.length;) {
    at = pieceEnd(text, at);
    count += 1;
    if (count > atMost) return count;
  }
  return count;
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** FNV-1a over UTF-16 units, folded into the vocabulary. */
function hashOf(piece: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < piece.length; index += 1) {
    hash = Math.imul(hash ^ piece.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash % vocabularySize;
}

function grown(ends: Uint32Array<ArrayBuffer>, bound: number): Uint32Array<ArrayBuffer> {
  const bigger = new Uint32Array(Math.min(bound, ends.length * 2) + 1);
  bigger.set(ends);
  return bigger;
}

/** End of the piece that begins at `at`; always beyond it. */
function pieceEnd(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  switch (kindOf(unit)) {
    case SPACE:
      return spacePieceEnd(text, at);
    case LETTER:
      return wordEnd(text, at);
    case DIGIT:
    case SINGLE:
      return at + 1;
    case NEWLINE:
      return runEnd(text, at, NEWLINE, 8);
    case PUNCTUATION:
      return unit === 60 ? tagEnd(text, at) : runEnd(text, at, PUNCTUATION, punctuationRunMax);
    case HAN:
      return runEnd(text, at, HAN, 2);
    case KANA:
      return runEnd(text, at, KANA, 3);
    case HANGUL:
      return runEnd(text, at, HANGUL, 2);
    case OTHER_LETTER:
      return runEnd(text, at, OTHER_LETTER, 4);
    default:
      return surrogateEnd(text, at);
  }
}

/** Chat tags such as `<|im_start|>` and `<end_of_turn>` are one token; any other `<` is punctuation. */
function tagEnd(text: string, at: number): number {
  const tag = tagAt(text, at);
  return tag > 0 ? at + tag : runEnd(text, at, PUNCTUATION, punctuationRunMax);
}

/** Length of the tag at this place, 0 = none. */
function tagAt(text: string, at: number): number {
  const next = text.charCodeAt(at + 1);
  if (next !== 124 && next !== 115 && next !== 101) return 0;
  const head = text.slice(at, at + tagLettersMax);
  const close = head.indexOf('>');
  return close > 0 && isTag(head.slice(0, close + 1)) ? close + 1 : 0;
}

function isTag(text: string): boolean {
  return text === '<start_of_turn>' || text === '<end_of_turn>' || /^<\|[a-z_]+\|?>$/.test(text);
}

/** One space goes with the word or the sign behind it; more spaces are a token of their own. */
function spacePieceEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && end - at < spaceRunMax && kindOf(text.charCodeAt(end)) === SPACE) end += 1;
  if (end >= text.length) return end;
  if (end - at > 1) {
    const next = kindOf(text.charCodeAt(end));
    return next === LETTER || next === OTHER_LETTER || next === PUNCTUATION ? end - 1 : end;
  }
  switch (kindOf(text.charCodeAt(end))) {
    case LETTER:
      return wordEnd(text, end);
    case OTHER_LETTER:
      return runEnd(text, end, OTHER_LETTER, 4);
    case HANGUL:
      return runEnd(text, end, HANGUL, 2);
    case PUNCTUATION:
      return text.charCodeAt(end) === 60 && tagAt(text, end) > 0
        ? end
        : runEnd(text, end, PUNCTUATION, punctuationRunMax);
    default:
      return end;
  }
}

/**
 * Words of up to ten letters are one token, longer ones go in sixes; a capital after small letters starts a new word;
 * five capitals and more go in pairs.
 */
function wordEnd(text: string, at: number): number {
  if (capitalRun(text, at) >= capitalRunMin) return at + 2;
  let end = at + 1;
  let wasLower = isLower(text.charCodeAt(at));
  while (end < text.length && end - at <= wordLettersMax) {
    const unit = text.charCodeAt(end);
    if (kindOf(unit) !== LETTER) break;
    const lower = isLower(unit);
    if (wasLower && !lower) break;
    wasLower = lower;
    end += 1;
  }
  return end - at > wordLettersMax ? at + wordPieceLetters : end;
}

/** Capitals in a row around this place, counted up to the number that matters. Looks back, as pairs leave a short rest. */
function capitalRun(text: string, at: number): number {
  if (!isCapital(text.charCodeAt(at))) return 0;
  let end = at + 1;
  while (end < text.length && end - at < capitalRunMin && isCapital(text.charCodeAt(end))) end += 1;
  let start = at;
  while (start > 0 && end - start < capitalRunMin && isCapital(text.charCodeAt(start - 1))) start -= 1;
  return end - at >= 2 ? end - start : 0;
}

function isCapital(unit: number): boolean {
  return unit >= 65 && unit <= 90;
}

function isLower(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || unit >= 192;
}

function runEnd(text: string, at: number, kind: number, lengthMax: number): number {
  let end = at + 1;
  while (end < text.length && end - at < lengthMax && kindOf(text.charCodeAt(end)) === kind) {
    if (kind === PUNCTUATION && text.charCodeAt(end) === 60) break;
    end += 1;
  }
  return end;
}

function surrogateEnd(text: string, at: number): number {
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? at + 2 : at + 1;
}

function kindOf(unit: number): number {
  if (unit < 128) return asciiKinds[unit] ?? SINGLE;
  if (unit < 0x250) return unit >= 0xc0 && unit !== 0xd7 && unit !== 0xf7 ? LETTER : SINGLE;
  if (unit >= 0xd800 && unit <= 0xdbff) return HIGH_SURROGATE;
  if (unit >= 0xdc00 && unit <= 0xdfff) return SINGLE;
  if ((unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3400 && unit <= 0x4dbf) || (unit >= 0xf900 && unit <= 0xfaff))
    return HAN;
  if (unit >= 0x3041 && unit <= 0x30ff) return KANA;
  if (unit >= 0xac00 && unit <= 0xd7af) return HANGUL;
  if (unit >= 0x2000 && unit <= 0x2bff) return SINGLE;
  if (unit >= 0x3000 && unit <= 0x303f) return SINGLE;
  if (unit >= 0xfe00 && unit <= 0xfe0f) return SINGLE;
  if (unit >= 0xff00) return SINGLE;
  return OTHER_LETTER;
}

function buildAsciiKinds(): Uint8Array {
  const kinds = new Uint8Array(128).fill(PUNCTUATION);
  for (let unit = 0; unit < 32; unit += 1) kinds[unit] = SINGLE;
  kinds[9] = SPACE;
  kinds[10] = NEWLINE;
  kinds[13] = NEWLINE;
  kinds[32] = SPACE;
  kinds[127] = SINGLE;
  for (let unit = 48; unit <= 57; unit += 1) kinds[unit] = DIGIT;
  for (let unit = 65; unit <= 90; unit += 1) kinds[unit] = LETTER;
  for (let unit = 97; unit <= 122; unit += 1) kinds[unit] = LETTER;
  return kinds;
}
