/** Limits for a class of tasks, proposed from the runs that ended well. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AgentRun,
  type AgentTaskInput,
  agentRunSchema,
  agentTaskSchema,
} from '../../../shared/contract/agents.ts';
import { HEADROOM_PERCENT, RUNS_MIN, classBudgets, percentile99 } from '../../../shared/engine/agent/class-budgets.ts';

interface Figures {
  readonly calls?: number;
  readonly contextTokens?: number;
  readonly billedTokens?: number;
  readonly nanoDollars?: number;
  readonly ms?: number;
}

function run(figures: Figures = {}, change: Partial<AgentRun> = {}, task: Partial<AgentTaskInput> = {}): AgentRun {
  return agentRunSchema.parse({
    ...{ id: 'run', state: 'ended', reason: 'done', simulated: true, scripted: true },
    task: agentTaskSchema.parse({ prompt: 'Do it.', model: 'script:x', taskClass: 'lookup', ...task }),
    ...{ startedAt: '2026-11-30T00:00:00Z', endedAt: '2026-11-30T00:00:01Z', nowMs: figures.ms ?? 1 },
    totals: {
      ...{ toolCalls: figures.calls ?? 1, refused: 0, delegations: 0, agents: 1, modelTurns: 1 },
      ...{ billedInputTokens: figures.billedTokens ?? 1, contextTokens: figures.contextTokens ?? 1 },
      ...{ largestContextTokens: 1, toolNanoDollars: figures.nanoDollars ?? 0, outputBytes: 0, retries: 0 },
      ...{ peakFanOut: 1, callsPerKb: 1, tokensPerKb: 1, callsByTool: {} },
    },
    ...{ openLeases: 0, answer: null, problem: null },
    ...change,
  });
}

const many = (count: number, of: (at: number) => AgentRun): AgentRun[] =>
  Array.from({ length: count }, (_, at) => of(at));

describe('what is proposed', () => {
  test('p99 of the good runs and a quarter more, rounded up', () => {
    const runs = many(5, (at) => run({ calls: at + 1, contextTokens: 100 * (at + 1), nanoDollars: 3, ms: 1_001 }));
    expect(classBudgets(runs)).toEqual([
      {
        ...{ taskClass: 'lookup', runs: 5, runsDone: 5, enough: true, headroomPercent: 25 },
        proposed: { calls: 7, tokens: 625, nanoDollars: 4, wallClockMs: 1_252 },
      },
    ]);
  });

  test('nothing from fewer than five good ones, and they are counted', () => {
    const bad: Partial<AgentRun>[] = [
      { reason: 'budget-calls' },
      { state: 'failed', reason: 'model-failed' },
      { state: 'cancelled', reason: 'cancelled' },
      { state: 'interrupted', reason: 'interrupted' },
    ];
    expect(classBudgets([...many(4, () => run()), ...bad.map((change) => run({ calls: 1_000 }, change))])).toEqual([
      {
        ...{ taskClass: 'lookup', runs: 8, runsDone: 4, enough: false, headroomPercent: 25 },
        proposed: { calls: null, tokens: null, nanoDollars: null, wallClockMs: null },
      },
    ]);
  });

  test('what did not end well, what still runs, what had no limits and what has no class say nothing', () => {
    const others = [
      run({ calls: 1_000 }, { reason: 'state-hash' }),
      run({ calls: 1_000 }, { state: 'running', reason: null }),
      run({ calls: 1_000 }, {}, { governed: false }),
      run({ calls: 1_000 }, {}, { taskClass: '' }),
    ];
    expect(classBudgets([...many(5, () => run({ calls: 4 })), ...others])).toMatchObject([
      { runs: 6, runsDone: 5, proposed: { calls: 5 } },
    ]);
  });

  test('tokens are what the limit of the task means', () => {
    const limits = { tokensMean: 'billed' } as const;
    expect(classBudgets(many(5, () => run({ contextTokens: 10, billedTokens: 80 }, {}, { limits })))).toMatchObject([
      { proposed: { tokens: 100 } },
    ]);
  });

  test('where the meaning changed, the newest run says which: it comes first', () => {
    const billed = { tokensMean: 'billed' } as const;
    const old = many(5, () => run({ contextTokens: 10, billedTokens: 80 }, {}, { limits: billed }));
    const runs = [run({ contextTokens: 20, billedTokens: 160 }), ...old];
    expect(classBudgets(runs)).toMatchObject([{ proposed: { tokens: 25 } }]);
  });

  test('classes stand apart, by name', () => {
    const runs = ['b', 'a'].flatMap((taskClass) => many(5, () => run({}, {}, { taskClass })));
    expect(classBudgets(runs).map(({ taskClass, runs: count }) => [taskClass, count])).toEqual([
      ['a', 5],
      ['b', 5],
    ]);
  });
});

const amounts = fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 400, size: 'max' });

describe('for any runs', () => {
  test('the nearest rank: the smallest value that 99 of 100 are not above', () => {
    fc.assert(
      fc.property(amounts, (values) => {
        const rank = percentile99(values);
        const within = (limit: number): number => values.filter((value) => value <= limit).length;
        expect(values).toContain(rank);
        expect(within(rank) * 100).toBeGreaterThanOrEqual(values.length * 99);
        const below = Math.max(-1, ...values.filter((value) => value < rank));
        expect(within(below) * 100).toBeLessThan(values.length * 99);
      }),
    );
  });

  test('at least 99 of 100 good runs fit into what is proposed, in any order', () => {
    fc.assert(
      fc.property(amounts, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (values, order) => {
        const runs = values.map((calls) => run({ calls }));
        const [budget] = classBudgets(runs);
        const shuffled = runs.map((one) => ({ one, at: order.next().value as number })).sort((a, b) => a.at - b.at);
        expect(classBudgets(shuffled.map(({ one }) => one))).toEqual([budget]);
        if (values.length < RUNS_MIN) {
          expect(budget?.proposed.calls).toBeNull();
          return;
        }
        const proposed = budget?.proposed.calls ?? -1;
        expect(Number.isSafeInteger(proposed)).toBe(true);
        expect(proposed * 100).toBeGreaterThanOrEqual(percentile99(values) * (100 + HEADROOM_PERCENT));
        expect((proposed - 1) * 100).toBeLessThan(percentile99(values) * (100 + HEADROOM_PERCENT));
        expect(values.filter((value) => value <= proposed).length * 100).toBeGreaterThanOrEqual(values.length * 99);
      }),
    );
  });
});
