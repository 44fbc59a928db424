import { Play } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { RequestResult } from '../../../shared/contract/requests.ts';
import { Button } from '../../components/button.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { aboutDuration, count } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { defaultExperiment, smallestModel, startDefaultProbe } from '../../stores/default-probe.ts';

/** One click runs the classic experiment on the smallest model and goes to its page. What it costs stands beside it. */
export function GuidedProbe() {
  const client = useClient();
  const model = useEngine((state) => smallestModel(state.server?.models ?? []));
  const [starting, setStarting] = useState(false);
  const plan = usePlan(model?.name ?? null, model?.trainedContext ?? null);
  if (model === undefined) return null;
  const start = (): void => {
    setStarting(true);
    void startDefaultProbe(client).finally(() => {
      setStarting(false);
    });
  };
  return (
    <div className="border-y px-6 py-4">
      <p className="lead">Two-minute guided probe</p>
      <p className="max-w-[64ch]">
        Four texts from 2,000 to 120,000 characters with a code on the first line, at the server's default window and at
        a wide one, on the smallest model. You see where the code is lost although the status is 200.
      </p>
      <p className="flex gap-1">
        Model <ModelName name={model.name} />
      </p>
      <div className="mt-3 flex items-center gap-3">
        <Button look="primary" icon={Play} disabled={starting} onClick={start}>
          Run the guided probe
        </Button>
        <span className="lab">{planText(plan)}</span>
      </div>
    </div>
  );
}

function usePlan(model: string | null, trained: number | null): RequestResult<'context.plan'> | null {
  const client = useClient();
  const [plan, setPlan] = useState<RequestResult<'context.plan'> | null>(null);
  useEffect(() => {
    if (model === null) return;
    let current = true;
    void client.request('context.plan', defaultExperiment(model, trained)).then((answer) => {
      if (current && answer.ok) setPlan(answer.value);
    });
    return () => {
      current = false;
    };
  }, [client, model, trained]);
  return plan;
}

function planText(plan: RequestResult<'context.plan'> | null): string {
  if (plan === null) return '8 cells';
  const time = plan.timeMs === null ? 'time not known yet' : aboutDuration(plan.timeMs);
  return `${count(plan.calls)} calls · up to ${count(plan.tokensMax)} tokens · ${time}`;
}
