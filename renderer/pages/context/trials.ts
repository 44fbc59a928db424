/**
 * From the cells of a run to what the page draws. A trial is one point of the axes with all its repeats. Pure: cells in,
 * trials out, in running order.
 *
 * How long a prompt was: a server that cuts reports only what it kept. Where the same document went whole into another
 * window, its reported count is the true size, so that what the cut took is counted and not estimated.
 */
import type { CallSummary } from '../../../shared/contract/calls.ts';
import type { ContextCell, ContextCellPlan, DocumentSize } from '../../../shared/contract/experiments.ts';
import type { NeedleOutcome, TruncationKind } from '../../../shared/contract/verdicts.ts';
import { lostSomething } from '../../format/verdicts.ts';

/** Tokens of a whole prompt. `counted`: a server reported it; else low, likely and high are an estimate. */
export interface Sent {
  readonly tokens: number;
  readonly counted: boolean;
  readonly low: number;
  readonly high: number;
}

/** Prompt tokens that the model never read. */
export interface Lost {
  readonly tokens: number;
  readonly counted: boolean;
  readonly atLeast: boolean;
}

/** One call with what the other calls of the run tell about it. */
export interface Reading {
  readonly cell: ContextCell;
  readonly sent: Sent | null;
  readonly lost: Lost | null;
}

export interface Trial {
  readonly key: string;
  readonly plan: ContextCellPlan;
  readonly readings: readonly Reading[];
  readonly state: ContextCell['state'];
  /** The reading that stands for all: the worst of those that ended, else the first. */
  readonly shown: Reading;
  /** One for each repeat that ended with a judged needle, in order of the repeats. */
  readonly marks: readonly NeedleOutcome[];
}

export interface Lab {
  readonly trials: readonly Trial[];
  readonly warmUps: readonly Reading[];
}

export function labOf(cells: Iterable<ContextCell>): Lab {
  const ordered = [...cells].sort((a, b) => a.plan.index - b.plan.index);
  const counts = countedSizes(ordered);
  const groups = new Map<string, Reading[]>();
  const warmUps: Reading[] = [];
  for (const cell of ordered) {
    const reading = readingOf(cell, counts);
    if (cell.plan.warmUp) {
      warmUps.push(reading);
      continue;
    }
    const key = trialKey(cell.plan);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [reading]);
    else group.push(reading);
  }
  return { trials: [...groups].map(([key, readings]) => trialOf(key, readings)), warmUps };
}

export function trialKey(plan: ContextCellPlan): string {
  return [
    plan.model,
    plan.numCtx ?? 'default',
    sizeKey(plan.size),
    plan.depths.join('+'),
    plan.route,
    plan.policy,
  ].join('\u241f');
}

export function sizeKey(size: DocumentSize): string {
  return typeof size === 'number' ? String(size) : `${size.tokens}t`;
}

/** Calls that went whole, by document. */
export function countedSizes(cells: readonly ContextCell[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { plan, call } of cells) {
    const whole = call === null ? null : wholeCount(call);
    if (whole !== null) counts.set(documentKey(plan), whole);
  }
  return counts;
}

/** The verdict that stands for several: higher is worse. */
export function verdictRank(call: CallSummary | null): number {
  if (call === null) return -1;
  return Math.max(...call.truncation.kinds.map((kind) => kindRanks[kind]));
}

export const needleRanks: Readonly<Record<NeedleOutcome, number>> = {
  none: 0,
  found: 1,
  echoed: 2,
  lost: 3,
  invented: 4,
};

/** The window a call ran in, as far as it is known: running, else asked. */
export function windowOf(cell: ContextCell): number | null {
  return cell.call?.numCtxRunning ?? cell.plan.numCtx;
}

/** The mean of what is known; null when nothing is. */
export function meanOf(readings: readonly Reading[], pick: (call: CallSummary) => number | null): number | null {
  const known = readings.flatMap(({ cell }) => {
    const value = cell.call === null ? null : pick(cell.call);
    return value === null ? [] : [value];
  });
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

const kindRanks: Readonly<Record<TruncationKind, number>> = {
  intact: 0,
  unknown: 1,
  'window-full': 2,
  shifted: 3,
  refused: 4,
  'messages-dropped': 5,
  'cut-to-window': 6,
  halved: 6,
};

const documentKey = (plan: ContextCellPlan): string =>
  [plan.model, sizeKey(plan.size), plan.depths.join('+'), plan.route, plan.seed].join('\u241f');

/** null unless the verdict is sure that all of the prompt was read. */
function wholeCount(call: CallSummary): number | null {
  const { truncation, promptEvalCount } = call;
  if (truncation.sent !== null) return truncation.sent;
  const sure = truncation.confidence === 'certain' || truncation.confidence === 'exact';
  return sure && truncation.kinds.includes('intact') ? promptEvalCount : null;
}

function readingOf(cell: ContextCell, counts: ReadonlyMap<string, number>): Reading {
  const { call } = cell;
  if (call === null) return { cell, sent: null, lost: null };
  const counted = counts.get(documentKey(cell.plan));
  const { low, likely, high } = call.estimate;
  const sent: Sent =
    counted === undefined
      ? { tokens: likely, counted: false, low, high }
      : { tokens: counted, counted: true, low: counted, high: counted };
  return { cell, sent, lost: lostOf(call, sent) };
}

function lostOf(call: CallSummary, sent: Sent): Lost | null {
  const { kinds, lost, lostAtLeast, kept } = call.truncation;
  if (lost !== null) return { tokens: lost, counted: true, atLeast: lostAtLeast };
  if (kinds.includes('intact')) return { tokens: 0, counted: true, atLeast: false };
  const read = kept ?? call.promptEvalCount;
  if (read === null || !lostSomething(kinds) || kinds.every((kind) => kind === 'shifted')) return null;
  return { tokens: Math.max(0, sent.tokens - read), counted: sent.counted, atLeast: false };
}

function trialOf(key: string, readings: readonly Reading[]): Trial {
  const first = readings[0];
  if (first === undefined) throw new Error('A trial has at least one cell');
  return {
    key,
    plan: first.cell.plan,
    readings,
    state: stateOf(readings),
    shown: readings.reduce((worst, reading) => (rankOf(reading) > rankOf(worst) ? reading : worst), first),
    marks: readings.flatMap(({ cell }) =>
      cell.call === null || cell.call.needle === 'none' ? [] : [cell.call.needle],
    ),
  };
}

/** A cut outranks any needle; among equal cuts the needle decides; a call that failed stands for nothing but itself. */
function rankOf({ cell }: Reading): number {
  if (cell.call === null) return -1;
  if (cell.state === 'failed') return 0;
  return 10 + verdictRank(cell.call) * 10 + needleRanks[cell.call.needle];
}

function stateOf(readings: readonly Reading[]): ContextCell['state'] {
  const states = new Set(readings.map(({ cell }) => cell.state));
  if (states.has('running')) return 'running';
  if (states.has('waiting')) return states.has('done') || states.has('failed') ? 'running' : 'waiting';
  if (states.has('done')) return 'done';
  return states.has('failed') ? 'failed' : 'cancelled';
}
