import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_DIRECTORY, type Directory, directorySchema, planSchema } from '../../../shared/contract/plans.ts';
import { policyOf } from '../../../shared/engine/ledger/lines.ts';
import { createDirectory } from '../../../shared/node/ledger/directory.ts';
import { closedPlan, readDirectory } from '../../../shared/node/ledger/read-directory.ts';
import { freshHome, freshStore, value } from '../storage/samples.ts';

const withUser = (id: string): Directory =>
  directorySchema.parse({ ...DEFAULT_DIRECTORY, users: [...DEFAULT_DIRECTORY.users, { tenant: 'acme', id }] });

describe('kept in a database', () => {
  test('the default one where nothing was saved; changes are there after a restart, with their number', () => {
    const home = freshHome();
    const first = freshStore(home);
    const directory = createDirectory({ store: first });
    expect([directory.current(), directory.revision(), directory.notices]).toEqual([DEFAULT_DIRECTORY, 0, []]);
    value(directory.set({ directory: withUser('mary'), revision: 0 }));
    value(directory.set({ directory: withUser('joan'), revision: 1 }));
    first.close();

    const again = createDirectory({ store: freshStore(home) });
    expect([again.current(), again.revision(), again.notices]).toEqual([withUser('joan'), 2, []]);
  });

  test('a change from an older revision is refused, and nothing is changed', () => {
    const store = freshStore();
    const directory = createDirectory({ store });
    value(directory.set({ directory: withUser('mary'), revision: 0 }));
    for (const revision of [0, 2]) {
      expect(directory.set({ directory: withUser('joan'), revision })).toEqual({
        ok: false,
        denial: {
          code: 'busy',
          message: 'Plans, tenants or users were changed meanwhile.',
          field: 'revision',
          next: 'Reload them, then make your change again.',
        },
      });
    }
    expect([directory.current(), directory.revision()]).toEqual([withUser('mary'), 1]);
    expect(JSON.parse(store.directory()?.json ?? '')).toEqual(withUser('mary'));
  });

  test('the database holds that law too', () => {
    const store = freshStore();
    expect(store.saveDirectory({ json: '{}', revision: 2 })).toMatchObject({ ok: false, denial: { code: 'busy' } });
    expect(store.directory()).toBeNull();
    value(store.saveDirectory({ json: '{}', revision: 1 }));
    expect(store.saveDirectory({ json: '{"a":1}', revision: 1 })).toMatchObject({ ok: false });
    expect(store.directory()).toEqual({ json: '{}', revision: 1 });
  });

  test('what the store refuses is not in use', () => {
    const refusal = { ok: false, denial: { code: 'storage-full', message: 'The disk is full.' } } as const;
    const directory = createDirectory({ store: { directory: () => null, saveDirectory: () => refusal } });
    const told: Directory[] = [];
    directory.onChange((next) => told.push(next));
    expect(directory.set({ directory: withUser('mary'), revision: 0 })).toBe(refusal);
    expect([directory.current(), directory.revision(), told]).toEqual([DEFAULT_DIRECTORY, 0, []]);
  });
});

test('a plan that somebody has cannot vanish', () => {
  const directory = createDirectory();
  const plans = DEFAULT_DIRECTORY.plans.filter((plan) => plan.name !== 'assistant');
  expect(directory.set({ directory: { ...DEFAULT_DIRECTORY, plans }, revision: 0 })).toMatchObject({
    ok: false,
    denial: { code: 'bad-input', field: 'tenants[1].plan', message: 'tenants[1].plan: there is no plan assistant.' },
  });
  expect(directory.current()).toEqual(DEFAULT_DIRECTORY);
});

test('listeners hear of every change until they leave', () => {
  const directory = createDirectory();
  const told: number[] = [];
  const leave = directory.onChange((next) => told.push(next.users.length));
  value(directory.set({ directory: withUser('mary'), revision: 0 }));
  leave();
  value(directory.set({ directory: DEFAULT_DIRECTORY, revision: 1 }));
  expect(told).toEqual([4]);
});

