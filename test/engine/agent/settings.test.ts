/** For each setting one script whose outcome flips when only that setting changes: a setting without an effect is a fault. */
import { describe, expect, test } from 'vitest';
import {
  type AgentTaskInput,
  type GuardSettings,
  type NodeLimits,
  type ToolRule,
  agentTaskSchema,
  guardSettingsSchema,
  nodeLimitsSchema,
  toolRuleSchema,
} from '../../../shared/contract/agents.ts';
import type { TurnAsk } from '../../../shared/engine/agent/model.ts';
import {
  type Ended,
  type TestTool,
  type Turn,
  always,
  call,
  runAgents,
  script,
  tool,
  turnsOf,
  virtualTime,
} from './harness.ts';

interface Script {
  /** Made anew for each of the two runs. */
  readonly model: (ask: TurnAsk) => Turn;
  readonly tools?: readonly TestTool[];
  readonly time?: ReturnType<typeof virtualTime>;
  readonly approve?: boolean;
}
type Change = {
  readonly limits?: Partial<NodeLimits>;
  readonly guards?: Partial<GuardSettings>;
  readonly task?: Partial<AgentTaskInput>;
};
interface Case {
  readonly play: () => Script;
  readonly base: Change;
  readonly changed: Change;
  readonly look: (ended: Ended, played: Script) => unknown;
  readonly want: readonly [before: unknown, after: unknown];
}

const reason = ({ view }: Ended): unknown => view.run.reason;
const done = ({ view }: Ended): number => view.calls.filter(({ outcome }) => outcome === 'done').length;
const codes = ({ view }: Ended): unknown[] =>
  [...view.calls].sort((a, b) => a.step - b.step || a.index - b.index).map(({ code, outcome }) => code ?? outcome);
const ran = (_ended: Ended, { tools }: Script): unknown => tools?.map((one) => one.ran.length);

const repeat = (turns: number, ...asks: ReturnType<typeof call>[]) =>
  turnsOf(...Array.from({ length: turns }, () => asks));
const counting = (turns: number, name = 't') =>
  turnsOf(...Array.from({ length: turns }, (_, at) => [call(name, { at })]));
/** New words every time. */
const fresh = (name = 't', words = 30): TestTool =>
  tool(name, ({ n }) => Array.from({ length: words }, (_, at) => `w${n}x${at}`).join(' '));
const constant = (name = 't'): TestTool => tool(name, () => 'always the same');
const delegates =
  (...calls: number[]) =>
  (ask: TurnAsk): Turn =>
    ask.depth === 0 && ask.turn === 1
      ? calls.map((some, at) => call('delegate', { task: `task ${at}`, calls: some }))
      : 'done';
const delegationsOf = ({ view }: Ended): number => view.run.totals.delegations;

function play(model: (ask: TurnAsk) => Turn, ...tools: TestTool[]): Script {
  return { model, tools };
}

