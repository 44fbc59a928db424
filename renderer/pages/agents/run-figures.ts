/** The figures over a run, in sentences. Pure. */
import type { AgentNode, AgentRun, AgentRunId, Bomb } from '../../../shared/contract/agents.ts';
import { count, counted } from '../../format/numbers.ts';
import { inSeconds, limitMoney, money, runWords } from './words.ts';

export interface RunFigures {
  /** `58 calls` */
  readonly big: string;
  /** `of 60. The same task without budgets: 1,976.` */
  readonly rest: string;
  /** With the tokens that the limit means. */
  readonly line: string;
  readonly other: string;
}

/** Calls as they were charged: every attempt is one. nodes: the first agent first; empty = nothing of the tree is here yet. */
export function figuresOf(run: AgentRun, nodes: readonly AgentNode[], withoutBudgets: number | null): RunFigures {
  const root = nodes[0] ?? null;
  const calls = root === null ? run.totals.toolCalls : nodes.reduce((sum, { used }) => sum + used.calls, 0);
  const limit = root?.limits.calls ?? null;
  const shown = withoutBudgets !== null && withoutBudgets > calls;
  const compare = shown ? ` The same task without budgets: ${count(withoutBudgets)}.` : '';
  return {
    big: counted(calls, 'call'),
    rest: `${limit === null ? (root === null ? '' : 'and no limit.') : `of ${count(limit)}.`}${compare}`.trim(),
    line: lineOf(run, root),
    other: otherTokens(run, root),
  };
}

function lineOf(run: AgentRun, root: AgentNode | null): string {
  const { totals } = run;
  const limits = root?.limits ?? null;
  const of = (limit: number | null | undefined, text: (value: number) => string): string =>
    limit === null || limit === undefined ? '' : ` of ${text(limit)}`;
  const spentMs = root === null ? run.nowMs : (root.endedMs ?? run.nowMs) - root.startedMs;
  const left =
    limits === null || limits.calls === null || root === null
      ? null
      : Math.max(0, limits.calls - root.used.calls - root.carved.calls - root.held.calls);
  const tokens = isBilled(root)
    ? `${count(totals.billedInputTokens)} billed tokens`
    : `${count(totals.contextTokens)} context tokens`;
  const source = isBilled(root) ? billedSource(run) : contextSource(run);
  return [
    `${tokens}${of(limits?.tokens, count)}${source}`,
    `${money(totals.toolNanoDollars)}${of(limits?.nanoDollars, limitMoney)}`,
    `${inSeconds(spentMs)}${of(limits?.wallClockMs, inSeconds)}`,
    ...(left === null ? [] : [`${counted(left, 'call')} ${run.state === 'running' ? 'free' : 'unspent'}`]),
    ...(totals.retries === 0 ? [] : [counted(totals.retries, 'retry', 'retries')]),
  ].join(' · ');
}

/** The figure that the limit does not mean. */
function otherTokens(run: AgentRun, root: AgentNode | null): string {
  const { totals } = run;
  return isBilled(root)
    ? `${count(totals.contextTokens)} context tokens${contextSource(run)}`
    : `${count(totals.billedInputTokens)} billed tokens${billedSource(run)}`;
}

/** A script counts by its own rule; what comes into the context of a server's model is estimated here. */
export const contextSource = ({ scripted }: Pick<AgentRun, 'scripted'>): string => (scripted ? '' : ', estimated');

/** A server counts its prompts; those of turns that it did not count are estimated. */
export function billedSource({ scripted, totals }: Pick<AgentRun, 'scripted' | 'totals'>): string {
  const uncounted = totals.turnsUncounted ?? 0;
  if (scripted || uncounted === 0) return '';
  return uncounted >= totals.modelTurns ? ', estimated' : ', partly estimated';
}

const isBilled = (root: AgentNode | null): boolean => root?.limits.tokensMean === 'billed';

/** Calls of the same task without budgets, where a lab or another run has shown it; null = nobody has tried. */
export function withoutBudgetsOf(run: AgentRun, runs: Iterable<AgentRun>, bombs: Iterable<Bomb>): number | null {
  if (!run.task.governed) return null;
  for (const bomb of bombs)
    if (bomb.with.runId === run.id && bomb.state === 'done')
      return runCalls(bomb.without.runId, runs) ?? bomb.without.count;
  let found: number | null = null;
  for (const other of runs) {
    const same =
      !other.task.governed &&
      other.state === 'ended' &&
      other.task.prompt === run.task.prompt &&
      other.task.model === run.task.model &&
      other.task.seed === run.task.seed;
    if (same) found = other.totals.toolCalls;
  }
  return found;
}

function runCalls(id: AgentRunId, runs: Iterable<AgentRun>): number | null {
  for (const run of runs) if (run.id === id) return run.totals.toolCalls;
  return null;
}

/** `60 calls at most`: what starting this task can cost. */
export function boundText(calls: number | null | undefined, governed: boolean): string {
  if (!governed) return 'without budgets';
  return calls === null || calls === undefined ? 'no limit on calls' : `${count(calls)} calls at most`;
}

/** The whole run in one sentence, for presenter mode and screen readers. */
export function sentenceOf(run: AgentRun, nodes: readonly AgentNode[], withoutBudgets: number | null): string {
  const { big, rest } = figuresOf(run, nodes, withoutBudgets);
  const ended = run.state === 'running' ? 'It is running' : `It ended: ${runWords(run).text}`;
  return `${big} ${rest} ${ended}.`.replace(/\s+/gu, ' ');
}
