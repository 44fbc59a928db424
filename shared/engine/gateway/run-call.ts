/** One admitted call from its approval to its settlement. */
import type { GatewayCall, GatewayCode } from '../../contract/agents.ts';
import type { Bytes } from '../../contract/units.ts';
import { bytes } from '../../contract/units.ts';
import { canonicalText } from '../guards/canonical.ts';
import type { CancelSignal } from '../ports.ts';
import { utf8Bytes } from '../utf8.ts';
import { type Admitted, dropCall } from './admit.ts';
import { type Ran, runAttempts } from './attempts.ts';
import type { Room } from './room.ts';
import { ARGUMENTS_HEAD, RESULT_HEAD, type Refuse, type Slot } from './slot.ts';
import { type ToolText, textOf } from './tool.ts';

/** Runs one admitted call to its end and settles it. Answers what its state is judged by; null = it did not run. */
export async function runCall(
  room: Room,
  nodeId: string,
  one: Admitted,
  slot: Slot,
  signal: CancelSignal,
  refuse: Refuse,
): Promise<string | null> {
  const { ports, settings, cachedOf, now, shownOf } = room;
  const { tree } = ports;
  const update = (change: Partial<GatewayCall>): void => {
    slot.call = { ...slot.call, ...change };
    ports.onCall(slot.call);
  };
  update({
    outcome: 'running',
    fingerprint: one.fingerprint,
    argumentsHead: canonicalText(one.args).slice(0, ARGUMENTS_HEAD),
    startedMs: now(),
  });
  const { spec } = one.tool;
  // Asked again: an equal call of this step may have brought it in.
  const cached = cachedOf(one.tool, one.args);
  const above = settings.approvalAboveNanoDollars;
  if (cached === null && (spec.approval || (above !== null && spec.nanoDollarsWorst > above))) {
    update({ outcome: 'waiting-approval' });
    const allowed = await approved(room, slot.call, signal);
    if (!allowed && !signal.aborted) {
      dropCall(room, one);
      const words = 'not run: a person did not allow it';
      refuse(one.index, { code: 'approval-denied', tool: spec.name, words, exhaustion: null });
      return null;
    }
    update({ outcome: 'running' });
  }
  if (signal.aborted) {
    dropCall(room, one);
    refuse(one.index, {
      code: 'cancelled',
      tool: spec.name,
      words: 'not run: the run was stopped',
      exhaustion: null,
    });
    return null;
  }
  const ran = cached === null ? await attempts(room, nodeId, one, signal) : null;
  const output = cached ?? ran?.answer.text ?? textOf('');
  const failed = ran !== null && ran.answer.failed;
  if (ran !== null && !failed) room.keep(one.tool, one.args, output);
  const shown = await shownOf(nodeId, output, spec.keep);
  const note = one.warning === null ? '' : `\n[note: ${one.warning}]`;
  slot.text = `${shown.text}${note}`;
  const tokens = ports.tokensOf(slot.text, shown.bytes + utf8Bytes(note));
  tree.settle(one.hold, {
    calls: 1,
    tokens: settings.chargeResults ? tokens : 0,
    nanoDollars: ran?.firstNanoDollars ?? 0,
  });
  slot.shown = { tool: spec.name, text: shown.text, polls: spec.polls };
  update({
    outcome: ran === null ? 'cached' : failed ? 'failed' : 'done',
    code: ran !== null && failed ? codeOf(ran) : null,
    resultHead: shown.text.slice(0, RESULT_HEAD),
    outputBytes: output.bytes as Bytes,
    shownBytes: bytes(shown.bytes),
    handle: shown.handle,
    tokens,
    nanoDollars: ran?.nanoDollars ?? 0,
    attempts: ran?.attempts ?? 0,
    endedMs: now(),
  });
  return stateTextOf(output);
}

async function attempts({ ports, leases }: Room, nodeId: string, one: Admitted, signal: CancelSignal): Promise<Ran> {
  const { tool, args, ask } = one;
  let hasLease = false;
  const keep = (what: string, release: (() => Promise<void>) | null): void => {
    hasLease = true;
    leases.keep({ nodeId, tool: tool.spec.name, callId: ask.id, what, release });
  };
  const ran = await runAttempts(
    { nodeId, tool, args, signal },
    { ...ports, onLease: (lease) => keep(lease.what, () => lease.release()) },
  );
  // It says that it leaves something behind, but not how to end it; after a time-out it may have.
  const mayGoOn = tool.spec.sideEffect && (!ran.answer.failed || ran.ending !== 'answered');
  if (mayGoOn && !hasLease) keep(`${tool.spec.name} ${canonicalText(args).slice(0, RESULT_HEAD)}`, null);
  return ran;
}

/** A person who does not answer in the time that the agent has left has not allowed it. */
function approved({ ports }: Room, call: GatewayCall, signal: CancelSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const leftMs = ports.tree.timeLeftMs(call.nodeId, ports.nowMs());
    const takeBack = leftMs === null ? (): void => undefined : ports.after(leftMs, () => answer(false));
    const release = signal.onAbort(() => resolve(false));
    const answer = (allowed: boolean): void => {
      takeBack();
      release();
      resolve(allowed);
    };
    void (async () => ports.approve(call))().then(answer, () => answer(false));
  });
}

/** What the state of a call is told by: all of the output, or what stands for all of it. */
function stateTextOf({ bytes: size, head, tail, digest }: ToolText): string {
  return size === utf8Bytes(head) ? head : `${size} bytes: ${digest ?? ''}\n${head}\n${tail}`;
}

function codeOf({ answer, ending }: Ran): GatewayCode {
  if (ending === 'cancelled') return 'cancelled';
  return ending === 'answered' ? (answer.code ?? 'tool-failed') : 'timeout';
}
