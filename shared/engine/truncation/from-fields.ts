/**
 * What the reply's own fields prove, by the mechanism: a prompt can lose whole messages or be cut to one exact size, nothing
 * else. So a count that is neither is a whole prompt, whatever a ratio of characters to tokens says. Thresholds come last.
 */
import { type CutSize, countsWholePrompt, cutSizes, cutsAbove } from './cut-size.ts';
import { readHistory } from './from-history.ts';
import { type PromptReading, cannotTell, evidence, intact, nothingKnown } from './prompt-reading.ts';
import { suspicion, withFullness } from './signs.ts';
import { type Situation, keptTails, possibleCuts, strangeRole } from './situation.ts';
import { count, number } from './wording.ts';

export function readFields(situation: Situation): PromptReading {
  const { input, window } = situation;
  const counted = input.reply.promptEvalCount;
  if (counted === null)
    return cannotTell(
      null,
      'none',
      evidence('none', 'limits', 'The reply has no prompt count, so nothing can be said about the prompt.'),
    );
  if (counted === 0 && input.messages.some((message) => message.characters > 0)) {
    const text = 'The reply says that 0 tokens were evaluated although a text was sent, so its count says nothing.';
    return cannotTell(null, 'none', evidence('none', 'limits', text));
  }
  if (situation.refusesInstead) {
    return intact(
      counted,
      'certain',
      evidence('certain', 'limits', 'truncate was off: a prompt over the window would have been refused, not cut.'),
    );
  }
  if (window === null) return readWithoutWindow(situation, counted);
  const cut = matchingCut(situation, counted);
  if (cut !== null) return readCutSize(situation, counted, window, cut);
  return situation.droppable > 0 ? readHistory(situation, counted, window) : readSingle(situation, counted, window);
}

/** The cut that left exactly this count. */
function matchingCut(situation: Situation, counted: number): CutSize | null {
  return situation.cutExcluded ? null : (situation.cuts.find((one) => one.size === counted) ?? null);
}

/** System messages and the last message are never dropped: where they alone need more than was counted, tokens were cut. */
function alwaysKeptLow(situation: Situation): number {
  if (situation.droppable === 0) return situation.low;
  return keptTails(situation.input.messages, situation.input.hasUncountedParts).at(-1)?.low ?? 0;
}

/**
 * Shares of the window that the likely count must reach before a cut is said where the band alone leaves chance open. A whole
 * prompt of half the window would have to be estimated at nearly three times its size to be called cut for certain.
 */
const FAR_BELOW = { certainFrom: 1.4, cutFrom: 1.1 };
/** The cut leaves the window itself: a whole prompt may well have that size. */
const AT_THE_WINDOW = { certainFrom: 2.5, cutFrom: 2.2 };
/** The same where the band is narrow below, as it is for prose: there the likely count is not far off. */
const AT_THE_WINDOW_PROSE = { certainFrom: 1.15, cutFrom: 1.08 };
const NARROW = 0.58;
/** No prompt of a chat goes into so few tokens, so the count speaks sooner. */
const TINY = { certainFrom: 1.7, cutFrom: 1.5 };
const TINY_WINDOW_MAX = 16;
/** A likely count this near to the reported one speaks for a whole prompt. */
const NEAR = 0.2;

