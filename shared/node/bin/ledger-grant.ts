/** What `spillway ledger grant` was asked, read and checked before anything is opened. Every denial names its flag. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { Book } from '../../contract/ledger.ts';
import { AMOUNT_MAX, type BudgetScope, type BudgetUnit, nameSchema } from '../../contract/plans.ts';
import type { GrantRequest } from '../../engine/ledger/ledger.ts';
import type { GrantOptions } from './ledger-command.ts';

export function readGrant(options: GrantOptions, book: Book): Result<GrantRequest> {
  const { tenant, user, model, window, reason = '' } = options;
  if (tenant === undefined) return wrong('--tenant', 'is missing', 'Say whose budget: --tenant acme.');
  if (user !== undefined && model !== undefined)
    return wrong('--model', 'and --user name two budgets', 'Leave one out.');
  const scope: BudgetScope = user !== undefined ? 'user' : model !== undefined ? 'model' : 'tenant';
  const names = [
    ['--tenant', tenant],
    [`--${scope}`, user ?? model ?? tenant],
  ] as const;
  for (const [flag, name] of names) {
    const read = nameSchema.safeParse(name);
    if (!read.success) return wrong(flag, read.error.issues[0]?.message ?? 'is no name', 'Correct the name.');
  }
  if (window === undefined) return wrong('--window', 'is missing', 'Say which limit: --window day.');
  if (reason.length > REASON_CHARACTERS_MAX)
    return wrong('--reason', `is over ${REASON_CHARACTERS_MAX} characters`, 'Shorten it.');
  const amount = readAmount(options);
  if (!amount.ok) return amount;
  return ok({
    book,
    tenant: tenant.trim(),
    scope,
    name: (user ?? model ?? tenant).trim(),
    window,
    ...amount.value,
    reason,
  });
}

const REASON_CHARACTERS_MAX = 500;
const amountFlags = { tokens: 'tokens', requests: 'requests', dollars: 'nano-dollars' } as const satisfies Record<
  string,
  BudgetUnit
>;

function readAmount(options: GrantOptions): Result<{ readonly unit: BudgetUnit; readonly amount: number }> {
  const given = (['tokens', 'requests', 'dollars'] as const).filter((flag) => options[flag] !== undefined);
  const [flag, second] = given;
  if (flag === undefined)
    return wrong('--tokens', '--requests or --dollars is missing', 'Say how much: --tokens 5000.', ', ');
  if (second !== undefined) return wrong(`--${second}`, `and --${flag} are two amounts`, 'Grant one at a time.');
  const text = (options[flag] ?? '').trim();
  const amount = flag === 'dollars' ? nanoDollarsOf(text) : wholeOf(text);
  if (amount === null || amount < 1 || amount > AMOUNT_MAX) {
    const form =
      flag === 'dollars'
        ? 'must be dollars from 0.000000001 to 1,000,000, such as 2.50'
        : `must be a whole number from 1 to ${AMOUNT_MAX.toLocaleString('en-US')}`;
    return wrong(`--${flag}`, form, 'Correct it and grant again.');
  }
  return ok({ unit: amountFlags[flag], amount });
}

const wholeOf = (text: string): number | null => (/^\d{1,16}$/.test(text) ? Number(text) : null);

/** Digit by digit: nothing is rounded on the way. */
function nanoDollarsOf(text: string): number | null {
  const parts = /^\$?(\d{1,7})(?:\.(\d{1,9}))?$/.exec(text);
  if (parts === null) return null;
  return Number(`${parts[1]}${(parts[2] ?? '').padEnd(9, '0')}`);
}

function wrong(flag: string, what: string, next: string, joint = ' '): Result<never> {
  return denied('bad-input', `${flag}${joint}${what}.`, { field: flag, next });
}
