/** Presenter mode: one chart and one sentence, readable from the back of a room. */
import { useMemo } from 'react';
import type { ContextRun } from '../../../shared/contract/experiments.ts';
import { CliffChart } from '../../charts/cliff-chart.tsx';
import { cliffModel } from '../../charts/cliff-model.ts';
import { SimulatedTag } from '../../components/chip.tsx';
import { count, counted } from '../../format/numbers.ts';
import { axisValues, mapViewOf } from './axes.ts';
import { cliffSeries } from './map-and-chart.tsx';
import { repliesText } from './trial-words.ts';
import type { Lab, Trial } from './trials.ts';
import { windowOf } from './trials.ts';

export function PresentedRun({ run, lab }: { readonly run: ContextRun; readonly lab: Lab }) {
  const view = useMemo(() => mapViewOf(axisValues(lab.trials), {}), [lab]);
  const cliff = useMemo(() => cliffModel(cliffSeries(lab.trials, view)), [lab, view]);
  const worst = worstOf(lab.trials);
  return (
    <main aria-label="Context" className="flex h-full min-h-0 min-w-0 flex-col px-8 pt-4 pb-2">
      <p className="text-figure text-ink">
        {presentedSentence(worst, run, cliff.refusals.length)} {run.simulated ? <SimulatedTag /> : null}
      </p>
      <div className="min-h-0 flex-1 pt-2">
        <CliffChart model={cliff} picked={worst?.key ?? null} simulated={run.simulated} />
      </div>
    </main>
  );
}

export function presentedSentence(worst: Trial | null, run: ContextRun, refused = 0): string {
  if (worst === null && refused > 0)
    return `${counted(refused, 'text')} ${refused === 1 ? 'was' : 'were'} refused as too long for the window; of the others nothing was lost.`;
  if (worst === null)
    return run.state === 'running'
      ? `${count(run.cellsDone)} of ${count(run.cellsTotal)} calls done; nothing was lost so far.`
      : 'Nothing was lost.';
  const { sent, lost, cell } = worst.shown;
  const about = sent?.counted === true ? '' : 'about ';
  return `Of ${about}${count(sent?.tokens)} tokens the model read ${count(cell.call?.promptEvalCount)}: ${lost?.counted === true ? '' : 'about '}${count(lost?.tokens)} were lost at a window of ${count(windowOf(cell))}, and the status was 200. ${repliesText(worst.marks)}`;
}

function worstOf(trials: readonly Trial[]): Trial | null {
  let worst: Trial | null = null;
  for (const trial of trials) {
    const lost = trial.shown.lost?.tokens ?? 0;
    if (lost > (worst?.shown.lost?.tokens ?? 0)) worst = trial;
  }
  return worst;
}
