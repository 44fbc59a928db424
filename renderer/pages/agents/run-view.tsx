/** A run: its tree and its lanes side by side, the strip of guards, the transcript below, and the pane of what was picked. */
import { useCallback, useMemo, useState } from 'react';
import { DEFAULT_GUARDS } from '../../../shared/contract/agents.ts';
import type { AgentRun } from '../../../shared/contract/agents.ts';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { BottomPanel } from './bottom-panel.tsx';
import { BlobView } from './blob-view.tsx';
import { CallPane } from './call-pane.tsx';
import { repeatedCalls, stripOf } from './guard-model.ts';
import type { StripItem } from './guard-model.ts';
import { GuardStrip } from './guard-strip.tsx';
import { LanesSection } from './lanes-section.tsx';
import { markedCalls } from './marked-calls.ts';
import { NodePane } from './node-pane.tsx';
import { RunHead } from './run-head.tsx';
import { transcriptNode, transcriptRows } from './transcript-rows.ts';
import { treeLines } from './tree-model.ts';
import { TreeOutline } from './tree-outline.tsx';

export interface RunViewProps {
  readonly run: AgentRun;
  readonly detail: AgentDetail;
  readonly withoutBudgets: number | null;
  readonly busy: boolean;
  readonly onStop: (nodeId: string | null) => void;
  readonly onResume: () => void;
}

type Pane = { readonly kind: 'node' | 'call'; readonly id: string };

export function RunView({ run, detail, withoutBudgets, busy, onStop, onResume }: RunViewProps) {
  const [pane, setPane] = useState<Pane | null>(null);
  const [pickedNode, setPickedNode] = useState<string | null>(null);
  const [ofAll, setOfAll] = useState(false);
  const [evidence, setEvidence] = useState<StripItem['id'] | null>(null);
  const [blob, setBlob] = useState<string | null>(null);
  const { nodes, calls, trips } = detail;
  const lines = useMemo(() => treeLines(nodes.values(), calls.values()), [nodes, calls]);
  const ordered = useMemo(() => lines.flatMap((line) => (line.kind === 'node' ? [line.node] : [])), [lines]);
  const marked = useMemo(() => markedCalls(trips, calls.values(), nodes), [trips, calls, nodes]);
  const repeated = useMemo(() => repeatedCalls(calls.values()), [calls]);
  const strip = useMemo(() => stripOf(run, detail, repeated), [run, detail, repeated]);
  const node = transcriptNode(nodes, pickedNode);
  const rows = useMemo(() => transcriptRows(detail, ofAll ? null : node), [detail, ofAll, node]);

  const close = useCallback(() => setPane(null), []);
  const openCall = useCallback(
    (id: string) => {
      const call = calls.get(id);
      if (call === undefined) return;
      setPickedNode(call.nodeId);
      setPane({ kind: 'call', id });
    },
    [calls],
  );
  const openNode = useCallback((id: string) => {
    setPickedNode(id);
    setPane({ kind: 'node', id });
  }, []);
  const pickRow = useCallback(
    (key: string) => {
      const row = rows.find((one) => one.key === key);
      if (row?.kind === 'call') setPane({ kind: 'call', id: row.call.id });
      else if (row?.kind === 'trip') setEvidence('guards');
    },
    [rows],
  );
  const moveNode = useCallback(
    (step: 1 | -1) => {
      const next = ordered[ordered.findIndex(({ id }) => id === pane?.id) + step];
      if (next !== undefined) openNode(next.id);
    },
    [ordered, pane, openNode],
  );
  const moveCall = useCallback(
    (step: 1 | -1) => {
      const shown = rows.filter((row) => row.kind === 'call');
      const next = shown[shown.findIndex(({ call }) => call.id === pane?.id) + step];
      if (next !== undefined) setPane({ kind: 'call', id: next.call.id });
    },
    [rows, pane],
  );
  const openedNode = pane?.kind === 'node' ? nodes.get(pane.id) : undefined;
  const openedCall = pane?.kind === 'call' ? calls.get(pane.id) : undefined;
  return (
    <div className="relative flex min-h-0 min-w-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col overflow-auto">
        <div className="grid min-h-[288px] flex-1 grid-cols-[568px_minmax(0,1fr)] grid-rows-[minmax(0,1fr)] max-[1250px]:grid-cols-[minmax(0,1.15fr)_minmax(0,1fr)] min-[1700px]:grid-cols-[720px_minmax(0,1fr)]">
          <section aria-label="Budget tree" className="flex min-h-0 min-w-0 flex-col border-r">
            <RunHead
              run={run}
              nodes={ordered}
              withoutBudgets={withoutBudgets}
              busy={busy}
              onStop={() => onStop(null)}
              onResume={onResume}
            />
            <TreeOutline
              lines={lines}
              nowMs={run.nowMs}
              running={run.state === 'running'}
              picked={node}
              onPick={setPickedNode}
              onOpen={openNode}
              onStop={onStop}
            />
          </section>
          <LanesSection
            run={run}
            detail={detail}
            nodes={ordered}
            marked={marked}
            pickedCall={openedCall?.id ?? null}
            pickedNode={node}
            onPickCall={openCall}
            onPickNode={openNode}
          />
        </div>
        <GuardStrip items={strip} open={evidence} onOpen={setEvidence} />
        <BottomPanel
          run={run}
          detail={detail}
          node={node}
          rows={rows}
          marked={marked}
          repeated={repeated}
          shinglesMin={shinglesMinOf(run)}
          ofAll={ofAll}
          onOfAll={setOfAll}
          evidence={evidence}
          onEvidence={setEvidence}
          picked={openedCall?.id ?? null}
          onPick={pickRow}
          onPickCall={openCall}
          onBlob={setBlob}
        />
      </div>
      {openedNode === undefined ? null : (
        <NodePane run={run} node={openedNode} onStop={() => onStop(openedNode.id)} onClose={close} onMove={moveNode} />
      )}
      {openedCall === undefined ? null : (
        <CallPane
          run={run}
          call={openedCall}
          trips={trips.filter((trip) => trip.calls.includes(openedCall.id))}
          sameCalls={alike(detail, openedCall.nodeId, 'fingerprint', openedCall.fingerprint)}
          sameStates={alike(detail, openedCall.nodeId, 'stateHash', openedCall.stateHash)}
          onBlob={setBlob}
          onClose={close}
          onMove={moveCall}
        />
      )}
      {blob === null ? null : <BlobView key={blob} run={run} handle={blob} onClose={() => setBlob(null)} />}
    </div>
  );
}

/** null = the guard is off. */
function shinglesMinOf({ task: { governed, guards } }: AgentRun): number | null {
  const own = guards.noProgress === undefined ? DEFAULT_GUARDS.noProgress : guards.noProgress;
  return governed ? (own?.shinglesMin ?? null) : null;
}

function alike(
  { calls }: AgentDetail,
  nodeId: string,
  field: 'fingerprint' | 'stateHash',
  hash: string | null,
): number {
  if (hash === null) return 0;
  let times = 0;
  for (const call of calls.values()) if (call.nodeId === nodeId && call[field] === hash) times += 1;
  return times;
}
