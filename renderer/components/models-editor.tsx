/** Any number of models; names are long, there may be hundreds, and they are hostile text. */
import { Command } from 'cmdk';
import { useMemo } from 'react';
import type { ModelSummary } from '../../shared/contract/server.ts';
import { ModelName } from './model-name.tsx';
import { count } from '../format/numbers.ts';

export interface ModelsEditorProps {
  readonly models: readonly ModelSummary[];
  readonly value: readonly string[];
  readonly onValue: (models: string[]) => void;
}

export function ModelsEditor({ models, value, onValue }: ModelsEditorProps) {
  const missing = useMemo(() => value.filter((name) => !models.some((model) => model.name === name)), [models, value]);
  const toggle = (name: string): void => {
    onValue(value.includes(name) ? value.filter((one) => one !== name) : [...value, name]);
  };
  return (
    <Command label="Models" loop className="-m-3 flex min-h-0 flex-col">
      <Command.Input
        placeholder={`Find in ${count(models.length)}`}
        className="h-9 flex-none border-b px-3 text-ink outline-none!"
      />
      <Command.List className="max-h-80 min-h-0 overflow-auto py-1">
        <Command.Empty className="px-3 py-2">No model of that name.</Command.Empty>
        {missing.map((name) => (
          <ModelItem key={name} name={name} note="not on this server" on onToggle={toggle} />
        ))}
        {models.map((model) => {
          const why = cannotRun(model);
          return (
            <ModelItem
              key={model.name}
              name={model.name}
              note={why ?? (model.trainedContext === null ? '' : `trained for ${count(model.trainedContext)}`)}
              on={value.includes(model.name)}
              disabled={why !== null && !value.includes(model.name)}
              onToggle={toggle}
            />
          );
        })}
      </Command.List>
    </Command>
  );
}

interface ModelItemProps {
  readonly name: string;
  readonly note: string;
  readonly on: boolean;
  readonly disabled?: boolean;
  readonly onToggle: (name: string) => void;
}

function ModelItem({ name, note, on, disabled = false, onToggle }: ModelItemProps) {
  return (
    <Command.Item
      value={name}
      className="menu-item"
      disabled={disabled}
      aria-checked={on}
      onSelect={() => {
        onToggle(name);
      }}
    >
      <span aria-hidden="true" className="w-4 flex-none text-center">
        {on ? '✓' : ''}
      </span>
      <ModelName name={name} className="flex-1" />
      <span className="lab flex-none">{note}</span>
    </Command.Item>
  );
}

function cannotRun(model: ModelSummary): string | null {
  if (model.cloud) return 'runs elsewhere';
  return model.capabilities === null || model.capabilities.includes('completion') ? null : 'cannot answer';
}

/** The chosen models in the sentence. */
export function ModelsWord({ models }: { models: readonly string[] }) {
  const [first, ...more] = models;
  if (first === undefined) return <span className="text-ink-3">choose a model</span>;
  return (
    <>
      <ModelName name={first} />
      {more.length === 0 ? null : <span className="ml-1.5 flex-none">and {count(more.length)} more</span>}
    </>
  );
}
