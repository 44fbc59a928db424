/** What was learned, row by row beside what the script table starts with. */
import type { CalibrationListRow, StartValue } from '../../../shared/contract/estimates.ts';

/** Kinds of text in the words of the page; an unknown one stands as it is. */
export const scriptWord = (script: string): string => words[script] ?? script;

export interface LearnedView {
  readonly key: string;
  readonly model: string;
  readonly simulated: boolean;
  readonly script: string;
  readonly samples: number;
  readonly samplesSeen: number;
  readonly learned: string;
  readonly band: string;
  readonly start: string;
  /** Parts of a shared scale from 0 to 1; null where the band is not known. */
  readonly bar: Bar | null;
  readonly startBar: Bar | null;
}

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

export function learnedViews(rows: readonly CalibrationListRow[], startValues: readonly StartValue[]): LearnedView[] {
  const starts = new Map(startValues.map((value) => [value.script, value]));
  const widest = scaleMax(rows, startValues);
  return rows.map((row) => {
    const start = starts.get(row.script) ?? null;
    return {
      key: `${row.simulated ? 'simulated ' : ''}${row.model} ${row.script}`,
      model: row.model,
      simulated: row.simulated,
      script: scriptWord(row.script),
      samples: row.samples,
      samplesSeen: row.samplesSeen,
      learned: number(row.median),
      band: bandWord(row.low, row.high),
      start: start === null ? '–' : `${number(start.median)} (${bandWord(start.low, start.high)})`,
      bar: barOf(row.low, row.median, row.high, widest),
      startBar: start === null ? null : barOf(start.low, start.median, start.high, widest),
    };
  });
}

/** Rows of one model after another, as they come; real and simulated models of one name stay apart. */
export function modelGroups(views: readonly LearnedView[]): readonly (readonly [LearnedView, ...LearnedView[]])[] {
  const groups = new Map<string, [LearnedView, ...LearnedView[]]>();
  for (const view of views) {
    const key = `${String(view.simulated)} ${view.model}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [view]);
    else group.push(view);
  }
  return [...groups.values()];
}

export interface StartView {
  readonly script: string;
  readonly text: string;
  readonly value: string;
  readonly band: string;
  readonly bar: Bar | null;
}

export function startViews(startValues: readonly StartValue[], rows: readonly CalibrationListRow[] = []): StartView[] {
  const widest = scaleMax(rows, startValues);
  return startValues.map((value) => ({
    script: scriptWord(value.script),
    text: value.text,
    value: number(value.median),
    band: bandWord(value.low, value.high),
    bar: barOf(value.low, value.median, value.high, widest),
  }));
}

/** `3.9 to 5.1`; one decimal more where one would not tell the ends apart. */
export function bandWord(low: number | null, high: number | null): string {
  return low === null || high === null ? '–' : `${number(low)} to ${number(high)}`;
}

const number = (value: number | null): string => (value === null ? '–' : value.toFixed(2));

/** A band that reaches further than this is drawn as far as the scale goes: one wide band would flatten all others. */
const SCALE_MAX = 12;

function scaleMax(rows: readonly CalibrationListRow[], startValues: readonly StartValue[]): number {
  const ends = [...rows, ...startValues].flatMap(({ high }) => (high === null ? [] : [high]));
  return Math.min(SCALE_MAX, Math.max(1, ...ends));
}

function barOf(low: number | null, median: number | null, high: number | null, widest: number): Bar | null {
  if (low === null || median === null || high === null) return null;
  const part = (value: number): number => Math.min(1, value / widest);
  return { from: part(low), at: part(median), to: part(high) };
}

const words: Readonly<Record<string, string>> = {
  latin: 'English and alike',
  code: 'code',
  whitespace: 'white space',
  alphabet: 'Cyrillic, Greek, Arabic',
  abugida: 'Hindi, Thai and alike',
  cjk: 'Chinese, Japanese',
  hangul: 'Korean',
  emoji: 'emoji',
  other: 'other',
};
