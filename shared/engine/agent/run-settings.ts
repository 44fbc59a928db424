/** The limits and guards that a task runs under: what it says, and defaults for the rest. */
import type { AgentTask, GuardSettings, NodeLimits } from '../../contract/agents.ts';
import { DEFAULT_GUARDS, DEFAULT_LIMITS } from '../../contract/agents.ts';

export interface RunSettings {
  readonly limits: NodeLimits;
  readonly guards: GuardSettings;
  readonly closing: { readonly tokens: number; readonly nanoDollars: number };
}

export function settingsOf(task: AgentTask): RunSettings {
  const limits: NodeLimits = { ...DEFAULT_LIMITS, ...defined(task.limits) };
  if (!task.governed) {
    return {
      limits: {
        ...limits,
        calls: null,
        tokens: null,
        nanoDollars: null,
        wallClockMs: null,
        descendants: null,
        outputBytes: null,
      },
      guards: {
        ...DEFAULT_GUARDS,
        ...defined(task.guards),
        stateHash: null,
        identicalCalls: null,
        cycles: null,
        noProgress: null,
        brokenArguments: null,
      },
      closing: { tokens: 0, nanoDollars: 0 },
    };
  }
  const closing = task.closingCall
    ? {
        tokens: limits.tokens === null ? 0 : Math.min(CLOSING_TOKENS_MAX, Math.floor(limits.tokens / CLOSING_SHARE)),
        nanoDollars: 0,
      }
    : { tokens: 0, nanoDollars: 0 };
  return { limits, guards: { ...DEFAULT_GUARDS, ...defined(task.guards) }, closing };
}

/** What is kept back for a closing call where the node has limits: a part of them, bounded. */
const CLOSING_SHARE = 20;
const CLOSING_TOKENS_MAX = 4_000;

/** A field that is there but undefined would take a default away. */
function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