describe('a stored one that this version cannot read whole', () => {
  const stored = (change: object): ReturnType<typeof readDirectory> =>
    readDirectory(JSON.stringify({ ...DEFAULT_DIRECTORY, ...change }));
  const [lab, assistant] = DEFAULT_DIRECTORY.plans as [Directory['plans'][0], Directory['plans'][0]];
  const texts = (read: ReturnType<typeof readDirectory>): string[] => read.notices.map((notice) => notice.text);

  test('fields of a newer version are left out, and the rest holds', () => {
    const budgets = assistant.budgets.map((budget) => ({ ...budget, colour: 'red' }));
    const read = stored({
      colour: 'red',
      plans: [lab, { ...assistant, colour: 'red', budgets, limits: { ...assistant.limits, colour: 'red' } }],
      users: DEFAULT_DIRECTORY.users.map((user) => ({ ...user, colour: 'red' })),
    });
    expect(read.directory).toEqual(DEFAULT_DIRECTORY);
  });

  test('a plan that cannot be read allows nothing, and the others hold', () => {
    const budgets = [{ ...assistant.budgets[0], window: 'fortnight' }];
    const read = stored({ plans: [lab, { ...assistant, budgets }] });
    expect(read.directory).toEqual({ ...DEFAULT_DIRECTORY, plans: [lab, closedPlan('assistant')] });
    expect(texts(read)).toEqual(['The plan assistant could not be read. Who has it may spend nothing.']);
    const { plan, tenantPlan } = policyOf(read.directory, { tenant: 'acme', user: 'ada' });
    expect([plan.limits.models, tenantPlan.budgets.find((one) => one.scope === 'tenant')?.limit]).toEqual([[], 0]);
  });

  test('when and how a plan counts falls back field by field', () => {
    const read = stored({ plans: [lab, { ...assistant, timeZone: 'Mars/Olympus', resetHour: 25 }] });
    expect(read.directory).toEqual(DEFAULT_DIRECTORY);
    expect(texts(read)).toEqual([
      'timeZone of the plan assistant could not be read. The default holds.',
      'resetHour of the plan assistant could not be read. The default holds.',
    ]);
  });

  test('a plan that is named and not there, one that is there twice, one without a name', () => {
    const read = stored({ plans: [lab, lab, { ...lab, name: '' }], defaultPlan: 'gone' });
    expect(read.directory.plans).toEqual([lab, closedPlan('gone'), closedPlan('assistant')]);
    expect(texts(read)).toEqual([
      'The plan lab was stored twice. The first one holds.',
      'A plan without a name that can be read was left out.',
      'There is no plan gone any more. Who has it may spend nothing.',
      'There is no plan assistant any more. Who has it may spend nothing.',
    ]);
  });

  test('people that cannot be read are left out and counted', () => {
    const read = stored({
      users: [...DEFAULT_DIRECTORY.users, { tenant: 'acme' }, DEFAULT_DIRECTORY.users[0]],
      tenants: 7,
    });
    expect(read.directory).toEqual({ ...DEFAULT_DIRECTORY, tenants: [] });
    expect(texts(read)).toEqual(['2 users could not be read and were left out.']);
  });

  test.each(['', 'null', '[]', '7', '{}', '{"plans":{}}', '{"plans":[],"defaultPlan":7}'])(
    '%j: nobody may spend anything',
    (json) => {
      const { directory, notices } = readDirectory(json);
      expect(directory.plans).toEqual([closedPlan(directory.defaultPlan)]);
      expect(notices.length).toBeGreaterThan(0);
    },
  );

  test('whatever is stored, it is read: nothing throws, a valid directory comes out, and no limit gets lost', () => {
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, -1, 1e30, '', 'UTC'));
    const paths = fc.constantFrom(
      'plans',
      'tenants',
      'users',
      'defaultPlan',
      'plans.1',
      'plans.1.limits',
      'plans.1.budgets',
      'plans.1.budgets.0',
      'plans.1.budgets.0.limit',
      'plans.1.prices',
      'plans.1.timeZone',
      'tenants.1',
      'users.0.plan',
    );
    fc.assert(
      fc.property(paths, odd, (path, put) => {
        const document = structuredClone(DEFAULT_DIRECTORY) as unknown as Record<string, unknown>;
        const keys = path.split('.');
        const last = keys.pop() ?? '';
        const parent = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, document);
        parent[last] = put;
        const { directory } = readDirectory(JSON.stringify(document));
        expect(directorySchema.parse(directory)).toEqual(directory);
        // The plan as it was, as the odd value says where that is allowed, or closed: never open by mistake.
        const plan = directory.plans.find((one) => one.name === 'assistant');
        if (plan === undefined || path.startsWith('plans.1')) return;
        expect([assistant, closedPlan('assistant')]).toContainEqual(plan);
      }),
    );
  });

  test('at a start it is in use at once, told, and saved over with the next change', () => {
    const store = freshStore();
    value(
      store.saveDirectory({
        json: JSON.stringify({ ...DEFAULT_DIRECTORY, plans: [lab, { name: 'assistant', limits: 7 }] }),
        revision: 1,
      }),
    );
    const directory = createDirectory({ store });
    expect(directory.notices).toEqual([
      {
        level: 'warning',
        text: 'The plan assistant could not be read. Who has it may spend nothing.',
        next: 'Check plans and users on the Ledger page, and save them.',
      },
    ]);
    value(directory.set({ directory: DEFAULT_DIRECTORY, revision: 1 }));
    expect(createDirectory({ store }).notices).toEqual([]);
  });
});

test('the closed plan is a plan of the contract', () => {
  expect(planSchema.parse(closedPlan('x'))).toEqual(closedPlan('x'));
});
