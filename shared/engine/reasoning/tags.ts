/**
 * How models spell the borders of their thinking. All of it is data: a family that is not known is read by the same tables, and
 * a marker that no table knows is reported as it stands, never hidden and never guessed at.
 */

/** open, close: of thinking. answer: where the answer begins after thinking. stray: a control token that says nothing here. */
export type MarkRole = 'open' | 'close' | 'answer' | 'stray';

/** start, end: UTF-16 positions. key: which opens and closes belong together. own: true for a token nobody writes by hand. */
export interface Mark {
  readonly role: MarkRole;
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly own: boolean;
}

/** Names inside brackets of any kind, in any case, with or without the prefix of a family (`seed:think`). */
export const TAG_NAMES = [
  'think',
  'thinking',
  'thought',
  'thoughts',
  'reasoning',
  'thought_process',
  'chain_of_thought',
  'inner_monologue',
  'scratchpad',
] as const;

/** Channels whose text is thinking. */
export const THINKING_CHANNELS = ['analysis', 'thought', 'thoughts', 'thinking', 'think', 'reasoning'] as const;

const NAMES = TAG_NAMES.join('|');
const CHANNELS = THINKING_CHANNELS.join('|');
const PREFIX = '(?:[a-z][a-z0-9.]{0,19}[:_-])?';

interface Spelling {
  readonly key: string;
  readonly role: MarkRole;
  readonly own: boolean;
  readonly pattern: RegExp;
  /** Named in the pattern: the key gets the name behind it. */
  readonly named?: boolean;
}

const spelling = (key: string, role: MarkRole, pattern: string, more: Partial<Spelling> = {}): Spelling => ({
  key,
  role,
  own: true,
  pattern: new RegExp(pattern, 'gi'),
  ...more,
});

/** Earlier entries win where two cover the same place. */
const SPELLINGS: readonly Spelling[] = [
  spelling('angle', 'open', `<[ \\t]*(${PREFIX}(?:${NAMES}))(?:[ \\t][^<>\\n]{0,80})?[ \\t]*(?<!/)>`, {
    own: false,
    named: true,
  }),
  spelling('angle', 'close', `<[ \\t]*/[ \\t]*(${PREFIX}(?:${NAMES}))[ \\t]*>`, { own: false, named: true }),
  spelling('bracket', 'open', `\\[[ \\t]*(${PREFIX}(?:${NAMES}))[ \\t]*\\](?!\\()`, { own: false, named: true }),
  spelling('bracket', 'close', `\\[[ \\t]*/[ \\t]*(${PREFIX}(?:${NAMES}))[ \\t]*\\]`, { own: false, named: true }),
  spelling('lozenge', 'open', `◁[ \\t]*(?:${NAMES})[ \\t]*▷`),
  spelling('lozenge', 'close', `◁[ \\t]*/[ \\t]*(?:${NAMES})[ \\t]*▷`),
  spelling('pipe', 'open', `<[|｜](?:${NAMES})[|｜]>`),
  spelling('pipe', 'close', `<(?:[|｜]/|/[|｜])(?:${NAMES})[|｜]>`),
  spelling('span', 'open', `<[|｜](?:begin|start)[_▁ ](?:of[_▁ ])?(?:${NAMES})[|｜]>`),
  spelling('span', 'close', `<[|｜]end[_▁ ](?:of[_▁ ])?(?:${NAMES})[|｜]>`),
  spelling('span', 'answer', `<[|｜](?:begin|start)[_▁ ](?:of[_▁ ])?(?:solution|response|answer)[|｜]>`),
  spelling('span', 'answer', `<[|｜]end[_▁ ](?:of[_▁ ])?(?:solution|response|answer)[|｜]>`),
  spelling('inner', 'open', '<\\|inner_prefix\\|>'),
  spelling('inner', 'close', '<\\|inner_suffix\\|>'),
  spelling('unused', 'open', '<unused94>(?:thought\\b)?'),
  spelling('unused', 'close', '<unused95>'),
  spelling(
    'channel',
    'open',
    `(?:<\\|start\\|>[ \\t]*assistant[ \\t]*)?<\\|channel\\|?>[ \\t]*(?:${CHANNELS})\\b(?:[^<\\n]{0,60}<\\|message\\|>)?`,
  ),
  spelling(
    'channel',
    'answer',
    '(?:<\\|end\\|>[ \\t]*)?(?:<\\|start\\|>[ \\t]*assistant[ \\t]*)?<\\|channel\\|?>[ \\t]*(?:final|commentary|answer|response)\\b(?:[^<\\n]{0,60}(?:<\\|constrain\\|>[^<\\n]{0,20})?<\\|message\\|>)?',
  ),
  spelling('channel', 'close', '<channel\\|>'),
  spelling('channel', 'close', '<\\|end\\|>'),
  // A server that drops the control tokens but not what stands between them leaves the bare words.
  spelling('bare', 'open', '^\\s*analysis(?=[A-Z])', { pattern: /^\s*analysis(?=[A-Z])/g }),
  spelling('bare', 'answer', 'assistantfinal', { pattern: /assistantfinal/g }),
  spelling(
    'sentence',
    'open',
    "^\\s*(?:\\*\\*)?Here(?: is|’s|'s) my (?:thought|thinking|reasoning) process:?(?:\\*\\*)?",
  ),
  spelling('sentence', 'answer', "(?<=\\n)(?:\\*\\*)?Here(?: is|’s|'s) my (?:final )?(?:response|answer):(?:\\*\\*)?"),
  spelling(
    'control',
    'stray',
    '<[|｜][^|｜<>\\n]{1,40}[|｜]>|<\\|[a-z][a-z0-9_]{0,30}>|<[a-z][a-z0-9_]{0,30}\\|>|\\[/?INST\\]|<unused\\d{1,4}>|</?(?:start|end)_of_turn>',
  ),
];

