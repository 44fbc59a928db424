/** The preflight in one sentence, with its numbers. */
import type { Estimate, Preflight } from '../../contract/estimates.ts';
import type { Loss, PreflightInput } from './preflight.ts';
import { count, number } from './wording.ts';

export interface PreflightReading extends Omit<Loss, 'expected'> {
  readonly outcome: Preflight['outcome'];
  readonly expected: Preflight['expected'];
  readonly estimate: Estimate;
}

export function sentenceOf(reading: PreflightReading, input: PreflightInput): string {
  const { estimate, outcome } = reading;
  const window = number(input.window ?? 0);
  // A counted prompt is a fact; everything else is about.
  const isCounted = estimate.source === 'counted';
  const about = (value: number): string => (isCounted ? number(value) : `about ${number(value)}`);
  if (outcome === 'unknown')
    return upperFirst(`${about(estimate.likely)} tokens would be sent; the window is not known yet`);
  if (outcome === 'fits') return upperFirst(`${about(estimate.likely)} of ${window} tokens: nothing would be lost`);
  if (outcome === 'reply-may-not-fit') {
    return upperFirst(
      `the prompt fits with ${about(estimate.likely)} tokens, but a reply of ${number(input.numPredict)} may not: the window is ${window}`,
    );
  }
  if (outcome === 'may-not-fit')
    return upperFirst(`${about(estimate.likely)} tokens, up to ${number(estimate.high)}, may not fit ${window}`);
  return upperFirst(lossWords(reading, input, about, window));
}

function lossWords(
  reading: PreflightReading,
  input: PreflightInput,
  about: (value: number) => string,
  window: string,
): string {
  const { expected, estimate, lost, cut, keptMessages } = reading;
  if (expected === 'refused') {
    const who = input.policy === 'refuse' ? 'it would be refused, as asked' : 'the server would refuse it';
    return `${about(estimate.likely)} tokens do not fit ${window}: ${who}`;
  }
  const loses = `${about(lost ?? 0)} of ${number(estimate.likely)} tokens would be lost`;
  const gone = input.messages.length - keptMessages.length;
  if (expected === 'messages-dropped')
    return `${loses}: ${gone === 1 ? 'the oldest message goes' : `the ${number(gone)} oldest messages go`}`;
  const stay =
    cut === null
      ? ''
      : cut.tail === 0
        ? `the first ${number(cut.head)} stay`
        : `the first ${number(cut.head)} and the last ${number(cut.tail)} stay`;
  return gone === 0 ? `${loses}: ${stay}` : `${loses}: ${count(gone, 'message')} and more; ${stay}`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
