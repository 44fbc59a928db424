/** Long answers of the built-in brain: lists of numbers, stories. They never repeat one token often enough for the guard. */

/** Parts of a long answer when the turn asks for one, else null. Endless only when nothing in the turn bounds it. */
export function longWriting(turn: string, seed: number): Iterable<string> | null {
  const counting = /\b(?:count|numbers?)\b[^.?!]*?\bfrom\s+(\d+)\s+to\s+(\d+)/i.exec(turn);
  if (counting !== null) return numbers(Number(counting[1]), Number(counting[2]));
  if (/\b(?:write|tell)\b[^.?!]{0,40}\b(?:long\s+)?(?:story|essay|tale|report)\b/i.test(turn))
    return story(seed, /\blong\b/i.test(turn) ? 60 : 12);
  return null;
}

const numbersMax = 100_000;

function* numbers(from: number, to: number): Generator<string> {
  const step = from <= to ? 1 : -1;
  const count = Math.min(Math.abs(to - from) + 1, numbersMax);
  for (let index = 0; index < count; index += 1) yield `${index === 0 ? '' : ', '}${from + index * step}`;
}

const subjects = [
  'The keeper',
  'A gull',
  'The lamp',
  'The harbour',
  'An old ship',
  'The tide',
  'A letter',
  'The storm',
];
const verbs = ['watched', 'remembered', 'followed', 'answered', 'lost', 'carried', 'counted', 'forgot'];
const objects = [
  'the grey water',
  'a distant bell',
  'the last boat',
  'the empty stairs',
  'a small light',
  'the morning fog',
];

function* story(seed: number, sentences: number): Generator<string> {
  for (let index = 0; index < sentences; index += 1) {
    const mix = (seed >>> 0) + index * 7;
    const sentence = `${subjects[mix % subjects.length] ?? ''} ${verbs[(mix * 3 + index) % verbs.length] ?? ''} ${objects[(mix + index) % objects.length] ?? ''}`;
    yield `${index === 0 ? '' : ' '}${sentence}.`;
  }
}
