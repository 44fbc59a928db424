/** One ask of a step and what became of it; filled in as the step goes. */
import type { GatewayCall } from '../../contract/agents.ts';
import { bytes, milliseconds } from '../../contract/units.ts';
import type { ToolAsk } from './gateway-ports.ts';
import type { Refusal } from './refusal.ts';

export const ARGUMENTS_HEAD = 2_000;
export const RESULT_HEAD = 300;

export interface Slot {
  call: GatewayCall;
  text: string;
  shown: { readonly tool: string; readonly text: string; readonly polls: boolean } | null;
}

/** Gives a call of the step its result without running it. */
export type Refuse = (index: number, refusal: Refusal) => void;

export function freshCall(nodeId: string, step: number, ask: ToolAsk, index: number, atMs: number): GatewayCall {
  const at = milliseconds(Math.max(0, Math.round(atMs)));
  return {
    id: ask.id,
    nodeId,
    step,
    index,
    tool: ask.name.slice(0, 300),
    argumentsHead: ask.argumentsText.slice(0, ARGUMENTS_HEAD),
    fingerprint: null,
    stateHash: null,
    outcome: 'running',
    code: null,
    exhaustion: null,
    resultHead: '',
    outputBytes: bytes(0),
    shownBytes: bytes(0),
    handle: null,
    tokens: 0,
    nanoDollars: 0,
    attempts: 0,
    newShingles: null,
    startedMs: at,
    endedMs: null,
    childId: null,
  };
}
