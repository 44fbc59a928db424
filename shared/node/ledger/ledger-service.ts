/**
 * The ledger as a host's process runs it: its store, the clock of the simulated book, what is done at a start, and the care it
 * needs about once a second. Decides nothing about budgets.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PriceSet, PriceSetName } from '../../contract/costs.ts';
import type { EngineEvent } from '../../contract/events.ts';
import type { Book, LedgerState, Reservation } from '../../contract/ledger.ts';
import type { Directory } from '../../contract/plans.ts';
import { isoOf, msOfIso } from '../../engine/ledger/calendar.ts';
import { type Ledger, createLedger } from '../../engine/ledger/ledger.ts';
import type { LedgerStore } from '../../engine/ledger/store.ts';
import type { StoreNotice } from '../storage/store-types.ts';

/** What a store with a server behind it says of itself; stores without one are always ready. */
export interface StoreState {
  readonly state: LedgerState['state'];
  readonly problem: string | null;
  readonly next: string | null;
}

export interface LedgerService {
  readonly ledger: Ledger;
  /** Of the server in use. */
  book(): Book;
  state(book: Book): LedgerState;
  /** Moves the clock of the simulated book, within the years 1971 to 9989; null = back to the real time. */
  moveClock(to: { readonly to: string } | { readonly byMs: number } | null): LedgerState;
  /** Tells every screen that balances or the state changed by other means than a call. */
  changed(): void;
  /** Resolves what an earlier start left open; answers what the person should know. */
  recover(): Promise<StoreNotice[]>;
  stop(): Promise<void>;
}

export interface LedgerServiceOptions {
  readonly store: LedgerStore;
  readonly storeState?: () => StoreState;
  readonly home: { readonly folder: string };
  directory(): Directory;
  prices(name: PriceSetName): PriceSet | null;
  isSimulated(): boolean;
  readonly emit: (event: EngineEvent) => void;
}

const TEND_EVERY_MS = 1_000;
/** About a tenth of a second of replaying. */
const START_AUDIT_ENTRIES_MAX = 30_000;
/** How far the simulated clock goes: periods that begin before it and end after it still have dates of four digits. */
const FIRST_MS = Date.UTC(1971, 0, 1);
const LAST_MS = Date.UTC(9990, 0, 1);

export function createLedgerService(options: LedgerServiceOptions): LedgerService {
  const { store, emit } = options;
  const consoleId = consoleIdOf(options.home);
  const owner = `${consoleId}/${randomBytes(6).toString('hex')}`;
  let offsetMs = 0;
  const ledger = createLedger({
    store,
    directory: options.directory,
    prices: options.prices,
    newId: () => `hold_${Date.now().toString(36)}${randomBytes(8).toString('hex')}`,
    owner,
    clockOffsetMs: () => offsetMs,
    events: { emit },
  });
  const book = (): Book => (options.isSimulated() ? 'simulated' : 'real');
  const ready: StoreState = { state: 'ready', problem: null, next: null };

  function state(of: Book): LedgerState {
    return {
      store: store.kind,
      ...(options.storeState?.() ?? ready),
      book: of,
      now: isoOf(Math.floor(ledger.nowMs(of))),
      clockOffsetMs: of === 'simulated' ? offsetMs : 0,
    };
  }

  /** Conservation is looked at once at every start; a long journal only where something was left open. */
  async function unsound(wasCutOff: boolean): Promise<StoreNotice[]> {
    const newest = await store.entries({ book: 'real', limit: 1 });
    const isLong = newest.ok && (newest.value[0]?.seq ?? 0) > START_AUDIT_ENTRIES_MAX;
    if (store.kind === 'redis' || (isLong && !wasCutOff)) return [];
    const audit = await ledger.audit();
    if (!audit.ok || audit.value.sound) return [];
    const [fault = ''] = audit.value.faults;
    return [
      {
        level: 'error',
        text: `The ledger does not add up: ${fault}${audit.value.faults.length > 1 ? `, and ${audit.value.faults.length - 1} more` : ''}.`,
        next: 'Press Audit on the Ledger page for the whole list; export the journal before you go on.',
      },
    ];
  }

  // One round at a time: a store that is slow to answer is not asked again meanwhile.
  let tending: Promise<void> | null = null;
  const timer = setInterval(() => {
    tending ??= ledger.tend().finally(() => (tending = null));
  }, TEND_EVERY_MS);
  timer.unref();

  const service: LedgerService = {
    ledger,
    book,
    state,
    moveClock(to) {
      const realMs = store.nowMs();
      if (to === null) offsetMs = 0;
      else if ('byMs' in to) offsetMs += to.byMs;
      else offsetMs = msOfIso(to.to) - realMs;
      offsetMs = Math.round(Math.max(FIRST_MS - realMs, Math.min(LAST_MS - realMs, offsetMs)));
      service.changed();
      return state('simulated');
    },
    changed: () => emit({ type: 'ledger-changed', state: state(book()) }),
    async recover() {
      // A database belongs to one console at a time, so whatever another start left open in it is over.
      const isOwn = (other: string): boolean =>
        other !== owner && (store.kind !== 'redis' || other.startsWith(`${consoleId}/`));
      const forfeited = await ledger.recover(isOwn);
      if (!forfeited.ok) {
        return [{ level: 'warning', text: forfeited.denial.message, next: forfeited.denial.next ?? null }];
      }
      const notices = forfeited.value.length === 0 ? [] : [noticeOf(forfeited.value)];
      return [...notices, ...(await unsound(forfeited.value.length > 0))];
    },
    async stop() {
      clearInterval(timer);
      await tending;
      await ledger.tend();
      await store.close();
    },
  };
  return service;
}

function noticeOf(forfeited: readonly Reservation[]): StoreNotice {
  const tokens = forfeited.reduce((sum, one) => sum + one.detail.inputTokens + one.detail.outputTokens, 0);
  const users = [...new Set(forfeited.map((one) => one.detail.user))];
  const who = users.length > 3 ? `${users.slice(0, 3).join(', ')} and ${users.length - 3} more` : users.join(', ');
  const calls = forfeited.length === 1 ? 'One call was' : `${forfeited.length} calls were`;
  return {
    level: 'warning',
    text: `${calls} open when Spillway ended (${who}). ${tokens.toLocaleString('en-US')} reserved tokens stay charged, since the work may have been done.`,
    next: 'The Ledger page lists them as forfeited.',
  };
}

/** Names this console in a store that several share; made once for each data folder. */
function consoleIdOf({ folder }: { readonly folder: string }): string {
  const file = join(folder, 'console-id');
  try {
    const known = readFileSync(file, 'utf8').trim();
    if (/^[0-9a-f]{12}$/.test(known)) return known;
  } catch {
    // The first start on this folder.
  }
  const made = randomBytes(6).toString('hex');
  try {
    writeFileSync(file, `${made}\n`, { mode: 0o600 });
  } catch {
    // A full disk: this start has an id all the same, and its holds expire by themselves.
  }
  return made;
}