const MARKS_MAX = 4_000;
const QUICK = /[<[◁]|^\s*analysis[A-Z]|Here(?: is|’s|'s) my /;

/** All marks of a text in order, none inside another. At most 4,000: a text with more of them is no thinking but noise. */
export function findMarks(text: string): readonly Mark[] {
  if (!QUICK.test(text)) return [];
  const found: (Mark & { readonly rank: number })[] = [];
  for (const [rank, entry] of SPELLINGS.entries()) {
    entry.pattern.lastIndex = 0;
    for (
      let match = entry.pattern.exec(text);
      match !== null && found.length < MARKS_MAX;
      match = entry.pattern.exec(text)
    ) {
      const key = entry.named === true ? `${entry.key}:${(match[1] ?? '').toLowerCase()}` : entry.key;
      found.push({
        role: entry.role,
        key,
        start: match.index,
        end: match.index + match[0].length,
        own: entry.own,
        rank,
      });
    }
  }
  found.sort((one, other) => one.start - other.start || one.rank - other.rank);
  const marks: Mark[] = [];
  let end = 0;
  for (const { rank: _rank, ...mark } of found) {
    if (mark.start < end) continue;
    marks.push(mark);
    end = mark.end;
  }
  return needsOpening(text, marks);
}

/** Words that only mean something behind an opening of their kind; `<|end|>` alone is the end token of other families. */
function needsOpening(text: string, marks: readonly Mark[]): readonly Mark[] {
  const opened = new Set<string>();
  return marks.flatMap((mark): readonly Mark[] => {
    const ends = ENDS_ANYTHING.test(text.slice(mark.start, mark.end));
    if (mark.role === 'open' || (mark.key === 'span' && mark.role === 'answer' && !ends)) opened.add(mark.key);
    if (opened.has(mark.key)) return [mark];
    if (mark.key === 'bare' || mark.key === 'sentence') return [];
    return ends ? [{ ...mark, role: 'stray' }] : [mark];
  });
}

const ENDS_ANYTHING = /^<[|｜]end(?:[|｜]>$|[_▁ ](?:of[_▁ ])?(?:solution|response|answer))/i;

/** Units at the end of a text that more text could still turn into a mark, such as `</thi`. 0 = nothing to hold back. */
export function heldLength(text: string): number {
  const tail = text.slice(-HELD_MAX);
  return TORN.exec(tail)?.[0].length ?? 0;
}

const HELD_MAX = 96;
const BEGUN = '[<[◁][ \\t]?[/|｜]?[ \\t]?[\\p{L}\\d_.:|｜▁-]{0,50}';
const CHANNEL = '<\\|(?:end|start|channel)\\|?>[^<\\n]{0,60}';
const TORN = new RegExp(`(?:${CHANNEL})+(?:${BEGUN})?$|${BEGUN}$`, 'iu');
