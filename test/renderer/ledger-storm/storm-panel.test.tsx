// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { stormAskSchema } from '../../../shared/contract/ledger.ts';
import { useStormText } from '../../../renderer/pages/ledger/storm-panel.tsx';
import { firstStorm } from '../../../renderer/pages/ledger/storm-model.ts';
import { drawApp } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';
import { goldenStorm, makeSide, makeStorm } from './make-storm.ts';

afterEach(cleanup);
beforeEach(() => useStormText.setState({ text: firstStorm, isTyped: false }));

async function storm(script: Script = {}) {
  const app = drawApp({}, script);
  await screen.findByLabelText('Message');
  location.hash = 'ledger';
  fireEvent(window, new HashChangeEvent('hashchange'));
  return { ...app, panel: within(await screen.findByRole('region', { name: 'Storm' })) };
}
const half = (name: string) => within(screen.getByRole('region', { name }));
const text = (name: string): string => screen.getByRole('region', { name }).textContent ?? '';
const squares = (name: string): (string | null)[] =>
  half(name)
    .getAllByRole('img')
    .map((image) => image.getAttribute('aria-label'));

test('it says what it will cost and that it is simulated before it runs, and asks for what the sentence says', async () => {
  const { panel, transport } = await storm({ 'storm.start': (ask) => ok(makeStorm({ ask })) });
  expect(panel.getByText('SIMULATED')).toBeTruthy();
  expect(panel.getByText(/^20 calls twice · simulator only/)).toBeTruthy();
  expect(text('Check after the reply')).toContain('not run yet');
  fireEvent.click(panel.getByRole('button', { name: 'Run the storm' }));
  await panel.findByRole('button', { name: 'Stop' });
  expect(transport.asked.find(({ name }) => name === 'storm.start')?.params).toEqual(stormAskSchema.parse({}));
});

test('it grows with its events: spent on one side, held on the other, and each call a square', async () => {
  const { transport } = await storm({ 'storm.start': () => ok(makeStorm()) });
  fireEvent.click(screen.getByRole('button', { name: 'Run the storm' }));
  const calls = ['done', 'running', ...Array.from({ length: 18 }, () => 'waiting')];
  act(() =>
    transport.emit({
      type: 'storm-changed',
      storm: makeStorm({
        checkAfter: makeSide({ admitted: 2, spentTokens: 1_969, calls: calls as never }),
        reserveFirst: makeSide({ admitted: 3, heldTokens: 7_302, heldTokensMax: 7_302 }),
      }),
    }),
  );
  await waitFor(() => expect(text('Check after the reply')).toContain('1,969spent, under the limit'));
  expect(squares('Check after the reply')).toEqual([
    'Check after the reply: 1,969 spent, 0 held, limit 9,000',
    '1 done, 1 running, 18 waiting',
  ]);
  expect(squares('Reserve first')[0]).toBe('Reserve first: 0 spent, 7,302 held, limit 9,000');
});

test('the end: 4.4 times the limit on one side, under it on the other, with the code of the refusals', async () => {
  const { transport } = await storm();
  act(() => transport.emit({ type: 'storm-changed', storm: goldenStorm() }));
  await waitFor(() => expect(text('Check after the reply')).toContain('39,380spent, 4.4 times the limit'));
  expect(text('Check after the reply')).toContain('20 of 20 calls let through, none refused');
  expect(text('Reserve first')).toContain('7,302held at most, under the limit');
  expect(text('Reserve first')).toContain('3 of 20 calls let through, 17 refused · 5,907 spent, the rest given back');
  expect(text('Reserve first')).toContain('429 tenant-month-limit-held, Retry-After 3:00');
  expect(squares('Reserve first')[1]).toBe('3 done, 17 refused');
});

test('one that ran before this screen was open is shown with its own sentence', async () => {
  const golden = goldenStorm();
  const { panel } = await storm({
    'storm.get': () => ok({ storm: { ...golden, ask: { ...golden.ask, calls: 20, userLimit: null } } }),
  });
  await panel.findByRole('button', { name: 'User limit, tokens: none' });
  expect(text('Check after the reply')).toContain('39,380');
});

test('an answer that is older than an event does not take it back', async () => {
  const { transport } = await storm({ 'storm.start': () => ok(makeStorm()) });
  act(() => transport.emit({ type: 'storm-changed', storm: goldenStorm() }));
  await waitFor(() => expect(text('Check after the reply')).toContain('39,380'));
  fireEvent.click(screen.getByRole('button', { name: 'Run the storm' }));
  await waitFor(() => expect(transport.asked.some(({ name }) => name === 'storm.start')).toBe(true));
  expect(text('Check after the reply')).toContain('39,380');
});

test('it can be stopped where it was started, and says so', async () => {
  const { transport } = await storm({ 'storm.start': () => ok(makeStorm()), 'storm.cancel': () => ok({}) });
  fireEvent.click(screen.getByRole('button', { name: 'Run the storm' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Stop' }));
  await waitFor(() =>
    expect(transport.asked.find(({ name }) => name === 'storm.cancel')?.params).toEqual({ stormId: 'storm_1' }),
  );
  act(() =>
    transport.emit({
      type: 'storm-changed',
      storm: makeStorm({ state: 'cancelled', endedAt: '2026-11-30T00:00:01.000Z' }),
    }),
  );
  expect(await screen.findByText(/^Stopped\./)).toBeTruthy();
});

test('what cannot be read is said, and nothing is asked; a refusal is said with its next step', async () => {
  const { panel, transport } = await storm({
    'storm.start': () => denied('busy', 'A storm is running.', { next: 'Wait for it to end, or stop it.' }),
  });
  fireEvent.click(panel.getByRole('button', { name: 'Calls at once: 20' }));
  const box = await screen.findByLabelText('Calls at once', { selector: 'input' });
  fireEvent.change(box, { target: { value: '500' } });
  expect(panel.getByRole('alert', { hidden: true }).textContent).toBe('Calls must be a whole number from 1 to 200.');
  expect(panel.getByRole<HTMLButtonElement>('button', { name: 'Run the storm', hidden: true }).disabled).toBe(true);
  fireEvent.change(box, { target: { value: '200' } });
  fireEvent.click(panel.getByRole('button', { name: 'Run the storm', hidden: true }));
  await waitFor(() =>
    expect(panel.getByRole('alert', { hidden: true }).textContent).toBe(
      'A storm is running. Wait for it to end, or stop it.',
    ),
  );
  expect(transport.asked.filter(({ name }) => name === 'storm.start')).toHaveLength(1);
});