const limitCases: { readonly [Name in keyof NodeLimits]: Case } = {
  calls: {
    play: () => play(counting(5), fresh()),
    base: { limits: { calls: 5 } },
    changed: { limits: { calls: 4 } },
    look: (ended) => [reason(ended), done(ended)],
    want: [
      ['done', 5],
      ['budget-calls', 4],
    ],
  },
  tokens: {
    play: () =>
      play(
        counting(5),
        tool('t', () => 'x'.repeat(400)),
      ),
    base: { limits: { tokens: 5_000, outputBytes: 400 }, task: { closingCall: false } },
    changed: { limits: { tokens: 500, outputBytes: 400 }, task: { closingCall: false } },
    look: (ended) => [reason(ended), done(ended)],
    want: [
      ['done', 5],
      ['budget-tokens', 4],
    ],
  },
  tokensMean: {
    play: () =>
      play(
        counting(5),
        tool('t', () => 'x'.repeat(40)),
      ),
    base: { limits: { tokens: 500, outputBytes: 400, tokensMean: 'context' } },
    changed: { limits: { tokens: 500, outputBytes: 400, tokensMean: 'billed' } },
    look: reason,
    want: ['done', 'budget-tokens'],
  },
  nanoDollars: {
    play: () =>
      play(
        counting(3),
        tool('t', () => 'x', { nanoDollarsWorst: 10 }),
      ),
    base: { limits: { nanoDollars: 30 } },
    changed: { limits: { nanoDollars: 29 } },
    look: (ended) => [reason(ended), done(ended)],
    want: [
      ['done', 3],
      ['budget-money', 2],
    ],
  },
  wallClockMs: {
    play: () => {
      const time = virtualTime();
      return {
        time,
        ...play(
          counting(3),
          tool('t', async () => time.sleep(1_000).then(() => 'x')),
        ),
      };
    },
    base: { limits: { wallClockMs: 3_001 } },
    changed: { limits: { wallClockMs: 2_000 } },
    look: (ended) => [reason(ended), ended.nowMs],
    want: [
      ['done', 3_000],
      ['budget-time', 2_000],
    ],
  },
  depth: {
    play: () =>
      play(({ turn, depth }) =>
        turn === 1 && depth < 3 ? [call('delegate', { task: 'go', calls: 10 - depth })] : 'done',
      ),
    base: { limits: { depth: 2 }, task: { keepCalls: 0 } },
    changed: { limits: { depth: 1 }, task: { keepCalls: 0 } },
    look: ({ view }) => view.nodes.map(({ depth }) => depth),
    want: [
      [0, 1, 2],
      [0, 1],
    ],
  },
  fanOut: {
    play: () => play(turnsOf([1, 2, 3].map((at) => call('t', { at }))), fresh()),
    base: { limits: { fanOut: 3 } },
    changed: { limits: { fanOut: 2 } },
    look: codes,
    want: [
      ['done', 'done', 'done'],
      ['done', 'done', 'fan-out'],
    ],
  },
  descendants: {
    play: () => play(delegates(2, 2, 2)),
    base: { limits: { descendants: 3 } },
    changed: { limits: { descendants: 2 } },
    look: delegationsOf,
    want: [3, 2],
  },
  outputBytes: {
    play: () =>
      play(
        counting(1),
        tool('t', () => 'x'.repeat(1_000)),
      ),
    base: { limits: { outputBytes: null } },
    changed: { limits: { outputBytes: 200 } },
    look: ({ view }) => [view.calls[0]?.shownBytes, view.calls[0]?.handle],
    want: [
      [1_000, null],
      [200, 'blob-1'],
    ],
  },
};

