/**
 * A stored directory, also one that another version wrote. What is not known is left out, piece by piece, and told. A plan that
 * cannot be read allows nothing until it is corrected: a budget that is lost must not become no budget.
 */
import { z } from 'zod';
import {
  type Directory,
  type Plan,
  budgetSchema,
  callLimitsSchema,
  directorySchema,
  planSchema,
  tenantSchema,
  userSchema,
} from '../../contract/plans.ts';
import { priceSetNameSchema } from '../../contract/costs.ts';
import type { StoreNotice } from '../storage/store-types.ts';

export interface ReadDirectory {
  readonly directory: Directory;
  readonly notices: readonly StoreNotice[];
}

/** Never throws. */
export function readDirectory(json: string): ReadDirectory {
  const stored = parsedJson(json);
  const whole = directorySchema.safeParse(stored);
  return whole.success ? { directory: whole.data, notices: [] } : piecewise(isRecord(stored) ? stored : {});
}

/** Calls of whoever has this plan are refused: no model is allowed, and no request fits. */
export function closedPlan(name: string): Plan {
  return planSchema.parse({
    name,
    limits: { models: [] },
    budgets: [
      { scope: 'user', window: 'day', unit: 'requests', limit: 0, alertsPercent: [] },
      { scope: 'tenant', window: 'day', unit: 'requests', limit: 0, alertsPercent: [] },
    ],
  });
}

/** Stands in where not even the name of the default plan is known. */
const UNREADABLE = 'unreadable';
const NOTICES_MAX = 20;

type Stored = Readonly<Record<string, unknown>>;

function piecewise(stored: Stored): ReadDirectory {
  const told: string[] = [];
  const plans = plansOf(listOf(stored.plans), told);
  const tenants = uniqueOf(listOf(stored.tenants), tenantSchema, ({ id }) => id, 'tenant', told);
  const users = uniqueOf(
    listOf(stored.users),
    userSchema,
    ({ tenant, id }) => JSON.stringify([tenant, id]),
    'user',
    told,
  );
  const named = z.string().safeParse(stored.defaultPlan);
  const defaultPlan = named.success && planSchema.shape.name.safeParse(named.data).success ? named.data : UNREADABLE;
  for (const name of [defaultPlan, ...[...tenants, ...users].flatMap(({ plan }) => plan ?? [])]) {
    if (plans.has(name)) continue;
    plans.set(name, closedPlan(name));
    told.push(`There is no plan ${name} any more. Who has it may spend nothing.`);
  }
  const built = directorySchema.safeParse({ plans: [...plans.values()], tenants, users, defaultPlan });
  if (built.success) return { directory: built.data, notices: noticesOf(told) };
  const closed = directorySchema.parse({ plans: [closedPlan(UNREADABLE)], defaultPlan: UNREADABLE });
  return {
    directory: closed,
    notices: noticesOf(['The stored plans and users could not be read. Nobody may spend anything.']),
  };
}

function plansOf(stored: readonly unknown[], told: string[]): Map<string, Plan> {
  const plans = new Map<string, Plan>();
  for (const one of stored) {
    const fields = isRecord(one) ? one : {};
    const name = planSchema.shape.name.safeParse(fields.name);
    if (!name.success) {
      told.push('A plan without a name that can be read was left out.');
      continue;
    }
    if (plans.has(name.data)) {
      told.push(`The plan ${name.data} was stored twice. The first one holds.`);
      continue;
    }
    const plan = planOf(fields, told);
    if (plan === null) told.push(`The plan ${name.data} could not be read. Who has it may spend nothing.`);
    plans.set(name.data, plan ?? closedPlan(name.data));
  }
  return plans;
}

/** Unknown fields do no harm; of the known ones, those that say when and how fall back alone, those that say how much do not. */
function planOf(stored: Stored, told: string[]): Plan | null {
  const fields = knownFields(planSchema, stored);
  if (isRecord(fields.limits)) fields.limits = knownFields(callLimitsSchema, fields.limits);
  if (Array.isArray(fields.budgets)) {
    fields.budgets = fields.budgets.map((one: unknown) => (isRecord(one) ? knownFields(budgetSchema, one) : one));
  }
  if (isRecord(fields.prices)) fields.prices = knownFields(priceSetNameSchema, fields.prices);
  for (const name of ['timeZone', 'resetHour', 'weekStartsOn', 'onCancel', 'onConversationOverflow'] as const) {
    if (planSchema.shape[name].safeParse(fields[name]).success) continue;
    told.push(`${name} of the plan ${String(fields.name)} could not be read. The default holds.`);
    delete fields[name];
  }
  // As a directory of its own: the rules between its budgets are checked there.
  const alone = directorySchema.safeParse({ plans: [fields], defaultPlan: fields.name });
  return alone.success ? (alone.data.plans[0] ?? null) : null;
}

function uniqueOf<Value>(
  stored: readonly unknown[],
  schema: z.ZodObject & z.ZodType<Value>,
  keyOf: (value: Value) => string,
  what: string,
  told: string[],
): Value[] {
  const found = new Map<string, Value>();
  let left = 0;
  for (const one of stored) {
    const read = schema.safeParse(isRecord(one) ? knownFields(schema, one) : one);
    if (read.success && !found.has(keyOf(read.data))) found.set(keyOf(read.data), read.data);
    else left += 1;
  }
  if (left > 0) told.push(`${left} ${what}${left === 1 ? '' : 's'} could not be read and were left out.`);
  return [...found.values()];
}

function knownFields(schema: z.ZodObject, stored: Stored): Record<string, unknown> {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => Object.hasOwn(schema.shape, name)));
}

function noticesOf(texts: readonly string[]): StoreNotice[] {
  const shown = texts.slice(0, NOTICES_MAX);
  const more = texts.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more parts of the plans could not be read.`] : [])].map((text) => ({
    level: 'warning',
    text,
    next: 'Check plans and users on the Ledger page, and save them.',
  }));
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
