/**
 * Says what happened to a prompt, from everything that is known about one call (design, section 4.1). Pure: the same input gives
 * the same verdict. Exact sources come first, then the mechanism, thresholds last; "cannot be told" is an answer.
 */
import { tokens } from '../../contract/units.ts';
import {
  type Confidence,
  type Evidence,
  type TruncationKind,
  type TruncationVerdict,
  confidences,
} from '../../contract/verdicts.ts';
import { fittingNumCtx } from './fits.ts';
import { readEmbedding } from './from-embedding.ts';
import { readFields } from './from-fields.ts';
import { readContextField, readLogFacts } from './from-sources.ts';
import { type LogFacts, readLog } from './log-lines.ts';
import { nextStep } from './next-step.ts';
import { type PromptReading, cannotTell, evidence, isLoss } from './prompt-reading.ts';
import { type Refusal, readRefusal } from './refusal.ts';
import { readRender } from './render.ts';
import { type GenerationReading, readGeneration } from './shift.ts';
import { type Situation, situationOf } from './situation.ts';
import type { TruncationInput } from './types.ts';
import { count, number } from './wording.ts';

export function classifyTruncation(input: TruncationInput): TruncationVerdict {
  const { reply } = input;
  const facts =
    input.log === null || input.log.length === 0
      ? null
      : withDebug(readLog(input.log, { promptEvalCount: reply.promptEvalCount, needs: reply.needs }), input.logDebug);
  // The log names the trained context where it overruled the window that was asked for.
  const known = { ...input, trainedContext: input.trainedContext ?? facts?.clamped?.trained ?? null };
  const situation = situationOf(known, isCutExcluded(input, facts));
  const refusal = readRefusal(reply);
  if (refusal !== null) return refusedVerdict(situation, refusal, facts);
  const prompt = readPrompt(situation, facts);
  return assemble(situation, prompt, readGenerationOf(situation, prompt, facts), facts);
}

const withDebug = (facts: LogFacts | null, debug = false): LogFacts | null =>
  facts === null || facts.debug === debug ? facts : { ...facts, debug: facts.debug || debug };

/** Cuts are always logged, so the log of this very call without such a line excludes one. */
function isCutExcluded(input: TruncationInput, facts: LogFacts | null): boolean {
  return (
    facts !== null &&
    facts.cut === null &&
    facts.promptTokens !== null &&
    facts.promptTokens === input.reply.promptEvalCount
  );
}

function readPrompt(situation: Situation, facts: LogFacts | null): PromptReading {
  if (situation.input.route === 'embed') return readEmbedding(situation);
  const logged = facts === null ? null : readLogFacts(situation, facts);
  // The log knows of a cut even where the reply broke off before its counts.
  const nothing = nothingAsked(situation);
  if (nothing !== null) return logged ?? nothing;
  const byCount = readFields(situation);
  const exact = [logged, readContextField(situation, byCount), readRender(situation)].filter((one) => one !== null);
  const best = exact.find((one) => one.kinds.some(isLoss)) ?? exact[0];
  if (best === undefined) return byCount;
  // Weaker evidence stays in the list where it says the same.
  const others = [...exact.filter((one) => one !== best), byCount].filter((one) =>
    one.kinds.some((kind) => best.kinds.includes(kind)),
  );
  return { ...best, evidence: [...best.evidence, ...others.flatMap((one) => one.evidence)] };
}

/** The counts stand in the last line, which these never had. */
const BROKEN: Partial<Record<TruncationInput['reply']['ending'], string>> = {
  'error-line': 'The stream broke with an error before its counts came.',
  cut: 'The reply ended without a done line, so it has no counts.',
  aborted: 'The call was stopped before its counts came.',
  unreachable: 'The call did not reach the server.',
};

const CONNECTION_BROKE = 'The connection broke before its counts came.';

/** Replies that say why they have no count. */
function nothingAsked(situation: Situation): PromptReading | null {
  const { reply } = situation.input;
  if (reply.promptEvalCount !== null || reply.ending === 'not-sent') return null;
  if (reply.doneReason === 'load' || reply.doneReason === 'unload') {
    return cannotTell(
      null,
      'none',
      evidence('none', 'limits', `Nothing was asked: the model was only ${reply.doneReason}ed.`),
    );
  }
  const broken = reply.ending === 'aborted' && reply.abortedBy === null ? CONNECTION_BROKE : BROKEN[reply.ending];
  if (broken !== undefined) return cannotTell(null, 'none', evidence('none', 'limits', broken));
  if (reply.error !== null) {
    const status = reply.status === null ? '' : ` (status ${reply.status})`;
    return cannotTell(
      null,
      'none',
      evidence(
        'none',
        'error-text',
        `The call failed for another reason than its length${status}.`,
        reply.error.slice(0, 2_000),
      ),
    );
  }
  return null;
}

