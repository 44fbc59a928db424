/**
 * Walks the cells of an experiment, one call at a time, through the engine. Each cell is stored before the next one begins, so
 * that a crash loses at most the call that was under way. Documents are made when their cell comes and dropped after it.
 */
import { item } from '../../engine/context-lab/item.ts';
import type { CallRecord } from '../../contract/calls.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { isReasoningCell } from '../../contract/experiments.ts';
import type {
  Cell,
  CellPlan,
  ContextRun,
  Experiment,
  PlanSummary,
  ReasoningRun,
  RunSummary,
} from '../../contract/experiments.ts';
import type { CallId, RunId } from '../../contract/ids.ts';
import type { ModelFacts } from '../../contract/server.ts';
import { type Milliseconds, tokens } from '../../contract/units.ts';
import type { CallOutcome } from '../../engine/call.ts';
import type { CancelReason } from '../../engine/cancel.ts';
import { createSpeeds } from '../../engine/context-lab/speeds.ts';
import { nextSearchCell } from '../../engine/reasoning-lab/cap-search.ts';
import type { Engine } from '../../engine/engine.ts';
import { knownCapabilities } from '../../engine/reasoning-lab/variants.ts';
import { type LabKnowledge, callOfCell, planExperiment } from '../../engine/labs.ts';
import type { Clock, Ids } from '../../engine/ports.ts';
import { summaryOf } from '../../engine/summary.ts';
import { cellStateOf } from '../storage/run-rows.ts';
import type { Store } from '../storage/store-types.ts';
import { EXHAUSTED_MAX, HELD_ATTEMPTS_MAX, exhaustedDenial, isExhausted, passesAfterMs } from './budget-refusals.ts';
import { createEta } from './eta.ts';
import { waitFor } from './wait.ts';

/** The server as it is at the start of a run. `models` null = the list is not known. */
export interface RunnerServer {
  readonly url: string;
  readonly version: string | null;
  readonly simulated: boolean;
  readonly models: readonly string[] | null;
}

export interface RunnerParts {
  readonly engine: Pick<Engine, 'open' | 'cancel'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'run'>;
  readonly emit: (event: EngineEvent) => void;
  /** Denied (`no-server`) when nothing answers. */
  readonly server: () => Promise<Result<RunnerServer>>;
  readonly facts: (model: string) => Promise<ModelFacts | null>;
  /** Likely tokens of a text, for sizes given in tokens. */
  readonly estimateTokens: (text: string) => number;
  /** Waits that a cancel cuts short; tests hand in one that does not wait. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

export interface Runner {
  plan(experiment: Experiment): Promise<Result<PlanSummary>>;
  /** Answers as soon as the run is stored; the cells follow. One run at a time, or `busy`. */
  start(experiment: Experiment, warnings?: readonly string[]): Promise<Result<{ runId: RunId }>>;
  /** Aborts the call under way. The run can be resumed. */
  cancel(runId: RunId): Result<Record<string, never>>;
  /** Goes on with the cells that have no result. */
  resume(runId: RunId): Promise<Result<Record<string, never>>>;
  readonly running: RunId | null;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
  /** Ends the run under way as `interrupted`, for the end of the program. */
  stop(): Promise<void>;
}

/** So many calls in a row without a server end the run: it can be resumed when the server is back. */
export const UNREACHABLE_MAX = 5;

