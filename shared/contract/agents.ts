/** Agent runs: what is asked, the budget tree, steps and calls as they happen, guards and what they saw, how a run ended. */
import { z } from 'zod';
import { amountSchema, payerSchema } from './plans.ts';
import { bytesSchema, millisecondsSchema } from './units.ts';

export type AgentRunId = string & { readonly id: 'agent-run' };
export const agentRunIdSchema = z.string().min(1).max(200) as unknown as z.ZodType<AgentRunId, AgentRunId>;

/**
 * The eight dimensions of a node. calls, tokens, nano-dollars, wall-clock and descendants are used up; depth, fan-out and
 * output-bytes bound each step, and are shown as the most that was reached.
 */
export const dimensions = [
  'calls',
  'tokens',
  'nano-dollars',
  'wall-clock',
  'depth',
  'fan-out',
  'descendants',
  'output-bytes',
] as const;
export type Dimension = (typeof dimensions)[number];

const limit = amountSchema.nullable();

/** null = no limit, 0 = nothing allowed. */
export const nodeLimitsSchema = z.strictObject({
  calls: limit,
  tokens: limit,
  /** `context`: tokens that came into a context. `billed`: every model turn is charged its whole context. */
  tokensMean: z.enum(['context', 'billed']),
  nanoDollars: limit,
  /** Awake time: a machine that sleeps does not use it up. */
  wallClockMs: limit,
  /** How many levels of agents may be below the root. */
  depth: z.int().min(0).max(16),
  fanOut: z.int().min(1).max(1_000),
  /** Lifetime count below this node, ended ones included. */
  descendants: limit,
  /** Of one tool output in the context, marker included. null = whole outputs. */
  outputBytes: limit,
});
export type NodeLimits = z.infer<typeof nodeLimitsSchema>;

export const guardSettingsSchema = z.strictObject({
  /** A state (tool, arguments, result) that came more than maxRepeats times ends the run. null = off. */
  stateHash: z.strictObject({ maxRepeats: z.int().min(0).max(1_000) }).nullable(),
  /** The call after `limit` identical ones (tool, arguments) is refused; polling tools have `pollingLimit`. */
  identicalCalls: z
    .strictObject({ limit: z.int().min(0).max(10_000), pollingLimit: z.int().min(0).max(10_000) })
    .nullable(),
  /** A sequence of 1 to periodMax states that came `repeats` times in a row. */
  cycles: z.strictObject({ periodMax: z.int().min(1).max(8), repeats: z.int().min(2).max(100) }).nullable(),
  /** `steps` in a row that brought fewer than shinglesMin new five-word phrases, unless that was a good share of what came back. */
  noProgress: z
    .strictObject({
      steps: z.int().min(1).max(100),
      shinglesMin: z.int().min(1).max(1_000_000),
      /** New ones in percent of what came back that count as progress however few they are; null = only shinglesMin counts. */
      sharePercentMin: z.int().min(1).max(100).nullable(),
      scope: z.enum(['agent', 'tree']),
    })
    .nullable(),
  /** Arguments of one tool that could not be read or did not fit its schema, in a row. */
  brokenArguments: z.strictObject({ limit: z.int().min(1).max(1_000) }).nullable(),
  /** What a guard does when it fires first, second, third time for a tool. `stop` alone ends the run at once. */
  ladder: z.enum(['warn-block-stop', 'block-stop', 'block', 'stop']),
  /** Tools that guards leave alone. */
  exempt: z.array(z.string().max(200)).max(200),
  /** Tool -> top-level fields of its arguments that say nothing about what is asked (cursors, timeouts). */
  ignoredFields: z.record(z.string().max(200), z.array(z.string().max(200)).max(50)),
});
export type GuardSettings = z.infer<typeof guardSettingsSchema>;

export const DEFAULT_GUARDS: GuardSettings = {
  stateHash: { maxRepeats: 2 },
  identicalCalls: { limit: 3, pollingLimit: 60 },
  cycles: { periodMax: 4, repeats: 3 },
  noProgress: { steps: 3, shinglesMin: 400, sharePercentMin: 20, scope: 'agent' },
  brokenArguments: { limit: 3 },
  ladder: 'warn-block-stop',
  exempt: [],
  ignoredFields: {},
};

