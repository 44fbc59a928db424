/** The search for the smallest output cap that answers so often in a row: its place in the sentence, and what it found. */
import { useEffect, useState } from 'react';
import type { ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { ReasoningSummary } from '../../../shared/contract/reasoning.ts';
import { Choice, Field, TextBox } from '../../components/field.tsx';
import { Help, Slot } from '../../components/slot.tsx';
import { useClient } from '../../stores/engine-context.ts';
import { thinkWord } from '../../format/reasoning.ts';
import { draft } from './draft.ts';
import { usualCapSearch } from './form-text.ts';
import type { FormCapSearch } from './form-text.ts';

const thinks = ['default', 'off', 'on', 'low', 'medium', 'high', 'max'] as const;

export function CapSearchSlot({
  value,
  problem,
  disabled,
}: {
  readonly value: FormCapSearch | null;
  readonly problem: string | null;
  readonly disabled: boolean;
}) {
  const change = (patch: Partial<FormCapSearch>): void => {
    draft.edit({ capSearch: { ...(value ?? usualCapSearch), ...patch } });
  };
  return (
    <Slot label="Cap search" value={capSearchWord(value)} problem={problem} disabled={disabled} small>
      <label className="flex min-h-6 items-center gap-2 text-ink">
        <input
          type="checkbox"
          className="flex-none accent-(--ink)"
          checked={value !== null}
          onChange={(event) => {
            draft.edit({ capSearch: event.target.checked ? usualCapSearch : null });
          }}
        />
        Find the smallest cap that answers
      </label>
      {value === null ? null : (
        <div className="grid grid-cols-2 gap-2">
          <Field label="think" code>
            {({ id }) => (
              <Choice
                id={id}
                label="think of the search"
                value={wordOf(value.think)}
                options={thinks.map((word) => ({ value: word, text: word }))}
                onValue={(word) => {
                  change({ think: word === 'on' ? true : word === 'off' ? false : word });
                }}
              />
            )}
          </Field>
          {boxes.map(([name, label]) => (
            <Field key={name} label={label}>
              {({ id }) => (
                <TextBox
                  id={id}
                  value={value[name]}
                  onValue={(text) => {
                    change({ [name]: text });
                  }}
                />
              )}
            </Field>
          ))}
        </div>
      )}
      <Help text="Halves the range call by call after the lanes of each model. A cap counts as enough when that many calls in a row answered." />
    </Slot>
  );
}

const boxes = [
  ['capMin', 'from, tokens'],
  ['capMax', 'to, tokens'],
  ['inARow', 'answers in a row'],
  ['within', 'to within, tokens'],
  ['runsMax', 'calls at most'],
] as const;

export function capSearchWord(value: FormCapSearch | null): string {
  if (value === null) return 'no cap search';
  return `smallest cap, think ${thinkWord(value.think)}, ${value.capMin} to ${value.capMax}`;
}

function wordOf(think: FormCapSearch['think']): (typeof thinks)[number] {
  return think === true ? 'on' : think === false ? 'off' : think;
}

/** What the searches of a run came to, one sentence each; nothing while it runs, or without a search. */
export function CapsFound({ run }: { readonly run: ReasoningRun | null }) {
  const client = useClient();
  const [found, setFound] = useState<{ of: string; caps: NonNullable<ReasoningSummary['caps']> } | null>(null);
  const runId = run !== null && run.state !== 'running' && run.experiment.findCap !== undefined ? run.id : null;
  const done = run?.cellsDone ?? 0;
  useEffect(() => {
    if (runId === null) return;
    let current = true;
    void client.request('reasoning.summary', { runId }).then((answer) => {
      if (current && answer.ok) setFound({ of: runId, caps: answer.value.caps ?? [] });
    });
    return () => {
      current = false;
    };
  }, [client, runId, done]);
  if (runId === null || found?.of !== runId) return null;
  return (
    <ul aria-label="Caps found" className="mt-1 text-table text-ink">
      {found.caps.map((cap) => (
        <li key={`${cap.model} ${cap.sentence}`} className="wrap-anywhere">
          {found.caps.length > 1 ? `${cap.model}: ` : ''}
          {cap.sentence}
        </li>
      ))}
    </ul>
  );
}
