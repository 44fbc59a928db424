/** What is typed in the form of a task, and what the form asks of the console: presets, proposals, tools, servers. */
import { useEffect, useState } from 'react';
import { create } from 'zustand';
import type { AgentPreset, AgentTaskInput, ClassBudget, ToolInventory } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { emptyTask } from './task-text.ts';
import type { TaskText } from './task-text.ts';

export interface TaskDraft {
  readonly text: TaskText;
  /** Of the preset it began with; null = another beginning. */
  readonly preset: string | null;
  readonly isTyped: boolean;
  /** The task that was handed in last, as JSON: the same one does not wipe what was typed since. */
  readonly startKey: string | null;
}

export const firstTaskDraft: TaskDraft = { text: emptyTask, preset: null, isTyped: false, startKey: null };
/** It stays while other pages are open. */
export const useTaskDraft = create<TaskDraft>(() => firstTaskDraft);

export interface TaskLists {
  readonly presets: readonly AgentPreset[];
  readonly budgets: readonly ClassBudget[];
  /** Why there are no presets. */
  readonly denial: Denial | null;
}

export function useTaskLists(): TaskLists {
  const client = useClient();
  const ready = useEngine((state) => state.loaded && state.connection === 'connected');
  const [lists, setLists] = useState<TaskLists>({ presets: [], budgets: [], denial: null });
  useEffect(() => {
    if (!ready) return;
    let isOver = false;
    void Promise.all([client.request('agent.presets', {}), client.request('agent.budgets', {})]).then(
      ([presets, budgets]) => {
        if (isOver) return;
        setLists({
          presets: presets.ok ? presets.value : [],
          budgets: budgets.ok ? budgets.value : [],
          denial: presets.ok ? null : presets.denial,
        });
      },
    );
    return () => {
      isOver = true;
    };
  }, [client, ready]);
  return lists;
}

export type Inventory =
  | { readonly kind: 'none' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'listed'; readonly tools: ToolInventory; readonly problems: readonly string[] }
  | { readonly kind: 'refused'; readonly denial: Denial };

const QUIET_MS = 300;

/**
 * The tools of a task as they would run. Ready ones are asked for as they are chosen; a task with MCP servers waits for
 * `asked` to rise, because asking starts the servers.
 */
export function useInventory({ tools, servers, kept }: TaskText, asked: number): Inventory {
  const client = useClient();
  const ready = useEngine((state) => state.loaded && state.connection === 'connected');
  const [inventory, setInventory] = useState<{ readonly key: string; readonly value: Inventory } | null>(null);
  const hasServers = Object.keys(servers).length > 0;
  const isWanted = hasServers ? asked > 0 : tools.length > 0;
  // Only what changes the list: typing a prompt asks for nothing.
  const key = JSON.stringify([{ tools, mcpServers: servers, toolRules: kept.toolRules }, hasServers ? asked : 0]);
  useEffect(() => {
    if (!ready || !isWanted) return;
    let isOver = false;
    const timer = setTimeout(() => {
      const [parts] = JSON.parse(key) as [Pick<AgentTaskInput, 'tools' | 'mcpServers' | 'toolRules'>];
      void client.request('agent.tools', { task: { ...parts, prompt: '-', model: '-' } }).then((answer) => {
        if (isOver) return;
        const value: Inventory = answer.ok
          ? { kind: 'listed', tools: answer.value.tools, problems: answer.value.problems }
          : { kind: 'refused', denial: answer.denial };
        setInventory({ key, value });
      });
    }, QUIET_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, ready, isWanted, key]);
  if (!isWanted) return { kind: 'none' };
  return inventory?.key === key ? inventory.value : { kind: 'asking' };
}
