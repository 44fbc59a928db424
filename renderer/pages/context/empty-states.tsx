import { Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { ContextExperiment } from '../../../shared/contract/experiments.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { hostOf } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { go } from '../../stores/screen-store.ts';
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
  const client = useClient();
  const server = useEngine((state) => state.server);
  if (server !== null && server.state !== 'up')
    return (
      <EmptyState
        title={
          server.state === 'looking'
            ? `Looking for Ollama at ${hostOf(server.url)}`
            : `No Ollama at ${hostOf(server.url)}`
        }
        text="Start it with ollama serve; this page goes on by itself. Or give another address, or try the simulator."
      >
        <Button look="primary" onClick={() => void client.request('simulator.start', {})}>
          Start the simulator
        </Button>
        <Button
          onClick={() => {
            go('live');
          }}
        >
          Other ways
        </Button>
      </EmptyState>
    );
  if (server !== null && server.models.length === 0)
    return (
      <EmptyState
        title={`No models at ${hostOf(server.url)}`}
        text="Pull a small one, such as ollama pull gemma3:270m, or try the simulator."
      >
        <Button onClick={() => void client.request('simulator.start', {})}>Start the simulator</Button>
      </EmptyState>
    );
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

export function NoSuchRun({ denial }: { readonly denial: Denial }) {
  return (
    <EmptyState title={denial.message} {...(denial.next === undefined ? {} : { text: denial.next })}>
      <Button
        onClick={() => {
          go('history');
        }}
      >
        History
      </Button>
    </EmptyState>
  );
}
