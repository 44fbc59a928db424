/** Every lane, or every call, with what came of it and where its tokens went. */
import { useMemo } from 'react';
import type { CallReasoning, CallSummary } from '../../../shared/contract/calls.ts';
import type { ReasoningCell } from '../../../shared/contract/experiments.ts';
import { Badge } from '../../components/badge.tsx';
import { Tag } from '../../components/chip.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { count, DASH, duration, rate, seconds } from '../../format/numbers.ts';
import {
  causeText,
  obedienceWords,
  outcomeHelp,
  outcomeWords,
  placesText,
  readingSeverity,
  splitFigure,
  splitSourceText,
} from '../../format/reasoning.ts';
import { Dot } from './lane-rows.tsx';
import { marksText, markOf, outputRate, outputTokens, readingOf, wholeMs } from './lanes.ts';
import type { Lane, LaneSet } from './lanes.ts';

export interface LaneRow {
  readonly key: string;
  /** null for a warm-up. */
  readonly lane: Lane | null;
  readonly cell: ReasoningCell;
  readonly name: string;
  /** The dots of all repeats, where the row stands for them. */
  readonly marks: readonly ReasoningCell[];
}

/** One row a lane, or one a call, newest first; warm-ups only among the calls. */
export function laneRows({ lanes, warmUps }: LaneSet, each: 'lane' | 'call'): readonly LaneRow[] {
  if (each === 'lane')
    return lanes.map((lane) => ({
      key: lane.key,
      lane,
      cell: lane.shown,
      name: lane.name,
      marks: lane.repeats,
    }));
  const rows = lanes.flatMap((lane) =>
    lane.repeats.map((cell): LaneRow => ({
      key: cell.plan.key,
      lane,
      cell,
      name: `${lane.name}, run ${cell.plan.repeat + 1}`,
      marks: [cell],
    })),
  );
  const first = warmUps.map((cell): LaneRow => ({
    key: cell.plan.key,
    lane: null,
    cell,
    name: cell.plan.variant,
    marks: [cell],
  }));
  return [...rows, ...first]
    .filter(({ cell }) => cell.call !== null || cell.state === 'running')
    .sort((a, b) => b.cell.plan.index - a.cell.plan.index);
}

export interface LaneTableProps {
  readonly rows: readonly LaneRow[];
  readonly picked: string | null;
  readonly onPick: (rowKey: string) => void;
  readonly empty: string;
}

export function LaneTable({ rows, picked, onPick, empty }: LaneTableProps) {
  const models = new Set(rows.map(({ cell }) => cell.plan.model)).size > 1;
  const columns = useMemo(() => [...(models ? [modelColumn] : []), ...commonColumns], [models]);
  return (
    <DataTable
      label="Rows of this run"
      rows={rows}
      columns={columns}
      rowKey={keyOf}
      picked={picked}
      onPick={onPick}
      onOpen={onPick}
      rowHeight={28}
      rowJson={(row) => row.marks}
      empty={<p className="px-6 py-3 text-ink-3">{empty}</p>}
    />
  );
}

const keyOf = (row: LaneRow): string => row.key;

const modelColumn: Column<LaneRow> = {
  id: 'model',
  header: 'model',
  width: '160px',
  text: ({ cell }) => cell.plan.model,
  cell: ({ cell }) => <ModelName name={cell.plan.model} />,
  sortBy: ({ cell }) => cell.plan.model,
};

function readingColumn(
  column: Omit<Column<LaneRow>, 'text' | 'sortBy'>,
  say: (reading: CallReasoning) => string,
  sortBy: (reading: CallReasoning) => number | string | null = say,
): Column<LaneRow> {
  return {
    ...column,
    text: ({ cell }) => {
      const reading = readingOf(cell);
      return reading === null ? DASH : say(reading);
    },
    sortBy: ({ cell }) => {
      const reading = readingOf(cell);
      return reading === null ? null : sortBy(reading);
    },
  };
}

function callColumn(
  column: Omit<Column<LaneRow>, 'text' | 'sortBy'>,
  figure: (call: CallSummary) => number | string | null,
  say: (value: number) => string = count,
): Column<LaneRow> {
  const valueOf = ({ cell }: LaneRow): number | string | null => (cell.call === null ? null : figure(cell.call));
  return {
    ...column,
    text: (row) => {
      const value = valueOf(row);
      return value === null ? DASH : typeof value === 'number' ? say(value) : value;
    },
    sortBy: valueOf,
  };
}

const variantColumn: Column<LaneRow> = {
  id: 'variant',
  header: 'variant',
  width: 'minmax(100px, 1fr)',
  text: (row) => row.name,
  cell: (row) => (
    <span className="inline-flex min-w-0 items-center gap-2">
      <span className="truncate">{row.name}</span>
      {row.lane === null ? <Tag text="warm-up" title="Loads the model. It stays out of all averages." /> : null}
    </span>
  ),
  sortBy: (row) => row.name,
};