function readCutSize(situation: Situation, counted: number, window: number, cut: CutSize): PromptReading {
  const { high, input } = situation;
  const edge = cutsAbove(cut.era, window);
  const doubt = doubtOf(situation, window, cut);
  const { formula } = cut;
  if (input.messages.length === 0) {
    return cannotTell(
      counted,
      'possible',
      evidence('possible', 'cut-size', `${formula}. Without the text that was sent, chance cannot be ruled out.`),
    );
  }
  if (high <= edge) {
    const text = `${number(counted)} happens to be a cut size for ${number(window)}, but what was sent needs at most ${number(high)} tokens and fits.`;
    return intact(counted, 'certain', evidence('certain', 'cut-size', text));
  }
  // A template may be empty, which matters where windows are tiny: half of it is counted.
  const texts = input.messages.reduce((sum, message) => sum + message.estimate.likely, 0);
  const likely = Math.round((situation.likely + Math.min(texts, situation.likely)) / 2);
  const least = alwaysKeptLow(situation);
  const proven = countsWholePrompt(input.serverVersion) ? least > counted : least > edge;
  if (proven) return cutReading(situation, counted, window, cut, 'certain');
  if (situation.droppable > 0) return readCutOfHistory(situation, counted, window, cut);
  if (likely >= doubt.certainFrom * window) return cutReading(situation, counted, window, cut, 'certain');
  // From here on the band leaves both open: the count by chance, or the cut.
  if (likely >= doubt.cutFrom * window) return cutReading(situation, counted, window, cut, 'likely');
  if (Math.abs(likely - counted) <= NEAR * counted && doubt === FAR_BELOW) {
    const text = `${number(counted)} happens to be a cut size for ${number(window)}, but about ${number(situation.likely)} tokens were sent.`;
    return intact(counted, 'likely', evidence('likely', 'cut-size', text));
  }
  const text = `${formula}. About ${number(situation.likely)} tokens were sent, so chance cannot be ruled out.`;
  return cannotTell(counted, 'possible', evidence('possible', 'cut-size', text));
}

/**
 * What is left after messages were dropped may have this size by chance, and so may a whole conversation. The last message alone
 * need not be over the window for a cut: messages are counted without the begin token, the cut with it.
 */
function readCutOfHistory(situation: Situation, counted: number, window: number, cut: CutSize): PromptReading {
  const lastTail = keptTails(situation.input.messages, situation.input.hasUncountedParts).at(-1);
  if (lastTail !== undefined && lastTail.high < cutsAbove(cut.era, window)) {
    const reading = readHistory(situation, counted, window);
    return reading.confidence === 'certain' ? { ...reading, confidence: 'likely' } : reading;
  }
  const text = `${cut.formula}. The last message alone may be over the window, so chance cannot be ruled out.`;
  return cannotTell(counted, 'possible', evidence('possible', 'cut-size', text));
}

function doubtOf({ low, likely }: Situation, window: number, cut: CutSize): typeof FAR_BELOW {
  if (window <= TINY_WINDOW_MAX) return TINY;
  if (cut.size < 0.75 * window) return FAR_BELOW;
  return low >= NARROW * likely ? AT_THE_WINDOW_PROSE : AT_THE_WINDOW;
}

function cutReading(
  situation: Situation,
  counted: number,
  window: number,
  cut: CutSize,
  confidence: 'certain' | 'likely',
): PromptReading {
  const { input, low, likely } = situation;
  // A cut above one whole window means that every message that could go had gone before.
  const dropped = situation.droppable > 0 && low > window;
  const sent = input.estimate.source === 'counted' && !dropped ? likely : null;
  return {
    ...nothingKnown,
    kinds: dropped ? ['messages-dropped', cut.kind] : [cut.kind],
    confidence,
    sent,
    kept: counted,
    lost: sent === null ? null : Math.max(0, sent - counted),
    lostAtLeast: dropped,
    headKept: cut.headTokens,
    tailKept: cut.headTokens === null ? null : counted - cut.headTokens,
    evidence: [evidence(confidence, 'cut-size', cut.formula), ...suspicion(situation, counted)],
  };
}

/** One message, or nothing else that could go: it was cut to a known size, or it is whole. */
function readSingle(situation: Situation, counted: number, window: number): PromptReading {
  const { input, low, likely } = situation;
  if (input.messages.length === 0) {
    const text = `${number(counted)} is no cut size for ${number(window)}. Whether messages were dropped cannot be told without the request.`;
    return cannotTell(counted, 'none', evidence('none', 'limits', text));
  }
  const role = strangeRole(input);
  if (role !== null && counted < Math.max(low, likely * 0.6)) {
    const text = `${count(counted, 'token')} for about ${number(likely)} sent: no template knows the role "${role.slice(0, 40)}", so its message may have vanished.`;
    return cannotTell(counted, 'likely', evidence('likely', 'limits', text));
  }
  if (!countsWholePrompt(input.serverVersion)) {
    return cannotTell(
      null,
      'possible',
      evidence(
        'possible',
        'limits',
        'Server 0.30.0 leaves cached tokens out of its count, so a low count says nothing.',
      ),
    );
  }
  const cut = cutOnNativePath(situation, counted, window) ?? cutByAnotherNumKeep(situation, counted, window);
  if (cut !== null) return cut;
  const sizes = [...new Set(situation.cuts.map((cut) => number(cut.size)))].slice(0, 4);
  const why = situation.cutExcluded
    ? `The log excludes a token cut, and no message could be dropped: ${number(counted)} tokens went in whole.`
    : input.estimate.high < window && counted <= input.estimate.high
      ? `The text is at most about ${number(input.estimate.high)} tokens, so it fits into ${number(window)}: ${number(counted)} went in.`
      : sizes.length === 0
        ? `A prompt over ${number(window)} would have been refused here, never cut: ${number(counted)} tokens went in whole.`
        : `In ${number(window)} this prompt could only be cut to ${sizes.join(' or ')} tokens: ${number(counted)} is none of these, so nothing was lost.`;
  const confidence = counted >= low ? 'certain' : 'likely';
  return withFullness(counted, window, intact(counted, confidence, evidence(confidence, 'cut-size', why)));
}

