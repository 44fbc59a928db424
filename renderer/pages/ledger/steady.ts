/** Groups keep their places while the pointer is over them, so that nothing moves away from under a click. Pure. */
import type { TankGroup } from './tank-model.ts';

/** `held`: as they stand on screen. What is new goes to the end of its group; what is gone goes. */
export function steadyGroups(fresh: readonly TankGroup[], held: readonly TankGroup[] | null): readonly TankGroup[] {
  if (held === null) return fresh;
  const byTenant = new Map(fresh.map((group) => [group.tenant, group]));
  const standing = held.flatMap(({ tenant, balances }) => {
    const group = byTenant.get(tenant);
    if (group === undefined) return [];
    const byKey = new Map(group.balances.map((balance) => [balance.key, balance]));
    const kept = balances.flatMap(({ key }) => byKey.get(key) ?? []);
    const known = new Set(kept);
    return [{ tenant, balances: [...kept, ...group.balances.filter((balance) => !known.has(balance))] }];
  });
  const here = new Set(standing.map(({ tenant }) => tenant));
  return [...standing, ...fresh.filter(({ tenant }) => !here.has(tenant))];
}
