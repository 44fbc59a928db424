/** What is said about a trial: headline and sentences, facts with their numbers. Pure. */
import type { NeedleOutcome } from '../../../shared/contract/verdicts.ts';
import { count } from '../../format/numbers.ts';
import { kindWords, lostSomething, verdictSentence } from '../../format/verdicts.ts';
import type { Reading, Trial } from './trials.ts';

export function headlineOf({ cell, lost }: Reading): string {
  const { call } = cell;
  if (call === null) return cell.state === 'running' ? 'Running' : 'Not run';
  const { kinds } = call.truncation;
  if (kinds.includes('refused')) return 'Refused';
  if (cell.state === 'failed') return 'Failed';
  if (lost !== null && lost.tokens > 0)
    return `${lost.atLeast ? 'At least ' : lost.counted ? '' : '~'}${count(lost.tokens)} lost`;
  const [first] = kinds;
  if (kinds.includes('intact') && kinds.length === 1) return 'Nothing lost';
  const word = kindWords[kinds.find((kind) => kind !== 'intact') ?? first ?? 'unknown'];
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

export function sentenceOf(reading: Reading, trial: Trial | null): string {
  const { cell, sent, lost } = reading;
  const { call } = cell;
  if (call === null) return cell.state === 'running' ? 'The server is at work on it.' : 'It has no result yet.';
  if (cell.state === 'failed' && call.error !== null) return call.error;
  const { headKept, tailKept, needs, has, kinds } = call.truncation;
  const parts: string[] = [];
  if (kinds.includes('refused')) {
    parts.push(
      needs !== null && has !== null
        ? `It needs ${count(needs)} tokens, the window has ${count(has)}.`
        : verdictSentence(call.truncation),
    );
    return parts.join(' ');
  }
  if (lost !== null && sent !== null && lost.tokens > 0) {
    parts.push(`of ${sent.counted ? '' : 'about '}${count(sent.tokens)} tokens.`);
    if (headKept !== null && tailKept !== null)
      parts.push(
        `The first ${count(headKept)} and the last ${count(tailKept)} stayed${neverSeen(reading) ? ', so the needle was never seen' : ''}.`,
      );
    if (kinds.includes('messages-dropped')) parts.push('The oldest messages were left out.');
  } else if (lost !== null && !lostSomething(kinds)) parts.push(`All ${count(call.promptEvalCount)} tokens were read.`);
  if (lost === null || kinds.includes('shifted') || kinds.includes('window-full'))
    parts.push(verdictSentence({ ...call.truncation, lost: null }));
  const replies = repliesText(trial?.marks ?? (call.needle === 'none' ? [] : [call.needle]));
  if (replies !== '') parts.push(replies);
  return parts.join(' ');
}

/** `Two of three replies made up an answer.` */
export function repliesText(marks: readonly NeedleOutcome[]): string {
  if (marks.length === 0) return '';
  const words: Readonly<Record<NeedleOutcome, string>> = {
    invented: 'made up an answer',
    lost: 'did not find the needle',
    echoed: 'gave back a decoy or the question',
    found: 'found the needle',
    none: '',
  };
  if (marks.length === 1) return `The reply ${words[marks[0] ?? 'none']}.`;
  for (const outcome of ['invented', 'lost', 'echoed', 'found'] as const) {
    const times = marks.filter((mark) => mark === outcome).length;
    if (times === marks.length) return `All ${number(times)} replies ${words[outcome]}.`;
    if (times > 0) return `${capital(number(times))} of ${number(marks.length)} replies ${words[outcome]}.`;
  }
  return '';
}

/** All needles stood clearly in what was cut away. Template and question take a few tokens at the ends. */
export function neverSeen({ cell, sent }: Reading): boolean {
  const { call } = cell;
  if (call === null || sent === null || call.needle === 'found') return false;
  const { headKept, tailKept } = call.truncation;
  if (headKept === null || tailKept === null || cell.plan.depths.length === 0) return false;
  return cell.plan.depths.every((depth) => {
    const at = (depth / 100) * sent.tokens;
    return at + TEMPLATE_TOKENS > headKept && at + QUESTION_TOKENS < sent.tokens - tailKept;
  });
}

const TEMPLATE_TOKENS = 40;
const QUESTION_TOKENS = 150;
const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
export const number = (value: number): string => words[value] ?? count(value);
export const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
