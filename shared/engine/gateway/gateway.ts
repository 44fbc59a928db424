/**
 * The one place that every tool call passes (design, section 4.4). Read `step` first: admit in ranked order, run side by side,
 * settle, cap, judge. Every call gets exactly one result on every path, so a transcript stays valid whatever happens.
 */
import type { EndReason, Exhaustion, GatewayCall } from '../../contract/agents.ts';
import type { GuardedCall } from '../guards/guards.ts';
import { must } from '../must.ts';
import type { CancelSignal } from '../ports.ts';
import { type Admitted, admitCall, dropCall, stopOf } from './admit.ts';
import { delegateTo } from './delegation.ts';
import type { Gateway, GatewayPorts, GatewaySettings, StepResult, ToolAsk } from './gateway-ports.ts';
import { refusalOfExhaustion } from './refusal.ts';
import { createRoom } from './room.ts';
import { runCall } from './run-call.ts';
import { RESULT_HEAD, type Refuse, type Slot, freshCall } from './slot.ts';

export type { Blobs, Delegate, Gateway, GatewayPorts, GatewaySettings, StepResult, ToolAsk } from './gateway-ports.ts';

export function createGateway(ports: GatewayPorts, settings: GatewaySettings): Gateway {
  const { tree, guards } = ports;
  const room = createRoom(ports, settings);
  const { now, tell, chargeText } = room;

  async function step(
    nodeId: string,
    stepNumber: number,
    asks: readonly ToolAsk[],
    signal: CancelSignal,
  ): Promise<StepResult> {
    const slots: Slot[] = asks.map((ask, index) => ({
      call: freshCall(nodeId, stepNumber, ask, index, ports.nowMs()),
      text: '',
      shown: null,
    }));
    const stops: { reason: EndReason; exhaustion: Exhaustion | null }[] = [];
    const admitted: Admitted[] = [];
    const delegations: { ask: ToolAsk; index: number; guarded: GuardedCall }[] = [];

    const refuse: Refuse = (index, refusal) => {
      const slot = slotAt(slots, index);
      const text = ports.wordRefusal(refusal);
      const tokens = chargeText(nodeId, text);
      slot.text = text;
      slot.call = {
        ...slot.call,
        outcome: refusal.code === 'fan-out' || refusal.code === 'not-run' ? 'not-run' : 'refused',
        code: refusal.code,
        exhaustion: refusal.exhaustion,
        resultHead: text.slice(0, RESULT_HEAD),
        tokens,
        endedMs: now(),
      };
      ports.onCall(slot.call);
    };

    const { fanOut } = tree.node(nodeId).limits;
    let budget: Exhaustion | null = null;
    for (const [index, ask] of asks.entries()) {
      if (index >= fanOut) {
        refuse(index, {
          code: 'fan-out',
          tool: ask.name,
          words: `not run: at most ${fanOut} calls in one step`,
          exhaustion: null,
        });
        continue;
      }
      if (signal.aborted) {
        refuse(index, { code: 'cancelled', tool: ask.name, words: 'not run: the run was stopped', exhaustion: null });
        continue;
      }
      // The first call that the budget refuses ends the step; what comes after it is not tried.
      if (budget !== null) {
        refuse(index, refusalOfExhaustion(ask.name, budget));
        continue;
      }
      const outcome = admitCall(room, nodeId, ask, index);
      if ('delegation' in outcome) delegations.push({ ask, index, guarded: outcome.delegation });
      else if ('admitted' in outcome) admitted.push(outcome.admitted);
      else {
        refuse(index, outcome.refusal);
        if (outcome.refusal.code === 'budget') budget = outcome.refusal.exhaustion;
        if (outcome.stop !== null) stops.push({ reason: outcome.stop, exhaustion: null });
      }
    }
    if (budget !== null) stops.push({ reason: reasonOf(budget), exhaustion: budget });

    await runAll(nodeId, admitted, slots, signal, refuse, stops);
    // A call that ran alone is judged here, in the order it was asked for: what came back first is chance.
    let subAgentReturned = false;
    for (const { ask, index, guarded } of delegations) {
      if (signal.aborted) {
        refuse(index, { code: 'cancelled', tool: ask.name, words: 'not run: the run was stopped', exhaustion: null });
        continue;
      }
      const returned = await delegateTo(room, nodeId, { ask, index, guarded }, slotAt(slots, index), signal, refuse);
      subAgentReturned ||= returned.ok;
      if (returned.stop !== null) stops.push({ reason: returned.stop, exhaustion: null });
    }

    const texts = slots.flatMap(({ shown }) => shown ?? []);
    const ended = guards.stepEnded({ nodeId, texts, subAgentReturned });
    const novel = spreadNovelty(slots, ended.newShingles);
    if (novel !== null) ports.onCall(novel);
    if (ended.trip !== null) {
      tell(ended.trip);
      if (ended.trip.stage === 'stop') stops.push({ reason: 'no-progress', exhaustion: null });
    }
    // After a state hash there is no closing call: it goes before what else happened in the step.
    const stop = stops.find(({ reason }) => reason === 'state-hash') ?? stops[0] ?? null;
    return {
      results: slots.map(({ call, text }, index) => ({ id: call.id, name: asks[index]?.name ?? '', text, call })),
      stop,
      noProgress: ended.noProgress,
    };
  }

  /** Equal calls of one step run one after another, so that a loop inside a step is seen; all others side by side. */
  async function runAll(
    nodeId: string,
    admitted: readonly Admitted[],
    slots: Slot[],
    signal: CancelSignal,
    refuse: Refuse,
    stops: { reason: EndReason; exhaustion: Exhaustion | null }[],
  ): Promise<void> {
    const groups = new Map<string, Admitted[]>();
    for (const one of admitted) groups.set(one.fingerprint, [...(groups.get(one.fingerprint) ?? []), one]);
    const after = (one: Admitted, result: string): EndReason | null => {
      const judged = guards.after(one.guarded, result);
      const slot = slotAt(slots, one.index);
      slot.call = { ...slot.call, stateHash: judged.stateHash };
      if (judged.trip !== null && judged.trip.stage !== 'stop') {
        const note = `\n[note: ${judged.trip.text}]`;
        slot.text = `${slot.text}${note}`;
        slot.call = { ...slot.call, tokens: slot.call.tokens + chargeText(nodeId, note) };
      }
      ports.onCall(slot.call);
      if (judged.trip === null) return null;
      tell(judged.trip);
      return judged.trip.stage === 'stop' ? stopOf(judged.trip) : null;
    };
    const alone: { one: Admitted; result: string }[] = [];
    await Promise.all(
      [...groups.values()].map(async (group) => {
        let over: EndReason | null = null;
        for (const one of group) {
          if (over !== null || signal.aborted) {
            dropCall(room, one);
            const words = over === null ? 'not run: the run was stopped' : 'not run: the run ends because of a loop';
            const code = over === null ? 'cancelled' : 'not-run';
            refuse(one.index, { code, tool: one.ask.name, words, exhaustion: null });
            continue;
          }
          const result = await runCall(room, nodeId, one, slotAt(slots, one.index), signal, refuse);
          if (result === null) continue;
          if (group.length === 1) alone.push({ one, result });
          else over = after(one, result);
        }
        if (over !== null) stops.push({ reason: over, exhaustion: null });
      }),
    );
    for (const { one, result } of alone.sort((a, b) => a.one.index - b.one.index)) {
      const over = after(one, result);
      if (over !== null) stops.push({ reason: over, exhaustion: null });
    }
  }

  return { step, releaseLeases: () => room.leases.releaseAll(), leases: () => room.leases.all() };
}

export function reasonOf({ dimension }: Exhaustion): EndReason {
  if (dimension === 'tokens') return 'budget-tokens';
  if (dimension === 'nano-dollars') return 'budget-money';
  if (dimension === 'wall-clock') return 'budget-time';
  return 'budget-calls';
}

/** The step's new phrases belong to its last output on screen: they are counted over the step as a whole. */
function spreadNovelty(slots: Slot[], newShingles: number | null): GatewayCall | null {
  const last = slots.findLast(({ shown }) => shown !== null);
  if (last === undefined || newShingles === null) return null;
  last.call = { ...last.call, newShingles };
  return last.call;
}

function slotAt(slots: readonly Slot[], index: number): Slot {
  const slot = slots[index];
  must(slot !== undefined, 'every call of a step has its slot');
  return slot;
}
