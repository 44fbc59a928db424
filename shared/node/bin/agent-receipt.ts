/** What an agent run came to, in words: for a person who reads it once, at the end. */
import type { AgentNode, AgentRunView } from '../../contract/agents.ts';
import { exactDollars, nanoDollars } from '../../contract/costs.ts';
import { plainText } from './plain-text.ts';

/** Lines of `what  how much`, closed by a line end. Texts of models and tools are shown without control characters. */
export function receiptText(view: AgentRunView): string {
  const { run, nodes, trips, leases } = view;
  const { totals, task } = run;
  const root = nodes.find(({ parentId }) => parentId === null);
  const deepest = nodes.reduce((most, { depth }) => Math.max(most, depth), 0);
  const lines: [string, string][] = [
    [
      'run',
      [run.id, run.simulated ? 'simulated' : null, task.governed ? null : 'without budgets and guards']
        .filter(Boolean)
        .join(', '),
    ],
    ['end', endText(view)],
    ['tool calls', [grouped(totals.toolCalls), perTool(totals.callsByTool)].filter(Boolean).join(': ')],
    ['refused', `${grouped(totals.refused)} calls not run`],
    [
      'agents',
      `${grouped(totals.agents)}, ${counted(totals.delegations, 'delegation')}, ${counted(deepest, 'level')} deep`,
    ],
    ['peak fan-out', `${grouped(totals.peakFanOut)} calls in one step`],
    ['output', `${grouped(totals.outputBytes)} bytes from tools`],
    ['context tokens', `${tokensText(totals.contextTokens, root, 'context')}${run.scripted ? '' : ', estimated'}`],
    ['billed tokens', `${tokensText(totals.billedInputTokens, root, 'billed')}${uncountedText(run)}`],
    ['largest context', `${grouped(totals.largestContextTokens)} tokens, ${counted(totals.modelTurns, 'model turn')}`],
    ['cost of tools', costText(totals.toolNanoDollars, root)],
    ['retries', grouped(totals.retries)],
    ['amplification', amplificationText(view)],
    ['time', `${seconds(run.nowMs)}${run.scripted ? ' of the script' : ''}`],
    ['open leases', openText(view)],
  ];
  // Of the first agent: what stopped one of its own did not stop the run.
  const stop = trips.find(({ stage, nodeId }) => stage === 'stop' && nodeId === root?.id);
  if (stop !== undefined)
    lines.push(['stopped by', `${stop.guard}: ${plainText(stop.text)} (${stop.count} of ${stop.limit})`]);
  for (const { what, tool } of leases.filter(({ state }) => state !== 'released'))
    lines.push(['  still there', `${plainText(what)} (${plainText(tool, 100)})`]);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join('');
}

/** The answer as it may stand on a terminal: its own lines, none of its control characters. */
export function answerText({ run }: AgentRunView): string {
  if (run.answer === null || run.answer.trim() === '') return '';
  const lines = run.answer
    .trim()
    .split(/\r\n|\r|\n/)
    .slice(0, ANSWER_LINES_MAX);
  return `${lines.map((line) => plainText(line, ANSWER_LINE_MAX)).join('\n')}\n\n`;
}

const ANSWER_LINES_MAX = 500;
const ANSWER_LINE_MAX = 4_000;
const TOOLS_SHOWN_MAX = 20;

function endText({ run, nodes }: AgentRunView): string {
  const exhaustion = nodes.find(({ parentId }) => parentId === null)?.exhaustion ?? null;
  const words = run.problem ?? exhaustion?.evidence ?? null;
  return [run.reason ?? run.state, words === null ? null : plainText(words, 1_000)].filter(Boolean).join(': ');
}

function perTool(callsByTool: Readonly<Record<string, number>>): string {
  const tools = Object.entries(callsByTool).sort(([a, x], [b, y]) => y - x || a.localeCompare(b, 'en'));
  const shown = tools.slice(0, TOOLS_SHOWN_MAX).map(([name, calls]) => `${plainText(name, 100)} ${grouped(calls)}`);
  return [...shown, tools.length > shown.length ? `${tools.length - shown.length} more` : null]
    .filter(Boolean)
    .join(', ');
}

/** The limit stands beside the figure that it means. */
function tokensText(tokens: number, root: AgentNode | undefined, mean: 'context' | 'billed'): string {
  if (root === undefined || root.limits.tokensMean !== mean) return grouped(tokens);
  return `${grouped(tokens)} of ${root.limits.tokens === null ? 'no limit' : grouped(root.limits.tokens)} (what the limit means)`;
}

/** Prompts that the server did not count are billed as estimated. */
function uncountedText({ scripted, totals }: AgentRunView['run']): string {
  const uncounted = totals.turnsUncounted ?? 0;
  return scripted || uncounted === 0 ? '' : `, ${grouped(uncounted)} of ${grouped(totals.modelTurns)} turns estimated`;
}

function costText(nano: number, root: AgentNode | undefined): string {
  const limit = root?.limits.nanoDollars ?? null;
  return `${dollars(nano)}${limit === null ? '' : ` of ${dollars(limit)}`}`;
}

function amplificationText({ run: { totals } }: AgentRunView): string {
  const { callsPerKb, tokensPerKb } = totals;
  if (callsPerKb === null || tokensPerKb === null) return '-';
  return `${grouped(Math.round(callsPerKb))} calls and ${grouped(Math.round(tokensPerKb))} tokens per KB of input`;
}

function openText({ run }: AgentRunView): string {
  return run.openLeases === 0 ? '0' : `${grouped(run.openLeases)}: what they stand for goes on`;
}

const dollars = (nano: number): string => exactDollars(nanoDollars(nano));
const grouped = (value: number): string => value.toLocaleString('en-US');
const counted = (value: number, what: string): string => `${grouped(value)} ${what}${value === 1 ? '' : 's'}`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
