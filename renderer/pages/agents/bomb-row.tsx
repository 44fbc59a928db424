/** One shape: what it does, and how far it comes without and with the ledger, on one scale. */
import { Play, Square } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { Bomb } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Verdict } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { becameWord, costWord, figuresOf, scaleMax } from './bomb-model.ts';
import type { BombSide, ShapeWords } from './bomb-model.ts';
import { reasonWords } from './words.ts';

export interface BombRowProps {
  readonly words: ShapeWords;
  /** The one that ran last; null before the first. */
  readonly bomb: Bomb | null;
  readonly denial: Denial | null;
  /** How long it took the last time, or is expected to. */
  readonly tookMs: number;
  /** Something is asked for, or `Run all` comes to this one by itself. */
  readonly isWaiting: boolean;
  /** Brought into view when it begins. */
  readonly isFollowed: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onOpenRun: (runId: string) => void;
}

export function BombRow(props: BombRowProps) {
  const { words, bomb, denial, tookMs, isWaiting, isFollowed, onRun, onStop, onOpenRun } = props;
  const isRunning = bomb?.state === 'running';
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isRunning && isFollowed) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isRunning, isFollowed]);
  return (
    <section
      ref={place}
      aria-label={words.title}
      aria-busy={isRunning}
      className={`${bombColumns} border-b pt-2 pb-1 last:border-b-0`}
    >
      <div className="flex min-w-0 flex-col pb-1">
        <div className="flex min-h-9 items-center gap-3">
          <h3 className="lead min-w-0 flex-1 truncate">{words.title}</h3>
          {isRunning ? (
            <Button look="primary" icon={Square} onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button icon={Play} disabled={isWaiting} data-presents="no" onClick={onRun}>
              {bomb === null ? 'Run' : 'Run again'}
            </Button>
          )}
        </div>
        <p className="text-ink">{words.happens}</p>
        <p>{words.stops}</p>
        <Said bomb={bomb} denial={denial} tookMs={tookMs} />
      </div>
      <Side side="without" bomb={bomb} onOpenRun={onOpenRun} />
      <Side side="with" bomb={bomb} onOpenRun={onOpenRun} />
    </section>
  );
}

function Said({ bomb, denial, tookMs }: Pick<BombRowProps, 'bomb' | 'denial' | 'tookMs'>) {
  if (denial !== null)
    return (
      <p role="alert" className="wrap-anywhere text-ink">
        {[denial.message, denial.next].filter(Boolean).join(' ')}
      </p>
    );
  const text =
    bomb?.state === 'running'
      ? 'Both run now, in virtual time.'
      : bomb?.state === 'cancelled'
        ? 'Stopped. The figures are those of what was done.'
        : bomb?.state === 'failed'
          ? 'It failed. Open its runs to see why, or run it again.'
          : null;
  if (text !== null || bomb === null)
    return (
      <p className="lab" role="status">
        {text ?? costWord(tookMs)}
      </p>
    );
  return (
    <p role="status">
      <b>{becameWord(bomb)}</b>
    </p>
  );
}

interface SideProps {
  readonly side: BombSide;
  readonly bomb: Bomb | null;
  readonly onOpenRun: (runId: string) => void;
}

function Side({ side, bomb, onOpenRun }: SideProps) {
  const runId = bomb?.[side].runId;
  const reason = useEngine((state) => (runId === undefined ? null : (state.agents.runs.get(runId)?.reason ?? null)));
  const max = bomb === null ? 1 : scaleMax(bomb);
  const share = bomb === null ? 0 : (bomb[side].count * 100) / max;
  const figures = bomb === null ? null : figuresOf(bomb, side);
  return (
    <div role="group" aria-label={sideTitles[side]} className="flex min-w-0 flex-col gap-1">
      <p className="flex min-h-9 min-w-0 flex-wrap items-baseline gap-x-2 max-[860px]:min-h-8">
        {figures === null ? (
          <span className="lab leading-9!">not run yet</span>
        ) : (
          <>
            <span className="headline leading-9!">{figures.figure}</span>
            <span className="text-ink">{figures.unit}</span>
          </>
        )}
      </p>
      <div
        role="img"
        aria-label={bomb === null ? 'not run yet' : `${bomb[side].count} of ${max} on the scale of both sides`}
        className={`h-3 bg-sunk ${side === 'without' ? 'c-loops' : 'c-budget'}`}
      >
        <i
          className={`fill moves block h-full ${bomb?.state === 'running' ? 'pulse' : ''}`}
          style={{ width: `${share}%`, minWidth: share > 0 ? 2 : 0 }}
        />
      </div>
      <p className="flex min-h-7 min-w-0 items-center gap-2">
        {reason === null ? null : (
          <span className="min-w-0 flex-none">
            <Verdict size="small" {...reasonWords(reason)} />
          </span>
        )}
        <span className="min-w-0 flex-1 truncate" title={figures?.second ?? ''}>
          {figures?.second ?? ''}
        </span>
        {runId === undefined ? null : (
          <Button look="flat" className="-mr-2" data-presents="no" onClick={() => onOpenRun(runId)}>
            Open the run
          </Button>
        )}
      </p>
    </div>
  );
}

export const sideTitles: Readonly<Record<BombSide, string>> = {
  without: 'Without the ledger',
  with: 'With the ledger',
};
/** Head and rows share it. */
export const bombColumns =
  'grid grid-cols-[minmax(250px,5fr)_minmax(0,5fr)_minmax(0,5fr)] gap-x-8 px-6 max-[1100px]:gap-x-5';
