/** How two JSON values differ, in words: what counts for a guard, and what is only written differently. */
import { type Json, canonicalText } from './canonical.ts';
import type { Raw, RawEntry } from './raw-json.ts';

export interface Differences {
  /** One line for each difference that makes the values different; the first ones. */
  readonly counting: readonly string[];
  /** The same for what makes none. */
  readonly writing: readonly string[];
  readonly moreCounting: number;
  readonly moreWriting: number;
}

export interface Names {
  /** What the whole value is called, such as `arguments`. */
  readonly root: string;
  /** Top-level fields that are left out. */
  readonly ignored: readonly string[];
}

const LINES_MAX = 20;
const VALUE_CHARACTERS_MAX = 60;

/** The values are the same exactly when nothing counts. */
export function differencesOf(first: Raw, second: Raw, names: Names): Differences {
  const notes: Notes = { counting: [], writing: [], moreCounting: 0, moreWriting: 0, root: names.root };
  compare(first, second, [], notes, names.ignored);
  return notes;
}

interface Notes {
  readonly counting: string[];
  readonly writing: string[];
  moreCounting: number;
  moreWriting: number;
  readonly root: string;
}

type Path = readonly (string | number)[];

function compare(a: Raw, b: Raw, path: Path, notes: Notes, ignored: readonly string[]): void {
  if (a.kind === 'object' && b.kind === 'object') return compareObjects(a.entries, b.entries, path, notes, ignored);
  if (a.kind === 'list' && b.kind === 'list') return compareLists(a.items, b.items, path, notes);
  if (a.kind === 'text' && b.kind === 'text') return compareTexts(a, b, path, notes);
  if (a.kind === 'number' && b.kind === 'number') return compareNumbers(a, b, path, notes);
  if (a.kind === 'word' && b.kind === 'word' && a.raw === b.raw) return;
  counts(notes, `${at(path, notes)}${shown(a.json)} and ${shown(b.json)} are different: ${kinds(a)} and ${kinds(b)}`);
}

function compareObjects(
  a: ReadonlyMap<string, RawEntry>,
  b: ReadonlyMap<string, RawEntry>,
  path: Path,
  notes: Notes,
  ignored: readonly string[],
): void {
  for (const key of ignored) if (a.has(key) || b.has(key)) writes(notes, `field ${nameOf(key)} is ignored`);
  const kept = (key: string): boolean => !ignored.includes(key);
  const keysOfA = [...a.keys()].filter(kept);
  const keysOfB = [...b.keys()].filter(kept);
  for (const key of keysOfA) if (!b.has(key)) counts(notes, onlyIn('first', [...path, key], a.get(key), notes));
  for (const key of keysOfB) if (!a.has(key)) counts(notes, onlyIn('second', [...path, key], b.get(key), notes));
  const common = keysOfA.filter((key) => b.has(key));
  const commonOfB = keysOfB.filter((key) => a.has(key));
  if (common.some((key, index) => key !== commonOfB[index]))
    writes(notes, `${at(path, notes, true)}key order differs: no matter`);
  for (const key of common) {
    const [one, other] = [a.get(key), b.get(key)];
    if (one === undefined || other === undefined) continue;
    if (one.rawKey !== other.rawKey)
      writes(notes, `${clip(one.rawKey)} and ${clip(other.rawKey)} are the same key, escaped differently: no matter`);
    compare(one.value, other.value, [...path, key], notes, []);
  }
}

function onlyIn(which: string, path: Path, entry: RawEntry | undefined, notes: Notes): string {
  const isNull = entry?.value.json === null;
  return `${at(path, notes)}only in the ${which} call${isNull ? ': null is not the same as absent' : ''}`;
}

/** Beyond these a list is not looked through for another order: its canonical form would be made again at every level. */
const ORDER_ITEMS_MAX = 200;
const ORDER_LEVELS_MAX = 8;

function compareLists(a: readonly Raw[], b: readonly Raw[], path: Path, notes: Notes): void {
  if (a.length !== b.length) {
    counts(notes, `${at(path, notes)}lists of ${a.length} and ${b.length} entries are different`);
    return;
  }
  if (isReordered(a, b, path)) {
    counts(notes, `${at(path, notes)}the same entries in another order: order counts in a list`);
    return;
  }
  a.forEach((item, index) => {
    const other = b[index];
    if (other !== undefined) compare(item, other, [...path, index], notes, []);
  });
}

