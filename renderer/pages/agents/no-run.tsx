/** Before the first run: ready tasks, each with what it shows, one press each. */
import { Play } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { AgentPreset, AgentTaskInput } from '../../../shared/contract/agents.ts';
import { DEFAULT_LIMITS } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { boundText } from './run-figures.ts';

export interface NoRunProps {
  readonly busy: boolean;
  readonly onStart: (task: AgentTaskInput) => void;
  /** Opens the form with this task, to change it before it starts. */
  readonly onForm: (task: AgentTaskInput | null) => void;
}

export function NoRun({ busy, onStart, onForm }: NoRunProps) {
  const presets = usePresets();
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <EmptyState
        title="No agent run yet"
        text="An agent calls tools until its task is done, and may start other agents. Every run has a budget of calls, tokens, money and time; every agent gets a part of it. You see each call as it happens, and what ended the run."
      >
        <Button look="primary" disabled={busy} onClick={() => onForm(null)}>
          Write a task
        </Button>
      </EmptyState>
      {presets.length === 0 ? null : <Presets presets={presets} busy={busy} onStart={onStart} onForm={onForm} />}
    </div>
  );
}

export function Presets({ presets, busy, onStart, onForm }: NoRunProps & { readonly presets: readonly AgentPreset[] }) {
  const up = useEngine((state) => state.server?.state === 'up');
  const scripted = presets.filter((preset) => preset.scripted);
  const real = presets.filter((preset) => !preset.scripted);
  const groups = [
    {
      title: 'Ready tasks, scripted model',
      note: 'virtual time, no model and no network',
      presets: scripted,
      blocked: null,
    },
    {
      title: 'Ready tasks for a model of your server',
      note: '',
      presets: real,
      blocked: up ? null : 'No server answers yet.',
    },
  ].filter((group) => group.presets.length > 0);
  return groups.map((group) => (
    <section key={group.title} aria-label={group.title} className="px-6 pb-6">
      <h2 className="font-semibold text-ink">
        {group.title} <span className="lab font-normal">{group.blocked ?? group.note}</span>
      </h2>
      <ul className="mt-1 grid max-w-[1480px] grid-cols-[repeat(auto-fill,minmax(min(100%,520px),1fr))] gap-x-12">
        {group.presets.map((preset) => (
          <li key={preset.name} className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 border-t py-2">
            <div className="min-w-0">
              <b className="wrap-anywhere">{preset.title}</b>
              <p className="wrap-anywhere">{preset.shows}</p>
            </div>
            <span className="flex items-center gap-1">
              <span className="lab">
                {boundText(
                  preset.task.limits.calls === undefined ? DEFAULT_LIMITS.calls : preset.task.limits.calls,
                  preset.task.governed,
                )}
              </span>
              <Button
                look="flat"
                disabled={busy}
                aria-label={`Change ${preset.title}`}
                onClick={() => onForm(preset.task)}
              >
                Change
              </Button>
              <Button
                icon={Play}
                disabled={busy || group.blocked !== null}
                title={group.blocked ?? undefined}
                aria-label={`Run ${preset.title}`}
                onClick={() => onStart(preset.task)}
              >
                Run
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  ));
}

export function usePresets(): readonly AgentPreset[] {
  const client = useClient();
  const models = useEngine((state) => state.server?.models.length ?? 0);
  const [presets, setPresets] = useState<readonly AgentPreset[]>([]);
  useEffect(() => {
    let current = true;
    void client.request('agent.presets', {}).then((answer) => {
      if (current && answer.ok) setPresets(answer.value);
    });
    return () => {
      current = false;
    };
  }, [client, models]);
  return presets;
}