const guardCases: { readonly [Name in keyof GuardSettings]: readonly Case[] } = {
  stateHash: [
    {
      play: () => play(repeat(6, call('t')), constant()),
      base: { guards: { stateHash: null } },
      changed: { guards: { stateHash: { maxRepeats: 4 } } },
      look: (ended) => [reason(ended), done(ended)],
      want: [
        ['done', 6],
        ['state-hash', 5],
      ],
    },
    {
      play: () => play(repeat(6, call('t')), constant()),
      base: { guards: { stateHash: { maxRepeats: 6 } } },
      changed: { guards: { stateHash: { maxRepeats: 2 } } },
      look: done,
      want: [6, 3],
    },
  ],
  identicalCalls: [
    {
      play: () => play(repeat(5, call('t')), fresh()),
      base: { guards: { identicalCalls: { limit: 5, pollingLimit: 9 } } },
      changed: { guards: { identicalCalls: { limit: 3, pollingLimit: 9 } } },
      look: codes,
      want: [Array(5).fill('done'), ['done', 'done', 'done', 'identical-call', 'identical-call']],
    },
    {
      play: () =>
        play(
          repeat(5, call('t')),
          tool('t', () => 'waiting', { polls: true }),
        ),
      base: { guards: { identicalCalls: { limit: 1, pollingLimit: 5 } } },
      changed: { guards: { identicalCalls: { limit: 1, pollingLimit: 2 } } },
      look: done,
      want: [5, 2],
    },
  ],
  cycles: [
    {
      play: () => play(turnsOf(...[1, 2, 3, 1, 2, 3, 1, 2, 3].map((at) => [call('t', { at })])), constant()),
      base: { guards: { cycles: { periodMax: 2, repeats: 3 }, ladder: 'stop' } },
      changed: { guards: { cycles: { periodMax: 3, repeats: 3 }, ladder: 'stop' } },
      look: reason,
      want: ['done', 'cycle'],
    },
    {
      play: () => play(turnsOf(...[1, 2, 1, 2].map((at) => [call('t', { at })])), constant()),
      base: { guards: { cycles: { periodMax: 2, repeats: 3 }, ladder: 'stop' } },
      changed: { guards: { cycles: { periodMax: 2, repeats: 2 }, ladder: 'stop' } },
      look: reason,
      want: ['done', 'cycle'],
    },
  ],
  noProgress: [
    ...(
      [
        [{ steps: 3, shinglesMin: 400, sharePercentMin: null, scope: 'agent' }, { steps: 6 }, 5],
        [{ steps: 3, shinglesMin: 400, sharePercentMin: null, scope: 'agent' }, { shinglesMin: 26 }, 5],
        [{ steps: 3, shinglesMin: 400, sharePercentMin: null, scope: 'agent' }, { sharePercentMin: 20 }, 5],
      ] as const
    ).map(([noProgress, change]): Case => ({
      play: () => play(counting(5), fresh()),
      base: { guards: { noProgress, ladder: 'stop' } },
      changed: { guards: { noProgress: { ...noProgress, ...change }, ladder: 'stop' } },
      look: (ended) => [reason(ended), done(ended)],
      want: [
        ['no-progress', 3],
        ['done', 5],
      ],
    })),
    {
      play: () =>
        play(
          ({ depth, turn }) => {
            if (turn === 1) return [call('t', { depth })];
            return depth === 0 && turn === 2 ? [call('delegate', { task: 'go', calls: 5 })] : 'done';
          },
          tool('t', () => 'the same six words each time'),
        ),
      base: {
        guards: { noProgress: { steps: 1, shinglesMin: 1, sharePercentMin: null, scope: 'agent' }, ladder: 'stop' },
      },
      changed: {
        guards: { noProgress: { steps: 1, shinglesMin: 1, sharePercentMin: null, scope: 'tree' }, ladder: 'stop' },
      },
      look: ({ view }) => view.nodes.map((node) => node.reason),
      // The child reads what its parent has read: for the tree that is nothing new, for the child alone it is.
      want: [
        ['done', 'done'],
        ['done', 'no-progress'],
      ],
    },
  ],
  brokenArguments: [
    {
      play: () => play(repeat(4, call('t', '{')), fresh()),
      base: { guards: { brokenArguments: { limit: 5 }, ladder: 'stop' } },
      changed: { guards: { brokenArguments: { limit: 2 }, ladder: 'stop' } },
      look: ({ view }) => [view.run.reason, view.run.totals.refused],
      want: [
        ['done', 4],
        ['broken-arguments', 2],
      ],
    },
  ],
  ladder: [
    ...(
      [
        ['warn-block-stop', [3, 'identical-calls', 4]],
        ['block-stop', [3, 'identical-calls', 3]],
        ['block', [3, 'done', 9]],
      ] as const
    ).map(([ladder, want]): Case => ({
      play: () => play(repeat(9, call('t')), fresh()),
      base: { guards: { identicalCalls: { limit: 3, pollingLimit: 3 }, ladder: 'stop' } },
      changed: { guards: { identicalCalls: { limit: 3, pollingLimit: 3 }, ladder } },
      look: (ended) => [done(ended), reason(ended), ended.view.calls.length],
      want: [[3, 'identical-calls', 4], ladder === 'block' ? want : [3, 'identical-calls', want[2] + 2]],
    })),
  ],
  exempt: [
    {
      play: () => play(repeat(5, call('t')), constant()),
      base: {
        guards: {
          stateHash: { maxRepeats: 2 },
          identicalCalls: { limit: 2, pollingLimit: 2 },
          cycles: { periodMax: 2, repeats: 2 },
        },
      },
      changed: {
        guards: {
          stateHash: { maxRepeats: 2 },
          identicalCalls: { limit: 2, pollingLimit: 2 },
          cycles: { periodMax: 2, repeats: 2 },
          exempt: ['t'],
        },
      },
      look: done,
      want: [2, 5],
    },
  ],
  ignoredFields: [
    {
      play: () => play(counting(5), fresh()),
      base: { guards: { identicalCalls: { limit: 2, pollingLimit: 2 }, ladder: 'block' } },
      changed: {
        guards: { identicalCalls: { limit: 2, pollingLimit: 2 }, ladder: 'block', ignoredFields: { t: ['at'] } },
      },
      look: done,
      want: [5, 2],
    },
  ],
};