export const DEFAULT_LIMITS: NodeLimits = {
  calls: 60,
  tokens: 400_000,
  tokensMean: 'context',
  nanoDollars: 2_000_000_000,
  wallClockMs: 300_000,
  depth: 2,
  fanOut: 8,
  descendants: 12,
  outputBytes: 16_000,
};

/** A server that other clients start the same way: `mcpServers` of their settings. */
export const mcpServerSchema = z.union([
  z.strictObject({
    command: z.string().min(1).max(2_000),
    args: z.array(z.string().max(4_000)).max(100).default([]),
    env: z.record(z.string().max(200), z.string().max(10_000)).default({}),
    cwd: z.string().max(4_000).optional(),
    /** Bounds of the child process. */
    memoryMegabytesMax: z.int().min(32).max(65_536).default(1_024),
    network: z.boolean().default(true),
  }),
  z.strictObject({
    url: z.url().max(2_000),
    headers: z.record(z.string().max(200), z.string().max(10_000)).default({}),
  }),
]);
export type McpServer = z.infer<typeof mcpServerSchema>;

/** What a tool declares, or what was set for it: prices are for one attempt. */
export const toolRuleSchema = z.strictObject({
  nanoDollarsWorst: amountSchema.optional(),
  nanoDollars: amountSchema.optional(),
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
  attemptsMax: z.int().min(1).max(10).optional(),
  callsMax: amountSchema.optional(),
  polls: z.boolean().optional(),
  sideEffect: z.boolean().optional(),
  approval: z.boolean().optional(),
  keep: z.enum(['head', 'head-and-tail']).optional(),
});
export type ToolRule = z.infer<typeof toolRuleSchema>;

/** Ready tools: `carrier` asks to be asked again, `link-farm` is a site that wants all of itself read … */
export const toolSets = ['carrier', 'clock', 'link-farm', 'files', 'big-page', 'flaky', 'jobs'] as const;
export type ToolSet = (typeof toolSets)[number];

export const agentTaskSchema = z.strictObject({
  kind: z.literal('agent').default('agent'),
  name: z.string().trim().min(1).max(200).default('agent run'),
  prompt: z.string().min(1, 'write what the agent should do').max(1_000_000),
  /** A model with tools on the server, or `script:NAME`. */
  model: z.string().trim().min(1, 'choose a model').max(500),
  numCtx: z.int().min(1).max(10_000_000).nullable().default(null),
  numPredict: z.int().min(1).max(1_000_000).default(1_024),
  temperature: z.number().min(0).max(5).default(0),
  seed: z.int().default(7),
  tools: z.array(z.enum(toolSets)).max(toolSets.length).default([]),
  mcpServers: z.record(z.string().min(1).max(100), mcpServerSchema).default({}),
  toolRules: z.record(z.string().max(300), toolRuleSchema).default({}),
  limits: nodeLimitsSchema.partial().default({}),
  /** Tool rounds of one agent. */
  rounds: z.int().min(1).max(10_000).default(40),
  /** Calls a node keeps for itself when it carves. */
  keepCalls: z.int().min(0).max(100_000).default(20),
  /** `keep`: limit - keep - carved; `left`: whatever is left may go to a child. */
  carveRule: z.enum(['keep', 'left']).default('keep'),
  spawnsPerMinute: z.int().min(0).max(10_000).nullable().default(12),
  closingCall: z.boolean().default(true),
  guards: guardSettingsSchema.partial().default({}),
  /** false: everything is let through and only counted, to show what happens without. */
  governed: z.boolean().default(true),
  cacheFetches: z.boolean().default(false),
  /** Calls whose worst case is above this wait for a person. null = none does. */
  approvalAboveNanoDollars: amountSchema.nullable().default(null),
  /** The class that budgets are proposed for; empty = none. */
  taskClass: z.string().max(100).default(''),
  /** When a budget of the root is used up: end, or ask a person once for so many percent more. null = end. */
  raiseOncePercent: z.int().min(1).max(1_000).nullable().default(null),
  payer: payerSchema.optional(),
});
export type AgentTask = z.infer<typeof agentTaskSchema>;
export type AgentTaskInput = z.input<typeof agentTaskSchema>;