type Generation =
  | {
      readonly kind: 'shifted' | 'window-full';
      readonly confidence: Confidence;
      readonly shifts: number | null;
      readonly evidence: Evidence;
    }
  | { readonly kind: 'none'; readonly evidence: Evidence | null };

function readGenerationOf(situation: Situation, prompt: PromptReading, facts: LogFacts | null): Generation {
  if (facts !== null && facts.shifts !== null) {
    const text = `${count(facts.shifts.count, 'context shift')} while the answer was written, as the server log says.`;
    return {
      kind: 'shifted',
      confidence: 'exact',
      shifts: facts.shifts.count,
      evidence: evidence('exact', 'server-log', text, facts.shifts.raw),
    };
  }
  const { input, era, window } = situation;
  const { promptEvalCount, evalCount, doneReason } = input.reply;
  if (window === null || promptEvalCount === null || evalCount === null) return { kind: 'none', evidence: null };
  // Older servers hand the runner a full window after a cut: what the first tokens push out belongs to that.
  const isFilled = promptEvalCount >= window && (era === 'keeps-window' || prompt.kinds.includes('cut-to-window'));
  if (isFilled) return { kind: 'none', evidence: null };
  const { numKeep, numPredict, addsBos, shift } = input;
  return wordGeneration(
    readGeneration({
      window,
      era,
      promptTokens: promptEvalCount,
      evalTokens: evalCount,
      numKeep,
      numPredict,
      addsBos,
      shift,
      doneReason,
    }),
    promptEvalCount,
    evalCount,
  );
}

function wordGeneration(reading: GenerationReading, prompt: number, output: number): Generation {
  const sum = `${number(prompt)} + ${number(output)} = ${number(prompt + output)}`;
  if (reading.kind === 'shifted') {
    const often = reading.shifts === null ? 'at least one shift' : count(reading.shifts, 'shift');
    const gone = reading.discarded === null ? '' : `, ${number(reading.discarded)} tokens each`;
    const text = `${sum} tokens went through a window of ${number(reading.limit)}: ${often}${gone}.`;
    return {
      kind: 'shifted',
      confidence: 'certain',
      shifts: reading.shifts,
      evidence: evidence('certain', 'window-arithmetic', text),
    };
  }
  if (reading.kind === 'window-full') {
    const text = `${sum} is the whole window, and no cap of that size was set: the answer ended where the window did.`;
    return {
      kind: 'window-full',
      confidence: 'certain',
      shifts: 0,
      evidence: evidence('certain', 'window-arithmetic', text),
    };
  }
  if (reading.kind === 'over-without-shift') {
    const text = `${sum} is over ${number(reading.limit)} although shifting was off, so the window that ran was another one.`;
    return { kind: 'none', evidence: evidence('none', 'window-arithmetic', text) };
  }
  if (reading.kind === 'prompt-over') {
    const text = `The prompt of ${number(prompt)} alone is over ${number(reading.limit)}, so the window that ran was another one, or none is enforced.`;
    return { kind: 'none', evidence: evidence('none', 'window-arithmetic', text) };
  }
  return { kind: 'none', evidence: null };
}

function assemble(
  situation: Situation,
  prompt: PromptReading,
  generation: Generation,
  facts: LogFacts | null,
): TruncationVerdict {
  const losses = prompt.kinds.filter(isLoss);
  const later: TruncationKind[] = generation.kind === 'none' ? [] : [generation.kind];
  const open = prompt.kinds.includes('unknown') && prompt.confidence !== 'none' ? (['unknown'] as const) : [];
  const claimed: TruncationKind[] = [...losses, ...later];
  const kinds = claimed.length > 0 ? [...claimed, ...open] : [...prompt.kinds];
  const strengths = [
    ...(losses.length > 0 || claimed.length === 0 ? [prompt.confidence] : []),
    ...(generation.kind === 'none' ? [] : [generation.confidence]),
  ];
  const confidence = strengths.reduce(
    (weakest, one) => (rank(one) < rank(weakest) ? one : weakest),
    'exact' as Confidence,
  );
  const { input } = situation;
  const fits = fitsOf(situation, prompt, kinds);
  return {
    kinds,
    confidence,
    sent: orNull(prompt.sent),
    kept: orNull(prompt.kept),
    lost: orNull(prompt.lost),
    lostAtLeast: prompt.lostAtLeast,
    headKept: orNull(prompt.headKept),
    tailKept: orNull(prompt.tailKept),
    shifts:
      generation.kind === 'none'
        ? input.reply.evalCount === null || situation.window === null
          ? null
          : 0
        : generation.shifts,
    needs: null,
    has: null,
    evidence: sorted([
      ...prompt.evidence,
      ...(generation.evidence === null ? [] : [generation.evidence]),
      ...missing(situation, kinds, confidence, facts),
    ]),
    next: nextStep(situation, kinds, fits),
    fitsNumCtx: orNull(fits),
  };
}

