/** Agent runs in words: why one ended, what a call was, what a guard saw. Names and arguments come from models: text nodes only. */
import type {
  AgentNode,
  AgentRun,
  EndReason,
  Exhaustion,
  GatewayCall,
  GatewayCode,
  GuardName,
  GuardTrip,
} from '../../../shared/contract/agents.ts';
import { shortDollars } from '../../../shared/contract/costs.ts';
import type { NanoDollars } from '../../../shared/contract/costs.ts';
import type { Meaning, Severity } from '../../components/badge.tsx';
import { count, counted, short } from '../../format/numbers.ts';
import { withSigns } from '../../format/signs.ts';

export interface ReasonWords {
  readonly text: string;
  readonly meaning: Meaning;
  readonly severity: Severity;
}

const reasonTable: Record<EndReason, ReasonWords> = {
  done: { text: 'done', meaning: 'plain', severity: 'informed' },
  'budget-calls': { text: 'calls used up', meaning: 'budget', severity: 'stopped' },
  'budget-tokens': { text: 'tokens used up', meaning: 'budget', severity: 'stopped' },
  'budget-money': { text: 'money used up', meaning: 'budget', severity: 'stopped' },
  'budget-time': { text: 'time used up', meaning: 'budget', severity: 'stopped' },
  rounds: { text: 'rounds used up', meaning: 'budget', severity: 'stopped' },
  'no-progress': { text: 'no new text', meaning: 'loops', severity: 'stopped' },
  'state-hash': { text: 'same state again', meaning: 'loops', severity: 'stopped' },
  'identical-calls': { text: 'same call again', meaning: 'loops', severity: 'stopped' },
  cycle: { text: 'going in a circle', meaning: 'loops', severity: 'stopped' },
  'broken-arguments': { text: 'arguments do not fit', meaning: 'loops', severity: 'stopped' },
  cancelled: { text: 'stopped', meaning: 'plain', severity: 'stopped' },
  'model-failed': { text: 'the model failed', meaning: 'plain', severity: 'stopped' },
  interrupted: { text: 'cut off', meaning: 'plain', severity: 'happened' },
};

export const reasonWords = (reason: EndReason): ReasonWords => reasonTable[reason];

/** Why a node is where it is: its end, or what it does now. */
export function nodeWords({ state, reason }: Pick<AgentNode, 'state' | 'reason'>): ReasonWords {
  if (state === 'ended') return reasonTable[reason ?? 'done'];
  return { text: state === 'waiting' ? 'waits for its agent' : 'running', meaning: 'plain', severity: 'informed' };
}

/** One line for lists of runs. */
export function runWords({ state, reason, problem }: Pick<AgentRun, 'state' | 'reason' | 'problem'>): ReasonWords {
  switch (state) {
    case 'running':
      return { text: 'running', meaning: 'plain', severity: 'informed' };
    case 'interrupted':
      return reasonTable.interrupted;
    case 'cancelled':
      return reasonTable.cancelled;
    case 'failed':
      return reason === null || reason === 'done' || problem !== null
        ? { ...reasonTable['model-failed'], text: reason === 'model-failed' ? 'the model failed' : 'failed' }
        : reasonTable[reason];
    case 'ended':
      return reasonTable[reason ?? 'done'];
  }
}

export const guardWords: Record<GuardName, string> = {
  'state-hash': 'same call, same result',
  'identical-calls': 'same call',
  cycle: 'circle of calls',
  'no-progress': 'no new text',
  'broken-arguments': 'arguments that do not fit',
};

/** What stands at the line of a trip, such as `guard: three steps without new text`. */
export function tripLabel({ guard, count: times, tool, stage }: GuardTrip): string {
  const name = clip(tool ?? 'a tool', 24);
  const what: Record<GuardName, string> = {
    'no-progress': `${inWords(times)} steps without new text`,
    'state-hash': `${name}: the same result ${inWords(times)} times`,
    'identical-calls': `${name}: the same call ${inWords(times)} times`,
    cycle: `a circle, ${inWords(times)} times around`,
    'broken-arguments': `${name}: ${inWords(times)} times arguments that do not fit`,
  };
  return `${stage === 'stop' ? 'guard' : `guard, ${stage}`}: ${what[guard]}`;
}

const smallNumbers = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const inWords = (value: number): string => smallNumbers[value] ?? count(value);

/** Why a call was not made, without a figure where there is none. */
export const codeWords: Record<GatewayCode, string> = {
  'fan-out': 'over the calls of one step',
  'unknown-tool': 'no tool of that name',
  'broken-arguments': 'arguments do not fit',
  'identical-call': 'same call again',
  cycle: 'part of a circle',
  'tool-limit': 'limit of this tool',
  'breaker-open': 'upstream is resting',
  budget: 'budget used up',
  'approval-denied': 'not allowed by a person',
  cancelled: 'the run was stopped',
  'not-run': 'the run ends here',
  depth: 'too deep',
  'spawn-rate': 'too many agents in a minute',
  'nothing-to-carve': 'nothing left to carve',
  'tool-failed': 'the tool failed',
  timeout: 'took too long',
  'unknown-handle': 'no output of that handle',
};