export const endReasons = [
  'done',
  'budget-calls',
  'budget-tokens',
  'budget-money',
  'budget-time',
  'rounds',
  'no-progress',
  'state-hash',
  'identical-calls',
  'cycle',
  'broken-arguments',
  'cancelled',
  'model-failed',
  'interrupted',
] as const;
export type EndReason = (typeof endReasons)[number];

/** Why something was not allowed, as figures: a result for the model, not an exception. */
export const exhaustionSchema = z.strictObject({
  nodeId: z.string(),
  dimension: z.enum(dimensions),
  needed: amountSchema,
  used: amountSchema,
  held: amountSchema,
  limit: amountSchema,
  retryAfterSeconds: z.int().positive().nullable(),
  evidence: z.string(),
});
export type Exhaustion = z.infer<typeof exhaustionSchema>;

const sumsSchema = z.strictObject({
  calls: amountSchema,
  contextTokens: amountSchema,
  billedTokens: amountSchema,
  nanoDollars: amountSchema,
});

/** One agent. `used` is its own, `carved` what its agents hold or have used; `peak` is what the bounds of a step reached. */
export const agentNodeSchema = z.strictObject({
  id: z.string(),
  parentId: z.string().nullable(),
  depth: z.int().nonnegative(),
  task: z.string(),
  state: z.enum(['running', 'waiting', 'ended']),
  reason: z.enum(endReasons).nullable(),
  limits: nodeLimitsSchema,
  used: sumsSchema,
  held: z.strictObject({ calls: amountSchema, tokens: amountSchema, nanoDollars: amountSchema }),
  carved: z.strictObject({ calls: amountSchema, tokens: amountSchema, nanoDollars: amountSchema }),
  peak: z.strictObject({ fanOut: z.int().nonnegative(), outputBytes: bytesSchema }),
  descendants: z.int().nonnegative(),
  startedMs: millisecondsSchema,
  endedMs: millisecondsSchema.nullable(),
  modelTurns: z.int().nonnegative(),
  largestContextTokens: amountSchema,
  exhaustion: exhaustionSchema.nullable(),
  summary: z.string().nullable(),
});
export type AgentNode = z.infer<typeof agentNodeSchema>;

export const callOutcomes = ['done', 'failed', 'refused', 'not-run', 'cached', 'running', 'waiting-approval'] as const;

export const gatewayCodes = [
  'fan-out',
  'unknown-tool',
  'broken-arguments',
  'identical-call',
  'cycle',
  'tool-limit',
  'breaker-open',
  'budget',
  'approval-denied',
  'cancelled',
  'not-run',
  'depth',
  'spawn-rate',
  'nothing-to-carve',
  'tool-failed',
  'timeout',
  'unknown-handle',
] as const;
export type GatewayCode = (typeof gatewayCodes)[number];

/** One tool call as it went through the gateway. Times are milliseconds since the start of the run. */
export const gatewayCallSchema = z.strictObject({
  id: z.string(),
  nodeId: z.string(),
  step: z.int().positive(),
  index: z.int().nonnegative(),
  tool: z.string(),
  /** Canonical JSON, cut at 2,000 characters. */
  argumentsHead: z.string(),
  fingerprint: z.string().nullable(),
  stateHash: z.string().nullable(),
  outcome: z.enum(callOutcomes),
  code: z.enum(gatewayCodes).nullable(),
  exhaustion: exhaustionSchema.nullable(),
  /** First characters of what the model saw. */
  resultHead: z.string(),
  outputBytes: bytesSchema,
  shownBytes: bytesSchema,
  handle: z.string().nullable(),
  tokens: amountSchema,
  nanoDollars: amountSchema,
  attempts: z.int().nonnegative(),
  newShingles: z.int().nonnegative().nullable(),
  startedMs: millisecondsSchema,
  endedMs: millisecondsSchema.nullable(),
  childId: z.string().nullable(),
});
export type GatewayCall = z.infer<typeof gatewayCallSchema>;

