/** Which tenants have anything in a book: a set of its own, outside of any tenant's hash slot. */
import { type Result, ok } from '../../contract/denials.ts';
import type { Book } from '../../contract/ledger.ts';
import { type Whose, listOf, numberOf, textOf } from './codec.ts';
import type { Connection } from './connection.ts';
import { tenantKeys, tenantsKey } from './keys.ts';
import { IDLE_MS } from './script.ts';

export interface Tenants {
  /** Before anything is kept for a tenant, so that whatever is kept can be found. null = it is known, nothing to wait for. */
  remember(whose: Whose): Promise<Result<unknown>> | null;
  /** What is on the way for a tenant, so that calls of one turn stay in their order. */
  pending(whose: Whose): Promise<Result<unknown>> | null;
  of(book: Book): Promise<Result<readonly string[]>>;
}

export function knownTenants(connection: Connection): Tenants {
  /** When each was told last; told again now and then on the way, and before anything else after a loss. */
  const told = new Map<string, number>();
  const telling = new Map<string, Promise<Result<unknown>>>();
  connection.onState(() => told.clear());

  return {
    remember(whose) {
      const memo = memoOf(whose);
      const since = told.get(memo);
      if (since === undefined) return tellOnce(whose, memo);
      if (Math.abs(connection.nowMs() - since) > TELL_AGAIN_MS) void tellOnce(whose, memo);
      return null;
    },
    pending: (whose) => telling.get(memoOf(whose)) ?? null,
    async of(book) {
      const members = await connection.command('SMEMBERS', tenantsKey(book));
      return members.ok ? ok(listOf(members.value).map(textOf).sort()) : members;
    },
  };

  function tellOnce({ book, tenant }: Whose, memo: string): Promise<Result<unknown>> {
    const before = telling.get(memo);
    if (before !== undefined) return before;
    const now = tell(book, tenant).then((result) => {
      telling.delete(memo);
      if (told.size >= TOLD_MAX) told.clear();
      if (result.ok) told.set(memo, connection.nowMs());
      return result;
    });
    telling.set(memo, now);
    return now;
  }

  async function tell(book: Book, tenant: string): Promise<Result<unknown>> {
    const key = tenantsKey(book);
    const [added, kept] = await Promise.all([
      connection.command('SADD', key, tenant),
      connection.command('PEXPIRE', key, String(2 * IDLE_MS)),
    ]);
    if (!added.ok) return added;
    if (!kept.ok) return kept;
    if (numberOf(added.value) === 1) await forgetSome(book);
    return ok(undefined);
  }

  /** A tenant whose keys have all ended leaves the set, a few at each tenant that comes. */
  async function forgetSome(book: Book): Promise<void> {
    const some = await connection.command('SRANDMEMBER', tenantsKey(book), String(FORGET_MAX));
    if (!some.ok) return;
    await Promise.all(
      listOf(some.value).map(async (member) => {
        const tenant = textOf(member);
        if (told.has(memoOf({ book, tenant })) || telling.has(memoOf({ book, tenant }))) return;
        const left = await connection.command('EXISTS', tenantKeys(book, tenant).base[0] ?? '');
        if (left.ok && Number(textOf(left.value)) === 0) await connection.command('SREM', tenantsKey(book), tenant);
      }),
    );
  }
}

const memoOf = ({ book, tenant }: Whose): string => `${book} ${tenant}`;
const TOLD_MAX = 20_000;
const TELL_AGAIN_MS = 10_000;
const FORGET_MAX = 3;
