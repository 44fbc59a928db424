/** Cells of a sweep as a server would make them: whole up to the window, else cut to about half of it. */
import type { ContextCell } from '../../../shared/contract/experiments.ts';
import type { CallSummary } from '../../../shared/contract/calls.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import type { NeedleOutcome, TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import { callId, makeCell, makeSummary } from '../support/make.ts';

export interface Sweep {
  readonly models?: readonly string[];
  readonly windows: readonly (number | null)[];
  readonly sizes: readonly number[];
  readonly repeats?: number;
  readonly warmUp?: boolean;
}

/** Four characters are one token here. */
export const tokensOf = (size: number): number => Math.floor(size / 4);
export const cutSize = (window: number): number => window - Math.floor((window - 5) / 2);
export const DEFAULT_WINDOW = 4_096;

export function sweepCells({
  models = ['gemma3:270m'],
  windows,
  sizes,
  repeats = 1,
  warmUp = false,
}: Sweep): ContextCell[] {
  const cells: ContextCell[] = [];
  const push = (cell: ContextCell): void => void cells.push({ ...cell, plan: { ...cell.plan, index: cells.length } });
  for (const model of models)
    for (const window of windows) {
      if (warmUp) push(endedCell({ model, window, size: 500, repeat: 0, warmUp: true }));
      for (const size of sizes)
        for (let repeat = 0; repeat < repeats; repeat += 1)
          push(endedCell({ model, window, size, repeat, warmUp: false }));
    }
  return cells;
}

export interface EndedCell {
  readonly model: string;
  readonly window: number | null;
  readonly size: number;
  readonly repeat: number;
  readonly warmUp: boolean;
}

export function endedCell({ model, window, size, repeat, warmUp }: EndedCell): ContextCell {
  const running = window ?? DEFAULT_WINDOW;
  const sent = tokensOf(size) + repeat;
  const fits = sent <= running;
  const read = fits ? sent : cutSize(running);
  const key = `${model.slice(0, 80)}|${window ?? 'default'}|${size}|r${repeat}${warmUp ? '|warm-up' : ''}`;
  return makeCell(key, {
    state: 'done',
    documentCharacters: size,
    plan: {
      ...makeCell(key).plan,
      key: key as CellKey,
      model,
      numCtx: window as ContextCell['plan']['numCtx'],
      size,
      repeat,
      seed: 7 + repeat,
      warmUp,
    },
    call: summaryOf(key, model, window, running, sent, read, fits ? 'found' : 'invented'),
  });
}

function summaryOf(
  key: string,
  model: string,
  window: number | null,
  running: number,
  sent: number,
  read: number,
  needle: NeedleOutcome,
): CallSummary {
  const fits = sent === read;
  const base = makeSummary();
  const tokens = (value: number): TruncationVerdict['kept'] => value as TruncationVerdict['kept'];
  return {
    ...base,
    id: callId(key),
    cellKey: key as CellKey,
    model,
    numCtxRequested: tokens(window ?? 0) === 0 ? null : tokens(window ?? 0),
    numCtxRunning: tokens(running),
    promptEvalCount: tokens(read),
    promptCharacters: (sent * 4) as CallSummary['promptCharacters'],
    estimate: {
      ...base.estimate,
      low: Math.floor(sent * 0.9) as CallSummary['estimate']['low'],
      likely: (sent + 3) as CallSummary['estimate']['likely'],
      high: Math.ceil(sent * 1.1 + 3) as CallSummary['estimate']['high'],
    },
    needle,
    answerHead: `answer of ${key}`,
    truncation: {
      ...base.truncation,
      kinds: [fits ? 'intact' : 'halved'],
      kept: tokens(read),
      lost: fits ? tokens(0) : null,
      sent: fits ? tokens(sent) : null,
      headKept: fits ? null : tokens(5),
      tailKept: fits ? null : tokens(read - 5),
    },
  };
}
