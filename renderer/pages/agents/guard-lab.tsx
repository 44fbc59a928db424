/** Two calls beside each other, as the guards see them: live, with the reason for every difference. */
import { Field, TextBox } from '../../components/field.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { guardExamples } from './guard-examples.ts';
import { useComparison, useGuardDraft } from './guard-store.ts';
import type { CallDraft } from './guard-store.ts';
import { GuardVerdict } from './guard-verdict.tsx';

export function GuardLab() {
  const draft = useGuardDraft();
  const compared = useComparison(draft);
  return (
    <section aria-label="Guard lab" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex min-h-12 flex-none flex-wrap items-center gap-x-3 gap-y-1 border-b px-6 py-2">
        <h2 className="lead">Guards</h2>
        <p className="min-w-0 flex-1">When are two calls the same? Paste both, or take an example.</p>
        <div role="group" aria-label="Examples" data-presents="no" className="flex flex-wrap gap-1">
          {guardExamples.map(({ name, first, second, ignored }) => (
            <button
              key={name}
              type="button"
              className="min-h-6 rounded-sm border border-field px-1.5 text-table text-ink hover:bg-pick"
              onClick={() => useGuardDraft.setState({ first, second, ignored })}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="grid grid-cols-2 gap-x-8 px-6 pt-3">
          <CallBox title="First call" call={draft.first} onCall={(first) => useGuardDraft.setState({ first })} />
          <CallBox title="Second call" call={draft.second} onCall={(second) => useGuardDraft.setState({ second })} />
        </div>
        <div className="border-b px-6 pt-2 pb-3" data-presents={draft.ignored === '' ? 'no' : undefined}>
          <Field
            label="Ignored fields, separated by commas"
            help="Top-level fields of the arguments that say nothing about what is asked, such as cursors. A task sets them for each tool."
          >
            {({ id }) => (
              <TextBox
                id={id}
                value={draft.ignored}
                maxLength={20_000}
                placeholder="none"
                onValue={(ignored) => useGuardDraft.setState({ ignored })}
              />
            )}
          </Field>
        </div>
        {compared.kind === 'waiting' ? (
          <EmptyState title="Comparing" text="The two calls are compared as soon as the console answers." />
        ) : compared.kind === 'refused' ? (
          <p role="alert" className="px-6 py-3 wrap-anywhere text-ink">
            {compared.text}
          </p>
        ) : (
          <GuardVerdict comparison={compared.comparison} />
        )}
      </div>
    </section>
  );
}

interface CallBoxProps {
  readonly title: string;
  readonly call: CallDraft;
  readonly onCall: (call: CallDraft) => void;
}

function CallBox({ title, call, onCall }: CallBoxProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="font-semibold text-ink">{title}</legend>
      <Field label="Tool">
        {({ id }) => (
          <TextBox
            id={id}
            className="mono"
            value={call.tool}
            maxLength={300}
            onValue={(tool) => onCall({ ...call, tool })}
          />
        )}
      </Field>
      <Field label="Arguments, JSON" help="As the model wrote them: key order, number forms and duplicates are seen.">
        {({ id }) => (
          <Area id={id} value={call.args} rows={2} placeholder="{}" onValue={(args) => onCall({ ...call, args })} />
        )}
      </Field>
      <div data-presents={call.result === '' ? 'no' : undefined}>
        <Field label="Result" help="What came back. Empty: only the calls are compared, not their states.">
          {({ id }) => (
            <Area
              id={id}
              value={call.result}
              rows={2}
              placeholder="none"
              onValue={(result) => onCall({ ...call, result })}
            />
          )}
        </Field>
      </div>
    </fieldset>
  );
}

interface AreaProps {
  readonly id: string;
  readonly value: string;
  readonly rows: number;
  readonly placeholder: string;
  readonly onValue: (value: string) => void;
}

function Area({ id, value, rows, placeholder, onValue }: AreaProps) {
  return (
    <textarea
      id={id}
      rows={rows}
      spellCheck={false}
      maxLength={1_000_000}
      value={value}
      placeholder={placeholder}
      className="field h-auto! resize-y py-1"
      onChange={(event) => {
        onValue(event.target.value);
      }}
    />
  );
}
