/** A new run: a ready task, or one of your own. What it may cost at most stands in the form. */
import type { AgentTaskInput } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Presets, usePresets } from './no-run.tsx';
import { TaskForm } from './task-form.tsx';
import { useState } from 'react';

export interface StartDialogProps {
  readonly open: boolean;
  /** null = choose a ready one, or write it. */
  readonly task: AgentTaskInput | null;
  /** Why the last one was not started. */
  readonly refusal: Denial | null;
  readonly busy: boolean;
  readonly onStart: (task: AgentTaskInput) => void;
  readonly onClose: () => void;
}

export function StartDialog({ open, task, refusal, busy, onStart, onClose }: StartDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title="New agent run" wide>
      {open ? <Content task={task} refusal={refusal} busy={busy} onStart={onStart} /> : null}
    </Dialog>
  );
}

function Content({ task, refusal, busy, onStart }: Omit<StartDialogProps, 'open' | 'onClose'>) {
  const presets = usePresets();
  const [chosen, setChosen] = useState<AgentTaskInput | null>(task);
  const [showForm, setForm] = useState(true);
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div role="radiogroup" aria-label="What to run" className="flex flex-none items-center gap-1 border-b px-4 py-2">
        {[
          { text: 'Write a task', on: showForm, to: true },
          { text: 'Ready tasks', on: !showForm, to: false },
        ].map(({ text, on, to }) => (
          <button
            key={text}
            type="button"
            role="radio"
            aria-checked={on}
            onClick={() => setForm(to)}
            className={`h-6 flex-none rounded border px-2 text-table ${on ? 'border-ink bg-pick font-semibold text-ink' : 'border-transparent text-ink-3 hover:bg-pick'}`}
          >
            {text}
          </button>
        ))}
      </div>
      {refusal === null ? null : (
        <p role="alert" className="flex-none border-b bg-sunk px-6 py-2 wrap-anywhere text-ink">
          {[refusal.message, refusal.next].filter(Boolean).join(' ')}
        </p>
      )}
      <div className="min-h-0 flex-1 overflow-auto">
        {showForm ? (
          <TaskForm
            key={chosen === null ? 'new' : JSON.stringify(chosen).length}
            onStart={onStart}
            busy={busy}
            {...(chosen === null ? {} : { start: chosen })}
          />
        ) : (
          <div className="-mx-2 pt-3">
            <Presets
              presets={presets}
              busy={busy}
              onStart={onStart}
              onForm={(next) => {
                setChosen(next);
                setForm(true);
              }}
            />
          </div>
        )}
      </div>
    </div>
  );
}
