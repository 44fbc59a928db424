/** People from a table into a directory: adds and changes, removes nobody. All of it, or nothing. */
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import { type Directory, type Tenant, type User, directorySchema, nameSchema } from '../../contract/plans.ts';
import { type CsvRecord, readCsv } from '../csv/read-csv.ts';

export interface ImportedDirectory {
  readonly directory: Directory;
  /** Rows about somebody new. A tenant that only its users name is added with them, and not counted. */
  readonly added: number;
  /** Rows that changed somebody's plan. */
  readonly changed: number;
}

export const IMPORT_ROWS_MAX = 20_000;
const columns = ['tenant', 'user', 'plan'] as const;
type PersonRecord = CsvRecord<(typeof columns)[number]>;

export function importDirectory(directory: Directory, text: string): Result<ImportedDirectory> {
  const read = readCsv(text, { columns, optional: ['plan'], rowsMax: IMPORT_ROWS_MAX });
  if (!read.ok) return read;
  const fault = faultOf(read.value, directory);
  if (fault !== null) return { ok: false, denial: fault };
  const tenants = new Map<string, Tenant>(directory.tenants.map((tenant) => [tenant.id, tenant]));
  const users = new Map<string, User>(directory.users.map((user) => [keyOf(user.tenant, user.id), user]));
  let added = 0;
  let changed = 0;
  const put = <Value extends { readonly plan: string | null }>(
    into: Map<string, Value>,
    key: string,
    value: Value,
  ): void => {
    const before = into.get(key);
    if (before === undefined) added += 1;
    else if (before.plan !== value.plan) changed += 1;
    into.set(key, value);
  };
  for (const { cells } of read.value) {
    const plan = cells.plan === '' ? null : cells.plan;
    if (cells.user === '') put(tenants, cells.tenant, { id: cells.tenant, plan });
    else put(users, keyOf(cells.tenant, cells.user), { tenant: cells.tenant, id: cells.user, plan });
  }
  // After all rows, so that a row of the tenant further down counts as its own.
  for (const { cells } of read.value) {
    if (!tenants.has(cells.tenant)) tenants.set(cells.tenant, { id: cells.tenant, plan: null });
  }
  const next = directorySchema.safeParse({
    ...directory,
    tenants: [...tenants.values()],
    users: [...users.values()],
  });
  if (!next.success) return tooMany(tenants.size, users.size);
  return ok({ directory: next.data, added, changed });
}

const keyOf = (tenant: string, user: string): string => JSON.stringify([tenant, user]);

function faultOf(records: readonly PersonRecord[], { plans }: Directory): Denial | null {
  const known = new Set(plans.map((plan) => plan.name));
  const lines = new Map<string, number>();
  for (const { line, cells } of records) {
    const wrongName = nameFault(cells.tenant, 'tenant') ?? (cells.user === '' ? null : nameFault(cells.user, 'user'));
    if (wrongName !== null) return faultAt(line, wrongName.column, wrongName.rule, 'Correct the name.');
    if (cells.plan !== '' && !known.has(cells.plan)) {
      const name = cells.plan.slice(0, 60).toWellFormed();
      return faultAt(line, 'plan', `there is no plan ${name}`, `Plans: ${[...known].slice(0, 10).join(', ')}.`);
    }
    const key = keyOf(cells.tenant, cells.user);
    const before = lines.get(key);
    if (before !== undefined) {
      const column = cells.user === '' ? 'tenant' : 'user';
      return faultAt(line, column, `the same as in line ${before}`, 'Keep one of the two.');
    }
    lines.set(key, line);
  }
  return null;
}

function nameFault(name: string, column: 'tenant' | 'user'): { readonly column: string; readonly rule: string } | null {
  const read = nameSchema.safeParse(name);
  return read.success ? null : { column, rule: read.error.issues[0]?.message ?? 'is no name' };
}

function faultAt(line: number, column: string, what: string, next: string): Denial {
  return denied('bad-input', `Line ${line}, column ${column}: ${what}.`, { field: 'text', next }).denial;
}

/** All else was checked row by row. */
function tooMany(tenants: number, users: number): Result<never> {
  return denied(
    'bad-input',
    `With these there would be ${count(tenants)} tenants and ${count(users)} users, more than 2,000 and 20,000.`,
    { field: 'text', next: 'Import fewer, or remove some first.' },
  );
}

const count = (value: number): string => value.toLocaleString('en-US');
