/**
 * What is learned about one model from calls known to be uncut: how many tokens it really counts for one token of the script
 * table, per script, and what its template adds. A median over the newest different samples: one odd text moves it by a place,
 * not by its size. The result depends on the samples and their order alone.
 */
import type { CalibrationRow, Estimate } from '../../contract/estimates.ts';
import { type Script, scripts } from './scripts.ts';

/**
 * factor: counted over table, the median. spread: how far samples strayed from it, as a share of it. weight: how many different
 * samples it rests on, 1 to `SAMPLES_MAX`. recent: these samples, oldest first. seen: all that ever taught.
 */
export interface ScriptRatio {
  readonly factor: number;
  readonly spread: number;
  readonly weight: number;
  readonly seen?: number;
  readonly recent?: readonly CountedText[];
}

/** text: what the table says for the text without template. characters: UTF-16 units, null where nobody told. */
export interface CountedText {
  readonly text: number;
  readonly messages: number;
  readonly counted: number;
  readonly characters: number | null;
}

/** Tokens that one message gets around its text, system texts of the model included: the median and the most of `recent`. */
export interface TemplateRatio {
  readonly likely: number;
  readonly high: number;
  readonly recent: readonly number[];
}

/** One model's ratios. Plain JSON, so that it can be stored and sent to a worker. */
export interface LearnedRatio {
  readonly scripts: Readonly<Partial<Record<Script, ScriptRatio>>>;
  readonly template?: TemplateRatio;
}

/**
 * One uncut call: what the table said for the whole prompt (template included), and what the server counted. messages: how many
 * were sent; only where it is given can short calls teach the template. characters: of all texts together, UTF-16 units.
 */
export interface RatioSample {
  readonly script: Script;
  readonly tableTokens: number;
  readonly countedTokens: number;
  readonly messages?: number;
  readonly characters?: number;
}

/** Tokens of template a message: about 8 measured, before anything is learned. */
export const TEMPLATE_TOKENS = 8;

/** No prompt is larger; beyond it a count is a fault, and rounding would lose it. */
const SAMPLE_TOKENS_MAX = 1_000_000_000;

/** Returns `previous` itself where the sample teaches nothing: seen before, too short, or further off than any vocabulary can be. */
export function learnRatio(previous: LearnedRatio | null, sample: RatioSample): LearnedRatio {
  const before = previous ?? { scripts: {} };
  const { messages = 1, countedTokens: counted } = sample;
  if (![sample.tableTokens, counted, messages].every((value) => value >= 0 && value <= SAMPLE_TOKENS_MAX))
    return before;
  const text = Math.max(0, sample.tableTokens - TEMPLATE_TOKENS * messages);
  if (sample.messages === 1 && text <= TEMPLATE_TEXT_MAX) return withTemplate(before, counted - text);
  if (counted < COUNTED_TOKENS_MIN || text < TEXT_TOKENS_MIN) return before;
  if (!isPlausible(counted / sample.tableTokens)) return before;
  const added: CountedText = { text: round(text), messages, counted, characters: sample.characters ?? null };
  const old = before.scripts[sample.script];
  const recent = recentOf(old);
  // A repeat agrees with itself: it would narrow the band without saying anything about another text.
  if (recent.some((one) => one.text === added.text && one.counted === counted && one.messages === messages))
    return before;
  const ratio = ratioOf([...recent, added].slice(-SAMPLES_MAX), (old?.seen ?? recent.length) + 1, before.template);
  return { ...before, scripts: { ...before.scripts, [sample.script]: ratio } };
}

/** null while too little is known to use it. */
export function usableRatio(learned: LearnedRatio | null | undefined, script: Script): ScriptRatio | null {
  const ratio = learned?.scripts[script];
  if (ratio === undefined || !isPlausible(ratio.factor) || !(ratio.weight >= 1)) return null;
  return ratio.spread >= 0 && Number.isFinite(ratio.spread) ? ratio : null;
}

/** Likely tokens of template around the first message, and the most that was seen; null while nothing is known. */
export function usableTemplate(learned: LearnedRatio | null | undefined): TemplateRatio | null {
  const template = learned?.template;
  if (template === undefined || !isTemplate(template.likely) || !isTemplate(template.high)) return null;
  return template.likely <= template.high ? template : null;
}

/**
 * How far another text of this script may lie from the median, as a share of it. Never under a tenth: the next one may be in
 * another language. Few samples say little about how far the next one strays.
 */
export function unsureOf(ratio: Pick<ScriptRatio, 'spread' | 'weight'>): number {
  const few = (Math.max(0, 5 - ratio.weight) / 4) * 0.1;
  return Math.max(0.1 + few, ratio.spread * (1 + 2 / ratio.weight));
}

/**
 * Both sides as near as the samples agree, to show beside an estimate; null while nothing is learned for this script. The `low`
 * of the estimate itself stays where the table has it: verdicts rest on it.
 */
export function learnedRange(
  estimate: Estimate,
  script: Script,
  learned: LearnedRatio | null,
): { readonly low: number; readonly high: number } | null {
  const ratio = usableRatio(learned, script);
  if (ratio === null) return null;
  const text = estimate.likely - TEMPLATE_UNSURE_TOKENS;
  const low = Math.max(estimate.low, Math.floor(text / (1 + unsureOf(ratio))));
  return { low, high: Math.max(estimate.high, low) };
}

/** What was learned, as a table: characters per token with their band, sorted by model and script. */
export function calibrationRows(
  models: Iterable<{ readonly model: string; readonly learned: LearnedRatio }>,
): readonly CalibrationRow[] {
  const rows: CalibrationRow[] = [];
  for (const { model, learned } of models) {
    for (const script of scripts) {
      const ratio = usableRatio(learned, script);
      if (ratio !== null) rows.push(rowOf(model, script, ratio, learned.template));
    }
  }
  return rows.sort((a, b) => (a.model === b.model ? compare(a.script, b.script) : compare(a.model, b.model)));
}

