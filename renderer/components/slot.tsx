/** An underlined value of the sentence; pressing it opens its editor. */
import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';
import { Field, NumberBox } from './field.tsx';

export interface SlotProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly problem?: string | null;
  readonly disabled?: boolean;
  readonly wide?: boolean;
  readonly small?: boolean;
  readonly children: ReactNode;
}

export function Slot({
  label,
  value,
  problem = null,
  disabled = false,
  wide = false,
  small = false,
  children,
}: SlotProps) {
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button
          type="button"
          disabled={disabled}
          aria-label={`${label}: ${typeof value === 'string' ? value : 'change'}`}
          aria-invalid={problem !== null}
          className={`inline-flex max-w-[min(100%,420px)] min-w-0 items-baseline border-b px-1 text-left align-bottom text-ink ${small ? 'leading-5' : 'font-semibold leading-6'} ${problem === null ? 'border-field' : 'border-b-3 border-ink'} ${disabled ? '' : 'hover:bg-pick'}`}
        >
          {typeof value === 'string' ? <span className="truncate">{value}</span> : value}
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
          className={`menu flex max-h-[min(520px,70vh)] flex-col gap-2 overflow-auto p-3 text-body ${wide ? 'w-[480px]' : 'w-[340px]'} max-w-[calc(100vw-16px)]`}
        >
          {children}
          {problem === null ? null : (
            <p role="alert" className="text-table wrap-anywhere text-ink">
              {problem}
            </p>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Values that are often wanted, one press each. */
export function Suggestions({
  items,
  onPick,
}: {
  items: readonly (readonly [string, string])[];
  onPick: (value: string) => void;
}) {
  return (
    <div className="flex flex-wrap gap-1">
      {items.map(([text, value]) => (
        <button
          key={text}
          type="button"
          className="rounded-sm border border-field px-1.5 text-table text-ink hover:bg-pick"
          onClick={() => {
            onPick(value);
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** A few values of which any number can be on. */
export function Checks<Value extends string>({
  label,
  options,
  value,
  onValue,
}: {
  label: string;
  options: readonly { readonly value: Value; readonly text: string; readonly note?: string }[];
  value: readonly Value[];
  onValue: (value: Value[]) => void;
}) {
  return (
    <fieldset className="flex flex-col">
      <legend className="lab">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="flex min-h-6 items-center gap-2 text-ink">
          <input
            type="checkbox"
            className="flex-none accent-(--ink)"
            checked={value.includes(option.value)}
            onChange={(event) => {
              const on = event.target.checked;
              onValue(
                options.map((one) => one.value).filter((one) => (one === option.value ? on : value.includes(one))),
              );
            }}
          />
          <span>{option.text}</span>
          {option.note === undefined ? null : <span className="lab truncate">{option.note}</span>}
        </label>
      ))}
    </fieldset>
  );
}

export function ListBox({ label, value, onValue }: { label: string; value: string; onValue: (value: string) => void }) {
  return (
    <Field label={label}>
      {({ id }) => <NumberBox id={id} value={value} onValue={onValue} maxLength={1_000} inputMode="text" autoFocus />}
    </Field>
  );
}

/** What an entry means, in small letters. */
export function Help({ text }: { text: string }): ReactNode {
  return <p className="lab">{text}</p>;
}

/** A value and the comma after it, which never starts a line. */
export function Together({ children }: { children: ReactNode }) {
  return <span className="inline-flex max-w-full min-w-0 items-baseline">{children}</span>;
}
