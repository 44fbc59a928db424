/**
 * The ledger in Redis: several consoles and proxies share a budget. Each operation is one script, so it is decided and written in
 * one breath wherever it comes from. An operation whose answer was lost is asked again with the same key.
 */
import { type Result, ok } from '../../contract/denials.ts';
import type { Book } from '../../contract/ledger.ts';
import { AMOUNT_MAX, type BudgetUnit } from '../../contract/plans.ts';
import { checkGrant, checkReserve, checkResolve } from '../../engine/ledger/checks.ts';
import {
  idReused,
  keyReused,
  noSuchReservation,
  openReservation,
  refusedCharge,
  refusedGrant,
  sameLines,
} from '../../engine/ledger/records.ts';
import type {
  AccountState,
  GrantAsk,
  LedgerLine,
  LedgerStore,
  ReserveAnswer,
  ReserveAsk,
  ResolveAnswer,
  ResolveAsk,
} from '../../engine/ledger/store.ts';
import { must } from '../../engine/must.ts';
import { auditRedis } from './audit.ts';
import {
  type Reply,
  type Whose,
  answerOf,
  listOf,
  numberOf,
  packAsk,
  packGrant,
  packHow,
  readHold,
  readRefusal,
  readState,
  readStateOf,
  readStates,
  textOf,
} from './codec.ts';
import { type Connection, type RedisState, connect } from './connection.ts';
import { accountRedisKey, idempotencyRedisKey, partOf, reservationRedisKey, restOfKey, tenantKeys } from './keys.ts';
import { readAccounts, readCurrent, readDue, readEntries, readReservations } from './reads.ts';
import { knownTenants } from './tenants.ts';
import { redisPlaceOf } from './url.ts';

export type { RedisState } from './connection.ts';

export interface RedisStore extends LedgerStore {
  readonly kind: 'redis';
  state(): RedisState;
  /** Called at each change; answers how to stop. */
  onState(listener: (state: RedisState) => void): () => void;
}

/**
 * Denied `bad-input` (field redisUrl) for an address that is none. A Redis that does not answer is no denial: the store says
 * `lost`, refuses with `ledger-unavailable` and connects as soon as it can.
 */
export async function openRedisStore({
  url,
  nowMs = () => Date.now(),
  timeoutMs = 2_000,
}: {
  readonly url: string;
  /** The local clock, which is corrected by Redis's. */
  readonly nowMs?: () => number;
  /** For connecting and for each command. */
  readonly timeoutMs?: number;
}): Promise<Result<RedisStore>> {
  const place = redisPlaceOf(url);
  if (!place.ok) return place;
  return ok(storeOver(await connect(place.value, { timeoutMs, localNowMs: nowMs })));
}

/** Holds that were swept on the way of other operations, until `expire` tells them. */
const SWEPT_MAX = 1_000;

