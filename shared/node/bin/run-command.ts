/**
 * Runs one experiment from start to exit code. The engine is the one of the console; this only asks, listens and writes.
 */
import type { Denial, Result } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import type { Cell, Experiment, PlanSummary, RunSummary } from '../../contract/experiments.ts';
import type { RunId } from '../../contract/ids.ts';
import { type Runtime, createRuntime } from '../runtime.ts';
import { type Ask, askOf } from './engine-client.ts';
import { EXIT, type ExitCode, complain } from './exit.ts';
import { verdictsOf } from './fail-on.ts';
import { plainText } from './plain-text.ts';
import { type Progress, createProgress } from './progress.ts';
import { type RowWriter, openRowWriter } from './row-writer.ts';
import { readyExperiment, serverName } from './run-experiment.ts';
import { type RunAsk, type RunOptions, readRunAsk } from './run-options.ts';
import { type Stopper, createStopper } from './stopper.ts';

export async function run(file: string | undefined, options: RunOptions): Promise<ExitCode> {
  const asked = readRunAsk(file, options);
  if (!asked.ok) return refuse(asked.denial, EXIT.badInput);
  const runtime = await createRuntime({
    host: 'command-line',
    home: options.home,
    ollamaUrl: options.ollama,
    serverLog: options.log,
    // An address on the command line is meant, also where the console was left on the simulator.
    simulate: options.simulate,
    simulatorTimeScale: options.timeScale,
  });
  if (!runtime.ok) return refuse(runtime.denial, runtime.denial.code === 'bad-input' ? EXIT.badInput : EXIT.failed);
  const stopper = createStopper();
  try {
    return await runOn(runtime.value, asked.value, stopper);
  } finally {
    stopper.release();
    await runtime.value.stop();
  }
}

async function runOn(runtime: Runtime, asked: RunAsk, stopper: Stopper): Promise<ExitCode> {
  const ask = askOf(runtime);
  for (const notice of runtime.notices) complain(plainText(notice.text), notice.next);
  await runtime.ready;
  const snapshot = await ask('snapshot.get', {});
  if (!snapshot.ok) return refuse(snapshot.denial, EXIT.failed);
  const { server } = snapshot.value;
  if (server.state !== 'up') {
    complain(
      plainText(server.problem ?? `No Ollama at ${server.url}.`),
      'With --simulate the simulator takes its place.',
    );
    return EXIT.failed;
  }
  const log = snapshot.value.serverLog;
  // Asked for by name and not there is worth a word; the run needs no log.
  if (asked.wantsLog && log !== undefined && log.state !== 'open')
    complain(
      `Note: ${plainText(log.problem ?? 'The server log is off.')}`,
      'Verdicts rest on the fields of the replies.',
    );
  const ready = await readyExperiment(asked, server, ask);
  if (!ready.ok) return refuse(ready.denial, codeOf(ready.denial));
  const { experiment, warnings } = ready.value;
  const plan = await planOf(ask, experiment);
  if (!plan.ok) return refuse(plan.denial, codeOf(plan.denial));
  announce(plan.value, [...warnings, ...plan.value.warnings], serverName(server));
  if (stopper.asked) return EXIT.cancelled;
  const writer = openRowWriter(asked, experiment.kind);
  if (!writer.ok) return refuse(writer.denial, EXIT.badInput);
  const watch = watchRun(runtime, ask, writer.value, createProgress(process.stderr), asked.failOn);
  try {
    const started = await startOf(ask, experiment);
    if (!started.ok) return refuse(started.denial, EXIT.failed);
    watch.follow(started.value.runId);
    stopper.onAsked(() => void ask('run.cancel', { runId: started.value.runId }));
    const ended = await watch.ended;
    const rows = await writer.value.close();
    if (ended.kind === 'reasoning') await tellLanes(ask, ended);
    return conclude(ended, rows, asked, watch);
  } finally {
    watch.release();
  }
}

function planOf(ask: Ask, experiment: Experiment): Promise<Result<PlanSummary>> {
  return experiment.kind === 'context' ? ask('context.plan', experiment) : ask('reasoning.plan', experiment);
}

function startOf(ask: Ask, experiment: Experiment): Promise<Result<{ runId: RunId }>> {
  return experiment.kind === 'context' ? ask('context.start', experiment) : ask('reasoning.start', experiment);
}

function announce(plan: PlanSummary, warnings: readonly string[], server: string): void {
  const time = plan.timeMs === null ? '' : `, about ${Math.ceil(plan.timeMs / 1_000)} s`;
  complain(
    `${plainText(server)}: ${plan.calls} ${plan.calls === 1 ? 'call' : 'calls'}, at most ${plan.tokensMax.toLocaleString('en-US')} tokens${time}.`,
  );
  for (const warning of new Set(warnings)) complain(`Note: ${plainText(warning)}`);
}

