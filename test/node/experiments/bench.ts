/** A runner over a real store and an engine that answers as the test says. */
import { sampleRecord, freshStore } from '../storage/samples.ts';
import type { CallRecord, CallRequest } from '../../../shared/contract/calls.ts';
import { type Result, denied, ok } from '../../../shared/contract/denials.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import type { CallId, CellKey, RunId } from '../../../shared/contract/ids.ts';
import type { CallOutcome } from '../../../shared/engine/call.ts';
import type { CancelReason } from '../../../shared/engine/cancel.ts';
import type { Engine } from '../../../shared/engine/engine.ts';
import { type Runner, type RunnerServer, createRunner } from '../../../shared/node/experiments/runner.ts';
import type { Store } from '../../../shared/node/storage/store-types.ts';

export interface Asked {
  readonly request: CallRequest;
  readonly cellKey: CellKey;
}

/** What a call comes to: changes to a good record, or `hang` until it is cancelled. */
export type Script = (
  asked: Asked,
  call: number,
) => Partial<CallRecord> | { readonly reply: Partial<CallRecord['reply']> } | 'hang';

export interface Bench {
  readonly runner: Runner;
  readonly store: Store;
  readonly events: EngineEvent[];
  readonly asked: Asked[];
  readonly cancelled: CancelReason[];
  /** Lengths of the pauses that the runner wanted. */
  readonly pauses: number[];
  server: Result<RunnerServer>;
}

export function bench(
  script: Script = () => ({}),
  change: {
    readonly store?: Store;
    readonly open?: (call: number) => Result<null>;
    readonly denial?: CallOutcome['denial'];
  } = {},
): Bench {
  const store = change.store ?? freshStore();
  const events: EngineEvent[] = [];
  const asked: Asked[] = [];
  const cancelled: CancelReason[] = [];
  const pauses: number[] = [];
  const hanging = new Map<CallId, (reason: CancelReason) => void>();
  let opened = 0;

  const engine: Pick<Engine, 'open' | 'cancel'> = {
    open(request, place) {
      const may = change.open?.(opened++) ?? ok(null);
      if (!may.ok) return may;
      const id = `call-${asked.length}-${Math.round(performance.now() * 1e6)}` as CallId;
      const one: Asked = { request, cellKey: place?.cellKey ?? ('' as CellKey) };
      asked.push(one);
      const says = script(one, asked.length - 1);
      const record = (more: object): CallRecord => {
        const base = sampleRecord({
          id,
          runId: place?.runId,
          cellKey: place?.cellKey,
          request: { ...request, needles: [] },
          ...more,
        });
        return { ...base, request };
      };
      const settle = (made: CallRecord): CallOutcome => {
        const stored = store.callClosed(made);
        return { record: made, denial: change.denial ?? (stored.ok ? null : stored.denial) };
      };
      if (says !== 'hang') return ok({ id, done: Promise.resolve().then(() => settle(record(says))) });
      const done = new Promise<CallOutcome>((resolve) => {
        hanging.set(id, (reason) =>
          resolve(
            settle(
              record({
                reply: { ending: 'aborted', abortedBy: reason, done: null, doneReason: null, promptEvalCount: null },
              }),
            ),
          ),
        );
      });
      return ok({ id, done });
    },
    cancel(id, reason) {
      cancelled.push(reason);
      hanging.get(id)?.(reason);
      return hanging.delete(id);
    },
  };

  let runs = 0;
  const made: Bench = {
    store,
    events,
    asked,
    cancelled,
    pauses,
    server: ok({ url: 'http://127.0.0.1:11434', version: '0.33.0', simulated: false, models: ['m:latest'] }),
    runner: createRunner({
      engine,
      store,
      clock: { now: () => '2026-11-14T09:30:00.000Z', monotonicMs: () => performance.now() },
      ids: { run: () => `run-${++runs}-${store.runs().length}` as RunId },
      emit: (event) => events.push(event),
      server: () => Promise.resolve(made.server),
      facts: () => Promise.resolve(null),
      estimateTokens: (text) => Math.ceil(text.length / 3.6),
      wait: (delayMs) => {
        pauses.push(delayMs);
        return Promise.resolve();
      },
    }),
  };
  return made;
}

export const down = denied('no-server', 'No Ollama at 127.0.0.1:11434: start it.');

export { experiment, must } from './sweep-experiment.ts';
