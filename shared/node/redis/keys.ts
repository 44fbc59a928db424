/** Names of what is kept. All keys of a tenant share the hash tag `{tenant}`, so a cluster keeps them on one node. */
import { type Book, keyPart } from '../../contract/ledger.ts';

export interface TenantKeys {
  readonly prefix: string;
  /** In the order in which the script expects them. */
  readonly base: readonly string[];
  readonly open: string;
  readonly closed: string;
  readonly journal: string;
  readonly touched: string;
}

export const tenantsKey = (book: Book): string => `spillway:${book}:tenants`;

export function tenantKeys(book: Book, tenant: string): TenantKeys {
  const memo = `${book} ${tenant}`;
  const before = recent.get(memo);
  if (before !== undefined) return before;
  const prefix = `spillway:${book}:{${keyPart(tenant)}}:`;
  const [meta, journal, open, closed, touched, ends] = BASE.map((name) => prefix + name);
  const made = {
    prefix,
    base: [meta ?? '', journal ?? '', open ?? '', closed ?? '', touched ?? '', ends ?? ''],
    open: open ?? '',
    closed: closed ?? '',
    journal: journal ?? '',
    touched: touched ?? '',
  };
  if (recent.size >= MEMO_MAX) recent.clear();
  recent.set(memo, made);
  return made;
}

/** What is left of an account's key without book and tenant, which the tag holds. */
export const restOfKey = (accountKey: string): string =>
  accountKey.slice(accountKey.indexOf(':', accountKey.indexOf(':') + 1) + 1);

export const accountRedisKey = ({ prefix }: TenantKeys, rest: string): string => `${prefix}a:${rest}`;
export const reservationRedisKey = ({ prefix }: TenantKeys, id: string): string => `${prefix}r:${partOf(id)}`;
export const idempotencyRedisKey = ({ prefix }: TenantKeys, key: string): string => `${prefix}k:${partOf(key)}`;

/** `keyPart`, which most ids and keys pass as they are. */
export const partOf = (text: string): string => (/^[\w.-]*$/.test(text) ? text : keyPart(text));

const BASE = ['meta', 'journal', 'open', 'closed', 'accounts', 'ends'] as const;
const MEMO_MAX = 5_000;
const recent = new Map<string, TenantKeys>();
