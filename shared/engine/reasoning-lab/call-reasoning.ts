/** The reading that a stored call carries: short, because lists and the wire carry it too. */
import type { CallReasoning, Reply } from '../../contract/calls.ts';
import type { ReasoningVerdict } from '../../contract/verdicts.ts';

/** A longer offer is no answer that a person would take with one click; the whole text stands in the thinking field. */
export const PROBABLE_ANSWER_CHARACTERS_MAX = 2_000;

export function callReasoning({ answer: _answer, ...verdict }: ReasoningVerdict, reply: Reply): CallReasoning {
  const { probableAnswer } = verdict;
  return {
    ...verdict,
    probableAnswer:
      probableAnswer === null ? null : probableAnswer.slice(0, PROBABLE_ANSWER_CHARACTERS_MAX).toWellFormed(),
    next: reply.abortedBy === 'thinking-cap' ? CAPPED_NEXT : verdict.next,
  };
}

const CAPPED_NEXT = 'Ask once more for the answer alone, or raise the thinking cap.';
