/**
 * The document of one cell: generated filler or the person's own text, brought to size, with the needles planted. Everything
 * follows from size, depths and seed; the same ask gives the same text.
 */
import { item } from './item.ts';
import type { DocumentSize } from '../../contract/experiments.ts';
import type { Needle } from '../../contract/calls.ts';
import { EXACT_SENTENCE_MIN, createFiller, exactSentence } from './filler.ts';
import type { NeedleSet, PlantedNeedle } from './needles.ts';
import { TOKEN_CHARACTERS_MAX, drawNeedles, needlesOfSet, questionFor } from './needles.ts';
import { fitOwnText, splitAtSentence } from './own-text.ts';
import { createRandom, seedFor } from './random.ts';

export interface DocumentAsk {
  readonly size: DocumentSize;
  /** Percent of the document, one needle each: 0 = its first line, 100 = its last line. */
  readonly depths: readonly number[];
  readonly seed: number;
  /** null = generated. */
  readonly ownText: string | null;
  /** Likely tokens of a text; sizes in tokens are aimed at with it. */
  readonly estimateTokens: (text: string) => number;
}

/**
 * A generated document has exactly the asked characters (UTF-16 units), needles and decoys included. Own text is cut at
 * whitespace, so it can be a little shorter. Sizes in tokens are met as well as the estimate meets them.
 */
export interface ContextDocument {
  readonly text: string;
  readonly needles: readonly Needle[];
  /** Asks for what was planted. */
  readonly question: string;
}

/** Throws RangeError for a size under `smallestDocument(depths)`: the plan refuses those before. */
export function buildDocument(ask: DocumentAsk): ContextDocument {
  if (typeof ask.size === 'number') return buildCharacters(ask, ask.size);
  const wanted = ask.size.tokens;
  const smallest = smallestDocument(ask.depths);
  let characters = Math.max(smallest, Math.round(wanted * CHARACTERS_PER_TOKEN_START));
  let document = buildCharacters(ask, characters);
  for (let round = 0; round < AIM_ROUNDS_MAX; round++) {
    const estimated = Math.max(1, ask.estimateTokens(document.text));
    if (Math.abs(estimated - wanted) * AIM_PRECISION <= wanted) break;
    characters = Math.min(DOCUMENT_CHARACTERS_MAX, Math.max(smallest, Math.round((characters * wanted) / estimated)));
    document = buildCharacters(ask, characters);
  }
  return document;
}

/** Characters that a document with these needles has at least. */
export function smallestDocument(depths: readonly number[]): number {
  const { needles } = drawNeedles(depths, 0, 0);
  const longest = needles.map((needle) => ({
    ...needle,
    sentence: `The ${needle.subject} is ${'X'.repeat(TOKEN_CHARACTERS_MAX)}.`,
  }));
  return plantedLength(longest) + EXACT_SENTENCE_MIN;
}

export const DOCUMENT_CHARACTERS_MAX = 5_500_000;
const CHARACTERS_PER_TOKEN_START = 3.6;
const AIM_ROUNDS_MAX = 4;
/** Good enough within one part in 200. */
const AIM_PRECISION = 200;
const DECOYS_MAX = 8;

function buildCharacters(ask: DocumentAsk, characters: number): ContextDocument {
  const set = drawNeedles(ask.depths, decoyCount(characters), ask.seed, ask.ownText ?? '');
  const room = characters - plantedLength(set.needles);
  if (room < EXACT_SENTENCE_MIN)
    throw new RangeError(`${characters} characters are too few for ${set.needles.length} needles`);
  if (ask.ownText !== null) {
    const filler = fitOwnText(ask.ownText, room);
    return assemble(plantInText(filler, set.needles), { needles: set.needles, decoys: [] });
  }
  const { units, decoys } = generate(room, set.decoys, ask.seed);
  return assemble(plantInUnits(units, room, set.needles), { needles: set.needles, decoys });
}

function assemble(text: string, set: NeedleSet): ContextDocument {
  return { text, needles: needlesOfSet(set), question: questionFor(set.needles) };
}

