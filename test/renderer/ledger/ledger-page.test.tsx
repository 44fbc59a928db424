// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { LedgerView } from '../../../shared/contract/ledger.ts';
import { journalFilter } from '../../../renderer/pages/ledger/use-journal.ts';
import { drawApp } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';
import { makeServer } from '../support/make.ts';
import {
  closed,
  makeAlert,
  makeBalance,
  makeEntry,
  makeGoldenView,
  makeHold,
  makeLedgerState,
  makeRefusal,
} from './make-ledger.ts';

afterEach(cleanup);
beforeEach(() => journalFilter.clear());

const directory = () => denied('unsupported', 'not in this test');

async function ledger(view: LedgerView = makeGoldenView(), script: Script = {}) {
  const app = drawApp(
    { server: makeServer({ kind: 'simulator' }), tokensToday: 5_905 },
    {
      'ledger.get': () => ok(view),
      'ledger.journal': () => ok({ entries: [], hasMore: false }),
      'directory.get': directory,
      ...script,
    },
  );
  await screen.findByLabelText('Message');
  fireEvent.keyDown(document.body, { key: 'g' });
  fireEvent.keyDown(document.body, { key: 'b' });
  await screen.findByRole('main', { name: 'Ledger' });
  return app;
}

const budgets = (): HTMLElement => screen.getByRole('list', { name: 'Budgets' });
const tank = (name: RegExp): HTMLElement => within(budgets()).getByRole('img', { name });
const rows = (name: string): HTMLElement[] => within(screen.getByRole('grid', { name })).getAllByRole('row').slice(1);
const askedOf = (app: Awaited<ReturnType<typeof ledger>>, name: string): unknown[] =>
  app.transport.asked.filter((one) => one.name === name).map(({ params }) => params);

test('g b opens it: the golden trace as tanks, holds, the refusal and what comes next', async () => {
  await ledger();
  expect(
    await screen.findByText('If r5 uses all it holds, acme stands at 8,339 and the alert at 7,200 goes out.'),
  ).toBeTruthy();
  expect(screen.getByText('9,000 = 5,905 + 2,434 + 661')).toBeTruthy();
  expect(
    within(budgets())
      .getAllByRole('img')
      .map((one) => one.getAttribute('aria-label')),
  ).toEqual([
    'user grace: 1,968 spent, 2,434 held, 1,598 free of 6,000 tokens',
    'user ada: 3,937 spent, 0 held, 2,063 free of 6,000 tokens',
    'tenant acme: 5,905 spent, 2,434 held, 661 free of 9,000 tokens',
  ]);
  expect(within(budgets()).getByText('16 d 1:15:58')).toBeTruthy();
  const refused = within(screen.getByRole('region', { name: 'Refused' }));
  expect(refused.getByRole('timer').textContent).toBe('1:15:58');
  expect(refused.getByText('429 user-day-limit-reached')).toBeTruthy();
  expect(refused.getByText('It needs 2,434 and 2,063 are free: 371 short.')).toBeTruthy();
  expect(rows('Holds and refusals').map((row) => row.textContent)).toEqual([
    expect.stringContaining('371 short'),
    expect.stringContaining('2,034 in + 400 out'),
    expect.stringContaining('1,968, 466 back'),
    expect.stringContaining('1,968, 466 back'),
    expect.stringContaining('1,969, 465 back'),
  ]);
  expect(within(screen.getByRole('region', { name: 'Alerts' })).getByText('1,295 to go')).toBeTruthy();
  const status = screen.getByRole('contentinfo', { name: 'Status' });
  expect(status.textContent).toContain('today 5,905 tokens+ 2,434 held');
  expect(screen.getByText('SQLite, ready')).toBeTruthy();
});

