/**
 * Counts tokens of a text by the classes of its UTF-16 units, in one pass and in slices of any size. A run of units of one
 * class is the unit of counting: an English word is about one token however long, a mark in code is one, a run of spaces is one.
 */
import {
  ALPHABET,
  DIGIT,
  LATIN_EXTENDED,
  LETTER,
  LINE_BREAK,
  PUNCTUATION,
  RARE_ALPHABET,
  type Script,
  SPACE,
  classOfUnit,
  perUnit,
  unitClasses,
} from './scripts.ts';

/** Unrounded table values of a text. `characters` are UTF-16 units. */
export interface TableCount {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  readonly characters: number;
  readonly script: Script;
}

export interface TextCounter {
  /** Adds the next slice; a slice may end anywhere, also inside a word or a surrogate pair. */
  push(text: string): void;
  /** What was counted so far. More slices may follow. */
  count(): TableCount;
}

export function createTextCounter(): TextCounter {
  const sums: Sums = {
    low: 0,
    likelyLatin: 0,
    likelyOther: 0,
    highOther: 0,
    latinUnits: 0,
    characters: 0,
    units: new Float64Array(unitClasses.length),
  };
  // The open run: the slice after may continue it.
  let runClass = -1;
  let runLength = 0;
  let humps = 0;
  let capitals = 0;
  let lastWasSmall = false;
  let previousClass = -1;

  return {
    push(text) {
      const length = text.length;
      sums.characters += length;
      for (let at = 0; at < length; at += 1) {
        const code = text.charCodeAt(at);
        const unitClass = classOfUnit[code] as number;
        if (unitClass !== runClass) {
          if (runClass >= 0) closeRun(sums, runClass, runLength, humps, capitals, previousClass);
          previousClass = runClass;
          runClass = unitClass;
          runLength = 0;
          humps = 0;
          capitals = 0;
          lastWasSmall = false;
        }
        runLength += 1;
        if (unitClass === LETTER) {
          const isCapital = code < 91;
          if (isCapital) {
            capitals += 1;
            if (lastWasSmall) humps += 1;
          }
          lastWasSmall = !isCapital;
        }
      }
    },
    count() {
      const all: Sums = { ...sums, units: sums.units.slice() };
      if (runClass >= 0) closeRun(all, runClass, runLength, humps, capitals, previousClass);
      return totals(all);
    },
  };
}

interface Sums {
  low: number;
  likelyLatin: number;
  likelyOther: number;
  highOther: number;
  latinUnits: number;
  characters: number;
  readonly units: Float64Array;
}

function closeRun(
  sums: Sums,
  runClass: number,
  length: number,
  humps: number,
  capitals: number,
  previousClass: number,
): void {
  sums.units[runClass] = (sums.units[runClass] as number) + length;
  switch (runClass) {
    case LETTER:
      sums.latinUnits += length;
      // A word that an accented letter cut in two is still one word.
      sums.low += previousClass === LATIN_EXTENDED ? 0 : Math.max(1, length / 16);
      sums.likelyLatin += previousClass === LATIN_EXTENDED ? length * 0.12 : wordTokens(length, humps, capitals);
      if (previousClass === DIGIT) closeMixed(sums);
      return;
    case LATIN_EXTENDED:
      sums.latinUnits += length;
      sums.low += previousClass === LETTER ? 0 : length / 16;
      sums.likelyLatin += length * (perUnit[LATIN_EXTENDED]?.likely ?? 0);
      sums.highOther += length * (perUnit[LATIN_EXTENDED]?.high ?? 0);
      return;
    case DIGIT:
      sums.latinUnits += length;
      sums.low += Math.ceil(length / 3) / (previousClass === LETTER ? 2 : 1);
      sums.likelyLatin += length + (previousClass === SPACE ? 1 : 0);
      if (previousClass === LETTER) closeMixed(sums);
      return;
    case PUNCTUATION:
      sums.latinUnits += length;
      sums.low += 0.3 + (length - 1) / 80;
      sums.likelyLatin += 1 + Math.min(Math.max(0, length - 3), 9) / 4 + Math.max(0, length - 12) / 24;
      return;
    case SPACE:
      sums.latinUnits += length;
      // One space belongs to the word after it.
      sums.low += (length - 1) / 128;
      sums.likelyLatin += length === 1 ? 0 : 1 + length / 40;
      return;
    case LINE_BREAK:
      sums.latinUnits += length;
      sums.low += (length - 1) / 128;
      sums.likelyLatin += 1 + (length - 1) / 24;
      return;
    case ALPHABET:
    case RARE_ALPHABET:
      sums.low += Math.max(1, length / 5);
      sums.likelyOther += Math.max(1, length / 2.8);
      sums.highOther += Math.max(1, length * (runClass === ALPHABET ? 0.9 : 1.15));
      return;
    default: {
      const cost = perUnit[runClass];
      if (cost === undefined) return;
      sums.low += length * cost.low;
      sums.likelyOther += length * cost.likely;
      sums.highOther += length * cost.high;
    }
  }
}

/** Letters and digits in turn are ids and data: each change costs, in small vocabularies most. */
function closeMixed(sums: Sums): void {
  sums.likelyLatin += 0.15;
  sums.highOther += 0.6;
}

/** Common words of up to seven letters are one token; a capital inside a word starts a new piece; capitals alone are dense. */
function wordTokens(length: number, humps: number, capitals: number): number {
  if (capitals > 2 && capitals === length) return Math.max(1, length / 2.5);
  // Capitals in a row inside a word are no words: data in base 64 looks like that.
  const pieces = 1 + humps + Math.max(0, capitals - humps - 1) * 0.5;
  const beyond = Math.max(0, length - 7 * pieces);
  // Nobody writes words of more than 24 letters: that is data, and data costs more.
  return (
    pieces + Math.min(beyond, 7) * 0.05 + Math.min(Math.max(0, beyond - 7), 10) * 0.3 + Math.max(0, beyond - 17) * 0.4
  );
}

/** The pessimistic side of Latin text: three characters a token, or well over the likely count where marks make it dense. */
function totals(sums: Sums): TableCount {
  const likely = sums.likelyLatin + sums.likelyOther;
  const marks = sums.latinUnits === 0 ? 0 : (sums.units[PUNCTUATION] ?? 0) / sums.latinUnits;
  const over = 1.14 + Math.min(0.25, Math.max(0, marks - 0.06) * 2);
  const high = Math.max(sums.latinUnits / 3, sums.likelyLatin * over) + sums.highOther;
  return {
    low: Math.min(sums.low, likely),
    likely,
    high: Math.max(high, likely),
    characters: sums.characters,
    script: scriptOf(sums),
  };
}

function scriptOf(sums: Sums): Script {
  const of = (index: number): number => sums.units[index] ?? 0;
  const latin = of(LETTER) + of(LATIN_EXTENDED) + of(DIGIT) + of(PUNCTUATION);
  const shares: readonly (readonly [Script, number])[] = [
    ['latin', latin],
    ['alphabet', of(ALPHABET) + of(RARE_ALPHABET)],
    ['abugida', of(7)],
    ['cjk', of(8) + of(9) + of(11)],
    ['hangul', of(10)],
    ['emoji', of(12) + of(13)],
    ['other', of(14) + of(15)],
  ];
  const white = of(SPACE) + of(LINE_BREAK);
  const [best, share] = shares.reduce((most, one) => (one[1] > most[1] ? one : most));
  if (white > share) return 'whitespace';
  // Marks are one character in twenty of prose, and one in six of code.
  return best === 'latin' && of(PUNCTUATION) * 8 > latin ? 'code' : best;
}
