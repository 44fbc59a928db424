/**
 * A task as it is typed, and back. Boxes hold text, so that nothing typed is lost; what is wrong stands beside its box. Problems
 * are keyed by the path of the field in the contract, such as `limits.calls`. Empty = unlimited or off, 0 = nothing.
 */
import { DEFAULT_GUARDS, DEFAULT_LIMITS, agentTaskSchema } from '../../../shared/contract/agents.ts';
import type {
  AgentTask,
  AgentTaskInput,
  GuardSettings,
  McpServer,
  NodeLimits,
  ToolSet,
} from '../../../shared/contract/agents.ts';
import { decimalDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import { readDollars } from '../ledger/plans-money.ts';
import { parseWhole } from '../live/build-request.ts';
import { problemText } from './task-problems.ts';

export const limitKeys = [
  'calls',
  'tokens',
  'nanoDollars',
  'wallClockMs',
  'depth',
  'fanOut',
  'descendants',
  'outputBytes',
] as const;
export type LimitKey = (typeof limitKeys)[number];

export const guardKeys = ['stateHash', 'identicalCalls', 'cycles', 'noProgress', 'brokenArguments'] as const;
export type GuardKey = (typeof guardKeys)[number];

/** Boxes that hold one number each, beside limits and guards. Dollars for the threshold. */
export const numberKeys = [
  'numCtx',
  'numPredict',
  'temperature',
  'seed',
  'rounds',
  'keepCalls',
  'spawnsPerMinute',
  'approvalAboveNanoDollars',
  'raiseOncePercent',
] as const;
export type NumberKey = (typeof numberKeys)[number];

export interface TaskText {
  readonly name: string;
  readonly prompt: string;
  readonly model: string;
  readonly taskClass: string;
  readonly tools: readonly ToolSet[];
  readonly numbers: Readonly<Record<NumberKey, string>>;
  /** Dollars for money, seconds for time. */
  readonly limits: Readonly<Record<LimitKey, string>>;
  readonly tokensMean: NodeLimits['tokensMean'];
  readonly guardsOn: Readonly<Record<GuardKey, boolean>>;
  /** By path in the guards, such as `noProgress.steps`. They stay while a guard is off. */
  readonly guardNumbers: Readonly<Record<string, string>>;
  readonly noProgressScope: 'agent' | 'tree';
  readonly ladder: GuardSettings['ladder'];
  /** Names, separated by commas or lines. */
  readonly exempt: string;
  /** One tool a line: `list_orders: cursor, timeout`. */
  readonly ignoredFields: string;
  readonly carveRule: AgentTask['carveRule'];
  readonly closingCall: boolean;
  readonly governed: boolean;
  readonly cacheFetches: boolean;
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Parts that have no box; they are kept as they came. */
  readonly kept: Pick<AgentTask, 'toolRules' | 'payer'>;
}

export type TaskProblems = Readonly<Record<string, string>>;

export const guardNumberKeys: Readonly<Record<GuardKey, readonly string[]>> = {
  stateHash: ['maxRepeats'],
  identicalCalls: ['limit', 'pollingLimit'],
  cycles: ['periodMax', 'repeats'],
  noProgress: ['steps', 'shinglesMin', 'sharePercentMin'],
  brokenArguments: ['limit'],
};

export function textOfTask(input: AgentTaskInput): TaskText {
  // A prompt or model that is still missing is no reason to have no form.
  const task = agentTaskSchema.parse({ ...input, prompt: input.prompt || ' ', model: input.model || '-' });
  const limits: NodeLimits = { ...DEFAULT_LIMITS, ...defined(task.limits) };
  const guards: GuardSettings = { ...DEFAULT_GUARDS, ...defined(task.guards) };
  const text = (value: number | null): string => (value === null ? '' : String(value));
  return {
    name: task.name,
    prompt: input.prompt,
    model: input.model,
    taskClass: task.taskClass,
    tools: task.tools,
    numbers: {
      numCtx: text(task.numCtx),
      numPredict: text(task.numPredict),
      temperature: text(task.temperature),
      seed: text(task.seed),
      rounds: text(task.rounds),
      keepCalls: text(task.keepCalls),
      spawnsPerMinute: text(task.spawnsPerMinute),
      approvalAboveNanoDollars: dollarsText(task.approvalAboveNanoDollars),
      raiseOncePercent: text(task.raiseOncePercent),
    },
    limits: Object.fromEntries(limitKeys.map((key) => [key, limitText(key, limits[key])])) as TaskText['limits'],
    tokensMean: limits.tokensMean,
    guardsOn: Object.fromEntries(guardKeys.map((key) => [key, guards[key] !== null])) as TaskText['guardsOn'],
    guardNumbers: guardTexts(guards),
    noProgressScope: (guards.noProgress ?? DEFAULT_GUARDS.noProgress)?.scope ?? 'agent',
    ladder: guards.ladder,
    exempt: guards.exempt.join(', '),
    ignoredFields: Object.entries(guards.ignoredFields)
      .map(([tool, fields]) => `${tool}: ${fields.join(', ')}`)
      .join('\n'),
    carveRule: task.carveRule,
    closingCall: task.closingCall,
    governed: task.governed,
    cacheFetches: task.cacheFetches,
    servers: task.mcpServers,
    kept: { toolRules: task.toolRules, ...(task.payer === undefined ? {} : { payer: task.payer }) },
  };
}

export const emptyTask: TaskText = textOfTask({ prompt: '', model: '' });

export function readTask(text: TaskText): { readonly task: AgentTask } | { readonly problems: TaskProblems } {
  const { numbers } = text;
  const ignored = ignoredOf(text.ignoredFields);
  const candidate = {
    kind: 'agent',
    name: text.name,
    prompt: text.prompt,
    model: text.model,
    taskClass: text.taskClass.trim(),
    tools: text.tools,
    mcpServers: text.servers,
    ...text.kept,
    numCtx: whole(numbers.numCtx),
    numPredict: whole(numbers.numPredict),
    temperature: decimal(numbers.temperature),
    seed: whole(numbers.seed),
    rounds: whole(numbers.rounds),
    keepCalls: whole(numbers.keepCalls),
    spawnsPerMinute: whole(numbers.spawnsPerMinute),
    approvalAboveNanoDollars: readDollars(numbers.approvalAboveNanoDollars),
    raiseOncePercent: whole(numbers.raiseOncePercent),
    limits: {
      ...Object.fromEntries(limitKeys.map((key) => [key, limitOf(key, text.limits[key])])),
      tokensMean: text.tokensMean,
    },
    guards: {
      ...Object.fromEntries(guardKeys.map((key) => [key, guardOf(key, text)])),
      ladder: text.ladder,
      exempt: namesOf(text.exempt),
      ignoredFields: ignored ?? {},
    },
    carveRule: text.carveRule,
    closingCall: text.closingCall,
    governed: text.governed,
    cacheFetches: text.cacheFetches,
  };
  const read = agentTaskSchema.safeParse(candidate);
  const problems: Record<string, string> = {};
  for (const issue of read.error?.issues ?? []) {
    const field = fieldOf(issue.path);
    problems[field] ??= problemText(field, issue);
  }
  if (text.prompt.trim() === '') problems['prompt'] = 'Write what the agent should do.';
  if (ignored === null)
    problems['guards.ignoredFields'] = 'Ignored fields must be a tool, a colon and its fields on each line.';
  return read.success && Object.keys(problems).length === 0 ? { task: read.data } : { problems };
}

/** What a box of a limit says: null = unlimited, NaN = no number. */
export function limitOf(key: LimitKey, typed: string): number | null {
  if (key === 'nanoDollars') return readDollars(typed);
  return key === 'wallClockMs' ? msOfSeconds(typed) : whole(typed);
}

export function limitText(key: LimitKey, value: number | null): string {
  if (value === null) return '';
  if (key === 'nanoDollars') return dollarsText(value);
  return key === 'wallClockMs' ? secondsText(value) : String(value);
}

function guardTexts(guards: GuardSettings): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const key of guardKeys) {
    // A guard that is off keeps the usual numbers ready.
    const settings = (guards[key] ?? DEFAULT_GUARDS[key]) as Record<string, unknown> | null;
    for (const name of guardNumberKeys[key]) {
      const value = settings?.[name];
      texts[`${key}.${name}`] = typeof value === 'number' ? String(value) : '';
    }
  }
  return texts;
}

