/**
 * One storm: every call twice through the corridor to a simulator, all at once. Once behind a ledger in memory, once behind
 * accounting that checks after the reply. Nothing of it is stored, and no book of the console knows of it.
 */
import type { CallRecord } from '../../contract/calls.ts';
import { ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import type { CallId, RunId } from '../../contract/ids.ts';
import type { Reservation, Storm, StormAsk } from '../../contract/ledger.ts';
import type { CallOutcome } from '../../engine/call.ts';
import { type Engine, createEngine } from '../../engine/engine.ts';
import { createLedger } from '../../engine/ledger/ledger.ts';
import { createMemoryStore } from '../../engine/ledger/memory-store.ts';
import type { Clock, EnginePorts, Estimator, Subject } from '../../engine/ports.ts';
import { createCheckAfter } from '../../engine/storm/check-after.ts';
import { type StormPlan, planStorm, stormRequest } from '../../engine/storm/plan.ts';
import { type Side, createSide } from '../../engine/storm/side.ts';
import { preflight } from '../../engine/truncation/preflight.ts';
import type { OllamaDoor } from '../ollama/door.ts';

export interface StormRun {
  view(): Storm;
  /** Ends every call at the simulator too; `done` resolves when all have settled. */
  cancel(): void;
  /** Never rejects: what went wrong is in the storm. */
  readonly done: Promise<void>;
}

export interface StormRunOptions {
  readonly id: string;
  readonly ask: StormAsk;
  readonly door: OllamaDoor;
  readonly subject: Subject;
  readonly clock: Clock;
  /** Of one call; a storm waits in the simulator's line. */
  readonly timeoutMs: number;
  /** Awaited when the last call has settled, before the storm says that it is over. */
  readonly release: () => Promise<void>;
  /** Something of `view` is another. */
  readonly onChange: () => void;
}

/** Its calls leave before this returns to the event loop. */
export function runStorm(options: StormRunOptions): StormRun {
  const { id, ask, clock, onChange } = options;
  const plan = planStorm(ask);
  const startedAt = clock.now();
  const faults: string[] = [];
  let state: Storm['state'] = 'running';
  let problem: string | null = null;
  let endedAt: string | null = null;
  let isCancelled = false;

  const fail = (fault: string): void => void faults.push(fault);
  const checkAfter = checkAfterSide(options, plan, fail);
  const reserveFirst = reserveFirstSide(options, plan, fail);

  async function run(): Promise<void> {
    const indexes = plan.payers.map((_, index) => index);
    try {
      await Promise.all(indexes.flatMap((index) => [reserveFirst.call(index), checkAfter.call(index)]));
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
      await Promise.all([reserveFirst.engine.stop('shutdown'), checkAfter.engine.stop('shutdown')]);
    }
    await options.release();
    state = isCancelled ? 'cancelled' : faults.length > 0 ? 'failed' : 'done';
    if (state === 'failed') problem = problemOf(faults, ask.calls * 2);
    endedAt = clock.now();
    onChange();
  }

  return {
    view: () => ({
      id,
      ask,
      state,
      problem,
      reservedTokensEach: plan.reservedTokensEach,
      checkAfter: checkAfter.side.view(),
      reserveFirst: reserveFirst.side.view(),
      startedAt,
      endedAt,
    }),
    cancel() {
      if (state !== 'running') return;
      isCancelled = true;
      void reserveFirst.engine.stop('person');
      void checkAfter.engine.stop('person');
    },
    done: run(),
  };
}

interface RunningSide {
  readonly side: Side;
  readonly engine: Engine;
  call(index: number): Promise<void>;
}

/** Look, call, add. Between the look and the addition lies the whole reply, and every other call of the storm. */
function checkAfterSide(options: StormRunOptions, plan: StormPlan, fail: (fault: string) => void): RunningSide {
  const { ask, onChange } = options;
  const side = createSide(ask.calls);
  const accounts = createCheckAfter(ask);
  const calls = openCalls(options, plan, { onSent: (index) => side.send(index) });
  return {
    side,
    engine: calls.engine,
    async call(index) {
      const user = plan.payers[index]?.user ?? '';
      const refusal = accounts.refusalOf(user);
      if (refusal !== null) {
        side.refuse(index, refusal, null);
        return onChange();
      }
      side.admit(index);
      const { record } = await calls.open(index);
      const { promptEvalCount, evalCount } = record.reply;
      side.settle(0, accounts.add(user, { inputTokens: promptEvalCount, outputTokens: evalCount }));
      endOf(side, index, record, fail);
      onChange();
    },
  };
}

/** The ledger as it is, on a store of its own. */
function reserveFirstSide(options: StormRunOptions, plan: StormPlan, fail: (fault: string) => void): RunningSide {
  const { ask, clock, onChange } = options;
  const side = createSide(ask.calls);
  let lastReservation = 0;
  const ledger = createLedger({
    store: createMemoryStore({ nowMs: () => Date.parse(clock.now()) }),
    directory: () => plan.directory,
    prices: () => null,
    newId: () => `${options.id}/${++lastReservation}`,
    owner: options.id,
    clockOffsetMs: () => 0,
    events: { emit: (event) => told(event) },
  });
  const calls = openCalls(options, plan, {
    onSent: (index) => side.send(index),
    budgets: {
      ledger,
      payer: () => plan.payers[0] ?? { tenant: '', user: '' },
      wallClockMs: () => options.timeoutMs,
    },
  });

  function told(event: EngineEvent): void {
    if (event.type === 'reservation-opened') {
      side.admit(calls.indexOf(event.reservation.detail.callId));
      side.hold(heldTokens(event.reservation));
    } else if (event.type === 'reservation-closed') {
      side.settle(heldTokens(event.reservation), chargedTokens(event.reservation));
    }
    onChange();
  }

  return {
    side,
    engine: calls.engine,
    async call(index) {
      const { record, denial } = await calls.open(index);
      if (denial?.budget === undefined) endOf(side, index, record, fail);
      else side.refuse(index, denial.code, denial.budget.retryAfterSeconds);
      onChange();
    },
  };
}

const heldTokens = ({ detail }: Reservation): number => detail.inputTokens + detail.outputTokens;
const chargedTokens = ({ charge }: Reservation): number =>
  charge === null ? 0 : charge.inputTokens + charge.outputTokens;

function endOf(side: Side, index: number, { reply }: CallRecord, fail: (fault: string) => void): void {
  side.end(index, reply.ending === 'done' ? 'done' : 'failed');
  if (reply.ending !== 'done' && reply.abortedBy !== 'person')
    fail(reply.error ?? `The reply ended as ${reply.ending}.`);
}

function problemOf(faults: readonly string[], callCount: number): string {
  const [first = ''] = faults;
  return `${faults.length} of ${callCount} calls failed: ${first.length > 500 ? `${first.slice(0, 499).toWellFormed()}…` : first}`;
}

interface OpenCalls {
  readonly engine: Engine;
  open(index: number): Promise<CallOutcome>;
  indexOf(callId: string | null): number;
}

/** An engine of its own: as many calls at once as the storm has, none of them kept. */
function openCalls(
  { ask, door, subject, clock, timeoutMs, id, onChange }: StormRunOptions,
  plan: StormPlan,
  more: { readonly onSent: (index: number) => void; readonly budgets?: NonNullable<EnginePorts['budgets']> },
): OpenCalls {
  const indexes = new Map<string, number>();
  let lastCall = 0;
  const engine = createEngine(
    {
      clock,
      ids: { call: () => `${id}/call-${++lastCall}` as CallId, run: () => id as RunId },
      model: door,
      subjects: { of: async () => ok(subject) },
      estimator: sameEstimate(plan),
      journal: { callClosed: () => ok(undefined) },
      events: {
        emit(event) {
          if (event.type !== 'call-phase-changed' || event.phase === 'judging') return;
          more.onSent(indexes.get(event.callId) ?? -1);
          onChange();
        },
      },
      ...(more.budgets === undefined ? {} : { budgets: more.budgets }),
    },
    { openCallsMax: ask.calls },
  );
  return {
    engine,
    indexOf: (callId) => indexes.get(callId ?? '') ?? -1,
    open(index) {
      const payer = plan.payers[index] ?? { tenant: '', user: '' };
      const opened = engine.open(stormRequest(plan, { payer, outputTokensMax: ask.outputTokensMax, timeoutMs }));
      if (!opened.ok) throw new Error(opened.denial.message);
      indexes.set(opened.value.id, index);
      return opened.value.done;
    },
  };
}

/** All calls have the same text: it is read once. */
function sameEstimate({ sizes }: StormPlan): Estimator {
  return { estimate: async () => sizes, preflight: async (input) => preflight(input) };
}
