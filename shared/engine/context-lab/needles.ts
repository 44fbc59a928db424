/** Needles: unique tokens under subjects of their own, and decoys that look the same under other subjects. */
import { item } from './item.ts';
import type { Needle } from '../../contract/calls.ts';
import { createRandom, seedFor } from './random.ts';

/** A planted sentence: where it goes (0 to 100 %), what it says and what asks for it. */
export interface PlantedNeedle {
  readonly token: string;
  readonly depthPercent: number;
  readonly subject: string;
  readonly sentence: string;
}

export interface NeedleSet {
  readonly needles: readonly PlantedNeedle[];
  readonly decoys: readonly { readonly token: string; readonly sentence: string }[];
}

/**
 * Draws one needle a depth (at most 10) and `decoyCount` decoys (at most 12). The tokens depend on the seed only, not on the
 * depths, so one seed has one launch code. `taken` is a text in which none of them may occur (a person's own document).
 */
export function drawNeedles(depths: readonly number[], decoyCount: number, seed: number, taken = ''): NeedleSet {
  if (depths.length > subjects.length) throw new RangeError(`at most ${subjects.length} needles: ${depths.length}`);
  const random = createRandom(seedFor(seed, 'needles'));
  const words = random.shuffle(tokenWords);
  const takenUpper = taken === '' ? '' : taken.toUpperCase();
  let drawn = 0;
  const draw = (): string => {
    const word = item(words, drawn++ % words.length);
    let token = `${word}-${1000 + random.below(9000)}`;
    // 9,000 numbers a word: a text that holds them all is longer than a document may be.
    while (takenUpper.includes(token)) token = `${word}-${1000 + random.below(9000)}`;
    return token;
  };
  const tokens = subjects.map(draw);
  const needles = depths.map((depthPercent, index) => {
    const subject = item(subjects, index);
    const token = item(tokens, index);
    return { token, depthPercent, subject, sentence: `The ${subject} is ${token}.` };
  });
  const decoySubjectsMixed = random.shuffle(decoySubjects);
  const decoys = Array.from({ length: Math.min(decoyCount, decoySubjects.length) }, (_, index) => {
    const token = draw();
    return { token, sentence: `The ${item(decoySubjectsMixed, index)} is ${token}.` };
  });
  return { needles, decoys };
}

/** What travels with the request, for the reading of the answer. */
export function needlesOfSet(set: NeedleSet): Needle[] {
  const decoys = set.decoys.map((decoy) => decoy.token);
  return set.needles.map((needle) => ({ token: needle.token, depthPercent: needle.depthPercent, decoys }));
}

/** The question for these needles; the first one alone gives the classic question. */
export function questionFor(needles: readonly { readonly subject: string }[]): string {
  const parts = needles.map((needle) => `What is the ${needle.subject}?`);
  const closing = needles.length === 1 ? 'Answer with the code only.' : 'Answer with the codes only, one a line.';
  return [...parts, closing].join(' ');
}

/** NARWHAL-7741. */
export const TOKEN_CHARACTERS_MAX = 12;

/** The first is the classic one; each needle of a set gets its own. */
const subjects = [
  'launch code',
  'vault word',
  'harbour key',
  'archive mark',
  'beacon phrase',
  'signal name',
  'orchard pass',
  'lantern label',
  'bridge token',
  'summit tag',
] as const;

const decoySubjects = [
  'desk code for parking',
  'door code for the print room',
  'locker number in the east wing',
  'order number of the spare chairs',
  'booking code for the small meeting room',
  'ticket number of the lift repair',
  'shelf mark of the fire plan',
  'customer number at the paper supplier',
  'serial number of the old projector',
  'code name of the spring clean-up',
  'reference of the coffee contract',
  'tag of the lost umbrella',
] as const;

/** Words that the filler never uses. */
// prettier-ignore
const tokenWords = [
  'ZEBRA', 'HERON', 'KIWI', 'OTTER', 'MAPLE', 'COBALT', 'FALCON', 'WALRUS', 'JUNIPER', 'QUARTZ', 'BADGER', 'LEMUR',
  'PUFFIN', 'TOPAZ', 'GIBBON', 'WILLOW', 'OSPREY', 'MARTEN', 'SAFFRON', 'IGUANA', 'CONDOR', 'BASALT', 'TAPIR', 'LYNX',
  'PLOVER', 'HAZEL', 'ONYX', 'BISON', 'GANNET', 'ALDER', 'JACKAL', 'MAGPIE', 'NARWHAL', 'OPAL', 'PANDA', 'RAVEN',
  'SABLE', 'TURTLE', 'VIOLET', 'WOMBAT',
] as const;
