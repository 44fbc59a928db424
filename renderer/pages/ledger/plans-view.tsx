/** Plans, tenants and users: who may spend what. Takes the whole work area of the page and scrolls by itself. */
import { Plus, TriangleAlert } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useMemo, useState } from 'react';
import type { Plan } from '../../../shared/contract/plans.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TextBox } from '../../components/field.tsx';
import { Tabs, TabPanel } from '../../components/tabs.tsx';
import { count } from '../../format/numbers.ts';
import { usePrices } from '../costs/use-costs.ts';
import { PlanForm } from './plans-form.tsx';
import { NEW_PLAN, plans, useDirectory, useDirectoryActions, usePlans } from './plans-store.ts';
import type { DirectoryView } from './plans-store.ts';
import { textOfPlan } from './plans-text.ts';
import { planSummary } from './plans-words.ts';
import { UsersView } from './users-view.tsx';

export function PlansView() {
  const view = useDirectory();
  const denial = usePlans((state) => state.denial);
  const isStale = usePlans((state) => state.isStale);
  const { load } = useDirectoryActions();
  const [tab, setTab] = useState<'plans' | 'people'>('plans');
  if (view === null)
    return denial === null ? (
      <p className="px-6 py-4 text-ink-3">Reading plans and users</p>
    ) : (
      <EmptyState title={denial.message} {...(denial.next === undefined ? {} : { text: denial.next })}>
        <Button onClick={() => void load()}>Try again</Button>
      </EmptyState>
    );
  const { directory } = view;
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      {isStale ? <Stale onReload={() => void load()} /> : null}
      <Tabs
        label="Parts of the directory"
        value={tab}
        onValue={setTab}
        items={[
          { id: 'plans', text: 'Plans', note: count(directory.plans.length) },
          { id: 'people', text: 'Tenants and users', note: count(directory.users.length) },
        ]}
        className="flex-1 [&>div:first-child]:px-6"
      >
        <TabPanel id="plans" className="flex data-[state=inactive]:hidden">
          <PlansTab view={view} />
        </TabPanel>
        <TabPanel id="people" className="flex data-[state=inactive]:hidden">
          <UsersView view={view} />
        </TabPanel>
      </Tabs>
    </div>
  );
}

function Stale({ onReload }: { onReload: () => void }) {
  return (
    <div role="alert" className="flex flex-none items-center gap-3 border-b bg-pick px-6 py-2">
      <p className="min-w-0 flex-1 text-ink">
        Plans or users were changed elsewhere meanwhile. Nothing was saved, and what you typed is kept. Load the new
        state, then save again.
      </p>
      <Button onClick={onReload}>Load the new state</Button>
    </div>
  );
}

const FIND_FROM = 8;

