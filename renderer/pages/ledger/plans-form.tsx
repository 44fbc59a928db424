/** One plan as a form. What is typed stays until it is saved or dropped; what is wrong stands beside its box. */
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import type { PriceList } from '../../../shared/contract/costs.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { Plan } from '../../../shared/contract/plans.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Field, TextBox } from '../../components/field.tsx';
import { BudgetsPart } from './plans-budgets.tsx';
import { LimitsPart } from './plans-limits.tsx';
import { ChargingPart, PeriodsPart } from './plans-periods.tsx';
import { isStaleDenial, plans, useDirectoryActions, withPlan, withoutPlan } from './plans-store.ts';
import type { DirectoryView, PlanDraft } from './plans-store.ts';
import { planField, readPlan, textOfPlan } from './plans-text.ts';
import type { PlanProblems, PlanText } from './plans-text.ts';
import { Warnings, standingWarnings } from './plans-warning.tsx';
import { usesOf, usedByText } from './plans-words.ts';

export interface PlanFormProps {
  readonly view: DirectoryView;
  /** The stored name, or that of a new one. */
  readonly draftKey: string;
  readonly stored: Plan | null;
  readonly draft: PlanDraft;
  readonly isTyped: boolean;
  readonly prices: PriceList;
}

export function PlanForm({ view, draftKey, stored, draft, isTyped, prices }: PlanFormProps) {
  const { directory } = view;
  const { change } = useDirectoryActions();
  const [refusal, setRefusal] = useState<Denial | null>(null);
  const [saving, setSaving] = useState(false);
  const { text } = draft;
  const others = useMemo(() => directory.plans.filter((plan) => plan !== stored), [directory, stored]);
  const read = useMemo(() => readPlan(text, others), [text, others]);
  const refused = refusal === null ? null : planField(refusal.field);
  const problems: PlanProblems = {
    ...(refusal !== null && refused !== null ? { [refused.field]: words(refusal) } : {}),
    ...('problems' in read ? read.problems : {}),
  };
  const onText = (next: PlanText): void => {
    setRefusal(null);
    plans.type(draftKey, draft.base, next);
  };
  const save = (): void => {
    if ('problems' in read) return;
    setSaving(true);
    void change((now) => withPlan(now, stored?.name ?? null, read.plan)).then((denial) => {
      setSaving(false);
      setRefusal(denial === null || isStaleDenial(denial) ? null : denial);
      if (denial !== null) return;
      plans.drop(draftKey);
      plans.pick(read.plan.name);
    });
  };
  const isOverwriting = isTyped && stored !== null && draft.base !== null && !same(stored, draft.base);
  const saved = useMemo(() => (stored === null ? null : textOfPlan(stored)), [stored]);
  const all = view.warnings.filter((warning) => warning.plan === stored?.name);
  const standing = standingWarnings(all, text, saved);
  const warningsOf = (part: RegExp): typeof standing => standing.filter(({ field }) => part.test(field));
  return (
    <form
      aria-label={`Plan ${text.name}`}
      noValidate
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="min-h-0 flex-1 overflow-auto px-6 pb-6">
        <div className="flex max-w-[1100px] flex-col">
          <Part title="Plan">
            <div className="grid grid-cols-[minmax(0,360px)_minmax(0,1fr)] items-end gap-3">
              <Field label="Name" problem={problems['name'] ?? null}>
                {({ id, problemId }) => (
                  <TextBox
                    id={id}
                    value={text.name}
                    maxLength={300}
                    aria-invalid={problems['name'] !== undefined}
                    aria-describedby={problems['name'] === undefined ? undefined : problemId}
                    onValue={(name) => onText({ ...text, name })}
                  />
                )}
              </Field>
              <p className="lab pb-1.5">
                {stored === null
                  ? 'Not saved yet.'
                  : `Used by ${usedByText(usesOf(directory).get(stored.name), directory.defaultPlan === stored.name)}.`}
              </p>
            </div>
            {isOverwriting ? <Overwriting onTheirs={() => plans.drop(draftKey)} /> : null}
          </Part>
          <Part
            title="Limits of a call"
            note="checked before any budget is touched · empty = unlimited, 0 = nothing is allowed"
          >
            <LimitsPart text={text} problems={problems} warnings={warningsOf(/^limits|^onConv/u)} onText={onText} />
          </Part>
          <Part
            title="Budgets"
            note="reserved before the call, settled after it · empty = unlimited, 0 = nothing is allowed"
          >
            <BudgetsPart
              budgets={text.budgets}
              problems={problems}
              onBudgets={(budgets) => onText({ ...text, budgets })}
            />
            <Warnings warnings={warningsOf(/^budgets/u)} text={text} onText={onText} />
          </Part>
          <Part title="Periods" note="when days, weeks and months begin">
            <PeriodsPart text={text} problems={problems} zones={view.timeZones} onText={onText} />
          </Part>
          <Part title="Charging">
            <ChargingPart text={text} problems={problems} prices={prices} onText={onText} />
            <Warnings warnings={warningsOf(/^(?!limits|onConv|budgets)/u)} text={text} onText={onText} />
          </Part>
        </div>
      </div>
      <Footer
        view={view}
        stored={stored}
        isTyped={isTyped}
        saving={saving}
        problems={problems}
        said={refusal !== null && refused === null ? words(refusal) : null}
        onDrop={() => {
          setRefusal(null);
          plans.drop(draftKey);
          if (stored === null) plans.pick(directory.defaultPlan);
        }}
        onRefusal={setRefusal}
      />
    </form>
  );
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-b py-4 last:border-b-0">
      <h2 className="mb-2 flex flex-wrap items-baseline gap-x-2">
        <span className="lead">{title}</span>
        {note === undefined ? null : <span className="lab font-normal">{note}</span>}
      </h2>
      <div className="flex flex-col gap-3">{children}</div>
    </section>
  );
}

