/** A call that starts an agent. */
import type { EndReason } from '../../contract/agents.ts';
import { bytes } from '../../contract/units.ts';
import { canonicalText } from '../guards/canonical.ts';
import type { GuardedCall } from '../guards/guards.ts';
import { must } from '../must.ts';
import type { CancelSignal } from '../ports.ts';
import { stopOf } from './admit.ts';
import type { ToolAsk } from './gateway-ports.ts';
import type { Room } from './room.ts';
import { ARGUMENTS_HEAD, RESULT_HEAD, type Refuse, type Slot } from './slot.ts';
import { textOf } from './tool.ts';

/** An agent on a part of this one's budget: comes back when that agent has ended. */
export async function delegateTo(
  room: Room,
  nodeId: string,
  { ask, index, guarded }: { readonly ask: ToolAsk; readonly index: number; readonly guarded: GuardedCall },
  slot: Slot,
  signal: CancelSignal,
  refuse: Refuse,
): Promise<{ readonly ok: boolean; readonly stop: EndReason | null }> {
  const { ports, now, tell, shownOf, chargeText } = room;
  const { guards } = ports;
  must(ports.delegate !== null, 'a delegation has somebody to start agents');
  slot.call = {
    ...slot.call,
    outcome: 'running',
    argumentsHead: canonicalText(guarded.args).slice(0, ARGUMENTS_HEAD),
    startedMs: now(),
  };
  ports.onCall(slot.call);
  const answer = await ports.delegate.run(nodeId, guarded.args, { signal });
  if (!answer.ok) {
    guards.notRun(guarded);
    refuse(index, { code: answer.code, tool: ask.name, words: answer.words, exhaustion: answer.exhaustion });
    const trip = answer.code === 'broken-arguments' ? guards.broken(guarded) : null;
    if (trip !== null) tell(trip);
    return { ok: false, stop: trip?.stage === 'stop' ? stopOf(trip) : null };
  }
  const shown = await shownOf(nodeId, textOf(answer.text), 'head');
  slot.text = shown.text;
  const tokens = chargeText(nodeId, shown.text);
  slot.call = {
    ...slot.call,
    outcome: 'done',
    childId: answer.childId,
    resultHead: shown.text.slice(0, RESULT_HEAD),
    outputBytes: bytes(textOf(answer.text).bytes),
    shownBytes: bytes(shown.bytes),
    handle: shown.handle,
    tokens,
    attempts: 1,
    endedMs: now(),
  };
  ports.onCall(slot.call);
  return { ok: true, stop: null };
}
