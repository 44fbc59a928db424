/** The ledger in words: accounts, amounts, times, states. Names come from people: text nodes only, never markup. */
import { shortDollars, exactDollars } from '../../../shared/contract/costs.ts';
import type { NanoDollars } from '../../../shared/contract/costs.ts';
import { denialCodes, httpStatusOf } from '../../../shared/contract/denials.ts';
import { accountKey } from '../../../shared/contract/ledger.ts';
import type {
  Account,
  BudgetRefusal,
  ChargeSource,
  LedgerOperation,
  LedgerState,
  RefusalLine,
  Reservation,
} from '../../../shared/contract/ledger.ts';
import type { BudgetUnit } from '../../../shared/contract/plans.ts';
import { count, DASH } from '../../format/numbers.ts';

/** `user ada`, `tenant acme`, `model llama3.2:3b`. */
export const accountName = ({ scope, name }: Pick<Account, 'scope' | 'name'>): string => `${scope} ${name}`;

/** `acme · day 2026-11-14`; the tenant is not said twice, and tokens are not said at all. */
export function accountNote({ scope, tenant, window, period, unit }: Account): string {
  const where = scope === 'tenant' ? [] : [tenant];
  const when =
    window === 'run' ? 'in all' : window === 'minute' ? 'each minute' : `${window} ${period.replace(/^w/, 'from ')}`;
  const what = unit === 'tokens' ? [] : [unit === 'requests' ? 'requests' : 'dollars'];
  return [...where, when, ...what].join(' · ');
}

/** To read: dollars are rounded. */
export const amountText = (value: number | null, unit: BudgetUnit): string =>
  unit === 'nano-dollars' ? shortDollars(value as NanoDollars | null) : count(value);

/** Every digit. */
export const exactAmount = (value: number | null, unit: BudgetUnit): string =>
  unit === 'nano-dollars' ? exactDollars(value as NanoDollars | null) : count(value);

export const unitWord: Record<BudgetUnit, string> = {
  tokens: 'tokens',
  requests: 'requests',
  'nano-dollars': 'dollars',
};

/** 0:05, 1:15:58, 16 d 1:15:58; rounded up, so that it reads 0:00 when it is over. */
export function countdown(leftMs: number): string {
  const whole = Math.max(0, Math.ceil(leftMs / 1_000));
  const days = Math.floor(whole / 86_400);
  const hours = Math.floor(whole / 3_600) % 24;
  const minutes = Math.floor(whole / 60) % 60;
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = days > 0 || hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  return days > 0 ? `${count(days)} d ${clock}` : clock;
}

/** `4 s`, `3 min`, `5 h`, `12 d`: how long ago. */
export function age(passedMs: number): string {
  const whole = Math.max(0, Math.floor(passedMs / 1_000));
  if (whole < 90) return `${whole} s`;
  if (whole < 90 * 60) return `${Math.floor(whole / 60)} min`;
  if (whole < 48 * 3_600) return `${Math.floor(whole / 3_600)} h`;
  return `${count(Math.floor(whole / 86_400))} d`;
}

/** The last part of an id, as lists show it; the whole one is copied and stands in the pane. */
export const shortId = (id: string): string => (id.length <= 7 ? id : `…${[...id].slice(-6).join('')}`);

export const stateHelp: Record<Reservation['state'], string> = {
  open: 'Held until the call ends.',
  settled: 'The call ended, and what it used is charged.',
  forfeited: 'The call was stopped or lost: by rule the whole hold stays charged.',
  voided: 'The call never reached the server: nothing is charged.',
  expired: 'Nobody closed the hold in its time: the whole of it stays charged.',
};

export const sourceWord: Record<ChargeSource, string> = {
  reported: 'counted by the server',
  observed: 'estimated from what was seen',
  reserved: 'all that was held',
  none: 'nothing was done',
};

/** One word where room is short. */
export const sourceShort: Record<ChargeSource, string> = {
  reported: 'reported',
  observed: 'estimate',
  reserved: 'whole hold',
  none: 'no charge',
};

