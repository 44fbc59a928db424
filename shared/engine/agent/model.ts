/** The model of an agent as a port: a server's model through the corridor, or a script that decides from what it was given. */
import type { ToolAsk } from '../gateway/gateway.ts';
import type { ToolSpec } from '../gateway/tool.ts';
import type { CancelSignal } from '../ports.ts';

export type TranscriptEntry =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ToolAsk[] }
  | {
      readonly role: 'tool';
      readonly content: string;
      readonly toolCallId: string;
      readonly toolName: string;
      /** false: the gateway refused it or did not run it. */
      readonly ran: boolean;
    };

export interface TurnAsk {
  readonly nodeId: string;
  readonly depth: number;
  readonly turn: number;
  readonly transcript: readonly TranscriptEntry[];
  readonly tools: readonly Pick<ToolSpec, 'name' | 'description' | 'parameters'>[];
  /** The last turn: no tools, a summary of what was done so far. */
  readonly closing: boolean;
  /** What is left of the node's calls, as the prompt and the gateway say; null = no limit. */
  readonly callsLeft: number | null;
  readonly timeLeftMs: number | null;
  /** What the prompt has, by the run's own count. */
  readonly contextTokens: number;
  readonly signal: CancelSignal;
}

export interface TurnAnswer {
  readonly text: string;
  readonly toolCalls: readonly ToolAsk[];
  /** As the server counted; null = not reported, or a script. */
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  /** Of them: what was thought, and is not sent again; counted or estimated. Left out = none. */
  readonly thinkingTokens?: number;
  /** The stored call behind it. */
  readonly callId: string | null;
  /** Why there is no answer; null = there is one. */
  readonly failed: string | null;
  /** With `failed`: the time of the run was over before the answer was. */
  readonly outOfTime?: true;
  /** The server could not read the calls that the model wrote, in the server's words: the model is told, and goes on. */
  readonly unreadable?: string;
}

export interface AgentModel {
  turn(ask: TurnAsk): Promise<TurnAnswer>;
}
