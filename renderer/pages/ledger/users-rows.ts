/** Rows of the users table. Pure. */
import type { Tenant, User } from '../../../shared/contract/plans.ts';

export const userKey = ({ tenant, id }: Pick<User, 'tenant' | 'id'>): string => JSON.stringify([tenant, id]);
export const tenantKey = ({ id }: Pick<Tenant, 'id'>): string => id;

/** Every word that was typed is in the user, the tenant or the plan. */
export function usersLike(users: readonly User[], find: string, tenant: string | null): readonly User[] {
  const words = find
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0 && tenant === null) return users;
  return users.filter((user) => {
    if (tenant !== null && user.tenant !== tenant) return false;
    const text = `${user.id}\n${user.tenant}\n${user.plan ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export interface EffectivePlan {
  readonly name: string;
  readonly from: 'user' | 'tenant' | 'default';
}

export function effectivePlan(
  user: User,
  tenantPlans: ReadonlyMap<string, string | null>,
  defaultPlan: string,
): EffectivePlan {
  if (user.plan !== null) return { name: user.plan, from: 'user' };
  const tenants = tenantPlans.get(user.tenant) ?? null;
  return tenants === null ? { name: defaultPlan, from: 'default' } : { name: tenants, from: 'tenant' };
}