function guardOf(key: GuardKey, { guardsOn, guardNumbers, noProgressScope }: TaskText): unknown {
  if (!guardsOn[key]) return null;
  const numbers = guardNumberKeys[key].map((name) => [name, whole(guardNumbers[`${key}.${name}`] ?? '')]);
  return { ...Object.fromEntries(numbers), ...(key === 'noProgress' ? { scope: noProgressScope } : {}) };
}

/** null = a line that is none. */
function ignoredOf(typed: string): Record<string, string[]> | null {
  const fields = new Map<string, string[]>();
  for (const line of typed.split('\n')) {
    if (line.trim() === '') continue;
    const at = line.lastIndexOf(':');
    const tool = line.slice(0, Math.max(0, at)).trim();
    const names = namesOf(line.slice(at + 1));
    if (at < 0 || tool === '' || names.length === 0) return null;
    fields.set(tool, [...new Set([...(fields.get(tool) ?? []), ...names])]);
  }
  return Object.fromEntries(fields);
}

function namesOf(typed: string): string[] {
  const names = typed.split(/[,\n]/u).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** A wrong entry of a list or of a server is said at the list. */
function fieldOf(path: readonly PropertyKey[]): string {
  const [first, second, third] = path.map(String);
  if (first === 'limits') return `limits.${second ?? ''}`;
  if (first === 'guards') {
    const isList = second === 'exempt' || second === 'ignoredFields' || third === undefined;
    return isList ? `guards.${second ?? ''}` : `guards.${second ?? ''}.${third}`;
  }
  return first ?? '';
}

/** A field that is there but undefined would wipe a default. */
function defined<Part extends object>(part: Part): { [Key in keyof Part]: Exclude<Part[Key], undefined> } {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)) as never;
}

function dollarsText(value: number | null): string {
  return value === null ? '' : decimalDollars(nanoDollars(value));
}

/** NaN for what cannot be read: the contract says the words. */
function whole(typed: string): number | null {
  const read = parseWhole(typed);
  return 'problem' in read ? Number.NaN : read.value;
}

function decimal(typed: string): number | null {
  const bare = typed.trim().replace(',', '.');
  if (bare === '') return null;
  return /^\d{0,9}(?:\.\d{1,9})?$/u.test(bare) && bare !== '.' ? Number(bare) : Number.NaN;
}

/** Milliseconds as seconds, exactly: 30000 -> 30, 1500 -> 1.5. */
function secondsText(valueMs: number): string {
  const digits = String(valueMs).padStart(4, '0');
  const fraction = digits.slice(-3).replace(/0+$/u, '');
  return `${digits.slice(0, -3)}${fraction === '' ? '' : `.${fraction}`}`;
}

function msOfSeconds(typed: string): number | null {
  const bare = typed.trim().replace(/,(?=\d{3}(?:\D|$))/gu, '');
  if (bare === '') return null;
  const match = /^(\d{1,13})(?:\.(\d{1,3}))?$/u.exec(bare);
  return match === null ? Number.NaN : Number(match[1]) * 1_000 + Number((match[2] ?? '').padEnd(3, '0'));
}