test('what happens is seen: a hold opens and closes, an alert goes out', async () => {
  const { transport } = await ledger();
  await screen.findByText('429 user-day-limit-reached');
  const hold = makeHold('r6', 'linus', { openedAt: '2026-11-14T22:45:00.000Z' });
  transport.emit({
    type: 'reservation-opened',
    reservation: hold,
    balances: [makeBalance({ name: 'linus' }, { held: 2_434 })],
  });
  await waitFor(() => expect(tank(/^user linus/)).toBeTruthy());
  expect(rows('Holds and refusals')[0]?.textContent).toContain('open');
  transport.emit(
    {
      type: 'reservation-closed',
      reservation: closed(hold, 44, 75, { charge: { source: 'observed' } }),
      balances: [makeBalance({ name: 'linus' }, { spent: 119 })],
    },
    { type: 'budget-alerted', alert: makeAlert() },
  );
  await waitFor(() => expect(rows('Holds and refusals')[0]?.textContent).toContain('119, 2,315 backestimate'));
  expect(screen.getByText('tenant acme: 7,877 of 9,000 used, 1,123 left')).toBeTruthy();
});

test('a row opens its pane; arrows move on and Esc closes it', async () => {
  await ledger();
  await screen.findByText('429 user-day-limit-reached');
  const row = rows('Holds and refusals')[1];
  if (row === undefined) throw new Error('r5 has a row');
  fireEvent.click(row);
  const pane = screen.getByRole('complementary', { name: 'Details of Hold r5' });
  expect(pane.textContent).toContain('2,034 in + 400 out = 2,434');
  fireEvent.keyDown(document.body, { key: 'ArrowDown' });
  expect(screen.getByRole('complementary', { name: 'Details of Hold r4' }).textContent).toContain(
    'counted by the server',
  );
  fireEvent.keyDown(document.body, { key: 'Escape' });
  expect(screen.queryByRole('complementary')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /^Refused: user ada/ }));
  expect(screen.getByRole('complementary', { name: 'Details of Refused: ada' }).textContent).toContain(
    '4,558 s, the end of the day in UTC.',
  );
});

