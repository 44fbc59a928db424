/** Tenants and users, each with a plan: searched, changed one by one, or read from a file. Every change is kept at once. */
import { Download, Plus, Upload } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { Directory, Tenant, User } from '../../../shared/contract/plans.ts';
import { Button } from '../../components/button.tsx';
import { saveFile } from '../../components/clipboard.ts';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { TextBox } from '../../components/field.tsx';
import { count, counted } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { isStaleDenial, useDirectoryActions } from './plans-store.ts';
import type { DirectoryView } from './plans-store.ts';
import { UsersImport } from './users-import.tsx';
import { AddTenant, AddUser, OneTenant, OneUser } from './users-forms.tsx';
import { effectivePlan, tenantKey, userKey, usersLike } from './users-rows.ts';

export function UsersView({ view }: { view: DirectoryView }) {
  const { directory } = view;
  const [find, setFind] = useState('');
  const [tenant, setTenant] = useState<string | null>(null);
  const [user, setUser] = useState<string | null>(null);
  const [open, setOpen] = useState<'user' | 'tenant' | 'import' | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const change = useChange(setSaid);
  const shown = useMemo(() => usersLike(directory.users, find, tenant), [directory.users, find, tenant]);
  const pickedTenant = directory.tenants.find(({ id }) => id === tenant);
  const pickedUser = user === null ? undefined : directory.users.find((each) => userKey(each) === user);
  const tenantRows = useTenantRows(directory);
  const tenantColumns = useMemo(() => tenantColumnsOf(directory), [directory]);
  const userColumns = useMemo(() => userColumnsOf(directory), [directory]);
  return (
    <div className="grid min-h-0 min-w-0 flex-1 grid-cols-[minmax(280px,2fr)_minmax(0,5fr)]">
      <section aria-label="Tenants" className="flex min-h-0 min-w-0 flex-col border-r">
        <div className="flex h-12 flex-none items-center gap-2 pr-4 pl-6">
          <h2 className="lead min-w-0 flex-1">Tenants</h2>
          <Button icon={Plus} onClick={() => setOpen('tenant')}>
            Add
          </Button>
        </div>
        <div className="min-h-0 flex-1">
          <DataTable
            label="Tenants"
            rows={tenantRows}
            columns={tenantColumns}
            rowKey={tenantKey}
            picked={tenant}
            onPick={(key) => {
              setTenant(key === tenant ? null : key);
              setUser(null);
            }}
            empty={<p className="px-6 py-2">No tenant is listed. Everybody has the default plan.</p>}
          />
        </div>
        {open === 'tenant' ? (
          <AddTenant directory={directory} change={change} onDone={() => setOpen(null)} />
        ) : pickedTenant === undefined ? null : (
          <OneTenant
            key={pickedTenant.id}
            tenant={pickedTenant}
            directory={directory}
            change={change}
            onShowAll={() => setTenant(null)}
          />
        )}
      </section>
      <section aria-label="Users" className="flex min-h-0 min-w-0 flex-col">
        <div className="flex h-12 flex-none items-center gap-2 pr-4 pl-6">
          <h2 className="lead flex-none">Users</h2>
          <TextBox
            type="search"
            value={find}
            onValue={setFind}
            maxLength={200}
            aria-label="Find a user"
            placeholder={`Find in ${count(directory.users.length)} by user, tenant or plan`}
            className="max-w-80 min-w-32! shrink"
          />
          <span role="status" className="lab min-w-24 flex-1 truncate">
            {shown.length === directory.users.length
              ? counted(shown.length, 'user')
              : `${count(shown.length)} of ${count(directory.users.length)}`}
          </span>
          <Button look="flat" icon={Upload} onClick={() => setOpen('import')} title="CSV with tenant, user, plan">
            Import
          </Button>
          <ExportUsers rows={directory.users.length} onSaid={setSaid} />
          <Button icon={Plus} onClick={() => setOpen('user')}>
            Add
          </Button>
        </div>
        <div className="min-h-0 flex-1">
          <DataTable
            label="Users"
            rows={shown}
            columns={userColumns}
            rowKey={userKey}
            picked={user}
            onPick={setUser}
            empty={
              <p className="px-6 py-2">
                {directory.users.length === 0
                  ? 'Nobody is listed. Who calls has the plan of the tenant, or the default one.'
                  : 'No user like that.'}
              </p>
            }
          />
        </div>
        {open === 'user' ? (
          <AddUser directory={directory} tenant={tenant} change={change} onDone={() => setOpen(null)} />
        ) : pickedUser === undefined ? null : (
          <OneUser key={user} user={pickedUser} directory={directory} change={change} />
        )}
        {said === null ? null : (
          <p role="alert" className="flex-none border-t px-6 py-2 text-ink wrap-anywhere">
            {said}
          </p>
        )}
      </section>
      <UsersImport open={open === 'import'} onClose={() => setOpen(null)} />
    </div>
  );
}

