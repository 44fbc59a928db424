/** Run, Stop at the same place, Resume, Run again, Export. What a start costs stands in the line under the sentence. */
import { Play, RotateCcw, Square } from 'lucide-react';
import type { RunSummary } from '../../shared/contract/experiments.ts';
import { Button } from '../components/button.tsx';
import { ExportMenu } from './export-menu.tsx';
import { count } from '../format/numbers.ts';

export interface RunButtonsProps {
  readonly run: RunSummary | null;
  readonly rows: number;
  /** Cells that a resume would run; 0 = nothing to resume. */
  readonly left: number;
  /** The sentence is the experiment of the run that is shown. */
  readonly same: boolean;
  /** Why nothing can be started now, null when it can. */
  readonly blocked: string | null;
  readonly busy: boolean;
  /** Cost in one line. */
  readonly cost: string;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onResume: () => void;
}

export function RunButtons({ run, rows, left, same, blocked, busy, cost, onRun, onStop, onResume }: RunButtonsProps) {
  const running = run?.state === 'running';
  return (
    <>
      {run === null ? null : <ExportMenu run={run} rows={rows} />}
      {run === null || running || left === 0 ? null : (
        <Button
          icon={Play}
          disabled={busy}
          title={`Goes on with the ${count(left)} calls that have no result`}
          onClick={onResume}
        >
          Resume {count(left)}
        </Button>
      )}
      {running ? (
        <Button look="primary" icon={Square} disabled={busy} className="w-28" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button
          look="primary"
          icon={run !== null && same ? RotateCcw : Play}
          disabled={busy || blocked !== null}
          title={blocked ?? cost}
          className="w-28"
          onClick={onRun}
        >
          {run !== null && same ? 'Run again' : 'Run'}
        </Button>
      )}
    </>
  );
}
