// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { Balance, CallBudget, LedgerView, Reservation } from '../../../shared/contract/ledger.ts';
import { firstPlansState, usePlans } from '../../../renderer/pages/ledger/plans-store.ts';
import { callId, makeOpenCall, makePreflight, makeRecord, makeSummary } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';

afterEach(cleanup);

const NOW = '2026-11-14T22:44:02.000Z';

const balance: Balance = {
  key: 'simulated:acme:user:ada:day:2026-11-14:tokens',
  account: {
    book: 'simulated',
    tenant: 'acme',
    scope: 'user',
    name: 'ada',
    window: 'day',
    period: '2026-11-14',
    unit: 'tokens',
  },
  limit: 6_000,
  granted: 0,
  spent: 3_937,
  held: 0,
  free: 2_063,
  overrun: 0,
  endsAt: '2026-11-15T00:00:00.000Z',
  timeZone: 'UTC',
  alerts: [],
};

const view: LedgerView = {
  state: {
    store: 'memory',
    state: 'ready',
    problem: null,
    next: null,
    book: 'simulated',
    now: NOW,
    clockOffsetMs: 0,
  },
  balances: [balance],
  reservations: [],
  refusals: [],
  alerts: [],
};

const refusal: Denial = {
  code: 'user-day-limit-reached',
  message: 'Token budget exhausted for user ada.',
  next: 'Wait for the period to end, or ask for more.',
  budget: {
    account: balance.account,
    kind: 'reached',
    needed: 2_434,
    spent: 3_937,
    held: 0,
    limit: 6_000,
    free: 2_063,
    retryAfterSeconds: 4_558,
    endsAt: balance.endsAt,
  },
};

const settled: CallBudget = {
  reservationId: 'hold_1',
  tenant: 'acme',
  user: 'ada',
  plan: 'assistant',
  book: 'simulated',
  reservedInputTokens: 2_034,
  reservedOutputTokens: 400,
  sentTokensEstimated: 6_869,
  resolution: 'settled',
  source: 'reported',
  chargedInputTokens: 1_925,
  chargedOutputTokens: 43,
  chargedNanoDollars: 0,
  overrunTokens: 0,
  reason: '',
};

const admission = { inputTokens: 2_034, outputTokens: 400, denial: null };

async function live(script: Script = {}) {
  usePlans.setState(firstPlansState, true);
  const app = drawApp(
    {},
    {
      'ledger.get': () => ok(view),
      'call.preflight': () => ok(makePreflight({ admission })),
      ...script,
    },
  );
  fireEvent.change(await screen.findByLabelText('Message'), { target: { value: 'Hello' } });
  return app;
}

async function payAs(name: RegExp): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name: /^Payer/ }));
  fireEvent.click(await screen.findByRole('option', { name }));
}

const left = (): string => screen.getByRole('status', { name: 'What is left' }).textContent ?? '';

async function sent(patch: Parameters<typeof makeSummary>[0]) {
  const app = await live();
  await screen.findByText(/4,818 of 6,869 tokens would be lost/);
  fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
  await waitFor(() => expect(app.transport.asked.some(({ name }) => name === 'call.start')).toBe(true));
  act(() => app.transport.emit({ type: 'call-opened', call: makeOpenCall('call-1') }));
  act(() => app.transport.emit({ type: 'call-closed', call: makeSummary({ id: callId('call-1'), ...patch }) }));
  return app;
}
const panelText = (): string =>
  within(screen.getByRole('region', { name: 'Reply' })).getByRole('tabpanel').textContent ?? '';
const chip = () => screen.findByRole('tab', { name: /^budget/ });

