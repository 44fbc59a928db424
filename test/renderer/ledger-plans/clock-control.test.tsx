// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { LedgerState } from '../../../shared/contract/ledger.ts';
import { firstPlansState, usePlans } from '../../../renderer/pages/ledger/plans-store.ts';
import { drawApp } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';

afterEach(cleanup);

const NOON = '2026-11-30T12:00:00.000Z';
const base: LedgerState = {
  store: 'memory',
  state: 'ready',
  problem: null,
  next: null,
  book: 'simulated',
  now: NOON,
  clockOffsetMs: 0,
};

async function clock(first: Partial<LedgerState> = {}, script: Script = {}) {
  usePlans.setState(firstPlansState, true);
  let state: LedgerState = { ...base, ...first };
  const app = drawApp(
    {},
    {
      'ledger.get': () => ok({ state, balances: [], reservations: [], refusals: [], alerts: [] }),
      'ledger.clock': (move) => {
        const to =
          'to' in move ? Date.parse(move.to) : 'byMs' in move ? Date.parse(state.now) + move.byMs : Date.parse(NOON);
        state = { ...state, now: new Date(to).toISOString(), clockOffsetMs: to - Date.parse(NOON) };
        app.transport.emit({ type: 'ledger-changed', state });
        return ok(state);
      },
      ...script,
    },
  );
  await screen.findByLabelText('Message');
  location.hash = 'ledger';
  fireEvent(window, new HashChangeEvent('hashchange'));
  const button = await screen.findByRole('button', { name: /^Clock of the ledger/ });
  fireEvent.click(button);
  const pane = within(await screen.findByRole('dialog', { name: 'Clock of the ledger' }));
  const moves = () => app.transport.asked.filter(({ name }) => name === 'ledger.clock').map(({ params }) => params);
  return { ...app, pane, moves };
}

test('it walks to five seconds before midnight and on by an hour, and nobody can miss that it was moved', async () => {
  const { pane, moves } = await clock();
  expect(screen.queryByText('MOVED CLOCK, SIMULATED BOOK')).toBeNull();
  fireEvent.click(pane.getByRole('button', { name: /^5 s before midnight/ }));
  expect((await screen.findByText('MOVED CLOCK, SIMULATED BOOK')).textContent).toBeTruthy();
  fireEvent.click(pane.getByRole('button', { name: /^1 hour on/ }));
  await waitFor(() => expect(moves()).toEqual([{ to: '2026-11-30T23:59:55.000Z' }, { byMs: 3_600_000 }]));
  fireEvent.click(pane.getByRole('button', { name: 'Back to real time' }));
  await waitFor(() => expect(screen.queryByText('MOVED CLOCK, SIMULATED BOOK')).toBeNull());
  expect(moves().at(-1)).toEqual({ reset: true });
});

test('the next clock change is that of the chosen zone; UTC has none', async () => {
  const { pane, moves } = await clock();
  expect(pane.getByRole<HTMLButtonElement>('button', { name: /^5 s before the clocks change/ }).disabled).toBe(true);
  fireEvent.click(pane.getByRole('combobox', { name: /^Zone/ }));
  fireEvent.change(await screen.findByPlaceholderText(/^Find a zone/), { target: { value: 'berl' } });
  fireEvent.click(await screen.findByRole('option', { name: /Europe\/Berlin/ }));
  fireEvent.click(pane.getByRole('button', { name: /^5 s before the clocks change/, hidden: true }));
  await waitFor(() => expect(moves()).toEqual([{ to: '2027-03-28T00:59:55.000Z' }]));
});

test('a typed local time is read in the zone, and what is none is said', async () => {
  const { pane, moves } = await clock();
  const box = pane.getByLabelText('To a local time');
  fireEvent.change(box, { target: { value: 'tomorrow' } });
  fireEvent.click(pane.getByRole('button', { name: 'Move' }));
  expect(pane.getByRole('alert').textContent).toBe('Give a local time of UTC, such as 2026-11-30 23:59:55.');
  expect(moves()).toEqual([]);
  fireEvent.change(box, { target: { value: '2028-02-29 23:59:55' } });
  fireEvent.click(pane.getByRole('button', { name: 'Move' }));
  await waitFor(() => expect(moves()).toEqual([{ to: '2028-02-29T23:59:55.000Z' }]));
});

test('the real book cannot be moved, and says why', async () => {
  const { pane } = await clock({ book: 'real' });
  expect(pane.getByText(/This is the real book: its clock .* cannot be moved/)).toBeTruthy();
  expect(pane.queryByRole('button', { name: /hour on/ })).toBeNull();
});

test('a refusal is said, and the clock stays', async () => {
  const { pane } = await clock(
    {},
    {
      'ledger.clock': () =>
        denied('not-allowed', 'Only the clock of the simulated book can be moved.', { next: 'Use the simulator.' }),
    },
  );
  fireEvent.click(pane.getByRole('button', { name: /^1 day on/ }));
  expect((await pane.findByRole('alert')).textContent).toBe(
    'Only the clock of the simulated book can be moved. Use the simulator.',
  );
  expect(screen.queryByText('MOVED CLOCK, SIMULATED BOOK')).toBeNull();
});
