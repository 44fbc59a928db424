/** Runs and calls in one list. Pure. */
import type { CallSummary } from '../../../shared/contract/calls.ts';
import type { RunSummary } from '../../../shared/contract/experiments.ts';
import { count, counted } from '../../format/numbers.ts';
import { kindsText, lostSomething } from '../../format/verdicts.ts';

export const historyFilters = ['all', 'runs', 'calls', 'lost', 'unfinished', 'simulated'] as const;
export type HistoryFilter = (typeof historyFilters)[number];

export interface HistoryRow {
  readonly key: string;
  readonly at: string;
  readonly what: 'sweep' | 'reasoning' | 'call';
  readonly name: string;
  readonly model: string;
  readonly state: string;
  readonly size: string;
  readonly sizeNumber: number | null;
  readonly verdict: string;
  readonly lost: boolean;
  readonly tokens: number | null;
  readonly simulated: boolean;
  readonly answer: string;
  readonly run: RunSummary | null;
  readonly call: CallSummary | null;
}

export function historyRows(
  runs: readonly RunSummary[],
  calls: readonly CallSummary[],
  search: string,
  filter: HistoryFilter,
): readonly HistoryRow[] {
  const rows = [...runs.map(rowOfRun), ...calls.map(rowOfCall)].sort((a, b) =>
    a.at < b.at ? 1 : a.at > b.at ? -1 : 0,
  );
  const words = fold(search).split(/\s+/u).filter(Boolean);
  return rows.filter(
    (row) =>
      passes(row, filter) &&
      words.every((word) => fold(`${row.name} ${row.model} ${row.state} ${row.verdict} ${row.answer}`).includes(word)),
  );
}

function passes(row: HistoryRow, filter: HistoryFilter): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'runs':
      return row.run !== null;
    case 'calls':
      return row.call !== null;
    case 'lost':
      return row.lost;
    case 'unfinished':
      return (
        row.run !== null &&
        (row.run.state === 'interrupted' || row.run.state === 'cancelled' || row.run.state === 'failed')
      );
    case 'simulated':
      return row.simulated;
  }
}

function rowOfRun(run: RunSummary): HistoryRow {
  const { models } = run.experiment.axes;
  return {
    key: `run ${run.id}`,
    at: run.createdAt,
    what: run.kind === 'reasoning' ? 'reasoning' : 'sweep',
    name: run.name,
    model: models.join(', '),
    state: run.state,
    size: `${count(run.cellsDone)} of ${counted(run.cellsTotal, 'cell')}`,
    sizeNumber: run.cellsTotal,
    verdict: run.cellsTruncated === 0 ? '' : `${count(run.cellsTruncated)} lost something`,
    lost: run.cellsTruncated > 0,
    tokens: run.tokensEvaluated,
    simulated: run.simulated,
    answer: '',
    run,
    call: null,
  };
}

function rowOfCall(call: CallSummary): HistoryRow {
  return {
    key: `call ${call.id}`,
    at: call.startedAt,
    what: 'call',
    name: call.answerHead === '' ? (call.error ?? 'no answer') : call.answerHead,
    model: call.model,
    state: call.ending,
    size: counted(call.promptCharacters, 'character'),
    sizeNumber: call.promptCharacters,
    verdict: kindsText(call.truncation.kinds),
    lost: lostSomething(call.truncation.kinds),
    tokens: call.promptEvalCount,
    simulated: call.simulated,
    answer: call.answerHead,
    run: null,
    call,
  };
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
