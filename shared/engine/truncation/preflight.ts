/** What would happen to a prompt in a window, before it is sent (design, section 4, step 2). By mechanism, on estimates. */
import type { Message, Policy } from '../../contract/calls.ts';
import type { Estimate, Preflight } from '../../contract/estimates.ts';
import { bytes, tokens } from '../../contract/units.ts';
import {
  type LearnedRatio,
  type MessagesEstimate,
  TEMPLATE_TOKENS,
  countedEstimate,
  estimateMessages,
} from '../estimate/estimate.ts';
import { type Era, cutSize, cutsAbove, eraOf, NUM_KEEP_DEFAULT } from './cut-size.ts';
import { fittingNumCtx } from './fits.ts';
import { type Cut, lostRanges } from './lost-ranges.ts';
import { type PreflightReading, sentenceOf } from './preflight-words.ts';
import { paddedWindow } from './shift.ts';

/**
 * Everything optional or null may be missing: then less is said. sizes: what `estimateMessages` said of these messages, to spare
 * a second pass. counted: prompt tokens the server counted in an earlier, uncut call of the same text.
 */
export interface PreflightInput {
  readonly messages: readonly Message[];
  readonly sizes?: MessagesEstimate | null;
  readonly learned?: LearnedRatio | null;
  readonly counted?: number | null;
  readonly route: 'chat' | 'generate';
  readonly promptPath: 'rendered' | 'native' | 'unknown';
  readonly serverVersion: string | null;
  readonly addsBos: boolean | null;
  readonly window: number | null;
  readonly windowSource: Preflight['windowSource'];
  readonly trained: number | null;
  readonly numPredict: number;
  readonly numKeep: number | null;
  readonly policy: Policy;
  /** Bytes the model took at windows it was seen running in, for the likely memory at the window that fits. */
  readonly memorySeen?: readonly { readonly window: number; readonly bytes: number }[];
}

export function preflight(input: PreflightInput): Preflight {
  const sizes = input.sizes ?? estimateMessages(input.messages, input.learned);
  const estimate = estimateOf(input, sizes);
  const fits = fittingNumCtx(estimate.high, input.numPredict, input.trained);
  const outcome = outcomeOf(input, estimate);
  const loss =
    outcome === 'does-not-fit' && input.window !== null
      ? lossOf(input, costsOf(sizes, estimate), input.window)
      : NOTHING_LOST;
  const expected: Preflight['expected'] = outcome === 'unknown' ? 'unknown' : loss.expected;
  const reading: PreflightReading = { ...loss, outcome, expected, estimate };
  return {
    estimate,
    parts: partsOf(input.messages, costsOf(sizes, estimate), estimate),
    window: input.window === null ? null : tokens(input.window),
    windowSource: input.windowSource,
    trained: input.trained === null ? null : tokens(input.trained),
    replyReserve: tokens(input.numPredict),
    outcome,
    expected,
    kept: expected === 'intact' ? estimate.likely : loss.kept === null ? null : tokens(loss.kept),
    lost: expected === 'intact' ? tokens(0) : expected === 'unknown' || loss.lost === null ? null : tokens(loss.lost),
    headKept: loss.cut === null ? null : tokens(loss.cut.head),
    tailKept: loss.cut === null ? null : tokens(loss.cut.tail),
    lostRanges:
      expected === 'intact' || expected === 'unknown' || expected === 'refused'
        ? []
        : lostRanges(input.messages, loss.keptMessages, loss.cut),
    fitsNumCtx: fits === null ? null : tokens(fits),
    fitsMemoryBytes: fits === null ? null : memoryAt(input.memorySeen ?? [], fits),
    sentence: sentenceOf(reading, input),
  };
}

/** What the server would do. keptMessages: indices that stay, in order; cut: what stays at both ends of what they render to. */
export interface Loss {
  readonly expected: Exclude<Preflight['expected'], 'unknown'>;
  readonly kept: number | null;
  readonly lost: number | null;
  readonly keptMessages: readonly number[];
  readonly cut: Cut | null;
}

const NOTHING_LOST: Loss = { expected: 'intact', kept: null, lost: 0, keptMessages: [], cut: null };

function estimateOf(input: PreflightInput, sizes: MessagesEstimate): Estimate {
  return input.counted === null || input.counted === undefined
    ? sizes.total
    : countedEstimate(input.counted, sizes.total.characters);
}

function outcomeOf(input: PreflightInput, estimate: Estimate): Preflight['outcome'] {
  const { window } = input;
  if (window === null) return 'unknown';
  const most = promptMost(input, window);
  if (estimate.likely > most) return 'does-not-fit';
  if (estimate.high > most) return 'may-not-fit';
  const end = eraOf(input.serverVersion) === 'keeps-window' ? window : paddedWindow(window);
  return estimate.high + input.numPredict > end ? 'reply-may-not-fit' : 'fits';
}

