/** The detail pane of a cell: verdict with the evidence, its repeats, what other windows kept, and the window that fits. */
import { useEffect, useState } from 'react';
import type { CallRecord } from '../../../shared/contract/calls.ts';
import type { ContextCell, ContextRun } from '../../../shared/contract/experiments.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import { confidences } from '../../../shared/contract/verdicts.ts';
import type { TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import { Badge } from '../../components/badge.tsx';
import { DetailPane } from '../../components/detail-pane.tsx';
import { ShareBar } from '../../components/gauge.tsx';
import { EvidenceList, FiguresAndStrip } from '../../components/verdict-view.tsx';
import { count } from '../../format/numbers.ts';
import { kindsText, needleWords, severityOf } from '../../format/verdicts.ts';
import { useClient } from '../../stores/engine-context.ts';
import { trialName } from './axes.ts';
import { FittingRun, isShort } from './fitting-run.tsx';
import { capital, headlineOf, number, sentenceOf } from './trial-words.ts';
import { windowOf } from './trials.ts';
import type { Reading, Trial } from './trials.ts';

export interface TrialPaneProps {
  readonly run: ContextRun;
  readonly reading: Reading;
  /** null for a warm-up. */
  readonly trial: Trial | null;
  /** The same text in every window of the run, this one included. */
  readonly siblings: readonly Trial[];
  readonly place: string;
  readonly floating: boolean;
  readonly onPickCell: (cellKey: string) => void;
  readonly onPickTrial: (trialKey: string) => void;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

export function TrialPane(props: TrialPaneProps) {
  const { run, reading, trial, siblings, place, floating, onClose, onMove } = props;
  const { record, problem } = useRecord(run, reading);
  const { cell } = reading;
  return (
    <DetailPane
      title={trial === null ? 'Warm-up' : trialName(trial)}
      note={place}
      record={record}
      placeholder={
        problem ??
        (cell.call === null
          ? cell.state === 'running'
            ? 'Running. The verdict comes with the reply.'
            : 'No result yet.'
          : 'Loading')
      }
      onClose={onClose}
      onMove={onMove}
      floating={floating}
      verdict={<TrialVerdict {...props} />}
      {...(trial !== null && isShort(reading)
        ? { footer: <FittingRun run={run} reading={reading} trial={trial} siblings={siblings} /> }
        : {})}
    />
  );
}

function TrialVerdict({ reading, trial, siblings, onPickCell, onPickTrial }: TrialPaneProps) {
  const { call } = reading.cell;
  if (call === null) return null;
  const { truncation } = call;
  const failed = reading.cell.state === 'failed' && !truncation.kinds.includes('refused');
  return (
    <div className="flex flex-col gap-3">
      <div>
        <div className="flex items-center gap-3">
          <Badge meaning={failed ? 'plain' : 'context'} severity={failed ? 'stopped' : severityOf(truncation)} />
          <span className="headline min-w-0 truncate">{headlineOf(reading)}</span>
        </div>
        <p className="wrap-anywhere text-ink">{sentenceOf(reading, trial)}</p>
        <p className="lab">
          {kindsText(truncation.kinds)} · {truncation.confidence}
        </p>
      </div>
      <FiguresAndStrip
        verdict={withCounted(truncation, reading)}
        figures={{
          sent: reading.sent?.tokens ?? null,
          sentExact: reading.sent?.counted === true,
          windowRequested: call.numCtxRequested,
          windowRunning: call.numCtxRunning,
          evaluated: call.promptEvalCount,
        }}
        needles={call.needles}
      />
      {truncation.sent === null && reading.sent?.counted === true ? (
        <p className="lab -mt-1">Sent is counted: another window of this run read the same text whole.</p>
      ) : null}
      <EvidenceList evidence={byStrength(truncation)} />
      {trial === null || trial.readings.length < 2 ? null : (
        <Repeats trial={trial} picked={reading.cell.plan.key} onPick={onPickCell} />
      )}
      {siblings.length < 2 ? null : <Kept siblings={siblings} picked={trial?.key ?? null} onPick={onPickTrial} />}
    </div>
  );
}

function Repeats({ trial, picked, onPick }: { trial: Trial; picked: string; onPick: (cellKey: string) => void }) {
  return (
    <section aria-label="Repeats">
      <h2 className="font-semibold text-ink">{capital(number(trial.readings.length))} repeats</h2>
      <ol className="-mx-4 text-table">
        {trial.readings.map(({ cell }) => (
          <li key={cell.plan.key}>
            <button
              type="button"
              aria-current={cell.plan.key === picked}
              onClick={() => {
                onPick(cell.plan.key);
              }}
              className={`grid min-h-6 w-full grid-cols-[24px_56px_88px_minmax(0,1fr)] items-center gap-2 border-b px-4 text-left text-ink ${cell.plan.key === picked ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
            >
              <span className="text-ink-3">{cell.plan.repeat + 1}</span>
              <span className="text-right">{count(cell.call?.promptEvalCount)}</span>
              <span className="truncate">{outcomeText(cell)}</span>
              <span className="mono truncate">{cell.call?.error ?? cell.call?.answerHead ?? ''}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function outcomeText({ call, state }: ContextCell): string {
  if (call === null) return state;
  if (call.needle === 'none') return state === 'failed' ? 'failed' : kindsText(call.truncation.kinds);
  return `${needleWords[call.needle].mark} ${needleWords[call.needle].word}`;
}

function Kept({
  siblings,
  picked,
  onPick,
}: {
  siblings: readonly Trial[];
  picked: string | null;
  onPick: (trialKey: string) => void;
}) {
  return (
    <section aria-label="What each window kept of it">
      <h2 className="font-semibold text-ink">What each window kept of it</h2>
      <ul className="-mx-4 text-table">
        {siblings.map((trial) => {
          const { cell, sent } = trial.shown;
          const evaluated = cell.call?.promptEvalCount ?? null;
          const window = windowOf(cell) === null ? 'default' : count(windowOf(cell));
          return (
            <li key={trial.key}>
              <button
                type="button"
                aria-current={trial.key === picked}
                onClick={() => {
                  onPick(trial.key);
                }}
                className={`grid min-h-6 w-full grid-cols-[64px_minmax(0,1fr)_64px] items-center gap-3 border-b px-4 text-ink ${trial.key === picked ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
              >
                <span className="text-right">{window}</span>
                <ShareBar
                  part={evaluated ?? 0}
                  whole={sent?.tokens ?? 0}
                  label={`${count(evaluated)} of ${count(sent?.tokens)} tokens`}
                />
                <span className="text-right">{count(evaluated)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Asked again when the call of the cell is another one: it ended meanwhile, or was run anew. */
function useRecord(run: ContextRun, { cell }: Reading): { record: CallRecord | null; problem: string | null } {
  const client = useClient();
  const [held, setHeld] = useState<{ key: string; record: CallRecord | null; problem: string | null } | null>(null);
  const callId = cell.call?.id ?? null;
  const key = `${cell.plan.key} ${callId ?? ''}`;
  const cellKey: CellKey = cell.plan.key;
  useEffect(() => {
    if (callId === null) return;
    let current = true;
    void client.request('cell.get', { runId: run.id, cellKey }).then((answer) => {
      if (!current) return;
      setHeld(
        answer.ok
          ? {
              key,
              record: answer.value.record,
              problem: answer.value.record === null ? 'The call of this cell was not stored.' : null,
            }
          : { key, record: null, problem: [answer.denial.message, answer.denial.next].filter(Boolean).join(' ') },
      );
    });
    return () => {
      current = false;
    };
  }, [client, run.id, cellKey, callId, key]);
  return held?.key === key ? held : { record: null, problem: null };
}

/** The strip may say what was counted elsewhere without calling it an estimate. */
function withCounted(verdict: TruncationVerdict, { lost }: Reading): TruncationVerdict {
  return verdict.lost === null && lost !== null && lost.counted
    ? { ...verdict, lost: lost.tokens as TruncationVerdict['lost'] }
    : verdict;
}

function byStrength({ evidence }: TruncationVerdict): TruncationVerdict['evidence'] {
  return [...evidence].sort((a, b) => confidences.indexOf(b.confidence) - confidences.indexOf(a.confidence));
}
