/**
 * The built-in brain: a reader that answers from the text which survived in the window, and from nothing else. What was cut
 * cannot be found; the profile says whether it then admits that or makes something up. Same input, same words.
 */
import { thinkingText, writeInFamily } from './brain-families.ts';
import { jsonAnswer } from './brain-json.ts';
import { longWriting } from './brain-writing.ts';
import { familyCapabilities } from './families/index.ts';
import type { Brain, BrainAsk, ModelText } from './options.ts';
import type { Tokenizer } from './tokenizer.ts';

export function createBrain(tokenizer: Tokenizer): Brain {
  return (ask) => {
    if (ask.profile.behaviour === 'loops' && ask.request.tools.length > 0)
      return { pieces: tokenizer.pieces(loopingCall(ask)) };
    if (ask.request.format !== undefined) {
      const answer = answerText(ask);
      if (ask.pass === 2 || !thinksNow(ask))
        return { pieces: tokenizer.pieces(jsonAnswer(ask.request.format, answer)) };
      return textOf(tokenizer, ask, jsonAnswer(ask.request.format, answer));
    }
    const long = longWriting(lastTurn(ask.promptText), ask.seed);
    if (long !== null) return { pieces: tokenized(tokenizer, thinksNow(ask) ? withThinking(ask, '') : '', long) };
    return textOf(tokenizer, ask, answerText(ask));
  };
}

/** What the reader says to the questions of the last turn. */
export function answerText(ask: Pick<BrainAsk, 'promptText' | 'profile' | 'seed'>): string {
  const turn = lastTurn(ask.promptText);
  const questions = questionsOf(turn);
  if (questions.length === 0) return smallTalk(turn, ask.promptText);
  const isBare = /\b(code|codes|word|words|number|numbers|name|names|answer|value|values)? ?only\b/i.test(
    turn.slice(-200),
  );
  const answers = questions.map((question) => answerTo(question, ask, isBare));
  return answers.join('\n');
}

/** Text of the last user turn that is left in the window: behind the last mark of a user turn, or the whole text. */
export function lastTurn(promptText: string): string {
  const marks = ['<start_of_turn>user\n', '<|im_start|>user\n'];
  const start = Math.max(...marks.map((mark) => endOfLast(promptText, mark)), 0);
  const rest = promptText.slice(start);
  const end = rest.search(/<end_of_turn>|<\|im_end\|>/);
  return end < 0 ? rest : rest.slice(0, end);
}

/** Only the end of the turn asks; questions inside a document belong to the document. */
function questionsOf(turn: string): string[] {
  const tail = turn.slice(-questionTailCharacters);
  const paragraph = tail.slice(Math.max(0, tail.trimEnd().lastIndexOf('\n\n')));
  const found = [...paragraph.matchAll(questionPattern)].map((match) => (match[1] ?? match[2] ?? '').trim());
  return [...new Set(found.filter((subject) => subject !== ''))].slice(0, questionsMax);
}

const questionTailCharacters = 2_000;
const questionsMax = 12;
const questionPattern =
  /\bwhat (?:is|was|are) the ([^?.!\n]{2,80})\?|\bwhich ([^?.!\n]{2,60}?) (?:should|must|do|did) (?:you|i|we)[^?\n]*\?/gi;

function answerTo(subject: string, ask: Pick<BrainAsk, 'promptText' | 'profile' | 'seed'>, isBare: boolean): string {
  const found = findStated(subject, ask.promptText);
  if (found !== null) return isBare ? found : `The ${subject} is ${found}.`;
  if (ask.profile.whenLost === 'admits') return `I cannot find the ${subject} in the text that I was given.`;
  const made = invent(subject, ask.promptText, ask.seed);
  return isBare ? made : `The ${subject} is ${made}.`;
}

/** What the text states about exactly this subject: "the launch code is X", "remember code X". First statement wins. */
function findStated(subject: string, text: string): string | null {
  const escaped = subject.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  const stated = new RegExp(`\\bthe\\s+${escaped}\\s*(?:is|was|are|:|=)\\s*([^\\n<]{1,120})`, 'gi');
  for (const match of text.matchAll(stated)) {
    const value = valueOf(match[1] ?? '');
    if (value !== null) return value;
  }
  const remembered = new RegExp(`\\bremember\\s+(?:the\\s+)?${escaped}\\s*(?:is\\s+|:\\s*)?([^\\n<]{1,120})`, 'gi');
  for (const match of text.matchAll(remembered)) {
    const value = valueOf(match[1] ?? '');
    if (value !== null && value.toLowerCase() !== 'should') return value;
  }
  return null;
}

