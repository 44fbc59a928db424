/** Under the lanes: the transcript as a table, the messages as the model reads them, or the evidence of a chip. */
import { useState } from 'react';
import type { AgentRun } from '../../../shared/contract/agents.ts';
import { Tabs, TabPanel } from '../../components/tabs.tsx';
import { counted } from '../../format/numbers.ts';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { GuardEvidence } from './guard-evidence.tsx';
import type { Print, StripItem } from './guard-model.ts';
import { MessagesView } from './messages-view.tsx';
import type { TranscriptRow } from './transcript-rows.ts';
import { TranscriptTable } from './transcript-table.tsx';
import { clip } from './words.ts';

export interface BottomPanelProps {
  readonly run: AgentRun;
  readonly detail: AgentDetail;
  /** Whose transcript it is; null while there is no agent. */
  readonly node: string | null;
  readonly rows: readonly TranscriptRow[];
  readonly marked: ReadonlySet<string>;
  readonly repeated: readonly Print[];
  /** New phrases of a step that count as progress; null = nobody looks. */
  readonly shinglesMin: number | null;
  readonly ofAll: boolean;
  readonly onOfAll: (ofAll: boolean) => void;
  readonly evidence: StripItem['id'] | null;
  readonly onEvidence: (what: StripItem['id'] | null) => void;
  readonly picked: string | null;
  readonly onPick: (key: string) => void;
  readonly onPickCall: (id: string) => void;
  readonly onBlob: (handle: string) => void;
}

const evidenceNames = {
  guards: 'Guards',
  upstreams: 'Upstreams',
  leases: 'Left running',
  amplification: 'Amplification',
} as const;

export function BottomPanel(props: BottomPanelProps) {
  const { run, detail, node, rows, evidence, onEvidence } = props;
  const [tab, setTab] = useState<'transcript' | 'messages'>('transcript');
  const tabs = [
    { id: 'transcript', text: 'Transcript' },
    { id: 'messages', text: 'Messages' },
    ...(evidence === null ? [] : [{ id: 'evidence', text: evidenceNames[evidence] }]),
  ] as const;
  const turns = node === null ? 0 : (detail.nodes.get(node)?.modelTurns ?? 0);
  return (
    <Tabs<'transcript' | 'messages' | 'evidence'>
      label="Below"
      value={evidence === null ? tab : 'evidence'}
      items={tabs as never}
      onValue={(next) => {
        if (next === 'evidence') return;
        setTab(next);
        onEvidence(null);
      }}
      aside={<Aside {...props} tab={evidence === null ? tab : 'evidence'} />}
      className="h-[38%] min-h-[200px] flex-none [&>div:first-child]:pr-4 [&>div:first-child]:pl-6"
    >
      <TabPanel id="transcript">
        <TranscriptTable
          rows={rows}
          marked={props.marked}
          shinglesMin={props.shinglesMin}
          ofAll={props.ofAll}
          running={run.state === 'running'}
          picked={props.picked}
          onPick={props.onPick}
          onBlob={props.onBlob}
        />
      </TabPanel>
      <TabPanel id="messages">
        {node === null ? (
          <p className="px-6 py-3">No agent yet.</p>
        ) : (
          <MessagesView key={node} run={run} nodeId={node} turns={turns} />
        )}
      </TabPanel>
      <TabPanel id="evidence" className="overflow-auto">
        {evidence === null ? null : (
          <GuardEvidence
            what={evidence}
            run={run}
            detail={detail}
            repeated={props.repeated}
            onPickCall={props.onPickCall}
          />
        )}
      </TabPanel>
    </Tabs>
  );
}

function Aside({ tab, node, rows, ofAll, onOfAll, detail }: BottomPanelProps & { tab: string }) {
  if (tab === 'evidence') return null;
  return (
    <span className="flex min-w-0 items-center gap-3">
      {tab === 'transcript' ? (
        <span className="lab truncate" title="Phrases of five words that no output of this agent had before.">
          {counted(rows.length, 'line')} · new text: phrases of five words not seen before
        </span>
      ) : null}
      <span className="lab max-w-60 min-w-0 truncate text-ink!" title={node ?? ''}>
        {tab === 'transcript' && ofAll ? 'all agents' : clip(node ?? '', 80)}
      </span>
      {tab === 'transcript' && detail.nodes.size > 1 ? (
        <label className="lab flex flex-none items-center gap-1.5">
          <input
            type="checkbox"
            className="accent-(--ink)"
            checked={ofAll}
            onChange={(event) => onOfAll(event.target.checked)}
          />
          all agents
        </label>
      ) : null}
    </span>
  );
}
