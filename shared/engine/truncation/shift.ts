/**
 * What happened while the answer was written. The runner holds prompt and answer in one window, padded to the next multiple of
 * 256 from 0.30 on. When it is full, the older half behind num_keep vanishes without a word (a shift), or generation ends there.
 */
import { NUM_KEEP_DEFAULT, type Era } from './cut-size.ts';

export const PADDING = 256;

export function paddedWindow(window: number): number {
  return Math.ceil(window / PADDING) * PADDING;
}

export interface GenerationQuestion {
  readonly window: number;
  readonly era: Era | null;
  readonly promptTokens: number;
  readonly evalTokens: number;
  readonly numKeep: number | null;
  readonly numPredict: number | null;
  readonly addsBos: boolean | null;
  readonly shift: boolean | null;
  readonly doneReason: string | null;
}

/**
 * limit: where the runner's window ends. shifts: null where the count is not known, although at least one happened.
 * `over-without-shift`: more tokens than the window although shifting was off, so the window was another.
 * `prompt-over`: the prompt alone is over the window, which no runner with a window admits: it was another, or there is none.
 */
export type GenerationReading =
  | { readonly kind: 'within'; readonly limit: number }
  | {
      readonly kind: 'shifted';
      readonly limit: number;
      readonly shifts: number | null;
      readonly discarded: number | null;
    }
  | { readonly kind: 'window-full'; readonly limit: number }
  | { readonly kind: 'over-without-shift' | 'prompt-over'; readonly limit: number };

export function readGeneration(question: GenerationQuestion): GenerationReading {
  const limit = question.era === 'keeps-window' ? question.window : paddedWindow(question.window);
  const used = question.promptTokens + question.evalTokens;
  if (question.promptTokens > limit) return { kind: 'prompt-over', limit };
  if (used > limit) {
    if (question.shift === false) return { kind: 'over-without-shift', limit };
    return { kind: 'shifted', limit, ...countShifts(question, limit) };
  }
  if (endsAt(question, limit) || (question.era === null && endsAt(question, question.window))) {
    return { kind: 'window-full', limit: used };
  }
  return { kind: 'within', limit };
}

/** The window ended it only where the cap did not. */
function endsAt(question: GenerationQuestion, limit: number): boolean {
  const { promptTokens, evalTokens, doneReason, numPredict } = question;
  return promptTokens + evalTokens === limit && doneReason === 'length' && evalTokens !== numPredict;
}

/** Known for the runners from 0.30 on. Every shift discards the same number of tokens. */
function countShifts(
  question: GenerationQuestion,
  limit: number,
): { readonly shifts: number | null; readonly discarded: number | null } {
  if (question.era === 'keeps-window') return { shifts: null, discarded: null };
  const readings = (question.addsBos === null ? [true, false] : [question.addsBos]).map((begin) => {
    const discarded = discardedAtOnce(limit, question.numKeep ?? NUM_KEEP_DEFAULT, begin);
    return { discarded, shifts: 1 + Math.floor((question.promptTokens + question.evalTokens - 1 - limit) / discarded) };
  });
  const [first, second = first] = readings;
  if (first === undefined || second === undefined) return { shifts: null, discarded: null };
  return {
    shifts: first.shifts === second.shifts ? first.shifts : null,
    discarded: first.discarded === second.discarded ? first.discarded : null,
  };
}

/** A shift fires with one place left: of `limit - 1` tokens it keeps the head and drops half of the rest. */
export function discardedAtOnce(limit: number, numKeep: number, addsBos: boolean): number {
  const wanted = numKeep < 0 ? Number.MAX_SAFE_INTEGER : numKeep + (addsBos ? 1 : 0);
  const keep = Math.max(0, Math.min(wanted, limit - 4));
  return Math.max(1, Math.floor((limit - 1 - keep) / 2));
}
