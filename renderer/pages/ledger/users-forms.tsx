/** A tenant or a user: added, given another plan, removed. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { nameSchema } from '../../../shared/contract/plans.ts';
import type { Directory, Tenant, User } from '../../../shared/contract/plans.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Choice, Field, TextBox } from '../../components/field.tsx';
import { counted } from '../../format/numbers.ts';
import { userKey } from './users-rows.ts';
import type { Change } from './users-view.tsx';

interface AddProps {
  readonly directory: Directory;
  readonly change: Change;
  readonly onDone: () => void;
}

export function AddTenant({ directory, change, onDone }: AddProps) {
  const [id, setId] = useState('');
  const [plan, setPlan] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const add = (): void => {
    const taken = directory.tenants.some((tenant) => tenant.id === id.trim());
    const wrong = nameProblem('Tenant', id) ?? (taken ? 'Tenant is there already.' : null);
    setProblem(wrong);
    if (wrong !== null) return;
    const tenant = { id: id.trim(), plan: plan === '' ? null : plan };
    void change((now) => ({ ...now, tenants: [...now.tenants, tenant] })).then((denial) => {
      if (denial === null) onDone();
    });
  };
  return (
    <Strip label="Add a tenant" onSubmit={add}>
      <NameField label="Tenant" value={id} problem={problem} onValue={setId} />
      <PlanChoice label="Plan" value={plan} directory={directory} none="the default plan" onValue={setPlan} />
      <Acts action="Add" onCancel={onDone} />
    </Strip>
  );
}

export function AddUser({ directory, tenant, change, onDone }: AddProps & { readonly tenant: string | null }) {
  const [typed, setTyped] = useState({ tenant: tenant ?? directory.tenants[0]?.id ?? '', id: '', plan: '' });
  const [problems, setProblems] = useState<{ tenant: string | null; id: string | null }>({ tenant: null, id: null });
  const add = (): void => {
    const user = { tenant: typed.tenant.trim(), id: typed.id.trim(), plan: typed.plan === '' ? null : typed.plan };
    const taken = directory.users.some((each) => userKey(each) === userKey(user));
    const next = {
      tenant: nameProblem('Tenant', typed.tenant),
      id: nameProblem('User', typed.id) ?? (taken ? `User is there already, in ${user.tenant}.` : null),
    };
    setProblems(next);
    if (next.tenant !== null || next.id !== null) return;
    void change((now) => ({ ...now, users: [...now.users, user] })).then((denial) => {
      if (denial === null) onDone();
    });
  };
  return (
    <Strip label="Add a user" onSubmit={add}>
      <NameField label="User" value={typed.id} problem={problems.id} onValue={(id) => setTyped({ ...typed, id })} />
      <NameField
        label="Tenant"
        value={typed.tenant}
        problem={problems.tenant}
        onValue={(next) => setTyped({ ...typed, tenant: next })}
      />
      <PlanChoice
        label="Plan"
        value={typed.plan}
        directory={directory}
        none="as the tenant"
        onValue={(plan) => setTyped({ ...typed, plan })}
      />
      <Acts action="Add" onCancel={onDone} />
    </Strip>
  );
}

interface OneTenantProps {
  readonly tenant: Tenant;
  readonly directory: Directory;
  readonly change: Change;
  readonly onShowAll: () => void;
}

export function OneTenant({ tenant, directory, change, onShowAll }: OneTenantProps) {
  const [removing, setRemoving] = useState(false);
  const users = directory.users.filter((user) => user.tenant === tenant.id).length;
  const setPlan = (plan: string): void =>
    void change((now) => ({
      ...now,
      tenants: now.tenants.map((each) => (each.id === tenant.id ? { ...each, plan: plan === '' ? null : plan } : each)),
    }));
  return (
    <Strip label={`Tenant ${tenant.id}`}>
      <PlanChoice
        label={`Plan of ${tenant.id}`}
        value={tenant.plan ?? ''}
        directory={directory}
        none="the default plan"
        onValue={setPlan}
      />
      <span className="flex gap-2 self-end">
        <Button onClick={() => setRemoving(true)}>Remove</Button>
        <Button look="flat" onClick={onShowAll}>
          Show all users
        </Button>
      </span>
      <Confirm
        open={removing}
        title={`Remove the tenant ${tenant.id}?`}
        text={`${users === 0 ? 'It has no users.' : `Its ${counted(users, 'user')} go too.`} What was spent stays in the journal. Calls in its name are then under the default plan, ${directory.defaultPlan}.`}
        action="Remove"
        onConfirm={() =>
          void change((now) => ({
            ...now,
            tenants: now.tenants.filter((each) => each.id !== tenant.id),
            users: now.users.filter((each) => each.tenant !== tenant.id),
          })).then((denial) => {
            if (denial === null) onShowAll();
          })
        }
        onClose={() => setRemoving(false)}
      />
    </Strip>
  );
}

export function OneUser({ user, directory, change }: { user: User; directory: Directory; change: Change }) {
  const [removing, setRemoving] = useState(false);
  const key = userKey(user);
  const setPlan = (plan: string): void =>
    void change((now) => ({
      ...now,
      users: now.users.map((each) => (userKey(each) === key ? { ...each, plan: plan === '' ? null : plan } : each)),
    }));
  return (
    <Strip label={`User ${user.id}`}>
      <PlanChoice
        label={`Plan of ${user.id}, ${user.tenant}`}
        value={user.plan ?? ''}
        directory={directory}
        none="as the tenant"
        onValue={setPlan}
      />
      <span className="flex self-end">
        <Button onClick={() => setRemoving(true)}>Remove</Button>
      </span>
      <Confirm
        open={removing}
        title={`Remove the user ${user.id} of ${user.tenant}?`}
        text="What was spent stays in the journal. Calls in that name are then under the plan of the tenant."
        action="Remove"
        onConfirm={() => void change((now) => ({ ...now, users: now.users.filter((each) => userKey(each) !== key) }))}
        onClose={() => setRemoving(false)}
      />
    </Strip>
  );
}

/** The bar under a table; it has the room of one row, so that the table stays. */
function Strip({ label, onSubmit, children }: { label: string; onSubmit?: () => void; children: ReactNode }) {
  return (
    <form
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.();
      }}
      className="flex flex-none flex-wrap items-start gap-3 border-t bg-sunk px-6 py-2.5 [&>div]:w-56 [&>div]:max-w-full"
    >
      {children}
    </form>
  );
}

