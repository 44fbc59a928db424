/** Picks what speaks for the agent: a script in virtual time, or a model of the server that can call tools. */
import { Command } from 'cmdk';
import { ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import type { ModelSummary } from '../../../shared/contract/server.ts';
import { ModelName } from '../../components/model-name.tsx';
import { byteSize, count } from '../../format/numbers.ts';

export interface TaskModelProps {
  readonly id: string;
  readonly value: string;
  readonly scripts: readonly string[];
  readonly models: readonly ModelSummary[];
  readonly isWrong: boolean;
  readonly onValue: (name: string) => void;
}

export function TaskModel({ id, value, scripts, models, isWrong, onValue }: TaskModelProps) {
  const [open, setOpen] = useState(false);
  const able = ableModels(models);
  const pick = (name: string): void => {
    onValue(name);
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button
          id={id}
          type="button"
          role="combobox"
          aria-expanded={open}
          aria-invalid={isWrong}
          className="field flex items-center gap-2 text-left"
        >
          {value === '' ? (
            <span className="text-ink-3">Choose a model</span>
          ) : value.startsWith('script:') ? (
            <span className="min-w-0 truncate text-ink" title={value}>
              {value}
            </span>
          ) : (
            <ModelName name={value} className="max-w-2/3" />
          )}
          <span className="lab min-w-0 flex-1 truncate">{modelWord(value, able)}</span>
          <ChevronDown size={14} strokeWidth={1.75} className="flex-none" aria-hidden="true" />
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          collisionPadding={8}
          sideOffset={4}
          className="menu flex max-h-[min(480px,60vh,var(--radix-popover-content-available-height))] w-[max(420px,var(--radix-popover-trigger-width))] flex-col"
        >
          <Command label="Model" loop className="flex min-h-0 flex-col">
            <Command.Input
              placeholder={`Find in ${count(scripts.length + able.length)}`}
              className="h-9 flex-none border-b px-3 text-ink outline-none!"
            />
            <Command.List className="min-h-0 flex-1 overflow-auto py-1">
              <Command.Empty className="px-3 py-2">No model of that name.</Command.Empty>
              {scripts.map((name) => (
                <Command.Item key={name} value={name} className="menu-item" onSelect={() => pick(name)}>
                  <ModelName name={name} className="flex-1" />
                  <span className="lab flex-none">script, virtual time</span>
                </Command.Item>
              ))}
              {able.map((model) => (
                <Command.Item
                  key={model.name}
                  value={model.name}
                  className="menu-item"
                  onSelect={() => pick(model.name)}
                >
                  <ModelName name={model.name} className="flex-1" />
                  <span className="lab flex-none">
                    {[model.parameterSize, model.quantization, byteSize(model.sizeBytes)].filter(Boolean).join(' · ')}
                  </span>
                </Command.Item>
              ))}
              {able.length === 0 ? (
                <p className="lab px-3 py-2">The server lists no model that can call tools.</p>
              ) : null}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Those of the server that can call tools and run here. */
export const ableModels = (models: readonly ModelSummary[]): readonly ModelSummary[] =>
  models.filter(({ cloud, capabilities }) => !cloud && capabilities?.includes('tools') === true);

function modelWord(value: string, able: readonly ModelSummary[]): string {
  if (value === '') return '';
  if (value.startsWith('script:')) return 'script, virtual time';
  const model = able.find(({ name }) => name === value);
  return model === undefined
    ? 'not listed with tools'
    : [model.parameterSize, 'calls tools'].filter(Boolean).join(' · ');
}