/** A code is one word with a digit or in capitals; anything else is taken to the end of its sentence. */
function valueOf(rest: string): string | null {
  const word = /^["'*`(]*([\p{L}\p{N}][\p{L}\p{N}_\-/:.#]*)/u.exec(rest)?.[1]?.replace(/[.:/#-]+$/, '');
  if (word === undefined || word === '') return null;
  if (/\p{N}/u.test(word) || (word.length > 1 && word === word.toUpperCase())) return word;
  const sentence = /^[^.!?]{1,60}/.exec(rest)?.[0]?.trim() ?? '';
  return sentence === '' ? null : sentence;
}

/** A likely-looking code from a word of the text that is left, which stands nowhere in it. */
function invent(subject: string, text: string, seed: number): string {
  const random = seededRandom(`${seed}/${subject}`);
  const sample = text.slice(-20_000);
  const words = [...new Set(sample.match(/\b[a-z]{4,8}\b/g) ?? [])].slice(0, 400);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const word = words.length === 0 ? 'DELTA' : (words[Math.floor(random() * words.length)] ?? 'delta').toUpperCase();
    const made = `${word}-${1000 + Math.floor(random() * 9000)}`;
    if (!text.includes(made)) return made;
  }
  return 'DELTA-0000';
}

function smallTalk(turn: string, promptText: string): string {
  const said = turn.trim().replace(/\s+/g, ' ');
  if (said === '') return `I was given ${promptText.length} characters and no question.`;
  if (/^(say|reply with|answer with)\b/i.test(said))
    return `${said.replace(/^\S+\s+(with\s+)?/i, '').replace(/[".]/g, '') || 'Yes'}.`;
  if (/\bsky\b.*\bblue\b/i.test(said)) return 'Air scatters short, blue waves of sunlight more than long, red ones.';
  const words = said.split(' ').slice(0, 12).join(' ');
  return `You wrote: "${words}${said.split(' ').length > 12 ? ' ...' : ''}" I have nothing to add to it.`;
}

function thinksNow(ask: BrainAsk): boolean {
  if (ask.profile.thinks === 'never') return false;
  if (ask.profile.thinks === 'asked') return ask.think;
  return (
    ask.think ||
    ask.profile.thinks === 'always' ||
    ask.profile.thinks === 'for-ever' ||
    familyCapabilities(ask.profile.family).alwaysThinks
  );
}

function textOf(tokenizer: Tokenizer, ask: BrainAsk, answer: string): ModelText {
  if (!thinksNow(ask)) return { pieces: tokenizer.pieces(writeInFamily(ask.profile.family, null, answer)) };
  if (ask.profile.thinks === 'for-ever')
    return { pieces: tokenized(tokenizer, withThinking(ask, null), endless('Maybe I should check again. ')) };
  return { pieces: tokenizer.pieces(withThinking(ask, answer)) };
}

/** answer null = the thinking stays open. */
function withThinking(ask: BrainAsk, answer: string | null): string {
  return writeInFamily(ask.profile.family, thinkingText(ask, questionsOf(lastTurn(ask.promptText))), answer);
}

/** The same call with the same arguments, whatever came back. */
function loopingCall(ask: BrainAsk): string {
  const tool = ask.request.tools[0] as { function?: { name?: unknown } } | undefined;
  const name = typeof tool?.function?.name === 'string' ? tool.function.name : 'search';
  return `<tool_call>\n${JSON.stringify({ name, arguments: { query: 'status' } })}\n</tool_call>`;
}

function* tokenized(tokenizer: Tokenizer, head: string, rest: Iterable<string>): Generator<string> {
  yield* tokenizer.pieces(head);
  for (const text of rest) yield* tokenizer.pieces(text);
}

function* endless(text: string): Generator<string> {
  for (;;) yield text;
}

function endOfLast(text: string, mark: string): number {
  const at = text.lastIndexOf(mark);
  return at < 0 ? 0 : at + mark.length;
}

/** Numbers in [0, 1) from a text seed (FNV-1a into mulberry32). */
export function seededRandom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let index = 0; index < seed.length; index += 1)
    state = Math.imul(state ^ seed.charCodeAt(index), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
