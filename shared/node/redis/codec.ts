/** Between the ledger's types and what Redis keeps: asks as short texts, answers of the script back into records. */
import { type Book, type ChargeSource, type LedgerEntry, type Reservation, keyPart } from '../../contract/ledger.ts';
import { accountOfKey } from '../../engine/ledger/balances.ts';
import { stateAfter } from '../../engine/ledger/decide.ts';
import {
  alertEntry,
  closedReservation,
  expiry,
  grantEntry,
  openReservation,
  reserveEntry,
  resolveEntry,
} from '../../engine/ledger/records.ts';
import type {
  AccountState,
  Crossing,
  GrantAsk,
  LedgerLine,
  LineRefusal,
  ReserveAsk,
  ResolveAnswer,
  ResolveAsk,
} from '../../engine/ledger/store.ts';
import { must } from '../../engine/must.ts';

/** What the script answers: texts, and lists of them. */
export type Reply = string | number | null | readonly Reply[];

/** Of one tenant in one book: account keys are kept without these two. */
export interface Whose {
  readonly book: Book;
  readonly tenant: string;
}

/** A reservation as text. Limits and thresholds are left out: they are the account's. */
export function packAsk(ask: ReserveAsk, restOf: (key: string) => string): string {
  const { detail } = ask;
  return JSON.stringify([
    ask.id,
    ask.key,
    ask.owner,
    ask.expiresAtMs,
    [
      detail.user,
      detail.tenant,
      detail.plan,
      detail.model,
      detail.callId,
      detail.inputTokens,
      detail.outputTokens,
      detail.sentTokensEstimated,
      detail.strict ? 1 : 0,
    ],
    ask.lines.map((line) => [restOf(line.key), line.amount, line.endsAtMs]),
  ]);
}

export function unpackAsk(text: string, openedAtMs: number, { book, tenant }: Whose): ReserveAsk {
  const [id, key, owner, expiresAtMs, detail, lines] = JSON.parse(text) as PackedAsk;
  const [user, detailTenant, plan, model, callId, inputTokens, outputTokens, sentTokensEstimated, strict] = detail;
  return {
    id,
    key,
    owner,
    book,
    tenant,
    atMs: openedAtMs,
    expiresAtMs,
    detail: {
      user,
      tenant: detailTenant,
      plan,
      model,
      callId,
      inputTokens,
      outputTokens,
      sentTokensEstimated,
      strict: strict === 1,
    },
    lines: lines.map(([rest, amount, endsAtMs]) => ({
      ...accountOf({ book, tenant }, rest),
      amount,
      limit: null,
      alertsPercent: [],
      startsAtMs: null,
      endsAtMs,
      timeZone: '',
    })),
    clockMoved: false,
  };
}

/** How a hold was resolved; an expiry needs no words, they follow from the reservation. */
export function packHow(how: ResolveAsk): string {
  const money = how.charge === null ? null : how.charge['nano-dollars'];
  return JSON.stringify([how.inputTokens, how.outputTokens, how.source, how.reason, money]);
}

export function packGrant(ask: GrantAsk, restOf: (key: string) => string): string {
  return JSON.stringify([restOf(ask.key), ask.amount, ask.owner, ask.reason]);
}

export interface HoldRead {
  readonly repeated: boolean;
  readonly ask: ReserveAsk;
  readonly reservation: Reservation;
  readonly accounts: readonly AccountState[];
  readonly crossed: readonly Crossing[];
}

export function readHold(reply: Reply | undefined, whose: Whose): HoldRead {
  const [repeated, blob, opened, end, accounts, crossings] = listOf(reply);
  const ask = unpackAsk(textOf(blob), numberOf(opened), whose);
  return {
    repeated: textOf(repeated) === '1',
    ask,
    reservation: reservationOf(ask, textOf(end)),
    accounts: readStates(accounts, whose),
    crossed: listOf(crossings).map((crossing) => crossingOf(ask, listOf(crossing))),
  };
}

export const answerOf = ({ repeated, reservation, accounts, crossed }: HoldRead): ResolveAnswer => ({
  repeated,
  reservation,
  accounts,
  crossed,
});

