/** Lanes of a run: one a model and variant, with its repeats, the one that is shown, and what it comes to. Pure. */
import type { CallReasoning, CallSummary } from '../../../shared/contract/calls.ts';
import type { ReasoningCell } from '../../../shared/contract/experiments.ts';
import type { LaneSummary, ReasoningExperiment } from '../../../shared/contract/reasoning.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import { count } from '../../format/numbers.ts';
import { thinkWord, variantLabelOf } from '../../format/reasoning.ts';

export interface Lane {
  readonly key: string;
  readonly model: string;
  readonly name: string;
  readonly plan: ReasoningCell['plan'];
  /** By repeat, warm-ups left out. */
  readonly repeats: readonly ReasoningCell[];
  /** What the picture and the row stand for: the picked one, the one at work, else the last that ended. */
  readonly shown: ReasoningCell;
  readonly ended: number;
  readonly answered: number;
  /** How often off was obeyed; null where thinking was not switched off or nothing has ended. */
  readonly obeyed: string | null;
}

export interface LaneSet {
  readonly lanes: readonly Lane[];
  readonly warmUps: readonly ReasoningCell[];
}

export type Mark = 'answered' | 'no-answer' | 'failed' | 'running' | 'waiting';

/** `picked`: cells the person chose to see, the last choice in each lane counts. */
export function laneSetOf(cells: Iterable<ReasoningCell>, picked: ReadonlySet<string> = noPicks): LaneSet {
  const groups = new Map<string, ReasoningCell[]>();
  const warmUps: ReasoningCell[] = [];
  for (const cell of [...cells].sort((a, b) => a.plan.index - b.plan.index)) {
    if (cell.plan.warmUp) {
      warmUps.push(cell);
      continue;
    }
    const key = laneKey(cell.plan);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [cell]);
    else group.push(cell);
  }
  const lanes = [...groups].map(([key, repeats]) => laneOf(key, repeats, picked));
  return { lanes, warmUps };
}

const noPicks: ReadonlySet<string> = new Set();

export const laneKey = ({ model, variant }: { model: string; variant: string }): string => `${model}\n${variant}`;

function laneOf(key: string, cells: readonly ReasoningCell[], picked: ReadonlySet<string>): Lane {
  const repeats = [...cells].sort((a, b) => a.plan.repeat - b.plan.repeat);
  const [first] = repeats;
  if (first === undefined) throw new Error('a lane has at least one cell');
  const marks = repeats.map(markOf);
  const ended = marks.filter((mark) => mark !== 'running' && mark !== 'waiting').length;
  return {
    key,
    model: first.plan.model,
    name: laneName(first.plan),
    plan: first.plan,
    repeats,
    shown:
      repeats.findLast(({ plan }) => picked.has(plan.key)) ??
      repeats.find(({ state }) => state === 'running') ??
      repeats.findLast(({ call }) => call !== null) ??
      first,
    ended,
    answered: marks.filter((mark) => mark === 'answered').length,
    obeyed: obeyedText(repeats),
  };
}

export const laneName = ({ variant }: Pick<ReasoningCell['plan'], 'variant'>): string => variantLabelOf(variant);

export function markOf({ state, call }: ReasoningCell): Mark {
  if (call === null) return state === 'running' ? 'running' : state === 'failed' ? 'failed' : 'waiting';
  if (state === 'running') return 'running';
  const outcome = call.reasoning?.outcome ?? null;
  if (outcome === 'answered' || outcome === 'tool-only') return 'answered';
  return outcome === null || outcome === 'refused' || outcome === 'error-mid-stream' ? 'failed' : 'no-answer';
}

/** ● no answer, ○ answered, ✕ failed, · not yet. */
export const markSigns: Readonly<Record<Mark, string>> = {
  'no-answer': '●',
  answered: '○',
  failed: '✕',
  running: '◌',
  waiting: '·',
};

export const marksText = (lane: Lane): string => lane.repeats.map((cell) => markSigns[markOf(cell)]).join('');

export const readingOf = ({ call }: ReasoningCell): CallReasoning | null => call?.reasoning ?? null;