function PlansTab({ view }: { view: DirectoryView }) {
  const { directory } = view;
  const drafts = usePlans((state) => state.drafts);
  const picked = usePlans((state) => state.picked);
  const [prices] = usePrices();
  const [find, setFind] = useState('');
  const key = drafts.has(NEW_PLAN) && picked === NEW_PLAN ? NEW_PLAN : storedName(directory.plans, picked);
  const stored = directory.plans.find((plan) => plan.name === key) ?? null;
  const draft = drafts.get(key);
  const shownDraft = useMemo(
    () => draft ?? (stored === null ? null : { base: stored, text: textOfPlan(stored) }),
    [draft, stored],
  );
  const warned = useMemo(() => new Set(view.warnings.map((warning) => warning.plan)), [view.warnings]);
  const shown = directory.plans.filter((plan) => plan.name.toLowerCase().includes(find.trim().toLowerCase()));
  const newDraft = drafts.get(NEW_PLAN);
  return (
    <>
      <nav
        aria-label="Plans"
        className="flex w-72 min-w-0 flex-none flex-col border-r max-[1100px]:w-52 min-[1700px]:w-96"
      >
        {directory.plans.length < FIND_FROM ? null : (
          <div className="flex-none px-4 pt-3">
            <TextBox
              value={find}
              onValue={setFind}
              maxLength={200}
              aria-label="Find a plan"
              placeholder={`Find in ${count(directory.plans.length)}`}
            />
          </div>
        )}
        <ul className="min-h-0 flex-1 overflow-auto py-2">
          {newDraft === undefined ? null : (
            <PlanLine
              name={newDraft.text.name}
              note="new, not saved yet"
              on={key === NEW_PLAN}
              onPick={() => plans.pick(NEW_PLAN)}
            />
          )}
          {shown.map((plan) => (
            <PlanLine
              key={plan.name}
              name={plan.name}
              note={planSummary(plan)}
              tags={[
                plan.name === directory.defaultPlan ? 'default' : null,
                drafts.has(plan.name) ? 'not saved' : null,
              ]}
              isWarned={warned.has(plan.name)}
              on={plan.name === key}
              onPick={() => plans.pick(plan.name)}
            />
          ))}
          {shown.length === 0 ? <li className="px-6 py-2">No plan of that name.</li> : null}
        </ul>
        <div className="flex-none border-t px-4 py-2">
          <NewPlan plans={directory.plans} picked={stored} />
        </div>
      </nav>
      {shownDraft === null ? null : (
        <PlanForm
          key={key}
          view={view}
          draftKey={key}
          stored={stored}
          draft={shownDraft}
          isTyped={draft !== undefined}
          prices={prices ?? []}
        />
      )}
    </>
  );
}

function storedName(all: readonly Plan[], picked: string | null): string {
  return all.some((plan) => plan.name === picked) && picked !== null ? picked : (all[0]?.name ?? '');
}

interface PlanLineProps {
  readonly name: string;
  readonly note: string;
  readonly tags?: readonly (string | null)[];
  readonly isWarned?: boolean;
  readonly on: boolean;
  readonly onPick: () => void;
}

function PlanLine({ name, note, tags = [], isWarned = false, on, onPick }: PlanLineProps) {
  return (
    <li>
      <button
        type="button"
        aria-current={on}
        onClick={onPick}
        title={name}
        className={`block w-full px-6 py-1.5 text-left -outline-offset-2 ${on ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
      >
        <span className="flex items-center gap-2">
          <b className="min-w-0 truncate">{name === '' ? 'without a name' : name}</b>
          {isWarned ? (
            <TriangleAlert size={13} strokeWidth={2} className="flex-none" aria-label="with a warning" />
          ) : null}
          {tags.map((tag) =>
            tag === null ? null : (
              <span key={tag} className="lab flex-none rounded-sm border border-field px-1">
                {tag}
              </span>
            ),
          )}
        </span>
        <span className="lab block truncate">{note}</span>
      </button>
    </li>
  );
}

/** A plan begins as a copy: the shipped ones, if they are still there, or the one that is open. */
function NewPlan({ plans: all, picked }: { plans: readonly Plan[]; picked: Plan | null }) {
  const [open, setOpen] = useState(false);
  const sources = [
    ...new Set([
      ...all.filter(({ name }) => name === 'assistant' || name === 'lab'),
      ...(picked === null ? [] : [picked]),
    ]),
  ];
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button icon={Plus}>New plan</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          side="top"
          sideOffset={4}
          aria-label="New plan"
          className="menu flex w-80 flex-col py-1"
        >
          <p className="lab px-3 py-1">It begins as a copy of</p>
          {sources.map((plan) => (
            <button
              key={plan.name}
              type="button"
              className="menu-item text-left hover:bg-pick"
              onClick={() => {
                plans.startNew(plan, freeName(plan.name, all));
                setOpen(false);
              }}
            >
              <b className="flex-none max-w-40 truncate">{plan.name}</b>
              <span className="lab min-w-0 flex-1 truncate">{planSummary(plan)}</span>
            </button>
          ))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function freeName(name: string, all: readonly Plan[]): string {
  const taken = new Set(all.map((plan) => plan.name));
  const base = name.slice(0, 180);
  for (let number = 2; ; number += 1) if (!taken.has(`${base} ${number}`)) return `${base} ${number}`;
}
