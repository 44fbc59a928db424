/** What is wrong with a field of a task, as a sentence beside its box: the rules are the contract's. */
import { count } from '../../format/numbers.ts';

/** The part of an issue of the schema that words are made from. */
export interface FieldIssue {
  readonly code?: string | undefined;
  readonly message: string;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
}

export const fieldLabels: Readonly<Record<string, string>> = {
  name: 'Name',
  prompt: 'Task',
  model: 'Model',
  taskClass: 'Class',
  tools: 'Tools',
  mcpServers: 'MCP servers',
  toolRules: 'Rules of tools',
  payer: 'Payer',
  numCtx: 'Window',
  numPredict: 'Answer',
  temperature: 'Temperature',
  seed: 'Seed',
  rounds: 'Rounds',
  keepCalls: 'Calls kept',
  spawnsPerMinute: 'Agents a minute',
  approvalAboveNanoDollars: 'Ask a person above',
  raiseOncePercent: 'Raise once by',
  'limits.calls': 'Calls',
  'limits.tokens': 'Tokens',
  'limits.nanoDollars': 'Money',
  'limits.wallClockMs': 'Time',
  'limits.depth': 'Depth',
  'limits.fanOut': 'Calls at once',
  'limits.descendants': 'Agents in all',
  'limits.outputBytes': 'Bytes of an output',
  'guards.stateHash.maxRepeats': 'Repeats',
  'guards.identicalCalls.limit': 'Calls',
  'guards.identicalCalls.pollingLimit': 'Polling calls',
  'guards.cycles.periodMax': 'Period',
  'guards.cycles.repeats': 'Times',
  'guards.noProgress.steps': 'Steps',
  'guards.noProgress.shinglesMin': 'Phrases',
  'guards.noProgress.sharePercentMin': 'Share',
  'guards.brokenArguments.limit': 'In a row',
  'guards.exempt': 'Exempt tools',
  'guards.ignoredFields': 'Ignored fields',
};

/** Fields where empty means something; of the others a number is asked for. */
const mayBeEmpty = new Set([
  'numCtx',
  'spawnsPerMinute',
  'approvalAboveNanoDollars',
  'raiseOncePercent',
  'limits.calls',
  'limits.tokens',
  'limits.nanoDollars',
  'limits.wallClockMs',
  'limits.descendants',
  'limits.outputBytes',
  'guards.noProgress.sharePercentMin',
]);

export function problemText(field: string, issue: FieldIssue): string {
  const label = fieldLabels[field] ?? field;
  if (field === 'prompt') return 'Write what the agent should do, in at most 1,000,000 characters.';
  if (field === 'model') return 'Choose a model.';
  if (field === 'name') return 'Name must be 1 to 200 characters.';
  if (field === 'taskClass') return 'Class must be at most 100 characters.';
  if (field === 'mcpServers') return 'MCP servers cannot be used as they are. Read them again.';
  if (field === 'guards.exempt') return 'Exempt tools must be at most 200 names of 200 characters.';
  if (field === 'guards.ignoredFields') return 'Ignored fields must be at most 50 names of 200 characters a tool.';
  if (isMoney(field)) return `${label} must be dollars from 0 to 1,000,000, such as 2.50, or empty.`;
  const unit = field === 'limits.wallClockMs' ? 'seconds, such as 300 or 0.5' : kindOf(field);
  if (issue.code === 'too_big' && !isTime(field)) return `${label} must be at most ${bound(issue.maximum)}.`;
  if (issue.code === 'too_small' && !isTime(field)) return `${label} must be at least ${bound(issue.minimum)}.`;
  return `${label} must be ${unit}${mayBeEmpty.has(field) ? ', or empty' : ''}.`;
}

const isMoney = (field: string): boolean => field === 'limits.nanoDollars' || field === 'approvalAboveNanoDollars';
const isTime = (field: string): boolean => field === 'limits.wallClockMs';
const kindOf = (field: string): string => (field === 'temperature' ? 'a number from 0 to 5' : 'a whole number');
const bound = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'bigint' ? count(Number(value)) : String(value);
