/** Words for the reading of a reply: what came of it, where the thinking was, whether the switch was obeyed. Pure. */
import type { CallReasoning, Think } from '../../shared/contract/calls.ts';
import type { Severity } from '../components/badge.tsx';
import { count, DASH } from './numbers.ts';

export const outcomeWords: Readonly<Record<CallReasoning['outcome'], string>> = {
  answered: 'answered',
  'tool-only': 'tool call only',
  starved: 'starved',
  empty: 'empty',
  cut: 'broken off',
  'error-mid-stream': 'error',
  refused: 'refused',
};

export const outcomeHelp: Readonly<Record<CallReasoning['outcome'], string>> = {
  answered: 'There is an answer.',
  'tool-only': 'The reply is a tool call; there is no text.',
  starved: 'There is text, and none of it is an answer.',
  empty: 'Neither thinking nor an answer came.',
  cut: 'The reply broke off, so what is here is not all.',
  'error-mid-stream': 'The server broke the reply off with an error.',
  refused: 'The server refused the call.',
};

const causeWords: Readonly<Record<NonNullable<CallReasoning['cause']>, string>> = {
  cap: 'cap',
  window: 'window full',
  shift: 'window shifted',
  stop: 'by itself',
  capability: 'model cannot',
  'think-value': 'think value',
  'prompt-too-long': 'prompt too long',
  server: 'server',
};

export function causeText({ cause, endedBy, outcome }: CallReasoning): string {
  if (cause !== null) return causeWords[cause];
  return outcome === 'cut' && endedBy === 'client' ? 'stopped here' : DASH;
}

const placeWords: Readonly<Record<CallReasoning['places'][number], string>> = {
  field: 'own field',
  'answer-tagged': 'in the answer, tagged',
  hidden: 'hidden',
  none: 'none',
};

/** Where the thinking was; what is only suspected says so. */
export function placesText({ places, suspected }: CallReasoning): string {
  if (suspected === 'answer-untagged')
    return [
      ...places.filter((place) => place !== 'none').map((place) => placeWords[place]),
      'in the answer, suspected',
    ].join(' + ');
  return places.length === 0 ? 'not known' : places.map((place) => placeWords[place]).join(' + ');
}

export const obedienceWords: Readonly<Record<CallReasoning['obedience'], string>> = {
  obeyed: 'obeyed',
  'not-obeyed': 'not obeyed',
  suspect: 'suspect',
  'not-asked': 'not asked',
  unknown: 'not known',
};

/** Outline = thought or answered as asked, filled = not as asked, filled with a bar = stopped before an answer. */
export function readingSeverity({ outcome, obedience }: CallReasoning): Severity {
  if (outcome === 'starved' || outcome === 'refused' || outcome === 'error-mid-stream') return 'stopped';
  if (outcome === 'empty' || outcome === 'cut' || obedience === 'not-obeyed') return 'happened';
  return 'informed';
}

/** `leaked, then starved`, `starved by the cap`, `answered after thinking`. */
export function readingWord(reading: CallReasoning): string {
  const leaked = reading.places.includes('answer-tagged');
  switch (reading.outcome) {
    case 'starved':
      return leaked ? 'leaked, then starved' : `starved${starvedBy(reading)}`;
    case 'answered': {
      if (leaked) return 'answered, thinking leaked';
      if (reading.places.includes('hidden')) return 'answered, thinking hidden';
      if (reading.suspected === 'answer-untagged') return 'answered, thinking suspected';
      const cut = reading.complete === false ? 'answer cut' : 'answered';
      return reading.places.includes('field') ? `${cut} after thinking` : cut;
    }
    case 'refused':
      return reading.cause === null ? 'refused' : `refused: ${causeWords[reading.cause]}`;
    default:
      return outcomeWords[reading.outcome];
  }
}

function starvedBy({ cause }: CallReasoning): string {
  if (cause === 'cap') return ' by the cap';
  if (cause === 'window') return ' by the window';
  if (cause === 'shift') return ' by a window shift';
  return '';
}

/** The sentence under the headline of a call. */
export function readingSentence(reading: CallReasoning): string {
  const where: string[] = [];
  if (reading.places.includes('field')) where.push('Thinking came in its own field.');
  if (reading.places.includes('answer-tagged')) where.push('Thinking stands in the answer, between tags.');
  if (reading.places.includes('hidden')) where.push('Tokens were counted that are visible nowhere.');
  if (reading.suspected === 'answer-untagged') where.push('The answer begins like thinking, without tags: suspected.');
  if (reading.places.includes('none')) where.push('It did not think.');
  return [outcomeHelp[reading.outcome], ...where, obedienceSentence(reading)].filter((text) => text !== '').join(' ');
}

function obedienceSentence({ obedience }: CallReasoning): string {
  if (obedience === 'obeyed') return 'Thinking was off, and that was obeyed.';
  if (obedience === 'not-obeyed') return 'Thinking was off, and it thought all the same.';
  return obedience === 'suspect' ? 'Thinking was off; whether that was obeyed is in doubt.' : '';
}

/** Where the two figures come from: a count, or an estimate with how far it was off. */
export function splitSourceText({ split }: CallReasoning): string {
  if (split === null) return DASH;
  if (split.source === 'counted') return 'counted';
  return split.errorPercent === null ? 'estimated' : `estimated ±${Math.abs(split.errorPercent)} %`;
}

/** A figure of the split: `~` marks an estimate. */
export function splitFigure(
  { split }: CallReasoning,
  part: 'thinkingTokens' | 'answerTokens' | 'hiddenTokens',
): string {
  const tokens = split?.[part] ?? null;
  if (tokens === null) return DASH;
  return `${split?.source === 'estimated' && tokens > 0 ? '~' : ''}${count(tokens)}`;
}

/** true is on, false is off; the rest as it is sent. */
export function thinkWord(think: Think): string {
  if (think === true) return 'on';
  return think === false ? 'off' : think;
}

/** `off / 2,000`; `on / 8,000, stop at 256` with a cap on thinking from this side. */
export function variantLabel(
  think: Think,
  cap: string,
  thinkingCap: { readonly tokensMax: string; readonly then: 'stop' | 'ask-again' } | null,
): string {
  const stopped =
    thinkingCap === null ? '' : `, ${thinkingCap.then === 'stop' ? 'stop' : 'ask again'} at ${thinkingCap.tokensMax}`;
  return `${thinkWord(think)} / ${cap}${stopped}`;
}

/** `on/8000/t256+`, as the engine names a variant that has no name of its own, in the words of the screen. */
export function variantLabelOf(name: string): string {
  const match = /^(on|off|default|low|medium|high|max)\/(\d+)(?:\/t(\d+)(\+?))?$/u.exec(name);
  if (match === null) return name;
  const [, word = '', cap = '', tokensMax, plus] = match;
  const stopped =
    tokensMax === undefined ? '' : `, ${plus === '+' ? 'ask again' : 'stop'} at ${count(Number(tokensMax))}`;
  return `${word} / ${count(Number(cap))}${stopped}`;
}

/** `think off`, `think default`, `think low`. */
export const thinkTitle = (think: Think): string => `think ${thinkWord(think)}`;
