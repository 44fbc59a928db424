// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_DIRECTORY, directorySchema } from '../../../shared/contract/plans.ts';
import type { Directory } from '../../../shared/contract/plans.ts';
import { drawPlans, press, type } from './draw-plans.tsx';
import type { PlansScreen } from './draw-plans.tsx';
import { faultsOf } from '../../../renderer/pages/ledger/users-import.tsx';

afterEach(cleanup);

async function people(directory: Directory | null = null): Promise<PlansScreen> {
  const app = await drawPlans(directory);
  fireEvent.mouseDown(screen.getByRole('tab', { name: /^Tenants and users/ }), { button: 0 });
  await screen.findByRole('grid', { name: 'Users' });
  return app;
}

const table = (name: string) => within(screen.getByRole('grid', { name }));
const cells = (name: string): string[] =>
  table(name)
    .getAllByRole('row')
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole('gridcell')
        .map((cell) => cell.textContent)
        .join(' | '),
    );
const bar = (name: string) => within(screen.getByRole('form', { name }));

const many = directorySchema.parse({
  ...DEFAULT_DIRECTORY,
  users: Array.from({ length: 5_000 }, (_, at) => ({
    tenant: at % 2 === 0 ? 'acme' : 'local',
    id: `person ${at} with a name that goes on`,
  })),
});

describe('users', () => {
  test('the plan that holds and who gives it stand in the row', async () => {
    await people();
    expect(cells('Users')).toEqual([
      'ada | acme | assistant | tenant',
      'grace | acme | assistant | tenant',
      'linus | acme | assistant | tenant',
    ]);
    expect(cells('Tenants')).toEqual(['local | lab | 0', 'acme | assistant | 3']);
  });

  test('5,000 of them: few are drawn, a search finds one, a tenant narrows them', async () => {
    await people(many);
    expect(screen.getByRole('grid', { name: 'Users' }).getAttribute('aria-rowcount')).toBe('5001');
    expect(cells('Users').length).toBeLessThan(100);
    type('Find a user', 'acme 4998');
    expect(cells('Users')).toEqual(['person 4998 with a name that goes on | acme | assistant | tenant']);
    type('Find a user', '');
    fireEvent.click(table('Tenants').getByText('local'));
    expect(screen.getByRole('grid', { name: 'Users' }).getAttribute('aria-rowcount')).toBe('2501');
  });

  test('one is added; the same once more is refused beside the box, in words', async () => {
    const { keeper } = await people();
    fireEvent.click(within(screen.getByRole('region', { name: 'Users' })).getByRole('button', { name: 'Add' }));
    const form = bar('Add a user');
    const fill = (label: string, value: string): void => {
      fireEvent.change(form.getByLabelText(label), { target: { value } });
    };
    fill('User', ' ada ');
    fill('Tenant', 'acme');
    fireEvent.click(form.getByRole('button', { name: 'Add' }));
    expect(form.getByRole('alert').textContent).toBe('User is there already, in acme.');
    fill('User', '');
    fireEvent.click(form.getByRole('button', { name: 'Add' }));
    expect(form.getByRole('alert').textContent).toBe('User must not be empty.');
    fill('User', '<b>mary</b>');
    fill('Plan', 'lab');
    fireEvent.click(form.getByRole('button', { name: 'Add' }));
    await waitFor(() =>
      expect(keeper.current().users.at(-1)).toEqual({ tenant: 'acme', id: '<b>mary</b>', plan: 'lab' }),
    );
    expect(cells('Users').at(-1)).toBe('<b>mary</b> | acme | lab | user');
  });

  test('another plan is kept at once, and removing asks first', async () => {
    const { keeper } = await people();
    fireEvent.click(table('Users').getByText('grace'));
    type('Plan of grace, acme', 'lab');
    await waitFor(() => expect(keeper.current().users[1]).toMatchObject({ id: 'grace', plan: 'lab' }));
    fireEvent.click(bar('User grace').getByRole('button', { name: 'Remove' }));
    const dialog = within(await screen.findByRole('dialog'));
    expect(keeper.current().users).toHaveLength(3);
    fireEvent.click(dialog.getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(keeper.current().users.map(({ id }) => id)).toEqual(['ada', 'linus']));
  });

  test('a tenant takes its users with it, and says how many', async () => {
    const { keeper } = await people();
    fireEvent.click(table('Tenants').getByText('acme'));
    fireEvent.click(bar('Tenant acme').getByRole('button', { name: 'Remove' }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog.textContent).toContain('Its 3 users go too.');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(keeper.current().users).toEqual([]));
    expect(keeper.current().tenants.map(({ id }) => id)).toEqual(['local']);
  });

  test('a change from an older state is refused and can be made again after loading', async () => {
    const { keeper } = await people();
    keeper.set({ directory: { ...keeper.current(), defaultPlan: 'assistant' }, revision: 0 });
    fireEvent.click(table('Users').getByText('grace'));
    type('Plan of grace, acme', 'lab');
    fireEvent.click(await screen.findByRole('button', { name: 'Load the new state' }));
    await waitFor(() => expect(screen.queryByText(/changed elsewhere meanwhile/)).toBeNull());
    type('Plan of grace, acme', 'lab');
    await waitFor(() => expect(keeper.current().users[1]?.plan).toBe('lab'));
    expect(keeper.current().defaultPlan).toBe('assistant');
  });
});

describe('import', () => {
  const paste = async (text: string): Promise<HTMLElement> => {
    press('Import');
    const dialog = await screen.findByRole('dialog', { name: 'Import users' });
    fireEvent.change(within(dialog).getByLabelText('CSV text'), { target: { value: text } });
    fireEvent.click(within(dialog).getByRole('button', { name: /^Import \d/ }));
    return dialog;
  };

  test('what came of it is said in words, and the rows are there', async () => {
    const { keeper } = await people();
    const dialog = await paste('tenant,user,plan\nacme,ada,lab\nacme,mary,\n');
    expect((await within(dialog).findByRole('status')).textContent).toBe('1 user added, 1 changed, nobody removed.');
    expect(keeper.current().users.map(({ id, plan }) => [id, plan])).toEqual([
      ['ada', 'lab'],
      ['grace', null],
      ['linus', null],
      ['mary', null],
    ]);
  });

  test('a fault names its line, and nothing is changed', async () => {
    const { keeper } = await people();
    const dialog = await paste('tenant,user,plan\nacme,mary,\nacme,bob,gold\n');
    const alert = await within(dialog).findByRole('alert');
    expect(alert.textContent).toContain('Nothing was imported.');
    expect(alert.textContent).toMatch(/Line 3.*gold/);
    expect(keeper.revision()).toBe(0);
  });

  test('several faults are one a line', () => {
    expect(faultsOf({ code: 'bad-input', message: 'Line 2, plan: none. Line 3, user: empty.' })).toEqual([
      'Line 2, plan: none.',
      'Line 3, user: empty.',
    ]);
  });
});
