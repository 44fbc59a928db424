import { Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ContextExperiment } from '../../../shared/contract/experiments.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { NoServer, useServerReady } from '../../frame/no-server.tsx';
import { axisValues } from './axes.ts';
import type { MapWish } from './axes.ts';
import { MapAndChart } from './map-and-chart.tsx';
import { plannedCells } from './planned.ts';
import { labOf } from './trials.ts';

/** Before the first run: one press starts what the sentence says. */
export interface NoRunProps {
  /** null while the sentence cannot be read. */
  readonly experiment: ContextExperiment | null;
  readonly blocked: string | null;
  readonly busy: boolean;
  readonly onRun: () => void;
}

export function NoRun({ experiment, blocked, busy, onRun }: NoRunProps) {
  const ready = useServerReady();
  if (!ready) return <NoServer />;
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      {experiment === null ? null : <Planned experiment={experiment} />}
      <EmptyState
        title="No run yet"
        text="A code stands on the first line of a text, the question about it at the end. Each size goes into each window. You see where the code is lost although the status is 200."
      >
        <Button look="primary" icon={Play} disabled={busy || blocked !== null} title={blocked ?? ''} onClick={onRun}>
          Run it
        </Button>
      </EmptyState>
    </div>
  );
}

/** The pictures as they will be filled. */
function Planned({ experiment }: { readonly experiment: ContextExperiment }) {
  const [wish, setWish] = useState<MapWish>({});
  const { trials } = useMemo(() => labOf(plannedCells(experiment)), [experiment]);
  const values = useMemo(() => axisValues(trials), [trials]);
  return (
    <MapAndChart
      trials={trials}
      values={values}
      wish={wish}
      onWish={setWish}
      simulated={false}
      picked={null}
      onPick={() => undefined}
    />
  );
}