export const modelTurnSchema = z.strictObject({
  nodeId: z.string(),
  turn: z.int().positive(),
  closing: z.boolean(),
  callId: z.string().nullable(),
  contextTokens: amountSchema,
  text: z.string(),
  toolCalls: z.int().nonnegative(),
  startedMs: millisecondsSchema,
  endedMs: millisecondsSchema.nullable(),
});
export type ModelTurn = z.infer<typeof modelTurnSchema>;

export const guardNames = ['state-hash', 'identical-calls', 'cycle', 'no-progress', 'broken-arguments'] as const;
export type GuardName = (typeof guardNames)[number];

export const guardTripSchema = z.strictObject({
  nodeId: z.string(),
  guard: z.enum(guardNames),
  stage: z.enum(['warn', 'block', 'stop']),
  tool: z.string().nullable(),
  atMs: millisecondsSchema,
  count: z.int().nonnegative(),
  limit: z.int().nonnegative(),
  hash: z.string().nullable(),
  /** Ids of the calls it is about. */
  calls: z.array(z.string()).max(100),
  text: z.string(),
});
export type GuardTrip = z.infer<typeof guardTripSchema>;

export const breakerSchema = z.strictObject({
  upstream: z.string(),
  state: z.enum(['closed', 'open', 'half-open']),
  failures: z.int().nonnegative(),
  retryAfterMs: millisecondsSchema.nullable(),
});
export type Breaker = z.infer<typeof breakerSchema>;

export const leaseSchema = z.strictObject({
  id: z.string(),
  nodeId: z.string(),
  tool: z.string(),
  what: z.string(),
  openedMs: millisecondsSchema,
  state: z.enum(['open', 'released', 'failed']),
});
export type Lease = z.infer<typeof leaseSchema>;

export const agentRunSchema = z.strictObject({
  id: agentRunIdSchema,
  task: agentTaskSchema,
  state: z.enum(['running', 'ended', 'cancelled', 'interrupted', 'failed']),
  reason: z.enum(endReasons).nullable(),
  simulated: z.boolean(),
  /** The model is a script and time is virtual. */
  scripted: z.boolean(),
  /** Of the server's model; null or not there = a script, or not known. */
  modelDigest: z.string().nullable().optional(),
  ollamaVersion: z.string().nullable().optional(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  nowMs: millisecondsSchema,
  totals: z.strictObject({
    toolCalls: z.int().nonnegative(),
    refused: z.int().nonnegative(),
    delegations: z.int().nonnegative(),
    agents: z.int().nonnegative(),
    modelTurns: z.int().nonnegative(),
    billedInputTokens: amountSchema,
    /** Turns whose prompt nobody counted: billed as estimated. Left out = none is known. */
    turnsUncounted: z.int().nonnegative().optional(),
    /** By the script's own rule; estimated for a server's model. */
    contextTokens: amountSchema,
    largestContextTokens: amountSchema,
    toolNanoDollars: amountSchema,
    outputBytes: amountSchema,
    retries: z.int().nonnegative(),
    peakFanOut: z.int().nonnegative(),
    /** Per KB of the prompt and of what tools brought in unasked: null for an empty input. */
    callsPerKb: z.number().nonnegative().nullable(),
    tokensPerKb: z.number().nonnegative().nullable(),
    callsByTool: z.record(z.string(), z.int().nonnegative()),
  }),
  openLeases: z.int().nonnegative(),
  answer: z.string().nullable(),
  problem: z.string().nullable(),
});
export type AgentRun = z.infer<typeof agentRunSchema>;

/** All of a run that a screen draws. Calls and turns are the last ones where there are more than it takes. */
export const agentRunViewSchema = z.strictObject({
  run: agentRunSchema,
  nodes: z.array(agentNodeSchema),
  calls: z.array(gatewayCallSchema),
  turns: z.array(modelTurnSchema),
  trips: z.array(guardTripSchema),
  breakers: z.array(breakerSchema),
  leases: z.array(leaseSchema),
  callsDropped: z.int().nonnegative(),
});
export type AgentRunView = z.infer<typeof agentRunViewSchema>;

/** A call that waits for a person, or a run that asks for a larger budget once. */
export const approvalSchema = z.strictObject({
  id: z.string(),
  runId: agentRunIdSchema,
  kind: z.enum(['call', 'raise']),
  nodeId: z.string(),
  /** For a call: which, and what it may cost. */
  call: gatewayCallSchema.nullable(),
  nanoDollarsWorst: amountSchema.nullable(),
  /** For a raise: what is used up, and the limit that is asked for. */
  exhaustion: exhaustionSchema.nullable(),
  limitAsked: amountSchema.nullable(),
});
export type Approval = z.infer<typeof approvalSchema>;

export const transcriptEntrySchema = z.strictObject({
  index: z.int().nonnegative(),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  /** Cut at 100,000 characters for the screen. */
  content: z.string(),
  clipped: z.boolean(),
  toolName: z.string().nullable(),
  callId: z.string().nullable(),
  ran: z.boolean().nullable(),
  toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), argumentsText: z.string() })),
});
export type ShownEntry = z.infer<typeof transcriptEntrySchema>;

