/** Presenter mode: the lanes and one sentence, readable from the back of a room. */
import { useMemo } from 'react';
import type { AgentRun } from '../../../shared/contract/agents.ts';
import { SimulatedTag } from '../../components/chip.tsx';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { LanesSection } from './lanes-section.tsx';
import { markedCalls } from './marked-calls.ts';
import { sentenceOf } from './run-figures.ts';
import { treeLines } from './tree-model.ts';

export function PresentedRun({
  run,
  detail,
  withoutBudgets,
}: {
  readonly run: AgentRun;
  readonly detail: AgentDetail;
  readonly withoutBudgets: number | null;
}) {
  const { nodes, calls, trips } = detail;
  const ordered = useMemo(
    () => treeLines(nodes.values(), []).flatMap((line) => (line.kind === 'node' ? [line.node] : [])),
    [nodes],
  );
  const marked = useMemo(() => markedCalls(trips, calls.values(), nodes), [trips, calls, nodes]);
  return (
    <main aria-label="Agents" className="flex h-full min-h-0 min-w-0 flex-col pt-4 pb-2">
      <p className="px-6 pb-2 text-figure wrap-anywhere text-ink">
        {sentenceOf(run, ordered, withoutBudgets)} {run.simulated ? <SimulatedTag /> : null}
      </p>
      <LanesSection
        run={run}
        detail={detail}
        nodes={ordered}
        marked={marked}
        laneMax={240}
        pickedCall={null}
        pickedNode={null}
        onPickCall={() => undefined}
        onPickNode={() => undefined}
      />
    </main>
  );
}
