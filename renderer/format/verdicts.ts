/** The words for verdicts, one place for the whole screen. Texts are facts with their numbers; the next step comes after. */
import type { CallRecord, CallSummary, Reply } from '../../shared/contract/calls.ts';
import type { NeedleOutcome, TruncationKind, TruncationVerdict } from '../../shared/contract/verdicts.ts';
import type { Severity } from '../components/badge.tsx';
import { count } from './numbers.ts';

export const kindWords: Record<TruncationKind, string> = {
  intact: 'intact',
  'messages-dropped': 'messages dropped',
  halved: 'halved',
  'cut-to-window': 'cut to window',
  refused: 'refused',
  shifted: 'shifted',
  'window-full': 'window full',
  unknown: 'cannot be told',
};

export const kindHelp: Record<TruncationKind, string> = {
  intact: 'The model read the whole prompt.',
  'messages-dropped': 'The server left out the oldest messages to make the rest fit.',
  halved: 'The server cut the prompt to about half of the window: a little of the head stays, then the tail.',
  'cut-to-window': 'The server cut the prompt to the size of the window.',
  refused: 'The server refused the prompt because it is longer than the window.',
  shifted: 'While the answer grew, the server threw away the older half of the window and went on.',
  'window-full': 'The reply ended where the window ended; done_reason only says length.',
  unknown: 'The reply does not carry enough to tell whether the prompt was cut.',
};

export const needleWords: Record<NeedleOutcome, { mark: string; word: string }> = {
  found: { mark: '✓', word: 'found' },
  lost: { mark: '✕', word: 'lost' },
  invented: { mark: '!', word: 'made up' },
  echoed: { mark: '≈', word: 'echoed' },
  none: { mark: '', word: 'no needle' },
};

/** One mark a repeat; many repeats are counted by kind, such as `✓ 27 ! 2`. */
export function marksText(outcomes: readonly NeedleOutcome[], marksMax = 6): string {
  const judged = outcomes.filter((outcome) => outcome !== 'none');
  if (judged.length <= marksMax) return judged.map((outcome) => needleWords[outcome].mark).join('');
  return [...new Set(judged)]
    .map((kind) => `${needleWords[kind].mark} ${judged.filter((outcome) => outcome === kind).length}`)
    .join(' ');
}

export function kindsText(kinds: readonly TruncationKind[]): string {
  return kinds.map((kind) => kindWords[kind]).join(' + ');
}

/** True when the model never saw part of the prompt, or lost part of it while answering. */
export function lostSomething(kinds: readonly TruncationKind[]): boolean {
  return kinds.some(
    (kind) => kind === 'messages-dropped' || kind === 'halved' || kind === 'cut-to-window' || kind === 'shifted',
  );
}

/** Outline = informed, filled = happened, filled with a bar = stopped by a refusal. */
export function severityOf(verdict: TruncationVerdict): Severity {
  if (verdict.kinds.includes('refused')) return 'stopped';
  return lostSomething(verdict.kinds) || verdict.kinds.includes('window-full') ? 'happened' : 'informed';
}

/** The chip: at most a few words. `sentEstimated` stands in, marked as such, where the whole prompt was not counted. */
export function verdictHeadline(verdict: TruncationVerdict, sentEstimated: number | null = null): string {
  const { kinds, kept, lost, needs, has, sent } = verdict;
  if (kinds.includes('refused'))
    return needs !== null && has !== null ? `Refused: ${count(needs)} over ${count(has)}` : 'Refused: over the window';
  if (kinds.includes('halved') || kinds.includes('cut-to-window')) {
    const whole = sent ?? (kept !== null && lost !== null && !verdict.lostAtLeast ? kept + lost : null);
    if (kept === null) return 'Prompt was cut';
    if (whole !== null) return `Cut to ${count(kept)} of ${count(whole)}`;
    return sentEstimated === null ? `Cut to ${count(kept)}` : `Cut to ${count(kept)} of ~${count(sentEstimated)}`;
  }
  if (kinds.includes('messages-dropped'))
    return lost === null ? 'Messages dropped' : `Messages dropped, ${count(lost)} lost`;
  if (kinds.includes('shifted'))
    return verdict.shifts === null ? 'Context shifted' : `Shifted ${count(verdict.shifts)} ×`;
  if (kinds.includes('window-full')) return 'Window full';
  return kinds.includes('intact') ? 'Nothing lost' : 'Cannot be told';
}

/** One or two sentences under the figures. */
export function verdictSentence(verdict: TruncationVerdict): string {
  const parts = verdict.kinds.map((kind) => kindHelp[kind]);
  if (verdict.headKept !== null && verdict.tailKept !== null && verdict.lost !== null && verdict.lost > 0)
    parts.push(`The first ${count(verdict.headKept)} and the last ${count(verdict.tailKept)} tokens stayed.`);
  return parts.join(' ');
}

export interface EndingFacts extends Pick<Reply, 'ending' | 'doneReason' | 'abortedBy' | 'error' | 'evalCount'> {
  readonly numPredict: number;
  readonly kinds: readonly TruncationKind[];
}

/** Why the reply ended. `length` blames the cap or the window only where the numbers say which of them it was. */
export function endingText(facts: EndingFacts): string {
  switch (facts.ending) {
    case 'done':
      return doneText(facts);
    case 'error-line':
      return `The server broke off: ${facts.error ?? 'no reason given'}`;
    case 'cut':
      return 'The stream ended without a done line. What is here is incomplete.';
    case 'aborted':
      if (facts.abortedBy === 'thinking-cap') return facts.error ?? 'Thinking was stopped at its cap.';
      return facts.abortedBy === 'timeout' ? 'Stopped: the time limit was reached.' : 'Stopped here.';
    case 'refused':
      return `Refused by the server: ${facts.error ?? 'no reason given'}`;
    case 'unreachable':
      return `The server did not answer: ${facts.error ?? 'no connection'}`;
    case 'not-sent':
      return facts.error ?? 'Not sent.';
  }
}

function doneText({ doneReason, evalCount, numPredict, kinds }: EndingFacts): string {
  switch (doneReason) {
    case 'stop':
      return 'Ended by itself.';
    case 'length':
      if (kinds.includes('window-full')) return 'Stopped where the window ended.';
      return evalCount !== null && evalCount >= numPredict
        ? 'Stopped at num_predict.'
        : 'Stopped at a length limit of the server.';
    case 'load':
      return 'Nothing was asked: the server only loaded the model.';
    case 'unload':
      return 'Nothing was asked: the server unloaded the model.';
    case null:
      return 'Ended.';
    default:
      return `Ended: ${doneReason}.`;
  }
}

/** The same for a stored or just closed call. */
export function endingOfSummary(call: CallSummary): string {
  return endingText({ ...call, abortedBy: null, kinds: call.truncation.kinds });
}

export function endingOfRecord({ reply, request, truncation }: CallRecord): string {
  return endingText({ ...reply, numPredict: request.numPredict, kinds: truncation.kinds });
}