/** The longest prompt that goes in whole. One native message may use the padding, since only the runner checks it. */
function promptMost(input: PreflightInput, window: number): number {
  if (isNative(input))
    return input.messages.length === 1 ? paddedWindow(window) - 1 : Math.min(window, paddedWindow(window) - 1);
  return cutsAbove(era(input), window);
}

/** Where the version is not known, the newest servers are assumed: those are installed today. */
function era(input: PreflightInput): Era {
  return eraOf(input.serverVersion) ?? 'keeps-half';
}

function isNative(input: PreflightInput): boolean {
  return input.promptPath === 'native' && input.route === 'chat' && era(input) !== 'keeps-window';
}

/** Likely tokens of each message, its share of template included; the sum is the whole estimate. */
function costsOf(sizes: MessagesEstimate, estimate: Estimate): readonly number[] {
  const raw = sizes.messages.map((one) => one.likely + TEMPLATE_TOKENS);
  const sum = raw.reduce((total, one) => total + one, 0);
  return sum === 0 ? raw : raw.map((one) => (one / sum) * estimate.likely);
}

/** Drops messages oldest first while they do not fit, then cuts what is left, or refuses. */
function lossOf(input: PreflightInput, costs: readonly number[], window: number): Loss {
  const all = costs.reduce((sum, one) => sum + one, 0);
  const indices = costs.map((_, index) => index);
  if (input.policy === 'refuse')
    return { expected: 'refused', kept: null, lost: null, keptMessages: indices, cut: null };
  const kept = input.route === 'generate' ? indices : afterDropping(input.messages, costs, window);
  const left = kept.reduce((sum, index) => sum + (costs[index] ?? 0), 0);
  const most = isNative(input) ? paddedWindow(window) - 1 : cutsAbove(era(input), window);
  if (Math.round(left) <= most)
    return {
      expected: 'messages-dropped',
      kept: Math.round(left),
      lost: Math.round(all) - Math.round(left),
      keptMessages: kept,
      cut: null,
    };
  if (isNative(input)) return { expected: 'refused', kept: null, lost: null, keptMessages: kept, cut: null };
  // Which of the older runners counts the begin token apart is not known; it makes one token of difference.
  const begin = era(input) === 'keeps-window' ? false : (input.addsBos ?? true);
  const size = cutSize(era(input), window, input.numKeep ?? NUM_KEEP_DEFAULT, begin);
  const head = size.headTokens ?? 0;
  return {
    expected: size.kind,
    kept: size.size,
    lost: Math.round(all) - size.size,
    keptMessages: kept,
    cut: {
      head,
      tail: size.size - head,
      tokens: left,
      beginTokens: input.addsBos === false ? 0 : 1,
      costs: kept.map((index) => costs[index] ?? 0),
    },
  };
}

/** System messages always stay; the last message too, even when it is too long alone. */
function afterDropping(messages: readonly Message[], costs: readonly number[], window: number): readonly number[] {
  let total = costs.reduce((sum, one) => sum + one, 0);
  let from = 0;
  while (Math.round(total) > window && from < messages.length - 1) {
    if (messages[from]?.role !== 'system') total -= costs[from] ?? 0;
    from += 1;
  }
  return messages.flatMap((message, index) => (index >= from || message.role === 'system' ? [index] : []));
}

/** The sum is the likely count. The last message is the prompt; everything between it and the system text is history. */
function partsOf(messages: readonly Message[], costs: readonly number[], estimate: Estimate): Preflight['parts'] {
  let system = 0;
  let history = 0;
  for (const [index, message] of messages.entries()) {
    if (index === messages.length - 1) continue;
    if (message.role === 'system') system += costs[index] ?? 0;
    else history += costs[index] ?? 0;
  }
  const systemTokens = Math.min(Math.round(system), estimate.likely);
  const historyTokens = Math.min(Math.round(history), estimate.likely - systemTokens);
  return {
    system: tokens(systemTokens),
    history: tokens(historyTokens),
    prompt: tokens(estimate.likely - systemTokens - historyTokens),
  };
}

/** Memory grows by the same bytes for every token of window: two windows that were seen tell the rest. */
function memoryAt(
  seen: readonly { readonly window: number; readonly bytes: number }[],
  window: number,
): Preflight['fitsMemoryBytes'] {
  const byWindow = new Map(seen.filter((one) => one.window > 0 && one.bytes > 0).map((one) => [one.window, one.bytes]));
  const same = byWindow.get(window);
  if (same !== undefined) return bytes(Math.round(same));
  const [nearest, next] = [...byWindow].sort((a, b) => Math.abs(a[0] - window) - Math.abs(b[0] - window));
  if (nearest === undefined || next === undefined) return null;
  const perToken = (next[1] - nearest[1]) / (next[0] - nearest[0]);
  const guess = Math.round(nearest[1] + Math.max(0, perToken) * (window - nearest[0]));
  return guess > 0 ? bytes(guess) : null;
}
