/** Which tenants have anything in a book: a set of its own, outside of any tenant's hash slot. */
import { type Result, ok } from '../../contract/denials.ts';
import type { Book } from '../../contract/ledger.ts';
import { type Whose, listOf, numberOf, textOf } from './codec.ts';
import type { Connection } from './connection.ts';
import { tenantKeys, tenantsKey } from './keys.ts';
import { IDLE_MS } from './script.ts';

export interface Tenants {
  /** Before anything is kept for a tenant, so that whatever is kept can be found. */
  remember(whose: Whose): Promise<Result<unknown>>;
  of(book: Book): Promise<Result<readonly string[]>>;
}

export function knownTenants(connection: Connection): Tenants {
  /** Those that are in the set for certain, or on the way; told again now and then, and after a loss. */
  const told = new Map<string, Promise<Result<unknown>>>();
  let toldSinceMs = connection.nowMs();
  connection.onState(() => told.clear());

  return {
    remember({ book, tenant }) {
      const nowMs = connection.nowMs();
      if (told.size >= TOLD_MAX || Math.abs(nowMs - toldSinceMs) > TELL_AGAIN_MS) {
        told.clear();
        toldSinceMs = nowMs;
      }
      const memo = `${book} ${tenant}`;
      const before = told.get(memo);
      if (before !== undefined) return before;
      const telling = tell(book, tenant).then((result) => {
        if (!result.ok) told.delete(memo);
        return result;
      });
      told.set(memo, telling);
      return telling;
    },
    async of(book) {
      const members = await connection.command('SMEMBERS', tenantsKey(book));
      return members.ok ? ok(listOf(members.value).map(textOf).sort()) : members;
    },
  };

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
        if (told.has(`${book} ${tenant}`)) return;
        const left = await connection.command('EXISTS', tenantKeys(book, tenant).base[0] ?? '');
        if (left.ok && Number(textOf(left.value)) === 0) await connection.command('SREM', tenantsKey(book), tenant);
      }),
    );
  }
}

const TOLD_MAX = 20_000;
const TELL_AGAIN_MS = 10_000;
const FORGET_MAX = 3;
