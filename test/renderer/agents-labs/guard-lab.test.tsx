// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { denied } from '../../../shared/contract/denials.ts';
import { guardHandlers } from '../../../shared/node/agent/guard-handlers.ts';
import { GuardLab } from '../../../renderer/pages/agents/guard-lab.tsx';
import { emptyGuardDraft, useGuardDraft } from '../../../renderer/pages/agents/guard-store.ts';
import { drawPart } from './draw.tsx';

afterEach(cleanup);
beforeEach(() => useGuardDraft.setState(emptyGuardDraft, true));

// The real comparison stands behind the fake line.
const lab = () => drawPart(<GuardLab />, { 'guard.compare': guardHandlers()['guard.compare'] });
const verdict = (): string => screen.getByRole('status').textContent ?? '';
const why = (): string[] =>
  within(screen.getByRole('list', { name: 'Why' }))
    .getAllByRole('listitem')
    .map((item) => item.textContent ?? '');
const example = (name: string): void => {
  fireEvent.click(screen.getByRole('button', { name }));
};
const box = (call: string, label: string) =>
  within(screen.getByRole('group', { name: call })).getByLabelText<HTMLInputElement>(label);

test.each([
  ['Key order', 'The same call', 'options: key order differs: no matter'],
  ['Number forms', 'The same call', 'end: 1.0 and 1 are the same number'],
  ['Cursor', 'The same call', 'field cursor is ignored'],
  ['Accents', 'Different calls', 'q: "café" composed, then decomposed: different texts'],
  [
    'Big ids',
    'They look the same',
    'id: 9007199254740993 and 9007199254740992 look the same: a number keeps about 16 digits',
  ],
  ['Duplicate key', 'No comparison', 'first call: duplicate key id at line 1, column 11: refused, it never runs'],
  ['Polling', 'Another state', 'results differ: another state, same call'],
  ['Near-duplicate pages', 'Only the guard against no new text', 'results differ'],
])('example %s', async (name, word, reason) => {
  await lab();
  await screen.findByRole('list', { name: 'Why' });
  example(name);
  await waitFor(() => expect(why()).toContain(reason));
  expect(verdict()).toContain(word);
});

test('typing is compared once it pauses, and both sides show what is hashed', async () => {
  const { transport } = await lab();
  await screen.findByText('The same call');
  const before = transport.asked.filter(({ name }) => name === 'guard.compare').length;
  for (const value of ['{"city"', '{"city":', '{"city": "Bergen"}'])
    fireEvent.change(box('Second call', 'Arguments, JSON'), { target: { value } });
  await screen.findByText('Different calls');
  expect(transport.asked.filter(({ name }) => name === 'guard.compare')).toHaveLength(before + 1);
  const hashed = within(screen.getByRole('region', { name: 'Second call, as hashed' }));
  expect(hashed.getByText('{"args":{"city":"Bergen"},"tool":"search"}')).toBeTruthy();
  expect(hashed.getByText(/^[0-9a-f]{64}$/)).toBeTruthy();
  expect(hashed.getByText('none: paste a result')).toBeTruthy();
});

test('near-duplicate results are said in percent', async () => {
  await lab();
  await screen.findByText('The same call');
  example('Near-duplicate pages');
  await waitFor(() => expect(verdict()).toMatch(/\d\d %of the phrases of both results are common/));
  expect(why().some((line) => line.startsWith('results are nearly the same'))).toBe(true);
});

test('what is too long is said and not asked; a refusal is shown with its next step', async () => {
  const { transport } = await drawPart(<GuardLab />, {
    'guard.compare': () => denied('busy', 'Too much at once.', { next: 'Try again.' }),
  });
  expect((await screen.findByRole('alert')).textContent).toBe('Too much at once. Try again.');
  const before = transport.asked.length;
  const names = Array.from({ length: 51 }, (_, index) => `f${index}`).join(',');
  fireEvent.change(screen.getByLabelText('Ignored fields, separated by commas'), { target: { value: names } });
  await screen.findByText('Ignored fields must be at most 50 names of 200 characters.');
  expect(transport.asked).toHaveLength(before);
});
