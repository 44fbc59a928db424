/** What the parts of a task mean, in a few words beside them, and what it may take at most. */
import type { AgentTask, ClassBudget, McpServer, ToolSet } from '../../../shared/contract/agents.ts';
import { exactDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import { count, counted } from '../../format/numbers.ts';
import type { GuardKey, LimitKey, TaskText } from './task-text.ts';
import { limitOf, limitText } from './task-text.ts';

export const toolSetWords: Readonly<Record<ToolSet, { readonly text: string; readonly note: string }>> = {
  carrier: { text: 'carrier', note: 'looks up a parcel; its answer is always: ask again' },
  clock: { text: 'clock', note: 'tells the time, so no answer is like the one before' },
  'link-farm': { text: 'link farm', note: 'search and fetch over a site of 148 near-duplicate pages' },
  files: { text: 'files', note: 'lists and reads a made-up file tree' },
  'big-page': { text: 'big page', note: 'fetches pages of up to many megabytes' },
  flaky: { text: 'flaky', note: 'fails often, as a server under load does' },
  jobs: { text: 'jobs', note: 'starts jobs that go on after the call: a side effect' },
};

export const limitHelp: Readonly<Record<LimitKey, string>> = {
  calls: 'Tool calls of all agents together.',
  tokens: 'Of all agents together; whether context or billed input is counted is chosen beside it.',
  nanoDollars: 'Of tools and model calls. The worst case is held before each call.',
  wallClockMs: 'Awake time: a machine that sleeps does not use it up.',
  depth: 'Levels of agents below the first one. 0: no agents below it.',
  fanOut: 'Tool calls of one step. What is above it is answered: not run.',
  descendants: 'Agents that may ever be started below the first one, ended ones included.',
  outputBytes: 'Of one tool output in the context, marker included. The rest stays behind a handle.',
};

/** `60 calls`, `$2.00`, `300 s`, `unlimited`, `no calls at all`; empty for what is no number. */
export function limitWord(key: LimitKey, typed: string): string {
  const value = limitOf(key, typed);
  if (value !== null && Number.isNaN(value)) return '';
  if (value === null) return key === 'outputBytes' ? 'whole outputs' : 'unlimited';
  if (value === 0) return noneWords[key];
  return amountWord(key, value);
}

const noneWords: Readonly<Record<LimitKey, string>> = {
  calls: 'no call is allowed',
  tokens: 'nothing is allowed',
  nanoDollars: 'free tools only',
  wallClockMs: 'no time at all',
  depth: 'no agents below',
  fanOut: 'must be at least 1',
  descendants: 'no agents below',
  outputBytes: 'no output is shown',
};

function amountWord(key: LimitKey, value: number): string {
  switch (key) {
    case 'calls':
      return counted(value, 'call');
    case 'tokens':
      return counted(value, 'token');
    case 'nanoDollars':
      return moneyWord(value);
    case 'wallClockMs':
      return `${limitText('wallClockMs', value)} s`;
    case 'depth':
      return counted(value, 'level');
    case 'fanOut':
      return `${counted(value, 'call')} a step`;
    case 'descendants':
      return counted(value, 'agent');
    case 'outputBytes':
      return counted(value, 'byte');
  }
}

/** Exact, with two decimals at least: `$2.00`, `$0.0125`. */
export function moneyWord(value: number): string {
  const exact = exactDollars(nanoDollars(value));
  const [, fraction = ''] = exact.split('.');
  return fraction.length >= 2 ? exact : `${exact.split('.')[0] ?? exact}.${fraction.padEnd(2, '0')}`;
}

/** `At most 60 calls, 400,000 context tokens, $2.00, 300 s.` */
export function costWords({ limits, governed, rounds }: AgentTask, model: string): string {
  if (!governed)
    return `No limits: everything is let through and only counted, up to ${counted(rounds, 'round')} of an agent.`;
  const known = {
    calls: limits.calls,
    tokens: limits.tokens,
    nanoDollars: limits.nanoDollars,
    wallClockMs: limits.wallClockMs,
  };
  const limited = (Object.entries(known) as [LimitKey, number | null | undefined][]).filter(
    (entry): entry is [LimitKey, number] => typeof entry[1] === 'number',
  );
  const open = (Object.keys(known) as LimitKey[]).filter((key) => typeof known[key as keyof typeof known] !== 'number');
  const kind = limits.tokensMean === 'billed' ? 'billed' : 'context';
  const words = limited.map(([key, value]) =>
    key === 'tokens' ? `${count(value)} ${kind} tokens` : amountWord(key, value),
  );
  const without =
    open.length === 0
      ? ''
      : `${words.length > 0 ? ', and ' : ''}no limit on ${list(open.map((key) => openWords[key] ?? key))}`;
  const of = model.startsWith('script:') ? ' Scripted model: no tokens of a real one.' : '';
  return `${words.length > 0 ? `At most ${words.join(', ')}` : ''}${words.length > 0 ? without : capital(without)}.${of}`;
}

const openWords: Readonly<Partial<Record<LimitKey, string>>> = {
  calls: 'calls',
  tokens: 'tokens',
  nanoDollars: 'money',
  wallClockMs: 'time',
};

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;

/** `p99 of 14 good runs + 25 %: 22 calls, 80,000 tokens`; for too few runs, that nothing is proposed. */
export function budgetWords({ runsDone, headroomPercent, proposed, enough }: ClassBudget): string {
  if (!enough) return `${counted(runsDone, 'good run')} so far: too few to propose limits.`;
  const parts = (Object.entries(proposed) as [LimitKey, number | null][]).flatMap(([key, value]) =>
    value === null ? [] : [amountWord(key, value)],
  );
  return `p99 of ${counted(runsDone, 'good run')} + ${headroomPercent} %: ${parts.join(', ')}`;
}

/** The proposal in the boxes; what it says nothing of stays. */
export function withBudget(text: TaskText, { proposed }: ClassBudget): TaskText {
  const limits = { ...text.limits };
  for (const key of ['calls', 'tokens', 'nanoDollars', 'wallClockMs'] as const) {
    const value = proposed[key];
    if (value !== null) limits[key] = limitText(key, value);
  }
  return { ...text, limits };
}

export const guardWords: Readonly<Record<GuardKey, { readonly title: string; readonly help: string }>> = {
  stateHash: { title: 'Same state', help: 'Same tool, arguments and result. More often than this ends the run.' },
  identicalCalls: {
    title: 'Identical calls',
    help: 'Same tool and arguments. The next one is refused before it runs.',
  },
  cycles: { title: 'Cycles', help: 'A sequence of states that comes again and again, such as A B A B A B.' },
  noProgress: { title: 'No progress', help: 'Steps in a row that bring hardly any new five-word phrases.' },
  brokenArguments: {
    title: 'Broken arguments',
    help: 'Arguments of one tool that cannot be read or do not fit, in a row.',
  },
};

export const guardNumberWords: Readonly<Record<string, string>> = {
  'stateHash.maxRepeats': 'repeats allowed',
  'identicalCalls.limit': 'allowed',
  'identicalCalls.pollingLimit': 'for tools that poll',
  'cycles.periodMax': 'longest period',
  'cycles.repeats': 'times in a row',
  'noProgress.steps': 'steps',
  'noProgress.shinglesMin': 'new phrases asked for',
  'noProgress.sharePercentMin': 'or % of what came back',
  'brokenArguments.limit': 'in a row',
};

export function serverWords(server: McpServer): string {
  if ('url' in server) return server.url;
  return [server.command, ...server.args].join(' ');
}