function storeOver(connection: Connection): RedisStore {
  const tenants = knownTenants(connection);
  const swept: Record<Book, ResolveAnswer[]> = { real: [], simulated: [] };

  function keepSwept(reply: Reply | undefined, whose: Whose): void {
    const list = swept[whose.book];
    for (const hold of listOf(reply)) list.push(answerOf(readHold(hold, whose)));
    if (list.length > SWEPT_MAX) list.splice(0, list.length - SWEPT_MAX);
  }

  async function reserve(ask: ReserveAsk): Promise<Result<ReserveAnswer>> {
    const checked = checkReserve(ask);
    if (!checked.ok) return checked;
    const telling = tenants.remember(ask);
    if (telling !== null) {
      const known = await telling;
      if (!known.ok) return known;
    }
    const keys = tenantKeys(ask.book, ask.tenant);
    const answer = await connection.run({
      tenant: keys,
      keys: [
        reservationRedisKey(keys, ask.id),
        idempotencyRedisKey(keys, ask.key),
        ...ask.lines.map((line) => accountRedisKey(keys, restOfKey(line.key))),
      ],
      args: reserveArguments(ask),
    });
    return answer.ok ? readReserve(answer.value, ask) : answer;
  }

  function readReserve(reply: readonly Reply[], ask: ReserveAsk): Result<ReserveAnswer> {
    const outcome = textOf(reply[0]);
    if (outcome === 'clock-moved') return ok({ outcome, nowMs: numberOf(reply[1]) });
    if (outcome === 'id-used') return idReused(ask.id);
    if (outcome === 'repeated') {
      const hold = readHold(reply[3], ask);
      if (!sameLines(hold.ask, ask)) return keyReused(ask.key);
      return ok({ outcome: 'reserved', repeated: true, reservation: hold.reservation, accounts: hold.accounts });
    }
    if (outcome === 'refused') {
      keepSwept(reply[5], ask);
      return ok({ outcome, refusals: listOf(reply[3]).map(readRefusal), accounts: readStates(reply[4], ask) });
    }
    must(outcome === 'reserved', 'a reservation has four outcomes');
    keepSwept(reply[4], ask);
    const states = listOf(reply[3]);
    return ok({
      outcome,
      repeated: false,
      reservation: openReservation({ ...ask, atMs: numberOf(reply[2]) }),
      accounts: ask.lines.map((line, index) => readStateOf(line, states[index])),
    });
  }

  async function resolve(ask: ResolveAsk): Promise<Result<ResolveAnswer>> {
    const checked = checkResolve(ask);
    if (!checked.ok) return checked;
    const telling = tenants.pending(ask);
    if (telling !== null) await telling;
    const keys = tenantKeys(ask.book, ask.tenant);
    const answer = await connection.run({
      tenant: keys,
      keys: [reservationRedisKey(keys, ask.id)],
      args: resolveArguments(ask),
    });
    if (!answer.ok) return answer;
    const [outcome, , hold, more] = answer.value;
    if (outcome === 'not-found') return noSuchReservation(ask.id);
    if (outcome === 'too-large') return tooLarge(hold, ask);
    keepSwept(more, ask);
    return ok(answerOf(readHold(hold, ask)));
  }

  async function grant(ask: GrantAsk): Promise<Result<AccountState>> {
    const checked = checkGrant(ask);
    if (!checked.ok) return checked;
    const telling = tenants.remember(ask.account);
    if (telling !== null) {
      const known = await telling;
      if (!known.ok) return known;
    }
    const keys = tenantKeys(ask.account.book, ask.account.tenant);
    const rest = restOfKey(ask.key);
    const answer = await connection.run({
      tenant: keys,
      keys: [accountRedisKey(keys, rest)],
      args: [
        'grant',
        whole(ask.atMs),
        rest,
        ask.account.window === 'minute' ? '1' : '0',
        whole(ask.amount),
        optional(ask.limit),
        optional(ask.endsAtMs),
        ask.alertsPercent.join(),
        ask.timeZone,
        packGrant(ask, restOfKey),
      ],
    });
    if (!answer.ok) return answer;
    if (answer.value[0] === 'too-much') return refusedGrant();
    return ok(readState(answer.value[2], ask.account));
  }

  async function expire({
    book,
    atMs,
    max,
  }: {
    readonly book: Book;
    readonly atMs: number;
    readonly max: number;
  }): Promise<Result<readonly ResolveAnswer[]>> {
    const answers = swept[book].splice(0, max);
    const due = await readDue(connection, tenants, book, atMs, max - answers.length);
    if (!due.ok) {
      swept[book].unshift(...answers);
      return due;
    }
    const resolved = await Promise.all(
      [...due.value].map(async ([tenant, count]): Promise<Result<readonly ResolveAnswer[]>> => {
        const keys = tenantKeys(book, tenant);
        const answer = await connection.run({
          tenant: keys,
          keys: [],
          args: ['expire', whole(atMs), String(count)],
          alone: true,
        });
        if (!answer.ok) return answer;
        return ok(listOf(answer.value[2]).map((hold) => answerOf(readHold(hold, { book, tenant }))));
      }),
    );
    const fresh: ResolveAnswer[] = [];
    for (const one of resolved) if (one.ok) fresh.push(...one.value);
    fresh.sort((a, b) => (a.reservation.expiresAt < b.reservation.expiresAt ? -1 : 1));
    answers.push(...fresh);
    const failure = resolved.find((one) => !one.ok);
    if (failure === undefined) return ok(answers);
    // What was resolved is told the next time.
    swept[book].unshift(...answers);
    return failure;
  }

  return {
    kind: 'redis',
    nowMs: () => connection.nowMs(),
    reserve,
    resolve,
    grant,
    expire,
    accounts: (ask) => readAccounts(connection, ask),
    current: (ask) => readCurrent(connection, tenants, ask),
    reservations: (ask) => readReservations(connection, tenants, ask),
    entries: (query) => readEntries(connection, tenants, query),
    audit: (atMs) => auditRedis(connection, tenants, atMs),
    state: () => connection.state(),
    onState: (listener) => connection.onState(listener),
    close: () => connection.close(),
  };
}

function tooLarge(reply: Reply | undefined, ask: ResolveAsk): Result<never> {
  const [unit, held, spent, heldAll] = listOf(reply).map(textOf);
  const line = {
    unit: unit as BudgetUnit,
    amount: numberOf(held),
    spent: numberOf(spent),
    held: numberOf(heldAll),
  };
  const refusal = refusedCharge(line, ask);
  must(refusal !== null, 'script and law agree on what is too large');
  return refusal;
}

function reserveArguments(ask: ReserveAsk): string[] {
  return [
    'reserve',
    whole(ask.atMs),
    ask.clockMoved ? '1' : '0',
    whole(ask.expiresAtMs),
    partOf(ask.id),
    partOf(ask.key),
    packAsk(ask, restOfKey),
    ...ask.lines.map(lineText),
  ];
}

/** In the order in which the script takes it apart. Only the zone may hold a space. */
function lineText({ key, account, limit, startsAtMs, endsAtMs, alertsPercent, timeZone, ...line }: LedgerLine): string {
  const rolling = account.window === 'minute' ? '1' : '0';
  const terms = `${limit === null ? '' : amount(limit)} ${optional(startsAtMs)} ${optional(endsAtMs)} ${alertsPercent.join()} ${timeZone}`;
  return `${restOfKey(key)} ${account.unit} ${amount(line.amount)} ${rolling} ${terms}`;
}

function resolveArguments(ask: ResolveAsk): string[] {
  const charge = ask.charge;
  return [
    'resolve',
    whole(ask.atMs),
    partOf(ask.id),
    ask.operation,
    packHow(ask),
    ...(charge === null
      ? ['', '', '']
      : [amount(charge.tokens), amount(charge['nano-dollars']), amount(charge.requests)]),
  ];
}

function amount(value: number): string {
  must(Number.isSafeInteger(value) && value >= 0 && value <= AMOUNT_MAX, 'an amount is a whole amount');
  return String(value);
}

function whole(value: number): string {
  must(Number.isSafeInteger(value), 'times are whole milliseconds');
  return String(value);
}

const optional = (value: number | null): string => (value === null ? '' : whole(value));
