/** The ledger's words: accounts, balances, reservations, the journal, refusals, storms. Amounts are whole numbers of their unit. */
import { z } from 'zod';
import { amountSchema, budgetScopes, budgetUnits, budgetWindows, nameSchema } from './plans.ts';
import type { BudgetScope, BudgetWindow } from './plans.ts';

/** Simulated calls are kept in a book of their own, on a clock that may be moved. */
export const books = ['real', 'simulated'] as const;
export type Book = (typeof books)[number];

/** One quantity of one scope in one period. `period` such as `2026-11-14`, `2026-11`, `w2026-11-09`, `run`, `rolling`. */
export const accountSchema = z.strictObject({
  book: z.enum(books),
  tenant: nameSchema,
  scope: z.enum(budgetScopes),
  /** The user, the model, the run …; the tenant itself for the scope tenant. */
  name: z.string().min(1).max(500),
  window: z.enum(budgetWindows),
  period: z.string().min(1).max(40),
  unit: z.enum(budgetUnits),
});
export type Account = z.infer<typeof accountSchema>;

/** One text for one account: parts that could hold a separator are percent-coded, so that no two accounts share a key. */
export function accountKey({ book, tenant, scope, name, window, period, unit }: Account): string {
  return [book, tenant, scope, name, window, period, unit].map(keyPart).join(':');
}

