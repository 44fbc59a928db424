/** The six shapes and the link farm, each really run without and with the ledger. A section of the width it is given. */
import { Play, Square } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Button } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { aboutDuration } from '../../format/numbers.ts';
import { useAction } from '../../frame/shortcuts.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { expectedMs, labShapes, newestBombs } from './bomb-model.ts';
import type { ShapeWords } from './bomb-model.ts';
import { BombRow, bombColumns, sideTitles } from './bomb-row.tsx';
import { loadBombs, runAllBombs, runBomb, stopAllBombs, stopBomb, useBombRuns } from './bomb-store.ts';

export function BombLab({ onOpenRun }: { onOpenRun(runId: string): void }) {
  const client = useClient();
  const bombs = useEngine((state) => state.agents.bombs);
  const newest = useMemo(() => newestBombs(bombs.values()), [bombs]);
  const runs = useBombRuns();
  const refusal = useBombList();
  const isRunningAll = runs.queue !== null;
  const isBusy = isRunningAll || runs.asking !== null;
  const timeScale = useEngine((state) => state.settings?.simulatorTimeScale ?? 1);
  const takesMs = (words: ShapeWords): number => runs.tookMs[words.shape] ?? expectedMs(words, timeScale);
  const allMs = labShapes.reduce((sum, words) => sum + takesMs(words), 0);
  const running = labShapes.find(({ shape }) => newest.get(shape)?.state === 'running');
  const canRunAll = !isBusy && running === undefined;
  const startOrStop = useCallback((): void => {
    void (canRunAll ? runAllBombs(client) : stopAllBombs(client));
  }, [client, canRunAll]);
  useAction('start-or-stop', startOrStop);
  return (
    <section aria-label="Tool bombs" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex min-h-12 flex-none flex-wrap items-center gap-x-3 gap-y-1 border-b px-6 py-2">
        <h2 className="lead">Tool bombs</h2>
        <SimulatedTag />
        <p className="min-w-0 flex-1">
          One message that becomes very much work: run for real by a scripted model, once with nothing that counts, once
          with the ledger.
        </p>
        <span className="lab" data-presents="no">
          {isRunningAll
            ? `${running?.title ?? '…'} runs, ${runs.queue?.length ?? 0} to go`
            : `all seven · ${aboutDuration(allMs)} · no tokens of a real model`}
        </span>
        {isRunningAll ? (
          <Button look="primary" icon={Square} onClick={() => void stopAllBombs(client)}>
            Stop all
          </Button>
        ) : (
          <Button look="primary" icon={Play} disabled={!canRunAll} onClick={() => void runAllBombs(client)}>
            Run all
          </Button>
        )}
      </div>
      {refusal === null ? null : (
        <p role="alert" className="border-b px-6 py-2 wrap-anywhere text-ink">
          {[refusal.message, refusal.next].filter(Boolean).join(' ')}
        </p>
      )}
      <div className="min-h-0 flex-1 overflow-auto">
        <div className={`${bombColumns} sticky top-0 z-10 border-b bg-sunk py-1 text-table`} aria-hidden="true">
          <span className="text-ink-3">shape</span>
          <b>{sideTitles.without}</b>
          <b>{sideTitles.with}</b>
        </div>
        {labShapes.map((words) => {
          const bomb = newest.get(words.shape) ?? null;
          return (
            <BombRow
              key={words.shape}
              words={words}
              bomb={bomb}
              denial={runs.denials[words.shape] ?? null}
              tookMs={takesMs(words)}
              isWaiting={isBusy}
              isFollowed={isRunningAll}
              onRun={() => void runBomb(client, words.shape)}
              onStop={() => {
                if (bomb !== null) void stopBomb(client, bomb);
              }}
              onOpenRun={onOpenRun}
            />
          );
        })}
      </div>
    </section>
  );
}

/** Asked for when the lab is opened and after the line was lost: bombs may have run before this screen was open. */
function useBombList(): Denial | null {
  const client = useClient();
  const ready = useEngine((state) => state.loaded && state.connection === 'connected');
  const [refusal, setRefusal] = useState<Denial | null>(null);
  useEffect(() => {
    if (!ready) return;
    let isOver = false;
    void loadBombs(client).then((denial) => {
      if (!isOver) setRefusal(denial);
    });
    return () => {
      isOver = true;
    };
  }, [client, ready]);
  return refusal;
}
