/**
 * The shared ledger, and what is done while it is away: every call is refused, or a share of each limit is kept here. Each operation
 * decides for itself; a reservation is resolved where it was opened.
 */
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { LedgerState } from '../../contract/ledger.ts';
import type {
  LedgerLine,
  LedgerStore,
  ReserveAnswer,
  ReserveAsk,
  ResolveAnswer,
  ResolveAsk,
} from '../../engine/ledger/store.ts';
import type { RedisStore } from './store.ts';

export interface SharedOrLocalState extends Pick<LedgerState, 'state' | 'problem' | 'next'> {
  readonly store: 'redis';
}

export interface SharedOrLocalStore extends LedgerStore {
  readonly kind: 'redis';
  state(): SharedOrLocalState;
  /** Called when Redis is lost or back; answers how to stop. */
  onState(listener: (state: SharedOrLocalState) => void): () => void;
}

export function createSharedOrLocal({
  redis,
  local,
  loss,
  sharePercent,
}: {
  readonly redis: RedisStore;
  readonly local: LedgerStore;
  readonly loss: () => 'refuse' | 'local-share';
  /** Whole percent of each limit that is spent here while Redis is away. */
  readonly sharePercent: () => number;
}): SharedOrLocalStore {
  /** Where reservations and keys are, of those this process opened; the oldest are forgotten. */
  const places = new Map<string, 'redis' | 'local'>();
  /** Sent to Redis, never answered, then opened here: given back there when it is possible. */
  const doubtful = new Map<string, ResolveAsk>();
  let givingBack: Promise<void> | null = null;

  function state(): SharedOrLocalState {
    const { state: shared, problem, next } = redis.state();
    if (shared === 'ready') return { store: 'redis', state: 'ready', problem: null, next: null };
    if (loss() === 'refuse') return { store: 'redis', state: 'unavailable', problem, next };
    const share = `Until it is back, ${sharePercent()} % of each limit can be used here.`;
    return { store: 'redis', state: 'local-share', problem: `${problem ?? 'Redis is lost.'} ${share}`, next };
  }

  const isLost = (): boolean => redis.state().state === 'lost';
  const isLocal = (): boolean => isLost() && loss() === 'local-share';
  const unavailable = (): Result<never> => {
    const { problem, next } = redis.state();
    return denied('ledger-unavailable', problem ?? 'The shared ledger is away.', next === null ? {} : { next });
  };

  function remember(ask: ReserveAsk, answer: ReserveAnswer, place: 'redis' | 'local'): void {
    if (answer.outcome !== 'reserved') return;
    for (const name of [idOf({ ...ask, id: answer.reservation.id }), keyOf(ask)]) {
      places.delete(name);
      places.set(name, place);
    }
    while (places.size > PLACES_MAX) places.delete(places.keys().next().value ?? '');
  }

  async function reserve(ask: ReserveAsk): Promise<Result<ReserveAnswer>> {
    const known = places.get(keyOf(ask));
    if (known === 'local') return reserveHere(ask);
    // A call that was opened there may have been charged there: only Redis can say.
    if (isLost() && known === 'redis') return unavailable();
    if (!isLocal()) {
      const answer = await redis.reserve(ask);
      if (answer.ok) remember(ask, answer.value, 'redis');
      if (answer.ok || known === 'redis' || loss() === 'refuse' || !isAway(answer.denial)) return answer;
      if (doubtful.size < PLACES_MAX) doubtful.set(idOf(ask), voidOf(ask));
    }
    return reserveHere(ask);
  }

  async function reserveHere(ask: ReserveAsk): Promise<Result<ReserveAnswer>> {
    const share = sharePercent();
    const answer = await local.reserve({ ...ask, lines: ask.lines.map((line) => shareOf(line, share)) });
    if (answer.ok) remember(ask, answer.value, 'local');
    return answer;
  }

  async function resolve(ask: ResolveAsk): Promise<Result<ResolveAnswer>> {
    const known = places.get(idOf(ask));
    if (known === 'local') return local.resolve(ask);
    const answer = isLost() ? unavailable() : await redis.resolve(ask);
    if (known === 'redis' || answer.ok) return answer;
    if (answer.denial.code !== 'not-found' && !isAway(answer.denial)) return answer;
    // Of an earlier start: it may be here.
    const here = await local.resolve(ask);
    return !here.ok && here.denial.code === 'not-found' ? answer : here;
  }

  async function giveBack(): Promise<void> {
    for (const [id, ask] of doubtful) {
      const answer = await redis.resolve({ ...ask, atMs: redis.nowMs() });
      if (!answer.ok && isAway(answer.denial)) return;
      doubtful.delete(id);
    }
  }
  const stop = redis.onState((shared) => {
    if (shared.state !== 'ready') return;
    givingBack ??= giveBack().finally(() => {
      givingBack = null;
    });
  });

  /** Reads are answered by the one that decides now. */
  function read<Value>(ask: (store: LedgerStore) => Promise<Result<Value>>): Promise<Result<Value>> {
    if (!isLost()) return ask(redis);
    return loss() === 'local-share' ? ask(local) : Promise.resolve(unavailable());
  }

  return {
    kind: 'redis',
    nowMs: () => redis.nowMs(),
    reserve,
    resolve,
    // A grant raises the shared limit; here it would be gone when Redis is back.
    grant: (ask) => (isLost() ? Promise.resolve(unavailable()) : redis.grant(ask)),
    async expire(ask) {
      const here = await local.expire(ask);
      if (!here.ok || isLost() || here.value.length >= ask.max) return here;
      const there = await redis.expire({ ...ask, max: ask.max - here.value.length });
      // What was resolved here is told, whatever became of the others.
      return ok([...here.value, ...(there.ok ? there.value : [])]);
    },
    accounts: (ask) => read((store) => store.accounts(ask)),
    current: (ask) => read((store) => store.current(ask)),
    async reservations(ask) {
      const here = await local.reservations({ ...ask, closed: isLost() ? ask.closed : 0 });
      if (!here.ok || isLost()) return isLocal() || !here.ok ? here : unavailable();
      const there = await redis.reservations(ask);
      return there.ok ? ok([...here.value, ...there.value]) : there;
    },
    entries: (query) => read((store) => store.entries(query)),
    async audit(atMs) {
      const here = await local.audit(atMs);
      if (!here.ok || isLost()) return isLocal() || !here.ok ? here : unavailable();
      const there = await redis.audit(atMs);
      if (!there.ok) return there;
      const notes = [...(here.value.notes ?? []), ...(there.value.notes ?? [])];
      return ok({
        at: there.value.at,
        sound: here.value.sound && there.value.sound,
        entries: here.value.entries + there.value.entries,
        accounts: here.value.accounts + there.value.accounts,
        openHolds: here.value.openHolds + there.value.openHolds,
        faults: [...here.value.faults, ...there.value.faults],
        ...(notes.length === 0 ? {} : { notes }),
      });
    },
    state,
    onState: (listener) => redis.onState(() => listener(state())),
    async close() {
      stop();
      await Promise.all([redis.close(), local.close()]);
    },
  };
}

const PLACES_MAX = 20_000;

const isAway = ({ code }: Denial): boolean => code === 'ledger-unavailable';
const idOf = ({ book, tenant, id }: Pick<ReserveAsk, 'book' | 'tenant' | 'id'>): string =>
  JSON.stringify(['id', book, tenant, id]);
const keyOf = ({ book, tenant, key }: Pick<ReserveAsk, 'book' | 'tenant' | 'key'>): string =>
  JSON.stringify(['key', book, tenant, key]);

function shareOf(line: LedgerLine, percent: number): LedgerLine {
  if (line.limit === null) return line;
  // Whole numbers all the way: a limit times a hundred may be no safe one.
  const share = Math.floor(line.limit / 100) * percent + Math.floor(((line.limit % 100) * percent) / 100);
  return { ...line, limit: share };
}

function voidOf({ id, book, tenant, atMs }: ReserveAsk): ResolveAsk {
  return {
    id,
    book,
    tenant,
    operation: 'void',
    atMs,
    charge: { tokens: 0, 'nano-dollars': 0, requests: 0 },
    inputTokens: 0,
    outputTokens: 0,
    source: 'none',
    reason: 'no answer came from Redis, so it was opened here',
  };
}