describe('who pays', () => {
  test('by default as local without limits, and the request says nothing of it', async () => {
    const { transport } = await live();
    expect(await screen.findByRole('button', { name: 'Payer: as local (no limits)' })).toBeTruthy();
    await waitFor(() => expect(left()).toBe('this call would hold 2,434; nothing limits it'));
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(transport.asked.some(({ name }) => name === 'call.start')).toBe(true));
    expect(transport.asked.find(({ name }) => name === 'call.start')?.params).not.toHaveProperty('payer');
  });

  test('ada: what is left is said before sending, with what is missing, and the call goes out in her name', async () => {
    const { transport } = await live();
    await payAs(/^ada, acme/);
    await waitFor(() =>
      expect(left()).toBe('ada: 2,063 of 6,000 left today; this call would hold 2,434, 371 short: it would be refused'),
    );
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(transport.asked.some(({ name }) => name === 'call.start')).toBe(true));
    expect(transport.asked.find(({ name }) => name === 'call.start')?.params).toMatchObject({
      payer: { tenant: 'acme', user: 'ada' },
    });
  });

  test('anybody can be named; an empty name is refused beside its box', async () => {
    await live();
    fireEvent.click(await screen.findByRole('button', { name: /^Payer/ }));
    const form = within(await screen.findByRole('form', { name: 'Another payer' }));
    fireEvent.change(form.getByLabelText('user'), { target: { value: ' ' } });
    fireEvent.click(form.getByRole('button', { name: 'Use these' }));
    expect(form.getByRole('alert').textContent).toBe('User must not be empty.');
    fireEvent.change(form.getByLabelText('tenant'), { target: { value: 'acme' } });
    fireEvent.change(form.getByLabelText('user'), { target: { value: 'zoe' } });
    fireEvent.click(form.getByRole('button', { name: 'Use these' }));
    await waitFor(() => expect(left()).toContain('zoe: 6,000 of 6,000 left today'));
  });

  test('a limit of the plan that would refuse the call is said before it is sent', async () => {
    const denial = denied('output-over-cap', 'The output cap asked for is 500 tokens, 400 are allowed.', {
      next: 'Ask for at most 400.',
    }).denial;
    await live({ 'call.preflight': () => ok(makePreflight({ admission: { ...admission, denial } })) });
    await waitFor(() =>
      expect(left()).toBe('The output cap asked for is 500 tokens, 400 are allowed. Ask for at most 400.'),
    );
  });
});

test('without a ledger it is said before sending that the call would be refused', async () => {
  const away = denied('ledger-unavailable', 'Redis at box:6379 is not connected.', { next: 'Start it.' });
  await live({ 'ledger.get': () => away });
  await waitFor(() => expect(left()).toBe('Redis at box:6379 is not connected. It would be refused.'));
});