export const operationHelp: Record<LedgerOperation, string> = {
  reserve: 'holds the worst case before the call',
  settle: 'charges what was used and gives back the rest',
  forfeit: 'charges the whole hold',
  void: 'gives back the whole hold',
  expire: 'charges a hold that nobody closed',
  grant: 'adds to the limit of this period',
  alert: 'a threshold was reached',
};

/** `429 user-day-limit-reached`: as a client sees it. */
export function codeText(code: string): string {
  const known = denialCodes.find((one) => one === code);
  return known === undefined ? code : `${httpStatusOf(known)} ${code}`;
}

/** `It needs 2,434 and 2,063 are free: 371 short.` */
export function needSentence({ kind, needed, free, held, limit, account: { unit } }: BudgetRefusal): string {
  const of = (value: number): string => amountText(value, unit);
  if (kind === 'too-small') return `It needs ${of(needed)}, and the limit is ${of(limit)}: waiting does not help.`;
  const short = `It needs ${of(needed)} and ${of(free)} are free: ${of(needed - free)} short.`;
  return kind === 'held' ? `${short} ${of(held)} are held by calls under way.` : short;
}

/** What the time of a refusal rests on, such as `the end of the day in UTC`. */
export function retryReason({ lastAt, refusal }: RefusalLine, timeZone: string | null): string {
  if (refusal === null || refusal.retryAfterSeconds === null) return '';
  const { account, kind, endsAt, retryAfterSeconds } = refusal;
  if (account.window === 'minute') return 'then enough of the last minute has passed.';
  if (kind === 'held') return 'then the first hold is over at the latest.';
  const untilMs = Date.parse(lastAt) + retryAfterSeconds * 1_000;
  if (endsAt !== null && Math.abs(untilMs - Date.parse(endsAt)) <= 1_000)
    return `the end of the ${account.window}${timeZone === null ? '' : ` in ${timeZone}`}.`;
  return account.scope === 'tenant' && retryAfterSeconds === 3_600
    ? 'an hour, as for every tenant.'
    : 'as its plan says.';
}

/** 14 November 2026, 22:44:02 UTC. */
export function instantText(atMs: number, timeZone = 'UTC'): string {
  return `${formatterOf(timeZone).format(atMs).replace(' at ', ', ')} ${timeZone}`;
}

const formatters = new Map<string, Intl.DateTimeFormat>();
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'long',
      timeStyle: 'medium',
      hourCycle: 'h23',
      timeZone,
    });
    if (formatters.size > 50) formatters.clear();
    formatters.set(timeZone, formatter);
  }
  return formatter;
}

/** 2026-11-14 22:44:02, UTC: the ledger's rows are the same for everybody. */
export const stampText = (iso: string): string => iso.slice(0, 19).replace('T', ' ');
export const clockText = (iso: string): string => iso.slice(11, 19);

/** `SQLite, ready`. */
export function storeText({ store, state }: LedgerState): string {
  const name = { memory: 'in memory', sqlite: 'SQLite', redis: 'Redis' }[store];
  return `${name}, ${{ ready: 'ready', 'local-share': 'on a local share', unavailable: 'unavailable' }[state]}`;
}

/** An account from its key; null where it is none, or where its name cannot be read back. */
export function accountOfKey(key: string): Account | null {
  const [book, tenant, scope, name, window, period, unit, ...rest] = key.split(':').map(unkeyPart);
  if (unit === undefined || rest.length > 0) return null;
  const account = { book, tenant, scope, name, window, period, unit } as Account;
  return accountKey(account) === key ? account : null;
}

const unkeyPart = (part: string): string =>
  part.replace(/%([0-9a-f]{2})/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

export const shortOf = (refusal: BudgetRefusal | null): string =>
  refusal === null ? DASH : `${amountText(Math.max(0, refusal.needed - refusal.free), refusal.account.unit)} short`;
