/** A prompt that was refused because it is too long, in the words of every server that was seen. */
import type { Confidence, Evidence } from '../../contract/verdicts.ts';
import { evidence } from './prompt-reading.ts';
import type { TruncationInput } from './types.ts';
import { number } from './wording.ts';

/** needs, has: tokens; null where the server gives no numbers. */
export interface Refusal {
  readonly needs: number | null;
  readonly has: number | null;
  readonly confidence: Confidence;
  readonly evidence: Evidence;
}

const WITHOUT_NUMBERS = [
  'the prompt is longer than the context length currently available to the model',
  'the input length exceeds the context length',
  'input after truncation exceeds maximum context length',
  'input exceeds maximum context length and cannot be truncated further',
];
const WITH_NUMBERS = [
  /request \((\d{1,12}) tokens\) exceeds the available context size \((\d{1,12}) tokens\)/,
  /input length \((\d{1,12}) tokens\) exceeds the model's maximum context length \((\d{1,12}) tokens\)/,
];

export function readRefusal(reply: TruncationInput['reply']): Refusal | null {
  const text = (reply.error ?? '').slice(0, 20_000);
  if (reply.needs !== null) {
    const has = reply.has === null ? 'the window' : `the ${number(reply.has)} of the window`;
    return {
      needs: reply.needs,
      has: reply.has,
      confidence: 'exact',
      evidence: evidence(
        'exact',
        'nested-error',
        `Refused: the prompt needs ${number(reply.needs)} tokens, over ${has}.`,
        text,
      ),
    };
  }
  for (const pattern of WITH_NUMBERS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const [needs, has] = [Number(match[1]), Number(match[2])];
    return {
      needs,
      has,
      confidence: 'exact',
      evidence: evidence(
        'exact',
        'error-text',
        `Refused: the prompt needs ${number(needs)} tokens, over the ${number(has)} of the window.`,
        text,
      ),
    };
  }
  if (!WITHOUT_NUMBERS.some((known) => text.includes(known))) return null;
  return {
    needs: null,
    has: null,
    confidence: 'certain',
    evidence: evidence(
      'certain',
      'error-text',
      'Refused: the prompt is longer than the window. The server gives no numbers.',
      text,
    ),
  };
}
