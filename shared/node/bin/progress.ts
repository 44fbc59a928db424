/** What a person sees on stderr while a run goes on: one line a cell, and on a terminal a bar below them. */
import { isReasoningCell } from '../../contract/experiments.ts';
import type { Cell, ContextCell, ReasoningCell, RunSummary } from '../../contract/experiments.ts';
import { plainText } from './plain-text.ts';

export interface Progress {
  cell(cell: Cell, run: RunSummary): void;
  run(run: RunSummary): void;
  /** Takes the bar away, so that what follows stands on lines of its own. */
  end(): void;
}

export function createProgress(stream: NodeJS.WriteStream): Progress {
  let bar = '';
  const clear = (): void => {
    if (bar !== '') stream.write(`\r${' '.repeat(bar.length)}\r`);
    bar = '';
  };
  const draw = (run: RunSummary): void => {
    if (!stream.isTTY || run.state !== 'running') return;
    clear();
    bar = barOf(run).slice(0, Math.max(20, (stream.columns ?? 80) - 1));
    stream.write(bar);
  };
  return {
    cell(cell, run) {
      clear();
      stream.write(`${cellLine(cell, run)}\n`);
      draw(run);
    },
    run: draw,
    end: clear,
  };
}

const BAR_CELLS = 24;

function barOf(run: RunSummary): string {
  const through = run.cellsDone + run.cellsFailed;
  const filled = run.cellsTotal === 0 ? 0 : Math.round((through / run.cellsTotal) * BAR_CELLS);
  const left = run.etaMs === null ? '' : `, about ${seconds(run.etaMs)} left`;
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_CELLS - filled)}] ${through} of ${run.cellsTotal}${left}`;
}

function cellLine(cell: Cell, run: RunSummary): string {
  return isReasoningCell(cell) ? reasoningLine(cell, run) : contextLine(cell, run);
}

function headOf({ plan }: Cell, run: RunSummary): string[] {
  const through = String(run.cellsDone + run.cellsFailed).padStart(String(run.cellsTotal).length);
  return [`${through}/${run.cellsTotal}`, plainText(plan.model)];
}

/** `2/4  on/8000  run 1  starved (cap)  thinking 8,000, answer 0 tokens (counted)  in its field  216.8 s`. */
function reasoningLine(cell: ReasoningCell, run: RunSummary): string {
  const { plan, call } = cell;
  const parts = [...headOf(cell, run), plainText(plan.variant)];
  if (plan.search === true) parts.push(`cap ${grouped(plan.numPredict)}`);
  else if (!plan.warmUp) parts.push(`run ${plan.repeat + 1}`);
  if (call === null) return [...parts, cell.state].join('  ');
  if (cell.state !== 'done') return [...parts, cell.state, plainText(call.error ?? call.ending)].join('  ');
  const reading = call.reasoning ?? null;
  if (reading !== null && !plan.warmUp) {
    const { outcome, cause, complete, split, places, suspected, obedience } = reading;
    const cut = outcome === 'answered' && complete === false ? 'cut' : null;
    const why = cause ?? cut;
    parts.push(why === null ? outcome : `${outcome} (${why})`);
    if (split !== null)
      parts.push(
        `thinking ${grouped(split.thinkingTokens)}, answer ${grouped(split.answerTokens)} tokens (${split.source})`,
      );
    parts.push(`thinking ${places.length === 0 ? (suspected ?? 'unknown') : places.join(' + ')}`);
    if (obedience !== 'not-asked') parts.push(obedience);
  }
  return [...parts, seconds(call.wallMs)].join('  ');
}

/** `3/10  window 4,096  40,000 characters  halved (certain)  2,051 tokens evaluated  needle lost  1.2 s`. */
function contextLine(cell: ContextCell, run: RunSummary): string {
  const { plan, call } = cell;
  const window = call?.numCtxRunning ?? plan.numCtx;
  const parts = [
    ...headOf(cell, run),
    `window ${window === null ? 'default' : grouped(window)}`,
    `${grouped(cell.documentCharacters)} characters`,
    `needle at ${plan.depths.map((depth) => `${Number(depth.toFixed(1))} %`).join(', ')}`,
  ];
  if (plan.warmUp) parts.push('warm-up');
  if (call === null) return [...parts, cell.state].join('  ');
  if (cell.state !== 'done') return [...parts, cell.state, plainText(call.error ?? call.ending)].join('  ');
  parts.push(
    `${call.truncation.kinds.join(' + ')} (${call.truncation.confidence})`,
    `${grouped(call.promptEvalCount)} of about ${grouped(call.estimate.likely)} tokens evaluated`,
  );
  parts.push(`needle ${call.needle}`, seconds(call.wallMs));
  return parts.join('  ');
}

const grouped = (value: number | null): string => (value === null ? '-' : value.toLocaleString('en-US'));

function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
