// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PriceList, PriceSet } from '../../../shared/contract/costs.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { settingsSchema } from '../../../shared/contract/settings.ts';
import {
  LOCAL_PRICES,
  costOfConversation,
  costOfMonth,
  readPriceSet,
  resendSeries,
  shippedPriceSets,
} from '../../../shared/engine/costs/costs.ts';
import { firstCalculator } from '../../../renderer/pages/costs/calculator.ts';
import { useCalculator } from '../../../renderer/pages/costs/costs-page.tsx';
import { drawApp } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';

afterEach(cleanup);
beforeEach(() => useCalculator.setState(firstCalculator));

/** The real arithmetic behind a fake line. */
async function costs(script: Script = {}) {
  const own: PriceSet[] = [];
  const list = (): PriceList => [
    ...[LOCAL_PRICES, ...shippedPriceSets].map((set) => ({ set, own: false })),
    ...own.map((set) => ({ set, own: true })),
  ];
  const prices = (name: string): PriceSet => list().find(({ set }) => set.name === name)?.set ?? LOCAL_PRICES;
  let settings: Settings = settingsSchema.parse({});
  const app = drawApp(
    {},
    {
      'prices.list': () => ok(list()),
      'prices.set': (input) => {
        const read = readPriceSet(input);
        if (!read.ok) return read;
        own.push(read.value);
        return ok(list());
      },
      'prices.forget': () => {
        own.pop();
        return ok(list());
      },
      'cost.resend': ({ question, priceSet }) => resendSeries(question, prices(priceSet.name)),
      'cost.conversation': ({ conversation, priceSet }) => costOfConversation(conversation, prices(priceSet.name)),
      'cost.month': ({ conversation, month, priceSet }) => costOfMonth(conversation, month, prices(priceSet.name)),
      'settings.set': (patch) => {
        settings = settingsSchema.parse({ ...settings, ...patch });
        app.transport.emit({ type: 'settings-changed', settings });
        return ok(settings);
      },
      ...script,
    },
  );
  await screen.findByLabelText('Message');
  fireEvent.keyDown(document.body, { key: 'g' });
  fireEvent.keyDown(document.body, { key: 'm' });
  await screen.findByRole('main', { name: 'Costs' });
  return app;
}

const row = (table: HTMLElement, name: RegExp): (string | null)[] =>
  within(within(table).getByRole('row', { name }))
    .getAllByRole('cell')
    .map((cell) => cell.textContent);

test('g m opens it: 20 turns of 500 against 40,000, with exact dollars and a month', async () => {
  await costs();
  const table = await screen.findByRole('table', { name: 'Sums of the calculator' });
  expect(row(table, /^Tokens sent/)).toEqual(['155,000', '7,660,000']);
  expect(row(table, /^Sent once/)).toEqual(['12,500', '763,000']);
  expect(row(table, /^A conversation/)).toEqual(['$0.35', '$15.36']);
  expect(row(table, /^A month/)).toEqual(['$105', '$4,608']);
  expect(table.textContent).toContain('not measured. As if priced by Claude Sonnet 5.5, 2026-11-14');
  expect(screen.getByText('49.4 times')).toBeTruthy();
  expect(screen.getByRole('figure').getAttribute('aria-label')).toContain('7,660,000 tokens sent over 20 turns');
});

test('what cannot be read is said, and the last figures stay', async () => {
  const { transport } = await costs();
  await screen.findByText('49.4 times');
  const asked = transport.asked.length;
  fireEvent.click(screen.getByRole('button', { name: 'Turns: 20' }));
  fireEvent.change(await screen.findByLabelText('Turns', { selector: 'input' }), { target: { value: 'some' } });
  await waitFor(() =>
    expect(screen.getAllByRole('alert', { hidden: true })[0]?.textContent).toBe('Turns: "some" is not a whole number.'),
  );
  expect(screen.getByText('49.4 times')).toBeTruthy();
  expect(transport.asked.length).toBe(asked);
});

test('a sum that is too large is refused in words beside the sentence', async () => {
  await costs({
    'cost.month': () => denied('bad-input', 'The cost is over 9,007,199 dollars.', { next: 'Use fewer turns.' }),
  });
  expect((await screen.findByRole('alert')).textContent).toBe('The cost is over 9,007,199 dollars. Use fewer turns.');
});

test('a set of one’s own: the refusal stands beside its box, then it is in the table and can be removed', async () => {
  await costs();
  fireEvent.click(await screen.findByRole('button', { name: 'Add prices' }));
  const form = within(screen.getByRole('form', { name: 'Add prices' }));
  const type = (label: RegExp, value: string): void => {
    fireEvent.change(form.getByLabelText(label), { target: { value } });
  };
  type(/^Name/, 'mine');
  type(/^Source/, 'a bill');
  type(/^Input price/, '-2');
  type(/^Output price/, '3');
  fireEvent.click(form.getByRole('button', { name: 'Add' }));
  expect((await form.findByRole('alert')).textContent).toBe(
    'Input price is negative. Give dollars per million tokens, such as 2 or 0.05.',
  );
  expect(form.getByLabelText(/^Input price/).getAttribute('aria-invalid')).toBe('true');
  type(/^Input price/, '0.05');
  fireEvent.click(form.getByRole('button', { name: 'Add' }));
  const table = screen.getByRole('table', { name: 'Price sets' });
  await waitFor(() => expect(row(table, /^mine/).slice(2, 5)).toEqual(['$0.05', '$3', '–']));
  fireEvent.click(within(table).getByRole('button', { name: /^Remove mine/ }));
  fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Remove' }));
  await waitFor(() => expect(within(table).queryByText('mine')).toBeNull());
});

test('calls as if priced elsewhere: nothing is asked before a choice, unknown counts are said', async () => {
  const sum = {
    since: '2026-11-14T09:00:00.000Z',
    calls: 3,
    callsUnknown: 1,
    inputTokens: 4_000,
    outputTokens: null,
    cost: { input: 8_000_000, output: null, total: null },
  };
  const { transport } = await costs({
    'cost.calls': () => ok({ simulated: true, today: sum, session: sum } as never),
  });
  const choice = await screen.findByLabelText('As if priced by');
  expect(screen.getByText(/costs nothing for its tokens: \$0/)).toBeTruthy();
  expect(transport.asked.some(({ name }) => name === 'cost.calls')).toBe(false);
  fireEvent.change(choice, { target: { value: 'Claude Sonnet 5.5\n2026-11-14' } });
  const table = await screen.findByRole('table', { name: 'Calls, as if' });
  expect(row(table, /^Today/)).toEqual(['3', '4,000', '–', '$0', 'at least $0.008']);
  expect(table.textContent).toContain('1 call reported no counts or only one');
  expect(transport.asked.filter(({ name }) => name === 'settings.set')[0]?.params).toEqual({
    asIfPriceSet: { name: 'Claude Sonnet 5.5', date: '2026-11-14' },
  });
});
