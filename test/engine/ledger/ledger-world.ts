/** Lines for tests of the ledger: a small company with all kinds of scopes, windows and units, and clocks in three zones. */
import { accountKey } from '../../../shared/contract/ledger.ts';
import type { Account, Book } from '../../../shared/contract/ledger.ts';
import type { BudgetUnit } from '../../../shared/contract/plans.ts';
import { periodOf } from '../../../shared/engine/ledger/calendar.ts';
import type { PeriodRule } from '../../../shared/engine/ledger/calendar.ts';
import type { LedgerLine, ReserveAsk, ResolveAsk } from '../../../shared/engine/ledger/store.ts';

export const tenants = ['acme', 'globex'] as const;
/** The last one looks like a piece of a key. */
export const users = ['ada', 'grace', 'ada:day:%3a'] as const;
export const models = ['llama3.2:3b', 'library/qwen3 {8b}'] as const;
export const owners = ['home/1', 'home/2'] as const;

const zones = {
  utc: { timeZone: 'UTC', resetHour: 0, weekStartsOn: 1 },
  west: { timeZone: 'America/Los_Angeles', resetHour: 0, weekStartsOn: 1 },
  east: { timeZone: 'Asia/Tokyo', resetHour: 6, weekStartsOn: 7 },
} as const satisfies Record<string, PeriodRule>;

interface Kind {
  readonly scope: Account['scope'];
  readonly window: Account['window'];
  readonly unit: BudgetUnit;
  readonly rule: PeriodRule;
  readonly alertsPercent: readonly number[];
}

export const kinds: readonly Kind[] = [
  { scope: 'conversation', window: 'run', unit: 'nano-dollars', rule: zones.utc, alertsPercent: [80] },
  { scope: 'user', window: 'day', unit: 'tokens', rule: zones.west, alertsPercent: [50, 80, 100] },
  { scope: 'user', window: 'week', unit: 'tokens', rule: zones.east, alertsPercent: [80] },
  { scope: 'user', window: 'minute', unit: 'requests', rule: zones.utc, alertsPercent: [80] },
  { scope: 'model', window: 'minute', unit: 'tokens', rule: zones.utc, alertsPercent: [80] },
  { scope: 'tenant', window: 'month', unit: 'tokens', rule: zones.utc, alertsPercent: [1, 80] },
];

export interface Who {
  readonly book: Book;
  readonly tenant: number;
  readonly user: number;
  readonly model: number;
}

const NANO_DOLLARS_PER_TOKEN = 3;

export function amountIn(unit: BudgetUnit, tokens: number): number {
  return unit === 'tokens' ? tokens : unit === 'requests' ? 1 : tokens * NANO_DOLLARS_PER_TOKEN;
}

export function lineFor(who: Who, kind: number, tokens: number, limit: number | null, atMs: number): LedgerLine {
  const { scope, window, unit, rule, alertsPercent } = kinds[kind]!;
  const period = periodOf(window, atMs, rule);
  const user = users[who.user]!;
  const names = { conversation: `c-${user}`, experiment: 'e', user, model: models[who.model]!, tenant: '' };
  const tenant = tenants[who.tenant]!;
  const name = scope === 'tenant' ? tenant : names[scope];
  const account: Account = { book: who.book, tenant, scope, name, window, period: period.key, unit };
  return {
    account,
    key: accountKey(account),
    amount: amountIn(unit, tokens),
    limit,
    alertsPercent,
    startsAtMs: period.startsAtMs,
    endsAtMs: period.endsAtMs,
    timeZone: rule.timeZone,
  };
}

export function reserveAsk(
  who: Who,
  lines: readonly LedgerLine[],
  rest: Pick<ReserveAsk, 'id' | 'key' | 'atMs'> & Partial<Pick<ReserveAsk, 'owner' | 'expiresAtMs'>>,
): ReserveAsk {
  const tenant = tenants[who.tenant]!;
  return {
    owner: owners[0],
    expiresAtMs: rest.atMs + 60_000,
    ...rest,
    book: who.book,
    tenant,
    lines,
    detail: {
      user: users[who.user]!,
      tenant,
      plan: 'test',
      model: models[who.model]!,
      callId: null,
      inputTokens: 1,
      outputTokens: 1,
      sentTokensEstimated: null,
      strict: false,
    },
    clockMoved: true,
  };
}

export function resolveAsk(
  hold: Pick<ReserveAsk, 'id' | 'book' | 'tenant'>,
  operation: ResolveAsk['operation'],
  tokens: number,
  atMs: number,
): ResolveAsk {
  const charged = operation === 'settle' ? tokens : 0;
  return {
    id: hold.id,
    book: hold.book,
    tenant: hold.tenant,
    operation,
    atMs,
    charge:
      operation === 'forfeit' || operation === 'expire'
        ? null
        : {
            tokens: charged,
            'nano-dollars': amountIn('nano-dollars', charged),
            requests: operation === 'void' ? 0 : 1,
          },
    inputTokens: charged,
    outputTokens: 0,
    source: operation === 'settle' ? 'reported' : operation === 'void' ? 'none' : 'reserved',
    reason: operation,
  };
}
