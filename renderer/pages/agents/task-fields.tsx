/** The small parts that the form of a task is made of. */
import { useId } from 'react';
import type { ReactNode } from 'react';
import { Field, NumberBox } from '../../components/field.tsx';
import { fieldLabels } from './task-problems.ts';
import type { TaskProblems, TaskText } from './task-text.ts';

export interface TaskPartProps {
  readonly text: TaskText;
  readonly problems: TaskProblems;
  readonly onText: (text: TaskText) => void;
}

export function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-b py-3 last:border-b-0">
      <h3 className="mb-2 flex flex-wrap items-baseline gap-x-2">
        <span className="lead">{title}</span>
        {note === undefined ? null : <span className="lab font-normal">{note}</span>}
      </h3>
      <div className="flex flex-col gap-3">{children}</div>
    </section>
  );
}

export interface TaskNumberProps {
  /** Path in the contract. */
  readonly field: string;
  readonly label?: string;
  readonly value: string;
  readonly problems: TaskProblems;
  readonly help?: string;
  /** What the value means, under the box. */
  readonly word?: string;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  readonly onValue: (value: string) => void;
}

export function TaskNumber(props: TaskNumberProps) {
  const { field, label, value, problems, help, word = '', placeholder, disabled = false, onValue } = props;
  const problem = problems[field] ?? null;
  return (
    <Field label={label ?? fieldLabels[field] ?? field} {...(help === undefined ? {} : { help })} problem={problem}>
      {({ id, problemId }) => (
        <>
          <NumberBox
            id={id}
            value={value}
            placeholder={placeholder}
            disabled={disabled}
            problem={problem}
            problemId={problemId}
            onValue={onValue}
          />
          {problem === null && word !== '' ? <p className="lab truncate">{word}</p> : null}
        </>
      )}
    </Field>
  );
}

export interface SwitchProps {
  readonly text: string;
  readonly note?: string;
  readonly value: boolean;
  readonly onValue: (value: boolean) => void;
}

export function Switch({ text, note, value, onValue }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex min-h-6 min-w-0 items-baseline gap-2">
      <input
        id={id}
        type="checkbox"
        className="flex-none translate-y-0.5 accent-(--ink)"
        checked={value}
        onChange={(event) => {
          onValue(event.target.checked);
        }}
      />
      <label htmlFor={id} className="flex-none text-ink">
        {text}
      </label>
      {note === undefined ? null : <span className="lab min-w-0">{note}</span>}
    </div>
  );
}