const priced = (): TestTool => tool('t', () => ({ nanoDollars: null }), { nanoDollarsWorst: 10 });
const ruled = (rule: ToolRule): Change => ({ task: { toolRules: { t: rule } } });
const ruleCases: { readonly [Name in keyof Required<ToolRule>]: Case } = {
  nanoDollarsWorst: {
    play: () =>
      play(
        counting(1),
        tool('t', () => ({ nanoDollars: 1 }), { nanoDollarsWorst: 10 }),
      ),
    base: { limits: { nanoDollars: 50 } },
    changed: { limits: { nanoDollars: 50 }, ...ruled({ nanoDollarsWorst: 51 }) },
    look: codes,
    want: [['done'], ['budget']],
  },
  nanoDollars: {
    play: () => play(counting(1), priced()),
    base: ruled({ nanoDollarsWorst: 10 }),
    changed: ruled({ nanoDollarsWorst: 10, nanoDollars: 3 }),
    look: ({ view }) => view.run.totals.toolNanoDollars,
    want: [10, 3],
  },
  timeoutMs: {
    play: () => {
      const time = virtualTime();
      return {
        time,
        ...play(
          counting(1),
          tool('t', async () => time.sleep(1_000).then(() => 'x')),
        ),
      };
    },
    base: {},
    changed: ruled({ timeoutMs: 999 }),
    look: codes,
    want: [['done'], ['timeout']],
  },
  attemptsMax: {
    play: () =>
      play(
        counting(1),
        tool('t', () => ({ failed: true, retryable: true })),
      ),
    base: {},
    changed: ruled({ attemptsMax: 3 }),
    look: ran,
    want: [[1], [3]],
  },
  callsMax: {
    play: () => play(counting(3), fresh()),
    base: {},
    changed: ruled({ callsMax: 2 }),
    look: codes,
    want: [
      ['done', 'done', 'done'],
      ['done', 'done', 'tool-limit'],
    ],
  },
  polls: {
    play: () => play(repeat(4, call('t')), constant()),
    base: { guards: { identicalCalls: { limit: 2, pollingLimit: 9 } } },
    changed: { guards: { identicalCalls: { limit: 2, pollingLimit: 9 } }, ...ruled({ polls: true }) },
    look: done,
    want: [2, 4],
  },
  sideEffect: {
    play: () => play(counting(1), fresh()),
    base: {},
    changed: ruled({ sideEffect: true }),
    look: ({ view }) => view.run.openLeases,
    want: [0, 1],
  },
  approval: {
    play: () => ({ approve: false, ...play(counting(1), fresh()) }),
    base: {},
    changed: ruled({ approval: true }),
    look: codes,
    want: [['done'], ['approval-denied']],
  },
  keep: {
    play: () =>
      play(
        counting(1),
        tool('t', () => `${'a'.repeat(1_000)}THE END`),
      ),
    base: { limits: { outputBytes: 300 } },
    changed: { limits: { outputBytes: 300 }, ...ruled({ keep: 'head-and-tail' }) },
    look: ({ view, run }) => [
      view.calls[0]?.shownBytes,
      run.transcript('agent').some(({ role, content }) => role === 'tool' && content.endsWith('THE END')),
    ],
    want: [
      [300, false],
      [300, true],
    ],
  },
};

