/** Whether a call may run: the ranked checks, and what is held for it. */
import type { EndReason, GatewayCode } from '../../contract/agents.ts';
import type { HoldId } from '../budget-tree/tree.ts';
import type { Json } from '../guards/canonical.ts';
import type { GuardedCall, Trip } from '../guards/guards.ts';
import { must } from '../must.ts';
import { readArguments } from './arguments.ts';
import type { ToolAsk } from './gateway-ports.ts';
import { type Refusal, refusalOfExhaustion } from './refusal.ts';
import type { Room } from './room.ts';
import type { Tool } from './tool.ts';

export interface Admitted {
  readonly ask: ToolAsk;
  readonly index: number;
  readonly tool: Tool;
  readonly args: Json;
  readonly guarded: GuardedCall;
  readonly fingerprint: string;
  readonly hold: HoldId;
  readonly warning: string | null;
}

export type Admission =
  | { readonly admitted: Admitted }
  | { readonly delegation: GuardedCall }
  | { readonly refusal: Refusal; readonly stop: EndReason | null };

/** The ranked checks; the first that fails is the answer. The budget comes last, so that nothing is held for a call that is refused. */
export function admitCall(room: Room, nodeId: string, ask: ToolAsk, index: number): Admission {
  const { ports, settings, callsByTool, toolOf, cachedOf, tell } = room;
  const { tree, guards } = ports;
  const no = (code: GatewayCode, words: string, stop: EndReason | null = null): Admission => ({
    refusal: { code, tool: ask.name, words, exhaustion: null },
    stop,
  });
  const isDelegate = ports.delegate !== null && ask.name === ports.delegate.name;
  const tool = toolOf(ask.name);
  if (tool === undefined && !isDelegate) return no('unknown-tool', `there is no tool ${ask.name.slice(0, 100)}`);
  const polls = tool?.spec.polls ?? false;
  const about = { id: ask.id, nodeId, tool: ask.name, polls };

  const read = readArguments(ask.argumentsText, tool);
  if (!read.ok) {
    const trip = guards.broken(about);
    if (trip !== null) tell(trip);
    return no('broken-arguments', read.words, trip?.stage === 'stop' ? 'broken-arguments' : null);
  }
  const guarded: GuardedCall = { ...about, args: read.args };
  const { fingerprint, trip } = guards.before(guarded);
  if (trip !== null) {
    tell(trip);
    const code = trip.guard === 'cycle' ? 'cycle' : 'identical-call';
    if (trip.stage !== 'warn') return no(code, trip.text, trip.stage === 'stop' ? stopOf(trip) : null);
  }
  if (isDelegate) return { delegation: guarded };
  must(tool !== undefined, 'a call that is no delegation has its tool');
  const notRun = (admission: Admission): Admission => {
    guards.notRun(guarded);
    return admission;
  };
  const used = callsByTool.get(ask.name) ?? 0;
  if (tool.spec.callsMax !== null && used >= tool.spec.callsMax) {
    const words = `${ask.name} was called ${used} times, and may be called ${tool.spec.callsMax} times in a run`;
    return notRun(no('tool-limit', words));
  }
  const cached = cachedOf(tool, read.args) !== null;
  const waitMs = cached ? null : ports.breakers.admit(tool.spec.upstream, ports.nowMs());
  if (waitMs !== null) {
    const words = `${tool.spec.upstream} failed again and again; it may be tried in ${Math.ceil(waitMs / 1_000)} s`;
    return notRun(no('breaker-open', words));
  }
  const amounts = {
    calls: 1,
    tokens: settings.chargeResults ? settings.outputTokensMax : 0,
    nanoDollars: cached ? 0 : tool.spec.nanoDollarsWorst,
  };
  const hold = tree.hold(nodeId, amounts, ports.nowMs());
  if (!hold.ok) {
    if (!cached) ports.breakers.drop(tool.spec.upstream);
    return notRun({ refusal: refusalOfExhaustion(ask.name, hold.exhaustion), stop: null });
  }
  callsByTool.set(ask.name, used + 1);
  const warning = trip?.stage === 'warn' ? trip.text : null;
  return { admitted: { ask, index, tool, args: read.args, guarded, fingerprint, hold: hold.value, warning } };
}

/** What was held for a call that does not run, and its place at the breaker. */
export function dropCall({ ports, callsByTool }: Room, one: Admitted): void {
  ports.breakers.drop(one.tool.spec.upstream);
  ports.tree.settle(one.hold, { calls: 0, tokens: 0, nanoDollars: 0 });
  ports.guards.notRun(one.guarded);
  callsByTool.set(one.ask.name, Math.max(0, (callsByTool.get(one.ask.name) ?? 0) - 1));
}

export function stopOf({ guard }: Trip): EndReason {
  return guard;
}
