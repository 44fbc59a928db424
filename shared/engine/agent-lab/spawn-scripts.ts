/** Models that let others do the work. */
import { type Decide, call, numbersIn } from './script-kit.ts';

const HELPERS = 3;
const HELPERS_MAX = 200;

/** Gives its own task to so many agents, each of which does the same. */
export const recursiveSpawner: Decide = ({ task, calls, canDelegate }) => {
  if (!canDelegate || calls.length > 0) return `${calls.filter(({ ran }) => ran).length} agents came back.`;
  const [helpers = HELPERS] = numbersIn(task, [HELPERS]);
  return Array.from({ length: Math.min(helpers, HELPERS_MAX) }, () => call('delegate', { task }));
};

/** One agent after the other, for ever: there is never more than one at a time. */
export const sequentialSpawner: Decide = ({ task, calls, canDelegate }) => {
  if (!canDelegate || task.startsWith(PART)) return 'That part is done.';
  const part = calls.filter(({ ran }) => ran).length + 1;
  return [call('delegate', { task: `${PART} ${part} of: ${task}`, calls: 1 })];
};

const PART = 'Part';
