/** The next step under a verdict, and the run in two steps: think to a small cap, stop, ask for the answer alone. */
import { useState } from 'react';
import type { ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { ReasoningExperiment } from '../../../shared/contract/reasoning.ts';
import { Button } from '../../components/button.tsx';
import { useClient } from '../../stores/engine-context.ts';
import { startRun } from '../../stores/run-actions.ts';
import { usePlan } from '../../stores/use-plan.ts';
import { costText } from './experiment-head.tsx';
import { readingOf } from './lanes.ts';

export interface NextStepProps {
  readonly run: ReasoningRun;
  readonly cell: ReasoningCell;
  readonly canThink: boolean | null;
}

export function NextStep({ run, cell, canThink }: NextStepProps) {
  const client = useClient();
  const [starting, setStarting] = useState(false);
  const reading = readingOf(cell);
  const experiment = twoSteps(run, cell, canThink);
  const { plan, denial } = usePlan(experiment, run.state);
  if (reading === null) return null;
  if (experiment === null) return <p className="text-ink">{reading.next ?? 'Nothing to do.'}</p>;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="min-w-52 flex-1 wrap-anywhere text-ink">
        <span className="lab mr-2">Next</span>
        Let it think to a small cap, stop, then ask for the answer alone.
      </span>
      <span className="lab text-balance">
        {denial?.message ?? (plan === null ? 'cost on its way' : costText({ ...plan, calls: plan.calls * 2 }))}
      </span>
      <Button
        disabled={starting || denial !== null || run.state === 'running'}
        title={reading.next ?? ''}
        onClick={() => {
          setStarting(true);
          void startRun(client, experiment).finally(() => {
            setStarting(false);
          });
        }}
      >
        Try in two steps
      </Button>
    </div>
  );
}

const THINKING_TOKENS = 256;

/** For what starved at its cap: the same question once, thinking stopped early and asked again. null where it would not help. */
export function twoSteps(run: ReasoningRun, cell: ReasoningCell, canThink: boolean | null): ReasoningExperiment | null {
  const reading = readingOf(cell);
  const { plan } = cell;
  if (reading?.outcome !== 'starved' || reading.cause === 'stop' || canThink === false || plan.thinkingCap !== null)
    return null;
  const { name: _name, ...experiment } = run.experiment;
  // The answer may need as many tokens again.
  const tokensMax = Math.min(THINKING_TOKENS, Math.max(1, Math.floor(plan.numPredict / 2)));
  return {
    ...experiment,
    warmUp: false,
    axes: {
      models: [plan.model],
      variants: [
        {
          think: true,
          numPredict: Math.min(plan.numPredict, 2 * tokensMax),
          thinkingCap: { tokensMax, then: 'ask-again' },
        },
      ],
      repeats: 1,
    },
  };
}
