/** The heat map as values: rows, columns and squares, each with its words. Pure. */
import type { NeedleOutcome, TruncationKind } from '../../../shared/contract/verdicts.ts';
import { count } from '../../format/numbers.ts';
import { kindsText, lostSomething, needleWords } from '../../format/verdicts.ts';
import { axisWords, inView, trialName, valueKey } from './axes.ts';
import type { AxisName, AxisValue, AxisValues, MapView } from './axes.ts';
import { windowOf } from './trials.ts';
import type { Trial } from './trials.ts';

/**
 * lost: part of the prompt was never read. refused: the server did not run it. shifted: all was read, and part of it thrown
 * away while the answer grew. full: the reply met the window.
 */
export type HeatFill =
  'waiting' | 'running' | 'intact' | 'lost' | 'refused' | 'shifted' | 'full' | 'unknown' | 'failed' | 'cancelled';

export interface HeatSquare {
  readonly trial: Trial;
  readonly fill: HeatFill;
  readonly figure: string;
  readonly marks: readonly NeedleOutcome[];
  /** A whole sentence, for hover and for readers who do not see the square. */
  readonly label: string;
}

export interface HeatHead extends AxisValue {
  /** Second line: tokens of a size, or the window that ran. */
  readonly note: string;
}

export interface HeatModel {
  readonly down: AxisName;
  readonly across: AxisName;
  readonly rows: readonly HeatHead[];
  readonly columns: readonly HeatHead[];
  /** squares[row][column]; null where the run has no such trial. */
  readonly squares: readonly (readonly (HeatSquare | null)[])[];
  readonly fills: ReadonlySet<HeatFill>;
  readonly outcomes: ReadonlySet<NeedleOutcome>;
  /** How text was lost, for the legend: `halved`, or several ways. */
  readonly lostWord: string;
}

export function heatModel(trials: readonly Trial[], values: AxisValues, view: MapView): HeatModel {
  const places = new Map<string, Trial>();
  const byValue = new Map<string, Trial[]>();
  for (const trial of trials) {
    if (!inView(trial, view)) continue;
    const [row, column] = [valueKey(trial.plan, view.down), valueKey(trial.plan, view.across)];
    places.set(`${row}\u241f${column}`, trial);
    for (const place of [`down\u241f${row}`, `across\u241f${column}`])
      byValue.set(place, [...(byValue.get(place) ?? []), trial]);
  }
  const head = (name: AxisName, side: 'down' | 'across'): readonly HeatHead[] =>
    values[name].map((value) => ({
      ...value,
      note: headNote(name, value, byValue.get(`${side}\u241f${value.key}`) ?? []),
    }));
  const [rows, columns] = [head(view.down, 'down'), head(view.across, 'across')];
  const squares = rows.map((row) =>
    columns.map((column) => {
      const trial = places.get(`${row.key}\u241f${column.key}`);
      return trial === undefined ? null : squareOf(trial);
    }),
  );
  const all = squares.flat().filter((square) => square !== null);
  return {
    down: view.down,
    across: view.across,
    rows,
    columns,
    squares,
    fills: new Set(all.map((square) => square.fill)),
    outcomes: new Set(all.flatMap((square) => square.marks)),
    lostWord: lostWordOf(all),
  };
}

export function squareOf(trial: Trial): HeatSquare {
  const fill = fillOf(trial);
  return { trial, fill, figure: figureOf(trial, fill), marks: trial.marks, label: labelOf(trial, fill) };
}

/** One sentence about the whole map. */
export function heatSummary(model: HeatModel): string {
  const all = model.squares.flat().filter((square) => square !== null);
  const lost = all.filter((square) => square.fill === 'lost').length;
  const intact = all.filter((square) => square.fill === 'intact').length;
  return `${count(all.length)} cells, ${axisWords[model.down]} down, ${axisWords[model.across]} across: ${count(lost)} lost part of the text, ${count(intact)} lost nothing.`;
}

export const fillWords: Readonly<Record<HeatFill, string>> = {
  waiting: 'waiting',
  running: 'running',
  intact: 'intact',
  lost: 'cut',
  refused: 'refused',
  shifted: 'shifted while answering',
  full: 'window full',
  unknown: 'cannot be told',
  failed: 'failed',
  cancelled: 'stopped',
};

function lostWordOf(squares: readonly HeatSquare[]): string {
  const kinds = squares.flatMap(({ fill, trial }) =>
    fill === 'lost' ? (trial.shown.cell.call?.truncation.kinds ?? []).filter(isCut) : [],
  );
  return kinds.length === 0 ? fillWords.lost : [...new Set(kinds)].map((kind) => kindsText([kind])).join(', ');
}

/** Of the prompt itself; a shift comes later, while the answer grows. */
const isCut = (kind: TruncationKind): boolean => kind !== 'shifted' && lostSomething([kind]);

function fillOf(trial: Trial): HeatFill {
  const { cell } = trial.shown;
  if (trial.state === 'waiting' || trial.state === 'cancelled') return trial.state;
  if (cell.call === null) return trial.state === 'failed' ? 'failed' : 'running';
  if (cell.state === 'failed') return cell.call.truncation.kinds.includes('refused') ? 'refused' : 'failed';
  const { kinds } = cell.call.truncation;
  if (kinds.some(isCut)) return 'lost';
  if (kinds.includes('refused')) return 'refused';
  if (kinds.includes('shifted')) return 'shifted';
  if (kinds.includes('window-full')) return 'full';
  return kinds.includes('intact') ? 'intact' : 'unknown';
}

function figureOf(trial: Trial, fill: HeatFill): string {
  if (fill === 'waiting' || fill === 'cancelled') return '';
  const evaluated = trial.shown.cell.call?.promptEvalCount ?? null;
  if (evaluated === null && (fill === 'refused' || fill === 'failed' || fill === 'running')) return '';
  return count(evaluated);
}

function labelOf(trial: Trial, fill: HeatFill): string {
  const { shown, marks } = trial;
  const { call } = shown.cell;
  const parts = [trialName(trial)];
  if (call === null || fill === 'failed') {
    parts.push(call?.error ?? fillWords[fill]);
    return parts.join(': ');
  }
  const said = [kindsText(call.truncation.kinds)];
  if (call.promptEvalCount !== null) said.push(`${count(call.promptEvalCount)} tokens evaluated`);
  if (shown.lost !== null && shown.lost.tokens > 0)
    said.push(
      `${shown.lost.atLeast ? 'at least ' : shown.lost.counted ? '' : 'about '}${count(shown.lost.tokens)} lost`,
    );
  if (marks.length > 0) said.push(`needle ${marks.map((mark) => needleWords[mark].word).join(', ')}`);
  return `${parts.join('')}: ${said.join(', ')}`;
}

function headNote(name: AxisName, value: AxisValue, trials: readonly Trial[]): string {
  if (name === 'size') return sizeNote(trials);
  if (name !== 'window') return '';
  const running = new Set(trials.flatMap(({ shown }) => (shown.cell.call === null ? [] : [windowOf(shown.cell)])));
  const [only] = running;
  if (running.size !== 1 || only === null || only === undefined || String(only) === value.key) return '';
  return `${count(only)} ran`;
}

/** The counted size where one is known, else the estimate; documents of other seeds differ a little. */
function sizeNote(trials: readonly Trial[]): string {
  const sents = trials.flatMap(({ readings }) => readings.flatMap(({ sent }) => (sent === null ? [] : [sent])));
  const sent = sents.find((candidate) => candidate.counted) ?? sents[0];
  if (sent === undefined) return '';
  return `${sent.counted ? '' : '~'}${count(sent.tokens)} tok`;
}