/** Every coded mark has two digits, so that coding is one to one. */
export const keyPart = (part: string): string =>
  part.replace(/[%:{}\u0000-\u0020\u007f]/g, (mark) => `%${mark.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** What accounts are searched by: words apart, in any order and case. Each of them stands somewhere in what names the account. */
export const searchWords = (search: string): string[] => search.toLowerCase().split(/\s+/u).filter(Boolean);

/** By tenant, scope, name, window and unit, as lists show them. */
export function isAccountFound(
  { tenant, scope, name, window, unit }: Pick<Account, 'tenant' | 'scope' | 'name' | 'window' | 'unit'>,
  words: readonly string[],
): boolean {
  const text = `${tenant} ${scope} ${name} ${window} ${unit}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** `limit` with what was granted on top; null = none. free is null then, and 0 where more was spent than the limit. */
export const balanceSchema = z.strictObject({
  key: z.string(),
  account: accountSchema,
  limit: amountSchema.nullable(),
  granted: amountSchema,
  spent: amountSchema,
  held: amountSchema,
  free: amountSchema.nullable(),
  /** Charged above what had been reserved, in this period. */
  overrun: amountSchema,
  /** End of the period; null for windows without one. */
  endsAt: z.iso.datetime().nullable(),
  timeZone: z.string(),
  alerts: z.array(z.strictObject({ percent: z.int(), at: amountSchema, raised: z.boolean() })),
});
export type Balance = z.infer<typeof balanceSchema>;

export const resolutions = ['settled', 'forfeited', 'voided', 'expired'] as const;
export type Resolution = (typeof resolutions)[number];

/**
 * Where a charge comes from: counts of the server; what was seen of the reply (an estimate); the whole reservation; nothing,
 * because nothing was done.
 */
export const chargeSources = ['reported', 'observed', 'reserved', 'none'] as const;
export type ChargeSource = (typeof chargeSources)[number];

/** What a hold is about, as far as screens and rows show it. */
export const reservationDetailSchema = z.strictObject({
  user: z.string(),
  tenant: z.string(),
  plan: z.string(),
  model: z.string(),
  callId: z.string().nullable(),
  inputTokens: amountSchema,
  outputTokens: amountSchema,
  /** What the prompt is likely to have, beside the pessimistic figure that is held. */
  sentTokensEstimated: amountSchema.nullable(),
  strict: z.boolean(),
});
export type ReservationDetail = z.infer<typeof reservationDetailSchema>;

export const reservationSchema = z.strictObject({
  id: z.string(),
  key: z.string(),
  owner: z.string(),
  book: z.enum(books),
  openedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  detail: reservationDetailSchema,
  lines: z.array(z.strictObject({ account: z.string(), unit: z.enum(budgetUnits), amount: amountSchema })),
  state: z.enum(['open', ...resolutions]),
  closedAt: z.iso.datetime().nullable(),
  /** null while it is open. Tokens where they are known; a forfeited hold is charged as reserved. */
  charge: z
    .strictObject({
      inputTokens: amountSchema,
      outputTokens: amountSchema,
      nanoDollars: amountSchema,
      source: z.enum(chargeSources),
      overrunTokens: amountSchema,
      reason: z.string(),
    })
    .nullable(),
});
export type Reservation = z.infer<typeof reservationSchema>;

export const ledgerOperations = ['reserve', 'settle', 'forfeit', 'void', 'expire', 'grant', 'alert'] as const;
export type LedgerOperation = (typeof ledgerOperations)[number];

/** An entry is written once and never changed. Amounts of `reserve` are held, of the others charged, of `grant` added to the limit. */
export const ledgerEntrySchema = z.strictObject({
  seq: z.int().positive(),
  at: z.iso.datetime(),
  operation: z.enum(ledgerOperations),
  book: z.enum(books),
  reservationId: z.string().nullable(),
  key: z.string().nullable(),
  owner: z.string(),
  tenant: z.string(),
  user: z.string().nullable(),
  model: z.string().nullable(),
  lines: z.array(
    z.strictObject({ account: z.string(), unit: z.enum(budgetUnits), amount: amountSchema, overrun: amountSchema }),
  ),
  inputTokens: amountSchema.nullable(),
  outputTokens: amountSchema.nullable(),
  source: z.enum(chargeSources).nullable(),
  reason: z.string(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

/**
 * `reached`: the period is used up. `held`: it would fit if others gave back what they hold. `too-small`: it is over the limit
 * by itself, so waiting does not help.
 */
export const refusalKinds = ['reached', 'held', 'too-small'] as const;
export type RefusalKind = (typeof refusalKinds)[number];
export type BudgetCode = `${BudgetScope}-${BudgetWindow}-limit-${RefusalKind}`;

/** In order of precedence: scope, then kind, then the window that lasts longest. */
export const budgetCodes: readonly BudgetCode[] = budgetScopes.flatMap((scope) =>
  (['too-small', 'reached', 'held'] as const).flatMap((kind) =>
    budgetWindows.map((window): BudgetCode => `${scope}-${window}-limit-${kind}`),
  ),
);

export const budgetRefusalSchema = z.strictObject({
  account: accountSchema,
  kind: z.enum(refusalKinds),
  needed: amountSchema,
  spent: amountSchema,
  held: amountSchema,
  limit: amountSchema,
  free: amountSchema,
  /** Whole seconds, rounded up; null where waiting does not help. */
  retryAfterSeconds: z.int().positive().nullable(),
  endsAt: z.iso.datetime().nullable(),
});
export type BudgetRefusal = z.infer<typeof budgetRefusalSchema>;

/** Equal refusals are one line with a count: code, user, scope. */
export const refusalLineSchema = z.strictObject({
  id: z.string(),
  code: z.string(),
  tenant: z.string(),
  user: z.string(),
  model: z.string(),
  count: z.int().positive(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  message: z.string(),
  /** null for the limits of a call, which no balance is behind. */
  refusal: budgetRefusalSchema.nullable(),
});
export type RefusalLine = z.infer<typeof refusalLineSchema>;

export const budgetAlertSchema = z.strictObject({
  account: accountSchema,
  percent: z.int(),
  used: amountSchema,
  limit: amountSchema,
  at: z.iso.datetime(),
  text: z.string(),
});
export type BudgetAlert = z.infer<typeof budgetAlertSchema>;

export const auditSchema = z.strictObject({
  at: z.iso.datetime(),
  sound: z.boolean(),
  entries: z.int().nonnegative(),
  accounts: z.int().nonnegative(),
  openHolds: z.int().nonnegative(),
  /** What does not add up, in words; the first 100. */
  faults: z.array(z.string()),
  /** What could not be checked, in words; left out where all of it was. */
  notes: z.array(z.string()).optional(),
});
export type Audit = z.infer<typeof auditSchema>;

/** Which store, whether it can be used, and what time the ledger goes by. */
export const ledgerStateSchema = z.strictObject({
  store: z.enum(['memory', 'sqlite', 'redis']),
  /** `local-share`: the shared store is gone, and a share of each limit is kept here meanwhile. */
  state: z.enum(['ready', 'local-share', 'unavailable']),
  problem: z.string().nullable(),
  next: z.string().nullable(),
  book: z.enum(books),
  now: z.iso.datetime(),
  /** How far the simulated book's clock was moved; 0 for the real one. */
  clockOffsetMs: z.int(),
});
export type LedgerState = z.infer<typeof ledgerStateSchema>;

export const ledgerViewSchema = z.strictObject({
  state: ledgerStateSchema,
  /** Of the periods that go on now. */
  balances: z.array(balanceSchema),
  /** Youngest first: the open ones, and the last that were closed. */
  reservations: z.array(reservationSchema),
  refusals: z.array(refusalLineSchema),
  alerts: z.array(budgetAlertSchema),
});
export type LedgerView = z.infer<typeof ledgerViewSchema>;

/** What a call had to do with budgets. `unresolved`: the store did not take the settlement; the hold stays until it expires. */
export const callBudgetSchema = z.strictObject({
  reservationId: z.string(),
  tenant: z.string(),
  user: z.string(),
  plan: z.string(),
  book: z.enum(books),
  reservedInputTokens: amountSchema,
  reservedOutputTokens: amountSchema,
  sentTokensEstimated: amountSchema.nullable(),
  resolution: z.enum([...resolutions, 'unresolved']),
  source: z.enum(chargeSources),
  chargedInputTokens: amountSchema,
  chargedOutputTokens: amountSchema,
  chargedNanoDollars: amountSchema,
  overrunTokens: amountSchema,
  reason: z.string(),
});
export type CallBudget = z.infer<typeof callBudgetSchema>;

/** n calls at once against the simulator, twice: checked after the reply, and reserved first. */
export const stormAskSchema = z.strictObject({
  calls: z.int().min(1).max(200).default(20),
  /** `one-each`: every call has a user of its own, so the tenant's limit decides. */
  users: z.enum(['one', 'one-each']).default('one-each'),
  messageCharacters: z.int().min(1).max(100_000).default(6_052),
  outputTokensMax: z.int().min(1).max(10_000).default(400),
  userLimit: amountSchema.nullable().default(6_000),
  tenantLimit: amountSchema.nullable().default(9_000),
});
export type StormAsk = z.infer<typeof stormAskSchema>;

export const stormCallStates = ['waiting', 'running', 'done', 'refused', 'failed'] as const;
export const stormSideSchema = z.strictObject({
  admitted: z.int().nonnegative(),
  refused: z.int().nonnegative(),
  spentTokens: amountSchema,
  heldTokens: amountSchema,
  heldTokensMax: amountSchema,
  calls: z.array(z.enum(stormCallStates)),
  /** The code most calls were refused with, and how long it asked to wait; null where none was. */
  refusedCode: z.string().nullable(),
  retryAfterSeconds: z.int().nullable(),
});
export type StormSide = z.infer<typeof stormSideSchema>;

export const stormSchema = z.strictObject({
  id: z.string(),
  ask: stormAskSchema,
  state: z.enum(['running', 'done', 'cancelled', 'failed']),
  problem: z.string().nullable(),
  /** Worst case of one call: the estimate of its prompt and its output cap. */
  reservedTokensEach: amountSchema,
  checkAfter: stormSideSchema,
  reserveFirst: stormSideSchema,
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});
export type Storm = z.infer<typeof stormSchema>;
