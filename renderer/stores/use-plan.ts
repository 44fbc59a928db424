/** What the experiment would cost, asked again a moment after the last change. */
import { useEffect, useState } from 'react';
import type { Denial } from '../../shared/contract/denials.ts';
import type { Experiment, PlanSummary } from '../../shared/contract/experiments.ts';
import { counted, count, roughDuration } from '../format/numbers.ts';
import { useClient } from './engine-context.ts';

export interface PlanState {
  readonly plan: PlanSummary | null;
  readonly denial: Denial | null;
}

const ASK_DELAY_MS = 250;
const nothing: PlanState = { plan: null, denial: null };

/** `askAgain` changes when the answer may have changed though the experiment did not, such as at the end of a run. */
export function usePlan(experiment: Experiment | null, askAgain: unknown = null): PlanState {
  const client = useClient();
  const [state, setState] = useState<PlanState>(nothing);
  const key = experiment === null ? '' : JSON.stringify(experiment);
  useEffect(() => {
    if (experiment === null) return;
    let current = true;
    const timer = setTimeout(() => {
      const asked =
        experiment.kind === 'context'
          ? client.request('context.plan', experiment)
          : client.request('reasoning.plan', experiment);
      void asked.then((answer) => {
        if (!current) return;
        setState(answer.ok ? { plan: answer.value, denial: null } : { plan: null, denial: answer.denial });
      });
    }, ASK_DELAY_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
    // The experiment is a new object at every key stroke; its text tells whether it changed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, key, askAgain]);
  return experiment === null ? nothing : state;
}

/** `12 cells · 36 calls · up to 501,930 tokens · about 12 min` */
export function costText(plan: Pick<PlanSummary, 'cells' | 'calls' | 'tokensMax' | 'timeMs'>, repeats: number): string {
  const trials = Math.round(plan.cells / Math.max(1, repeats));
  const time = plan.timeMs === null ? 'time not known before the first call' : `about ${roughDuration(plan.timeMs)}`;
  return `${counted(trials, 'cell')} · ${counted(plan.calls, 'call')} · up to ${count(plan.tokensMax)} tokens · ${time}`;
}
