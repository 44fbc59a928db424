/**
 * The reasoning verdict (design, section 4.2): three readings that do not depend on each other. What became of the reply, where its
 * thinking was, and whether switching it off was obeyed. Nothing is looked up by model: only fields and settings decide, and what
 * they do not show is said to be unknown.
 */
import type { ReasoningSplit, ReasoningVerdict } from '../../contract/verdicts.ts';
import { characters } from '../../contract/units.ts';
import { hiddenTokens } from './hidden.ts';
import { type EndReading, causeOf, outcomeOf, readEnd } from './outcome.ts';
import { type ReplyParts, partsOf } from './parts.ts';
import { isCircling, isPlanning, lastParagraph } from './planning.ts';
import { countedSplit, splitOf } from './split.ts';
import type { ReasoningInput } from './types.ts';
import { evidenceOf, nextOf } from './wording.ts';

/** Everything the readings share. hidden: tokens seen nowhere; isHiddenThinking: their text shows it was thinking. */
export interface Facts {
  readonly input: ReasoningInput;
  readonly parts: ReplyParts;
  readonly end: EndReading;
  readonly outcome: ReasoningVerdict['outcome'];
  readonly cause: ReasoningVerdict['cause'];
  readonly answer: string;
  readonly hidden: number;
  readonly isHiddenCounted: boolean;
}

export function classifyReasoning(input: ReasoningInput): ReasoningVerdict {
  const facts = factsOf(input);
  const { parts, answer, outcome, cause, end } = facts;
  const suspected = suspicionOf(facts);
  const places = placesOf(facts, suspected);
  const obedience = obedienceOf(facts, places, suspected);
  const split = outcome === 'refused' ? null : splitOf(input, parts, facts.hidden);
  const verdict: Omit<ReasoningVerdict, 'evidence' | 'next'> = {
    outcome,
    cause,
    endedBy: end.endedBy,
    complete: completeOf(facts),
    places: [...places],
    suspected,
    obedience,
    answer,
    answerFrom: answer === '' ? null : parts.fieldAnswer === null ? 'content' : 'field',
    probableAnswer: suspected === 'answer-in-field' ? probableAnswerOf(parts.fieldThinking) : null,
    thinkingCharacters: characters(parts.fieldThinking.length + parts.taggedThinking.length),
    answerCharacters: characters(answer.length),
    strayMarkers: [...new Set(parts.content.stray)],
    split,
  };
  return { ...verdict, evidence: evidenceOf(facts, verdict), next: nextOf(facts, verdict) };
}

function factsOf(input: ReasoningInput): Facts {
  const parts = partsOf(input.thinking, input.content);
  const answer = (parts.fieldAnswer ?? parts.answer).trim();
  const end = readEnd(input);
  const texts = { hasAnswer: answer !== '', hasThinking: hasThinking(parts) };
  const outcome = outcomeOf(input.end, texts, input.toolCalls);
  const counted = countedSplit(input, parts);
  return {
    input,
    parts,
    end,
    outcome,
    cause: causeOf(outcome, end.endedBy, input.end),
    answer,
    hidden: outcome === 'refused' ? 0 : hiddenOf(input, counted),
    isHiddenCounted: counted !== null,
  };
}

/** A tag alone, or a block of tags with nothing in it, is no thinking. */
function hasThinking({ fieldThinking, taggedThinking }: ReplyParts): boolean {
  return fieldThinking.trim() !== '' || taggedThinking.trim() !== '';
}

function hiddenOf(input: ReasoningInput, counted: ReasoningSplit | null): number {
  const { evalCount } = input.end;
  // Few unseen tokens are markers of a kind that no table knows.
  if (counted !== null) return atLeastSome(counted.hiddenTokens ?? 0);
  if (evalCount === null) return 0;
  const { toolCalls, toolCharacters } = input;
  return hiddenTokens({ visible: [input.thinking, input.content], toolCalls, toolCharacters, evalCount });
}

function atLeastSome(count: number): number {
  return count >= COUNTED_HIDDEN_MIN ? count : 0;
}

const COUNTED_HIDDEN_MIN = 4;

function completeOf({ outcome, end, input }: Facts): boolean | null {
  if (outcome === 'refused' || end.endedBy === 'none') return null;
  if (input.end.ending !== 'done') return false;
  return end.endedBy === 'stop';
}

/** Estimates only: a suspicion is never a place. */
function suspicionOf({ outcome, end, parts, answer, input }: Facts): ReasoningVerdict['suspected'] {
  const isAllInField = parts.fieldThinking.trim() !== '' && parts.taggedThinking.trim() === '' && answer === '';
  if (outcome === 'starved' && end.endedBy === 'stop' && isAllInField) return 'answer-in-field';
  if (parts.fieldAnswer !== null || input.settings.structured) return null;
  if (answer === '') return null;
  return isPlanning(answer) || (end.endedBy !== 'stop' && isCircling(answer)) ? 'answer-untagged' : null;
}

type Places = ReasoningVerdict['places'];

/** Sorted. Empty where thinking is only suspected, or where a reply that broke off showed none yet. */
function placesOf({ parts, hidden, outcome, input }: Facts, suspected: ReasoningVerdict['suspected']): Places {
  const places: Places = [];
  if (parts.taggedThinking.trim() !== '') places.push('answer-tagged');
  if (parts.fieldThinking.trim() !== '') places.push('field');
  if (hidden > 0) places.push('hidden');
  if (places.length > 0 || suspected !== null || outcome === 'refused') return places;
  return input.end.ending === 'done' ? ['none'] : [];
}

function obedienceOf(
  { input, outcome, parts, end, isHiddenCounted }: Facts,
  places: Places,
  suspected: ReasoningVerdict['suspected'],
): ReasoningVerdict['obedience'] {
  if (input.settings.think !== false || outcome === 'refused') return 'not-asked';
  if (places.includes('answer-tagged')) return 'not-obeyed';
  if (places.includes('field'))
    return suspected === 'answer-in-field' && isPlainAnswer(parts.fieldThinking) ? 'suspect' : 'not-obeyed';
  if (places.includes('hidden')) return isHiddenCounted && outcome !== 'tool-only' ? 'not-obeyed' : 'suspect';
  if (suspected !== null) return 'suspect';
  return end.endedBy === 'connection' || end.endedBy === 'client' || end.endedBy === 'error' ? 'unknown' : 'obeyed';
}

/** Characters up to which a text without planning is rather the answer itself. */
const PLAIN_ANSWER_MAX = 80;

function isPlainAnswer(text: string): boolean {
  return text.trim().length <= PLAIN_ANSWER_MAX && !isPlanning(text);
}

/** An offer: the whole text where it does not plan, else what stands behind the planning. */
function probableAnswerOf(text: string): string | null {
  if (!isPlanning(text)) return text.trim();
  const last = lastParagraph(text);
  return last === null || isPlanning(last) ? null : last;
}
