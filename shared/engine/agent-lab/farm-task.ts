/** The link farm's run as it is known from its golden trace: its limits, what it charges, and the one guard that it is about. */
import { type AgentTask, type AgentTaskInput, DEFAULT_GUARDS, agentTaskSchema } from '../../contract/agents.ts';
import type { RunSettings } from '../agent/run.ts';

/** Every agent's first prompt, in tokens, and bytes that make one token: the farm's own figures. */
export const FARM_BASE_TOKENS = 3_000;
export const FARM_BYTES_PER_TOKEN = 4;
/** What a refusal puts into the context. */
export const FARM_REFUSAL_BYTES = 80;

export function farmTask(change: Partial<AgentTaskInput> = {}): AgentTask {
  return agentTaskSchema.parse({
    name: 'link farm',
    prompt: 'Find out what people think of the X-200.',
    model: 'script:farm-reader',
    tools: ['link-farm'],
    spawnsPerMinute: null,
    ...change,
  });
}

export interface FarmVariant {
  readonly tokensMean?: 'context' | 'billed';
  readonly noProgress?: 'agent' | 'tree' | 'off';
  readonly outputCap?: boolean;
}

/** With the ledger; the farm's setting of the no-progress guard, and no other guard. Nothing is kept back for closing turns. */
export function farmSettings({
  tokensMean = 'context',
  noProgress = 'agent',
  outputCap = true,
}: FarmVariant = {}): RunSettings {
  return {
    limits: {
      calls: 60,
      tokens: 400_000,
      tokensMean,
      nanoDollars: 2_000_000_000,
      wallClockMs: 300_000,
      depth: 2,
      fanOut: 8,
      descendants: null,
      outputBytes: outputCap ? 16_000 : null,
    },
    guards: {
      ...DEFAULT_GUARDS,
      stateHash: null,
      identicalCalls: null,
      cycles: null,
      brokenArguments: null,
      noProgress:
        noProgress === 'off' ? null : { steps: 3, shinglesMin: 400, sharePercentMin: null, scope: noProgress },
      ladder: 'stop',
    },
    closing: { tokens: 0, nanoDollars: 0 },
  };
}

/** Without: nothing but the depth binds, and ten calls of a step run. */
export function farmUngoverned(): RunSettings {
  const { limits, guards, closing } = farmSettings({ noProgress: 'off' });
  return {
    guards,
    closing,
    limits: {
      ...limits,
      calls: null,
      tokens: null,
      nanoDollars: null,
      wallClockMs: null,
      outputBytes: null,
      fanOut: 10,
    },
  };
}
