/** Picks one of possibly hundreds of models; names are long, and hostile text. */
import { Command } from 'cmdk';
import { ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import type { ModelFacts, ModelSummary } from '../../../shared/contract/server.ts';
import { ModelName } from '../../components/model-name.tsx';
import { byteSize, count } from '../../format/numbers.ts';

export interface ModelPickerProps {
  readonly models: readonly ModelSummary[];
  readonly value: string;
  readonly facts: ModelFacts | null;
  readonly onValue: (name: string) => void;
  readonly disabled?: boolean;
}

export function ModelPicker({ models, value, facts, onValue, disabled = false }: ModelPickerProps) {
  const [open, setOpen] = useState(false);
  const chosen = models.find((model) => model.name === value);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button
          type="button"
          role="combobox"
          aria-expanded={open}
          aria-label="Model"
          disabled={disabled}
          className="field flex items-center gap-2 text-left"
        >
          {value === '' ? (
            <span className="text-ink-3">Choose a model</span>
          ) : (
            <ModelName name={value} className="max-w-2/3" />
          )}
          <span className="lab min-w-0 flex-1 truncate">{describe(chosen, facts)}</span>
          <ChevronDown size={14} strokeWidth={1.75} className="flex-none" aria-hidden="true" />
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          collisionPadding={8}
          sideOffset={4}
          className="menu flex max-h-[min(480px,60vh)] w-[max(420px,var(--radix-popover-trigger-width))] flex-col"
        >
          <Command label="Model" loop className="flex min-h-0 flex-col">
            <Command.Input
              placeholder={`Find in ${count(models.length)}`}
              className="h-9 flex-none border-b px-3 text-ink outline-none!"
            />
            <Command.List className="min-h-0 flex-1 overflow-auto py-1">
              <Command.Empty className="px-3 py-2">No model of that name.</Command.Empty>
              {models.map((model) => (
                <Command.Item
                  key={model.name}
                  value={model.name}
                  className="menu-item"
                  disabled={model.cloud}
                  onSelect={() => {
                    onValue(model.name);
                    setOpen(false);
                  }}
                >
                  <ModelName name={model.name} className="flex-1" />
                  <span className="lab flex-none">
                    {model.cloud
                      ? 'runs elsewhere'
                      : [model.parameterSize, model.quantization, byteSize(model.sizeBytes)]
                          .filter(Boolean)
                          .join(' · ')}
                  </span>
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function describe(model: ModelSummary | undefined, facts: ModelFacts | null): string {
  const trained = facts?.trainedContext ?? model?.trainedContext ?? null;
  const capabilities = facts?.capabilities ?? model?.capabilities ?? null;
  const parts = [
    model?.parameterSize ?? null,
    model?.quantization ?? null,
    trained === null ? null : `trained for ${count(trained)}`,
    capabilities === null ? null : capabilities.includes('thinking') ? 'can think' : 'cannot think',
  ];
  return parts.filter((part) => part !== null).join(' · ');
}
