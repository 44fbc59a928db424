import { describe, expect, test } from 'vitest';
import { applyConnection, applyFrame, applySnapshot } from '../../../renderer/stores/apply-frame.ts';
import { emptyEngineState } from '../../../renderer/stores/engine-state.ts';
import {
  ALERTS_MAX,
  BALANCES_MAX,
  REFUSALS_MAX,
  RESERVATIONS_MAX,
  applyBalance,
  applyLedgerEvents,
  applyLedgerView,
  emptyLedger,
  heldTokens,
  isViewWanted,
  ledgerNowMs,
  wantView,
} from '../../../renderer/stores/ledger-state.ts';
import type { LedgerSlice } from '../../../renderer/stores/ledger-state.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { makeServer, makeSnapshot } from '../support/make.ts';
import {
  NOW,
  closed,
  makeAccount,
  makeAlert,
  makeBalance,
  makeGoldenView,
  makeHold,
  makeLedgerState,
  makeRefusal,
} from './make-ledger.ts';

const loaded = (): LedgerSlice => applyLedgerView(emptyLedger, makeGoldenView(), emptyLedger, 1_000);
const opened = (id: string, user = 'grace'): EngineEvent => ({
  type: 'reservation-opened',
  reservation: makeHold(id, user),
  balances: [makeBalance({ name: user }, { held: 2_434 })],
});