function refusedVerdict(situation: Situation, refusal: Refusal, facts: LogFacts | null): TruncationVerdict {
  const { input } = situation;
  const logged = facts === null ? null : readLogFacts(situation, { ...facts, cut: null });
  const dropped = logged !== null && logged.kinds.includes('messages-dropped');
  const kinds: TruncationKind[] = dropped ? ['messages-dropped', 'refused'] : ['refused'];
  // After dropping, `needs` is what was left, so the whole is known only by estimate.
  const mayHaveDropped = situation.droppable > 0;
  const whole =
    refusal.needs === null || mayHaveDropped
      ? Math.max(refusal.needs ?? 0, input.messages.length === 0 ? 0 : input.estimate.high)
      : refusal.needs;
  const fits = whole === 0 ? null : fittingNumCtx(whole, reserve(input), input.trainedContext);
  return {
    kinds,
    confidence: refusal.confidence,
    sent: mayHaveDropped ? null : orNull(refusal.needs),
    kept: null,
    lost: null,
    lostAtLeast: dropped,
    headKept: null,
    tailKept: null,
    shifts: null,
    needs: orNull(refusal.needs),
    has: orNull(refusal.has),
    evidence: sorted([refusal.evidence, ...(dropped ? logged.evidence : [])]),
    next: nextStep(situation, kinds, fits),
    fitsNumCtx: orNull(fits),
  };
}

/** What would have held prompt and reply, where something went wrong with either. */
function fitsOf(situation: Situation, prompt: PromptReading, kinds: readonly TruncationKind[]): number | null {
  const { input } = situation;
  if (kinds.every((kind) => kind === 'intact')) return null;
  const whole =
    prompt.sent ??
    (input.messages.length === 0 || input.hasUncountedParts ? null : Math.max(input.estimate.high, prompt.kept ?? 0));
  if (whole === null) return null;
  const output = kinds.includes('shifted') ? Math.max(reserve(input), input.reply.evalCount ?? 0) : reserve(input);
  const fits = fittingNumCtx(whole, output, input.trainedContext);
  return fits !== null && kinds.includes('window-full') && situation.window !== null && fits <= situation.window
    ? null
    : fits;
}

function reserve(input: TruncationInput): number {
  return input.numPredict !== null && input.numPredict > 0 ? input.numPredict : 0;
}

/** Says which stronger evidence was looked for and is not there. */
function missing(
  situation: Situation,
  kinds: readonly TruncationKind[],
  confidence: Confidence,
  facts: LogFacts | null,
): readonly Evidence[] {
  if (
    confidence === 'exact' ||
    kinds.every((kind) => kind === 'intact') ||
    situation.input.reply.promptEvalCount === null
  )
    return [];
  if (situation.input.log === null) {
    return [
      evidence('none', 'server-log', 'The server log is not open to this console. With it the verdict would be exact.'),
    ];
  }
  if (facts !== null) return [];
  const text =
    situation.input.logShared === true
      ? 'The server log has lines that fit this call and another one, so they prove nothing.'
      : 'The server log has no lines of this call.';
  return [evidence('none', 'server-log', text)];
}

const rank = (confidence: Confidence): number => confidences.indexOf(confidence);
const orNull = (value: number | null): ReturnType<typeof tokens> | null =>
  value === null || !Number.isFinite(value) ? null : tokens(Math.max(0, value));

/** Strongest first; equals keep their order. */
function sorted(list: readonly Evidence[]): Evidence[] {
  return [...list].sort((a, b) => rank(b.confidence) - rank(a.confidence));
}
