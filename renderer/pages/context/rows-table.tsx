/** Every row that ran, newest on top. */
import { useMemo } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Tag } from '../../components/chip.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { count, DASH, duration, rate } from '../../format/numbers.ts';
import { severityOf } from '../../format/verdicts.ts';
import { depthsText, sizeText } from './axes.ts';
import type { AxisValues } from './axes.ts';
import { rowFigures, rowJson } from './lab-rows.ts';
import type { LabRow } from './lab-rows.ts';
import { verdictRank, windowOf } from './trials.ts';

export interface RowsTableProps {
  readonly rows: readonly LabRow[];
  readonly values: AxisValues;
  readonly picked: string | null;
  readonly onPick: (rowKey: string) => void;
  readonly empty: string;
}

export function RowsTable({ rows, values, picked, onPick, empty }: RowsTableProps) {
  const repeats = rows.reduce((most, row) => Math.max(most, row.marks.length), 1);
  const columns = useMemo(() => columnsFor(values, repeats), [values, repeats]);
  return (
    <DataTable
      label="Rows of this run"
      rows={rows}
      columns={columns}
      rowKey={keyOf}
      picked={picked}
      onPick={onPick}
      onOpen={onPick}
      rowHeight={24}
      rowJson={rowJson}
      empty={<p className="px-6 py-3 text-ink-3">{empty}</p>}
    />
  );
}

const keyOf = (row: LabRow): string => row.key;

/** Axes with one value only stand in the sentence above, not in every row. */
function columnsFor(values: AxisValues, repeats: number): readonly Column<LabRow>[] {
  const varies = (name: keyof AxisValues): boolean => values[name].length > 1;
  return [
    ...(varies('model') ? [modelColumn] : []),
    charactersColumn,
    windowColumn,
    ...(varies('depth') ? [depthColumn] : []),
    ...(varies('route') ? [routeColumn] : []),
    ...(varies('policy') ? [policyColumn] : []),
    sentColumn,
    evaluatedColumn,
    lostColumn,
    verdictColumn,
    confidenceColumn,
    { ...needleColumn, width: `${Math.max(68, 24 + Math.min(repeats, 9) * 11)}px` },
    answerColumn,
    ...(varies('route') ? [] : [routeColumn]),
    ...timeColumns,
  ];
}

const plan = (row: LabRow): LabRow['reading']['cell']['plan'] => row.reading.cell.plan;
const call = (row: LabRow): LabRow['reading']['cell']['call'] => row.reading.cell.call;

