/** Who has which plan, as a table. A row without a user is about the tenant; one without a plan leaves it to the tenant's. */
import type { Directory } from '../../contract/plans.ts';
import type { Column, RowOf } from './columns.ts';

export const directoryColumns = [
  { name: 'tenant', type: 'text' },
  { name: 'user', type: 'text' },
  { name: 'plan', type: 'text' },
] as const satisfies readonly Column[];

export type DirectoryRow = RowOf<(typeof directoryColumns)[number]>;

/** Tenants first, so that an import finds them before their users. */
export function directoryRows({ tenants, users }: Directory): DirectoryRow[] {
  return [
    ...tenants.map(({ id, plan }) => ({ tenant: id, user: null, plan })),
    ...users.map(({ tenant, id, plan }) => ({ tenant, user: id, plan })),
  ];
}
