/**
 * What is learned about one model: how many tokens it really counts for one token of the script table, per script. Only calls
 * known to be uncut may teach. The result depends on the samples and their order alone.
 */
import type { Script } from './scripts.ts';

/** `factor`: counted over table. `spread`: how far samples strayed from it, as a share of it. `weight`: 1 to `WEIGHT_MAX`. */
export interface ScriptRatio {
  readonly factor: number;
  readonly spread: number;
  readonly weight: number;
}

/** One model's ratios. Plain JSON, so that it can be stored and sent to a worker. */
export interface LearnedRatio {
  readonly scripts: Readonly<Partial<Record<Script, ScriptRatio>>>;
}

/** One uncut call: what the table said for the whole prompt (template included), and what the server counted. */
export interface RatioSample {
  readonly script: Script;
  readonly tableTokens: number;
  readonly countedTokens: number;
}

const WEIGHT_MAX = 20;
/** Below this the template outweighs the text and the sample says nothing about the text. */
const COUNTED_TOKENS_MIN = 64;
const FACTOR_MIN = 0.25;
const FACTOR_MAX = 4;

/** Returns `previous` itself where the sample teaches nothing: too short, or further off than any vocabulary can be. */
export function learnRatio(previous: LearnedRatio | null, sample: RatioSample): LearnedRatio {
  const before = previous ?? { scripts: {} };
  if (!Number.isFinite(sample.countedTokens) || !Number.isFinite(sample.tableTokens)) return before;
  if (sample.countedTokens < COUNTED_TOKENS_MIN || sample.tableTokens < COUNTED_TOKENS_MIN / FACTOR_MAX) return before;
  const factor = sample.countedTokens / sample.tableTokens;
  if (factor < FACTOR_MIN || factor > FACTOR_MAX) return before;
  return { scripts: { ...before.scripts, [sample.script]: merge(before.scripts[sample.script], factor) } };
}

/** null while too little is known to use it. */
export function usableRatio(learned: LearnedRatio | null | undefined, script: Script): ScriptRatio | null {
  const ratio = learned?.scripts[script];
  if (ratio === undefined || !(ratio.factor >= FACTOR_MIN && ratio.factor <= FACTOR_MAX) || !(ratio.weight >= 1))
    return null;
  return ratio;
}

function merge(old: ScriptRatio | undefined, factor: number): ScriptRatio {
  if (old === undefined) return { factor, spread: 0, weight: 1 };
  const weight = Math.min(WEIGHT_MAX, old.weight + 1);
  const merged = old.factor + (factor - old.factor) / weight;
  const strayed = Math.abs(factor - merged) / merged;
  // The widest stray is remembered, and forgotten slowly.
  return { factor: merged, spread: Math.max(strayed, old.spread * 0.95), weight };
}
