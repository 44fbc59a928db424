/** What the gateway takes and gives back: asks, results, and the ports that it works through. */
import type { EndReason, Exhaustion, GatewayCall, GatewayCode, GuardTrip, Lease } from '../../contract/agents.ts';
import type { BudgetTree } from '../budget-tree/tree.ts';
import type { Json } from '../guards/canonical.ts';
import type { Sha256 } from '../guards/fingerprint.ts';
import type { Guards } from '../guards/guards.ts';
import type { CancelSignal } from '../ports.ts';
import type { Breakers } from './breaker.ts';
import type { Refusal } from './refusal.ts';
import type { Tool, ToolText } from './tool.ts';

/** A call as the model asked for it. Arguments come as text, since what is wrong with them shows only there. */
export interface ToolAsk {
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
}

/** Full outputs, kept out of the context. Handles are random and good in one run of one user. */
export interface Blobs {
  put(text: ToolText): Promise<string>;
  /** null: no such handle in this run. Whole characters from `offset`; `bytes` of the whole. */
  read(
    handle: string,
    offset: number,
    bytesMax: number,
  ): Promise<{ text: string; nextOffset: number | null; bytes: number } | null>;
}

/** Starts an agent on a part of this one's budget, and comes back with its summary when it has ended. */
export interface Delegate {
  readonly name: string;
  run(
    parentId: string,
    args: Json,
    about: { readonly signal: CancelSignal },
  ): Promise<
    | { readonly ok: true; readonly childId: string; readonly text: string }
    | { readonly ok: false; readonly code: GatewayCode; readonly words: string; readonly exhaustion: Exhaustion | null }
  >;
}

export interface GatewayPorts {
  /** Milliseconds of awake time since the run began. */
  nowMs(): number;
  /** Calls back once, unless it was taken back before. */
  after(delayMs: number, then: () => void): () => void;
  readonly tree: BudgetTree;
  readonly guards: Guards;
  readonly breakers: Breakers;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly blobs: Blobs;
  readonly delegate: Delegate | null;
  readonly sha256: Sha256;
  /** Tokens that a text will have in the context. */
  tokensOf(text: string, textBytes: number): number;
  /** What the model reads when a call was not made. */
  wordRefusal(refusal: Refusal): string;
  /** Asks a person; false = no. Answers false when the run is cancelled. */
  approve(call: GatewayCall): Promise<boolean>;
  onCall(call: GatewayCall): void;
  onTrip(trip: GuardTrip): void;
  onLease(lease: Lease): void;
}

export interface GatewaySettings {
  /** Tokens of a capped output, which every call reserves. */
  readonly outputTokensMax: number;
  /** Results are charged to the tokens of their node; false where the model's turns are. */
  readonly chargeResults: boolean;
  readonly cache: boolean;
  /** Calls of each tool that the run has made before; left out = none. */
  readonly callsByTool?: readonly (readonly [string, number])[];
  readonly approvalAboveNanoDollars: number | null;
}

export interface StepResult {
  /** In the order of the asks. */
  readonly results: readonly {
    readonly id: string;
    readonly name: string;
    readonly text: string;
    readonly call: GatewayCall;
  }[];
  /** Why the agent has to end now; null = it may go on. */
  readonly stop: { readonly reason: EndReason; readonly exhaustion: Exhaustion | null } | null;
  readonly noProgress: number;
}

export interface Gateway {
  step(nodeId: string, step: number, asks: readonly ToolAsk[], signal: CancelSignal): Promise<StepResult>;
  /** Ends what was started and outlives its call; answers how many could not be ended. */
  releaseLeases(): Promise<number>;
  leases(): Lease[];
}
