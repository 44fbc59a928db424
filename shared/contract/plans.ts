/**
 * Who may spend what: plans, tenants, users. A limit that is null is no limit; 0 allows nothing. Limits of a call are checked
 * before budgets are touched; budgets are kept by the ledger.
 */
import { z } from 'zod';
import { priceSetNameSchema } from './costs.ts';

/** In the order in which refusals are told: the nearest to the person first. */
export const budgetScopes = ['conversation', 'experiment', 'user', 'model', 'tenant'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

/**
 * `run` has no end: all that the scope ever spends. `minute` is rolling, in steps of a second. The others are calendar periods
 * of the plan's zone. Longest first: of two limits of one scope the one that lasts longer is told.
 */
export const budgetWindows = ['run', 'month', 'week', 'day', 'minute'] as const;
export type BudgetWindow = (typeof budgetWindows)[number];

export const budgetUnits = ['tokens', 'nano-dollars', 'requests'] as const;
export type BudgetUnit = (typeof budgetUnits)[number];

/** Amounts stay below this, so that no sum of a journal leaves the safe integers. */
export const AMOUNT_MAX = 1_000_000_000_000_000;
export const amountSchema = z
  .int('must be a whole number')
  .min(0, 'must not be negative')
  .max(AMOUNT_MAX, `must be at most ${AMOUNT_MAX}`)
  .refine((value) => !Object.is(value, -0), 'must not be negative');

/** A name of a user, tenant or conversation: any text without control characters, as keys and rows carry it. */
export const nameSchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .refine((name) => !/[\u0000-\u001f\u007f]/.test(name) && name.isWellFormed(), 'must not hold control characters');

export const ALERT_PERCENT_DEFAULT = 80;

export const budgetSchema = z.strictObject({
  scope: z.enum(budgetScopes),
  window: z.enum(budgetWindows),
  unit: z.enum(budgetUnits),
  limit: amountSchema.nullable(),
  /** Whole percents of the limit; each is told once per scope and period. */
  alertsPercent: z.array(z.int().min(1).max(100)).max(5).default([ALERT_PERCENT_DEFAULT]),
  /** Replaces the time to the end of the period in refusals; null = the rule of the scope (tenant: an hour). */
  retryAfterSeconds: z.int().min(1).max(31_622_400).nullable().default(null),
});
export type Budget = z.infer<typeof budgetSchema>;

const limitOf = (unit: string): z.ZodNullable<z.ZodNumber> =>
  z.int(`must be a whole number of ${unit}`).min(0, 'must not be negative').max(10_000_000_000).nullable();

export const callLimitsSchema = z.strictObject({
  /** Of the newest user message, in UTF-16 units. */
  messageCharactersMax: limitOf('characters').default(null),
  /** Of everything that would be sent again, estimated. */
  conversationTokensMax: limitOf('tokens').default(null),
  outputTokensMax: limitOf('tokens').default(null),
  wallClockMsMax: limitOf('milliseconds').default(null),
  bodyBytesMax: limitOf('bytes').default(null),
  /** null = every model. */
  models: z.array(z.string().min(1).max(500)).max(200).nullable().default(null),
});
export type CallLimits = z.infer<typeof callLimitsSchema>;

/** Of the platform's tz database. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const planSchema = z.strictObject({
  name: nameSchema,
  limits: callLimitsSchema.prefault({}),
  /** What happens to a conversation over its limit: refused, or shortened by a call of its own that is paid as well. */
  onConversationOverflow: z.enum(['refuse', 'summarise']).default('refuse'),
  budgets: z.array(budgetSchema).max(30).default([]),
  timeZone: z.string().min(1).max(100).refine(isTimeZone, 'is no time zone this machine knows').default('UTC'),
  /** Local hour at which days, weeks and months begin. */
  resetHour: z.int().min(0).max(23).default(0),
  /** 1 = Monday. */
  weekStartsOn: z.int().min(1).max(7).default(1),
  /** A call that was stopped, timed out or lost its client: the whole reservation stays, or what was seen is charged. */
  onCancel: z.enum(['forfeit', 'observed']).default('forfeit'),
  /** `mark`: input over its estimate is charged and marked. `strict`: reserves what the prompt can be at most. */
  overrun: z.enum(['mark', 'strict']).default('mark'),
  /** What tokens cost in budgets of nano-dollars; null = local, nothing. */
  prices: priceSetNameSchema.nullable().default(null),
});
export type Plan = z.infer<typeof planSchema>;
export type PlanInput = z.input<typeof planSchema>;

