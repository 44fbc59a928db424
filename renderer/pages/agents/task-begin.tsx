/** What is asked, of whom: preset, model, prompt, and how the model speaks. */
import { useMemo } from 'react';
import type { AgentPreset } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Tag } from '../../components/chip.tsx';
import { Field, TextBox } from '../../components/field.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { TaskNumber } from './task-fields.tsx';
import type { TaskPartProps } from './task-fields.tsx';
import { TaskModel } from './task-model.tsx';
import type { NumberKey } from './task-text.ts';

export interface PresetListProps {
  readonly presets: readonly AgentPreset[];
  readonly chosen: string | null;
  readonly denial: Denial | null;
  readonly onPick: (preset: AgentPreset) => void;
}

export function PresetList({ presets, chosen, denial, onPick }: PresetListProps) {
  if (denial !== null)
    return (
      <p role="alert" className="wrap-anywhere text-ink">
        {[denial.message, denial.next].filter(Boolean).join(' ')}
      </p>
    );
  return (
    <ul aria-label="Ready tasks" className="grid grid-cols-[repeat(auto-fill,minmax(260px,1fr))] gap-x-3">
      {presets.map((preset) => (
        <li key={preset.name}>
          <button
            type="button"
            aria-pressed={preset.name === chosen}
            className={`flex w-full min-w-0 flex-col border-l-3 px-2 py-1 text-left hover:bg-pick ${preset.name === chosen ? 'border-l-ink bg-pick' : 'border-l-transparent'}`}
            onClick={() => onPick(preset)}
          >
            <span className="flex min-w-0 items-center gap-2">
              <b className="truncate">{preset.title}</b>
              {preset.scripted ? <Tag text="script" title="Scripted model, virtual time" /> : null}
            </span>
            <span className="lab line-clamp-2">{preset.shows}</span>
          </button>
        </li>
      ))}
    </ul>
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
