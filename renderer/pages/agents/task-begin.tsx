/** What is asked, of whom: preset, model, prompt, and how the model speaks. */
import { useMemo } from 'react';
import type { AgentPreset } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Choice, Field, TextBox } from '../../components/field.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { TaskNumber } from './task-fields.tsx';
import type { TaskPartProps } from './task-fields.tsx';
import { TaskModel } from './task-model.tsx';
import type { NumberKey } from './task-text.ts';

export interface PresetChoiceProps {
  readonly presets: readonly AgentPreset[];
  readonly chosen: string | null;
  readonly denial: Denial | null;
  readonly onPick: (preset: AgentPreset) => void;
}

export function PresetChoice({ presets, chosen, denial, onPick }: PresetChoiceProps) {
  if (denial !== null)
    return (
      <p role="alert" className="pt-3 wrap-anywhere text-ink">
        {[denial.message, denial.next].filter(Boolean).join(' ')}
      </p>
    );
  const preset = presets.find(({ name }) => name === chosen);
  return (
    <div className="grid grid-cols-[minmax(0,260px)_minmax(0,1fr)] items-end gap-3 border-b py-3">
      <Field label="Begin with">
        {({ id }) => (
          <Choice
            id={id}
            value={preset?.name ?? ''}
            options={[
              { value: '', text: 'a task of your own', disabled: true },
              ...presets.map(({ name, title, scripted }) => ({
                value: name,
                text: scripted ? title : `${title}, real model`,
              })),
            ]}
            onValue={(name) => {
              const picked = presets.find((one) => one.name === name);
              if (picked !== undefined) onPick(picked);
            }}
          />
        )}
      </Field>
      <p className="pb-1 text-ink">{preset?.shows ?? ''}</p>
    </div>
  );
}

export function BeginPart({
  text,
  problems,
  onText,
  presets,
}: TaskPartProps & { readonly presets: readonly AgentPreset[] }) {
  const models = useEngine((state) => state.server?.models ?? noModels);
  const scripts = useMemo(() => {
    const names = presets.filter(({ scripted }) => scripted).map(({ task }) => task.model);
    return [...new Set(names)].sort();
  }, [presets]);
  const number = (key: NumberKey, label: string, help: string, placeholder = '') => (
    <TaskNumber
      field={key}
      label={label}
      value={text.numbers[key]}
      problems={problems}
      help={help}
      placeholder={placeholder}
      onValue={(value) => onText({ ...text, numbers: { ...text.numbers, [key]: value } })}
    />
  );
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-3 max-[1100px]:grid-cols-1">
        <Field label="Name" problem={problems['name'] ?? null}>
          {({ id }) => (
            <TextBox id={id} value={text.name} maxLength={300} onValue={(name) => onText({ ...text, name })} />
          )}
        </Field>
        <Field label="Model" problem={problems['model'] ?? null}>
          {({ id }) => (
            <TaskModel
              id={id}
              value={text.model}
              scripts={scripts}
              models={models}
              isWrong={problems['model'] !== undefined}
              onValue={(model) => onText({ ...text, model })}
            />
          )}
        </Field>
      </div>
      <Field label="What the agent should do" problem={problems['prompt'] ?? null}>
        {({ id, problemId }) => (
          <textarea
            id={id}
            rows={4}
            maxLength={1_000_000}
            value={text.prompt}
            aria-invalid={problems['prompt'] !== undefined}
            aria-describedby={problems['prompt'] === undefined ? undefined : problemId}
            className="field h-auto! resize-y py-1"
            onChange={(event) => {
              onText({ ...text, prompt: event.target.value });
            }}
          />
        )}
      </Field>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(130px,1fr))] items-start gap-3">
        {number('numCtx', 'Window, tokens', 'num_ctx. Empty: as the server has it.', "the server's")}
        {number('numPredict', 'Answer, tokens', 'num_predict of one model turn.')}
        {number('temperature', 'Temperature', '0 to 5.')}
        {number('seed', 'Seed', 'The same seed gives the same run where the model allows it.')}
      </div>
    </>
  );
}

const noModels: readonly never[] = [];
