/**
 * A transport without a host: answers come from a script, frames are sent by the test. Strict: a request that the script
 * does not know is an error of the test.
 */
import type { Result } from '../../../shared/contract/denials.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { requests } from '../../../shared/contract/requests.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../../shared/contract/requests.ts';
import type { Frame, Transport, TransportState } from '../../../renderer/transport/transport.ts';

export type Script = {
  [Name in RequestName]?: (
    params: RequestParsed<Name>,
  ) => Result<RequestResult<Name>> | Promise<Result<RequestResult<Name>>>;
};

export interface FakeTransport extends Transport {
  readonly asked: { name: RequestName; params: unknown }[];
  script: Script;
  emit(...events: EngineEvent[]): void;
  emitFrame(frame: Frame): void;
  turn(state: TransportState): void;
}

export function fakeTransport(script: Script, state: TransportState = 'connected'): FakeTransport {
  const frameListeners = new Set<(frame: Frame) => void>();
  const stateListeners = new Set<(state: TransportState) => void>();
  let seq = 0;
  const fake: FakeTransport = {
    asked: [],
    script,
    state: () => state,
    request: async (name, params) => {
      const parsed = requests[name].params.parse(params) as RequestParsed<typeof name>;
      fake.asked.push({ name, params: parsed });
      const answer = fake.script[name] as ((params: unknown) => unknown) | undefined;
      if (answer === undefined) throw new Error(`The script has no answer for ${name}`);
      return (await answer(parsed)) as never;
    },
    onFrame: (listener) => {
      frameListeners.add(listener);
      return () => frameListeners.delete(listener);
    },
    onStateChange: (listener) => {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    close: () => fake.turn('closed'),
    emit: (...events) => {
      seq += 1;
      fake.emitFrame({ kind: 'frame', seq, dropped: 0, events });
    },
    emitFrame: (frame) => {
      seq = frame.seq;
      for (const listener of frameListeners) listener(frame);
    },
    turn: (next) => {
      state = next;
      if (next === 'connected') seq = 0;
      for (const listener of stateListeners) listener(next);
    },
  };
  return fake;
}
