// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ok } from '../../../shared/contract/denials.ts';
import type { ServerLogState } from '../../../shared/contract/server.ts';
import { settingsSchema } from '../../../shared/contract/settings.ts';
import { makeServer } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';

afterEach(cleanup);

async function settings() {
  const app = drawApp(
    {},
    {
      'settings.set': (patch) => {
        const next = settingsSchema.parse(patch);
        app.transport.emit({ type: 'settings-changed', settings: next });
        return ok(next);
      },
      'server.connect': () =>
        ok(makeServer({ state: 'down', problem: 'Nothing answers at 10.0.0.9:11434. Start it there.' })),
    },
  );
  await screen.findByLabelText('Message');
  location.hash = '#settings';
  fireEvent(window, new HashChangeEvent('hashchange'));
  await screen.findByLabelText('Theme');
  const sets = () => app.transport.asked.filter(({ name }) => name === 'settings.set').map(({ params }) => params);
  return { ...app, sets };
}

test('the theme is kept and put on the page at once', async () => {
  const { sets } = await settings();
  fireEvent.change(screen.getByLabelText('Theme'), { target: { value: 'dark' } });
  await waitFor(() => expect(document.documentElement.dataset['theme']).toBe('dark'));
  expect(sets()).toEqual([{ theme: 'dark' }]);
});

test('a number that is none is refused beside its box and not sent', async () => {
  const { sets } = await settings();
  const box = screen.getByLabelText('num_predict');
  fireEvent.change(box, { target: { value: 'many' } });
  fireEvent.blur(box);
  expect(screen.getByRole('alert').textContent).toBe('num_predict must be a whole number, such as 8192.');
  expect(sets()).toEqual([]);
  fireEvent.change(box, { target: { value: '512' } });
  fireEvent.keyDown(box, { key: 'Enter' });
  await waitFor(() => expect(sets()).toEqual([{ numPredict: 512 }]));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('separator and decimal mark cannot be changed where they have no effect', async () => {
  await settings();
  expect(screen.getByLabelText<HTMLSelectElement>('Separator').disabled).toBe(true);
  fireEvent.change(screen.getByLabelText('Profile'), { target: { value: 'spreadsheet' } });
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>('Separator').disabled).toBe(false));
});

test('an address where nothing answers says so and what to do', async () => {
  const { transport } = await settings();
  fireEvent.change(screen.getByLabelText('Address'), { target: { value: ' http://10.0.0.9:11434 ' } });
  fireEvent.click(screen.getByRole('button', { name: 'Connect' }));
  await screen.findByText('Nothing answers at 10.0.0.9:11434. Start it there.');
  expect(transport.asked.at(-1)).toEqual({ name: 'server.connect', params: { url: 'http://10.0.0.9:11434' } });
});

test('the server log: its state is shown, what is typed is kept when the box is left, and lines of others can be looked at', async () => {
  const { sets, transport } = await settings();
  const state = (fields: Partial<ServerLogState>): void =>
    transport.emit({
      type: 'server-log-changed',
      log: {
        state: 'open',
        source: '/var/log/ollama.log',
        simulated: false,
        problem: null,
        lines: 1_204,
        unmatched: 0,
        unmatchedLast: [],
        ...fields,
      },
    });
  state({ unmatched: 1, unmatchedLast: ['slot <b>release</b>: id 0'] });
  await screen.findByText(/1,204 lines read, 1 of them fit no call here/);
  expect(screen.getByText('slot <b>release</b>: id 0')).toBeTruthy();
  const problem = '/no.log is not there. It is read as soon as it is.';
  state({ state: 'not-found', source: '/no.log', problem });
  await screen.findByText('not found');
  expect(screen.getByText(new RegExp(problem))).toBeTruthy();
  state({ state: 'not-readable', source: '/root.log', problem: '/root.log may not be read.' });
  await screen.findByText('not readable');

  const box = screen.getByLabelText('Server log');
  fireEvent.change(box, { target: { value: ' /var/log/ollama.log ' } });
  expect(sets()).toEqual([]);
  fireEvent.blur(box);
  await waitFor(() => expect(sets()).toEqual([{ serverLog: '/var/log/ollama.log' }]));
  // Leaving it again sends nothing.
  fireEvent.blur(box);
  expect(sets()).toHaveLength(1);
});

test('a log of a simulator is marked', async () => {
  const { transport } = await settings();
  transport.emit({
    type: 'server-log-changed',
    log: {
      state: 'open',
      source: "the simulator's own log",
      simulated: true,
      problem: null,
      lines: 3,
      unmatched: 0,
      unmatchedLast: [],
    },
  });
  const status = await screen.findByText(/the simulator's own log/);
  expect(status.textContent).toMatch(/simulated/i);
});
