/** Balances as a table that is read in a terminal of 80 columns, grouped by tenant. */
import { type NanoDollars, shortDollars } from '../../contract/costs.ts';
import type { Balance, Book } from '../../contract/ledger.ts';
import type { BudgetUnit } from '../../contract/plans.ts';
import { msOfIso } from '../../engine/ledger/calendar.ts';
import type { GrantRequest } from '../../engine/ledger/ledger.ts';
import { amountText } from '../../engine/ledger/refusals.ts';
import { plainText } from './plain-text.ts';

export function statusText(status: {
  readonly store: 'memory' | 'sqlite' | 'redis';
  readonly book: Book;
  readonly now: string;
  readonly nowMs: number;
  readonly openHolds: number;
  readonly balances: readonly Balance[];
}): string {
  const { store, book, now, nowMs, openHolds, balances } = status;
  const holds = `${openHolds === 0 ? 'no' : openHolds.toLocaleString('en-US')} open hold${openHolds === 1 ? '' : 's'}`;
  const title = `Ledger in ${storeNames[store]}, ${book} book, ${now.slice(0, 19)}Z, ${holds}`;
  if (balances.length === 0) return `${title}\nNothing is spent, and no listed user has a limit.\n`;
  const tenants = [...new Set(balances.map(({ account }) => account.tenant))].sort();
  const groups = tenants.map((tenant) => {
    const rows = balances.filter(({ account }) => account.tenant === tenant).sort(inOrder);
    return [plainText(tenant, 70), ...rows.map((balance) => rowOf(balance, nowMs))].join('\n');
  });
  return `${[title, '', line(headings), ...groups].join('\n')}\n`;
}

/** `Granted 5,000 tokens to user ada of acme, day 2026-11-14: limit 11,000, spent 2,434, held 0, free 8,566.` */
export function grantLine({ tenant, scope, name, window, unit, amount }: GrantRequest, balance: Balance): string {
  const cell = (value: number | null): string => amountCell(value, unit);
  const who = scope === 'tenant' ? `tenant ${tenant}` : `${scope} ${name} of ${tenant}`;
  const when = ['run', 'rolling'].includes(balance.account.period) ? window : `${window} ${balance.account.period}`;
  return `${plainText(
    `Granted ${amountText(amount, unit)} to ${who}, ${when}: limit ${cell(balance.limit)}, spent ${cell(balance.spent)}, held ${cell(balance.held)}, free ${cell(balance.free)}.`,
    1_000,
  )}\n`;
}

/** Whole numbers up to nine places; above that to a tenth of a million or billion. Dollars carry their sign. */
export function amountCell(amount: number | null, unit: BudgetUnit): string {
  if (amount === null) return 'unlimited';
  if (unit === 'nano-dollars') return shortDollars(amount as NanoDollars);
  const whole = amount.toLocaleString('en-US');
  if (whole.length <= AMOUNT_WIDTH) return whole;
  const [size, mark] = amount < 1e11 ? [1e6, 'M'] : [1e9, 'G'];
  return `${(Math.floor(amount / (size / 10)) / 10).toLocaleString('en-US')}${mark}`;
}

const AMOUNT_WIDTH = 9;
const widths = [18, 6, 5, AMOUNT_WIDTH, AMOUNT_WIDTH, AMOUNT_WIDTH, AMOUNT_WIDTH] as const;
const headings = ['SCOPE', 'PERIOD', 'UNIT', 'LIMIT', 'SPENT', 'HELD', 'FREE', 'ENDS IN'];
const storeNames = { memory: 'memory', sqlite: 'SQLite', redis: 'Redis' } as const;
const unitNames = { tokens: 'tok', 'nano-dollars': '$', requests: 'calls' } as const satisfies Record<
  BudgetUnit,
  string
>;

const scopeOrder = ['tenant', 'model', 'user', 'experiment', 'conversation'] as const;

/** The wide scopes first, then by name; of one name the longer period first. */
function inOrder(a: Balance, b: Balance): number {
  const rank = ({ account }: Balance): number => scopeOrder.indexOf(account.scope);
  const windows = ['run', 'month', 'week', 'day', 'minute'];
  return (
    rank(a) - rank(b) ||
    (a.account.name < b.account.name ? -1 : a.account.name > b.account.name ? 1 : 0) ||
    windows.indexOf(a.account.window) - windows.indexOf(b.account.window) ||
    (a.account.unit < b.account.unit ? -1 : 1)
  );
}

function rowOf(balance: Balance, nowMs: number): string {
  const { account, limit, spent, held, free, endsAt } = balance;
  const name = account.scope === 'tenant' ? 'whole tenant' : `${account.scope} ${plainText(account.name, 200)}`;
  const cells = [limit, spent, held, free].map((amount) => amountCell(amount, account.unit));
  const end = endsAt !== null ? spanText(msOfIso(endsAt) - nowMs) : account.window === 'minute' ? 'rolling' : 'never';
  return line([`  ${name}`, account.window, unitNames[account.unit], ...cells, end]);
}

/** The last cell may be as long as it is. */
function line(cells: readonly string[]): string {
  return cells
    .map((cell, index) => {
      const width = widths[index];
      if (width === undefined) return cell;
      return index < 3 ? fitted(cell, width) : cell.padStart(width);
    })
    .join(' ')
    .trimEnd();
}

function fitted(text: string, width: number): string {
  if (columnsOf(text) <= width) return text + ' '.repeat(width - columnsOf(text));
  let kept = '';
  for (const sign of text) {
    if (columnsOf(kept + sign) > width - 1) break;
    kept += sign;
  }
  return `${kept}…${' '.repeat(width - 1 - columnsOf(kept))}`;
}

/** Columns of a terminal: East Asian signs and pictures take two, marks over a letter none. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text) columns += /\p{M}/u.test(sign) ? 0 : wideSign.test(sign) ? 2 : 1;
  return columns;
}

const wideSign =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\u3000-\u303f\uff01-\uff60]/u;

/** Rounded up to the smaller unit: what is told as over is over. */
function spanText(ms: number): string {
  const minutes = Math.max(0, Math.ceil(ms / 60_000));
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
