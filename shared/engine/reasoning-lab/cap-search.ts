/** The cap search of a run: which try comes next, and what the tries so far say. All of it follows from the finished cells. */
import type { CallSummary } from '../../contract/calls.ts';
import type { ReasoningCell } from '../../contract/experiments.ts';
import type { CellKey } from '../../contract/ids.ts';
import type { CapResult, CapSearch, ReasoningCellPlan, ReasoningExperiment } from '../../contract/reasoning.ts';
import type { Tokens } from '../../contract/units.ts';
import { keyPart } from '../context-lab/key-part.ts';
import { type CapOutcome, type CapState, createCapFinder } from './cap-finder.ts';
import { thinkName } from './variants.ts';

/** The first try of a model: its largest cap. */
export function firstSearchCell(
  experiment: ReasoningExperiment,
  model: string,
  index: number,
): ReasoningCellPlan | null {
  return experiment.findCap === undefined
    ? null
    : searchCell(experiment, experiment.findCap, model, index, experiment.findCap.capMax, 0);
}

/**
 * The try that the search of this model waits for; null when it is over, or was never planned. The same cell again where it has no
 * result yet.
 */
export function nextSearchCell(
  experiment: ReasoningExperiment,
  model: string,
  cells: readonly ReasoningCell[],
): ReasoningCellPlan | null {
  const { findCap } = experiment;
  const tries = triesOf(model, cells);
  if (findCap === undefined || tries.size === 0) return null;
  const { state } = replay(experiment, findCap, model, tries);
  if (state.kind !== 'run') return null;
  const next = searchCell(experiment, findCap, model, cells.length, state.cap, state.seedOffset);
  return tries.get(next.key)?.plan ?? next;
}

export function capResults(experiment: ReasoningExperiment, cells: readonly ReasoningCell[]): CapResult[] {
  const { findCap } = experiment;
  if (findCap === undefined) return [];
  return [...new Set(experiment.axes.models)].flatMap((model) => {
    const tries = triesOf(model, cells);
    return tries.size === 0 ? [] : [resultOf(findCap, model, replay(experiment, findCap, model, tries))];
  });
}

/** The most calls one model can take: both ends, and halves of what lies between, each so often in a row. */
export function searchCallsMax({ capMin, capMax, inARow, within, runsMax }: CapSearch): number {
  const halves = Math.ceil(Math.log2(Math.max(1, (capMax - capMin) / within)));
  return Math.min(runsMax, inARow * (2 + halves));
}

interface Replay {
  readonly state: CapState;
  readonly enough: number | null;
  readonly notEnough: number | null;
}

function triesOf(model: string, cells: readonly ReasoningCell[]): ReadonlyMap<CellKey, ReasoningCell> {
  return new Map(
    cells.flatMap((cell) => (cell.plan.search === true && cell.plan.model === model ? [[cell.plan.key, cell]] : [])),
  );
}

/** A try that failed for another reason than its cap ends the search: it says nothing about caps. */
function replay(
  experiment: ReasoningExperiment,
  search: CapSearch,
  model: string,
  tries: ReadonlyMap<CellKey, ReasoningCell>,
): Replay {
  const finder = createCapFinder(search);
  let notEnough: number | null = null;
  const answers = new Map<number, number>();
  for (let { state } = finder; state.kind === 'run';) {
    const cell = tries.get(searchCell(experiment, search, model, 0, state.cap, state.seedOffset).key);
    if (cell?.state === 'failed')
      return {
        state: { kind: 'gave-up', cap: null, runsMade: state.runsMade },
        enough: enoughOf(answers, search),
        notEnough,
      };
    if (cell?.state !== 'done' || cell.call === null) break;
    const outcome = outcomeOf(cell.call);
    if (outcome === 'answered') answers.set(state.cap, (answers.get(state.cap) ?? 0) + 1);
    else notEnough = state.cap;
    state = finder.next(outcome);
  }
  return { state: finder.state, enough: enoughOf(answers, search), notEnough };
}

function enoughOf(answers: ReadonlyMap<number, number>, { inARow }: CapSearch): number | null {
  const caps = [...answers].flatMap(([cap, count]) => (count >= inARow ? [cap] : []));
  return caps.length === 0 ? null : Math.min(...caps);
}

/** An answer that the cap cut is none. */
function outcomeOf({ reasoning }: CallSummary): CapOutcome {
  return reasoning?.outcome === 'answered' && reasoning.complete === true ? 'answered' : 'not-answered';
}

function searchCell(
  { seed, numCtx }: ReasoningExperiment,
  { think }: CapSearch,
  model: string,
  index: number,
  cap: number,
  seedOffset: number,
): ReasoningCellPlan {
  const variant = `find ${thinkName(think)}`;
  return {
    kind: 'reasoning',
    key: [keyPart(model, 80), variant, cap, `r${seedOffset}`].join('|') as CellKey,
    index,
    model,
    variant,
    think,
    numPredict: cap,
    thinkingCap: null,
    numCtx: numCtx as Tokens | null,
    repeat: seedOffset,
    seed: seed + seedOffset,
    warmUp: false,
    search: true,
  };
}

function resultOf(search: CapSearch, model: string, { state, enough, notEnough }: Replay): CapResult {
  const result = {
    model,
    think: search.think,
    state: state.kind === 'run' ? ('searching' as const) : state.kind,
    cap: enough as Tokens | null,
    notEnough: notEnough as Tokens | null,
    runsMade: state.runsMade,
  };
  return { ...result, sentence: sentenceOf(search, result) };
}

function sentenceOf(
  { think, inARow, capMax }: CapSearch,
  { state, cap, notEnough, runsMade }: Omit<CapResult, 'sentence'>,
): string {
  const name = `think ${thinkName(think)}`;
  const times = inARow === 1 ? 'answered' : `answered ${inARow} times in a row`;
  if (state === 'not-found') return `${name}: not even ${grouped(capMax)} tokens ${times}.`;
  const sofar =
    cap === null
      ? ''
      : ` ${grouped(cap)} tokens ${times}${notEnough === null ? '' : `, ${grouped(notEnough)} did not`}.`;
  if (state === 'found') return `${name}:${sofar}`;
  if (state === 'searching') return `${name}: searching, ${runsMade} calls so far.${sofar}`;
  return `${name}: given up after ${runsMade} calls.${sofar}`;
}

const grouped = (value: number): string => value.toLocaleString('en-US');