const modelColumn: Column<LabRow> = {
  id: 'model',
  header: 'model',
  width: '168px',
  text: (row) => plan(row).model,
  cell: (row) => <ModelName name={plan(row).model} />,
  sortBy: (row) => plan(row).model,
};
const charactersColumn: Column<LabRow> = {
  id: 'characters',
  header: 'characters',
  help: 'Characters of the whole prompt: the text, its needles and the question.',
  width: '96px',
  numeric: true,
  text: (row) => count(call(row)?.promptCharacters ?? row.reading.cell.documentCharacters),
  cell: (row) => (
    <span className="truncate">{call(row) === null ? sizeText(plan(row)) : count(call(row)?.promptCharacters)}</span>
  ),
  sortBy: (row) => call(row)?.promptCharacters ?? row.reading.cell.documentCharacters,
};
const windowColumn: Column<LabRow> = {
  id: 'window',
  header: 'window',
  help: 'The window that ran. Where it differs from what was asked, both are in the detail pane.',
  width: '72px',
  numeric: true,
  text: (row) => (windowOf(row.reading.cell) === null ? 'default' : count(windowOf(row.reading.cell))),
  sortBy: (row) => windowOf(row.reading.cell),
};
const depthColumn: Column<LabRow> = {
  id: 'depth',
  header: 'needle at',
  width: '116px',
  text: (row) => depthsText(plan(row).depths),
  sortBy: (row) => plan(row).depths[0] ?? null,
};
const sentColumn: Column<LabRow> = {
  id: 'sent',
  header: 'sent',
  help: 'Tokens of the whole prompt. ~ marks an estimate; without it a window that held the same text counted them.',
  width: '72px',
  numeric: true,
  text: ({ reading: { sent } }) => (sent === null ? DASH : `${sent.counted ? '' : '~'}${count(sent.tokens)}`),
  sortBy: (row) => row.reading.sent?.tokens ?? null,
};
const evaluatedColumn: Column<LabRow> = {
  id: 'evaluated',
  header: 'evaluated',
  help: 'prompt_eval_count as the server reported it.',
  width: '88px',
  numeric: true,
  text: (row) => count(call(row)?.promptEvalCount),
  cell: (row) => <b>{count(call(row)?.promptEvalCount)}</b>,
  sortBy: (row) => call(row)?.promptEvalCount ?? null,
};
const lostColumn: Column<LabRow> = {
  id: 'lost',
  header: 'lost',
  help: 'Prompt tokens that the model never read. ~ marks an estimate.',
  width: '72px',
  numeric: true,
  text: ({ reading: { lost } }) =>
    lost === null ? DASH : `${lost.counted ? '' : '~'}${lost.atLeast ? '≥ ' : ''}${count(lost.tokens)}`,
  sortBy: (row) => row.reading.lost?.tokens ?? null,
};
const verdictColumn: Column<LabRow> = {
  id: 'verdict',
  header: 'verdict',
  width: '148px',
  text: (row) => row.verdict,
  cell: (row) => {
    const ended = call(row);
    const severity = ended === null || row.verdict === 'failed' ? 'informed' : severityOf(ended.truncation);
    return (
      <span className="inline-flex min-w-0 items-center gap-2">
        {severity === 'informed' ? (
          <i className={`block h-4 w-4 flex-none ${ended === null ? 'pulse rounded-sm border border-field' : ''}`} />
        ) : (
          <Badge meaning="context" severity={severity} size="small" />
        )}
        <span className="truncate">{row.verdict}</span>
        {row.trial === null ? <Tag text="warm-up" title="Loads the model. It stays out of all averages." /> : null}
      </span>
    );
  },
  sortBy: (row) => verdictRank(call(row)),
};
const confidenceColumn: Column<LabRow> = {
  id: 'confidence',
  header: 'confidence',
  width: '84px',
  text: (row) => call(row)?.truncation.confidence ?? '',
  cell: (row) => <span className="text-ink-3">{call(row)?.truncation.confidence ?? ''}</span>,
  sortBy: (row) => call(row)?.truncation.confidence ?? null,
};
const needleColumn: Column<LabRow> = {
  id: 'needle',
  header: 'needle',
  help: '✓ found, ✕ lost, ! made up, ≈ echoed; one mark a repeat.',
  width: '72px',
  mono: true,
  text: (row) => row.marks,
  cell: (row) => <span className="truncate tracking-[2px]">{row.marks}</span>,
  sortBy: (row) => row.markRank,
};
const answerColumn: Column<LabRow> = {
  id: 'answer',
  header: 'answer',
  width: 'minmax(152px, 1fr)',
  mono: true,
  text: (row) => call(row)?.error ?? call(row)?.answerHead ?? '',
  sortBy: (row) => call(row)?.answerHead ?? null,
};
const routeColumn: Column<LabRow> = {
  id: 'route',
  header: 'route',
  width: '80px',
  text: (row) => plan(row).route,
  sortBy: (row) => plan(row).route,
};
const policyColumn: Column<LabRow> = {
  id: 'policy',
  header: 'policy',
  width: '72px',
  text: (row) => plan(row).policy,
  sortBy: (row) => plan(row).policy,
};

function timeColumn(
  id: keyof typeof rowFigures,
  header: string,
  help: string,
  say: (value: number) => string,
): Column<LabRow> {
  return {
    id,
    header,
    help,
    width: '88px',
    numeric: true,
    text: (row) => {
      const value = rowFigures[id](row);
      return value === null ? DASH : say(value);
    },
    sortBy: (row) => rowFigures[id](row),
  };
}

const timeColumns: readonly Column<LabRow>[] = [
  timeColumn(
    'firstTokenMs',
    'first token',
    'From sending to the first token, average of the repeats. Loading is part of it.',
    duration,
  ),
  timeColumn('loadMs', 'load', 'Loading the model, as the server reported it.', duration),
  timeColumn('promptRate', 'prompt', 'Prompt tokens a second, as evaluated.', rate),
  timeColumn('outputRate', 'output', 'Answer tokens a second.', rate),
  timeColumn('totalMs', 'total', 'The whole call, as the server reported it.', duration),
];
