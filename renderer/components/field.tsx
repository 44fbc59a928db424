/** A labelled control with room for what is wrong with it. */
import { useId } from 'react';
import type { InputHTMLAttributes, ReactNode, Ref } from 'react';
import { Hint } from './hint.tsx';

export interface FieldProps {
  readonly label: string;
  /** Option names of Ollama stand in the code font. */
  readonly code?: boolean;
  readonly help?: string;
  readonly problem?: string | null;
  readonly children: (ids: { id: string; problemId: string }) => ReactNode;
}

export function Field({ label, code = false, help = '', problem = null, children }: FieldProps) {
  const id = useId();
  const problemId = `${id}-problem`;
  return (
    <div className="min-w-0">
      <Hint text={help}>
        <label htmlFor={id} className={`lab block truncate ${code ? 'mono text-small! max-[1100px]:font-sans' : ''}`}>
          {label}
        </label>
      </Hint>
      {children({ id, problemId })}
      <Problem id={problemId} text={problem} />
    </div>
  );
}

export function Problem({ id, text }: { readonly id?: string; readonly text: string | null }) {
  if (text === null) return null;
  return (
    <p id={id} role="alert" className="mt-1 text-table wrap-anywhere text-ink">
      {text}
    </p>
  );
}

export interface NumberBoxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange' | 'type'> {
  /** As typed: what it means is decided by the form, so that nothing typed is lost. */
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly problem?: string | null;
  readonly problemId?: string;
  readonly ref?: Ref<HTMLInputElement>;
}

export function NumberBox({ value, onValue, problem = null, problemId, className = '', ...rest }: NumberBoxProps) {
  return (
    <input
      type="text"
      inputMode="decimal"
      autoComplete="off"
      spellCheck={false}
      maxLength={40}
      value={value}
      onChange={(event) => {
        onValue(event.target.value);
      }}
      aria-invalid={problem !== null}
      aria-describedby={problem === null ? undefined : problemId}
      className={`field ${className}`}
      {...rest}
    />
  );
}

export interface TextBoxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly ref?: Ref<HTMLInputElement>;
}

export function TextBox({ value, onValue, className = '', ...rest }: TextBoxProps) {
  return (
    <input
      type="text"
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={(event) => {
        onValue(event.target.value);
      }}
      className={`field ${className}`}
      {...rest}
    />
  );
}

export interface ChoiceProps<Value extends string> {
  readonly id?: string;
  readonly label?: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string; readonly disabled?: boolean }[];
  readonly onValue: (value: Value) => void;
  readonly disabled?: boolean;
  readonly title?: string;
}

/** A short fixed list; the platform's own control, which knows every keyboard and screen reader. */
export function Choice<Value extends string>({ options, onValue, label, ...rest }: ChoiceProps<Value>) {
  return (
    <select
      className="field"
      aria-label={label}
      onChange={(event) => {
        const chosen = options.find((option) => option.value === event.target.value);
        if (chosen !== undefined) onValue(chosen.value);
      }}
      {...rest}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} disabled={option.disabled}>
          {option.text}
        </option>
      ))}
    </select>
  );
}
