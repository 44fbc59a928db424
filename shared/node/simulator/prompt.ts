/**
 * From a request to the tokens that reach the model: whole messages dropped first, then the token cut by the rule of the
 * server's version. What was lost here is lost for the brain too.
 */
import type { ServerBehaviour } from './behaviour.ts';
import type { ChatMessage } from './options.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface Counter {
  readonly tokenizer: Tokenizer;
  /** True counts for conformance; null = count by tokenizer. */
  readonly pin: ((text: string) => number | null) | null;
}

export interface Dropped {
  readonly messages: readonly ChatMessage[];
  readonly text: string;
  /** Index of the first message that was kept; 0 = none dropped. */
  readonly from: number;
}

/**
 * Tries [all system messages before i] + messages i.. for i = 0, 1, 2 ... until the prompt, counted without BOS, fits the
 * window. The last message stays however long it is. The counts fall with i, so the place is found by halving.
 */
export function dropMessages(
  messages: readonly ChatMessage[],
  render: (kept: readonly ChatMessage[]) => string,
  numCtx: number,
  counter: Counter,
): Dropped {
  const from = (index: number): readonly ChatMessage[] => [
    ...messages.slice(0, index).filter((message) => message.role === 'system'),
    ...messages.slice(index),
  ];
  const fits = (index: number): boolean => countTokens(counter, render(from(index)), numCtx) <= numCtx;
  let low = 0;
  let high = Math.max(0, messages.length - 1);
  if (fits(0)) high = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  const kept = from(high);
  return { messages: kept, text: render(kept), from: high };
}

/** Tokens without BOS. With `atMost`, any number above it means only "more". */
export function countTokens(counter: Counter, text: string, atMost?: number): number {
  return counter.pin?.(text) ?? counter.tokenizer.count(text, atMost);
}

export interface Cut {
  /** Numbers of the WARN line. */
  readonly limit: number;
  readonly prompt: number;
  readonly keep: number;
  readonly kept: number;
  /** What survives, head and tail joined. */
  readonly text: string;
}

/** Sizes of the cut a server of this version makes, or null where the prompt fits. `count` and `numCtx` in tokens, BOS counted. */
export function cutSizes(
  behaviour: ServerBehaviour,
  count: number,
  numCtx: number,
  numKeep: number,
  addsBos: boolean,
): { limit: number; keep: number; kept: number } | null {
  const fitsUpTo = behaviour.cut === 'window' ? numCtx : numCtx - 1;
  if (count <= fitsUpTo) return null;
  const wanted = (numKeep < 0 ? count : numKeep) + (behaviour.keepCountsBos && addsBos ? 1 : 0);
  const keep = Math.max(0, Math.min(wanted, numCtx - 1));
  const kept = behaviour.cut === 'half' ? numCtx - Math.max(Math.floor((numCtx - keep) / 2), 1) : fitsUpTo;
  return { limit: behaviour.limitIsCutSize ? kept : numCtx, keep, kept };
}

/** First `keep` tokens (BOS among them) and the last `kept - keep` of the text. */
export function survivingText(
  counter: Counter,
  text: string,
  count: number,
  keep: number,
  kept: number,
  addsBos: boolean,
): string {
  const ends = counter.tokenizer.ends(text);
  const bos = addsBos ? 1 : 0;
  // Where counts are pinned, places are scaled from true tokens to own ones.
  const scale = ends.length / Math.max(1, count - bos);
  const headTokens = Math.round(Math.max(0, keep - bos) * scale);
  const tailTokens = Math.round(Math.max(0, kept - Math.max(keep, bos)) * scale);
  const head = headTokens === 0 ? 0 : (ends[headTokens - 1] ?? text.length);
  const tail = tailTokens >= ends.length ? 0 : (ends[ends.length - tailTokens - 1] ?? 0);
  return tail <= head ? text.slice(0, head) + text.slice(Math.max(tail, head)) : text.slice(0, head) + text.slice(tail);
}