export type Change = (how: (directory: Directory) => Directory) => Promise<Denial | null>;

/** A refusal that no box is for is said under the table; that of an old revision has its own bar. */
function useChange(onSaid: (said: string | null) => void): Change {
  const { change } = useDirectoryActions();
  return async (how) => {
    const denial = await change(how);
    onSaid(denial === null || isStaleDenial(denial) ? null : [denial.message, denial.next].filter(Boolean).join(' '));
    return denial;
  };
}

type TenantRow = Tenant & { readonly users: number };

function useTenantRows({ tenants, users }: Directory): readonly TenantRow[] {
  return useMemo(() => {
    const counts = new Map<string, number>();
    for (const { tenant } of users) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    const listed = new Set(tenants.map(({ id }) => id));
    const unlisted = [...counts.keys()].filter((id) => !listed.has(id)).map((id) => ({ id, plan: null }));
    return [...tenants, ...unlisted].map((tenant) => ({ ...tenant, users: counts.get(tenant.id) ?? 0 }));
  }, [tenants, users]);
}

const tenantColumnsOf = (directory: Directory): readonly Column<TenantRow>[] => [
  { id: 'tenant', header: 'tenant', width: 'minmax(96px, 2fr)', text: ({ id }) => id, sortBy: ({ id }) => id },
  {
    id: 'plan',
    header: 'plan',
    width: 'minmax(72px, 1fr)',
    text: ({ plan }) => plan ?? `${directory.defaultPlan} (default)`,
    sortBy: ({ plan }) => plan,
  },
  {
    id: 'users',
    header: 'users',
    width: '64px',
    numeric: true,
    text: ({ users }) => count(users),
    sortBy: ({ users }) => users,
  },
];

function userColumnsOf(directory: Directory): readonly Column<User>[] {
  const tenantPlans = new Map(directory.tenants.map(({ id, plan }) => [id, plan]));
  return [
    { id: 'user', header: 'user', width: 'minmax(140px, 2fr)', text: ({ id }) => id, sortBy: ({ id }) => id },
    {
      id: 'tenant',
      header: 'tenant',
      width: 'minmax(120px, 2fr)',
      text: ({ tenant }) => tenant,
      sortBy: ({ tenant }) => tenant,
    },
    {
      id: 'plan',
      header: 'plan',
      help: 'The user’s own plan, else the tenant’s, else the default one',
      width: 'minmax(120px, 2fr)',
      text: (user) => effectivePlan(user, tenantPlans, directory.defaultPlan).name,
      sortBy: (user) => effectivePlan(user, tenantPlans, directory.defaultPlan).name,
    },
    {
      id: 'from',
      header: 'given by',
      width: 'minmax(96px, 1fr)',
      text: (user) => effectivePlan(user, tenantPlans, directory.defaultPlan).from,
      sortBy: (user) => effectivePlan(user, tenantPlans, directory.defaultPlan).from,
    },
  ];
}

function ExportUsers({ rows, onSaid }: { rows: number; onSaid: (said: string | null) => void }) {
  const client = useClient();
  const settings = useEngine((state) => state.settings);
  const save = (): void => {
    if (settings === null) return;
    const { csvProfile, csvSeparator, csvDecimalMark } = settings;
    void client
      .request('directory.export', {
        format: 'csv',
        profile: csvProfile,
        separator: csvProfile === 'machine' ? ',' : csvSeparator,
        decimalMark: csvProfile === 'machine' ? '.' : csvDecimalMark,
      })
      .then((answer) => {
        if (!answer.ok) return onSaid([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
        saveFile(answer.value.name, [answer.value.text], answer.value.mime);
        onSaid(`${counted(answer.value.rows, 'row')} in ${answer.value.name}.`);
      });
  };
  return (
    <Button look="flat" icon={Download} disabled={rows === 0} onClick={save} title="All users as CSV">
      CSV, {counted(rows, 'row')}
    </Button>
  );
}