/** The path is read from the model's description, and a setting of the server can overrule that: the count knows better. */
function cutOnNativePath(situation: Situation, counted: number, window: number): PromptReading | null {
  const { input, low } = situation;
  if (input.promptPath !== 'native' || situation.cutExcluded || counted >= low) return null;
  const cut = possibleCuts({ ...input, promptPath: 'rendered' }, window).find((one) => one.size === counted);
  return cut === undefined ? null : cutReading(situation, counted, window, cut, 'likely');
}

/** A Modelfile can set num_keep without the request saying so: then the size itself tells how much was kept. */
function cutByAnotherNumKeep(situation: Situation, counted: number, window: number): PromptReading | null {
  const { input, low } = situation;
  const keep = 2 * counted - window;
  const isPossible = input.numKeep === null && keep >= 0 && counted < window && !situation.cutExcluded;
  if (counted >= low || !isPossible || !situation.cuts.some((cut) => cut.era === 'keeps-half')) return null;
  const text = `${number(counted)} is the cut size for ${number(window)} with a num_keep of about ${number(keep)}, and at least ${number(low)} tokens were sent.`;
  const why = [evidence('likely', 'cut-size', text), ...suspicion(situation, counted)];
  return { ...nothingKnown, kinds: ['halved'], confidence: 'likely', kept: counted, evidence: why };
}

/** Usual windows, for a count whose window is not known. */
const USUAL_WINDOWS = [2_048, 4_096, 8_192, 16_384, 32_768, 40_960, 65_536, 131_072, 262_144];

function readWithoutWindow(situation: Situation, counted: number): PromptReading {
  const { input, low, likely, high } = situation;
  if (input.messages.length === 0)
    return cannotTell(
      counted,
      'none',
      evidence('none', 'limits', 'Neither the window nor the text that was sent is known.'),
    );
  if (counted >= low && counted <= high && counted >= likely * 0.7) {
    return intact(
      counted,
      'likely',
      evidence('likely', 'estimate', `${number(counted)} tokens were counted where about ${number(likely)} were sent.`),
    );
  }
  if (counted >= low)
    return cannotTell(
      counted,
      'possible',
      evidence(
        'possible',
        'estimate',
        `${number(counted)} tokens were counted where about ${number(likely)} were sent, and the window is not known.`,
      ),
    );
  for (const window of USUAL_WINDOWS) {
    const cut = cutSizes({
      window,
      serverVersion: input.serverVersion,
      numKeep: input.numKeep,
      addsBos: input.addsBos,
    }).find((one) => one.size === counted);
    if (cut === undefined || input.hasImages === true) continue;
    const text = `${cut.formula}, a usual window, and at least ${number(low)} tokens were sent.`;
    return {
      ...nothingKnown,
      kinds: [cut.kind],
      confidence: 'likely',
      kept: counted,
      headKept: cut.headTokens,
      evidence: [evidence('likely', 'cut-size', text), ...suspicion(situation, counted)],
    };
  }
  const text = `${number(counted)} tokens were counted where at least ${number(low)} were sent: something was lost, and without the window it cannot be told what.`;
  return cannotTell(counted, 'likely', evidence('likely', 'estimate', text));
}
