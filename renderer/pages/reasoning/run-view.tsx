/** A run: its lanes, the table under them, the next step, and the pane of the call that was picked. */
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import type { ReasoningRun } from '../../../shared/contract/experiments.ts';
import { Choice } from '../../components/field.tsx';
import { count, counted } from '../../format/numbers.ts';
import { LanePane } from './lane-pane.tsx';
import { LaneRows } from './lane-rows.tsx';
import { LaneTable, laneRows } from './lane-table.tsx';
import { readingOf } from './lanes.ts';
import type { Lane, LaneSet } from './lanes.ts';
import { NextStep, twoSteps } from './two-steps.tsx';
import { useStreams, useTails } from './use-lanes.ts';

export interface RunViewProps {
  readonly run: ReasoningRun;
  readonly set: LaneSet;
  readonly loading: boolean;
  readonly thinkers: ReadonlyMap<string, boolean>;
  /** The call whose pane is open. */
  readonly picked: string | null;
  readonly onPick: (cellKey: string | null) => void;
}

/** More are not drawn; the table has all of them. */
const LANES_DRAWN_MAX = 24;
const TABLE_ROWS_SHOWN = 5;

export function RunView({ run, set, loading, thinkers, picked, onPick }: RunViewProps) {
  const [each, setEach] = useState<'lane' | 'call'>('lane');
  const [model, setModel] = useState<string | null>(null);
  const streams = useStreams(run.id);
  const floats = useNarrow();
  const models = useMemo(() => [...new Set(set.lanes.map((lane) => lane.model))], [set.lanes]);
  const ofModel = model === null ? set.lanes : set.lanes.filter((lane) => lane.model === model);
  const drawn = ofModel.slice(0, LANES_DRAWN_MAX);
  const tails = useTails(run, drawn, streams);
  const rows = useMemo(() => laneRows(set, each), [set, each]);
  const open = useMemo(() => openOf(set, picked), [set, picked]);
  const rowKey = each === 'call' ? picked : (open?.lane?.key ?? null);
  const pickRow = useCallback(
    (key: string) => {
      const row = rows.find((candidate) => candidate.key === key);
      if (row !== undefined) onPick(row.cell.plan.key);
    },
    [rows, onPick],
  );
  const move = useCallback(
    (step: 1 | -1) => {
      const next = rows[rows.findIndex((row) => row.key === rowKey) + step];
      if (next !== undefined) onPick(next.cell.plan.key);
    },
    [rows, rowKey, onPick],
  );
  const close = useCallback(() => {
    onPick(null);
  }, [onPick]);
  const tableHeight = 30 + 28 * Math.min(TABLE_ROWS_SHOWN, Math.max(1, rows.length));
  return (
    <div className="relative flex min-h-0 min-w-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <FailedAll run={run} lanes={set.lanes} />
        {models.length > 1 || set.lanes.length > LANES_DRAWN_MAX ? (
          <div className="flex flex-none items-center gap-2 border-b py-1 pr-4 pl-6 [&_select]:h-6! [&_select]:w-auto!">
            <span className="lab flex-1">
              {drawn.length < ofModel.length
                ? `${count(drawn.length)} of ${counted(ofModel.length, 'lane')} are drawn; the table has all of them`
                : counted(drawn.length, 'lane')}
            </span>
            <Choice
              label="Lanes of"
              value={model ?? ''}
              options={[{ value: '', text: 'all models' }, ...models.map((name) => ({ value: name, text: name }))]}
              onValue={(name) => {
                setModel(name === '' ? null : name);
              }}
            />
          </div>
        ) : null}
        <div className="min-h-0 flex-1">
          {drawn.length === 0 ? (
            <p className="px-6 py-3 text-ink-3">{loading ? 'Loading the lanes.' : 'No call was planned.'}</p>
          ) : (
            <LaneRows
              run={run}
              lanes={drawn}
              streams={streams}
              tails={tails}
              thinkers={thinkers}
              picked={picked}
              narrow={open !== null}
              onPick={onPick}
            />
          )}
        </div>
        <div className="flex-none border-t" style={{ height: tableHeight }}>
          <LaneTable
            rows={rows}
            picked={rowKey}
            onPick={pickRow}
            empty={run.state === 'running' ? 'The first call is on its way.' : 'No call was made.'}
          />
        </div>
        <Foot run={run} lanes={set.lanes} thinkers={thinkers} each={each} paneOpen={open !== null} onEach={setEach} />
      </div>
      {open === null ? null : (
        <LanePane
          run={run}
          lane={open.lane}
          cell={open.cell}
          canThink={thinkers.get(open.cell.plan.model) ?? null}
          floating={floats}
          onPickCell={onPick}
          onClose={close}
          onMove={move}
        />
      )}
    </div>
  );
}

