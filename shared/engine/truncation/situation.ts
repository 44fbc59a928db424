/** What the mechanism allows for one call: derived once from the input, read by every rule. */
import type { Estimate } from '../../contract/estimates.ts';
import { type CutSize, type Era, atLeast, cutSizes, eraOf, heedsFlags, parseVersion } from './cut-size.ts';
import type { SentMessage, TruncationInput } from './types.ts';

export interface Situation {
  readonly input: TruncationInput;
  readonly era: Era | null;
  /** null = not known. */
  readonly window: number | null;
  /** Least, likely and most tokens of the whole prompt; most is infinite where parts could not be counted. */
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  readonly characters: number;
  /** Messages that may go before the last one does: not system, not last. 0 = only a token cut can lose anything. */
  readonly droppable: number;
  /** Sizes a token cut may have left; empty where no token cut is possible. */
  readonly cuts: readonly CutSize[];
  /** The log of this call shows that no token cut took place, possible or not. */
  readonly cutExcluded: boolean;
  /** truncate:false was sent and heeded: a too long prompt is refused, never cut. */
  readonly refusesInstead: boolean;
}

const ROLES = new Set(['system', 'user', 'assistant', 'tool', 'developer', 'control']);

export function situationOf(input: TruncationInput, cutExcluded: boolean): Situation {
  const window = windowOf(input);
  const era = eraOf(input.serverVersion);
  const known = input.messages.length > 0;
  const droppable = canDrop(input)
    ? input.messages.slice(0, -1).filter((message) => message.role !== 'system').length
    : 0;
  return {
    input,
    era,
    window,
    low: known ? input.estimate.low : 0,
    likely: input.estimate.likely,
    high: known && !input.hasUncountedParts ? input.estimate.high : Number.POSITIVE_INFINITY,
    characters: input.estimate.characters,
    droppable,
    cuts: window === null ? [] : possibleCuts(input, window),
    cutExcluded,
    refusesInstead: input.truncate === false && heedsFlags(input.serverVersion),
  };
}

/** The running window, else the one asked for as servers round it; routes that ignore num_ctx tell nothing by it. */
export function windowOf(input: TruncationInput): number | null {
  if (input.windowRunning !== null) return input.windowRunning;
  if (input.numCtxRequested === null || input.route === 'v1-chat' || input.route === 'v1-other') return null;
  const requested = Math.max(4, Math.trunc(input.numCtxRequested));
  return input.trainedContext === null ? requested : Math.min(requested, input.trainedContext);
}

/** Token cuts that version, path, flags and images leave possible. */
export function possibleCuts(input: TruncationInput, window: number): readonly CutSize[] {
  if (input.truncate === false && heedsFlags(input.serverVersion)) return [];
  if (input.hasImages === true) return [];
  const isNative = input.promptPath === 'native' && input.route !== 'generate';
  const all = cutSizes({ window, serverVersion: input.serverVersion, numKeep: input.numKeep, addsBos: input.addsBos });
  // The native path, and from 0.30.9 on a runner whose shift is off, refuse where older servers cut.
  if (isNative) return all.filter((cut) => cut.era === 'keeps-window');
  if (input.shift === false)
    return cutsWithoutShift(input.serverVersion) ? all.filter((cut) => cut.era !== 'keeps-half') : [];
  return all;
}

function cutsWithoutShift(serverVersion: string | null): boolean {
  const version = parseVersion(serverVersion);
  return version === null || !atLeast(version, 0, 30, 9);
}

/** /api/generate always keeps its system text and its prompt. */
function canDrop(input: TruncationInput): boolean {
  return input.route !== 'generate' && !(input.truncate === false && heedsFlags(input.serverVersion));
}

export function strangeRole(input: TruncationInput): string | null {
  return input.messages.find((message) => !ROLES.has(message.role.toLowerCase()))?.role ?? null;
}

/** A prompt after the messages before `from` went: system messages stay. lastDropped: the message that went last. */
export interface KeptTail {
  readonly from: number;
  readonly low: number;
  readonly high: number;
  readonly lastDroppedHigh: number;
}

/** Tokens of template one message may bring: none for certain, 15 and 10 once at most. */
const TEMPLATE_HIGH = 15;
const TEMPLATE_HIGH_ONCE = 10;

/** Every prompt that dropping can leave, oldest cut first. The last entry keeps system messages and the last message alone. */
export function keptTails(messages: readonly SentMessage[], uncounted: boolean): readonly KeptTail[] {
  const tails: KeptTail[] = [];
  const cost = (estimate: Estimate): number => estimate.high + TEMPLATE_HIGH;
  let low = messages.reduce((sum, message) => sum + message.estimate.low, 0);
  let high = messages.reduce((sum, message) => sum + cost(message.estimate), TEMPLATE_HIGH_ONCE);
  for (const [index, message] of messages.slice(0, -1).entries()) {
    if (message.role === 'system') continue;
    low -= message.estimate.low;
    high -= cost(message.estimate);
    tails.push({
      from: index + 1,
      low,
      high: uncounted ? Number.POSITIVE_INFINITY : high,
      lastDroppedHigh: cost(message.estimate),
    });
  }
  return tails;
}