test('a grant: what cannot be read is said, then the limit of the period is higher', async () => {
  const app = await ledger(makeGoldenView(), {
    'ledger.grant': ({ amount }) =>
      amount > 5_000
        ? denied('bad-input', 'So much cannot be granted.', { next: 'Grant less.' })
        : ok(makeBalance({}, { limit: 6_000 + amount, spent: 3_937, granted: amount })),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'Grant more to user ada' }));
  const dialog = within(await screen.findByRole('dialog'));
  const amount = dialog.getByLabelText('Amount, tokens');
  fireEvent.change(amount, { target: { value: 'some' } });
  expect(dialog.getByRole('alert').textContent).toBe('Amount: "some" is not a whole number.');
  fireEvent.change(amount, { target: { value: '6000' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Grant' }));
  await waitFor(() => expect(dialog.getByRole('alert').textContent).toBe('So much cannot be granted. Grant less.'));
  fireEvent.change(amount, { target: { value: '2,000' } });
  fireEvent.change(dialog.getByLabelText('Reason, for the journal'), { target: { value: 'exam week' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Grant' }));
  await waitFor(() => expect(tank(/^user ada: 3,937 spent, 0 held, 4,063 free of 8,000 tokens$/)).toBeTruthy());
  expect(askedOf(app, 'ledger.grant').at(-1)).toEqual({
    book: 'simulated',
    tenant: 'acme',
    scope: 'user',
    name: 'ada',
    window: 'day',
    unit: 'tokens',
    amount: 2_000,
    reason: 'exam week',
  });
  expect(await screen.findByText('2,000 granted to user ada: the limit is 8,000 now.')).toBeTruthy();
});

test('the journal: pages downwards, filters, a pane, and what happens comes in on top', async () => {
  let newest = 450;
  const app = await ledger(makeGoldenView(), {
    'ledger.journal': ({ beforeSeq, limit, operations }) => {
      const from = (beforeSeq ?? newest + 1) - 1;
      const wanted = Array.from({ length: Math.min(limit, from) }, (_, index) => makeEntry(from - index)).filter(
        ({ operation }) => operations.includes(operation),
      );
      return ok({ entries: wanted, hasMore: from > limit });
    },
  });
  fireEvent.mouseDown(await screen.findByRole('tab', { name: 'Journal' }));
  expect(await screen.findByText('200 entries, and older ones')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Read older' }));
  expect(await screen.findByText('400 entries, and older ones')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Read older' }));
  expect(await screen.findByText('450 entries, back to the first')).toBeTruthy();
  newest = 452;
  app.transport.emit({ type: 'reservation-refused', line: makeRefusal({ count: 2 }), balances: [] });
  expect(await screen.findByText('452 entries, back to the first')).toBeTruthy();
  const first = rows('Journal')[0];
  if (first === undefined) throw new Error('the journal has rows');
  expect(first.textContent).toContain('452');
  fireEvent.click(first);
  expect(screen.getByRole('complementary', { name: 'Details of Entry 452' }).textContent).toContain(
    'counted by the server',
  );
  fireEvent.click(screen.getByRole('button', { name: 'settle' }));
  fireEvent.change(screen.getByLabelText('User'), { target: { value: 'ada' } });
  fireEvent.change(screen.getByLabelText('Book'), { target: { value: 'real' } });
  await waitFor(() =>
    expect(askedOf(app, 'ledger.journal').at(-1)).toMatchObject({
      operations: ['settle'],
      user: 'ada',
      tenant: null,
      book: 'real',
      beforeSeq: null,
    }),
  );
  fireEvent.click(screen.getByRole('button', { name: 'Show all' }));
  expect(screen.getByLabelText<HTMLInputElement>('User').value).toBe('');
});

test('an account leads to its journal', async () => {
  const app = await ledger();
  fireEvent.click(await screen.findByTitle('user ada · acme · day 2026-11-14'));
  fireEvent.click(screen.getByRole('button', { name: 'Its journal' }));
  await waitFor(() => expect(askedOf(app, 'ledger.journal').at(-1)).toMatchObject({ account: makeBalance().key }));
  expect(screen.getByText('user ada · 2026-11-14')).toBeTruthy();
});

test('the audit is told in words, with its faults', async () => {
  await ledger(makeGoldenView(), {
    'ledger.audit': () =>
      ok({
        at: '2026-11-14T22:44:02.000Z',
        sound: false,
        entries: 9,
        accounts: 3,
        openHolds: 1,
        faults: ['acme: held is 1, its entries sum to 0'],
      }),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'Audit' }));
  const dialog = within(await screen.findByRole('dialog'));
  expect(dialog.getByText('The ledger does not add up: 1 fault')).toBeTruthy();
  expect(dialog.getByText('acme: held is 1, its entries sum to 0')).toBeTruthy();
});

test('an export says how many rows and where', async () => {
  vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => undefined }));
  const chunks = ['seq\r\n1\r\n', '2\r\n'];
  const app = await ledger(makeGoldenView(), {
    'ledger.export': () => ok({ exportId: 'x', name: 'journal-simulated.csv', mime: 'text/csv', rows: null }),
    'export.read': () => ok({ chunk: chunks.shift() ?? '', done: chunks.length === 0 }),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'Export' }));
  fireEvent.change(await screen.findByLabelText('What'), { target: { value: 'journal' } });
  fireEvent.click(screen.getByRole('button', { name: /^CSV for programs/ }));
  expect(await screen.findByText('2 rows saved as journal-simulated.csv.')).toBeTruthy();
  expect(askedOf(app, 'ledger.export')).toEqual([
    {
      what: 'journal',
      book: 'simulated',
      options: { format: 'csv', profile: 'machine', separator: ',', decimalMark: '.' },
    },
  ]);
});

test('300 accounts are lines under their tenants, found by word', async () => {
  const many = Array.from({ length: 300 }, (_, index) =>
    makeBalance({ name: `user-${index}`, tenant: `t${index % 3}` }, { spent: index }),
  );
  await ledger(makeGoldenView({ balances: many, reservations: [], refusals: [] }));
  expect(await screen.findByText('300 accounts, touched last first')).toBeTruthy();
  expect(within(budgets()).getAllByRole('img').length).toBeLessThan(60);
  fireEvent.change(screen.getByLabelText(/^Search accounts/), { target: { value: 't2 user-299' } });
  expect(await screen.findByText('1 of 300 accounts, touched last first')).toBeTruthy();
  expect(tank(/^user user-299: 299 spent/)).toBeTruthy();
});

test('a full view: a search asks the ledger for accounts further back, shows and opens them', async () => {
  const of = (from: number, length: number) =>
    Array.from({ length }, (_, index) => makeBalance({ name: `user-${from + index}` }, { spent: from + index }));
  const view = makeGoldenView({ balances: of(1_000, 500), reservations: [], refusals: [] });
  const app = await ledger(view, {
    'ledger.get': (params) => {
      const { search } = params as { search?: string };
      if (search === undefined) return ok(view);
      // As told later than what the screen holds of user-1001: the screen's own stays.
      if (search === 'older') return ok({ ...view, balances: [makeBalance({ name: 'older' }, { spent: 3 })] });
      return ok({ ...view, balances: search === 'user-10' ? [...of(10, 2), makeBalance({ name: 'user-1001' })] : [] });
    },
  });
  expect(await screen.findByText('500 accounts, touched last first; a search finds older ones')).toBeTruthy();
  const field = screen.getByLabelText(/^Search accounts/);
  const searches = () => askedOf(app, 'ledger.get').flatMap((one) => (one as { search?: string }).search ?? []);
  fireEvent.change(field, { target: { value: 'user' } });
  fireEvent.change(field, { target: { value: ' user-10 ' } });
  fireEvent.change(field, { target: { value: 'user-10' } });
  // user-1000 to user-1099, and user-10 from further back.
  expect(await screen.findByText(/^101 of 502 accounts/)).toBeTruthy();
  expect(searches()).toEqual(['user-10']);
  // Its own line stays while the answer is on its way, and what is found can be opened.
  fireEvent.change(field, { target: { value: 'user-1001' } });
  expect(await screen.findByText(/^1 of 500 accounts/)).toBeTruthy();
  expect(tank(/^user user-1001: 1,001 spent/)).toBeTruthy();
  await waitFor(() => expect(searches()).toEqual(['user-10', 'user-1001']));
  fireEvent.change(field, { target: { value: 'older' } });
  expect(await screen.findByText('The ledger looks through the older accounts.')).toBeTruthy();
  expect(await screen.findByText(/^1 of 501 accounts/)).toBeTruthy();
  fireEvent.click(within(budgets()).getByRole('button', { name: /older/ }));
  expect(await screen.findByRole('complementary', { name: /older/ })).toBeTruthy();
  fireEvent.change(field, { target: { value: 'nobody' } });
  expect(await screen.findByText('Nothing matches.')).toBeTruthy();
});

test('a view that is not full has all accounts: a search asks for nothing', async () => {
  const many = Array.from({ length: 30 }, (_, index) => makeBalance({ name: `user-${index}` }, { spent: index }));
  const app = await ledger(makeGoldenView({ balances: many, reservations: [], refusals: [] }));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    fireEvent.change(screen.getByLabelText(/^Search accounts/), { target: { value: 'user-29' } });
    vi.advanceTimersByTime(5_000);
  } finally {
    vi.useRealTimers();
  }
  expect(screen.getByText(/^1 of 30 accounts/)).toBeTruthy();
  expect(askedOf(app, 'ledger.get').filter((one) => 'search' in (one as object))).toEqual([]);
});

test('before the first call: what a budget is and the next steps', async () => {
  const app = await ledger(makeGoldenView({ balances: [makeBalance()], reservations: [], refusals: [] }), {
    'storm.start': () => denied('busy', 'A storm is running.', { next: 'Wait for its end.' }),
  });
  expect(await screen.findByText('Nothing was charged yet')).toBeTruthy();
  const steps = within(screen.getByText('Nothing was charged yet').closest('div') as HTMLElement);
  fireEvent.click(steps.getByRole('button', { name: 'Run the storm' }));
  expect(await screen.findByText('A storm is running.')).toBeTruthy();
  expect(askedOf(app, 'storm.start')).toHaveLength(1);
  fireEvent.click(steps.getByRole('button', { name: 'Make a plan' }));
  await waitFor(() => expect(location.hash).toBe('#ledger/plans'));
});

test('a store that is gone is said with its next step; so is a ledger that refuses to answer', async () => {
  await ledger(
    makeGoldenView({
      state: makeLedgerState({
        store: 'redis',
        state: 'unavailable',
        problem: 'Redis does not answer.',
        next: 'Start it again.',
      }),
    }),
  );
  expect((await screen.findByRole('alert')).textContent).toBe('Redis does not answer. Start it again.');
  expect(screen.getByText('Redis, unavailable')).toBeTruthy();
  cleanup();
  await ledger(makeGoldenView(), { 'ledger.get': () => denied('ledger-unavailable', 'No ledger.', { next: 'Wait.' }) });
  expect((await screen.findByRole('alert')).textContent).toBe('No ledger. Wait.');
});

test('a dot in the rail until the page is looked at', async () => {
  const { transport } = await ledger();
  fireEvent.keyDown(document.body, { key: 'g' });
  fireEvent.keyDown(document.body, { key: 'l' });
  await screen.findByLabelText('Message');
  expect(screen.queryByRole('img', { name: 'a refusal or an alert' })).toBeNull();
  transport.emit({ type: 'reservation-refused', line: makeRefusal({ count: 2 }), balances: [] });
  expect(await screen.findByRole('img', { name: 'a refusal or an alert' })).toBeTruthy();
  fireEvent.keyDown(document.body, { key: 'g' });
  fireEvent.keyDown(document.body, { key: 'b' });
  await screen.findByRole('main', { name: 'Ledger' });
  await waitFor(() => expect(screen.queryByRole('img', { name: 'a refusal or an alert' })).toBeNull());
  fireEvent.keyDown(document.body, { key: 'g' });
  fireEvent.keyDown(document.body, { key: 'l' });
  await screen.findByLabelText('Message');
  expect(screen.queryByRole('img', { name: 'a refusal or an alert' })).toBeNull();
});

test('presenter mode: tanks and one sentence', async () => {
  await ledger();
  await screen.findByText('429 user-day-limit-reached');
  fireEvent.keyDown(document.body, { key: 'p' });
  expect((await screen.findByRole('main', { name: 'Ledger' })).textContent).toContain(
    'ada is refused for 1:15:58. It needs 2,434 and 2,063 are free: 371 short.',
  );
  expect(within(budgets()).getAllByRole('img')).toHaveLength(3);
  expect(screen.queryByRole('grid')).toBeNull();
});

test('hostile names stand on the page as text', async () => {
  const evil = '<img src=x onerror=alert(1)> \u202e\u2028 ' + 'x'.repeat(150);
  const hold = makeHold('r7', evil, { detail: { ...makeHold('r7', evil).detail, model: evil, tenant: evil } });
  await ledger(
    makeGoldenView({
      balances: [makeBalance({ name: evil, tenant: evil }, { spent: 5 })],
      reservations: [hold],
      refusals: [makeRefusal({ user: evil, tenant: evil, message: evil, code: evil, refusal: null })],
      alerts: [makeAlert({ account: makeBalance({ name: evil }).account, text: evil })],
    }),
  );
  await screen.findAllByText(/^user <img src=x/);
  fireEvent.click(rows('Holds and refusals')[0] as HTMLElement);
  expect(document.querySelectorAll('img').length).toBe(0);
  expect(document.body.textContent).toContain('<img src=x onerror=alert(1)>');
});
