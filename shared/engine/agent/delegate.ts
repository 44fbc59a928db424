/** `delegate(task, calls)`: an agent on a part of this one's budget. It costs a descendant, not a call. */
import { type Json, isObject } from '../guards/canonical.ts';
import { TOOL_DEFAULTS, type ToolSpec } from '../gateway/tool.ts';

export const DELEGATE = 'delegate';

const TASK_CHARACTERS_MAX = 100_000;
/** Where the model does not say how many calls its agent may make. */
const SHARE_DEFAULT = 3;

export function delegateTool(depthMax: number): { readonly spec: ToolSpec } {
  return {
    spec: {
      ...TOOL_DEFAULTS,
      name: DELEGATE,
      description: `Gives a task to a new agent, with a part of your own budget. Agents may be ${depthMax} levels deep.`,
      parameters: {
        type: 'object',
        properties: { task: { type: 'string' }, calls: { type: 'integer', minimum: 1 } },
        required: ['task'],
      },
      upstream: DELEGATE,
      check: () => null,
    },
  };
}

/** callsLeft null = no limit. */
export function readDelegation(
  args: Json,
  callsLeft: number | null,
):
  | { readonly ok: true; readonly task: string; readonly calls: number }
  | { readonly ok: false; readonly words: string } {
  if (!isObject(args)) return { ok: false, words: 'delegate takes an object with task and calls' };
  const task = args.get('task');
  const calls = args.get('calls') ?? Math.max(1, Math.floor((callsLeft ?? 30) / SHARE_DEFAULT));
  if (typeof task !== 'string' || task.trim() === '') return { ok: false, words: 'task must be a text' };
  if (task.length > TASK_CHARACTERS_MAX) return { ok: false, words: `task may have ${TASK_CHARACTERS_MAX} characters` };
  if (typeof calls !== 'number' || !Number.isSafeInteger(calls) || calls < 1) {
    return { ok: false, words: 'calls must be a whole number, at least 1' };
  }
  return { ok: true, task, calls };
}