export function createRunner(parts: RunnerParts): Runner {
  const { store, clock, emit } = parts;
  const speeds = createSpeeds();
  // Calls of earlier days count too, so that the first plan after a start can say how long it takes.
  for (const call of store.calls({ limit: SPEED_CALLS_MAX }).reverse()) speeds.observe(call);
  const defaultWindows = new Map<string, number>();
  const wait = parts.wait ?? waitFor;
  let active: Active | null = null;

  async function knowledge(experiment: Experiment): Promise<LabKnowledge> {
    const server = await parts.server();
    const listed = server.ok && server.value.models !== null ? new Set(server.value.models.map(withTag)) : null;
    const facts = new Map<string, ModelFacts | null>();
    for (const model of new Set(experiment.axes.models)) {
      if (server.ok && (listed === null || listed.has(withTag(model)))) facts.set(model, await parts.facts(model));
    }
    return {
      serverVersion: server.ok ? server.value.version : null,
      model: (model) => ({
        there: listed === null ? null : listed.has(withTag(model)),
        trainedContext: facts.get(model)?.trainedContext ?? null,
        capabilities: knownCapabilities(facts.get(model) ?? null),
        embeddingOnly: facts.get(model)?.embeddingOnly ?? false,
        defaultNumCtx: defaultWindows.get(model) ?? null,
      }),
      callMs: (model, promptTokens, outputTokens) => speeds.callMs(model, promptTokens, outputTokens),
    };
  }

  function begin(): Active {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const abort = new AbortController();
    return { runId: null, callId: null, reason: null, abort, finished, finish: () => finish() };
  }

  /** Takes the place of the one run before the first await, and gives it back when nothing came of it. */
  async function opening<Value>(open: (taken: Active) => Promise<Result<Value>>): Promise<Result<Value>> {
    if (active !== null) return denied('busy', 'A run is under way.', { next: 'Wait for it to end, or stop it.' });
    const taken = (active = begin());
    const opened = await open(taken).catch((error: unknown) => {
      release(taken);
      throw error;
    });
    if (!opened.ok) release(taken);
    return opened;
  }

  function release(taken: Active): void {
    if (active === taken) active = null;
    taken.finish();
  }

  /** The walk itself; every ending leads to `close`. */
  async function walk(
    taken: Active,
    run: RunSummary,
    plans: readonly CellPlan[],
    ownText: string | null,
  ): Promise<void> {
    const queue = [...plans];
    const eta = createEta(queue, run.experiment, speeds, clock);
    // How many tries a cap search takes is not known before its end.
    const isOpenEnded = run.experiment.kind === 'reasoning' && run.experiment.findCap !== undefined;
    let unreachable = 0;
    let exhausted = 0;
    try {
      for (let index = 0; index < queue.length && taken.reason === null; index++) {
        const plan = item(queue, index);
        const { request, documentCharacters } = callOfCell(run.experiment, plan, {
          ownText,
          estimateTokens: parts.estimateTokens,
        });
        const started = store.setCellState(run.id, plan.key, 'running', documentCharacters);
        if (!started.ok) return close(run.id, 'failed', started.denial);
        emit({ type: 'cell-changed', runId: run.id, cell: started.value.cell });
        const outcome = await admittedCall(taken, run.id, plan, request);
        if (!outcome.ok) return close(run.id, 'failed', outcome.denial);
        const { record, denial } = outcome.value;
        if (denial !== null && isStorage(denial)) return close(run.id, 'failed', denial);
        speeds.observe(summaryOf(record));
        eta.passed(index, record);
        const found = following(run, plan);
        if (!found.ok) return close(run.id, 'failed', found.denial);
        if (found.value !== null) queue.splice(index + 1, 0, found.value);
        if (plan.numCtx === null && record.numCtxRunning !== null) defaultWindows.set(plan.model, record.numCtxRunning);
        tellCell(run.id, plan, documentCharacters, record, isOpenEnded ? null : eta.leftMs());
        exhausted = isExhausted(denial) && taken.reason === null ? exhausted + 1 : 0;
        if (denial !== null && exhausted >= EXHAUSTED_MAX) return close(run.id, 'failed', exhaustedDenial(denial));
        unreachable = neverReached(record, denial) && taken.reason === null ? unreachable + 1 : 0;
        if (unreachable >= UNREACHABLE_MAX) return close(run.id, 'failed', unreachableDenial(record, denial));
        // A pause before the next try; without one the run gives up while the server restarts.
        if (unreachable > 0) await wait(Math.min(4_000, 250 * 2 ** (unreachable - 1)), taken.abort.signal);
        else await nextTurn();
      }
      close(run.id, taken.reason === null ? 'done' : taken.reason === 'shutdown' ? 'interrupted' : 'cancelled', null);
    } catch (error) {
      close(run.id, 'failed', { code: 'internal', message: error instanceof Error ? error.message : String(error) });
    } finally {
      release(taken);
    }
  }

  /** The cell that this one's result asks for: the next try of a cap search, right behind it, while the model is loaded. */
  function following(run: RunSummary, plan: CellPlan): Result<CellPlan | null> {
    if (run.kind !== 'reasoning' || plan.kind !== 'reasoning' || plan.search !== true) return ok(null);
    const cells = store.cells(run.id).filter(isReasoningCell);
    const next = nextSearchCell(run.experiment, plan.model, cells);
    // Without a result the same try would come again; a resume does that.
    if (next === null || cells.some((cell) => cell.plan.key === next.key)) return ok(null);
    const added = store.addCell(run.id, next);
    return added.ok ? ok(next) : added;
  }

  /** Waits where a budget is only held by others or rolls on within a minute; what is refused for longer is the result. */
  async function admittedCall(...ask: Parameters<typeof call>): Promise<Result<CallOutcome>> {
    const [taken, runId, plan] = ask;
    for (let attempt = 0; ; attempt++) {
      const outcome = await call(...ask);
      const waitMs = outcome.ok ? passesAfterMs(outcome.value.denial) : null;
      if (waitMs === null || attempt >= HELD_ATTEMPTS_MAX || taken.reason !== null) return outcome;
      await wait(waitMs, taken.abort.signal);
      if (taken.reason !== null) return outcome;
      const again = store.setCellState(runId, plan.key, 'running');
      if (!again.ok) return again;
      emit({ type: 'cell-changed', runId, cell: again.value.cell });
    }
  }

  async function call(
    taken: Active,
    runId: RunId,
    plan: CellPlan,
    request: Parameters<Engine['open']>[0],
  ): Promise<Result<CallOutcome>> {
    for (let attempt = 0; ; attempt++) {
      const opened = parts.engine.open(request, { runId, cellKey: plan.key });
      if (opened.ok) {
        taken.callId = opened.value.id;
        if (taken.reason !== null) parts.engine.cancel(opened.value.id, taken.reason);
        return ok(await opened.value.done.finally(() => (taken.callId = null)));
      }
      if (opened.denial.code !== 'busy' || attempt >= BUSY_ATTEMPTS_MAX || taken.reason !== null) return opened;
      await wait(BUSY_WAIT_MS, taken.abort.signal);
    }
  }

  function tellCell(
    runId: RunId,
    plan: CellPlan,
    documentCharacters: number | null,
    record: CallRecord,
    etaMs: Milliseconds | null,
  ): void {
    emit({
      type: 'cell-changed',
      runId,
      cell: { plan, state: cellStateOf(record), documentCharacters, call: summaryOf(record) } as Cell,
    });
    const run = store.run(runId);
    if (run !== null) emit({ type: 'run-changed', run: { ...run, etaMs } });
  }

  function close(runId: RunId, state: RunSummary['state'], denial: Denial | null): void {
    const run = store.run(runId);
    if (run === null) return;
    requeue(runId);
    const ended: RunSummary = {
      ...run,
      state,
      endedAt: clock.now(),
      etaMs: null,
      error: denial === null ? null : words(denial),
    };
    const saved = store.saveRun(ended);
    emit({ type: 'run-changed', run: saved.ok ? saved.value : ended });
    if (denial !== null)
      emit({ type: 'notice-raised', level: 'error', text: denial.message, next: denial.next ?? null });
  }

  /** A cell that was running when the run ended without an answer waits again. */
  function requeue(runId: RunId): void {
    for (const cell of store.cells(runId)) {
      if (cell.state !== 'running') continue;
      const changed = store.setCellState(runId, cell.plan.key, 'waiting');
      if (changed.ok) emit({ type: 'cell-changed', runId, cell: changed.value.cell });
    }
  }

  function stopActive(reason: CancelReason): void {
    if (active === null || active.reason !== null) return;
    active.reason = reason;
    active.abort.abort();
    if (active.callId !== null) parts.engine.cancel(active.callId, reason);
  }

  return {
    get running() {
      return active?.runId ?? null;
    },
    async plan(experiment) {
      const planned = planExperiment(experiment, await knowledge(experiment));
      if (!planned.ok) return planned;
      const text = ownTextOf(store, experiment);
      return text.ok ? ok(planned.value.summary) : text;
    },
    start: (experiment, warnings = []) =>
      opening(async (taken) => {
        const planned = planExperiment(experiment, await knowledge(experiment));
        if (!planned.ok) return planned;
        const { cells, summary } = planned.value;
        const text = ownTextOf(store, experiment);
        if (!text.ok) return text;
        const server = await parts.server();
        if (!server.ok) return server;
        const opened = store.openRun(freshRun(experiment, server.value, [...warnings, ...summary.warnings]), cells);
        if (!opened.ok) return opened;
        emit({ type: 'run-opened', run: opened.value });
        taken.runId = opened.value.id;
        void walk(taken, opened.value, cells, text.value);
        return ok({ runId: opened.value.id });
      }),
    cancel(runId) {
      if (active?.runId !== runId) return denied('not-found', 'This run is not under way.', { field: 'runId' });
      stopActive('person');
      return ok({});
    },
    resume: (runId) =>
      opening(async (taken) => {
        const run = store.run(runId);
        if (run === null) return denied('not-found', 'There is no such run.', { field: 'runId' });
        const left = store.cells(runId).filter(hasNoResult);
        if (left.length === 0)
          return denied('bad-input', 'All cells of this run have a result.', {
            field: 'runId',
            next: 'Start a new run.',
          });
        const text = ownTextOf(store, run.experiment);
        if (!text.ok) return text;
        const server = await parts.server();
        if (!server.ok) return server;
        if (server.value.simulated !== run.simulated) return otherKind(run);
        const saved = store.saveRun({ ...run, state: 'running', endedAt: null, error: null });
        if (!saved.ok) return saved;
        emit({ type: 'run-changed', run: saved.value });
        taken.runId = runId;
        void walk(
          taken,
          saved.value,
          left.map((cell) => cell.plan),
          text.value,
        );
        return ok({});
      }),
    idle: () => active?.finished ?? Promise.resolve(),
    async stop() {
      stopActive('shutdown');
      await active?.finished;
    },
  };

  function freshRun(experiment: Experiment, server: RunnerServer, warnings: readonly string[]): RunSummary {
    return {
      id: parts.ids.run(),
      ...ofKind(experiment),
      name: experiment.name ?? nameOf(experiment),
      state: 'running',
      createdAt: clock.now(),
      endedAt: null,
      simulated: server.simulated,
      server: server.url,
      serverVersion: server.version,
      cellsTotal: 0,
      cellsDone: 0,
      cellsFailed: 0,
      tokensEvaluated: tokens(0),
      cellsTruncated: 0,
      etaMs: null,
      warnings: [...new Set(warnings)],
      error: null,
    };
  }
}

