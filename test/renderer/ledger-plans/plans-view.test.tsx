// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { denied } from '../../../shared/contract/denials.ts';
import { ASSISTANT_PLAN, DEFAULT_DIRECTORY, LAB_PLAN, directorySchema } from '../../../shared/contract/plans.ts';
import { drawPlans, openPlans, pickPlan, press, type } from './draw-plans.tsx';

afterEach(cleanup);

const box = (label: string): HTMLInputElement => screen.getByLabelText<HTMLInputElement>(label, { selector: 'input' });
const saveButton = (): HTMLButtonElement => screen.getByRole<HTMLButtonElement>('button', { name: 'Save' });
const setsAsked = (transport: { asked: { name: string }[] }): number =>
  transport.asked.filter(({ name }) => name === 'directory.set').length;

describe('a plan', () => {
  test('its conversation limit exceeds the window: said in figures, and the safe value is one press and a save away', async () => {
    const { keeper } = await drawPlans();
    pickPlan(/^assistant/);
    const warning = await screen.findByText(/6,000 \+ 400 exceed the window of 4,096.*3,696 is safe/);
    expect(warning).toBeTruthy();
    press('Set 3,696');
    expect(box('Conversation, tokens').value).toBe('3696');
    expect(screen.queryByText(/exceed the window/)).toBeNull();
    press('Save');
    await waitFor(() => expect(saveButton().disabled).toBe(true));
    expect(keeper.current().plans.find(({ name }) => name === 'assistant')?.limits.conversationTokensMax).toBe(3_696);
    expect(keeper.revision()).toBe(1);
  });

  test('empty and 0 are said in words beside the box', async () => {
    await drawPlans();
    pickPlan(/^assistant/);
    const words = (label: string): string => box(label).parentElement?.textContent ?? '';
    type('Output, tokens', '');
    expect(words('Output, tokens')).toContain('unlimited');
    type('Output, tokens', '0');
    expect(words('Output, tokens')).toContain('nothing is allowed');
    type('Output, tokens', '1234');
    expect(words('Output, tokens')).toContain('1,234 tokens');
    type('Wall clock, seconds', '0');
    expect(words('Wall clock, seconds')).toContain('nothing is allowed');
  });

  test('what is wrong stands at its box, nothing is sent, and correcting it is enough', async () => {
    const { transport } = await drawPlans();
    pickPlan(/^assistant/);
    type('Budget 1, limit', '-5');
    expect(box('Budget 1, limit').getAttribute('aria-invalid')).toBe('true');
    const described = document.getElementById(box('Budget 1, limit').getAttribute('aria-describedby') ?? '');
    expect(described?.textContent).toBe('Limit must not be negative.');
    expect(saveButton().disabled).toBe(true);
    expect(setsAsked(transport)).toBe(0);
    type('Budget 1, limit', '7,000');
    expect(saveButton().disabled).toBe(false);
  });

  test('dollars are kept as nano-dollars', async () => {
    const { keeper } = await drawPlans();
    pickPlan(/^assistant/);
    type('Budget 2, unit', 'nano-dollars');
    type('Budget 2, limit', '0.000000007');
    press('Save');
    await waitFor(() => expect(keeper.revision()).toBe(1));
    expect(keeper.current().plans[1]?.budgets[1]).toMatchObject({ unit: 'nano-dollars', limit: 7 });
  });

  test('what was typed stays while another plan is looked at, and Undo brings the saved one back', async () => {
    await drawPlans();
    pickPlan(/^assistant/);
    type('Message, characters', '123');
    pickPlan(/^lab/);
    expect(box('Message, characters').value).toBe('');
    pickPlan(/^assistant.*not saved/);
    expect(box('Message, characters').value).toBe('123');
    press('Undo');
    expect(box('Message, characters').value).toBe('8000');
  });

  test('a plan that allows no model says so, and saving something else does not open it', async () => {
    const closed = { ...LAB_PLAN, name: 'closed', limits: { ...LAB_PLAN.limits, models: [] } };
    const { keeper } = await drawPlans(
      directorySchema.parse({ ...DEFAULT_DIRECTORY, plans: [LAB_PLAN, ASSISTANT_PLAN, closed] }),
    );
    pickPlan(/^closed/);
    expect(screen.getByText('nothing is allowed')).toBeTruthy();
    type('Output, tokens', '5');
    press('Save');
    await waitFor(() => expect(keeper.revision()).toBe(2));
    expect(keeper.current().plans[2]?.limits).toMatchObject({ models: [], outputTokensMax: 5 });
  });
});

