/**
 * The ledger as tables. Amounts are of the unit that stands beside them (tokens, nano-dollars, requests); other numbers carry
 * theirs in the name. Columns are only ever added at the end.
 */
import type { Balance, LedgerEntry, Reservation } from '../../contract/ledger.ts';
import { accountOfKey } from '../../engine/ledger/balances.ts';
import type { Column, Row, RowOf } from './columns.ts';

export const journalColumns = [
  { name: 'seq', type: 'number' },
  { name: 'at', type: 'text' },
  { name: 'operation', type: 'text' },
  { name: 'book', type: 'text' },
  { name: 'simulated', type: 'boolean' },
  { name: 'reservation_id', type: 'text' },
  { name: 'key', type: 'text' },
  { name: 'owner', type: 'text' },
  { name: 'tenant', type: 'text' },
  { name: 'user', type: 'text' },
  { name: 'model', type: 'text' },
  // An entry has a row for each account it touches, numbered from 1: sums of input_tokens take those of line 1.
  { name: 'line', type: 'number' },
  { name: 'scope', type: 'text' },
  { name: 'scope_name', type: 'text' },
  { name: 'window', type: 'text' },
  { name: 'period', type: 'text' },
  { name: 'unit', type: 'text' },
  { name: 'amount', type: 'number' },
  { name: 'overrun', type: 'number' },
  { name: 'account', type: 'text' },
  { name: 'input_tokens', type: 'number' },
  { name: 'output_tokens', type: 'number' },
  { name: 'charge_source', type: 'text' },
  { name: 'reason', type: 'text' },
] as const satisfies readonly Column[];

/** One entry without lines is one row all the same. */
export function journalRows(entry: LedgerEntry): RowOf<(typeof journalColumns)[number]>[] {
  const lines: readonly (LedgerEntry['lines'][number] | null)[] = entry.lines.length === 0 ? [null] : entry.lines;
  return lines.map((line, index) => {
    const account = line === null ? null : accountOfKey(line.account);
    return {
      seq: entry.seq,
      at: entry.at,
      operation: entry.operation,
      book: entry.book,
      simulated: entry.book === 'simulated',
      reservation_id: entry.reservationId,
      key: entry.key,
      owner: entry.owner,
      tenant: entry.tenant,
      user: entry.user,
      model: entry.model,
      line: index + 1,
      scope: account?.scope ?? null,
      scope_name: account?.name ?? null,
      window: account?.window ?? null,
      period: account?.period ?? null,
      unit: line?.unit ?? null,
      amount: line?.amount ?? null,
      overrun: line?.overrun ?? null,
      account: line?.account ?? null,
      input_tokens: entry.inputTokens,
      output_tokens: entry.outputTokens,
      charge_source: entry.source,
      reason: entry.reason,
    };
  });
}

export const balanceColumns = [
  { name: 'book', type: 'text' },
  { name: 'simulated', type: 'boolean' },
  { name: 'tenant', type: 'text' },
  { name: 'scope', type: 'text' },
  { name: 'scope_name', type: 'text' },
  { name: 'window', type: 'text' },
  { name: 'period', type: 'text' },
  { name: 'time_zone', type: 'text' },
  { name: 'ends_at', type: 'text' },
  { name: 'unit', type: 'text' },
  // Empty: no limit. With what was granted.
  { name: 'limit', type: 'number' },
  { name: 'granted', type: 'number' },
  { name: 'spent', type: 'number' },
  { name: 'held', type: 'number' },
  { name: 'free', type: 'number' },
  { name: 'overrun', type: 'number' },
  { name: 'alerts_percent', type: 'text' },
  { name: 'alerts_raised_percent', type: 'text' },
  { name: 'account', type: 'text' },
] as const satisfies readonly Column[];

export function balanceRow({ account, ...balance }: Balance): RowOf<(typeof balanceColumns)[number]> {
  const percents = (alerts: Balance['alerts']): string | null =>
    alerts.length === 0 ? null : alerts.map(({ percent }) => percent).join('+');
  return {
    book: account.book,
    simulated: account.book === 'simulated',
    tenant: account.tenant,
    scope: account.scope,
    scope_name: account.name,
    window: account.window,
    period: account.period,
    time_zone: balance.timeZone,
    ends_at: balance.endsAt,
    unit: account.unit,
    limit: balance.limit,
    granted: balance.granted,
    spent: balance.spent,
    held: balance.held,
    free: balance.free,
    overrun: balance.overrun,
    alerts_percent: percents(balance.alerts),
    alerts_raised_percent: percents(balance.alerts.filter(({ raised }) => raised)),
    account: balance.key,
  };
}

export const reservationColumns = [
  { name: 'reservation_id', type: 'text' },
  { name: 'key', type: 'text' },
  { name: 'owner', type: 'text' },
  { name: 'book', type: 'text' },
  { name: 'simulated', type: 'boolean' },
  { name: 'state', type: 'text' },
  { name: 'tenant', type: 'text' },
  { name: 'user', type: 'text' },
  { name: 'plan', type: 'text' },
  { name: 'model', type: 'text' },
  { name: 'call_id', type: 'text' },
  { name: 'opened_at', type: 'text' },
  { name: 'expires_at', type: 'text' },
  { name: 'closed_at', type: 'text' },
  { name: 'reserved_input_tokens', type: 'number' },
  { name: 'reserved_output_tokens', type: 'number' },
  { name: 'sent_tokens_estimated', type: 'number' },
  { name: 'reserved_nano_dollars', type: 'number' },
  { name: 'strict', type: 'boolean' },
  { name: 'charged_input_tokens', type: 'number' },
  { name: 'charged_output_tokens', type: 'number' },
  { name: 'charged_nano_dollars', type: 'number' },
  { name: 'charge_source', type: 'text' },
  { name: 'overrun_tokens', type: 'number' },
  { name: 'reason', type: 'text' },
  // Keys of all accounts it was held on, joined by ` | `.
  { name: 'accounts', type: 'text' },
] as const satisfies readonly Column[];

export function reservationRow({ detail, charge, lines, ...hold }: Reservation): Row {
  return {
    reservation_id: hold.id,
    key: hold.key,
    owner: hold.owner,
    book: hold.book,
    simulated: hold.book === 'simulated',
    state: hold.state,
    tenant: detail.tenant,
    user: detail.user,
    plan: detail.plan,
    model: detail.model,
    call_id: detail.callId,
    opened_at: hold.openedAt,
    expires_at: hold.expiresAt,
    closed_at: hold.closedAt,
    reserved_input_tokens: detail.inputTokens,
    reserved_output_tokens: detail.outputTokens,
    sent_tokens_estimated: detail.sentTokensEstimated,
    // null: no budget of money was asked.
    reserved_nano_dollars: lines.find((line) => line.unit === 'nano-dollars')?.amount ?? null,
    strict: detail.strict,
    charged_input_tokens: charge?.inputTokens ?? null,
    charged_output_tokens: charge?.outputTokens ?? null,
    charged_nano_dollars: charge?.nanoDollars ?? null,
    charge_source: charge?.source ?? null,
    overrun_tokens: charge?.overrunTokens ?? null,
    reason: charge?.reason ?? null,
    accounts: lines.map((line) => line.account).join(' | '),
  } satisfies RowOf<(typeof reservationColumns)[number]>;
}