interface Active {
  runId: RunId | null;
  callId: CallId | null;
  reason: CancelReason | null;
  readonly abort: AbortController;
  readonly finished: Promise<void>;
  readonly finish: () => void;
}

/** The newest calls of the store that teach the speeds at start. */
const SPEED_CALLS_MAX = 200;

/** Another 64 calls hold the engine at most this long before the run gives up. */
const BUSY_ATTEMPTS_MAX = 240;
const BUSY_WAIT_MS = 500;
/**
 * Waiting, stopped, never reached the server, or broken off by the network or a time limit. What a server answered, even an
 * error, is a result.
 */
export function hasNoResult(cell: Cell): boolean {
  if (cell.state === 'done') return false;
  if (cell.state !== 'failed') return true;
  return cell.call === null || UNANSWERED.has(cell.call.ending);
}

const UNANSWERED: ReadonlySet<string> = new Set(['unreachable', 'not-sent', 'aborted']);

/** Kind and experiment of a run belong together. */
function ofKind(
  experiment: Experiment,
): Pick<ContextRun, 'kind' | 'experiment'> | Pick<ReasoningRun, 'kind' | 'experiment'> {
  return experiment.kind === 'context' ? { kind: 'context', experiment } : { kind: 'reasoning', experiment };
}

function ownTextOf(store: Store, experiment: Experiment): Result<string | null> {
  if (experiment.kind !== 'context' || experiment.document.kind === 'generated') return ok(null);
  const found = store.document(experiment.document.documentId);
  if (found === null)
    return denied('not-found', 'The document of this experiment is not stored here.', {
      field: 'document.documentId',
      next: 'Add the text again.',
    });
  return ok(found.text);
}

