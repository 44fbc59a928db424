/**
 * What every store refuses at its door, before it looks at a balance: amounts that are no whole numbers from 0 to AMOUNT_MAX
 * (NaN, -0, Infinity, fractions, texts), thresholds that are no percents, and asks that contradict themselves.
 */
import { type Result, denied, ok } from '../../contract/denials.ts';
import { AMOUNT_MAX, budgetUnits } from '../../contract/plans.ts';
import type { GrantAsk, LedgerLine, ReserveAsk, ResolveAsk } from './store.ts';

/** More scopes than a plan can name. */
const LINES_MAX = 100;
/** Keys and ids: longer ones would be stored with every entry. */
const TEXT_MAX = 500;
/** Years 0 to 9999, which is what ISO texts can say. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;

export function checkReserve(ask: ReserveAsk): Result<null> {
  const wrong =
    wrongText(ask.id, 'id') ??
    wrongText(ask.key, 'key') ??
    wrongTime(ask.atMs, 'atMs') ??
    wrongTime(ask.expiresAtMs, 'expiresAtMs') ??
    wrongAmount(ask.detail.inputTokens, 'detail.inputTokens') ??
    wrongAmount(ask.detail.outputTokens, 'detail.outputTokens') ??
    wrongLimit(ask.detail.sentTokensEstimated, 'detail.sentTokensEstimated') ??
    wrongLines(ask);
  return wrong === null ? ok(null) : refused(wrong);
}

export function checkResolve(ask: ResolveAsk): Result<null> {
  const wrong =
    wrongTime(ask.atMs, 'atMs') ??
    wrongAmount(ask.inputTokens, 'inputTokens') ??
    wrongAmount(ask.outputTokens, 'outputTokens') ??
    wrongCharge(ask);
  return wrong === null ? ok(null) : refused(wrong);
}

export function checkGrant(ask: GrantAsk): Result<null> {
  const wrong =
    wrongTime(ask.atMs, 'atMs') ??
    wrongAmount(ask.amount, 'amount') ??
    wrongLimit(ask.limit, 'limit') ??
    wrongPercents(ask.alertsPercent, 'alertsPercent');
  return wrong === null ? ok(null) : refused(wrong);
}

/** null = it is a whole number from 0 to AMOUNT_MAX, and not -0. */
export function wrongAmount(amount: unknown, field: string): Wrong | null {
  if (typeof amount !== 'number' || !Number.isInteger(amount)) return { field, rule: 'must be a whole number' };
  if (amount < 0 || Object.is(amount, -0)) return { field, rule: 'must not be negative' };
  return amount <= AMOUNT_MAX ? null : { field, rule: `must be at most ${AMOUNT_MAX}` };
}

interface Wrong {
  readonly field: string;
  readonly rule: string;
}

function refused({ field, rule }: Wrong): Result<never> {
  return denied('bad-input', `${field}: ${rule}.`, { field, next: 'Correct it and send it again.' });
}

function wrongLines({ lines, book, tenant }: ReserveAsk): Wrong | null {
  if (lines.length === 0) return { field: 'lines', rule: 'must not be empty' };
  if (lines.length > LINES_MAX) return { field: 'lines', rule: `must be at most ${LINES_MAX}` };
  const seen = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const wrong = wrongLine(line, `lines[${index}]`);
    if (wrong !== null) return wrong;
    const { account, key } = line;
    // Each line is checked against its balance by itself, so two of one account could pass it together.
    if (seen.has(key)) return { field: `lines[${index}].account`, rule: 'is there twice' };
    seen.add(key);
    if (account.book !== book || account.tenant !== tenant) {
      return { field: `lines[${index}].account`, rule: 'must be of the same book and tenant as the reservation' };
    }
  }
  return null;
}

function wrongLine(line: LedgerLine, at: string): Wrong | null {
  return (
    wrongAmount(line.amount, `${at}.amount`) ??
    wrongLimit(line.limit, `${at}.limit`) ??
    wrongPercents(line.alertsPercent, `${at}.alertsPercent`) ??
    (line.startsAtMs === null ? null : wrongTime(line.startsAtMs, `${at}.startsAtMs`)) ??
    (line.endsAtMs === null ? null : wrongTime(line.endsAtMs, `${at}.endsAtMs`))
  );
}

const wrongLimit = (limit: number | null, field: string): Wrong | null =>
  limit === null ? null : wrongAmount(limit, field);

/** settle: what was used. forfeit and expire: null, all of it stays. void: nothing, said in zeros. */
function wrongCharge({ operation, charge }: ResolveAsk): Wrong | null {
  const keepsAll = operation === 'forfeit' || operation === 'expire';
  if (charge === null) return keepsAll ? null : { field: 'charge', rule: `must say what ${operation} charges` };
  for (const unit of budgetUnits) {
    const wrong = wrongAmount(charge[unit], `charge.${unit}`);
    if (wrong !== null) return wrong;
    if (operation === 'void' && charge[unit] !== 0) return { field: `charge.${unit}`, rule: 'must be 0 for void' };
  }
  return keepsAll ? { field: 'charge', rule: `must be null for ${operation}: all that was reserved stays` } : null;
}

function wrongPercents(percents: readonly number[], field: string): Wrong | null {
  for (const [index, percent] of percents.entries()) {
    if (!Number.isInteger(percent) || percent < 1 || percent > 100) {
      return { field: `${field}[${index}]`, rule: 'must be a whole percent from 1 to 100' };
    }
  }
  return null;
}

function wrongTime(atMs: number, field: string): Wrong | null {
  const sound = Number.isInteger(atMs) && atMs >= FIRST_MS && atMs <= LAST_MS;
  return sound ? null : { field, rule: 'must be a time in whole milliseconds' };
}

function wrongText(text: string, field: string): Wrong | null {
  if (text === '') return { field, rule: 'must not be empty' };
  return text.length <= TEXT_MAX ? null : { field, rule: `must be at most ${TEXT_MAX} characters` };
}
