/** How asks become reservations and journal entries: the same in every store. */
import { type Result, denied } from '../../contract/denials.ts';
import type { LedgerEntry, Reservation } from '../../contract/ledger.ts';
import { AMOUNT_MAX } from '../../contract/plans.ts';
import type { BudgetUnit } from '../../contract/plans.ts';
import { isoOf } from './calendar.ts';
import { chargeOf, stateAfter } from './decide.ts';
import type { Crossing, GrantAsk, LedgerLine, ReserveAsk, ResolveAsk } from './store.ts';

export function keyReused(key: string): Result<never> {
  return denied('key-used', `The key ${key} was used before for another reservation.`, {
    field: 'key',
    next: 'Give every call a key of its own, and a retry the key of its call.',
  });
}

export function idReused(id: string): Result<never> {
  return denied('key-used', `The id ${id} belongs to another reservation.`, {
    field: 'id',
    next: 'Give every reservation an id of its own.',
  });
}

export const noSuchReservation = (id: string): Result<never> => denied('not-found', `There is no reservation ${id}.`);

export const refusedGrant = (): Result<never> =>
  denied('bad-input', 'So much cannot be granted.', { field: 'amount', next: 'Grant less, or take the limit away.' });

/** A charge that would take an account out of the range of amounts; `spent` and `held` of the account. null = none. */
export function refusedCharge(
  line: { readonly unit: BudgetUnit; readonly amount: number; readonly spent: number; readonly held: number },
  ask: ResolveAsk,
): Result<never> | null {
  const { amount } = chargeOf(line, ask);
  if (amount <= line.amount || line.spent + line.held - line.amount + amount <= AMOUNT_MAX) return null;
  return denied('bad-input', `charge.${line.unit}: so much cannot be charged.`, {
    field: `charge.${line.unit}`,
    next: 'Settle it with what was used, or forfeit it.',
  });
}

interface Lines {
  readonly lines: readonly Pick<LedgerLine, 'account' | 'amount'>[];
}

export function sameLines(a: Lines, b: Lines): boolean {
  // The same call some hours later falls into other periods and is still the same call.
  const shape = ({ lines }: Lines): string =>
    lines
      .map(({ account, amount }) => JSON.stringify([account.scope, account.name, account.window, account.unit, amount]))
      .sort()
      .join();
  return shape(a) === shape(b);
}

export function openReservation(ask: ReserveAsk): Reservation {
  return {
    id: ask.id,
    key: ask.key,
    owner: ask.owner,
    book: ask.book,
    openedAt: isoOf(ask.atMs),
    expiresAt: isoOf(ask.expiresAtMs),
    detail: ask.detail,
    lines: ask.lines.map((line) => ({ account: line.key, unit: line.account.unit, amount: line.amount })),
    state: 'open',
    closedAt: null,
    charge: null,
  };
}

export function closedReservation(reservation: Reservation, ask: ResolveAsk, overrunTokens: number): Reservation {
  const money = reservation.lines.find((line) => line.unit === 'nano-dollars')?.amount ?? 0;
  return {
    ...reservation,
    state: stateAfter[ask.operation],
    closedAt: isoOf(ask.atMs),
    charge: {
      inputTokens: ask.inputTokens,
      outputTokens: ask.outputTokens,
      nanoDollars: ask.charge === null ? money : ask.charge['nano-dollars'],
      source: ask.source,
      overrunTokens,
      reason: ask.reason,
    },
  };
}

/** How a hold is resolved whose time is over: the work may have been done, so all of it stays charged. */
export function expiry(
  ask: Pick<ReserveAsk, 'id' | 'book' | 'tenant'> & {
    readonly detail: Pick<ReserveAsk['detail'], 'inputTokens' | 'outputTokens'>;
  },
  atMs: number,
): ResolveAsk {
  return {
    id: ask.id,
    book: ask.book,
    tenant: ask.tenant,
    operation: 'expire',
    atMs,
    charge: null,
    inputTokens: ask.detail.inputTokens,
    outputTokens: ask.detail.outputTokens,
    source: 'reserved',
    reason: 'its time was over',
  };
}

export function reserveEntry(ask: ReserveAsk): Omit<LedgerEntry, 'seq'> {
  return {
    at: isoOf(ask.atMs),
    operation: 'reserve',
    book: ask.book,
    reservationId: ask.id,
    key: ask.key,
    owner: ask.owner,
    tenant: ask.tenant,
    user: ask.detail.user,
    model: ask.detail.model,
    lines: ask.lines.map((line) => ({ account: line.key, unit: line.account.unit, amount: line.amount, overrun: 0 })),
    inputTokens: ask.detail.inputTokens,
    outputTokens: ask.detail.outputTokens,
    source: null,
    reason: '',
  };
}

export function resolveEntry(
  ask: Pick<ReserveAsk, 'key' | 'owner' | 'tenant' | 'book' | 'detail'>,
  how: ResolveAsk,
  lines: LedgerEntry['lines'],
): Omit<LedgerEntry, 'seq'> {
  return {
    at: isoOf(how.atMs),
    operation: how.operation,
    book: ask.book,
    reservationId: how.id,
    key: ask.key,
    owner: ask.owner,
    tenant: ask.tenant,
    user: ask.detail.user,
    model: ask.detail.model,
    lines,
    inputTokens: how.inputTokens,
    outputTokens: how.outputTokens,
    source: how.source,
    reason: how.reason,
  };
}

export function alertEntry(
  ask: Pick<ReserveAsk, 'owner' | 'tenant' | 'book' | 'id' | 'detail'>,
  atMs: number,
  crossing: Crossing,
): Omit<LedgerEntry, 'seq'> {
  return {
    at: isoOf(atMs),
    operation: 'alert',
    book: ask.book,
    reservationId: ask.id,
    key: null,
    owner: ask.owner,
    tenant: ask.tenant,
    user: ask.detail.user,
    model: ask.detail.model,
    lines: [{ account: crossing.key, unit: crossing.account.unit, amount: crossing.spent, overrun: 0 }],
    inputTokens: null,
    outputTokens: null,
    source: null,
    reason: `${crossing.percent} % of ${crossing.limit}`,
  };
}

export function grantEntry(ask: GrantAsk): Omit<LedgerEntry, 'seq'> {
  return {
    at: isoOf(ask.atMs),
    operation: 'grant',
    book: ask.account.book,
    reservationId: null,
    key: null,
    owner: ask.owner,
    tenant: ask.account.tenant,
    user: ask.account.scope === 'user' ? ask.account.name : null,
    model: ask.account.scope === 'model' ? ask.account.name : null,
    lines: [{ account: ask.key, unit: ask.account.unit, amount: ask.amount, overrun: 0 }],
    inputTokens: null,
    outputTokens: null,
    source: null,
    reason: ask.reason,
  };
}
