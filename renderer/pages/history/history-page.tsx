/** History: everything that ran, found by word; open, resume, run again, export. */
import { Search } from 'lucide-react';
import { useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { CallRecord, CallSummary } from '../../../shared/contract/calls.ts';
import type { RunSummary } from '../../../shared/contract/experiments.ts';
import { Verdict } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { DetailPane, NextStep } from '../../components/detail-pane.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { Page } from '../../frame/page.tsx';
import { useAction } from '../../frame/shortcuts.ts';
import { count, counted, dateAndTime, timeOfDay } from '../../format/numbers.ts';
import { exportRun } from '../../stores/export-run.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { go } from '../../stores/screen-store.ts';
import { historyFilters, historyRows } from './history-rows.ts';
import type { HistoryFilter, HistoryRow } from './history-rows.ts';
import { RunPane } from './run-pane.tsx';

export function HistoryPage() {
  const client = useClient();
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState<HistoryFilter>('all');
  const [picked, setPicked] = useState<string | null>(null);
  const wanted = useDeferredValue(search);
  const { runs, calls, loading } = useHistory();
  const rows = useMemo(() => historyRows(runs, calls, wanted, filter), [runs, calls, wanted, filter]);
  const row = rows.find((candidate) => candidate.key === picked);
  const run = row?.run ?? null;
  const call = row?.call ?? null;
  const exportPicked = useCallback(() => {
    if (run !== null) void exportRun(client, run.id, 'csv');
  }, [client, run]);
  useAction('export', run === null ? null : exportPicked);
  const close = useCallback(() => {
    setPicked(null);
  }, []);
  const move = useCallback(
    (step: 1 | -1) => {
      const next = rows[rows.findIndex((candidate) => candidate.key === picked) + step];
      if (next !== undefined) setPicked(next.key);
    },
    [rows, picked],
  );
  return (
    <Page title="History" note="everything that ran, found by word">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {/* In one line with and without the pane: a table that moved would turn a double click into two rows. */}
        <div className="flex flex-none items-center gap-2 border-b px-6 py-2 max-[1100px]:flex-wrap">
          <label className="field flex max-w-md items-center gap-2">
            <Search size={14} strokeWidth={1.75} aria-hidden="true" className="text-ink-3" />
            <span className="sr-only">Search</span>
            <input
              data-search="yes"
              value={search}
              maxLength={500}
              onChange={(event) => {
                setSearch(event.target.value);
              }}
              onKeyDown={(event) => {
                if (event.key === 'Escape') {
                  setSearch('');
                  event.currentTarget.blur();
                }
              }}
              placeholder="Name, model, verdict or answer"
              className="min-w-0 flex-1 outline-none!"
            />
            <span className="kbd">/</span>
          </label>
          <Filters value={filter} onValue={setFilter} />
          <span className="flex-1" />
          <span className="lab flex-none">{counted(rows.length, 'row')}</span>
        </div>
        <div className="min-h-0 flex-1">
          <DataTable
            label="History"
            rows={rows}
            columns={columns}
            rowKey={keyOf}
            picked={picked}
            onPick={setPicked}
            onOpen={(key) => {
              openRow(rows.find((candidate) => candidate.key === key));
            }}
            rowJson={(candidate) => candidate.run ?? candidate.call}
            empty={<NothingFound loading={loading} searched={search !== '' || filter !== 'all'} />}
          />
        </div>
      </div>
      {run === null ? null : <RunPane run={run} onClose={close} onMove={move} />}
      {call === null ? null : <CallPane call={call} onClose={close} onMove={move} />}
    </Page>
  );
}

const keyOf = (row: HistoryRow): string => row.key;

function openRow(row: HistoryRow | undefined): void {
  const [run, call] = [row?.run ?? null, row?.call ?? null];
  if (run !== null) go(run.kind, run.id);
  else if (call !== null) go('live', call.id);
}

const columns: readonly Column<HistoryRow>[] = [
  { id: 'at', header: 'started', width: '144px', text: (row) => dateAndTime(row.at), sortBy: (row) => row.at },
  { id: 'what', header: 'what', width: '80px', text: (row) => row.what, sortBy: (row) => row.what },
  {
    id: 'name',
    header: 'name or answer',
    width: 'minmax(160px, 2fr)',
    text: (row) => row.name,
    cell: (row) => <span className={`truncate ${row.call === null ? 'font-semibold' : 'mono'}`}>{row.name}</span>,
    sortBy: (row) => row.name,
  },
  {
    id: 'verdict',
    header: 'context',
    width: '160px',
    text: (row) => row.verdict,
    cell: (row) =>
      row.lost ? (
        <Verdict meaning="context" severity="happened" size="small" text={row.verdict} />
      ) : (
        <span className="truncate text-ink-3">{row.verdict}</span>
      ),
    sortBy: (row) => row.verdict,
  },
  {
    id: 'model',
    header: 'model',
    width: 'minmax(120px, 1fr)',
    text: (row) => row.model,
    cell: (row) => <ModelName name={row.model} />,
    sortBy: (row) => row.model,
  },
  { id: 'state', header: 'ended', width: '88px', text: (row) => row.state, sortBy: (row) => row.state },
  {
    id: 'size',
    header: 'size',
    width: '112px',
    numeric: true,
    text: (row) => row.size,
    sortBy: (row) => row.sizeNumber,
  },
  {
    id: 'tokens',
    header: 'evaluated',
    help: 'Prompt tokens the server reported',
    width: '80px',
    numeric: true,
    text: (row) => count(row.tokens),
    sortBy: (row) => row.tokens,
  },
  {
    id: 'simulated',
    header: '',
    width: '104px',
    text: (row) => (row.simulated ? 'simulated' : ''),
    cell: (row) => (row.simulated ? <SimulatedTag /> : null),
  },
];

const filterWords: Record<HistoryFilter, string> = {
  all: 'All',
  runs: 'Sweeps',
  calls: 'Calls',
  lost: 'Lost something',
  unfinished: 'Unfinished',
  simulated: 'Simulated',
};

function Filters({ value, onValue }: { value: HistoryFilter; onValue: (value: HistoryFilter) => void }) {
  return (
    <div role="radiogroup" aria-label="Show" className="flex flex-none gap-1 max-[1100px]:flex-wrap">
      {historyFilters.map((filter) => (
        <button
          key={filter}
          type="button"
          role="radio"
          aria-checked={filter === value}
          onClick={() => {
            onValue(filter);
          }}
          className={`h-6 flex-none rounded border px-2 text-table whitespace-nowrap ${filter === value ? 'border-ink bg-pick font-semibold text-ink' : 'border-line text-ink-2 hover:bg-pick'}`}
        >
          {filterWords[filter]}
        </button>
      ))}
    </div>
  );
}

function NothingFound({ loading, searched }: { loading: boolean; searched: boolean }) {
  if (loading) return <EmptyState title="Loading" />;
  if (searched) return <EmptyState title="Nothing matches." text="Change the search or the filter." />;
  return (
    <EmptyState
      title="Nothing has run yet."
      text="Every call and every sweep is kept here, with its verdict and what it rests on."
    >
      <Button
        look="primary"
        onClick={() => {
          go('context');
        }}
      >
        Plan a sweep
      </Button>
      <Button
        onClick={() => {
          go('live');
        }}
      >
        Send a message
      </Button>
    </EmptyState>
  );
}

/** What is stored, read again whenever something ended; runs that go on come from the store. */
function useHistory(): { runs: readonly RunSummary[]; calls: readonly CallSummary[]; loading: boolean } {
  const client = useClient();
  const live = useEngine((state) => state.runs);
  const ended = useEngine((state) => state.callsEnded + state.runsEnded);
  const loaded = useEngine((state) => state.loaded);
  const [stored, setStored] = useState<{ runs: readonly RunSummary[]; calls: readonly CallSummary[] } | null>(null);
  useEffect(() => {
    if (!loaded) return;
    let current = true;
    void Promise.all([client.request('run.list', {}), client.request('call.list', { runId: null, limit: 1_000 })]).then(
      ([runs, calls]) => {
        if (current) setStored({ runs: runs.ok ? runs.value : [], calls: calls.ok ? calls.value : [] });
      },
    );
    return () => {
      current = false;
    };
  }, [client, ended, loaded]);
  const runs = useMemo(() => {
    const all = new Map((stored?.runs ?? []).map((run) => [run.id, run]));
    for (const run of live.values()) all.set(run.id, run);
    return [...all.values()];
  }, [stored, live]);
  return { runs, calls: stored?.calls ?? none, loading: stored === null };
}

const none: readonly CallSummary[] = [];

function CallPane({
  call,
  onClose,
  onMove,
}: {
  call: CallSummary;
  onClose: () => void;
  onMove: (step: 1 | -1) => void;
}) {
  const client = useClient();
  const [record, setRecord] = useState<CallRecord | null>(null);
  useEffect(() => {
    let current = true;
    void client.request('call.get', { callId: call.id }).then((answer) => {
      if (current && answer.ok) setRecord(answer.value);
    });
    return () => {
      current = false;
    };
  }, [client, call.id]);
  return (
    <DetailPane
      title={call.model}
      note={timeOfDay(call.startedAt)}
      record={record?.id === call.id ? record : null}
      onClose={onClose}
      onMove={onMove}
      footer={
        <NextStep
          text="Open it in Live to change it and send it again."
          action="Open in Live"
          onAction={() => {
            go('live', call.id);
          }}
        />
      }
    />
  );
}