const outcomeColumn: Column<LaneRow> = {
  ...readingColumn(
    {
      id: 'outcome',
      header: 'outcome',
      help: 'Told from the fields of the reply, never from done_reason alone.',
      width: '92px',
    },
    ({ outcome }) => outcomeWords[outcome],
  ),
  cell: ({ cell }) => {
    const reading = readingOf(cell);
    if (reading === null) return <span className="text-ink-3">{cell.call === null ? cell.state : DASH}</span>;
    const severity = readingSeverity(reading);
    return (
      <span className="inline-flex min-w-0 items-center gap-2" title={outcomeHelp[reading.outcome]}>
        {severity === 'informed' ? null : <Badge meaning="thinking" severity={severity} size="small" />}
        <span className="truncate">{outcomeWords[reading.outcome]}</span>
      </span>
    );
  },
};

const runsColumn: Column<LaneRow> = {
  id: 'runs',
  header: 'runs',
  help: '● no answer, ○ answered, ✕ failed; one mark a repeat.',
  width: '72px',
  text: ({ lane, marks }) => (lane === null || marks.length < 2 ? '' : marksText(lane)),
  cell: ({ marks }) => (
    <span className="c-thinking flex min-w-0 items-center gap-[3px] overflow-hidden">
      {marks.slice(0, 10).map((cell) => (
        <Dot key={cell.plan.key} mark={markOf(cell)} />
      ))}
      {marks.length > 10 ? <span className="lab">+{count(marks.length - 10)}</span> : null}
    </span>
  ),
  sortBy: ({ lane }) => lane?.answered ?? null,
};

const commonColumns: readonly Column<LaneRow>[] = [
  variantColumn,
  outcomeColumn,
  readingColumn(
    { id: 'cause', header: 'cause', help: 'Why there is no answer; a dash where there is one.', width: '72px' },
    causeText,
  ),
  readingColumn(
    {
      id: 'places',
      header: 'thinking was',
      help: 'In its own field, in the answer between tags, hidden (counted and visible nowhere), or none. Suspected is an estimate.',
      width: '140px',
    },
    placesText,
  ),
  {
    ...readingColumn(
      {
        id: 'obeyed',
        header: 'off obeyed',
        help: 'Where thinking was switched off: whether the model kept to it, over all repeats that could be told.',
        width: '88px',
      },
      ({ obedience }) => obedienceWords[obedience],
    ),
    text: (row) => obeyedText(row),
    cell: (row) => (
      <span className={`truncate ${obeyedText(row) === obedienceWords['not-asked'] ? 'text-ink-3' : ''}`}>
        {obeyedText(row)}
      </span>
    ),
  },
  readingColumn(
    {
      id: 'thinking',
      header: 'thinking',
      help: 'Tokens of thinking. ~ marks an estimate.',
      width: '68px',
      numeric: true,
    },
    (reading) => splitFigure(reading, 'thinkingTokens'),
    ({ split }) => split?.thinkingTokens ?? null,
  ),
  readingColumn(
    {
      id: 'answer',
      header: 'answer',
      help: 'Tokens of the answer. ~ marks an estimate.',
      width: '60px',
      numeric: true,
    },
    (reading) => splitFigure(reading, 'answerTokens'),
    ({ split }) => split?.answerTokens ?? null,
  ),
  {
    ...readingColumn(
      {
        id: 'split',
        header: 'split',
        help: 'Counted by logprobs, or estimated from chunks scaled to eval_count; then with how far that was off.',
        width: '96px',
      },
      splitSourceText,
    ),
    cell: ({ cell }) => {
      const reading = readingOf(cell);
      return <span className="truncate text-ink-3">{reading === null ? DASH : splitSourceText(reading)}</span>;
    },
  },
  callColumn(
    { id: 'tokens', header: 'tokens', help: 'All generated tokens, as reported.', width: '60px', numeric: true },
    outputTokens,
  ),
  callColumn(
    { id: 'wall', header: 'time', help: 'From sending to the end, as measured here.', width: '68px', numeric: true },
    wholeMs,
    (value) => `${seconds(value)} s`,
  ),
  callColumn(
    { id: 'rate', header: 'tokens/s', help: 'Generated tokens a second.', width: '72px', numeric: true },
    outputRate,
    (value) => rate(value).replace('/s', ''),
  ),
  callColumn(
    { id: 'done', header: 'done_reason', width: '92px', mono: true },
    (call) => call.doneReason ?? call.ending,
  ),
  runsColumn,
  callColumn(
    {
      id: 'first',
      header: 'first token',
      help: 'From sending to the first token of any kind. Loading is part of it.',
      width: '84px',
      numeric: true,
    },
    (call) => call.timeToFirstTokenMs,
    duration,
  ),
];

function obeyedText({ lane, cell, marks }: LaneRow): string {
  if (marks.length > 1 && lane !== null && lane.obeyed !== null) return lane.obeyed.replace(/^off obeyed /u, '');
  const reading = readingOf(cell);
  return reading === null ? DASH : obedienceWords[reading.obedience];
}
