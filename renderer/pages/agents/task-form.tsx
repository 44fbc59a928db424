/** A task as a form; what is typed stays until another preset is taken. onStart gets a task that the contract takes. */
import { Play } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { AgentPreset, AgentTaskInput, ClassBudget } from '../../../shared/contract/agents.ts';
import type { ModelSummary } from '../../../shared/contract/server.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Field, TextBox } from '../../components/field.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { BeginPart, PresetChoice } from './task-begin.tsx';
import { Part } from './task-fields.tsx';
import type { TaskPartProps } from './task-fields.tsx';
import { GuardsPart } from './task-guards.tsx';
import { LimitsPart, SharingPart } from './task-limits.tsx';
import { ableModels } from './task-model.tsx';
import { useInventory, useTaskDraft, useTaskLists } from './task-store.ts';
import { readTask, textOfTask } from './task-text.ts';
import type { TaskProblems, TaskText } from './task-text.ts';
import { ToolsPart } from './task-tools.tsx';
import { budgetWords, costWords, withBudget } from './task-words.ts';
import { taskYaml } from './task-yaml.ts';

interface Props {
  onStart(task: AgentTaskInput): void;
  /** What the form begins with, such as the task of a run that is to be run again. Another one begins anew. */
  readonly start?: AgentTaskInput;
  readonly busy: boolean;
}

export function TaskForm({ onStart, start, busy }: Props) {
  const { text, preset, isTyped } = useTaskDraft();
  const lists = useTaskLists();
  const models = useEngine((state) => state.server?.models ?? noModels);
  const [asked, setAsked] = useState(0);
  const inventory = useInventory(text, asked);
  const read = useMemo(() => readTask(text), [text]);
  const problems = 'problems' in read ? read.problems : noProblems;
  useBeginning(start, lists.presets, models);
  const onText = (next: TaskText): void => useTaskDraft.setState({ text: next, isTyped: true });
  const pick = (chosen: AgentPreset): void => {
    setAsked(0);
    useTaskDraft.setState({ text: presetText(chosen, models), preset: chosen.name, isTyped: false });
  };
  const parts: TaskPartProps = { text, problems, onText };
  return (
    <form
      aria-label="Task"
      noValidate
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        if ('task' in read && !busy) onStart(read.task);
      }}
    >
      <div className="min-h-0 flex-1 overflow-auto px-6 pb-4">
        <div className="flex max-w-[1100px] flex-col">
          <PresetChoice presets={lists.presets} chosen={preset} denial={lists.denial} onPick={pick} />
          <Part title="Task">
            <BeginPart {...parts} presets={lists.presets} />
          </Part>
          <Part title="Tools" note="every call goes through the gateway">
            <ToolsPart {...parts} inventory={inventory} onAsk={() => setAsked(asked + 1)} />
          </Part>
          <Part title="Budget" note="of all agents together · empty = unlimited, 0 = nothing is allowed">
            <LimitsPart {...parts} />
            <ClassField {...parts} budgets={lists.budgets} />
          </Part>
          <Part title="Guards" note={text.governed ? 'what ends a loop' : 'off, because the task is not governed'}>
            <GuardsPart {...parts} />
          </Part>
          <Part title="Rounds and agents">
            <SharingPart {...parts} />
          </Part>
        </div>
      </div>
      <div className="sticky bottom-0 flex min-h-12 flex-none flex-wrap items-center gap-x-3 gap-y-1 border-t bg-page px-6 py-2">
        <p role="status" className="min-w-0 flex-1 wrap-anywhere text-ink">
          {'task' in read ? costWords(read.task, text.model) : wrongText(problems, isTyped)}
        </p>
        {'task' in read ? <CopyButton look="plain" label="Copy as YAML" text={() => taskYaml(read.task)} /> : null}
        <Button look="primary" type="submit" icon={Play} disabled={busy || !('task' in read)}>
          Start
        </Button>
      </div>
    </form>
  );
}

const noProblems: TaskProblems = {};

function ClassField({ text, onText, problems, budgets }: TaskPartProps & { readonly budgets: readonly ClassBudget[] }) {
  const budget = budgets.find(({ taskClass }) => taskClass !== '' && taskClass === text.taskClass.trim());
  return (
    <div className="grid grid-cols-[minmax(0,260px)_minmax(0,1fr)] items-end gap-3">
      <Field
        label="Class of tasks"
        help="Runs of one class are looked at together: after enough good ones, limits are proposed. Never set by themselves."
        problem={problems['taskClass'] ?? null}
      >
        {({ id }) => (
          <>
            <TextBox
              id={id}
              value={text.taskClass}
              list={`${id}-known`}
              maxLength={200}
              placeholder="none"
              onValue={(taskClass) => onText({ ...text, taskClass })}
            />
            <datalist id={`${id}-known`}>
              {budgets.map(({ taskClass }) => (taskClass === '' ? null : <option key={taskClass} value={taskClass} />))}
            </datalist>
          </>
        )}
      </Field>
      {budget === undefined ? null : (
        <p className="flex min-h-7 min-w-0 flex-wrap items-center gap-2 text-ink">
          <span className="min-w-0 wrap-anywhere">{budgetWords(budget)}</span>
          {budget.enough ? <Button onClick={() => onText(withBudget(text, budget))}>Take it</Button> : null}
        </p>
      )}
    </div>
  );
}

/** A task that is handed in, else the first preset while nothing was typed. */
function useBeginning(
  start: AgentTaskInput | undefined,
  presets: readonly AgentPreset[],
  models: readonly ModelSummary[],
): void {
  // By what it says, not by identity: a run that goes on is a new object each time.
  const startKey = start === undefined ? null : JSON.stringify(start);
  useEffect(() => {
    if (startKey === null || startKey === useTaskDraft.getState().startKey) return;
    const text = textOfTask(JSON.parse(startKey) as AgentTaskInput);
    useTaskDraft.setState({ text, preset: null, isTyped: false, startKey });
  }, [startKey]);
  useEffect(() => {
    const [first] = presets;
    const { isTyped, preset, text } = useTaskDraft.getState();
    if (first === undefined || startKey !== null || isTyped || preset !== null || text.model !== '') return;
    useTaskDraft.setState({ text: presetText(first, models), preset: first.name });
  }, [presets, startKey, models]);
}

/** A preset for a real model names none that is there: the first one that can call tools, else a person chooses. */
function presetText({ scripted, task }: AgentPreset, models: readonly ModelSummary[]): TaskText {
  const able = ableModels(models);
  const isThere = scripted || able.some(({ name }) => name === task.model);
  return textOfTask(isThere ? task : { ...task, model: able[0]?.name ?? '' });
}

const noModels: readonly ModelSummary[] = [];

/** The first one in full, because it may be out of sight. */
function wrongText(problems: TaskProblems, isTyped: boolean): string {
  const all = Object.values(problems);
  if (!isTyped && all.length > 1) return 'Choose a ready task, or write your own.';
  return all.length > 1 ? `${all[0]} And ${all.length - 1} more.` : (all[0] ?? '');
}
