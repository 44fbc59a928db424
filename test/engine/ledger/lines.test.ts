/** Who has which plan: the user's, else the tenant's, else the default one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_DIRECTORY, type Directory, type Payer, directorySchema } from '../../../shared/contract/plans.ts';
import { policyOf } from '../../../shared/engine/ledger/lines.ts';

const names = (directory: Directory, payer: Payer): string[] => {
  const { plan, tenantPlan } = policyOf(directory, payer);
  return [plan.name, tenantPlan.name];
};

test('the plan of the user, of the tenant, and the default one', () => {
  const directory = directorySchema.parse({
    ...DEFAULT_DIRECTORY,
    users: [
      { tenant: 'acme', id: 'ada', plan: 'lab' },
      { tenant: 'acme', id: 'grace' },
      { tenant: 'globex', id: 'ada', plan: 'assistant' },
    ],
  });
  expect(names(directory, { tenant: 'acme', user: 'ada' })).toEqual(['lab', 'assistant']);
  expect(names(directory, { tenant: 'acme', user: 'grace' })).toEqual(['assistant', 'assistant']);
  expect(names(directory, { tenant: 'acme', user: 'nobody' })).toEqual(['assistant', 'assistant']);
  expect(names(directory, { tenant: 'globex', user: 'ada' })).toEqual(['assistant', 'lab']);
  expect(names(directory, { tenant: 'nowhere', user: 'ada' })).toEqual(['lab', 'lab']);
});

test('the same as searching the lists, for any directory', () => {
  const name = fc.constantFrom('a', 'b', 'a b', 'constructor', '__proto__', '');
  const plan = fc.constantFrom('lab', 'assistant', null);
  const person = fc.record({ tenant: name, id: name, plan });
  fc.assert(
    fc.property(
      fc.uniqueArray(person, { selector: ({ tenant, id }) => JSON.stringify([tenant, id]), maxLength: 8 }),
      fc.uniqueArray(fc.record({ id: name, plan }), { selector: ({ id }) => id, maxLength: 4 }),
      name,
      name,
      (users, tenants, tenant, user) => {
        const directory: Directory = { ...DEFAULT_DIRECTORY, users, tenants };
        const tenantPlan = tenants.find((one) => one.id === tenant)?.plan ?? 'lab';
        const own = users.find((one) => one.tenant === tenant && one.id === user)?.plan ?? tenantPlan;
        expect(names(directory, { tenant, user })).toEqual([own, tenantPlan]);
      },
    ),
  );
});

test('another directory is another answer, at once', () => {
  const payer = { tenant: 'acme', user: 'ada' };
  expect(names(DEFAULT_DIRECTORY, payer)).toEqual(['assistant', 'assistant']);
  expect(names({ ...DEFAULT_DIRECTORY, tenants: [] }, payer)).toEqual(['lab', 'lab']);
});
