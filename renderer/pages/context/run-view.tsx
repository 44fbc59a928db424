/** A run: the pictures, its rows, and the pane of the cell that was picked. */
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import type { ContextRun } from '../../../shared/contract/experiments.ts';
import { Choice } from '../../components/field.tsx';
import { count, counted } from '../../format/numbers.ts';
import { axisValues } from './axes.ts';
import type { MapWish } from './axes.ts';
import { labRows } from './lab-rows.ts';
import { MapAndChart } from './map-and-chart.tsx';
import { RowsTable } from './rows-table.tsx';
import { TrialPane } from './trial-pane.tsx';
import type { Lab, Reading, Trial } from './trials.ts';

export interface RunViewProps {
  readonly run: ContextRun;
  readonly lab: Lab;
  readonly loading: boolean;
}

/** What is open: a trial (then its worst reading shows), or one call of it. */
interface Picked {
  readonly trial: string | null;
  readonly cell: string | null;
}

const nothing: Picked = { trial: null, cell: null };

export function RunView({ run, lab, loading }: RunViewProps) {
  const [picked, setPicked] = useState<Picked>(nothing);
  const [wish, setWish] = useState<MapWish>({});
  const [each, setEach] = useState<'trial' | 'call'>('trial');
  const narrow = useNarrow();
  const { trials } = lab;
  const values = useMemo(() => axisValues(trials), [trials]);
  const rows = useMemo(() => labRows(lab, each), [lab, each]);
  const open = useMemo(() => openOf(lab, picked), [lab, picked]);
  const pickTrial = useCallback((trial: string) => {
    setPicked({ trial, cell: null });
  }, []);
  const pickCell = useCallback((cell: string) => {
    setPicked((before) => ({ trial: before.trial, cell }));
  }, []);
  const pickRow = useCallback(
    (key: string) => {
      const row = rows.find((candidate) => candidate.key === key);
      if (row === undefined) return;
      setPicked({
        trial: row.trial?.key ?? null,
        cell: row.repeat === null && row.trial !== null ? null : row.reading.cell.plan.key,
      });
    },
    [rows],
  );
  const rowKey = each === 'call' || picked.trial === null ? (open?.reading.cell.plan.key ?? null) : picked.trial;
  const place = rows.findIndex((row) => row.key === rowKey);
  const move = useCallback(
    (step: 1 | -1) => {
      const next = rows[place + step];
      if (next !== undefined) pickRow(next.key);
    },
    [rows, place, pickRow],
  );
  const close = useCallback(() => {
    setPicked(nothing);
  }, []);
  return (
    <div className="relative flex min-h-0 min-w-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <FailedAll run={run} trials={trials} />
        <MapAndChart
          trials={trials}
          values={values}
          wish={wish}
          onWish={setWish}
          simulated={run.simulated}
          picked={picked.trial}
          onPick={pickTrial}
        />
        {run.experiment.axes.repeats > 1 ? (
          <div className="flex flex-none items-center gap-2 border-b py-1 pr-4 pl-6 [&_select]:h-6! [&_select]:w-auto!">
            <span className="lab flex-1">{counted(rows.length, 'row')}</span>
            <Choice
              label="Rows"
              value={each}
              options={[
                { value: 'trial', text: 'a row for all repeats' },
                { value: 'call', text: 'a row for each call' },
              ]}
              onValue={setEach}
            />
          </div>
        ) : null}
        <div className="min-h-0 flex-1">
          <RowsTable
            rows={rows}
            values={values}
            picked={rowKey}
            onPick={pickRow}
            empty={
              loading
                ? 'Loading the rows.'
                : run.state === 'running'
                  ? 'The first call is on its way.'
                  : 'No call was made.'
            }
          />
        </div>
      </div>
      {open === null ? null : (
        <TrialPane
          run={run}
          reading={open.reading}
          trial={open.trial}
          siblings={siblingsOf(trials, open.trial)}
          place={place < 0 || narrow ? '' : `row ${count(place + 1)} of ${count(rows.length)}`}
          floating={narrow}
          onPickCell={pickCell}
          onPickTrial={pickTrial}
          onClose={close}
          onMove={move}
        />
      )}
    </div>
  );
}

function FailedAll({ run, trials }: { run: ContextRun; trials: readonly Trial[] }) {
  if (run.cellsTotal === 0 || run.cellsFailed < run.cellsTotal) return null;
  const error = trials.map(({ shown }) => shown.cell.call?.error ?? null).find((text) => text !== null);
  return (
    <p role="alert" className="border-b bg-sunk px-6 py-2 wrap-anywhere text-ink">
      All {counted(run.cellsTotal, 'call')} failed{error === undefined ? '.' : `: ${error}`}
    </p>
  );
}

function openOf(lab: Lab, picked: Picked): { trial: Trial | null; reading: Reading } | null {
  if (picked.trial === null) {
    const warmUp = lab.warmUps.find(({ cell }) => cell.plan.key === picked.cell);
    return warmUp === undefined ? null : { trial: null, reading: warmUp };
  }
  const trial = lab.trials.find(({ key }) => key === picked.trial);
  if (trial === undefined) return null;
  return { trial, reading: trial.readings.find(({ cell }) => cell.plan.key === picked.cell) ?? trial.shown };
}

/** The same text asked the same way, in every window; smallest first. */
function siblingsOf(trials: readonly Trial[], trial: Trial | null): readonly Trial[] {
  if (trial === null) return [];
  const same = (a: Trial['plan']): string => JSON.stringify([a.model, a.size, a.depths, a.route, a.policy]);
  const wanted = same(trial.plan);
  return trials.filter(({ plan }) => same(plan) === wanted).sort((a, b) => (a.plan.numCtx ?? 0) - (b.plan.numCtx ?? 0));
}

const NARROW = '(max-width: 1239px)';

/** The pane then lies over the page instead of squeezing the pictures. */
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
