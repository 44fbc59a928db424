/** The engine's side for the carrier tests: answers every request with its sample, and emits what a test tells it to. */
import { ok } from '../../shared/contract/denials.ts';
import type { Result } from '../../shared/contract/denials.ts';
import type { EngineEvent } from '../../shared/contract/events.ts';
import type { RequestName } from '../../shared/contract/requests.ts';
import type { EngineDoor, RequestContext } from '../../shared/node/rpc/dispatcher.ts';
import type { DiagnosticEntry } from '../../shared/node/telemetry/diagnostic-log.ts';
import { samples } from './samples.ts';

export interface FakeDoor extends EngineDoor {
  readonly calls: { name: RequestName; params: unknown; context: RequestContext }[];
  emit(...events: EngineEvent[]): void;
  /** Replaces the sample for the requests that follow. */
  answerWith(answer: (name: RequestName, params: unknown) => Promise<Result<unknown>> | Result<unknown>): void;
  listeners(): number;
  /** What the carriers wrote to the diagnostic log. */
  readonly logged: DiagnosticEntry[];
}

export function createFakeDoor(): FakeDoor {
  const listeners = new Set<(event: EngineEvent) => void>();
  const calls: FakeDoor['calls'] = [];
  const logged: DiagnosticEntry[] = [];
  let answer: (name: RequestName, params: unknown) => Promise<Result<unknown>> | Result<unknown> = (name) =>
    ok(samples[name].result);
  return {
    calls,
    logged,
    log: (entry) => {
      logged.push(entry);
    },
    async handle(name, params, context) {
      calls.push({ name, params, context });
      return answer(name, params);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    emit(...events) {
      for (const event of events) for (const listener of listeners) listener(event);
    },
    answerWith(next) {
      answer = next;
    },
    listeners: () => listeners.size,
  };
}
