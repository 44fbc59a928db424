// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { settingsSchema } from '../../../shared/contract/settings.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { maskedUrl, redisProblem } from '../../../renderer/pages/settings/ledger-section.tsx';
import { drawApp } from '../support/screen.tsx';

afterEach(cleanup);

async function settings(first: Partial<Settings> = {}) {
  let current = settingsSchema.parse(first);
  const app = drawApp(
    { settings: current },
    {
      'settings.set': (patch) => {
        if (patch.redisUrl?.includes(':99999')) {
          return denied('bad-input', 'redisUrl has a host or port that is none.', {
            field: 'redisUrl',
            next: 'Use redis://host:6379.',
          });
        }
        current = settingsSchema.parse({ ...current, ...patch });
        app.transport.emit({ type: 'settings-changed', settings: current });
        return ok(current);
      },
    },
  );
  await screen.findByLabelText('Message');
  location.hash = '#settings';
  fireEvent(window, new HashChangeEvent('hashchange'));
  await screen.findByLabelText('Theme');
  const sets = () => app.transport.asked.filter(({ name }) => name === 'settings.set').map(({ params }) => params);
  return { ...app, sets };
}
const fill = (label: string, value: string): void => {
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
};

describe('the payer of the console', () => {
  test('tenant and user are kept together', async () => {
    const { sets } = await settings();
    fill('Tenant of the payer', 'acme');
    fill('User of the payer', ' ada ');
    expect(sets()).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Keep' }));
    await waitFor(() => expect(sets()).toEqual([{ payer: { tenant: 'acme', user: 'ada' } }]));
  });
  test('an empty name is refused in the words of the contract, and nothing is sent', async () => {
    const { sets } = await settings();
    fill('User of the payer', ' ');
    fireEvent.click(screen.getByRole('button', { name: 'Keep' }));
    expect(screen.getByRole('alert').textContent).toBe('The user must not be empty.');
    expect(sets()).toEqual([]);
  });
});

describe('Redis', () => {
  test('its password is nowhere on the page', async () => {
    await settings({ redisUrl: 'redis://me:open-sesame@box:6379/2' });
    expect(screen.getByText('redis://•••@box:6379/2')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Change where the ledger is kept' }));
    expect(document.body.innerHTML).not.toContain('open-sesame');
    expect([...document.querySelectorAll('input')].map(({ value }) => value).join()).not.toContain('open-sesame');
  });

  test('it is typed anew as a whole; a refusal stays beside the box, and Clear goes back to the environment', async () => {
    const { sets } = await settings({ redisUrl: 'redis://box' });
    fireEvent.click(screen.getByRole('button', { name: 'Change where the ledger is kept' }));
    const box = () => screen.getByPlaceholderText('redis://user:password@host:6379/0');
    const form = within(box().closest('form') ?? document.body);
    fireEvent.change(box(), { target: { value: 'http://box' } });
    fireEvent.click(form.getByRole('button', { name: 'Keep' }));
    expect(screen.getByRole('alert').textContent).toMatch(/^Redis URL must begin with redis:/);
    expect(sets()).toEqual([]);
    fireEvent.change(box(), { target: { value: 'redis://box:99999' } });
    fireEvent.click(form.getByRole('button', { name: 'Keep' }));
    await waitFor(() =>
      expect(screen.getAllByRole('alert')[0]?.textContent).toBe(
        'redisUrl has a host or port that is none. Use redis://host:6379.',
      ),
    );
    fireEvent.change(box(), { target: { value: ' rediss://other:6380 ' } });
    fireEvent.click(form.getByRole('button', { name: 'Keep' }));
    await screen.findByText('rediss://other:6380');
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    await screen.findByText('as the environment says');
    expect(sets().at(-1)).toEqual({ redisUrl: '' });
  });

  test.each([
    ['redis://box:6379', 'redis://box:6379'],
    ['redis://:pa:ss@wo@rd@box:1/0', 'redis://•••@box:1/0'],
    ['redis-cluster://u:p@a:1,b:2', 'redis-cluster://•••@a:1,b:2'],
    ['me:secret@box', '•••@box'],
    ['unix:///run/redis.sock?database=2&password=secret', 'unix:///run/redis.sock?database=2&password=•••'],
  ])('%s is shown as %s', (url, shown) => expect(maskedUrl(url)).toBe(shown));

  test.each(['', 'redis://a', 'rediss://a', 'redis-cluster://a:1,b:2', 'unix:///a', '/run/a.sock'])(
    '%j can be one',
    (url) => expect(redisProblem(url)).toBeNull(),
  );
  test.each(['http://a', 'localhost:6379', 'redis'])('%j is none', (url) => expect(redisProblem(url)).not.toBeNull());
});

test('what a choice means stands under it, and the share is asked for only where it counts', async () => {
  const { sets } = await settings();
  expect(screen.queryByLabelText('Local share, percent')).toBeNull();
  expect(screen.getByText(/Every call is refused until Redis answers again/)).toBeTruthy();
  fill('When Redis is lost', 'local-share');
  const share = await screen.findByLabelText('Local share, percent');
  expect(screen.getByText(/Several together can pass a limit/)).toBeTruthy();
  fireEvent.change(share, { target: { value: '25' } });
  fireEvent.keyDown(share, { key: 'Enter' });
  await waitFor(() => expect(sets().at(-1)).toEqual({ redisLocalSharePercent: 25 }));
  expect(screen.getByText(/on the disk before its call leaves/)).toBeTruthy();
  fill('Writing to the disk', 'normal');
  expect(await screen.findByText(/the last reservations may be missing/)).toBeTruthy();
  expect(sets().at(-1)).toEqual({ ledgerSync: 'normal' });
});
