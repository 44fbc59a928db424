/** Reading for the built-in brain: what the last turn asks, and what the surviving text states about it. */

/** Text of the last user turn that is left in the window: behind the last mark of a user turn, or the whole text. */
export function lastTurn(promptText: string): string {
  const marks = ['<start_of_turn>user\n', '<|im_start|>user\n'];
  const start = Math.max(...marks.map((mark) => endOfLast(promptText, mark)), 0);
  const rest = promptText.slice(start);
  const end = rest.search(/<end_of_turn>|<\|im_end\|>/);
  return end < 0 ? rest : rest.slice(0, end);
}

/** Subjects that the end of the turn asks for, else its beginning; questions inside a document belong to the document. */
export function subjectsAsked(turn: string): string[] {
  const tail = turn.slice(-questionCharacters);
  const last = subjectsIn(tail.slice(Math.max(0, tail.trimEnd().lastIndexOf('\n\n'))));
  return last.length > 0 ? last : subjectsIn(turn.slice(0, questionCharacters).split('\n\n', 1)[0] ?? '');
}

function subjectsIn(paragraph: string): string[] {
  const found = [...paragraph.matchAll(questionPattern)].map((match) =>
    (match.slice(1).find((part) => part !== undefined) ?? '').trim(),
  );
  return [...new Set(found.filter((subject) => subject !== ''))].slice(0, subjectsMax);
}

/** What the text states about exactly this subject, the first statement first; null = nothing. */
export function statedAbout(subject: string, text: string): string | null {
  return (
    valueOfSubject(subject, text) ??
    valueOfSubject(
      subject.replace(/\s+(?:mentioned|given|stated|hidden|named|that|which|above|below|in|at|from|of)\b.*$/i, ''),
      text,
      subject,
    )
  );
}

const questionCharacters = 2_000;
const subjectsMax = 12;
const questionPattern = new RegExp(
  [
    /\bwhat(?:'s| is| was| are| were) the ([^?!\n]{2,80}?)\?/,
    /\bwhich ([^?!\n]{2,60}?) (?:should|must|do|did) (?:you|i|we)\b[^?\n]*\?/,
    /\bw(?:hat|hich) ((?!is\b|was\b|are\b|the\b)[^?!\n]{2,60}?) (?:is|was|were|are) (?:mentioned|given|stated|named|hidden|used|in|at)\b[^?\n]*\?/,
    /\b(?:tell me|give me|give|repeat|state|name|find|report|return|quote) the ([^?.!\n]{2,80})[?.!\n]/,
  ]
    .map((pattern) => pattern.source)
    .join('|'),
  'gi',
);

/** `unless`: the same words as the subject already looked for, nothing is looked for again. */
function valueOfSubject(subject: string, text: string, unless?: string): string | null {
  if (subject === unless || subject.trim() === '') return null;
  const escaped = subject.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  const stated = `(?:\\b(?:the|your|our|my)\\s+|(?:^|[.!?:]\\s)\\s*)${escaped}\\s*(?:(?:is|was|are|were)\\b\\s*:?|[:=])\\s*([^\\n<]{1,120})`;
  const remembered = `\\bremember\\s+(?:the\\s+)?${escaped}\\s*(?:is\\b\\s*|:\\s*)?([^\\n<]{1,120})`;
  for (const pattern of [stated, remembered]) {
    for (const match of text.matchAll(new RegExp(pattern, 'gim'))) {
      const value = valueOf(match[1] ?? '');
      if (value !== null && !/^should$/i.test(value)) return value;
    }
  }
  return null;
}

/** A code is one word with a digit or in capitals; anything else is taken to the end of its sentence. */
function valueOf(rest: string): string | null {
  const word = /^["'*`(]*([\p{L}\p{N}][\p{L}\p{N}_\-/:.#]*)/u.exec(rest)?.[1]?.replace(/[.:/#-]+$/, '');
  if (word === undefined || word === '') return null;
  if (/\p{N}/u.test(word) || (word.length > 1 && word === word.toUpperCase() && word !== word.toLowerCase()))
    return word;
  const sentence = /^[^.!?]{1,60}/.exec(rest)?.[0]?.trim() ?? '';
  return sentence === '' ? null : sentence;
}

function endOfLast(text: string, mark: string): number {
  const at = text.lastIndexOf(mark);
  return at < 0 ? 0 : at + mark.length;
}
