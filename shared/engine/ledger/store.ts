/**
 * The ledger's store as a port: memory, SQLite and Redis keep the same promises (test/node/ledger, one contract suite).
 * Every operation is all or nothing, and decided and written in one breath. Amounts arrive checked (`ledger.ts`).
 */
import type { Result } from '../../contract/denials.ts';
import type {
  Account,
  Audit,
  Book,
  ChargeSource,
  LedgerEntry,
  LedgerOperation,
  Reservation,
  ReservationDetail,
} from '../../contract/ledger.ts';
import type { BudgetUnit } from '../../contract/plans.ts';

/** One scope and period that a reservation is held on. */
export interface LedgerLine {
  readonly account: Account;
  /** `accountKey(account)`. */
  readonly key: string;
  readonly amount: number;
  /** The plan's; what was granted comes on top. null = none. */
  readonly limit: number | null;
  readonly alertsPercent: readonly number[];
  /** First millisecond of the period and first after it, on the wall clock; null for `run` and the rolling minute. */
  readonly startsAtMs: number | null;
  readonly endsAtMs: number | null;
  readonly timeZone: string;
}

export interface ReserveAsk {
  readonly id: string;
  /**
   * Idempotency: the same key with the same lines is the same reservation, once. Keys are the tenant's own, in each book. A key
   * whose newest reservation was voided is free again: nothing was sent under it.
   */
  readonly key: string;
  readonly book: Book;
  readonly tenant: string;
  /** Who opened it: `<home>/<start>`; found again after a crash. */
  readonly owner: string;
  readonly atMs: number;
  readonly expiresAtMs: number;
  readonly lines: readonly LedgerLine[];
  readonly detail: ReservationDetail;
  /** The clock was moved (simulated book): a store with a clock of its own takes `atMs` as it is. */
  readonly clockMoved: boolean;
}

/** An account as it stands. For the rolling minute spent and held are those of the last 60 seconds. */
export interface AccountState {
  readonly account: Account;
  readonly key: string;
  /** As last reserved with; null = none. */
  readonly limit: number | null;
  readonly granted: number;
  readonly spent: number;
  readonly held: number;
  readonly overrun: number;
  readonly endsAtMs: number | null;
  readonly timeZone: string;
  readonly alerts: readonly { readonly percent: number; readonly raised: boolean }[];
}

/** Why a line does not fit, in figures. */
export interface LineRefusal {
  readonly index: number;
  /** With what was granted. */
  readonly limit: number;
  readonly spent: number;
  readonly held: number;
  /** When the first of the holds on this account expires; null where there is none. */
  readonly earliestExpiryMs: number | null;
  /** Rolling minute: when enough of it will have passed; else null. */
  readonly freeAtMs: number | null;
}

export type ReserveAnswer =
  /** repeated: the key has a reservation with the same lines that was not voided; nothing was held again. */
  | {
      readonly outcome: 'reserved';
      readonly repeated: boolean;
      readonly reservation: Reservation;
      readonly accounts: readonly AccountState[];
    }
  | {
      readonly outcome: 'refused';
      readonly refusals: readonly LineRefusal[];
      readonly accounts: readonly AccountState[];
    }
  /** The store's clock says that a period is not the one of now: ask again with lines for this time. */
  | { readonly outcome: 'clock-moved'; readonly nowMs: number };

export interface ResolveAsk {
  readonly id: string;
  readonly book: Book;
  readonly tenant: string;
  readonly operation: Exclude<LedgerOperation, 'reserve' | 'grant' | 'alert'>;
  readonly atMs: number;
  /** Per unit; null = what was reserved (forfeit, expire). Zeros for void. */
  readonly charge: Readonly<Record<BudgetUnit, number>> | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly source: ChargeSource;
  readonly reason: string;
}

export interface ResolveAnswer {
  /** It was resolved before, by this call or by another; the reservation says how. Nothing was changed. */
  readonly repeated: boolean;
  readonly reservation: Reservation;
  readonly accounts: readonly AccountState[];
  /** Thresholds that this charge crossed for the first time in their period. */
  readonly crossed: readonly Crossing[];
}

export interface Crossing {
  readonly key: string;
  readonly account: Account;
  readonly percent: number;
  readonly spent: number;
  readonly limit: number;
}

export interface GrantAsk {
  readonly account: Account;
  readonly key: string;
  readonly amount: number;
  readonly limit: number | null;
  readonly alertsPercent: readonly number[];
  readonly startsAtMs: number | null;
  readonly endsAtMs: number | null;
  readonly timeZone: string;
  readonly atMs: number;
  readonly owner: string;
  readonly reason: string;
}

export interface EntryQuery {
  readonly book: Book;
  /** null = all tenants the store knows. */
  readonly tenant?: string | null;
  readonly user?: string | null;
  readonly operations?: readonly LedgerOperation[];
  readonly account?: string | null;
  /** Newest first, from below this number; null = from the newest. */
  readonly beforeSeq?: number | null;
  readonly limit: number;
}

export interface CurrentAsk {
  readonly book: Book;
  readonly atMs: number;
  readonly limit: number;
  /** Only those that have all these words (contract, `isAccountFound`). Default: all. */
  readonly words?: readonly string[];
}

export interface LedgerStore {
  readonly kind: 'memory' | 'sqlite' | 'redis';
  /** The wall clock this store decides by, in milliseconds since 1970. */
  nowMs(): number;
  reserve(ask: ReserveAsk): Promise<Result<ReserveAnswer>>;
  /** Denied `not-found` for an id that was never reserved. Resolved at most once, in the period of the reservation. */
  resolve(ask: ResolveAsk): Promise<Result<ResolveAnswer>>;
  grant(ask: GrantAsk): Promise<Result<AccountState>>;
  /** Resolves open holds whose time is over as `expired` (charged as reserved), oldest first, `max` at most. */
  expire(ask: {
    readonly book: Book;
    readonly atMs: number;
    readonly max: number;
  }): Promise<Result<readonly ResolveAnswer[]>>;
  /** Accounts by key; those that were never touched are left out. atMs: for the rolling minute. */
  accounts(ask: {
    readonly book: Book;
    readonly keys: readonly string[];
    readonly atMs: number;
  }): Promise<Result<readonly AccountState[]>>;
  /** Accounts whose period has not ended at `atMs`, most recently touched first. */
  current(ask: CurrentAsk): Promise<Result<readonly AccountState[]>>;
  /** Open ones, youngest first, and the last `closed` that were resolved. */
  reservations(ask: { readonly book: Book; readonly closed: number }): Promise<Result<readonly Reservation[]>>;
  entries(query: EntryQuery): Promise<Result<readonly LedgerEntry[]>>;
  /** Replays the journal and compares it with every balance and hold. */
  audit(atMs: number): Promise<Result<Audit>>;
  close(): Promise<void>;
}