/** `end`: how it ended, as `endOf` reads it; '' while it is open. */
export function reservationOf(ask: ReserveAsk, end: string): Reservation {
  const open = openReservation(ask);
  if (end === '') return open;
  const { operation, atMs, overrunTokens, how } = endOf(end);
  return closedReservation(open, resolutionOf(ask, operation, atMs, how), overrunTokens);
}

/** Operation, when, overrun in tokens, number of the entry, and how, which may hold spaces: as the script keeps the end of a hold. */
export function endOf(end: string): {
  readonly operation: string;
  readonly atMs: number;
  readonly overrunTokens: number;
  readonly seq: number;
  readonly how: string;
} {
  const [operation = '', atMs, overrunTokens, seq, ...how] = end.split(' ');
  return {
    operation,
    atMs: numberOf(atMs),
    overrunTokens: numberOf(overrunTokens),
    seq: numberOf(seq),
    how: how.join(' '),
  };
}

export function readStates(reply: Reply | undefined, whose: Whose): AccountState[] {
  return listOf(reply).map((state) => readState(state, whose));
}

export function readState(reply: Reply | undefined, whose: Whose): AccountState {
  const [rest, limit, granted, spent, held, overrun, told, alerts, ends, ...zone] = textOf(reply).split(' ');
  const { account, key } = accountOf(whose, textOf(rest));
  return {
    account,
    key,
    limit: limit === '' ? null : numberOf(limit),
    granted: numberOf(granted),
    spent: numberOf(spent),
    held: numberOf(held),
    overrun: numberOf(overrun),
    endsAtMs: ends === '' ? null : numberOf(ends),
    timeZone: zone.join(' '),
    alerts: alertsOf(textOf(alerts), textOf(told)),
  };
}

/** Right after a reservation an account says of itself what the line said. */
export function readStateOf(
  { account, key, limit, endsAtMs, timeZone, alertsPercent }: LedgerLine,
  reply: Reply | undefined,
): AccountState {
  const [granted, spent, held, overrun, told] = textOf(reply).split(' ');
  return {
    account,
    key,
    limit,
    granted: numberOf(granted),
    spent: numberOf(spent),
    held: numberOf(held),
    overrun: numberOf(overrun),
    endsAtMs,
    timeZone,
    alerts: alertsOf(alertsPercent.join(), textOf(told)),
  };
}

export function readRefusal(reply: Reply): LineRefusal {
  const [index, limit, spent, held, expires, free] = listOf(reply).map(textOf);
  return {
    index: numberOf(index),
    limit: numberOf(limit),
    spent: numberOf(spent),
    held: numberOf(held),
    earliestExpiryMs: expires === '' ? null : numberOf(expires),
    freeAtMs: free === '' ? null : numberOf(free),
  };
}

/** One entry of the journal, with the number of the entry that reserved what it resolves (its own for others). */
export interface EntryRead {
  readonly entry: LedgerEntry;
  readonly reservedSeq: number;
  /** What the entry is about; null for a grant. */
  readonly ask: ReserveAsk | null;
}

export function readEntry([id, fields]: readonly [string, readonly string[]], whose: Whose): EntryRead {
  const of: Record<string, string> = {};
  for (let index = 0; index + 1 < fields.length; index += 2) of[fields[index] ?? ''] = fields[index + 1] ?? '';
  const { o: operation = '', a: at = '', b: blob = '', h: how = '', c: charges = '', q: reserved = '' } = of;
  const seq = numberOf(id.split('-')[0]);
  const reservedSeq = numberOf(reserved);
  if (operation === 'grant')
    return { entry: { seq, ...grantEntry(grantOf(blob, numberOf(at), whose)) }, reservedSeq, ask: null };
  const ask = unpackAsk(blob, numberOf(at), whose);
  if (operation === 'reserve') return { entry: { seq, ...reserveEntry(ask) }, reservedSeq, ask };
  if (operation === 'alert') {
    const crossing = crossingOf(ask, how.split(' '));
    return { entry: { seq, ...alertEntry(ask, numberOf(at), crossing) }, reservedSeq, ask };
  }
  const posted = charges.split(' ').map(Number);
  const lines = ask.lines.map((line, index) => ({
    account: line.key,
    unit: line.account.unit,
    amount: posted[2 * index] ?? 0,
    overrun: posted[2 * index + 1] ?? 0,
  }));
  const resolution = resolutionOf(ask, operation, numberOf(at), how);
  return { entry: { seq, ...resolveEntry(ask, resolution, lines) }, reservedSeq, ask };
}

