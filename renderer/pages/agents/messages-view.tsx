/** The conversation of one agent as its model reads it: system, task, answers and results, page by page. */
import { useEffect, useState } from 'react';
import type { AgentRun, ShownEntry } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { count, counted } from '../../format/numbers.ts';
import { withSigns } from '../../format/signs.ts';
import { useClient } from '../../stores/engine-context.ts';
import { clip } from './words.ts';

const PAGE = 50;

export interface MessagesViewProps {
  readonly run: AgentRun;
  readonly nodeId: string;
  /** Rises when the agent went on: the last page is asked for again. */
  readonly turns: number;
}

export function MessagesView({ run, nodeId, turns }: MessagesViewProps) {
  const client = useClient();
  const [from, setFrom] = useState(0);
  const [answer, setAnswer] = useState<{ entries: readonly ShownEntry[]; total: number; from: number } | string | null>(
    null,
  );
  useEffect(() => {
    let current = true;
    void client.request('agent.transcript', { runId: run.id, nodeId, from, limit: PAGE }).then((read) => {
      if (!current) return;
      setAnswer(read.ok ? { ...read.value, from } : [read.denial.message, read.denial.next].filter(Boolean).join(' '));
    });
    return () => {
      current = false;
    };
  }, [client, run.id, nodeId, from, turns]);
  if (answer === null) return <p className="px-6 py-3">Loading</p>;
  if (typeof answer === 'string') return <EmptyState title="The messages are not there" text={answer} />;
  if (answer.total === 0) return <EmptyState title="No message yet" />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <ol
        aria-label={`Messages of ${clip(nodeId, 80)}`}
        className="min-h-0 flex-1 overflow-auto"
        tabIndex={0}
        data-scrolls="yes"
      >
        {answer.entries.map((entry) => (
          <Message key={entry.index} entry={entry} />
        ))}
      </ol>
      <div className="flex flex-none items-center gap-2 border-t px-6 py-1">
        <span className="lab flex-1">
          messages {count(answer.from + 1)} to {count(answer.from + answer.entries.length)} of{' '}
          {counted(answer.total, 'message')}
        </span>
        <Button look="flat" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - PAGE))}>
          Before
        </Button>
        <Button look="flat" disabled={from + PAGE >= answer.total} onClick={() => setFrom(from + PAGE)}>
          After
        </Button>
      </div>
    </div>
  );
}

const SHOWN_MAX = 600;

function Message({ entry }: { entry: ShownEntry }) {
  const [whole, setWhole] = useState(false);
  const { content } = entry;
  const isLong = content.length > SHOWN_MAX;
  return (
    <li className="grid grid-cols-[104px_minmax(0,1fr)_auto] gap-x-4 border-b py-1.5 pr-4 pl-6">
      <span className="min-w-0 text-ink-3">
        <span className="block truncate" title={entry.toolName ?? ''}>
          {entry.role === 'tool' && entry.toolName !== null ? clip(entry.toolName, 40) : entry.role}
        </span>
        {entry.ran === false ? <span className="lab rounded-sm border border-field px-1">not run</span> : null}
      </span>
      <div className="min-w-0">
        {content === '' ? null : (
          <pre className="wrap-anywhere whitespace-pre-wrap text-ink">
            {whole ? withSigns(content) : clip(content, SHOWN_MAX)}
          </pre>
        )}
        {entry.toolCalls.map((call, index) => (
          <pre key={index} className="wrap-anywhere whitespace-pre-wrap text-ink-2">
            calls {clip(call.name, 60)} {clip(call.argumentsText, 400)}
          </pre>
        ))}
        {isLong ? (
          <button type="button" className="lab border-b border-field hover:text-ink" onClick={() => setWhole(!whole)}>
            {whole ? 'Show less' : `Show all ${count(content.length)} characters`}
          </button>
        ) : null}
        {whole && entry.clipped ? <span className="lab block">The end is not shown here.</span> : null}
      </div>
      <CopyButton look="icon" label="Copy this message" text={() => content} />
    </li>
  );
}
