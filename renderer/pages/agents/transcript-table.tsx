/** Calls, model turns and guards of an agent, one line each; 5,000 of them scroll like ten. */
import { useMemo } from 'react';
import { Badge, Verdict } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { count } from '../../format/numbers.ts';
import { cutText, rowName, rowText } from './transcript-rows.ts';
import type { TranscriptRow } from './transcript-rows.ts';
import { inSeconds, isRefused } from './words.ts';

export interface TranscriptTableProps {
  readonly rows: readonly TranscriptRow[];
  readonly marked: ReadonlySet<string>;
  readonly shinglesMin: number | null;
  /** Shows which agent each row is of. */
  readonly ofAll: boolean;
  readonly running: boolean;
  readonly picked: string | null;
  readonly onPick: (key: string) => void;
  readonly onBlob: (handle: string) => void;
}

export function TranscriptTable(props: TranscriptTableProps) {
  const { rows, marked, shinglesMin, ofAll, running, picked, onPick, onBlob } = props;
  const columns = useMemo(() => columnsOf(marked, shinglesMin, ofAll, onBlob), [marked, shinglesMin, ofAll, onBlob]);
  return (
    <DataTable
      label="Transcript"
      rows={rows}
      columns={columns}
      rowKey={keyOf}
      rowHeight={24}
      picked={picked}
      onPick={onPick}
      rowJson={(row) => (row.kind === 'call' ? row.call : row.kind === 'turn' ? row.turn : row.trip)}
      appends={running}
      empty={<EmptyState title={running ? 'The model has its first turn.' : 'This agent made no call.'} />}
    />
  );
}

const keyOf = (row: TranscriptRow): string => row.key;
const nodeOf = (row: TranscriptRow): string =>
  row.kind === 'call' ? row.call.nodeId : row.kind === 'turn' ? row.turn.nodeId : row.trip.nodeId;

function columnsOf(
  marked: ReadonlySet<string>,
  shinglesMin: number | null,
  ofAll: boolean,
  onBlob: (handle: string) => void,
): readonly Column<TranscriptRow>[] {
  const agent: Column<TranscriptRow> = { id: 'agent', header: 'agent', width: '112px', text: nodeOf };
  return [
    {
      id: 'at',
      header: 'at',
      width: '72px',
      numeric: true,
      text: (row) => inSeconds(row.atMs),
      cell: (row) => <Quiet text={inSeconds(row.atMs)} />,
    },
    {
      id: 'step',
      header: 'step',
      width: '48px',
      numeric: true,
      text: (row) => (row.step === null ? '' : String(row.step)),
      cell: (row) => <Quiet text={row.step === null ? '' : String(row.step)} />,
    },
    ...(ofAll ? [agent] : []),
    {
      id: 'call',
      header: 'call',
      width: 'minmax(120px, 200px)',
      mono: true,
      text: rowName,
      cell: (row) => <CallCell row={row} />,
    },
    {
      id: 'result',
      header: 'what came back',
      width: 'minmax(240px, 1fr)',
      text: rowText,
      cell: (row) => <ResultCell row={row} marked={marked} />,
    },
    {
      id: 'handle',
      header: 'handle',
      help: 'The whole output is kept behind a handle that is good in this run.',
      width: '176px',
      mono: true,
      text: (row) => (row.kind === 'call' ? (row.call.handle ?? '') : ''),
      cell: (row) =>
        row.kind === 'call' && row.call.handle !== null ? (
          <Handle handle={row.call.handle} onBlob={onBlob} />
        ) : (
          <span />
        ),
    },
    {
      id: 'tokens',
      header: 'tokens',
      help: 'What came into the context with it: by the rule of a script, estimated for a model of the server.',
      width: '72px',
      numeric: true,
      text: (row) => (row.kind === 'call' && row.call.endedMs !== null ? count(row.call.tokens) : ''),
    },
    {
      id: 'new',
      header: 'new text',
      help: 'Phrases of five words that were not seen before, of all outputs of the step; the smallest number that counts as progress.',
      width: '100px',
      numeric: true,
      text: (row) => newText(row, shinglesMin),
    },
  ];
}

function newText(row: TranscriptRow, shinglesMin: number | null): string {
  if (row.kind !== 'call' || row.call.newShingles === null) return '';
  const { newShingles } = row.call;
  return shinglesMin === null || newShingles >= shinglesMin
    ? count(newShingles)
    : `${count(newShingles)} of ${count(shinglesMin)}`;
}

const Quiet = ({ text }: { text: string }) => <span className="text-ink-3">{text}</span>;

function CallCell({ row }: { row: TranscriptRow }) {
  const name = rowName(row);
  return (
    <span className={`truncate ${row.kind === 'call' ? '' : 'font-sans text-ink-3'}`} title={name}>
      {name}
    </span>
  );
}

function ResultCell({ row, marked }: { row: TranscriptRow; marked: ReadonlySet<string> }) {
  const text = rowText(row);
  if (row.kind === 'trip') {
    const severity = row.trip.stage === 'stop' ? 'stopped' : row.trip.stage === 'block' ? 'happened' : 'informed';
    return (
      <span className="inline-flex min-w-0 items-center gap-2">
        <Badge meaning="loops" severity={severity} size="small" />
        <b className="truncate" title={text}>
          {text}
        </b>
      </span>
    );
  }
  if (row.kind === 'turn')
    return (
      <span className="truncate text-ink-2 italic" title={text}>
        {text}
      </span>
    );
  const { call } = row;
  if (isRefused(call)) return <Verdict meaning="budget" severity="stopped" size="small" text={text} />;
  if (call.outcome === 'waiting-approval')
    return <Verdict meaning="budget" severity="informed" size="small" text={text} />;
  const cut = cutText(call);
  const word = call.outcome === 'failed' ? 'failed' : call.outcome === 'cached' ? 'from the cache' : null;
  return (
    <span className={`inline-flex min-w-0 items-center gap-2 ${call.outcome === 'running' ? 'text-ink-3' : ''}`}>
      {marked.has(call.id) ? (
        <i className="c-loops fill h-3.5 w-1 flex-none" title="one of the calls that the guard is about" />
      ) : null}
      {word === null ? null : <span className="lab flex-none rounded-sm border border-field px-1">{word}</span>}
      <span className="truncate" title={text}>
        {text}
      </span>
      {cut === null ? null : (
        <span className="inline-flex flex-none items-center gap-1.5">
          <Badge meaning="context" severity="happened" size="small" />
          <span className="lab">{cut}</span>
        </span>
      )}
    </span>
  );
}

function Handle({ handle, onBlob }: { handle: string; onBlob: (handle: string) => void }) {
  return (
    <button
      type="button"
      title={`Read the whole output, ${handle}`}
      className="truncate border-b border-field text-ink-2 hover:text-ink"
      onClick={(event) => {
        event.stopPropagation();
        onBlob(handle);
      }}
    >
      blob {handle}
    </button>
  );
}
