/** Budgets for a class of tasks from the runs that were seen: p99 of those that ended well, and headroom. Proposed, never imposed. */
import type { AgentRun, ClassBudget } from '../../contract/agents.ts';

export const HEADROOM_PERCENT = 25;
/** Fewer good runs than this say too little. */
export const RUNS_MIN = 5;

/** runs: the newest first. */
export function classBudgets(runs: readonly AgentRun[]): ClassBudget[] {
  const classes = new Map<string, AgentRun[]>();
  for (const run of runs) {
    if (run.task.taskClass === '' || run.state === 'running' || !run.task.governed) continue;
    classes.set(run.task.taskClass, [...(classes.get(run.task.taskClass) ?? []), run]);
  }
  return [...classes]
    .map(([taskClass, all]) => budgetOf(taskClass, all))
    .sort((a, b) => a.taskClass.localeCompare(b.taskClass, 'en'));
}

function budgetOf(taskClass: string, all: readonly AgentRun[]): ClassBudget {
  const good = all.filter(({ state, reason }) => state === 'ended' && reason === 'done');
  const enough = good.length >= RUNS_MIN;
  // What the limit of the newest run means is what is proposed.
  const isBilled = all[0]?.task.limits.tokensMean === 'billed';
  const propose = (pick: (run: AgentRun) => number): number | null =>
    enough ? Math.ceil((percentile99(good.map(pick)) * (100 + HEADROOM_PERCENT)) / 100) : null;
  return {
    taskClass,
    runs: all.length,
    runsDone: good.length,
    enough,
    headroomPercent: HEADROOM_PERCENT,
    proposed: {
      calls: propose((run) => run.totals.toolCalls),
      tokens: propose(({ totals }) => (isBilled ? totals.billedInputTokens : totals.contextTokens)),
      nanoDollars: propose((run) => run.totals.toolNanoDollars),
      wallClockMs: propose((run) => run.nowMs),
    },
  };
}

/** Nearest rank: the smallest value that at least 99 of 100 are not above. */
export function percentile99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0;
}
