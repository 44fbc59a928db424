/**
 * Tells a tag that marks thinking from one that is only spoken about: in code, in quotes, or in a sentence that explains tags.
 * Where words are not enough, the shape decides: a border stands at the edge of its line or touches its text, a mention stands
 * between spaces inside a sentence that goes on.
 */
import type { Mark } from './tags.ts';

/** code, quoted: sure. block (code over lines) and sentence: likely, so a mark that is needed to end thinking may still be taken. */
export type Mention = 'code' | 'block' | 'quoted' | 'sentence' | null;

/** Answers for each mark of a text, in order. */
export function findMentions(text: string, marks: readonly Mark[]): readonly Mention[] {
  if (marks.length === 0) return [];
  const code = codeSpans(text);
  const mentions = marks.map((mark): Mention => {
    const span = code.find(({ start, end }) => mark.start >= start && mark.end <= end);
    if (span !== undefined) return text.slice(span.start, span.end).includes('\n') ? 'block' : 'code';
    if (isQuoted(text, mark)) return 'quoted';
    return !mark.own && isSpokenOf(text, mark) ? 'sentence' : null;
  });
  return closesOfMentions(text, marks, mentions);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Fenced blocks and inline code. A fence or tick that is never closed makes no code. */
function codeSpans(text: string): readonly Span[] {
  if (!text.includes('`') && !text.includes('~~~')) return [];
  const spans: Span[] = [];
  const runs = /(?<=(?:^|\n)[ \t]{0,8}(?:>[ \t]?|[-*+][ \t]+)?)(?:`{3,}|~{3,})|`+/g;
  for (let open = runs.exec(text); open !== null; open = runs.exec(text)) {
    const isFence = open[0].length >= 3;
    const close = isFence
      ? closingFence(text, open.index, open[0])
      : closingTick(text, open.index + open[0].length, open[0]);
    if (close === null) continue;
    spans.push({ start: open.index, end: close });
    runs.lastIndex = close;
  }
  return spans;
}

function closingFence(text: string, start: number, run: string): number | null {
  const line = text.indexOf('\n', start);
  const inline = text.indexOf(run, start + run.length);
  if (inline !== -1 && (line === -1 || inline < line)) return inline + run.length;
  if (line === -1) return null;
  const close = new RegExp(`\\n[ \\t]*(?:>[ \\t]?)?\\${run.slice(0, 1)}{${run.length},}[ \\t]*(?=\\n|$)`, 'g');
  close.lastIndex = line;
  const match = close.exec(text);
  return match === null ? null : match.index + match[0].length;
}

/** Inline code ends in its own paragraph. */
function closingTick(text: string, from: number, run: string): number | null {
  const paragraph = text.indexOf('\n\n', from);
  const limit = paragraph === -1 ? text.length : paragraph;
  for (let at = text.indexOf(run, from); at !== -1 && at < limit; at = text.indexOf(run, at + 1)) {
    if (text[at - 1] === '`' || text[at + run.length] === '`') continue;
    return at + run.length;
  }
  return null;
}

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '“': '”',
  '”': '”',
  '„': '“”',
  '‘': '’',
  '«': '»',
  '»': '«',
  '‹': '›',
  '「': '」',
  '『': '』',
  '(': ')',
};

/** A quote on each side, with at most two words or a few signs of padding between: "<think>", '</think>.', ("the </think> tag"). */
function isQuoted(text: string, mark: Mark): boolean {
  const before = /(["'“”„‘«»‹「『(])[ \t]?$/.exec(text.slice(Math.max(0, mark.start - 2), mark.start))?.[1];
  if (before === undefined) return false;
  const after = text.slice(mark.end, mark.end + 4);
  const closing = /^[ \t.,;:!?]{0,2}(["'“”’»«›」』)])/.exec(after)?.[1];
  return closing !== undefined && (QUOTES[before] ?? '').includes(closing);
}

const NOUNS =
  'tags?|tokens?|markers?|elements?|blocks?|delimiters?|sections?|markup|syntax|sequences?|strings?|labels?|brackets?';
const NOUN_AFTER = new RegExp(`^(?:[ \\t]*(?:and|or|/|,|&)[ \\t]*\\S{1,30})?[ \\t-]+(?:${NOUNS})\\b`, 'i');
const VERBS_BEFORE =
  /\b(?:writ(?:e|es|ing|ten)|typ(?:e|es|ing)|us(?:e|es|ing)|add(?:s|ing)?|insert(?:s|ing)?|put(?:s|ting)?|emit(?:s|ting)?|outputs?|prints?|produc(?:e|es|ing)|called|named|like|tags?|tokens?|markers?|elements?|clos(?:e|es|ing)|open(?:s|ing)?|end(?:s|ing)?|start(?:s|ing)?|literal|string|between|inside|within|in|into|with|without|wrap(?:s|ped|ping)?|enclosed?|surround(?:s|ed)?|missing|forgot|forget|via|an?|the|e\.g\.|example)[:,]?[ \t]+$/i;
const VERBS_AFTER =
  /^[ \t]+(?:(?:to|that|which|then)\s+)?(?:clos(?:e|es|ing)|open(?:s|ing)?|ends?|starts?|begins?|marks?|means|indicates?|signals?|tells|terminates?|wraps?|delimits?|separates?|denotes?|is|are|was|were|and|or|at|before|after|around|when|where|goes|must|should|can|will)\b/;

const SIDE_MAX = 80;

/** An explaining sentence: by its words, or by its shape where the words are of another language. */
function isSpokenOf(text: string, mark: Mark): boolean {
  const before = /[^\n]*$/.exec(text.slice(Math.max(0, mark.start - SIDE_MAX), mark.start))?.[0] ?? '';
  const after = /^[^\n]*/.exec(text.slice(mark.end, mark.end + SIDE_MAX))?.[0] ?? '';
  const atLineStart = before.trim() === '';
  if (NOUN_AFTER.test(after)) return true;
  if (atLineStart) return mark.role === 'close' && /^[ \t]+\p{Ll}/u.test(after) && VERBS_AFTER.test(after);
  const isSpaced = /[ \t]$/.test(before);
  if (!isSpaced) return false;
  if (VERBS_BEFORE.test(before) && /^(?:[ \t]|[.,;:!?)]|[<[][ \t]*\/|$)/.test(after))
    return mark.role === 'open' || after.trim() !== '';
  if (/^[.,;:!?)](?:\s|$)/.test(after)) return true;
  if (mark.role === 'close') return /^[ \t]+[\p{Ll}\p{Lo}]/u.test(after);
  return VERBS_AFTER.test(after) || isWordedPair(after);
}

/** `<think> und </think>`: one or two words between spaces are no thinking. */
function isWordedPair(after: string): boolean {
  return /^[ \t]+[\p{L}/&]{1,12}(?:[ \t]+\p{L}{1,12})?[ \t]+[<[][ \t]*\/[ \t]*[\p{L}:_-]{1,30}[ \t]*[>\]][ \t,.;:]+\p{Ll}/u.test(
    after,
  );
}

/** The closing tag that belongs to an opening one which was only spoken of is spoken of too. */
function closesOfMentions(text: string, marks: readonly Mark[], mentions: readonly Mention[]): readonly Mention[] {
  const result = [...mentions];
  for (const [index, mark] of marks.entries()) {
    if (mark.role !== 'open' || result[index] === null) continue;
    const next = index + 1;
    const close = marks[next];
    if (close === undefined || close.role !== 'close' || close.key !== mark.key || result[next] !== null) continue;
    const between = text.slice(mark.end, close.start);
    if (!between.includes('\n') && between.length <= 80 && isWithinSentence(text, close)) result[next] = 'sentence';
  }
  return result;
}

function isWithinSentence(text: string, close: Mark): boolean {
  return /^(?:[ \t]+[\p{Ll}\p{Lo}]|[ \t]*[.,;:!?)])/u.test(text.slice(close.end, close.end + 4));
}
