/** Which characters would be lost, by estimate: whole messages that are dropped, and the middle of what a cut leaves. */
import type { Message } from '../../contract/calls.ts';
import type { LostRange } from '../../contract/estimates.ts';
import { characters } from '../../contract/units.ts';
import { createTextCounter } from '../estimate/estimator.ts';

/**
 * A token cut of the kept messages: `head` and `tail` tokens stay of `tokens`. costs: tokens of each kept message, template
 * included. beginTokens: 1 where the vocabulary starts with a token that is no text.
 */
export interface Cut {
  readonly head: number;
  readonly tail: number;
  readonly tokens: number;
  readonly beginTokens: number;
  readonly costs: readonly number[];
}

/** Markers before and after the text of a message, of about eight. */
const MARKERS_BEFORE = 3;
const MARKERS_AFTER = 5;

/** In the order of the messages; none is empty. */
export function lostRanges(messages: readonly Message[], kept: readonly number[], cut: Cut | null): LostRange[] {
  const stays = new Set(kept);
  const ranges: LostRange[] = [];
  for (const [index, message] of messages.entries())
    if (!stays.has(index)) push(ranges, index, 0, message.content.length);
  if (cut !== null) cutRanges(ranges, messages, kept, cut);
  return ranges.sort((a, b) => a.message - b.message || a.from - b.from);
}

/** The lost part runs from `head` to `tokens - tail`; each message takes its share of it. */
function cutRanges(ranges: LostRange[], messages: readonly Message[], kept: readonly number[], cut: Cut): void {
  const lostFrom = cut.head;
  const lostTo = cut.tokens - cut.tail;
  let at = cut.beginTokens;
  for (const [position, index] of kept.entries()) {
    const text = messages[index]?.content ?? '';
    const cost = cut.costs[position] ?? 0;
    const markers = Math.min(cost, MARKERS_BEFORE + MARKERS_AFTER);
    const textTokens = cost - markers;
    const begins = at + (markers * MARKERS_BEFORE) / (MARKERS_BEFORE + MARKERS_AFTER);
    const from = Math.max(0, lostFrom - begins);
    const to = Math.min(textTokens, lostTo - begins);
    if (to > from && text.length > 0) {
      const [fromCharacter, toCharacter] = charactersAt(text, textTokens, from, to);
      push(ranges, index, fromCharacter, toCharacter);
    }
    at += cost;
  }
}

const SLICES = 512;

/** Maps token positions to UTF-16 positions by what each slice of the text costs, never inside a surrogate pair. */
function charactersAt(text: string, textTokens: number, from: number, to: number): readonly [number, number] {
  const step = Math.max(64, Math.ceil(text.length / SLICES));
  const counter = createTextCounter();
  const costs = [0];
  for (let at = 0; at < text.length; at += step) {
    counter.push(text.slice(at, at + step));
    costs.push(counter.count().likely);
  }
  const whole = costs.at(-1) ?? 0;
  const find = (token: number): number => {
    if (token <= 0) return 0;
    if (token >= textTokens || whole <= 0) return text.length;
    const wanted = (token / textTokens) * whole;
    const slice = costs.findIndex((cost) => cost >= wanted);
    const [before, after] = [costs[slice - 1] ?? 0, costs[slice] ?? whole];
    const share = after > before ? (wanted - before) / (after - before) : 0;
    return Math.min(text.length, Math.round((slice - 1 + share) * step));
  };
  return [outsidePair(text, find(from)), outsidePair(text, find(to))];
}

function outsidePair(text: string, at: number): number {
  const isInside =
    at > 0 &&
    at < text.length &&
    /[\uDC00-\uDFFF]/.test(text.charAt(at)) &&
    /[\uD800-\uDBFF]/.test(text.charAt(at - 1));
  return isInside ? at - 1 : at;
}

function push(ranges: LostRange[], message: number, from: number, to: number): void {
  if (to > from) ranges.push({ message, from: characters(from), to: characters(to) });
}