/** Different samples a script rests on; older ones make room, so a changed model is learned anew. */
export const SAMPLES_MAX = 20;
/** From here on the farthest sample on each side is left out of the band. */
const SAMPLES_FOR_OUTLIERS = 12;
/** Below these the template outweighs the text and the sample says nothing about the text. */
const COUNTED_TOKENS_MIN = 64;
const TEXT_TOKENS_MIN = 48;
/** Up to here a wrong factor is small beside the template. */
const TEMPLATE_TEXT_MAX = 16;
/** A model may bring a system text of its own. */
const TEMPLATE_TOKENS_MAX = 4_096;
/** What a template may take more or less than the likely one, measured: 1 where there is none, 24 where markers are spelt out. */
const TEMPLATE_UNSURE_TOKENS = 24;
const FACTOR_MIN = 0.25;
const FACTOR_MAX = 4;

function withTemplate(before: LearnedRatio, residual: number): LearnedRatio {
  const added = Math.max(0, Math.round(residual));
  if (!isTemplate(added)) return before;
  const stored = before.template?.recent;
  const recent = [...(Array.isArray(stored) ? stored.filter(isTemplate) : []), added].slice(-SAMPLES_MAX);
  const template: TemplateRatio = { likely: middleOf(recent), high: Math.max(...recent), recent };
  if (template.likely === before.template?.likely) return { ...before, template };
  // The samples so far are read again with what is now known of the template.
  const renewed: Partial<Record<Script, ScriptRatio>> = {};
  for (const script of scripts) {
    const ratio = before.scripts[script];
    if (ratio === undefined) continue;
    const texts = recentOf(ratio);
    renewed[script] = texts.length === 0 ? ratio : ratioOf(texts, ratio.seen ?? texts.length, template);
  }
  return { scripts: renewed, template };
}

function ratioOf(recent: readonly CountedText[], seen: number, template: TemplateRatio | undefined): ScriptRatio {
  const factors = recent.map((one) => clamp(textTokens(one, template) / one.text));
  return { ...medianOf(factors), seen, recent };
}

/** What the server counted for the text alone. */
function textTokens(one: CountedText, template: TemplateRatio | undefined): number {
  const first = usableTemplate({ scripts: {}, ...(template === undefined ? {} : { template }) })?.likely;
  const around = one.messages === 0 ? 0 : (first ?? TEMPLATE_TOKENS) + TEMPLATE_TOKENS * (one.messages - 1);
  return Math.max(one.counted - around, one.counted * FACTOR_MIN);
}

/** A median with how far the samples stray from it; needs at least one. */
function medianOf(values: readonly number[]): Pick<ScriptRatio, 'factor' | 'spread' | 'weight'> {
  const sorted = [...values].sort((a, b) => a - b);
  const median = middleOf(sorted);
  const skip = sorted.length >= SAMPLES_FOR_OUTLIERS ? 1 : 0;
  const least = sorted[skip] ?? median;
  const most = sorted[sorted.length - 1 - skip] ?? median;
  const spread = Math.max(most / median - 1, 1 - least / median, 0);
  return { factor: round(median), spread: round(spread), weight: sorted.length };
}

function middleOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? upper;
  return (lower + upper) / 2;
}

/** Stored samples may be damaged: what is not one is left out. A ratio without samples stands as one of them. */
function recentOf(ratio: ScriptRatio | undefined): readonly CountedText[] {
  if (ratio === undefined) return [];
  if (Array.isArray(ratio.recent)) return ratio.recent.filter(isCountedText).slice(-SAMPLES_MAX);
  if (!isPlausible(ratio.factor)) return [];
  const text = 1_000;
  return [{ text, messages: 0, counted: Math.round(ratio.factor * text), characters: null }];
}

function isCountedText(value: unknown): value is CountedText {
  if (typeof value !== 'object' || value === null) return false;
  const { text, messages, counted } = value as Partial<CountedText>;
  return [text, messages, counted].every((one) => Number.isFinite(one) && Number(one) >= 0) && Number(text) > 0;
}

function rowOf(model: string, script: Script, ratio: ScriptRatio, template: TemplateRatio | undefined): CalibrationRow {
  const perToken = (one: CountedText): number => (one.characters ?? 0) / textTokens(one, template);
  // The rarest letters take a few tokens each; what counts more than twenty for one is no text that a row could describe.
  const told = recentOf(ratio).filter((one) => perToken(one) >= CHARACTERS_PER_TOKEN_MIN);
  const base = { model, script, samples: ratio.weight, samplesSeen: ratio.seen ?? ratio.weight, factor: ratio.factor };
  if (told.length === 0) return { ...base, median: null, low: null, high: null };
  const found = medianOf(told.map(perToken));
  const unsure = unsureOf(found);
  return {
    ...base,
    median: found.factor,
    // A band may be wide, it never reaches nothing.
    low: Math.max(1 / 10_000, round(found.factor / (1 + unsure))),
    high: round(found.factor * (1 + unsure)),
  };
}

const CHARACTERS_PER_TOKEN_MIN = 0.05;
const isPlausible = (factor: number): boolean => factor >= FACTOR_MIN && factor <= FACTOR_MAX;
const isTemplate = (value: number): boolean => Number.isFinite(value) && value >= 0 && value <= TEMPLATE_TOKENS_MAX;
const clamp = (factor: number): number => Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, factor));
/** Four decimals: short in storage, and the same everywhere. */
const round = (value: number): number => Math.round(value * 10_000) / 10_000;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
