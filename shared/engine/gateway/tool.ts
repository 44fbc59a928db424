/** What the gateway needs of a tool. Everything a tool says of itself, and everything it gives back, is hostile text. */
import type { GatewayCode, ToolRule } from '../../contract/agents.ts';
import type { Json } from '../guards/canonical.ts';
import type { CancelSignal } from '../ports.ts';
import { utf8Bytes } from '../utf8.ts';

/** One entry of the tool inventory. Prices are for one attempt, in nano-dollars. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model is told. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly nanoDollarsWorst: number;
  readonly latencyMsUsual: number | null;
  readonly outputBytesUsual: number | null;
  /** Something it starts outlives the call: it is held by a lease and cleaned up when the run ends. */
  readonly sideEffect: boolean;
  /** It waits for something to change: higher limit for equal calls, no demand for new text. */
  readonly polls: boolean;
  /** Fetches the same for the same arguments: may be answered from the run's cache. */
  readonly cacheable: boolean;
  /** Whose permission it works with; part of the cache's key. */
  readonly authorisation: string;
  /** What fails together: one breaker for each. */
  readonly upstream: string;
  readonly timeoutMs: number;
  /** All tries of one call together; 1 = none is repeated. */
  readonly attemptsMax: number;
  /** In one run; null = no limit. */
  readonly callsMax: number | null;
  readonly approval: boolean;
  readonly keep: 'head' | 'head-and-tail';
  /** null = the arguments fit; else what does not, in words. */
  check(args: Json): string | null;
}

export interface ToolAnswer {
  readonly text: ToolText;
  /** What it really cost, if that is less than the worst case. null = the worst case. */
  readonly nanoDollars: number | null;
  readonly failed: boolean;
  /** A repeat may help: the upstream was busy or did not answer. */
  readonly retryable: boolean;
  /** Something that goes on after the call: what it is, and how it is ended. */
  readonly lease: { readonly what: string; release(): Promise<void> } | null;
  /** What kind of failure it was, where the tool is one of the gateway's own. */
  readonly code?: GatewayCode;
}

/** A text in memory, or one that was stored while it came in: `head` and `tail` are all that is ever looked at. */
export interface ToolText {
  readonly bytes: number;
  /** The first bytes as text, at least `OUTPUT_HEAD_BYTES` where there are so many; whole characters. */
  readonly head: string;
  /** The last ones; '' where head is all. */
  readonly tail: string;
  /** Where all of it is, when it is not all in `head`. */
  readonly handle: string | null;
  /** Hash of all of it, where it is not all in `head`: two outputs that differ only behind it are told apart by this. */
  readonly digest?: string;
}

/** The most of an output that is held in memory. */
export const OUTPUT_HEAD_BYTES = 262_144;

export interface Tool {
  readonly spec: ToolSpec;
  /** Never rejects for what the tool did; aborting `signal` ends it. `attempt` counts from 1. */
  invoke(
    args: Json,
    about: { readonly signal: CancelSignal; readonly attempt: number; readonly nodeId: string },
  ): Promise<ToolAnswer>;
}

export const TOOL_DEFAULTS: Omit<ToolSpec, 'name' | 'description' | 'parameters' | 'upstream' | 'check'> = {
  nanoDollarsWorst: 0,
  latencyMsUsual: null,
  outputBytesUsual: null,
  sideEffect: false,
  polls: false,
  cacheable: false,
  authorisation: '',
  timeoutMs: 30_000,
  attemptsMax: 1,
  callsMax: null,
  approval: false,
  keep: 'head',
};

/** A person's rule over what the tool says of itself. */
export function withRule(tool: Tool, rule: ToolRule | undefined): Tool {
  if (rule === undefined) return tool;
  const { spec } = tool;
  return {
    async invoke(args, about) {
      const answer = await tool.invoke(args, about);
      return rule.nanoDollars === undefined ? answer : { ...answer, nanoDollars: rule.nanoDollars };
    },
    spec: {
      ...spec,
      nanoDollarsWorst: rule.nanoDollarsWorst ?? rule.nanoDollars ?? spec.nanoDollarsWorst,
      timeoutMs: rule.timeoutMs ?? spec.timeoutMs,
      attemptsMax: rule.attemptsMax ?? spec.attemptsMax,
      callsMax: rule.callsMax ?? spec.callsMax,
      polls: rule.polls ?? spec.polls,
      sideEffect: rule.sideEffect ?? spec.sideEffect,
      approval: rule.approval ?? spec.approval,
      keep: rule.keep ?? spec.keep,
    },
  };
}

/** A short text, all of it in memory. */
export function textOf(text: string): ToolText {
  const whole = text.toWellFormed();
  return { bytes: utf8Bytes(whole), head: whole, tail: '', handle: null };
}
