/**
 * The built-in brain: a reader that answers from the text which survived in the window, and from nothing else. What was cut
 * cannot be found; the profile says whether it then admits that or makes something up. Same input, same words.
 */
import { endlessThought } from './brain-endless.ts';
import { thinkingText, writeInFamily } from './brain-families.ts';
import { jsonAnswer } from './brain-json.ts';
import { lastTurn, statedAbout, subjectsAsked } from './brain-reading.ts';
import { longWriting } from './brain-writing.ts';
import { familyCapabilities } from './families/index.ts';
import type { Brain, BrainAsk, ModelText } from './options.ts';
import { runsInTwoPasses } from './structured.ts';
import type { Tokenizer } from './tokenizer.ts';

export function createBrain(tokenizer: Tokenizer): Brain {
  return (ask) => {
    if (ask.profile.behaviour === 'loops' && ask.request.tools.length > 0)
      return { pieces: tokenizer.pieces(loopingCall(ask)) };
    if (ask.request.format !== undefined) {
      const answer = answerText(ask);
      const bound = jsonAnswer(ask.request.format, answer);
      if (isFree(ask)) return textOf(tokenizer, ask, bound);
      return { pieces: tokenizer.pieces(ask.pass === 2 ? bound : writeInFamily(ask.profile.family, null, bound)) };
    }
    const long = longWriting(lastTurn(ask.promptText), ask.seed);
    if (long !== null) return { pieces: tokenized(tokenizer, thinksNow(ask) ? withThinking(ask, '') : '', long) };
    return textOf(tokenizer, ask, answerText(ask));
  };
}

/** Only the first of two passes runs without the grammar; under it a model can write nothing but the shape (and its header). */
function isFree({ pass, request, profile, thinkSetting }: BrainAsk): boolean {
  const rendered = profile.mode === 'rendered';
  return (
    pass === 1 &&
    runsInTwoPasses({ kind: request.kind, profile, rendered, format: request.format, think: thinkSetting })
  );
}

/** What the reader says to the questions of the last turn. */
export function answerText(ask: Pick<BrainAsk, 'promptText' | 'profile' | 'seed'>): string {
  const turn = lastTurn(ask.promptText);
  const questions = subjectsAsked(turn);
  if (questions.length === 0) return smallTalk(turn, ask.promptText);
  const isBare = /\b(code|codes|word|words|number|numbers|name|names|answer|value|values)? ?only\b/i.test(
    turn.slice(-200),
  );
  const answers = questions.map((question) => answerTo(question, ask, isBare));
  return answers.join('\n');
}

function answerTo(subject: string, ask: Pick<BrainAsk, 'promptText' | 'profile' | 'seed'>, isBare: boolean): string {
  const found = statedAbout(subject, ask.promptText);
  if (found !== null) return isBare ? found : `The ${subject} is ${found}.`;
  if (ask.profile.whenLost === 'admits') return `I cannot find the ${subject} in the text that I was given.`;
  const made = invent(subject, ask.promptText, ask.seed);
  return isBare ? made : `The ${subject} is ${made}.`;
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
    return { pieces: tokenized(tokenizer, withThinking(ask, null), endlessThought(lastTurn(ask.promptText))) };
  return { pieces: tokenizer.pieces(withThinking(ask, answer)) };
}

/** answer null = the thinking stays open. */
function withThinking(ask: BrainAsk, answer: string | null): string {
  return writeInFamily(ask.profile.family, thinkingText(ask, subjectsAsked(lastTurn(ask.promptText))), answer);
}

/** The same call with the same arguments, whatever came back; what the tool asks for is there, so that it runs. */
function loopingCall(ask: BrainAsk): string {
  const tool = (ask.request.tools[0] as { function?: unknown } | undefined)?.function as LoopedTool | undefined;
  const name = typeof tool?.name === 'string' ? tool.name : 'search';
  const { properties, required } = tool?.parameters ?? {};
  const asked = (Array.isArray(required) ? required : []).filter((field) => typeof field === 'string');
  const valueOf = (field: string): unknown => {
    const types = [properties?.[field]?.type].flat();
    return types.includes('string') || !types.some((type) => type === 'integer' || type === 'number') ? 'status' : 1;
  };
  const given =
    asked.length === 0 ? { query: 'status' } : Object.fromEntries(asked.map((field) => [field, valueOf(field)]));
  return `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`;
}

interface LoopedTool {
  readonly name?: unknown;
  readonly parameters?: {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown } | null>> | null;
    readonly required?: unknown;
  } | null;
}

function* tokenized(tokenizer: Tokenizer, head: string, rest: Iterable<string>): Generator<string> {
  yield* tokenizer.pieces(head);
  for (const text of rest) yield* tokenizer.pieces(text);
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
