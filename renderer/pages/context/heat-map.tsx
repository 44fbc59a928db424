/** Size down, window across, one square a trial. A grid for the keyboard: arrows move, Enter or space opens. */
import { useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { needleOutcomes } from '../../../shared/contract/verdicts.ts';
import { marksText, needleWords } from '../../format/verdicts.ts';
import { axisWords } from './axes.ts';
import { fillWords, heatSummary } from './heat-model.ts';
import { needleRanks } from './trials.ts';
import type { HeatFill, HeatModel, HeatSquare } from './heat-model.ts';

export interface HeatMapProps {
  readonly model: HeatModel;
  readonly picked: string | null;
  readonly onPick: (trialKey: string) => void;
}

/** With more columns than this, figures no longer fit beside each other and the map scrolls. */
const SQUARE_WIDTH_MIN = 56;

export function HeatMap({ model, picked, onPick }: HeatMapProps) {
  const grid = useRef<HTMLDivElement>(null);
  const { rows, columns, squares } = model;
  const at = placeOf(model, picked);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const [row, column] = [at[0] + step[0], at[1] + step[1]];
    const square = squares[row]?.[column];
    if (square === null || square === undefined) return;
    onPick(square.trial.key);
    grid.current?.querySelector<HTMLElement>(`[data-place="${row} ${column}"]`)?.focus();
  };
  const dense = rows.length > 6 || columns.length > 8;
  return (
    <div
      ref={grid}
      role="grid"
      aria-label={heatSummary(model)}
      onKeyDown={onKeyDown}
      className={`grid ${dense ? 'content-start gap-0.5' : 'h-full gap-1'}`}
      style={{
        gridTemplateRows: dense ? undefined : `auto repeat(${rows.length}, minmax(44px, 1fr))`,
        maxHeight: dense ? undefined : rows.length * 104 + 40,
        gridTemplateColumns: `minmax(56px, max-content) repeat(${columns.length}, minmax(${SQUARE_WIDTH_MIN}px, 1fr))`,
      }}
    >
      <div role="row" className="contents">
        <span role="columnheader" aria-label={axisWords[model.down]} />
        {columns.map((column) => (
          <span
            key={column.key}
            role="columnheader"
            className="min-w-0 text-center text-table leading-4 font-semibold text-ink"
            title={column.key}
          >
            <span className="block truncate">{column.text}</span>
            {column.note === '' ? null : <span className="lab block truncate font-normal">{column.note}</span>}
          </span>
        ))}
      </div>
      {rows.map((row, rowIndex) => (
        <div role="row" key={row.key} className="contents">
          <span
            role="rowheader"
            className="flex max-w-32 min-w-0 flex-col justify-center pr-1 text-table leading-4 font-semibold text-ink"
            title={row.key}
          >
            <span className="truncate">{row.text}</span>
            {row.note === '' || dense ? null : <span className="lab truncate font-normal">{row.note}</span>}
          </span>
          {columns.map((column, columnIndex) => (
            <Square
              key={column.key}
              square={squares[rowIndex]?.[columnIndex] ?? null}
              place={`${rowIndex} ${columnIndex}`}
              reachable={rowIndex === at[0] && columnIndex === at[1]}
              picked={picked}
              dense={dense}
              onPick={onPick}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

/** The fills and marks that are on the map now, in words. */
export function HeatLegend({ model }: { readonly model: HeatModel }) {
  const fills = (Object.keys(fillWords) as HeatFill[]).filter(
    (fill) => model.fills.has(fill) && fill !== 'running' && fill !== 'waiting',
  );
  const outcomes = needleOutcomes.filter((outcome) => outcome !== 'none' && model.outcomes.has(outcome));
  return (
    <div className="lab mt-2 flex flex-wrap items-center gap-x-3 gap-y-0.5">
      {fills.map((fill) => (
        <span key={fill} className="flex items-center gap-1.5 text-ink-2">
          <i aria-hidden="true" className={`h-3 w-3 flex-none rounded-sm border ${looks[fill]}`} />
          {fill === 'lost' ? model.lostWord : fillWords[fill]}
        </span>
      ))}
      {outcomes.map((outcome) => (
        <span key={outcome} className="whitespace-nowrap">
          {needleWords[outcome].mark} {needleWords[outcome].word}
        </span>
      ))}
    </div>
  );
}

interface SquareProps {
  readonly square: HeatSquare | null;
  readonly place: string;
  readonly reachable: boolean;
  readonly picked: string | null;
  readonly dense: boolean;
  readonly onPick: (trialKey: string) => void;
}

function Square({ square, place, reachable, picked, dense, onPick }: SquareProps) {
  if (square === null) return <span role="gridcell" />;
  const { trial, fill, figure, marks, label } = square;
  const on = trial.key === picked;
  const running = trial.state === 'running';
  return (
    <button
      type="button"
      role="gridcell"
      aria-label={label}
      aria-selected={on}
      aria-busy={running}
      title={label}
      data-place={place}
      tabIndex={reachable ? 0 : -1}
      onClick={() => {
        onPick(trial.key);
      }}
      className={`relative flex min-w-0 flex-col items-center justify-center overflow-hidden rounded-sm border ${dense ? 'min-h-7' : '@container'} ${looks[fill]} ${on ? 'outline-2 outline-offset-1 outline-ink' : ''}`}
    >
      {running ? <i aria-hidden="true" className="pulse absolute inset-x-0 bottom-0 h-1 bg-ink" /> : null}
      <span className={dense ? 'text-table font-semibold' : 'text-[clamp(12px,21cqw,20px)] leading-6 font-semibold'}>
        {figure === '' ? wordOf(fill) : figure}
        {dense && marks.length > 0 ? ` ${worstMark(marks)}` : ''}
      </span>
      {marks.length === 0 || dense ? null : (
        <span className="truncate leading-[18px] tracking-[2px]">{marksText(marks)}</span>
      )}
    </button>
  );
}

/** Filled = it happened; hatched would be a forecast and is not used here. Text on the fill is dark in both themes. */
const looks: Readonly<Record<HeatFill, string>> = {
  waiting: 'border-line border-dashed text-ink-3',
  running: 'border-line text-ink-3',
  intact: 'border-line text-ink',
  lost: 'border-context bg-context text-(--on-context)',
  refused: 'border-context shadow-[inset_-4px_0_0_var(--context)] text-ink',
  shifted: 'border-2 border-context border-dashed text-ink',
  full: 'border-2 border-context text-ink',
  unknown: 'border-field border-dotted text-ink',
  failed: 'border-field bg-sunk text-ink shadow-[inset_-4px_0_0_var(--plain)]',
  cancelled: 'border-line border-dashed text-ink-3',
};

function wordOf(fill: HeatFill): string {
  return fill === 'waiting' || fill === 'running'
    ? ''
    : fill === 'failed' || fill === 'refused'
      ? fillWords[fill]
      : '–';
}

function worstMark(marks: HeatSquare['marks']): string {
  const worst = marks.reduce((one, other) => (needleRanks[other] > needleRanks[one] ? other : one));
  return needleWords[worst].mark;
}

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function placeOf(model: HeatModel, picked: string | null): readonly [number, number] {
  for (const [row, line] of model.squares.entries())
    for (const [column, square] of line.entries())
      if (square !== null && square.trial.key === picked) return [row, column];
  return [0, 0];
}
