/** A task as YAML for the command line. Every text is either plain, a block or in JSON's quotes, which YAML reads alike. */
import { DEFAULT_GUARDS, agentTaskSchema } from '../../../shared/contract/agents.ts';
import type { AgentTask } from '../../../shared/contract/agents.ts';

/** Limits stand in the file as they are in the task. Of the rest only what is not as usual, so that the file says what is special. */
export function taskYaml(task: AgentTask): string {
  const usual = agentTaskSchema.parse({ prompt: task.prompt, model: '-' }) as Record<string, unknown>;
  const lines = ['kind: agent', `name: ${textYaml(task.name)}`];
  for (const [key, value] of Object.entries(task)) {
    if (value === undefined || key === 'kind' || key === 'name') continue;
    if (key !== 'prompt' && JSON.stringify(value) === JSON.stringify(usual[key])) continue;
    if (key === 'prompt') lines.push(promptYaml(task.prompt));
    else if (key === 'guards') lines.push(...guardsYaml(task.guards));
    else lines.push(...fieldYaml(key, value, ''));
  }
  return `${lines.join('\n')}\n`;
}

function guardsYaml(guards: AgentTask['guards']): string[] {
  const usual: Readonly<Record<string, unknown>> = DEFAULT_GUARDS;
  const special = Object.entries(guards).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(usual[key]));
  return special.length === 0 ? [] : fieldYaml('guards', Object.fromEntries(special), '');
}

function fieldYaml(key: string, value: unknown, indent: string): string[] {
  const head = `${indent}${keyYaml(key)}:`;
  if (typeof value !== 'object' || value === null) return [`${head} ${scalarYaml(value)}`];
  // A flow of JSON is YAML too: short lists stay on their line.
  if (Array.isArray(value)) return [`${head} ${JSON.stringify(value)}`];
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  if (entries.length === 0) return [`${head} {}`];
  return [head, ...entries.flatMap(([name, item]) => fieldYaml(name, item, `${indent}  `))];
}

function promptYaml(prompt: string): string {
  if (!isBlockSafe(prompt)) return `prompt: ${JSON.stringify(prompt)}`;
  return ['prompt: |-', ...prompt.split('\n').map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

/** More than one line, and nothing that a block would lose or read otherwise. */
function isBlockSafe(text: string): boolean {
  if (!text.includes('\n') || text.endsWith('\n') || /^[ \n]/u.test(text)) return false;
  return /^[\n\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u.test(text);
}

/** Words that YAML reads as something else than a text are never plain. */
const PLAIN = /^[A-Za-z][\w./-]*(?::[\w./-]+)*(?: [\w./-]+)*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const textYaml = (text: string): string =>
  PLAIN.test(text) && !RESERVED.test(text) && text.length < 200 ? text : JSON.stringify(text);

const keyYaml = (key: string): string =>
  /^[A-Za-z][\w-]*$/.test(key) && !RESERVED.test(key) ? key : JSON.stringify(key);

const scalarYaml = (value: unknown): string => (typeof value === 'string' ? textYaml(value) : JSON.stringify(value));