function Overwriting({ onTheirs }: { onTheirs: () => void }) {
  return (
    <div role="note" className="flex items-center gap-3 border-l-2 border-field bg-sunk px-3 py-2">
      <p className="min-w-0 flex-1 text-ink">
        This plan was changed elsewhere after you began to type. Save replaces it.
      </p>
      <Button onClick={onTheirs}>Take the other one</Button>
    </div>
  );
}

interface FooterProps {
  readonly view: DirectoryView;
  readonly stored: Plan | null;
  readonly isTyped: boolean;
  readonly saving: boolean;
  readonly problems: PlanProblems;
  readonly said: string | null;
  readonly onDrop: () => void;
  readonly onRefusal: (denial: Denial | null) => void;
}

function Footer({ view, stored, isTyped, saving, problems, said, onDrop, onRefusal }: FooterProps) {
  const { directory } = view;
  const { change } = useDirectoryActions();
  const [removing, setRemoving] = useState(false);
  const wrong = Object.keys(problems).length;
  const isDefault = stored?.name === directory.defaultPlan;
  const act = (how: Parameters<typeof change>[0], done: () => void): void => {
    void change(how).then((denial) => {
      onRefusal(denial);
      if (denial === null) done();
    });
  };
  return (
    <div className="flex min-h-12 flex-none flex-wrap items-center gap-2 border-t px-6 py-2">
      <Button look="primary" type="submit" disabled={!isTyped || wrong > 0 || saving}>
        Save
      </Button>
      <Button disabled={!isTyped} onClick={onDrop}>
        {stored === null ? 'Drop it' : 'Undo'}
      </Button>
      <span className="min-w-0 flex-1 text-ink wrap-anywhere" role="status">
        {said ?? (wrong > 0 ? wrongText(problems) : isTyped ? 'Not saved yet.' : '')}
      </span>
      {stored === null ? null : (
        <>
          <Button
            look="flat"
            disabled={isDefault || isTyped}
            title={isDefault ? 'It is the default plan already.' : 'Who is not listed has the default plan.'}
            onClick={() =>
              act(
                (now) => ({ ...now, defaultPlan: stored.name }),
                () => undefined,
              )
            }
          >
            Make it the default
          </Button>
          <Button
            look="flat"
            disabled={isDefault}
            title={isDefault ? 'The default plan stays. Make another one the default first.' : ''}
            onClick={() => setRemoving(true)}
          >
            Remove
          </Button>
          <Confirm
            open={removing}
            title={`Remove the plan ${stored.name}?`}
            text={`It is used by ${usedByText(usesOf(directory).get(stored.name), false)}. Users go to the plan of their tenant, tenants to the default plan, ${directory.defaultPlan}. What was spent stays in the journal.`}
            action="Remove"
            onConfirm={() =>
              act(
                (now) => withoutPlan(now, stored.name),
                () => {
                  plans.drop(stored.name);
                  plans.pick(directory.defaultPlan);
                },
              )
            }
            onClose={() => setRemoving(false)}
          />
        </>
      )}
    </div>
  );
}

const words = ({ message, next }: Denial): string => [message, next].filter(Boolean).join(' ');

/** The first one in full, because it may be out of sight. */
function wrongText(problems: PlanProblems): string {
  const all = Object.values(problems);
  return all.length > 1 ? `${all[0]} And ${all.length - 1} more.` : (all[0] ?? '');
}

const same = (one: Plan, other: Plan): boolean => JSON.stringify(one) === JSON.stringify(other);
