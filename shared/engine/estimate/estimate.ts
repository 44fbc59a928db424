/**
 * Estimates of prompts in tokens, before anything is sent. An estimate is a band: `low` is what the text needs at least in any
 * common vocabulary, `high` is the pessimistic side that budgets and windows are checked against.
 */
import type { Message } from '../../contract/calls.ts';
import type { Estimate } from '../../contract/estimates.ts';
import { type Tokens, characters, tokens } from '../../contract/units.ts';
import { type TableCount, createTextCounter } from './estimator.ts';
import {
  type LearnedRatio,
  TEMPLATE_TOKENS,
  type TemplateRatio,
  unsureOf,
  usableRatio,
  usableTemplate,
} from './calibration.ts';
import type { Script } from './scripts.ts';

export { TEMPLATE_TOKENS, calibrationRows, learnRatio, learnedRange } from './calibration.ts';
export type { LearnedRatio, RatioSample, ScriptRatio } from './calibration.ts';
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
    estimate: (learned) => textBand(counter.count(), learned),
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
  const heaviest = counts.reduce<TableCount | null>(
    (most, one) => (most === null || one.likely > most.likely ? one : most),
    null,
  );
  const script = heaviest?.script ?? 'latin';
  const table = sumOf([...counts, templateOf(messages.length, null)]);
  // Each text by its own script: what is known of English says nothing about the Japanese message beside it.
  const total = sumOf([
    ...counts.map((one) => withRatio(one, learned)),
    templateOf(messages.length, usableTemplate(learned)),
  ]);
  return {
    total: bandOf(total, usableRatio(learned, script) === null ? 'script-table' : 'learned'),
    messages: counts.map((one) => textBand(one, learned)),
    templateTokens: tokens(messages.length * TEMPLATE_TOKENS),
    script,
    tableTokens: table.likely,
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

/** Roles, markers and turn ends: 24 for one message where the markers are spelt out as text. */
const TEMPLATE_TOKENS_HIGH = 15;
/** How far the next call may be over the most that was seen: a marker or a word more. */
const TEMPLATE_STRAY_TOKENS = 4;
const TEMPLATE_TOKENS_HIGH_ONCE = 10;

type Band = Pick<TableCount, 'low' | 'likely' | 'high' | 'characters'>;

/** A learned template moves the likely count; the pessimistic side only up: another route of this model may spell more out. */
function templateOf(messages: number, learned: TemplateRatio | null): Band {
  if (messages === 0) return { low: 0, likely: 0, high: 0, characters: 0 };
  const others = messages - 1;
  return {
    // A template may be empty, so nothing of it counts as certain.
    low: 0,
    likely: (learned?.likely ?? TEMPLATE_TOKENS) + others * TEMPLATE_TOKENS,
    high:
      Math.max(TEMPLATE_TOKENS_HIGH_ONCE + TEMPLATE_TOKENS_HIGH, (learned?.high ?? 0) + TEMPLATE_STRAY_TOKENS) +
      others * TEMPLATE_TOKENS_HIGH,
    characters: 0,
  };
}

function sumOf(parts: readonly Band[]): Band {
  return {
    low: parts.reduce((total, one) => total + one.low, 0),
    likely: parts.reduce((total, one) => total + one.likely, 0),
    high: parts.reduce((total, one) => total + one.high, 0),
    characters: parts.reduce((total, one) => total + one.characters, 0),
  };
}

/** Shown for an empty text, where nothing can be divided. */
const CHARACTERS_PER_TOKEN_START = 3.6;

function textBand(count: TableCount, learned: LearnedRatio | null | undefined): Estimate {
  return bandOf(withRatio(count, learned), usableRatio(learned, count.script) === null ? 'script-table' : 'learned');
}

function bandOf(band: Band, source: Estimate['source']): Estimate {
  const likelyTokens = Math.max(Math.round(band.likely), Math.floor(band.low));
  return {
    low: tokens(Math.floor(band.low)),
    likely: tokens(likelyTokens),
    high: tokens(Math.max(Math.ceil(band.high), likelyTokens)),
    characters: characters(band.characters),
    charactersPerToken: perToken(band.characters, likelyTokens),
    source,
  };
}

/**
 * What was learned moves the likely count and brings the pessimistic side as near as the samples agreed; one or two samples do
 * not yet narrow it fully. `low` stays what the table says: verdicts rest on it, and the next text of this script may be in
 * another language.
 */
function withRatio(count: TableCount, learned: LearnedRatio | null | undefined): Band {
  const ratio = usableRatio(learned, count.script);
  if (ratio === null) return count;
  const likely = count.likely * ratio.factor;
  const tableHigh = count.high * ratio.factor;
  const learnedHigh = likely * (1 + unsureOf(ratio));
  const tableShare = Math.max(0, 3 - ratio.weight) / 2;
  return {
    low: Math.min(likely, count.low),
    likely,
    high: Math.max(learnedHigh, likely + (tableHigh - likely) * Math.min(1, tableShare)),
    characters: count.characters,
  };
}

function perToken(units: number, tokenCount: number): number {
  return units > 0 && tokenCount > 0 ? units / tokenCount : CHARACTERS_PER_TOKEN_START;
}
