/**
 * Reads an answer: was the needle found, lost, made up, or something else of the document given back? The answer alone decides,
 * compared in folded form (fold.ts), so that spelling, markup and width do not.
 */
import type { Message, Needle } from '../../contract/calls.ts';
import type { CallRecord } from '../../contract/calls.ts';
import type { NeedleOutcome } from '../../contract/verdicts.ts';
import { fold, foldToWords, tokenPattern, wordSigns } from './fold.ts';

export interface NeedleScore {
  /** One word for the whole answer: found only when every needle was; else the worst, in the order of `worstFirst`. */
  readonly overall: NeedleOutcome;
  readonly readings: CallRecord['needles'];
}

/**
 * found: the token is there. invented: a token of the needle's shape that stands nowhere in what was sent. echoed: a decoy or
 * another such token of the document, or the prompt given back without an answer. lost: anything else that was said.
 * none: nothing was said, or there are no needles.
 */
export function scoreNeedles(answer: string, needles: readonly Needle[], messages: readonly Message[]): NeedleScore {
  if (needles.length === 0) return { overall: 'none', readings: [] };
  const clipped = answer.length > ANSWER_CHARACTERS_MAX ? answer.slice(0, ANSWER_CHARACTERS_MAX) : answer;
  const said = { raw: clipped, folded: fold(clipped), words: foldToWords(clipped) };
  const prompt = lazy(() => foldToWords(messages.map((message) => message.content).join('\n')));
  const readings = needles.map((needle) => ({
    token: needle.token,
    depthPercent: needle.depthPercent,
    ...read(said, needle, needles, prompt),
  }));
  return { overall: overallOf(readings.map((reading) => reading.outcome)), readings };
}

/** Longer answers are read up to here: nobody answers a code in a million characters. */
const ANSWER_CHARACTERS_MAX = 200_000;
const worstFirst: readonly NeedleOutcome[] = ['invented', 'echoed', 'lost', 'none'];

function overallOf(outcomes: readonly NeedleOutcome[]): NeedleOutcome {
  return worstFirst.find((outcome) => outcomes.includes(outcome)) ?? 'found';
}

interface Said {
  readonly raw: string;
  readonly folded: string;
  readonly words: string;
}
type Reading = { readonly outcome: NeedleOutcome; readonly said: string | null };

function read(said: Said, needle: Needle, all: readonly Needle[], prompt: () => string): Reading {
  if (said.words === '') return { outcome: 'none', said: null };
  if (tokenPattern(needle.token)?.test(said.folded) === true) return { outcome: 'found', said: null };
  const others = candidates(said, needle).filter(
    (candidate) =>
      !all.some((other) => isToken(candidate, other.token)) && !breaksOff(said.raw, candidate, needle.token),
  );
  const known = (candidate: string): boolean =>
    needle.decoys.some((decoy) => isToken(candidate, decoy)) || tokenPattern(candidate)?.test(prompt()) === true;
  const invented = others.find((candidate) => !known(candidate));
  if (invented !== undefined) return { outcome: 'invented', said: head(invented) };
  const echoed = others[0];
  if (echoed !== undefined) return { outcome: 'echoed', said: head(echoed) };
  if (givesBackPrompt(said.words, prompt)) return { outcome: 'echoed', said: head(said.raw.trim()) };
  return { outcome: 'lost', said: null };
}

/** Everything in the answer that a reader would take for the code, as it was written. */
function candidates(said: Said, needle: Needle): string[] {
  const plain = said.raw.normalize('NFKC');
  const shaped = [...plain.matchAll(shapePattern(needle.token))].map((match) => match[0]).slice(0, CANDIDATES_MAX);
  if (shaped.length > 0) return shaped;
  // A short answer without such a token can still be a code of another form. A sentence that says "not found" is none.
  if (said.words.split(' ').length > SHORT_ANSWER_WORDS_MAX) return [];
  return [...plain.matchAll(WORDS)]
    .map((match) => match[0])
    .filter(looksLikeCode)
    .slice(0, CANDIDATES_MAX);
}

const CANDIDATES_MAX = 50;
const SHORT_ANSWER_WORDS_MAX = 8;
/** Words and numbers, joined ones as one. Each sign is looked at once, however the answer is made. */
const WORDS = /[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu;

/** At least three digits, with or without letters, and short enough to be given as a code. */
const looksLikeCode = (word: string): boolean =>
  word.length <= CODE_CHARACTERS_MAX && (word.match(/\p{N}/gu)?.length ?? 0) >= 3;

const CODE_CHARACTERS_MAX = 64;

/**
 * The shape of ZEBRA-7741 is a word, a separator and about as many digits. A space counts as the separator only behind capitals,
 * or every "room 1204" would be a code. Tokens of other shapes are compared by their runs of letters and digits.
 */
function shapePattern(token: string): RegExp {
  const runs = [...token.normalize('NFKC').matchAll(/\p{L}+|\p{N}+/gu)].map((match) => match[0]);
  if (runs.length < 2) return /(?!)/gu;
  const edge = wordSigns(token);
  const letter = edge.startsWith('A') ? '[A-Za-z]' : '\\p{L}';
  const parts = runs.map((run) =>
    /\p{L}/u.test(run) ? `(?:${letter}[*_~\`]{0,3}){2,16}` : `\\p{N}{${Math.max(2, run.length - 1)},${run.length + 2}}`,
  );
  const capitals = runs.map((run) =>
    /\p{L}/u.test(run) ? '\\p{Lu}{2,16}' : `\\p{N}{${Math.max(2, run.length - 1)},${run.length + 2}}`,
  );
  const joined = parts.join('[*_~`]{0,3}[-_\\p{Pd}:.#/\u2212][*_~`]{0,3}');
  const spaced = capitals.join('[\\s*_~`]{0,3}');
  return new RegExp(`(?<![${edge}])(?:${joined}|${spaced})(?![${edge}])`, 'gu');
}

/** The answer ends in the middle of the right token: cut by the cap, not made up. */
const breaksOff = (answer: string, candidate: string, token: string): boolean =>
  answer.trimEnd().endsWith(candidate) && compact(token).startsWith(compact(candidate));

const compact = (text: string): string => foldToWords(text).replaceAll(' ', '');

const isToken = (candidate: string, token: string): boolean => compact(candidate) === compact(token);

/** The whole answer stands in the prompt, or most of its runs of five words do. */
function givesBackPrompt(words: string, prompt: () => string): boolean {
  const list = words.split(' ');
  if (list.length < RUN_WORDS - 1) return false;
  const text = ` ${prompt()} `;
  if (text.includes(` ${words} `)) return true;
  const step = Math.max(1, Math.floor(list.length / RUNS_CHECKED_MAX));
  let checked = 0;
  let found = 0;
  for (let index = 0; index + RUN_WORDS <= list.length; index += step) {
    checked += 1;
    if (text.includes(` ${list.slice(index, index + RUN_WORDS).join(' ')} `)) found += 1;
  }
  return checked > 0 && found * 2 > checked;
}

const RUN_WORDS = 5;
const RUNS_CHECKED_MAX = 20;

const head = (text: string): string => (text.length > 200 ? text.slice(0, 200) : text);

function lazy<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