export function accountOf({ book, tenant }: Whose, rest: string): Pick<AccountState, 'account' | 'key'> {
  const memo = `${book} ${tenant} ${rest}`;
  const before = recentAccounts.get(memo);
  if (before !== undefined) return before;
  const key = `${keyPart(book)}:${keyPart(tenant)}:${rest}`;
  const account = accountOfKey(key);
  must(account !== null, 'Redis keeps accounts under their keys');
  if (recentAccounts.size >= MEMO_MAX) recentAccounts.clear();
  recentAccounts.set(memo, { account, key });
  return { account, key };
}

const MEMO_MAX = 10_000;
const recentAccounts = new Map<string, Pick<AccountState, 'account' | 'key'>>();
const recentAlerts = new Map<string, AccountState['alerts']>();

/** Percents joined by commas, as Redis keeps them. */
function alertsOf(percents: string, told: string): AccountState['alerts'] {
  const memo = `${percents} ${told}`;
  const before = recentAlerts.get(memo);
  if (before !== undefined) return before;
  const raised = new Set(told.split(','));
  const alerts = percents
    .split(',')
    .filter((percent) => percent !== '')
    .map((percent) => ({ percent: Number(percent), raised: raised.has(percent) }));
  if (recentAlerts.size >= MEMO_MAX) recentAlerts.clear();
  recentAlerts.set(memo, alerts);
  return alerts;
}

export function listOf(reply: Reply | undefined): readonly Reply[] {
  must(Array.isArray(reply), 'the script answers a list here');
  return reply as readonly Reply[];
}

export function textOf(reply: Reply | undefined): string {
  return reply === null || reply === undefined ? '' : String(reply as string | number);
}

export function numberOf(reply: Reply | undefined): number {
  const value = reply === '' || reply === null ? NaN : Number(reply);
  must(Number.isSafeInteger(value), 'Redis keeps whole numbers');
  return value;
}

type PackedAsk = [
  id: string,
  key: string,
  owner: string,
  expiresAtMs: number,
  detail: [string, string, string, string, string | null, number, number, number | null, 0 | 1],
  lines: [rest: string, amount: number, endsAtMs: number | null][],
];

function crossingOf(ask: ReserveAsk, reply: readonly Reply[]): Crossing {
  const [index, percent, spent, limit] = reply;
  const line = ask.lines[numberOf(index)];
  must(line !== undefined, 'a threshold is crossed on a line of its reservation');
  return {
    key: line.key,
    account: line.account,
    percent: numberOf(percent),
    spent: numberOf(spent),
    limit: numberOf(limit),
  };
}

function resolutionOf(ask: ReserveAsk, operation: string, atMs: number, how: string): ResolveAsk {
  if (how === '') return expiry(ask, atMs);
  must(operation in stateAfter, 'a hold is resolved in one of four ways');
  const [inputTokens, outputTokens, source, reason, money] = JSON.parse(how) as [
    number,
    number,
    ChargeSource,
    string,
    number | null,
  ];
  return {
    id: ask.id,
    book: ask.book,
    tenant: ask.tenant,
    operation: operation as ResolveAsk['operation'],
    atMs,
    // Of the charge only the money is told again; tokens are in the counts.
    charge: money === null ? null : { tokens: inputTokens + outputTokens, 'nano-dollars': money, requests: 0 },
    inputTokens,
    outputTokens,
    source,
    reason,
  };
}

function grantOf(blob: string, atMs: number, whose: Whose): GrantAsk {
  const [rest, amount, owner, reason] = JSON.parse(blob) as [string, number, string, string];
  return {
    ...accountOf(whose, rest),
    amount,
    limit: null,
    alertsPercent: [],
    startsAtMs: null,
    endsAtMs: null,
    timeZone: '',
    atMs,
    owner,
    reason,
  };
}
