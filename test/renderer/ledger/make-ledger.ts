/** Whole, valid values of the ledger; each test says only what it is about. Figures are those of the golden trace. */
import {
  accountKey,
  accountSchema,
  balanceSchema,
  ledgerEntrySchema,
  ledgerStateSchema,
  ledgerViewSchema,
  refusalLineSchema,
  reservationSchema,
} from '../../../shared/contract/ledger.ts';
import type {
  Account,
  Balance,
  BudgetAlert,
  LedgerEntry,
  LedgerState,
  LedgerView,
  RefusalLine,
  Reservation,
} from '../../../shared/contract/ledger.ts';

export const NOW = '2026-11-14T22:44:02.000Z';
const DAY_ENDS = '2026-11-15T00:00:00.000Z';
const MONTH_ENDS = '2026-12-01T00:00:00.000Z';

export function makeAccount(patch: Partial<Account> = {}): Account {
  const scope = patch.scope ?? 'user';
  return accountSchema.parse({
    book: 'simulated',
    tenant: 'acme',
    scope,
    name: scope === 'tenant' ? (patch.tenant ?? 'acme') : 'ada',
    window: scope === 'tenant' ? 'month' : 'day',
    period: scope === 'tenant' ? '2026-11' : '2026-11-14',
    unit: 'tokens',
    ...patch,
  });
}

export function makeBalance(
  about: Partial<Account> = {},
  patch: Partial<Omit<Balance, 'alerts'>> & { alertPercents?: number[]; raised?: number[] } = {},
): Balance {
  const account = makeAccount(about);
  const { alertPercents = [80], raised = [], ...rest } = patch;
  const { limit = 6_000, spent = 0, held = 0 } = rest;
  return balanceSchema.parse({
    key: accountKey(account),
    account,
    limit,
    granted: 0,
    spent,
    held,
    free: limit === null ? null : Math.max(0, limit - spent - held),
    overrun: 0,
    endsAt: account.window === 'day' ? DAY_ENDS : account.window === 'month' ? MONTH_ENDS : null,
    timeZone: 'UTC',
    alerts:
      limit === null
        ? []
        : alertPercents.map((percent) => ({
            percent,
            at: Math.ceil((limit * percent) / 100),
            raised: raised.includes(percent),
          })),
    ...rest,
  });
}

export function makeHold(id: string, user: string, patch: Partial<Reservation> = {}): Reservation {
  return reservationSchema.parse({
    id,
    key: `call/${id}`,
    owner: 'console/4711',
    book: 'simulated',
    openedAt: NOW,
    expiresAt: '2026-11-14T22:45:32.000Z',
    detail: {
      user,
      tenant: 'acme',
      plan: 'assistant',
      model: 'sim-llama3.2:3b',
      callId: null,
      inputTokens: 2_034,
      outputTokens: 400,
      sentTokensEstimated: 2_018,
      strict: false,
    },
    lines: [
      { account: accountKey(makeAccount({ name: user })), unit: 'tokens', amount: 2_434 },
      { account: accountKey(makeAccount({ scope: 'tenant' })), unit: 'tokens', amount: 2_434 },
    ],
    state: 'open',
    closedAt: null,
    charge: null,
    ...patch,
  });
}

export function closed(
  hold: Reservation,
  inputTokens: number,
  outputTokens: number,
  patch: Partial<Omit<Reservation, 'charge'>> & { charge?: Partial<NonNullable<Reservation['charge']>> } = {},
): Reservation {
  const { charge = {}, ...rest } = patch;
  return reservationSchema.parse({
    ...hold,
    state: 'settled',
    closedAt: NOW,
    ...rest,
    charge: {
      inputTokens,
      outputTokens,
      nanoDollars: 0,
      source: 'reported',
      overrunTokens: 0,
      reason: 'the server counted it',
      ...charge,
    },
  });
}

export function makeRefusal(patch: Partial<RefusalLine> = {}): RefusalLine {
  return refusalLineSchema.parse({
    id: 'refusal-ada',
    code: 'user-day-limit-reached',
    tenant: 'acme',
    user: 'ada',
    model: 'sim-llama3.2:3b',
    count: 1,
    firstAt: NOW,
    lastAt: NOW,
    message: 'Token budget exhausted for user ada.',
    refusal: {
      account: makeAccount(),
      kind: 'reached',
      needed: 2_434,
      spent: 3_937,
      held: 0,
      limit: 6_000,
      free: 2_063,
      retryAfterSeconds: 4_558,
      endsAt: DAY_ENDS,
    },
    ...patch,
  });
}

export function makeAlert(patch: Partial<BudgetAlert> = {}): BudgetAlert {
  return {
    account: makeAccount({ scope: 'tenant' }),
    percent: 80,
    used: 7_877,
    limit: 9_000,
    at: NOW,
    text: 'Tenant acme used 7,877 of 9,000 tokens this month, 1,123 left',
    ...patch,
  };
}

export function makeEntry(seq: number, patch: Partial<LedgerEntry> = {}): LedgerEntry {
  return ledgerEntrySchema.parse({
    seq,
    at: NOW,
    operation: seq % 2 === 1 ? 'reserve' : 'settle',
    book: 'simulated',
    reservationId: `r${Math.ceil(seq / 2)}`,
    key: `call/r${Math.ceil(seq / 2)}`,
    owner: 'console/4711',
    tenant: 'acme',
    user: 'ada',
    model: 'sim-llama3.2:3b',
    lines: [{ account: accountKey(makeAccount()), unit: 'tokens', amount: 2_434, overrun: 0 }],
    inputTokens: 2_034,
    outputTokens: 400,
    source: seq % 2 === 1 ? null : 'reported',
    reason: '',
    ...patch,
  });
}

export function makeLedgerState(patch: Partial<LedgerState> = {}): LedgerState {
  return ledgerStateSchema.parse({
    store: 'sqlite',
    state: 'ready',
    problem: null,
    next: null,
    book: 'simulated',
    now: NOW,
    clockOffsetMs: 0,
    ...patch,
  });
}

/** The golden trace after r5 was reserved: as in the picture of the page. */
export function makeGoldenView(patch: Partial<LedgerView> = {}): LedgerView {
  return ledgerViewSchema.parse({
    state: makeLedgerState(),
    balances: [
      makeBalance({ scope: 'tenant' }, { limit: 9_000, spent: 5_905, held: 2_434 }),
      makeBalance({ name: 'grace' }, { spent: 1_968, held: 2_434 }),
      makeBalance({ name: 'ada' }, { spent: 3_937 }),
    ],
    reservations: [
      makeHold('r5', 'grace'),
      closed(makeHold('r4', 'grace'), 1_930, 38),
      closed(makeHold('r2', 'ada', { openedAt: '2026-11-14T22:44:01.000Z' }), 1_930, 38),
      closed(makeHold('r1', 'ada', { openedAt: '2026-11-14T22:44:00.000Z' }), 1_930, 39),
    ],
    refusals: [makeRefusal()],
    alerts: [],
    ...patch,
  });
}
