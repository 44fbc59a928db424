/** A call that was not made, as the model and the screen are told: facts, no blame, and never anything a tool brought in. */
import type { Exhaustion, GatewayCode } from '../../contract/agents.ts';

export interface Refusal {
  readonly code: GatewayCode;
  readonly tool: string;
  readonly words: string;
  readonly exhaustion: Exhaustion | null;
}

export function refusalOfExhaustion(tool: string, exhaustion: Exhaustion): Refusal {
  return { code: 'budget', tool, words: `not run: ${wordsOf(exhaustion)}`, exhaustion };
}

export function wordsOf({ dimension, used, limit }: Exhaustion): string {
  const unit = { 'nano-dollars': 'nano-dollars', 'wall-clock': 'milliseconds', 'output-bytes': 'bytes' } as const;
  const name = dimension in unit ? unit[dimension as keyof typeof unit] : dimension;
  return `the budget of ${limit} ${name} is used up (${used} used)`;
}

/** What the model reads: one line of JSON, so that a program can read it as well. */
export function wordRefusal({ code, words, exhaustion }: Refusal): string {
  return JSON.stringify({
    error: code,
    message: words,
    ...(exhaustion === null
      ? {}
      : {
          dimension: exhaustion.dimension,
          used: exhaustion.used,
          limit: exhaustion.limit,
          ...(exhaustion.retryAfterSeconds === null ? {} : { retryAfterSeconds: exhaustion.retryAfterSeconds }),
        }),
  });
}
