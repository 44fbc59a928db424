/** Rows of the table: one a trial, or one a call; warm-ups stand apart. Newest first. Pure. */
import { kindsText, marksText } from '../../format/verdicts.ts';
import { meanOf, needleRanks } from './trials.ts';
import type { Lab, Reading, Trial } from './trials.ts';

export interface LabRow {
  readonly key: string;
  /** null for a warm-up. */
  readonly trial: Trial | null;
  /** What stands in the row: the worst reading of a trial, or the one call. */
  readonly reading: Reading;
  /** Averages are made over these. */
  readonly readings: readonly Reading[];
  /** 1-based, null where the row stands for all repeats. */
  readonly repeat: number | null;
  readonly marks: string;
  readonly markRank: number;
  readonly verdict: string;
  readonly order: number;
}

export function labRows(lab: Lab, each: 'trial' | 'call'): readonly LabRow[] {
  const rows: LabRow[] = lab.warmUps.filter(started).map((reading) => rowOf(null, reading, [reading], null));
  for (const trial of lab.trials) {
    if (each === 'trial') {
      const ran = trial.readings.filter(started);
      if (ran.length > 0) rows.push(rowOf(trial, trial.shown, ran, null));
      continue;
    }
    for (const reading of trial.readings)
      if (started(reading)) rows.push(rowOf(trial, reading, [reading], reading.cell.plan.repeat + 1));
  }
  return rows.sort((a, b) => b.order - a.order);
}

/** Averages over the repeats; warm-ups are never part of a trial, so never of an average. */
export const rowFigures = {
  firstTokenMs: (row: LabRow): number | null => meanOf(row.readings, (call) => call.timeToFirstTokenMs),
  loadMs: (row: LabRow): number | null => meanOf(row.readings, (call) => call.loadDurationMs),
  promptRate: (row: LabRow): number | null =>
    meanOf(row.readings, (call) => perSecond(call.promptEvalCount, call.promptEvalDurationMs)),
  outputRate: (row: LabRow): number | null =>
    meanOf(row.readings, (call) => perSecond(call.evalCount, call.evalDurationMs)),
  totalMs: (row: LabRow): number | null => meanOf(row.readings, (call) => call.totalDurationMs),
} as const;

/** What "copy row as JSON" gives: the calls as they came, with what the run tells about them. */
export function rowJson(row: LabRow): unknown {
  return row.readings.map(({ cell, sent, lost }) => ({ ...cell, sent, lost }));
}

function started({ cell }: Reading): boolean {
  return cell.call !== null || cell.state === 'running';
}

function rowOf(trial: Trial | null, reading: Reading, readings: readonly Reading[], repeat: number | null): LabRow {
  const { cell } = reading;
  const outcomes = readings.flatMap((one) => (one.cell.call === null ? [] : [one.cell.call.needle]));
  return {
    key: repeat === null && trial !== null ? trial.key : cell.plan.key,
    trial,
    reading,
    readings,
    repeat,
    marks: marksText(outcomes),
    markRank: Math.max(-1, ...outcomes.map((outcome) => needleRanks[outcome])),
    verdict: cell.call === null ? cell.state : verdictWord(reading),
    order: Math.max(...readings.map((one) => one.cell.plan.index)),
  };
}

function verdictWord({ cell }: Reading): string {
  if (cell.call === null) return cell.state;
  if (cell.state === 'cancelled') return 'stopped';
  if (cell.state === 'failed' && !cell.call.truncation.kinds.includes('refused')) return 'failed';
  return kindsText(cell.call.truncation.kinds);
}

function perSecond(tokens: number | null, durationMs: number | null): number | null {
  return tokens === null || durationMs === null || durationMs === 0 ? null : (tokens * 1_000) / durationMs;
}
