/**
 * Estimates of prompts in tokens, before anything is sent. An estimate is a band: `low` is what the text needs at least in any
 * common vocabulary, `high` is the pessimistic side that budgets and windows are checked against.
 */
import type { Message } from '../../contract/calls.ts';
import type { Estimate } from '../../contract/estimates.ts';
import { type Tokens, characters, tokens } from '../../contract/units.ts';
import { type TableCount, createTextCounter } from './estimator.ts';
import { type LearnedRatio, type ScriptRatio, usableRatio } from './learned.ts';
import type { Script } from './scripts.ts';

export { learnRatio } from './learned.ts';
export type { LearnedRatio, RatioSample, ScriptRatio } from './learned.ts';
export type { Script } from './scripts.ts';

/**
 * total: texts and template. messages: each text alone, in order. templateTokens: what roles and markers are likely to add.
 * script, tableTokens: what `learnRatio` wants beside the server's count, for a call that is known to be uncut.
 */
export interface MessagesEstimate {
  readonly total: Estimate;
  readonly messages: readonly Estimate[];
  readonly templateTokens: Tokens;
  readonly script: Script;
  readonly tableTokens: number;
}

export interface Estimator {
  push(text: string): void;
  estimate(learned?: LearnedRatio | null): Estimate;
}

/** One text, without template. About 20 ms a megabyte; `createEstimator` takes it in slices. */
export function estimateText(text: string, learned?: LearnedRatio | null): Estimate {
  const estimator = createEstimator();
  estimator.push(text);
  return estimator.estimate(learned);
}

/** The same in slices, for a worker or a page that must stay smooth. The slices may end anywhere. */
export function createEstimator(): Estimator {
  const counter = createTextCounter();
  return {
    push: (text) => counter.push(text),
    estimate: (learned) => bandOf(counter.count(), learned),
  };
}

/** A whole prompt: the texts and about `TEMPLATE_TOKENS` of template a message. */
export function estimateMessages(
  messages: readonly Pick<Message, 'content'>[],
  learned?: LearnedRatio | null,
): MessagesEstimate {
  const counts = messages.map((message) => {
    const counter = createTextCounter();
    counter.push(message.content);
    return counter.count();
  });
  const template = templateOf(messages.length);
  const heaviest = counts.reduce<TableCount | null>(
    (most, one) => (most === null || one.likely > most.likely ? one : most),
    null,
  );
  const sum: TableCount = {
    low: counts.reduce((total, one) => total + one.low, 0) + template.low,
    likely: counts.reduce((total, one) => total + one.likely, 0) + template.likely,
    high: counts.reduce((total, one) => total + one.high, 0) + template.high,
    characters: counts.reduce((total, one) => total + one.characters, 0),
    script: heaviest?.script ?? 'latin',
  };
  return {
    total: bandOf(sum, learned),
    messages: counts.map((one) => bandOf(one, learned)),
    templateTokens: tokens(template.likely),
    script: sum.script,
    tableTokens: sum.likely,
  };
}

/** A prompt whose tokens the server has counted before: the band has no width. */
export function countedEstimate(promptTokens: number, promptCharacters: number): Estimate {
  const counted = tokens(promptTokens);
  return {
    low: counted,
    likely: counted,
    high: counted,
    characters: characters(promptCharacters),
    charactersPerToken: perToken(promptCharacters, promptTokens),
    source: 'counted',
  };
}

/** Roles, markers and turn ends: about 8 tokens a message measured; 24 for one message where the markers are spelt out as text. */
export const TEMPLATE_TOKENS = 8;
const TEMPLATE_TOKENS_HIGH = 15;
const TEMPLATE_TOKENS_HIGH_ONCE = 10;

function templateOf(messages: number): { readonly low: number; readonly likely: number; readonly high: number } {
  if (messages === 0) return { low: 0, likely: 0, high: 0 };
  // A template may be empty, so nothing of it counts as certain.
  return {
    low: 0,
    likely: messages * TEMPLATE_TOKENS,
    high: TEMPLATE_TOKENS_HIGH_ONCE + messages * TEMPLATE_TOKENS_HIGH,
  };
}

/** Shown for an empty text, where nothing can be divided. */
const CHARACTERS_PER_TOKEN_START = 3.6;

function bandOf(count: TableCount, learned: LearnedRatio | null | undefined): Estimate {
  const ratio = usableRatio(learned, count.script);
  const { low, likely, high } = ratio === null ? count : withRatio(count, ratio);
  const likelyTokens = Math.max(Math.round(likely), Math.floor(low));
  return {
    low: tokens(Math.floor(low)),
    likely: tokens(likelyTokens),
    high: tokens(Math.max(Math.ceil(high), likelyTokens)),
    characters: characters(count.characters),
    charactersPerToken: perToken(count.characters, likelyTokens),
    source: ratio === null ? 'script-table' : 'learned',
  };
}

/**
 * What was learned moves the likely count and brings the pessimistic side as near as the samples agreed. `low` stays what the
 * table says: verdicts rest on it, and the next text of this script may be in another language.
 */
function withRatio(
  count: TableCount,
  ratio: ScriptRatio,
): { readonly low: number; readonly likely: number; readonly high: number } {
  const likely = count.likely * ratio.factor;
  const unsure = Math.max(0.1, ratio.spread * 1.5) + (ratio.weight < 5 ? 0.1 : 0);
  return { low: Math.min(likely, count.low), likely, high: likely * (1 + unsure) };
}

function perToken(units: number, tokenCount: number): number {
  return units > 0 && tokenCount > 0 ? units / tokenCount : CHARACTERS_PER_TOKEN_START;
}