function conclude(ended: RunSummary, rows: WrittenRows, asked: RunAsk, watch: RunWatch): ExitCode {
  const said = `${ended.cellsDone} of ${ended.cellsTotal} ${ended.cellsTotal === 1 ? 'cell' : 'cells'} done${ended.cellsFailed === 0 ? '' : `, ${ended.cellsFailed} failed`}, ${ended.cellsTruncated} lost something.`;
  complain(said, asked.csv === null || asked.csv === '-' ? null : `${rows.written} rows in ${asked.csv}.`);
  if (rows.problem !== null) return refuse(rows.problem, EXIT.failed);
  if (ended.state === 'cancelled' || ended.state === 'interrupted') {
    complain('Cancelled.', 'The finished cells are kept; History can resume the run.');
    return EXIT.cancelled;
  }
  if (ended.state === 'failed') {
    const why = ended.error ?? 'The run failed.';
    if (!watch.hasTold(why)) complain(plainText(why, 1_000));
    return EXIT.failed;
  }
  if (ended.cellsFailed > 0) return EXIT.failed;
  const failedOn = watch.failedOn();
  if (failedOn.length === 0) return EXIT.done;
  complain(`--fail-on: ${failedOn.join(', ')} occurred.`);
  return EXIT.failOn;
}

/** What the repeats say together, and what a cap search found. */
async function tellLanes(ask: Ask, { id, experiment }: RunSummary): Promise<void> {
  const summary = await ask('reasoning.summary', { runId: id });
  if (!summary.ok) return;
  const { lanes, caps = [] } = summary.value;
  if (experiment.axes.repeats > 1)
    for (const { model, variant, answered, starved, ended, obeyed } of lanes)
      complain(
        plainText(
          `${model} ${variant}: answered ${answered} of ${ended}, starved ${starved}${obeyed === null ? '' : `, ${obeyed.sentence}`}.`,
        ),
      );
  for (const { model, sentence } of caps) complain(plainText(`${model}, ${sentence}`));
}

type WrittenRows = Awaited<ReturnType<RowWriter['close']>>;

interface RunWatch {
  /** Events before this belong to no run yet; they are kept and looked at then. */
  follow(runId: RunId): void;
  readonly ended: Promise<RunSummary>;
  /** The --fail-on verdicts that occurred, warm-ups left out. */
  failedOn(): readonly string[];
  /** Whether a notice has said this already. */
  hasTold(text: string): boolean;
  release(): void;
}

/** Turns the events of one run into rows and lines, in order. */
function watchRun(
  runtime: Runtime,
  ask: Ask,
  writer: RowWriter,
  progress: Progress,
  failOn: ReadonlySet<string>,
): RunWatch {
  const occurred = new Set<string>();
  const told = new Set<string>();
  const early: EngineEvent[] = [];
  let followed: RunId | null = null;
  let latest: RunSummary | null = null;
  let lastRow: Promise<void> = Promise.resolve();
  const { promise: ended, resolve } = Promise.withResolvers<RunSummary>();

  async function row(runId: RunId, cell: Cell): Promise<void> {
    const found = await ask('cell.get', { runId, cellKey: cell.plan.key });
    if (found.ok && found.value.record !== null && latest !== null)
      await writer.write(found.value.cell, found.value.record, latest);
  }

  function take(event: EngineEvent): void {
    if (event.type === 'notice-raised' && event.level !== 'info') {
      complain(plainText(event.text), event.next);
      told.add(event.next === null ? event.text : `${event.text} ${event.next}`);
    }
    if (event.type === 'run-opened' && event.run.id === followed) latest = event.run;
    if (event.type === 'run-changed' && event.run.id === followed) {
      latest = event.run;
      progress.run(event.run);
      if (event.run.state === 'running') return;
      const last = event.run;
      void lastRow.finally(() => {
        progress.end();
        resolve(last);
      });
    }
    if (event.type !== 'cell-changed' || event.runId !== followed) return;
    const { cell } = event;
    if (cell.state === 'waiting' || cell.state === 'running' || latest === null) return;
    progress.cell(cell, counted(latest, cell));
    if (!cell.plan.warmUp)
      for (const verdict of cell.call === null ? [] : verdictsOf(cell.call))
        if (failOn.has(verdict)) occurred.add(verdict);
    const runId = event.runId;
    lastRow = lastRow.then(() => row(runId, cell));
  }

  const release = runtime.subscribe((event) => {
    if (followed === null && event.type !== 'notice-raised') {
      if (event.type.startsWith('run-') || event.type === 'cell-changed') early.push(event);
    } else take(event);
  });
  return {
    follow(runId) {
      followed = runId;
      for (const event of early.splice(0)) take(event);
    },
    ended,
    failedOn: () => [...occurred],
    hasTold: (text) => told.has(text),
    release,
  };
}

/** The run's own counters come one event later. */
function counted(run: RunSummary, cell: Cell): RunSummary {
  return {
    ...run,
    cellsDone: run.cellsDone + (cell.state === 'done' ? 1 : 0),
    cellsFailed: run.cellsFailed + (cell.state === 'failed' ? 1 : 0),
  };
}

/** What the server or the disk did is no mistake of whoever asked. */
const codeOf = (denial: Denial): ExitCode =>
  /^(?:no-server|server-error|busy|internal|storage-)/.test(denial.code) ? EXIT.failed : EXIT.badInput;

function refuse(denial: Denial, code: ExitCode): ExitCode {
  complain(plainText(denial.message, 1_000), denial.next === undefined ? null : plainText(denial.next, 1_000));
  return code;
}
