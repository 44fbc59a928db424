/** One shape: what it does, and how far it comes without and with the ledger, on one scale. */
import { Play, Square } from 'lucide-react';
import type { Bomb } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Verdict } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { becameWord, costWord, figureOf, scaleMax, unitOf } from './bomb-model.ts';
import type { BombSide, ShapeWords } from './bomb-model.ts';
import { reasonWords } from './words.ts';

export interface BombRowProps {
  readonly words: ShapeWords;
  /** The one that ran last; null before the first. */
  readonly bomb: Bomb | null;
  readonly denial: Denial | null;
  readonly tookMs: number | null;
  /** Something is asked for, or `Run all` comes to this one by itself. */
  readonly isWaiting: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onOpenRun: (runId: string) => void;
}

export function BombRow({ words, bomb, denial, tookMs, isWaiting, onRun, onStop, onOpenRun }: BombRowProps) {
  const isRunning = bomb?.state === 'running';
  return (
    <section
      aria-label={words.title}
      aria-busy={isRunning}
      className="grid grid-cols-[minmax(250px,5fr)_minmax(0,5fr)_minmax(0,5fr)] gap-x-8 border-b px-6 py-3 last:border-b-0 max-[1100px]:gap-x-5"
    >
      <div className="flex min-w-0 flex-col gap-1">
        <div className="flex items-center gap-3">
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
        <Said words={words} bomb={bomb} denial={denial} tookMs={tookMs} />
      </div>
      <Side side="without" title="Without" bomb={bomb} onOpenRun={onOpenRun} />
      <Side side="with" title="With the ledger" bomb={bomb} onOpenRun={onOpenRun} />
    </section>
  );
}

function Said({ words, bomb, denial, tookMs }: Pick<BombRowProps, 'words' | 'bomb' | 'denial' | 'tookMs'>) {
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
        {text ?? costWord(words, tookMs)}
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
  readonly title: string;
  readonly bomb: Bomb | null;
  readonly onOpenRun: (runId: string) => void;
}

function Side({ side, title, bomb, onOpenRun }: SideProps) {
  const runId = bomb?.[side].runId;
  const reason = useEngine((state) => (runId === undefined ? null : (state.agents.runs.get(runId)?.reason ?? null)));
  const max = bomb === null ? 1 : scaleMax(bomb);
  const share = bomb === null ? 0 : (bomb[side].count * 100) / max;
  return (
    <div role="group" aria-label={title} className="flex min-w-0 flex-col gap-1">
      <p className="flex min-h-7 items-center gap-2">
        <b className="min-w-0 truncate">{title}</b>
        <span className="flex-1" />
        {runId === undefined ? null : (
          <Button look="flat" data-presents="no" onClick={() => onOpenRun(runId)}>
            Open the run
          </Button>
        )}
      </p>
      <p className="flex min-h-10 min-w-0 flex-wrap items-baseline gap-x-2 max-[860px]:min-h-8">
        {bomb === null ? (
          <span className="lab">not run yet</span>
        ) : (
          <>
            <span className="headline">{figureOf(bomb, side)}</span>
            <span className="text-ink">{unitOf(bomb)}</span>
          </>
        )}
      </p>
      <div
        role="img"
        aria-label={bomb === null ? 'not run yet' : `${bomb[side].count} of ${max} on the scale of both sides`}
        className={`h-4 bg-sunk ${side === 'without' ? 'c-loops' : 'c-budget'}`}
      >
        <i
          className={`fill moves block h-full ${bomb?.state === 'running' ? 'pulse' : ''}`}
          style={{ width: `${share}%`, minWidth: share > 0 ? 2 : 0 }}
        />
      </div>
      <p className="flex min-h-5 min-w-0 items-center gap-2">
        {reason === null ? null : <Verdict size="small" {...reasonWords(reason)} />}
      </p>
    </div>
  );
}