function neverReached(record: CallRecord, denial: Denial | null): boolean {
  return record.reply.ending === 'unreachable' || denial?.code === 'no-server';
}

function unreachableDenial(record: CallRecord, denial: Denial | null): Denial {
  const why = denial?.message ?? record.reply.error ?? 'No answer.';
  return {
    code: 'no-server',
    message: `${UNREACHABLE_MAX} calls in a row did not reach the server: ${/[.?]$/.test(why) ? why : `${why}.`}`,
    next: 'Start the server, then resume the run.',
  };
}

const isStorage = (denial: Denial): boolean => denial.code.startsWith('storage-');

const words = (denial: Denial): string =>
  denial.next === undefined ? denial.message : `${denial.message} ${denial.next}`;

function otherKind(run: RunSummary): Result<never> {
  return run.simulated
    ? denied('not-allowed', 'This run was made on the simulator; the rest would be measured on another server.', {
        next: 'Start the simulator, then resume.',
      })
    : denied('not-allowed', 'This run was measured on a real server; the rest would be simulated.', {
        next: 'Connect the server, then resume.',
      });
}

function nameOf(experiment: Experiment): string {
  const { models } = experiment.axes;
  const first = (models.length === 1 ? item(models, 0) : `${models.length} models`).slice(0, 100);
  if (experiment.kind === 'reasoning')
    return `${first}, ${experiment.axes.variants.length} ${experiment.axes.variants.length === 1 ? 'variant' : 'variants'}`;
  const { sizes, numCtx } = experiment.axes;
  return `${first}, ${sizes.length} sizes, ${numCtx.length} windows`;
}

/** `llama3.2` and `llama3.2:latest` are one model. */
function withTag(model: string): string {
  const name = model.trim().toLowerCase();
  return name.slice(name.lastIndexOf('/') + 1).includes(':') ? name : `${name}:latest`;
}

/** Lets sockets and screens have their turn between two cells. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
