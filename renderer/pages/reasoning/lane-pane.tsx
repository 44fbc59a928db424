/** The detail pane of one call: what came of it, its repeats, the texts apart, what it rests on, and the next step. */
import { useEffect, useState } from 'react';
import type { CallRecord } from '../../../shared/contract/calls.ts';
import type { ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import { DetailPane } from '../../components/detail-pane.tsx';
import { ReadingEvidence, ReadingView } from '../../components/reading-view.tsx';
import { count, counted, seconds } from '../../format/numbers.ts';
import { readingWord, splitFigure } from '../../format/reasoning.ts';
import { useClient } from '../../stores/engine-context.ts';
import { markOf, markSigns, outputTokens, readingOf, wholeMs } from './lanes.ts';
import type { Lane } from './lanes.ts';
import { ProbableAnswer } from './probable-answer.tsx';
import { NextStep } from './two-steps.tsx';

export interface LanePaneProps {
  readonly run: ReasoningRun;
  /** null for a warm-up. */
  readonly lane: Lane | null;
  readonly cell: ReasoningCell;
  readonly canThink: boolean | null;
  readonly floating: boolean;
  readonly onPickCell: (cellKey: string) => void;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

export function LanePane({ run, lane, cell, canThink, floating, onPickCell, onClose, onMove }: LanePaneProps) {
  const { record, problem } = useRecord(run, cell);
  const reading = readingOf(cell);
  const placeholder =
    cell.call === null
      ? cell.state === 'running'
        ? 'Running. The verdict comes with the reply.'
        : 'No result yet.'
      : 'Loading';
  return (
    <DetailPane
      title={lane === null ? 'Warm-up' : lane.name}
      note={
        floating || lane === null || lane.repeats.length < 2
          ? ''
          : `run ${cell.plan.repeat + 1} of ${count(lane.repeats.length)}`
      }
      record={record}
      placeholder={problem ?? placeholder}
      onClose={onClose}
      onMove={onMove}
      floating={floating}
      {...(reading === null
        ? {}
        : {
            verdict: <ReadingView reading={reading} headline={headlineOf(cell)} />,
            evidence: <ReadingEvidence reading={reading} />,
            footer: <NextStep run={run} cell={cell} canThink={canThink} />,
          })}
      verdictExtra={
        <>
          {record === null || reading === null || reading.probableAnswer === null ? null : (
            <ProbableAnswer record={record} text={reading.probableAnswer} />
          )}
          {record === null ? null : <AskedAfter record={record} />}
          {lane === null || lane.repeats.length < 2 ? null : (
            <Repeats lane={lane} picked={cell.plan.key} onPick={onPickCell} />
          )}
        </>
      }
    />
  );
}

/** `8,000 tokens, 216.8 s, no answer` */
export function headlineOf(cell: ReasoningCell): string {
  const { call } = cell;
  if (call === null) return '';
  const total = outputTokens(call);
  const mark = markOf(cell);
  const end = mark === 'answered' ? 'answered' : mark === 'failed' ? 'failed' : 'no answer';
  return `${total === null ? 'unknown tokens' : counted(total, 'token')}, ${seconds(wholeMs(call))} s, ${end}`;
}

/** The first of two steps: thinking that was stopped from this side. */
function AskedAfter({ record }: { record: CallRecord }) {
  const first = record.askedAfter ?? null;
  if (first === null) return null;
  return (
    <p className="mt-3 wrap-anywhere text-ink">
      Thinking was stopped after {count(first.thinkingTokens)} tokens and {seconds(first.wallMs)} s, then this call
      asked for the answer alone.
    </p>
  );
}

function Repeats({ lane, picked, onPick }: { lane: Lane; picked: string; onPick: (cellKey: string) => void }) {
  return (
    <section aria-label="Repeats" className="mt-3">
      <h2 className="font-semibold text-ink">
        {count(lane.answered)} of {counted(lane.ended, 'run')} answered{lane.obeyed === null ? '' : ` · ${lane.obeyed}`}
      </h2>
      <ol className="-mx-4 text-table">
        {lane.repeats.map((cell) => {
          const reading = readingOf(cell);
          return (
            <li key={cell.plan.key}>
              <button
                type="button"
                aria-current={cell.plan.key === picked}
                onClick={() => {
                  onPick(cell.plan.key);
                }}
                className={`grid min-h-6 w-full grid-cols-[20px_16px_minmax(0,1fr)_64px_64px] items-center gap-2 border-b px-4 text-left text-ink ${cell.plan.key === picked ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
              >
                <span className="text-ink-3">{cell.plan.repeat + 1}</span>
                <span aria-hidden="true">{markSigns[markOf(cell)]}</span>
                <span className="truncate">
                  {reading === null ? (cell.call?.error ?? cell.state) : readingWord(reading)}
                </span>
                <span className="text-right">{reading === null ? '' : splitFigure(reading, 'thinkingTokens')}</span>
                <span className="text-right">{cell.call === null ? '' : `${seconds(wholeMs(cell.call))} s`}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Asked again when the call of the cell is another one: it ended meanwhile, or was run anew. */
function useRecord(run: ReasoningRun, cell: ReasoningCell): { record: CallRecord | null; problem: string | null } {
  const client = useClient();
  const [held, setHeld] = useState<{ key: string; record: CallRecord | null; problem: string | null } | null>(null);
  const callId = cell.call?.id ?? null;
  const cellKey = cell.plan.key;
  const key = `${cellKey} ${callId ?? ''}`;
  useEffect(() => {
    if (callId === null) return;
    let current = true;
    void client.request('cell.get', { runId: run.id, cellKey }).then((answer) => {
      if (!current) return;
      const record = answer.ok ? answer.value.record : null;
      const problem = answer.ok
        ? record === null
          ? 'The call of this cell was not stored.'
          : null
        : [answer.denial.message, answer.denial.next].filter(Boolean).join(' ');
      setHeld({ key, record, problem });
    });
    return () => {
      current = false;
    };
  }, [client, run.id, cellKey, callId, key]);
  return held?.key === key ? held : { record: null, problem: null };
}