export const isRefused = ({ outcome }: Pick<GatewayCall, 'outcome'>): boolean =>
  outcome === 'refused' || outcome === 'not-run';

/** `7 s`, `93 s`, `1,200 s`: one unit, so that times of a run can be compared. */
export const inSeconds = (valueMs: number): string =>
  valueMs > 0 && valueMs < 10_000 && valueMs % 1_000 !== 0
    ? `${(valueMs / 1_000).toFixed(1)} s`
    : `${count(Math.round(valueMs / 1_000))} s`;

/** Three digits behind the point, so that figures do not jump; the whole amount stands on hover. */
export function money(amount: number): string {
  if (amount > 0 && amount < 1_000_000) return '<$0.001';
  const dollars = amount / 1_000_000_000;
  return dollars >= 10_000
    ? `$${short(Math.round(dollars))}`
    : `$${dollars.toFixed(dollars >= 100 ? 0 : dollars >= 10 ? 2 : 3)}`;
}

/** Limits are mostly whole cents: `$2.00`. */
export const limitMoney = (amount: number): string =>
  amount % 10_000_000 === 0 && amount < 10_000_000_000_000
    ? `$${(amount / 1_000_000_000).toFixed(2)}`
    : wholeMoney(amount);

export const wholeMoney = (amount: number): string => shortDollars(amount as NanoDollars);

/** `the budget of 60 calls`: what was used, held and asked for, as figures. */
export function exhaustionText({ dimension, needed, used, held, limit, retryAfterSeconds }: Exhaustion): string {
  const of = (value: number): string =>
    dimension === 'nano-dollars' ? wholeMoney(value) : dimension === 'wall-clock' ? inSeconds(value) : count(value);
  const holding = held > 0 ? `, ${of(held)} held` : '';
  const retry = retryAfterSeconds === null ? '' : ` It may be tried again in ${count(retryAfterSeconds)} s.`;
  return `${dimensionWords[dimension]}: ${of(used)} used${holding} of ${of(limit)}; ${of(needed)} more asked for.${retry}`;
}

export const dimensionWords = {
  calls: 'calls',
  tokens: 'tokens',
  'nano-dollars': 'money',
  'wall-clock': 'time',
  depth: 'depth',
  'fan-out': 'calls in one step',
  descendants: 'agents',
  'output-bytes': 'bytes of one output',
} as const;

/** A call as a person would say it: the tool, and what its arguments differ in. */
export function callName({ tool, argumentsHead }: Pick<GatewayCall, 'tool' | 'argumentsHead'>): string {
  const said = argumentWords(tool, argumentsHead);
  return said === '' ? clip(tool, 60) : `${clip(tool, 60)} ${said}`;
}

function argumentWords(tool: string, argumentsHead: string): string {
  const args = objectOf(argumentsHead);
  if (args === null) return clip(argumentsHead.replace(/\s+/gu, ' '), ARGUMENTS_SHOWN);
  if (tool === 'delegate') return 'calls' in args ? String(args['calls']).slice(0, 12) : '';
  const values = Object.values(args)
    .filter((value) => value !== null && value !== '')
    .map((value) => (typeof value === 'string' ? shortAddress(value) : JSON.stringify(value)));
  return clip(values.join(' ').replace(/\s+/gu, ' '), ARGUMENTS_SHOWN);
}

const ARGUMENTS_SHOWN = 60;

/** The end of an address says which page it is. */
function shortAddress(text: string): string {
  const parts = /^https?:\/\/[^/]+\/(.+)$/u.exec(text)?.[1];
  return parts === undefined ? text : parts.replace(/\?(?:page|p|offset|cursor)=/u, ' ');
}

/** Calls that a refused delegation had asked for; null = not said. */
export function callsAsked({ argumentsHead }: Pick<GatewayCall, 'argumentsHead'>): number | null {
  const calls = objectOf(argumentsHead)?.['calls'];
  return typeof calls === 'number' ? calls : null;
}

function objectOf(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** On whole characters, with a sign that more was there; what is not seen, or would turn the text around, is written out. */
export function clip(text: string, charactersMax: number): string {
  return withSigns(clipped(text, charactersMax));
}

function clipped(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text.toWellFormed();
  // A character takes at most two units: this many hold all that can be shown, and one more.
  const start = text.slice(0, charactersMax * 2 + 2).toWellFormed();
  const characters = [...start];
  return characters.length <= charactersMax && start.length === text.length
    ? start
    : `${characters.slice(0, charactersMax - 1).join('')}…`;
}

/** Names of agents begin alike: where room is short, their end tells them apart. */
export function tail(name: string, charactersMax: number): string {
  if (name.length <= charactersMax) return name;
  const characters = [...name.slice(-charactersMax * 2)];
  return `…${characters.slice(1 - charactersMax).join('')}`;
}

const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];
export const ordinal = (value: number): string => ordinals[value] ?? `${count(value)}th`;

export const agentsText = (agents: number): string => counted(agents, 'agent');
