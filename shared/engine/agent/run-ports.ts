/** What an agent run takes, tells, and goes on from. */
import type {
  AgentRun,
  AgentRunView,
  Exhaustion,
  GatewayCall,
  GuardTrip,
  Lease,
  ModelTurn,
} from '../../contract/agents.ts';
import type { TreeSnapshot } from '../budget-tree/tree.ts';
import type { CancelSource } from '../cancel.ts';
import type { GatewayPorts } from '../gateway/gateway.ts';
import type { Tool } from '../gateway/tool.ts';
import type { GuardsSnapshot } from '../guards/guards.ts';
import type { AgentModel, TranscriptEntry } from './model.ts';
import type { RunSettings } from './run-settings.ts';

export interface AgentRunPorts extends Pick<
  GatewayPorts,
  'nowMs' | 'after' | 'breakers' | 'blobs' | 'sha256' | 'tokensOf' | 'wordRefusal' | 'approve'
> {
  readonly model: AgentModel;
  readonly tools: readonly Tool[];
  /** Tokens of an agent's first prompt: its texts and the tools it is told of. */
  baseTokens(prompt: string): number;
  /** Asks a person for a larger budget of the root; false = no. Answers false when the run is cancelled. */
  raise(exhaustion: Exhaustion, limitAsked: number): Promise<boolean>;
  /** What is said of an agent that had no closing call. */
  wordPartial(of: { readonly nodeId: string; readonly why: string; readonly calls: number }): string;
  now(): string;
  /** Something changed that a screen shows; called often. */
  onChange(change: RunChange): void;
}

export type RunChange =
  | { readonly kind: 'call'; readonly call: GatewayCall }
  | { readonly kind: 'turn'; readonly turn: ModelTurn }
  | { readonly kind: 'trip'; readonly trip: GuardTrip }
  | { readonly kind: 'lease'; readonly lease: Lease }
  | { readonly kind: 'nodes' };

/** What a run that was cut off goes on from: budgets, guards and transcripts as they stood. */
export interface RestartState {
  readonly tree: TreeSnapshot;
  readonly guards: GuardsSnapshot;
  readonly agents: readonly {
    readonly nodeId: string;
    readonly task: string;
    readonly transcript: readonly TranscriptEntry[];
    readonly figures: AgentFigures;
  }[];
  readonly view: AgentRunView;
  readonly counted: Counted;
}

export interface RunningAgents {
  readonly done: Promise<AgentRunView>;
  restart(): RestartState;
  view(): AgentRunView;
  /** Stops a node and all below it; null = all. The work under way is aborted. */
  cancel(nodeId: string | null): boolean;
  transcript(nodeId: string): readonly TranscriptEntry[];
}

export interface AboutRun {
  readonly simulated: boolean;
  readonly scripted: boolean;
  /** What the model runs on, as it is written to rows. */
  readonly server?: Pick<AgentRun, 'modelDigest' | 'ollamaVersion'>;
  readonly rootName?: string;
  readonly settings?: RunSettings;
  /** The run goes on from here; what was under way when it was cut off is answered as interrupted. */
  readonly restored?: RestartState;
}

export interface Counted {
  toolCalls: number;
  refused: number;
  delegations: number;
  outputBytes: number;
  retries: number;
  toolNanoDollars: number;
}

/** One agent of the run, as it goes. */
export interface AgentState extends AgentFigures {
  readonly nodeId: string;
  readonly task: string;
  readonly cancel: CancelSource;
  readonly transcript: TranscriptEntry[];
  waiting: boolean;
  exhaustion: Exhaustion | null;
  summary: string | null;
}

export interface AgentFigures {
  contextTokens: number;
  billedTokens: number;
  largestContextTokens: number;
  modelTurns: number;
  /** Of them: those whose prompt was not counted. */
  turnsUncounted: number;
  calls: number;
  nanoDollars: number;
  contextSum: number;
  fanOutPeak: number;
  outputPeak: number;
  children: number;
}
