/** The scripted models by name, as `script:NAME` chooses them, and the tools that each works with. */
import type { ToolSet } from '../../contract/agents.ts';
import * as loops from './loop-scripts.ts';
import type { Decide } from './script-kit.ts';
import { recursiveSpawner, sequentialSpawner } from './spawn-scripts.ts';
import * as work from './work-scripts.ts';

export interface Script {
  readonly decide: Decide;
  readonly tools: readonly ToolSet[];
}

/** The link farm's reader is a scenario of its own. */
export const FARM_SCRIPT = 'farm-reader';

export const scripts = {
  'status-asker': { decide: loops.statusAsker, tools: ['carrier'] },
  'clock-watcher': { decide: loops.clockWatcher, tools: ['clock'] },
  cycler: { decide: loops.cycler, tools: ['files'] },
  alternator: { decide: loops.alternator, tools: ['carrier'] },
  'key-shuffler': { decide: loops.keyShuffler, tools: ['files'] },
  'range-drifter': { decide: loops.rangeDrifter, tools: ['files'] },
  mumbler: { decide: loops.mumbler, tools: ['files'] },
  'recursive-spawner': { decide: recursiveSpawner, tools: [] },
  'sequential-spawner': { decide: sequentialSpawner, tools: [] },
  'five-hundred': { decide: work.fiveHundred, tools: ['files'] },
  'flaky-fetcher': { decide: work.flakyFetcher, tools: ['flaky'] },
  'naive-fetcher': { decide: work.naiveFetcher, tools: ['flaky'] },
  'big-page-reader': { decide: work.bigPageReader, tools: ['big-page'] },
  'job-forgetter': { decide: work.jobForgetter, tools: ['jobs'] },
  poller: { decide: work.poller, tools: ['jobs'] },
  reader: { decide: work.reader, tools: ['files'] },
} satisfies Readonly<Record<string, Script>>;

export type ScriptName = keyof typeof scripts;

/** null = there is none of that name. */
export function scriptOf(name: string): Script | null {
  return Object.hasOwn(scripts, name) ? scripts[name as ScriptName] : null;
}