/** plan null = the tenant's, then the default one. */
export const tenantSchema = z.strictObject({ id: nameSchema, plan: nameSchema.nullable().default(null) });
export type Tenant = z.infer<typeof tenantSchema>;
export const userSchema = z.strictObject({
  tenant: nameSchema,
  id: nameSchema,
  plan: nameSchema.nullable().default(null),
});
export type User = z.infer<typeof userSchema>;

/**
 * All of it at once. Budgets of the scopes tenant and model come from the tenant's plan, the others from the user's. Who is not
 * listed has the plan of the tenant, and a tenant that is not listed the default one.
 */
export const directorySchema = z
  .strictObject({
    plans: z.array(planSchema).min(1, 'there must be a plan').max(200),
    tenants: z.array(tenantSchema).max(2_000).default([]),
    users: z.array(userSchema).max(20_000).default([]),
    defaultPlan: nameSchema,
  })
  .superRefine((directory, context) => {
    const plans = new Set<string>();
    directory.plans.forEach(({ name, budgets }, index) => {
      if (plans.has(name))
        context.addIssue({ code: 'custom', path: ['plans', index, 'name'], message: 'is there twice' });
      plans.add(name);
      const seen = new Set<string>();
      budgets.forEach(({ scope, window, unit }, at) => {
        const key = `${scope} ${window} ${unit}`;
        if (seen.has(key)) {
          context.addIssue({ code: 'custom', path: ['plans', index, 'budgets', at], message: `${key} is there twice` });
        }
        seen.add(key);
      });
    });
    const known = (plan: string | null, path: (string | number)[]): void => {
      if (plan !== null && !plans.has(plan)) {
        context.addIssue({ code: 'custom', path, message: `there is no plan ${plan}` });
      }
    };
    known(directory.defaultPlan, ['defaultPlan']);
    const tenants = new Set<string>();
    directory.tenants.forEach(({ id, plan }, index) => {
      if (tenants.has(id))
        context.addIssue({ code: 'custom', path: ['tenants', index, 'id'], message: 'is there twice' });
      tenants.add(id);
      known(plan, ['tenants', index, 'plan']);
    });
    const users = new Set<string>();
    directory.users.forEach(({ tenant, id, plan }, index) => {
      const key = JSON.stringify([tenant, id]);
      if (users.has(key)) context.addIssue({ code: 'custom', path: ['users', index, 'id'], message: 'is there twice' });
      users.add(key);
      known(plan, ['users', index, 'plan']);
    });
  });
export type Directory = z.infer<typeof directorySchema>;
export type DirectoryInput = z.input<typeof directorySchema>;

/** Who pays for a call. */
export const payerSchema = z.strictObject({
  tenant: nameSchema,
  user: nameSchema,
  conversation: nameSchema.optional(),
});
export type Payer = z.infer<typeof payerSchema>;

/** The console's own calls, where nobody else was chosen. */
export const LOCAL_PAYER: Payer = { tenant: 'local', user: 'local' };

export const LAB_PLAN: Plan = planSchema.parse({
  name: 'lab',
  budgets: [
    { scope: 'user', window: 'day', unit: 'tokens', limit: null },
    { scope: 'tenant', window: 'month', unit: 'tokens', limit: null },
  ],
});

/** The limits of a public assistant in front of a model with a window of 4,096 or more. */
export const ASSISTANT_PLAN: Plan = planSchema.parse({
  name: 'assistant',
  limits: {
    messageCharactersMax: 8_000,
    conversationTokensMax: 6_000,
    outputTokensMax: 400,
    wallClockMsMax: 30_000,
    bodyBytesMax: 32_768,
  },
  budgets: [
    { scope: 'user', window: 'day', unit: 'tokens', limit: 6_000 },
    { scope: 'tenant', window: 'month', unit: 'tokens', limit: 9_000 },
  ],
});

export const DEFAULT_DIRECTORY: Directory = directorySchema.parse({
  plans: [LAB_PLAN, ASSISTANT_PLAN],
  tenants: [
    { id: 'local', plan: 'lab' },
    { id: 'acme', plan: 'assistant' },
  ],
  users: [
    { tenant: 'acme', id: 'ada' },
    { tenant: 'acme', id: 'grace' },
    { tenant: 'acme', id: 'linus' },
  ],
  defaultPlan: 'lab',
});

/** Something about a plan that is allowed and will surprise. */
export const planWarningSchema = z.strictObject({
  plan: z.string(),
  field: z.string(),
  text: z.string(),
  next: z.string().nullable(),
  /** The largest value of that field which would not surprise, where there is one. */
  safe: amountSchema.nullable().optional(),
});
export type PlanWarning = z.infer<typeof planWarningSchema>;