interface FootProps {
  readonly run: ReasoningRun;
  readonly lanes: readonly Lane[];
  readonly thinkers: ReadonlyMap<string, boolean>;
  readonly each: 'lane' | 'call';
  /** The pane says its own next step. */
  readonly paneOpen: boolean;
  readonly onEach: (each: 'lane' | 'call') => void;
}

/** The next step of the first lane that needs one, and how the table is to be read. */
function Foot({ run, lanes, thinkers, each, paneOpen, onEach }: FootProps) {
  const canThink = (lane: Lane): boolean | null => thinkers.get(lane.model) ?? null;
  const ended = run.state === 'running' ? [] : lanes.filter((lane) => readingOf(lane.shown) !== null);
  const lane =
    ended.find((one) => twoSteps(run, one.shown, canThink(one)) !== null) ??
    ended.find((one) => (readingOf(one.shown)?.next ?? null) !== null);
  return (
    <div className="flex min-h-11 flex-none items-center gap-4 border-t py-1.5 pr-4 pl-6 [&_select]:h-6! [&_select]:w-auto!">
      <div className="min-w-0 flex-1">
        {run.state === 'running' ? (
          <p className="text-ink-3">Verdicts come as calls end.</p>
        ) : lane === undefined || paneOpen ? null : (
          <NextStep run={run} cell={lane.shown} canThink={canThink(lane)} />
        )}
      </div>
      {run.experiment.axes.repeats === 1 ? null : (
        <Choice
          label="Rows"
          value={each}
          options={[
            { value: 'lane', text: 'a row for all repeats' },
            { value: 'call', text: 'a row for each call' },
          ]}
          onValue={onEach}
        />
      )}
    </div>
  );
}

function FailedAll({ run, lanes }: { run: ReasoningRun; lanes: readonly Lane[] }) {
  if (run.cellsTotal === 0 || run.cellsFailed < run.cellsTotal) return null;
  const error = lanes.map(({ shown }) => shown.call?.error ?? null).find((text) => text !== null);
  return (
    <p role="alert" className="border-b bg-sunk px-6 py-2 wrap-anywhere text-ink">
      All {counted(run.cellsTotal, 'call')} failed{error === undefined ? '.' : `: ${error}`}
    </p>
  );
}

function openOf({ lanes, warmUps }: LaneSet, picked: string | null): { lane: Lane | null; cell: Lane['shown'] } | null {
  if (picked === null) return null;
  for (const lane of lanes) {
    const cell = lane.repeats.find(({ plan }) => plan.key === picked);
    if (cell !== undefined) return { lane, cell };
  }
  const warmUp = warmUps.find(({ plan }) => plan.key === picked);
  return warmUp === undefined ? null : { lane: null, cell: warmUp };
}

const NARROW = '(max-width: 1239px)';

/** The pane then lies over the page instead of squeezing the lanes. */
function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(NARROW);
      query.addEventListener('change', changed);
      return () => {
        query.removeEventListener('change', changed);
      };
    },
    () => matchMedia(NARROW).matches,
  );
}