const taskCases: Readonly<Record<string, Case>> = {
  rounds: {
    play: () => play(always(call('t')), fresh()),
    base: { task: { rounds: 40 } },
    changed: { task: { rounds: 7 } },
    look: ({ view }) => [view.run.reason, view.run.totals.toolCalls, view.run.totals.modelTurns],
    want: [
      ['rounds', 40, 41],
      ['rounds', 7, 8],
    ],
  },
  keepCalls: {
    play: () => play(delegates(30, 20)),
    base: { limits: { calls: 60 }, task: { keepCalls: 10 } },
    changed: { limits: { calls: 60 }, task: { keepCalls: 20 } },
    look: delegationsOf,
    want: [2, 1],
  },
  carveRule: {
    play: () => play(delegates(30, 30)),
    base: { limits: { calls: 60 }, task: { keepCalls: 20, carveRule: 'keep' } },
    changed: { limits: { calls: 60 }, task: { keepCalls: 20, carveRule: 'left' } },
    look: delegationsOf,
    want: [1, 2],
  },
  spawnsPerMinute: {
    play: () => play(delegates(1, 2, 3)),
    base: { task: { spawnsPerMinute: 3 } },
    changed: { task: { spawnsPerMinute: 2 } },
    look: codes,
    want: [
      ['done', 'done', 'done'],
      ['done', 'done', 'spawn-rate'],
    ],
  },
  closingCall: {
    play: () => play(always(call('t')), fresh()),
    base: { task: { rounds: 2 } },
    changed: { task: { rounds: 2, closingCall: false } },
    look: ({ view }) => [view.run.answer, view.run.totals.modelTurns],
    want: [
      ['summary', 3],
      ['Stopped: rounds, 2 calls.', 2],
    ],
  },
  cacheFetches: {
    play: () =>
      play(
        repeat(3, call('t')),
        tool('t', () => 'x', { cacheable: true }),
      ),
    base: {},
    changed: { task: { cacheFetches: true } },
    look: ran,
    want: [[3], [1]],
  },
  approvalAboveNanoDollars: {
    play: () => ({ approve: false, ...play(counting(1), priced()) }),
    base: { task: { approvalAboveNanoDollars: 10 } },
    changed: { task: { approvalAboveNanoDollars: 9 } },
    look: codes,
    want: [['done'], ['approval-denied']],
  },
  raiseOncePercent: {
    play: () => play(counting(9), fresh()),
    base: { limits: { calls: 4 } },
    changed: { limits: { calls: 4 }, task: { raiseOncePercent: 50 } },
    look: (ended) => [reason(ended), done(ended), ended.view.nodes[0]?.limits.calls],
    want: [
      ['budget-calls', 4, 4],
      ['budget-calls', 6, 6],
    ],
  },
  governed: {
    play: () => play(counting(9), fresh()),
    base: { limits: { calls: 3 } },
    changed: { limits: { calls: 3 }, task: { governed: false } },
    look: (ended) => [reason(ended), done(ended)],
    want: [
      ['budget-calls', 3],
      ['done', 9],
    ],
  },
};

async function outcome(one: Case, change: Change): Promise<unknown> {
  const played = one.play();
  const ended = await runAgents({
    ...change,
    model: script(played.model),
    tools: played.tools ?? [],
    ports: { approve: async () => played.approve ?? true, raise: async () => true },
    ...(played.time === undefined ? {} : { time: played.time }),
  });
  return one.look(ended, played);
}

const rows = [
  ...Object.entries(limitCases).map(([name, one]) => [`limits.${name}`, one] as const),
  ...Object.entries(guardCases).flatMap(([name, all]) =>
    all.map((one, at) => [`guards.${name} ${at + 1}`, one] as const),
  ),
  ...Object.entries(ruleCases).map(([name, one]) => [`toolRules.${name}`, one] as const),
  ...Object.entries(taskCases),
];

describe('a setting and its effect', () => {
  test.each(rows)('%s', async (_name, one) => {
    expect(await outcome(one, one.base)).toEqual(one.want[0]);
    expect(await outcome(one, one.changed)).toEqual(one.want[1]);
  });

  /** What is not for the engine to keep: how the model is asked, what tools there are, and labels. */
  const elsewhere = [
    ...['kind', 'name', 'prompt', 'taskClass', 'payer', 'model', 'numCtx', 'numPredict', 'temperature', 'seed'],
    ...['tools', 'mcpServers'],
  ];

  test('no field is left out', () => {
    const nested = ['limits', 'guards', 'toolRules'];
    expect([...Object.keys(taskCases), ...nested, ...elsewhere].sort()).toEqual(
      Object.keys(agentTaskSchema.shape).sort(),
    );
    expect(Object.keys(limitCases).sort()).toEqual(Object.keys(nodeLimitsSchema.shape).sort());
    expect(Object.keys(guardCases).sort()).toEqual(Object.keys(guardSettingsSchema.shape).sort());
    expect(Object.keys(ruleCases).sort()).toEqual(Object.keys(toolRuleSchema.shape).sort());
  });

  test('every one of them flips something', () => {
    for (const [name, { want }] of rows) expect([name, want[0]]).not.toEqual([name, want[1]]);
  });
});