describe('the budget of a call', () => {
  test('a refusal stands with its code, its figures, the time to wait and the next step', async () => {
    await sent({ ending: 'not-sent', denial: refusal, budget: null });
    const card = within(await screen.findByRole('region', { name: 'Refused' }));
    expect(card.getByText('429 user-day-limit-reached')).toBeTruthy();
    expect(card.getByRole('alert').textContent).toBe('It needs 2,434 and 2,063 are free: 371 short.');
    expect(card.getByText('Retry-After 4,558 s')).toBeTruthy();
    expect(card.getByRole('timer').textContent).toMatch(/^\d+:\d\d(:\d\d)?$/);
    expect(card.getByText(/Wait for the period to end, or ask for more/)).toBeTruthy();
    expect((await chip()).getAttribute('aria-label')).toBe('budget · refused: 371 short');
    expect(panelText()).toContain('Token budget exhausted for user ada.');
  });

  test('the time to wait is counted by the clock of the ledger, also where that was moved', async () => {
    const { transport } = await sent({ ending: 'not-sent', denial: refusal, budget: null });
    const budget = refusal.budget;
    if (budget === undefined) throw new Error('the refusal has figures');
    const line = {
      id: 'r1',
      code: refusal.code,
      tenant: 'acme',
      user: 'ada',
      model: 'gemma3:270m',
      count: 1,
      firstAt: NOW,
      lastAt: NOW,
      message: refusal.message,
      refusal: budget,
    };
    act(() => transport.emit({ type: 'reservation-refused', line, balances: [] }));
    await waitFor(() => expect(screen.getByRole('timer').textContent).toBe('1:15:58'));
    act(() =>
      transport.emit({
        type: 'ledger-changed',
        state: { ...view.state, now: '2026-11-15T00:00:01.000Z', clockOffsetMs: 4_559_000 },
      }),
    );
    await screen.findByText(/It can pass now/);
    expect(screen.getByRole('timer').textContent).toBe('0:00');
  });

  test('settled: what was charged of what was held, and what was sent beside it', async () => {
    await sent({ budget: settled });
    expect((await chip()).getAttribute('aria-label')).toBe('budget · counted: 1,968 charged');
    fireEvent.click(await chip());
    const panel = panelText();
    expect(panel).toContain('1,968 charged, 466 given back');
    expect(panel).toContain('2,434 = 2,034 prompt + 400 answer');
    expect(panel).toContain('about 6,869 prompt tokens by the estimate; 1,925 are charged: what the server worked on');
  });

  test.each([
    [
      { resolution: 'forfeited', source: 'reserved', chargedInputTokens: 2_034, chargedOutputTokens: 400 },
      'budget · forfeited: 2,434 charged',
    ],
    [{ source: 'observed' }, 'budget · estimated: 1,968 charged'],
    [{ chargedInputTokens: 2_200, overrunTokens: 166 }, 'budget · overrun: 2,243 charged'],
    [
      { resolution: 'voided', source: 'none', chargedInputTokens: 0, chargedOutputTokens: 0 },
      'budget · voided: nothing charged',
    ],
    [{ resolution: 'unresolved' }, 'budget · not settled: 2,434 still held'],
  ] as const)('%j', async (patch, words) => {
    await sent({ budget: { ...settled, ...patch } as CallBudget });
    expect((await chip()).getAttribute('aria-label')).toBe(words);
  });

  test('while it runs the chip says what is held', async () => {
    const { transport } = await live();
    await screen.findByText(/4,818 of 6,869 tokens would be lost/);
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(transport.asked.some(({ name }) => name === 'call.start')).toBe(true));
    act(() => transport.emit({ type: 'call-opened', call: makeOpenCall('call-1', { phase: 'sent' }) }));
    const hold: Reservation = {
      id: 'hold_1',
      key: 'call-1',
      owner: 'test',
      book: 'simulated',
      openedAt: NOW,
      expiresAt: balance.endsAt ?? NOW,
      detail: {
        user: 'ada',
        tenant: 'acme',
        plan: 'assistant',
        model: 'gemma3:270m',
        callId: 'call-1',
        inputTokens: 2_034,
        outputTokens: 400,
        sentTokensEstimated: null,
        strict: false,
      },
      lines: [],
      state: 'open',
      closedAt: null,
      charge: null,
    };
    act(() => transport.emit({ type: 'reservation-opened', reservation: hold, balances: [] }));
    await waitFor(async () => expect((await chip()).getAttribute('aria-label')).toBe('budget · held: 2,434 held'));
  });

  test('the detail pane has it too', async () => {
    const app = await live({ 'call.get': ({ callId: id }) => ok(makeRecord({ id, budget: settled })) });
    fireEvent.click(await screen.findByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(app.transport.asked.some(({ name }) => name === 'call.start')).toBe(true));
    act(() => app.transport.emit({ type: 'call-opened', call: makeOpenCall('call-1') }));
    act(() =>
      app.transport.emit({ type: 'call-closed', call: makeSummary({ id: callId('call-1'), budget: settled }) }),
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Details' }));
    const section = await screen.findByRole('region', { name: 'Budget' });
    expect(section.textContent).toContain('1,968 = 1,925 prompt + 43 answer');
    expect(section.textContent).toContain('counted by the server');
  });
});