describe('a view', () => {
  test('stands in the order of touch and of age, and is held until another is wanted', () => {
    const ledger = loaded();
    expect([...ledger.balances.values()].map(({ account }) => account.name)).toEqual(['ada', 'grace', 'acme']);
    expect([...ledger.reservations.keys()]).toEqual(['r1', 'r2', 'r4', 'r5']);
    expect(ledger).toMatchObject({ loaded: true, denial: null, stateAtMs: 1_000 });
    expect([isViewWanted(emptyLedger), isViewWanted(ledger), isViewWanted(wantView(ledger))]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('does not take back what events told while it was on its way', () => {
    const asked = loaded();
    const meanwhile = applyLedgerEvents(
      asked,
      [
        {
          type: 'reservation-closed',
          reservation: closed(makeHold('r5', 'grace'), 1_930, 42),
          balances: [makeBalance({ name: 'grace' }, { spent: 3_940 })],
        },
        opened('r6', 'ada'),
        { type: 'reservation-refused', line: makeRefusal({ id: 'late' }), balances: [] },
        { type: 'budget-alerted', alert: makeAlert() },
      ],
      2_000,
    );
    const ledger = applyLedgerView(meanwhile, makeGoldenView(), asked, 3_000);
    expect(ledger.reservations.get('r5')?.state).toBe('settled');
    expect(ledger.reservations.get('r6')?.state).toBe('open');
    expect(ledger.balances.get(makeBalance({ name: 'grace' }).key)?.spent).toBe(3_940);
    expect([...ledger.refusals.keys()]).toEqual(['refusal-ada', 'late']);
    expect(ledger.alerts).toEqual([makeAlert()]);
  });

  test('that was wanted again while it was on its way is asked for once more', () => {
    const asked = wantView(loaded());
    const meanwhile = applyLedgerEvents(asked, [{ type: 'ledger-changed', state: makeLedgerState() }], 2_000);
    expect(isViewWanted(applyLedgerView(meanwhile, makeGoldenView(), asked, 3_000))).toBe(true);
    expect(isViewWanted(applyLedgerView(asked, makeGoldenView(), asked, 3_000))).toBe(false);
  });

  test('of the other book leaves nothing of the first', () => {
    const asked = loaded();
    const meanwhile = applyLedgerEvents(asked, [opened('r6')], 2_000);
    const view = makeGoldenView({
      state: makeLedgerState({ book: 'real' }),
      balances: [],
      reservations: [],
      refusals: [],
    });
    const ledger = applyLedgerView(meanwhile, view, asked, 3_000);
    expect([ledger.balances.size, ledger.reservations.size, ledger.state?.book]).toEqual([0, 0, 'real']);
  });
});

describe('events', () => {
  test('a hold opens, closes once, and never opens again', () => {
    const open = applyLedgerEvents(loaded(), [opened('r6')], 0);
    expect(heldTokens(open.reservations.values())).toBe(4_868);
    const done = applyLedgerEvents(
      open,
      [
        {
          type: 'reservation-closed',
          reservation: closed(makeHold('r6', 'grace'), 0, 0, { state: 'voided' }),
          balances: [],
        },
        opened('r6'),
      ],
      0,
    );
    expect(done.reservations.get('r6')?.state).toBe('voided');
    expect(heldTokens(done.reservations.values())).toBe(2_434);
    expect(done.operations).toBe(3);
  });

  test('a touched account becomes the last touched', () => {
    const ledger = applyLedgerEvents(loaded(), [opened('r6', 'ada')], 0);
    expect([...ledger.balances.values()].map(({ account }) => account.name)).toEqual(['grace', 'acme', 'ada']);
  });

  test('those of the other book count as news and change no figure', () => {
    const before = loaded();
    const real = makeHold('x', 'ada', { book: 'real' });
    const ledger = applyLedgerEvents(
      before,
      [
        { type: 'reservation-opened', reservation: real, balances: [makeBalance({ book: 'real' })] },
        {
          type: 'reservation-refused',
          line: makeRefusal({ id: 'real', refusal: { ...refusal(), account: makeAccount({ book: 'real' }) } }),
          balances: [],
        },
        { type: 'budget-alerted', alert: makeAlert({ account: makeAccount({ book: 'real' }) }) },
      ],
      0,
    );
    expect(ledger.balances).toBe(before.balances);
    expect(ledger.reservations).toBe(before.reservations);
    expect(ledger.refusals).toBe(before.refusals);
    expect([ledger.newsCount, ledger.operations, ledger.alerts.length]).toEqual([2, 3, 0]);
  });

  test('equal refusals are one line that moves to the front with its count', () => {
    const ledger = applyLedgerEvents(
      applyLedgerEvents(loaded(), [{ type: 'reservation-refused', line: makeRefusal({ id: 'b' }), balances: [] }], 0),
      [{ type: 'reservation-refused', line: makeRefusal({ count: 7 }), balances: [] }],
      0,
    );
    expect([...ledger.refusals.values()].map(({ id, count }) => [id, count])).toEqual([
      ['b', 1],
      ['refusal-ada', 7],
    ]);
  });

  test('an alert marks its threshold as told, in its place', () => {
    const ledger = applyLedgerEvents(loaded(), [{ type: 'budget-alerted', alert: makeAlert() }], 0);
    const acme = ledger.balances.get(makeBalance({ scope: 'tenant' }).key);
    expect(acme?.alerts).toEqual([{ percent: 80, at: 7_200, raised: true }]);
    expect([...ledger.balances.keys()].at(-1)).toBe(acme?.key);
    expect(ledger.newsCount).toBe(1);
  });

  test('a changed store is shown at once and asks for a view', () => {
    const state = makeLedgerState({ store: 'redis', state: 'unavailable', now: '2026-11-15T00:00:01.000Z' });
    const ledger = applyLedgerEvents(loaded(), [{ type: 'ledger-changed', state }], 9_000);
    expect(ledger).toMatchObject({ state, stateAtMs: 9_000 });
    expect(isViewWanted(ledger)).toBe(true);
  });

  test('another kind of server has another book; the same kind asks nothing', () => {
    const changed = (kind: 'ollama' | 'simulator'): boolean =>
      isViewWanted(applyLedgerEvents(loaded(), [{ type: 'server-changed', status: makeServer({ kind }) }], 0));
    expect([changed('ollama'), changed('simulator')]).toEqual([true, false]);
  });

  test('others leave the slice as it is', () => {
    const before = loaded();
    expect(applyLedgerEvents(before, [{ type: 'notice-raised', level: 'info', text: 'x', next: null }], 0)).toBe(
      before,
    );
  });
});

test('the clock goes on from what the ledger said, never back', () => {
  const ledger = loaded();
  expect(ledgerNowMs(emptyLedger, 5)).toBeNull();
  expect(ledgerNowMs(ledger, 1_000)).toBe(Date.parse(NOW));
  expect(ledgerNowMs(ledger, 61_000)).toBe(Date.parse(NOW) + 60_000);
  expect(ledgerNowMs(ledger, 0)).toBe(Date.parse(NOW));
});

test('a grant that was answered changes its account', () => {
  const granted = makeBalance({}, { limit: 8_000, spent: 3_937, granted: 2_000 });
  expect(applyBalance(loaded(), granted).balances.get(granted.key)).toBe(granted);
});

test('open holds outlive closed ones, and only when all are open the oldest goes', () => {
  const closedHold = closed(template, 1, 1);
  const closings = Array.from({ length: RESERVATIONS_MAX + 50 }, (_, index): EngineEvent => ({
    type: 'reservation-closed',
    reservation: { ...closedHold, id: `c${index}` },
    balances: [],
  }));
  const ledger = applyLedgerEvents(loaded(), [opened('old'), ...closings], 0);
  expect(ledger.reservations.size).toBe(RESERVATIONS_MAX);
  expect([...ledger.reservations.values()].filter(({ state }) => state === 'open').map(({ id }) => id)).toEqual([
    'r5',
    'old',
  ]);
  const openings = Array.from({ length: RESERVATIONS_MAX }, (_, index): EngineEvent => ({
    type: 'reservation-opened',
    reservation: { ...template, id: `o${index}` },
    balances: [],
  }));
  const full = applyLedgerEvents(ledger, openings, 0);
  expect([full.reservations.size, full.reservations.has('r5'), full.reservations.has('o999')]).toEqual([
    RESERVATIONS_MAX,
    false,
    true,
  ]);
});

test('bounds of accounts, refusals and alerts', () => {
  const balance = makeBalance();
  const many = Array.from({ length: BALANCES_MAX + 10 }, (_, index) => ({ ...balance, key: `k${index}` }));
  const lines = Array.from({ length: REFUSALS_MAX + 10 }, (_, index) => ({ ...makeRefusal(), id: `l${index}` }));
  const alert = makeAlert();
  const ledger = applyLedgerEvents(
    loaded(),
    [
      { type: 'reservation-opened', reservation: makeHold('r6', 'ada'), balances: many },
      ...lines.map((line): EngineEvent => ({ type: 'reservation-refused', line, balances: [] })),
      ...Array.from({ length: ALERTS_MAX + 10 }, (): EngineEvent => ({ type: 'budget-alerted', alert })),
    ],
    0,
  );
  expect([ledger.balances.size, ledger.refusals.size, ledger.alerts.length]).toEqual([
    BALANCES_MAX,
    REFUSALS_MAX,
    ALERTS_MAX,
  ]);
  expect(ledger.balances.has(`k${BALANCES_MAX + 9}`)).toBe(true);
});

describe('in the store of the screen', () => {
  test('frames carry it, a storm stands beside it, and a gap asks for a view again', () => {
    const first = applySnapshot(applyConnection(emptyEngineState, 'connected'), makeSnapshot(), 0);
    const state = applyFrame(
      { ...first, ledger: loaded() },
      { kind: 'frame', seq: 1, dropped: 0, events: [opened('r6')] },
      0,
    );
    expect(state.ledger.reservations.has('r6')).toBe(true);
    expect(isViewWanted(state.ledger)).toBe(false);
    const gap = applyFrame(state, { kind: 'frame', seq: 5, dropped: 0, events: [] }, 0);
    expect(isViewWanted(applySnapshot(gap, makeSnapshot(), 0).ledger)).toBe(true);
  });
});

const refusal = () => {
  const { refusal: facts } = makeRefusal();
  if (facts === null) throw new Error('the golden refusal has its figures');
  return facts;
};
const template = makeHold('template', 'ada');