/** A task that is ready to run, scripted or for a model of the server. */
export const agentPresetSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  /** What it shows, one sentence. */
  shows: z.string(),
  scripted: z.boolean(),
  task: agentTaskSchema,
});
export type AgentPreset = z.infer<typeof agentPresetSchema>;

export const toolInventorySchema = z.array(
  z.strictObject({
    name: z.string(),
    source: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    nanoDollarsWorst: amountSchema,
    latencyMsUsual: z.int().nullable(),
    outputBytesUsual: z.int().nullable(),
    sideEffect: z.boolean(),
    polls: z.boolean(),
    timeoutMs: z.int(),
    attemptsMax: z.int(),
    callsMax: z.int().nullable(),
    approval: z.boolean(),
  }),
);
export type ToolInventory = z.infer<typeof toolInventorySchema>;

/** The six shapes in which one message becomes very much work. */
export const bombShapes = ['loop', 'fan-out', 'delegation', 'retry-storm', 'output-inflation', 'side-effects'] as const;
export type BombShape = (typeof bombShapes)[number];

/** What one shape comes to without and with the ledger; `link-farm` is all of them at once. Both are really run. */
export const bombSchema = z.strictObject({
  id: z.string(),
  shape: z.enum([...bombShapes, 'link-farm']),
  title: z.string(),
  /** What is counted, such as `tool calls`. */
  unit: z.string(),
  without: z.strictObject({ runId: agentRunIdSchema, count: z.number(), secondCount: z.number().nullable() }),
  with: z.strictObject({ runId: agentRunIdSchema, count: z.number(), secondCount: z.number().nullable() }),
  /** What secondCount counts, such as `model calls`; null = nothing. */
  secondUnit: z.string().nullable(),
  state: z.enum(['running', 'done', 'cancelled', 'failed']),
});
export type Bomb = z.infer<typeof bombSchema>;

/** Two calls beside each other, as the guards see them. fault: why arguments cannot be read; null = they can. */
export const comparedCallSchema = z.strictObject({
  canonical: z.string().nullable(),
  fingerprint: z.string().nullable(),
  stateHash: z.string().nullable(),
  lossy: z.boolean(),
  fault: z.string().nullable(),
});
export const guardComparisonSchema = z.strictObject({
  first: comparedCallSchema,
  second: comparedCallSchema,
  sameCall: z.boolean().nullable(),
  sameState: z.boolean().nullable(),
  /** Common five-word phrases of the two results, 0 to 1; null without results. */
  similarity: z.number().min(0).max(1).nullable(),
  /** Why they are the same or not, in words: one line for each difference. */
  reasons: z.array(z.string()),
});
export type GuardComparison = z.infer<typeof guardComparisonSchema>;

/** What a class of tasks has needed, and what limits follow: p99 of the runs that ended well, and headroom. A proposal. */
export const classBudgetSchema = z.strictObject({
  taskClass: z.string(),
  runs: z.int().nonnegative(),
  runsDone: z.int().nonnegative(),
  proposed: z.strictObject({
    calls: amountSchema.nullable(),
    tokens: amountSchema.nullable(),
    nanoDollars: amountSchema.nullable(),
    wallClockMs: amountSchema.nullable(),
  }),
  headroomPercent: z.int(),
  /** Too few runs to say anything: nothing is proposed. */
  enough: z.boolean(),
});
export type ClassBudget = z.infer<typeof classBudgetSchema>;