function decoyCount(characters: number): number {
  if (characters < 1_000) return 0;
  return Math.min(DECOYS_MAX, 2 + Math.floor(characters / 5_000));
}

type Decoy = NeedleSet['decoys'][number];
/** `before` is the separator in front of the text. */
interface Unit {
  readonly before: '' | ' ' | '\n\n';
  readonly text: string;
}

/** Sentences that are exactly `length` characters together, decoys among them. A decoy that finds no room is left out. */
function generate(length: number, decoys: readonly Decoy[], seed: number): { units: Unit[]; decoys: Decoy[] } {
  // The length is part of the seed: documents of a sweep share no beginning, so no prompt is answered from the cache of another.
  const random = createRandom(seedFor(seed, `filler ${length}`));
  const next = createFiller(random);
  const places = decoys.map(() => random.below(Math.max(1, Math.floor(length * 0.9)))).sort((a, b) => a - b);
  const units: Unit[] = [];
  const placed: Decoy[] = [];
  let used = 0;
  let decoyIndex = 0;
  for (;;) {
    const decoy = decoys[decoyIndex];
    const isDecoy = decoy !== undefined && units.length > 0 && used >= item(places, decoyIndex);
    const sentence = isDecoy ? { text: decoy.sentence, opensParagraph: false } : next();
    const before = units.length === 0 ? '' : sentence.opensParagraph ? '\n\n' : ' ';
    const after = used + before.length + sentence.text.length;
    if (after + 1 + EXACT_SENTENCE_MIN > length) {
      if (!isDecoy) break;
      decoyIndex += 1;
      continue;
    }
    if (isDecoy) {
      placed.push(decoy);
      decoyIndex += 1;
    }
    units.push({ before, text: sentence.text });
    used = after;
  }
  const before = units.length === 0 ? '' : ' ';
  units.push({ before, text: exactSentence(length - used - before.length, random) });
  return { units, decoys: placed };
}

/** First line and last line stand alone; all others follow a sentence. */
const plantedLength = (needles: readonly PlantedNeedle[]): number =>
  needles.reduce((sum, needle) => sum + needle.sentence.length + (atAnEnd(needle) ? 2 : 1), 0);

const atAnEnd = (needle: PlantedNeedle): boolean => needle.depthPercent === 0 || needle.depthPercent === 100;

function plantInUnits(units: readonly Unit[], length: number, needles: readonly PlantedNeedle[]): string {
  const middle = inOrder(needles);
  const parts: string[] = [];
  let used = 0;
  let index = 0;
  for (const [unitIndex, unit] of units.entries()) {
    parts.push(unit.before, unit.text);
    used += unit.before.length + unit.text.length;
    const following = units[unitIndex + 1];
    const nextBoundary = following === undefined ? Infinity : used + following.before.length + following.text.length;
    for (; index < middle.length; index++) {
      const needle = item(middle, index);
      const wanted = (needle.depthPercent / 100) * length;
      if (Math.abs(nextBoundary - wanted) < Math.abs(used - wanted)) break;
      parts.push(' ', needle.sentence);
    }
  }
  return withEnds(parts.join(''), needles);
}

function plantInText(filler: string, needles: readonly PlantedNeedle[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const needle of inOrder(needles)) {
    const at = Math.max(from, splitAtSentence(filler, Math.round((needle.depthPercent / 100) * filler.length)));
    parts.push(filler.slice(from, at), ' ', needle.sentence);
    from = at;
  }
  parts.push(filler.slice(from));
  return withEnds(parts.join(''), needles);
}

const inOrder = (needles: readonly PlantedNeedle[]): PlantedNeedle[] =>
  needles.filter((needle) => !atAnEnd(needle)).sort((a, b) => a.depthPercent - b.depthPercent);

function withEnds(middle: string, needles: readonly PlantedNeedle[]): string {
  const first = needles.filter((needle) => needle.depthPercent === 0).map((needle) => `${needle.sentence}\n\n`);
  const last = needles.filter((needle) => needle.depthPercent === 100).map((needle) => `\n\n${needle.sentence}`);
  return [...first, middle, ...last].join('');
}
