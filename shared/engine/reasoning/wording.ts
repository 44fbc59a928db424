/** What the reading rests on, and what to do next, in sentences with the numbers in them. */
import type { ReasoningVerdict } from '../../contract/verdicts.ts';
import type { Facts } from './classify.ts';
import { capOf } from './outcome.ts';
import { number } from '../truncation/wording.ts';

type Draft = Omit<ReasoningVerdict, 'evidence' | 'next'>;

export function evidenceOf(facts: Facts, verdict: Draft): string[] {
  return [endSentence(facts, verdict), ...placeSentences(facts, verdict), splitSentence(verdict)].filter(
    (sentence) => sentence !== null,
  );
}

function endSentence({ input, end }: Facts, verdict: Draft): string | null {
  const { evalCount, promptEvalCount, error } = input.end;
  const cap = capOf(input.settings.numPredict);
  const output = evalCount === null ? 'An unknown number of' : number(evalCount);
  if (verdict.outcome === 'refused')
    return error === null ? 'The server refused the call.' : `The server refused: ${error.slice(0, 300)}`;
  if (end.endedBy === 'cap')
    return cap === null
      ? `${output} tokens came, then a cap of the model ended the reply.`
      : `${output} tokens came, the cap was ${number(cap)}.`;
  if (end.endedBy === 'window' && promptEvalCount !== null && evalCount !== null)
    return `Prompt ${number(promptEvalCount)} + output ${number(evalCount)} = ${number(promptEvalCount + evalCount)}: the window was full.`;
  if (end.endedBy === 'window') return `${output} tokens came, fewer than the cap: the window was full.`;
  if (end.shifted && promptEvalCount !== null && evalCount !== null)
    return `Prompt ${number(promptEvalCount)} + output ${number(evalCount)} is over the window of ${number(end.limit ?? 0)}: its head was dropped while the reply was written.`;
  if (end.endedBy === 'shift') return `${output} tokens came while the window dropped its head.`;
  if (end.endedBy === 'repeat')
    return 'The last 30 pieces are equal, and the stream has no last line: the guard against repeating ended it.';
  if (end.endedBy === 'connection') return 'The stream has no last line, so what is here is not all.';
  if (end.endedBy === 'client') return 'The reply was stopped from this side.';
  if (end.endedBy === 'error')
    return error === null ? 'The stream broke with an error.' : `The stream broke: ${error.slice(0, 300)}`;
  if (end.endedBy === 'none') return 'What ended the reply cannot be told from its fields.';
  return verdict.outcome === 'starved' || verdict.outcome === 'empty'
    ? `The reply ended by itself after ${output.toLowerCase()} tokens.`
    : null;
}

function placeSentences({ parts, hidden, isHiddenCounted, input }: Facts, verdict: Draft): readonly (string | null)[] {
  const field = parts.fieldThinking.trim().length;
  const tagged = parts.taggedThinking.trim().length;
  return [
    field === 0 ? null : `${number(field)} characters came in the thinking field.`,
    tagged === 0 ? null : `${number(tagged)} characters of thinking stand in the answer, set off by tags.`,
    parts.fieldAnswer === null ? null : 'A closing tag in the thinking field marks where the answer begins.',
    hidden === 0
      ? null
      : `${number(hidden)} of ${number(input.end.evalCount ?? hidden)} tokens are visible nowhere (${isHiddenCounted ? 'counted' : 'estimated'}).`,
    verdict.suspected === 'answer-untagged' ? 'The answer begins like planning, without tags (estimated).' : null,
    verdict.suspected === 'answer-in-field'
      ? 'Everything is in the thinking field, and it ended by itself: it may be the answer.'
      : null,
    verdict.strayMarkers.length === 0
      ? null
      : `The answer holds control tokens of unknown meaning: ${verdict.strayMarkers.join(' ')}`,
  ];
}

function splitSentence({ split }: Draft): string | null {
  if (split === null || split.thinkingTokens === null || split.answerTokens === null) return null;
  const outside = split.thinkingOutsideCount ? ' Thinking of a first pass is not in the reported count.' : '';
  const off =
    split.source === 'counted' || split.errorPercent === null ? '' : `, ${split.errorPercent} % off before scaling`;
  return `Thinking ${number(split.thinkingTokens)}, answer ${number(split.answerTokens)} tokens (${split.source}${off}).${outside}`;
}

export function nextOf({ end, input }: Facts, verdict: Draft): string | null {
  switch (verdict.outcome) {
    case 'starved':
      return starvedNext(verdict);
    case 'empty':
      if (input.end.doneReason === 'load' || input.end.doneReason === 'unload')
        return 'Nothing was asked: add a message of the user.';
      return verdict.places.includes('hidden')
        ? 'Tokens were spent that are visible nowhere: switch thinking on to see them, or raise num_predict.'
        : 'Send it again with another seed, or look at the raw reply.';
    case 'cut':
      return end.endedBy === 'repeat'
        ? 'Raise the temperature or change the seed: the model repeated itself.'
        : 'Send it again: what is here is not all.';
    case 'refused':
      return refusedNext(verdict);
    case 'error-mid-stream':
      return 'Look at the server log, then send it again.';
    case 'tool-only':
      return null;
    case 'answered':
      return answeredNext(verdict);
  }
}

function starvedNext({ cause, probableAnswer }: Draft): string | null {
  if (cause === 'cap') return 'Raise num_predict, or switch thinking off: the cap was used up before the answer.';
  if (cause === 'window') return 'Raise num_ctx: the window was full before the answer.';
  if (cause === 'shift')
    return 'Raise num_ctx: the window shifted while it thought, so the question was lost. A higher cap alone does not help.';
  if (cause === 'stop')
    return probableAnswer === null
      ? 'Send it again, or with thinking off.'
      : 'The probable answer is in the thinking field: look and use it from there.';
  return 'Raise num_predict and num_ctx: one of the two ended it.';
}

function refusedNext({ cause }: Draft): string | null {
  if (cause === 'capability') return 'Send it without think, or choose a model that has the capability.';
  if (cause === 'think-value') return 'Use true, false, low, medium, high or max.';
  if (cause === 'prompt-too-long') return 'Raise num_ctx or shorten the prompt.';
  return cause === 'server' ? 'Look at the server log, then send it again.' : null;
}

function answeredNext({ obedience, complete, endedBy }: Draft): string | null {
  if (obedience === 'not-obeyed')
    return 'This model thinks although it was switched off: budget for it, or try think low.';
  if (complete === false && endedBy === 'cap') return 'Raise num_predict: the answer was cut.';
  if (complete === false && (endedBy === 'window' || endedBy === 'shift')) return 'Raise num_ctx: the window was full.';
  return null;
}