function NameField({
  label,
  value,
  problem,
  onValue,
}: {
  label: string;
  value: string;
  problem: string | null;
  onValue: (value: string) => void;
}) {
  return (
    <Field label={label} problem={problem}>
      {({ id, problemId }) => (
        <TextBox
          id={id}
          value={value}
          maxLength={300}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : problemId}
          onValue={onValue}
        />
      )}
    </Field>
  );
}

function PlanChoice({
  label,
  value,
  directory,
  none,
  onValue,
}: {
  label: string;
  value: string;
  directory: Directory;
  none: string;
  onValue: (value: string) => void;
}) {
  return (
    <Field label={label}>
      {({ id }) => (
        <Choice
          id={id}
          value={value}
          options={[{ value: '', text: none }, ...directory.plans.map(({ name }) => ({ value: name, text: name }))]}
          onValue={onValue}
        />
      )}
    </Field>
  );
}

function Acts({ action, onCancel }: { action: string; onCancel: () => void }) {
  return (
    <span className="mt-4 flex gap-2">
      <Button look="primary" type="submit">
        {action}
      </Button>
      <Button onClick={onCancel}>Cancel</Button>
    </span>
  );
}

/** In the contract's words. */
function nameProblem(label: string, text: string): string | null {
  const read = nameSchema.safeParse(text);
  return read.success ? null : `${label} ${read.error.issues[0]?.message ?? 'is not accepted'}.`;
}