function isReordered(a: readonly Raw[], b: readonly Raw[], path: Path): boolean {
  if (a.length < 2 || a.length > ORDER_ITEMS_MAX || path.length > ORDER_LEVELS_MAX) return false;
  const [left, right] = [a, b].map((items) => items.map(({ json }) => canonicalText(json)));
  if (left === undefined || right === undefined || left.every((text, index) => text === right[index])) return false;
  const sorted = [...right].sort();
  return [...left].sort().every((text, index) => text === sorted[index]);
}

interface Written {
  readonly json: Json;
  readonly raw: string;
}

function compareNumbers(a: Written, b: Written, path: Path, notes: Notes): void {
  if (a.raw === b.raw) return;
  const pair = `${clip(a.raw)} and ${clip(b.raw)}`;
  if (canonicalText(a.json) !== canonicalText(b.json)) {
    counts(notes, `${at(path, notes)}${pair} are different numbers`);
    return;
  }
  const isExact = decimalOf(a.raw) === decimalOf(b.raw);
  writes(
    notes,
    isExact
      ? `${at(path, notes)}${pair} are the same number`
      : `${at(path, notes)}${pair} look the same: a number keeps about 16 digits`,
  );
}

/** One writing for each exact decimal value: digits without zeros at the ends, and the power of ten. */
function decimalOf(raw: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(raw);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const bare = digits.replace(/0+$/, '');
  if (bare === '') return '0';
  return `${sign}${bare}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - bare.length)}`;
}

function compareTexts(a: Written, b: Written, path: Path, notes: Notes): void {
  const [one, other] = [String(a.json), String(b.json)];
  if (one === other) {
    if (a.raw !== b.raw)
      writes(notes, `${at(path, notes)}${clip(a.raw)} and ${clip(b.raw)} are the same text, escaped differently`);
    return;
  }
  if (one.normalize('NFC') === other.normalize('NFC')) {
    const form = (text: string): string => (text === text.normalize('NFC') ? 'composed' : 'decomposed');
    const forms = form(one) === form(other) ? 'in two forms of decomposition' : `${form(one)}, then ${form(other)}`;
    counts(notes, `${at(path, notes)}${shown(one)} ${forms}: different texts`);
    return;
  }
  const [x, y] = apart(one, other);
  const pair = `${at(path, notes)}${shown(x)} and ${shown(y)}`;
  if (one.trim() === other.trim()) counts(notes, `${pair} differ in space at the ends: different texts`);
  else if (one.toLowerCase() === other.toLowerCase())
    counts(notes, `${pair} differ in upper and lower case: different texts`);
  else counts(notes, `${pair} are different texts`);
}

/** Of two long texts, the parts where they begin to differ, so that what is shown is not twice the same. */
function apart(one: string, other: string): readonly [string, string] {
  if (one.length <= VALUE_CHARACTERS_MAX && other.length <= VALUE_CHARACTERS_MAX) return [one, other];
  let same = 0;
  while (same < one.length && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  const from = same > 30 ? same - 10 : 0;
  return [one, other].map((text) => `${from > 0 ? '…' : ''}${text.slice(from).toWellFormed()}`) as [string, string];
}

function kinds(value: Raw): string {
  if (value.kind === 'word') return value.json === null ? 'null' : 'a truth value';
  return { object: 'an object', list: 'a list', text: 'a text', number: 'a number' }[value.kind];
}

function shown(value: Json): string {
  if (Array.isArray(value)) return '[…]';
  if (value !== null && typeof value === 'object') return '{…}';
  return clip(
    canonicalText(typeof value === 'string' ? value.slice(0, VALUE_CHARACTERS_MAX * 2).toWellFormed() : value),
  );
}

function clip(text: string): string {
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX - 1).toWellFormed()}…`;
}

export const nameOf = (key: string): string => (/^[\w-]{1,60}$/.test(key) ? key : clip(JSON.stringify(key)));

/** `filter.pages[2]: `; empty for the whole, which only says its name where `isQuiet` is not set. */
function at(path: Path, { root }: Notes, isQuiet = false): string {
  if (path.length === 0) return isQuiet ? '' : `${root}: `;
  const levels = path.length > 12 ? [...path.slice(0, 5), '…', ...path.slice(-5)] : path;
  const text = levels.map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${part === '…' ? part : nameOf(part)}`,
  );
  return `${text.join('').replace(/^\./, '')}: `;
}

function counts(notes: Notes, line: string): void {
  if (notes.counting.length < LINES_MAX) notes.counting.push(line);
  else notes.moreCounting += 1;
}

function writes(notes: Notes, line: string): void {
  if (notes.writing.length < LINES_MAX) notes.writing.push(line);
  else notes.moreWriting += 1;
}
