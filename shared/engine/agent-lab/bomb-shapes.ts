/**
 * The shapes in which one message becomes very much work: the task of each without the ledger, the same task with the one guard
 * or limit that stops it, and what is counted. Both sides are real runs; no figure stands here.
 */
import {
  type AgentRunView,
  type AgentTask,
  type AgentTaskInput,
  type Bomb,
  type GuardSettings,
  agentTaskSchema,
} from '../../contract/agents.ts';
import { farmTask } from './farm-task.ts';
import { ATTEMPT_PRICE } from './flaky.ts';

export interface BombPlan {
  readonly title: string;
  readonly unit: string;
  readonly secondUnit: string | null;
  readonly without: AgentTask;
  readonly with: AgentTask;
  count(view: AgentRunView): number;
  second(view: AgentRunView): number | null;
}

export function bombPlan(shape: Bomb['shape']): BombPlan {
  const { task, ungoverned, governed, ...plan } = plans[shape];
  const side = (words: string, change: Partial<AgentTaskInput>): AgentTask =>
    agentTaskSchema.parse({ name: `${shape}, ${words}`, ...task, ...change });
  return {
    ...plan,
    without: side('without the ledger', { governed: false, ...ungoverned }),
    with: side('with the ledger', governed),
  };
}

interface Shape extends Omit<BombPlan, 'without' | 'with'> {
  readonly task: AgentTaskInput;
  readonly ungoverned: Partial<AgentTaskInput>;
  readonly governed: Partial<AgentTaskInput>;
}

/** All guards but the one that a shape is about. */
const OFF: Partial<GuardSettings> = {
  stateHash: null,
  identicalCalls: null,
  cycles: null,
  noProgress: null,
  brokenArguments: null,
};

const toolCalls = ({ run }: AgentRunView): number => run.totals.toolCalls;

const plans: { readonly [Name in Bomb['shape']]: Shape } = {
  loop: {
    title: 'Loop: a carrier that says “call again”',
    unit: 'tool calls',
    secondUnit: 'model calls',
    task: { prompt: 'Where is order 1042?', model: 'script:status-asker', tools: ['carrier'] },
    ungoverned: {},
    governed: { guards: { ...OFF, stateHash: { maxRepeats: 2 } } },
    count: toolCalls,
    second: ({ run }) => run.totals.modelTurns,
  },
  'fan-out': {
    title: 'Fan-out: five hundred calls in one turn',
    unit: 'tool calls that ran',
    secondUnit: 'calls answered “not run”',
    task: { prompt: 'Read the handbook line by line.', model: 'script:five-hundred', tools: ['files'] },
    ungoverned: { limits: { fanOut: 500 } },
    governed: { guards: OFF },
    count: toolCalls,
    second: ({ run }) => run.totals.refused,
  },
  delegation: {
    title: 'Delegation: every agent gives its task to three more',
    unit: 'agents',
    secondUnit: 'delegations',
    task: { prompt: 'Give this task to 3 agents.', model: 'script:recursive-spawner' },
    ungoverned: { limits: { depth: 3 } },
    governed: { guards: OFF },
    count: ({ run }) => run.totals.agents,
    second: ({ run }) => run.totals.delegations,
  },
  'retry-storm': {
    title: 'Retry storm: three layers that try three times each',
    unit: 'attempts at the server',
    secondUnit: 'tool calls',
    task: { prompt: 'Is the server up?', model: 'script:naive-fetcher', tools: ['flaky'] },
    ungoverned: {},
    // What failed after its tries is not asked again: one layer retries, and that is the gateway.
    governed: { guards: { ...OFF, identicalCalls: { limit: 1, pollingLimit: 60 }, ladder: 'block' } },
    // Every attempt is paid, also those inside of a tool: what was paid tells how many there were.
    count: ({ run }) => run.totals.toolNanoDollars / ATTEMPT_PRICE,
    second: toolCalls,
  },
  'output-inflation': {
    title: 'Output inflation: a page of ten megabytes',
    unit: 'bytes of one output in the context',
    secondUnit: 'tokens in the context',
    task: {
      prompt: 'Find the code word in https://pages.example/ten-megabytes',
      model: 'script:big-page-reader',
      tools: ['big-page'],
    },
    ungoverned: {},
    governed: { guards: OFF },
    count: ({ nodes }) => nodes.reduce((most, { peak }) => Math.max(most, peak.outputBytes), 0),
    second: ({ run }) => run.totals.contextTokens,
  },
  'side-effects': {
    title: 'Side effects: six jobs that nobody ends',
    unit: 'jobs left running',
    secondUnit: 'jobs started',
    task: {
      prompt: 'Start these jobs: backup, index, mail, report, thumbnails, cleanup.',
      model: 'script:job-forgetter',
      tools: ['jobs'],
    },
    ungoverned: {},
    governed: { guards: OFF },
    count: ({ leases }) => leases.filter(({ state }) => state !== 'released').length,
    second: ({ leases }) => leases.length,
  },
  'link-farm': {
    title: 'Link farm: a site that wants all of itself read',
    unit: 'tool calls',
    secondUnit: 'input tokens billed',
    task: farmTask(),
    // Each of its agents reads on until it has read all of it: that is what bounds it, not its rounds.
    ungoverned: { rounds: 10_000 },
    governed: {},
    count: toolCalls,
    second: ({ run }) => run.totals.billedInputTokens,
  },
};
