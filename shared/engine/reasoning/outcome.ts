/** What ended a reply, and what became of it. Decided from the counts and settings; `done_reason` is one witness among them. */
import type { ReasoningVerdict } from '../../contract/verdicts.ts';
import { paddedWindow } from '../truncation/shift.ts';
import type { ReasoningEnd, ReasoningInput } from './types.ts';

export type EndedBy = ReasoningVerdict['endedBy'];
type Cause = ReasoningVerdict['cause'];

/** shifted: more tokens than the window holds, so its head was dropped while the reply was written. limit: where it ended. */
export interface EndReading {
  readonly endedBy: EndedBy;
  readonly shifted: boolean;
  readonly limit: number | null;
}

/** A cap of 0 or below is no cap. */
export function capOf(numPredict: number | null): number | null {
  return numPredict !== null && numPredict > 0 ? numPredict : null;
}

export function readEnd(input: ReasoningInput): EndReading {
  const { end, settings } = input;
  const limit = limitOf(input);
  const used = end.promptEvalCount === null || end.evalCount === null ? null : end.promptEvalCount + end.evalCount;
  // The native path pads the window, so only what is over the padded one is over every window this can be.
  const isOver = settings.shift !== false && limit !== null && used !== null && used > limit.highest;
  const shifted = isOver || (input.shifts ?? 0) > 0;
  const reading = (endedBy: EndedBy): EndReading => ({ endedBy, shifted, limit: limit?.asked ?? null });

  if (end.ending === 'aborted') return reading('client');
  if (end.ending === 'error-line' || end.ending === 'refused') return reading('error');
  if (end.ending === 'cut') return reading(isRepeating(input) ? 'repeat' : 'connection');
  if (end.ending !== 'done') return reading('none');
  if (isLengthReason(end.doneReason)) return reading(boundOf(input, shifted, used, limit));
  if (end.doneReason !== null && end.doneReason !== '')
    return reading(NOTHING_ASKED.has(end.doneReason) ? 'none' : 'stop');
  const cap = capOf(settings.numPredict);
  return reading(cap !== null && end.evalCount !== null && end.evalCount >= cap ? 'cap' : 'stop');
}

const NOTHING_ASKED = new Set(['load', 'unload']);

function isLengthReason(reason: string | null): boolean {
  return reason === 'length' || reason === 'max_tokens' || reason === 'limit';
}

interface Limit {
  readonly asked: number;
  readonly exact: ReadonlySet<number>;
  readonly highest: number;
}

function limitOf({ settings }: ReasoningInput): Limit | null {
  const windows = [settings.window, settings.numCtx].filter(
    (window): window is number => window !== null && window > 0,
  );
  const [asked] = windows;
  if (asked === undefined) return null;
  const exact = new Set(windows.flatMap((window) => [window, paddedWindow(window)]));
  return { asked, exact, highest: Math.max(...exact) };
}

/** Which bound a reply that was cut by length ran into. `none`: a bound that the settings do not show. */
function boundOf(input: ReasoningInput, shifted: boolean, used: number | null, limit: Limit | null): EndedBy {
  const cap = capOf(input.settings.numPredict);
  const { evalCount, promptEvalCount } = input.end;
  if (shifted) return 'shift';
  if (cap !== null && evalCount !== null && evalCount >= cap) return 'cap';
  if (used !== null && limit !== null && limit.exact.has(used)) return 'window';
  if (evalCount === null) {
    if (cap === null) return limit === null ? 'none' : 'window';
    if (limit === null || promptEvalCount === null) return 'cap';
    return promptEvalCount + cap <= Math.min(...limit.exact) ? 'cap' : 'window';
  }
  // Under the cap, so another bound ended it: a window that is not known here, or a cap of the model's own.
  if (cap !== null) return limit === null ? 'window' : 'none';
  return limit === null ? 'none' : 'cap';
}

/** The server ends a stream after 31 equal tokens in a row, without a last line. */
const REPEATS_MIN = 30;

function isRepeating({ content, thinking }: ReasoningInput): boolean {
  const tail = (content === '' ? thinking : content).slice(-4_000);
  return new RegExp(`(?<piece>[^]{1,${Math.floor(4_000 / REPEATS_MIN)}}?)\\k<piece>{${REPEATS_MIN - 1},}\\s*$`).test(
    tail,
  );
}

export interface Texts {
  readonly hasAnswer: boolean;
  readonly hasThinking: boolean;
}

export function outcomeOf(end: ReasoningEnd, texts: Texts, toolCalls: number): ReasoningVerdict['outcome'] {
  if (end.ending === 'refused' || end.ending === 'unreachable' || end.ending === 'not-sent') return 'refused';
  if (end.ending === 'error-line') return 'error-mid-stream';
  if (end.ending === 'cut' || end.ending === 'aborted') return 'cut';
  if (texts.hasAnswer) return 'answered';
  if (toolCalls > 0) return 'tool-only';
  return texts.hasThinking ? 'starved' : 'empty';
}

/** null for every other outcome, and where the bound is not known. */
export function causeOf(outcome: ReasoningVerdict['outcome'], endedBy: EndedBy, end: ReasoningEnd): Cause {
  if (outcome === 'refused') return refusalCause(end);
  if (outcome !== 'starved') return null;
  return endedBy === 'cap' || endedBy === 'window' || endedBy === 'shift' || endedBy === 'stop' ? endedBy : null;
}

function refusalCause({ error, status, needs, ending }: ReasoningEnd): Cause {
  if (ending !== 'refused') return null;
  const text = error ?? '';
  if (/does not support (?:thinking|tools|chat|generate|insert|vision|completion)/i.test(text)) return 'capability';
  if (/(?:invalid )?think(?:ing)? value|reasoning[ _]effort/i.test(text)) return 'think-value';
  if (needs !== null || /exceeds? the (?:available )?context|context (?:length|size|window)|input length/i.test(text))
    return 'prompt-too-long';
  return status !== null && status >= 500 ? 'server' : null;
}
