/** The next step under a verdict: the window that holds the text, what a run there costs, and its button. */
import { useState } from 'react';
import type { ContextExperiment, ContextRun } from '../../../shared/contract/experiments.ts';
import { Button } from '../../components/button.tsx';
import { count } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { startRun } from '../../stores/run-actions.ts';
import type { Reading, Trial } from './trials.ts';
import { windowOf } from './trials.ts';
import { costText, usePlan } from '../../stores/use-plan.ts';

export interface FittingRunProps {
  readonly run: ContextRun;
  readonly reading: Reading;
  readonly trial: Trial | null;
  readonly siblings: readonly Trial[];
}

export function FittingRun({ run, reading, trial, siblings }: FittingRunProps) {
  const client = useClient();
  const [starting, setStarting] = useState(false);
  const held = siblings.find(({ shown }) => shown.lost?.tokens === 0 && shown.lost.counted);
  const lost = isShort(reading);
  const heldWindow = held === undefined ? null : windowOf(held.shown.cell);
  const window = heldWindow ?? reading.cell.call?.truncation.fitsNumCtx ?? null;
  const experiment = trial === null || !lost || window === null ? null : experimentAt(run, trial, window);
  const { plan, denial } = usePlan(experiment);
  if (reading.cell.call === null || trial === null || !lost) return null;
  if (experiment === null)
    return <p className="text-ink">{reading.cell.call.truncation.next ?? 'No window of this model would hold it.'}</p>;
  const start = (): void => {
    setStarting(true);
    void startRun(client, experiment).finally(() => {
      setStarting(false);
    });
  };
  return (
    <div className="flex items-center gap-2">
      <span className="min-w-0 flex-1">
        <span className="block text-ink">
          {count(window)} {heldWindow === null ? 'would hold' : 'held'} it all.
        </span>
        <span className="lab block text-balance">
          {denial?.message ??
            (plan === null ? 'cost on its way' : costText(plan, trial.readings.length).replace(/^[^·]*· /u, ''))}
        </span>
      </span>
      <Button disabled={starting || run.state === 'running'} onClick={start}>
        Run at {count(window)}
      </Button>
    </div>
  );
}

/** The window was too small for it: there is a next step. */
export function isShort({ cell, lost }: Reading): boolean {
  return (lost !== null && lost.tokens > 0) || cell.call?.truncation.kinds.includes('refused') === true;
}

/** The same text, needle, route and policy with as many repeats, in one window. */
export function experimentAt(run: ContextRun, { plan, readings }: Trial, window: number): ContextExperiment {
  const { name: _name, ...experiment } = run.experiment;
  return {
    ...experiment,
    axes: {
      models: [plan.model],
      numCtx: [window as ContextExperiment['axes']['numCtx'][number]],
      sizes: [plan.size],
      needleDepths: [plan.depths.length === 1 ? (plan.depths[0] ?? 0) : [...plan.depths]],
      routes: [plan.route],
      policies: [plan.policy],
      repeats: readings.length,
    },
  };
}