function obeyedText(repeats: readonly ReasoningCell[]): string | null {
  if (repeats[0]?.plan.think !== false) return null;
  let [obeyed, told, suspect] = [0, 0, 0];
  for (const cell of repeats) {
    const obedience = readingOf(cell)?.obedience;
    if (obedience === 'obeyed') obeyed += 1;
    if (obedience === 'suspect') suspect += 1;
    if (obedience === 'obeyed' || obedience === 'not-obeyed' || obedience === 'suspect') told += 1;
  }
  if (told === 0) return null;
  return `off obeyed ${count(obeyed)} of ${count(told)}${suspect === 0 ? '' : `, ${count(suspect)} in doubt`}`;
}

/** The engine's own count where it is there: it knows the rows that are not loaded here. */
export function withSummaries(lanes: readonly Lane[], summaries: readonly LaneSummary[]): readonly Lane[] {
  const found = new Map(summaries.map((summary) => [laneKey(summary), summary]));
  return lanes.map((lane) => {
    const sentence = found.get(lane.key)?.obeyed?.sentence;
    return sentence === undefined || found.get(lane.key)?.obeyed?.of === 0 ? lane : { ...lane, obeyed: sentence };
  });
}

/** All generated tokens, those of a first step included: as reported, else what the split says. */
export function outputTokens(call: CallSummary): number | null {
  const own = ownTokens(call);
  return own === null ? null : own + (call.askedAfter?.thinkingTokens ?? 0);
}

/** From sending to the end; of two steps, both. */
export const wholeMs = (call: CallSummary): number => call.wallMs + (call.askedAfter?.wallMs ?? 0);

/** Of this call alone. */
export function ownTokens(call: CallSummary): number | null {
  const split = call.reasoning?.split ?? null;
  if (split?.thinkingOutsideCount === true && split.thinkingTokens !== null && call.evalCount !== null)
    return call.evalCount + split.thinkingTokens;
  if (call.evalCount !== null) return call.evalCount;
  if (split === null) return null;
  const parts = [split.thinkingTokens, split.answerTokens, split.hiddenTokens, split.otherTokens];
  return parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

/** Generated tokens a second; by the server's own clock where it gave one. */
export function outputRate(call: CallSummary): number | null {
  const tokens = call.evalCount;
  const timeMs =
    call.evalDurationMs ?? (call.timeToFirstTokenMs === null ? null : call.wallMs - call.timeToFirstTokenMs);
  return tokens === null || timeMs === null || timeMs <= 0 ? null : (tokens * 1_000) / timeMs;
}

/** How many lanes gave an answer in every run that ended, of those where one ended. */
export function settingsThatAnswer(lanes: readonly Lane[]): { readonly answered: number; readonly of: number } {
  const told = lanes.filter(({ ended }) => ended > 0);
  return { answered: told.filter(({ answered }) => answered > 0).length, of: told.length };
}

/** The cells an experiment is going to have, for the picture before the first run. Keys are this screen's own. */
export function plannedCells({ axes, numCtx, seed }: ReasoningExperiment): readonly ReasoningCell[] {
  const cells: ReasoningCell[] = [];
  for (const model of axes.models)
    for (const { name, think, numPredict, thinkingCap } of axes.variants)
      for (let repeat = 0; repeat < Math.min(axes.repeats, PLANNED_REPEATS_MAX); repeat += 1) {
        if (cells.length === PLANNED_CELLS_MAX) return cells;
        cells.push({
          plan: {
            kind: 'reasoning',
            key: `planned ${cells.length}` as CellKey,
            index: cells.length,
            model,
            variant:
              name ??
              `${thinkWord(think)}/${numPredict}${thinkingCap === undefined ? '' : `/t${thinkingCap.tokensMax}${thinkingCap.then === 'stop' ? '' : '+'}`}`,
            think,
            numPredict,
            thinkingCap: thinkingCap ?? null,
            numCtx: numCtx as ReasoningCell['plan']['numCtx'],
            repeat,
            seed: seed + repeat,
            warmUp: false,
          },
          state: 'waiting',
          documentCharacters: null,
          call: null,
        });
      }
  return cells;
}

const PLANNED_CELLS_MAX = 400;
const PLANNED_REPEATS_MAX = 20;