describe('changed elsewhere', () => {
  test('a save is refused, what was typed stays, and after loading it is saved on top of the other change', async () => {
    const { keeper } = await drawPlans();
    pickPlan(/^assistant/);
    type('Output, tokens', '300');
    const other = { ...keeper.current(), users: [{ tenant: 'acme', id: 'new', plan: null }] };
    expect(keeper.set({ directory: other, revision: 0 }).ok).toBe(true);
    press('Save');
    expect((await screen.findByText(/changed elsewhere meanwhile/)).textContent).toContain('what you typed is kept');
    expect(box('Output, tokens').value).toBe('300');
    expect(keeper.revision()).toBe(1);
    press('Load the new state');
    await waitFor(() => expect(screen.queryByText(/changed elsewhere meanwhile/)).toBeNull());
    expect(box('Output, tokens').value).toBe('300');
    press('Save');
    await waitFor(() => expect(keeper.revision()).toBe(2));
    expect(keeper.current().users.map(({ id }) => id)).toEqual(['new']);
    expect(keeper.current().plans[1]?.limits.outputTokensMax).toBe(300);
  });

  test('where the same plan was changed, it is said before a save replaces it', async () => {
    const { keeper } = await drawPlans();
    pickPlan(/^assistant/);
    type('Output, tokens', '300');
    const theirs = { ...ASSISTANT_PLAN, resetHour: 4 };
    keeper.set({ directory: { ...keeper.current(), plans: [LAB_PLAN, theirs] }, revision: 0 });
    press('Save');
    fireEvent.click(await screen.findByRole('button', { name: 'Load the new state' }));
    await screen.findByText(/This plan was changed elsewhere/);
    press('Take the other one');
    expect(box('Output, tokens').value).toBe('400');
    expect(screen.getByLabelText<HTMLSelectElement>('A day begins at').value).toBe('4');
  });

  test('a refusal that names a field of the plan stands at that box', async () => {
    await drawPlans(null, {
      'directory.set': () =>
        denied('bad-input', 'The output cap is not accepted.', {
          field: 'directory.plans[1].limits.outputTokensMax',
          next: 'Choose another.',
        }),
    });
    pickPlan(/^assistant/);
    type('Output, tokens', '300');
    press('Save');
    await waitFor(() => expect(box('Output, tokens').getAttribute('aria-invalid')).toBe('true'));
    const described = document.getElementById(box('Output, tokens').getAttribute('aria-describedby') ?? '');
    expect(described?.textContent).toBe('The output cap is not accepted. Choose another.');
  });

  test('a directory that cannot be read says why and can be tried again', async () => {
    let tries = 0;
    await openPlans(null, {
      'directory.get': () => {
        tries += 1;
        return denied('storage-failed', 'The database could not be read.', { next: 'Look at the disk.' });
      },
    });
    await screen.findByText('Look at the disk.');
    expect(screen.getByText('The database could not be read.')).toBeTruthy();
    const before = tries;
    press('Try again');
    await waitFor(() => expect(tries).toBeGreaterThan(before));
  });
});

describe('the list', () => {
  test('a new plan begins as a copy of the assistant, under a name that is free', async () => {
    const { keeper } = await drawPlans();
    press('New plan');
    const menu = within(await screen.findByRole('dialog', { name: 'New plan' }));
    fireEvent.click(menu.getByRole('button', { name: /^assistant/ }));
    expect(box('Name').value).toBe('assistant 2');
    type('Name', 'lab');
    expect(screen.getAllByText('Name is there twice.').length).toBeGreaterThan(0);
    type('Name', 'shop');
    press('Save');
    await waitFor(() => expect(keeper.current().plans.map(({ name }) => name)).toEqual(['lab', 'assistant', 'shop']));
    expect(keeper.current().plans[2]).toEqual({ ...ASSISTANT_PLAN, name: 'shop' });
  });

  test('removing asks first and says who has it; the default plan stays', async () => {
    const { keeper } = await drawPlans();
    pickPlan(/^lab/);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Remove' }).disabled).toBe(true);
    pickPlan(/^assistant/);
    press('Remove');
    const dialog = await screen.findByRole('dialog');
    expect(dialog.textContent).toContain('It is used by 1 tenant.');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Keep' }));
    expect(keeper.revision()).toBe(0);
    press('Remove');
    fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(keeper.current().plans.map(({ name }) => name)).toEqual(['lab']));
    expect(keeper.current().tenants.find(({ id }) => id === 'acme')?.plan).toBeNull();
  });

  test('another plan can be made the default', async () => {
    const { keeper } = await drawPlans();
    pickPlan(/^assistant/);
    press('Make it the default');
    await waitFor(() => expect(keeper.current().defaultPlan).toBe('assistant'));
  });

  test('with 200 plans of long names it is searched', async () => {
    const plans = [
      LAB_PLAN,
      ...Array.from({ length: 199 }, (_, at) => ({ ...ASSISTANT_PLAN, name: `${'team '.repeat(36)}${at}` })),
    ];
    await drawPlans(directorySchema.parse({ ...DEFAULT_DIRECTORY, plans, tenants: [], defaultPlan: 'lab' }));
    const nav = within(screen.getByRole('navigation', { name: 'Plans' }));
    expect(nav.getAllByRole('listitem')).toHaveLength(200);
    type('Find a plan', '198');
    expect(nav.getAllByRole('listitem')).toHaveLength(1);
  });
});
