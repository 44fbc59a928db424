/** Holds as they open and close, and refusals among them: one line each, the youngest on top. */
import { useMemo, useRef, useState } from 'react';
import { useSize } from '../../charts/use-size.ts';
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { count } from '../../format/numbers.ts';
import { holdFilters, holdRows } from './hold-rows.ts';
import type { HoldFilter, HoldRow } from './hold-rows.ts';
import { Age } from './ledger-clock.tsx';
import { shortId, stateHelp } from './words.ts';

export interface HoldListProps {
  readonly rows: readonly HoldRow[];
  readonly filter: HoldFilter;
  readonly onFilter: (filter: HoldFilter) => void;
  readonly picked: string | null;
  readonly onPick: (key: string) => void;
}

/** In less room than this the bar goes; its figures stand beside it. */
const BAR_WIDTH_MIN = 416;

/** The rows of the filter that is on. */
export function useHoldRows(ledger: LedgerSlice): {
  readonly rows: readonly HoldRow[];
  readonly filter: HoldFilter;
  readonly setFilter: (filter: HoldFilter) => void;
} {
  const [filter, setFilter] = useState<HoldFilter>('all');
  const { reservations, refusals } = ledger;
  const rows = useMemo(
    () => holdRows(reservations.values(), refusals.values(), filter),
    [reservations, refusals, filter],
  );
  return { rows, filter, setFilter };
}

export function HoldList({ rows, filter, onFilter, picked, onPick }: HoldListProps) {
  const box = useRef<HTMLElement>(null);
  const { width } = useSize(box, { width: 472, height: 400 });
  return (
    <section ref={box} aria-label="Holds" className="flex min-h-40 min-w-0 flex-1 flex-col">
      <div className="flex h-9 flex-none items-center gap-1 pr-4 pl-6">
        <h2 className="mr-2 font-semibold text-ink">Holds</h2>
        <div role="radiogroup" aria-label="Show" className="flex flex-1 gap-1">
          {holdFilters.map((one) => (
            <button
              key={one}
              type="button"
              role="radio"
              aria-checked={one === filter}
              onClick={() => onFilter(one)}
              className={`h-5 flex-none rounded border px-1.5 text-small ${one === filter ? 'border-ink bg-pick font-semibold text-ink' : 'border-transparent text-ink-3 hover:bg-pick'}`}
            >
              {one}
            </button>
          ))}
        </div>
        <span className="lab flex-none">{count(rows.length)}</span>
      </div>
      <div className="min-h-0 flex-1 border-t">
        <DataTable
          label="Holds and refusals"
          rows={rows}
          columns={width < BAR_WIDTH_MIN ? withoutBar : columns}
          rowKey={keyOf}
          rowHeight={40}
          picked={picked}
          onPick={onPick}
          rowJson={(row) => row.hold ?? row.refusal}
          empty={<EmptyState title={emptyWords[filter]} />}
        />
      </div>
    </section>
  );
}

const keyOf = (row: HoldRow): string => row.key;

const emptyWords: Record<HoldFilter, string> = {
  all: 'Nothing was held yet.',
  open: 'Nothing is held right now.',
  closed: 'No hold was closed yet.',
  refused: 'Nothing was refused.',
};

const columns: readonly Column<HoldRow>[] = [
  {
    id: 'hold',
    header: 'hold',
    width: '84px',
    text: (row) => row.hold?.id ?? '',
    cell: (row) => (
      <Two
        top={row.hold === null ? (row.times > 1 ? `${count(row.times)} times` : 'not held') : shortId(row.hold.id)}
        below={row.hold === null ? '' : row.hold.owner}
        title={row.hold === null ? 'Nothing was held' : `${row.hold.id}, held by ${row.hold.owner}`}
        mono={row.hold !== null}
      />
    ),
  },
  {
    id: 'user',
    header: 'user',
    width: 'minmax(56px, 1fr)',
    text: (row) => row.user,
    cell: (row) => (
      <span className="min-w-0">
        <span className="block truncate" title={`${row.user} of ${row.tenant}`}>
          {row.user}
        </span>
        <span className="lab block min-w-0 *:text-ink-3!">
          <ModelName name={row.model} />
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'state',
    width: '68px',
    text: (row) => row.state,
    cell: (row) => (
      <span
        className="min-w-0"
        title={row.hold === null ? 'Refused before anything was sent.' : stateHelp[row.hold.state]}
      >
        <span className={`block ${row.state === 'open' ? 'font-semibold' : ''}`}>{row.state}</span>
        <span className="lab block">
          <Age since={row.at} />
        </span>
      </span>
    ),
  },
  {
    id: 'used',
    header: 'used',
    help: 'What was charged of what was held',
    width: '80px',
    text: (row) => (row.used === null ? '' : `${row.used} of ${row.reserved ?? ''}`),
    cell: (row) => <UsedBar row={row} />,
  },
  {
    id: 'tokens',
    header: 'tokens',
    width: '132px',
    numeric: true,
    text: (row) => row.tokens,
    cell: (row) => (
      <span className="min-w-0 text-right">
        <span className="block truncate">{row.tokens}</span>
        <span className="lab block truncate" title={row.note}>
          {row.note}
        </span>
      </span>
    ),
  },
];

const withoutBar = columns.filter(({ id }) => id !== 'used');

function Two({ top, below, title, mono }: { top: string; below: string; title: string; mono: boolean }) {
  return (
    <span className="min-w-0" title={title}>
      <span className={`block truncate ${mono ? 'mono' : 'text-ink-2'}`}>{top}</span>
      {below === '' ? null : <span className="lab block truncate">{below}</span>}
    </span>
  );
}

/** Hatched while it is open, solid for what was charged, empty for what was refused. */
function UsedBar({ row: { state, used, reserved, hold } }: { row: HoldRow }) {
  const overrun = hold?.charge?.overrunTokens ?? 0;
  const share =
    state === 'open' ? 100 : reserved === null || reserved === 0 || used === null ? 0 : (used * 100) / reserved;
  return (
    <span className="w-full min-w-0" title={reserved === null ? '' : `of ${count(reserved)} held`}>
      <span className="c-budget relative block h-2.5 border border-field">
        <i
          className={`moves absolute inset-y-0 left-0 ${state === 'open' ? 'hatch' : 'fill'}`}
          style={{ width: `${Math.min(100, share)}%` }}
        />
        {overrun > 0 ? <i className="absolute -inset-y-1 -right-px w-[3px] bg-ink" /> : null}
      </span>
      {reserved === null ? null : <span className="lab block">of {count(reserved)}</span>}
    </span>
  );
}
