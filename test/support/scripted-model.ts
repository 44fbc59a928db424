/** A strict stand-in for the door: plays the given events in order, records what it was asked, and fails past its script. */
import type { RunningModel } from '../../shared/contract/server.ts';
import type { CancelSignal, ModelEvent, ModelPort, ReplyEnd, WireRequest } from '../../shared/engine/ports.ts';

export interface ScriptedModel extends ModelPort {
  readonly asked: WireRequest[];
  /** Signals of the calls, to see who was aborted. */
  readonly signals: CancelSignal[];
}

/** One list of events a call. `wait` holds the stream until the call is cancelled. */
export function scriptedModel(
  scripts: (ModelEvent | 'wait')[][],
  running: readonly RunningModel[] | null = [],
): ScriptedModel {
  const asked: WireRequest[] = [];
  const signals: CancelSignal[] = [];
  return {
    asked,
    signals,
    async *stream(request, signal) {
      const script = scripts[asked.length];
      asked.push(request);
      signals.push(signal);
      if (script === undefined) throw new Error(`The script has ${scripts.length} calls; this is one more.`);
      for (const event of script) {
        if (event === 'wait') {
          await new Promise<void>((resolve) => signal.onAbort(resolve));
          yield [{ kind: 'end', end: replyEnd({ ending: 'aborted', abortedBy: signal.reason, status: 200 }) }];
          return;
        }
        yield [event];
      }
    },
    running: async () => running,
  };
}

export const chunk = (answer: string, thinking = ''): ModelEvent => ({
  kind: 'chunk',
  answer,
  thinking,
  toolCalls: 0,
  logprobEntries: null,
});

export const end = (fields: Partial<ReplyEnd> = {}): ModelEvent => ({ kind: 'end', end: replyEnd(fields) });

export function replyEnd(fields: Partial<ReplyEnd> = {}): ReplyEnd {
  return {
    status: 200,
    ending: 'done',
    abortedBy: null,
    done: true,
    doneReason: 'stop',
    promptEvalCount: null,
    evalCount: null,
    totalDurationMs: null,
    loadDurationMs: null,
    promptEvalDurationMs: null,
    evalDurationMs: null,
    contextLength: null,
    error: null,
    needs: null,
    has: null,
    raw: '',
    rawClipped: false,
    rawBytes: 0 as ReplyEnd['rawBytes'],
    ...fields,
  };
}
