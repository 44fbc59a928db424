/**
 * The audit over Redis. Balances and holds are read in one moment, the journal up to its last entry then. Redis forgets by rule:
 * accounts some time after their period, and the oldest entries of a long journal. What was forgotten is left out of the replay,
 * and said; what is missing against the rules is a fault.
 */
import { type Result, ok } from '../../contract/denials.ts';
import { type Audit, type LedgerEntry, books, keyPart } from '../../contract/ledger.ts';
import { type AuditedBalance, auditJournal } from '../../engine/ledger/audit.ts';
import { isoOf } from '../../engine/ledger/calendar.ts';
import { brokenRuleOf } from '../../engine/ledger/decide.ts';
import { must } from '../../engine/must.ts';
import { type EntryRead, type Whose, listOf, numberOf, readEntry, textOf } from './codec.ts';
import type { Connection } from './connection.ts';
import { tenantKeys } from './keys.ts';
import { PAGE, isRolling } from './reads.ts';
import { GRACE_MS, IDLE_MS, JOURNAL_MAX } from './script.ts';
import type { Tenants } from './tenants.ts';

const ACCOUNTS_MAX = 20_000;
const HOLDS_MAX = 20_000;
const TEXTS_MAX = 100;

export async function auditRedis(connection: Connection, tenants: Tenants, atMs: number): Promise<Result<Audit>> {
  const sum = { entries: 0, accounts: 0, openHolds: 0 };
  const faults: string[] = [];
  const notes: string[] = [];
  for (const book of books) {
    const known = await tenants.of(book);
    if (!known.ok) return known;
    for (const tenant of known.value) {
      const one = await auditTenant(connection, { book, tenant }, atMs);
      if (!one.ok) return one;
      sum.entries += one.value.entries;
      sum.accounts += one.value.accounts;
      sum.openHolds += one.value.openHolds;
      faults.push(...one.value.faults);
      notes.push(...(one.value.notes ?? []));
    }
  }
  return ok({
    at: isoOf(atMs),
    sound: faults.length === 0,
    ...sum,
    faults: faults.slice(0, TEXTS_MAX),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, TEXTS_MAX) }),
  });
}

interface Snapshot {
  readonly nowMs: number;
  readonly lastSeq: number;
  /** Entries ever written. */
  readonly written: number;
  readonly complete: boolean;
  readonly accounts: ReadonlyMap<string, AuditedBalance & { readonly firstSeq: number }>;
  readonly holds: readonly HeldRead[];
}

interface HeldRead {
  readonly id: string;
  readonly seq: number;
  readonly state: string;
  readonly lines: readonly { readonly account: string; readonly amount: number }[];
}

async function auditTenant(connection: Connection, whose: Whose, atMs: number): Promise<Result<Audit>> {
  const snapshot = await readSnapshot(connection, whose);
  if (!snapshot.ok) return snapshot;
  const journal = await readJournal(connection, whose, snapshot.value.lastSeq);
  return journal.ok ? ok(judge(whose, snapshot.value, journal.value, atMs)) : journal;
}

function judge(whose: Whose, snapshot: Snapshot, journal: readonly EntryRead[], atMs: number): Audit {
  const { accounts, holds, written, complete, nowMs } = snapshot;
  const firstSeq = journal[0]?.entry.seq ?? Number.POSITIVE_INFINITY;
  const dropped = written - journal.length;
  const faults: string[] = [];
  const notes: string[] = [];
  if (dropped > 0 && journal.length < JOURNAL_MAX) {
    faults.push(`${whose.tenant}: ${dropped} of ${written} entries are missing`);
  } else if (dropped > 0) {
    notes.push(
      `${whose.tenant}: ${dropped} entries before ${firstSeq} were dropped; accounts older than that are checked against their open holds only`,
    );
  }
  if (!complete) notes.push(`${whose.tenant}: only the ${ACCOUNTS_MAX} accounts touched last were checked`);

  const ended = endedAccounts(journal, nowMs);
  const counts = (account: string, reservedSeq: number): boolean => {
    const balance = accounts.get(account);
    // Missing before its time, so that it becomes a fault; unless not all were read, or its beginning was dropped.
    if (balance === undefined) return complete && dropped === 0 && !ended.has(account);
    return balance.firstSeq >= firstSeq && reservedSeq >= balance.firstSeq;
  };
  const audited = auditJournal({
    at: isoOf(atMs),
    entries: replayable(journal, firstSeq, counts),
    balances: [...accounts.values()].filter((balance) => balance.firstSeq >= firstSeq),
    open: holds.filter(({ seq }) => seq >= firstSeq).map(({ id }) => id),
  });
  for (const balance of accounts.values()) {
    if (balance.firstSeq >= firstSeq) continue;
    const broken = brokenRuleOf(balance.rolling ? { ...balance, limitMax: null } : balance);
    if (broken !== null) faults.push(broken);
  }
  if (complete) faults.push(...heldFaults(accounts, holds));
  faults.push(...audited.faults);
  return {
    at: audited.at,
    sound: faults.length === 0,
    entries: journal.length,
    accounts: accounts.size,
    openHolds: holds.length,
    faults,
    notes,
  };
}

function* replayable(
  journal: readonly EntryRead[],
  firstSeq: number,
  counts: (account: string, reservedSeq: number) => boolean,
): Iterable<LedgerEntry> {
  for (const { entry, reservedSeq } of journal) {
    if (reservedSeq < firstSeq) continue;
    yield { ...entry, lines: entry.lines.filter((line) => counts(line.account, reservedSeq)) };
  }
}

/** Accounts that Redis may have forgotten by now, as far as the journal tells. Numbers of entries are microseconds of its clock. */
function endedAccounts(journal: readonly EntryRead[], nowMs: number): ReadonlySet<string> {
  const livesUntilMs = new Map<string, number>();
  for (const { entry, ask } of journal) {
    const writtenMs = Math.floor(entry.seq / 1_000);
    for (const { account } of entry.lines) {
      const endsAtMs = ask?.lines.find((line) => line.key === account)?.endsAtMs ?? null;
      if (endsAtMs === null || ask === null) livesUntilMs.set(account, writtenMs + IDLE_MS);
      else if (!livesUntilMs.has(account)) {
        const leftMs = Math.max(0, Math.max(endsAtMs, ask.expiresAtMs) - ask.atMs);
        livesUntilMs.set(account, writtenMs + leftMs + GRACE_MS);
      }
    }
  }
  return new Set([...livesUntilMs].filter(([, untilMs]) => untilMs <= nowMs).map(([account]) => account));
}

/** What is held on an account is the sum of its open holds, whatever the journal still knows. */
function heldFaults(accounts: Snapshot['accounts'], holds: readonly HeldRead[]): string[] {
  const sums = new Map<string, number>();
  const faults: string[] = [];
  for (const { id, seq, state, lines } of holds) {
    if (state !== '') faults.push(`${id} is among the open holds and is ${state === '?' ? 'missing' : 'resolved'}`);
    for (const { account, amount } of lines) {
      if (seq >= (accounts.get(account)?.firstSeq ?? Number.POSITIVE_INFINITY)) {
        sums.set(account, (sums.get(account) ?? 0) + amount);
      }
    }
  }
  for (const { key, held } of accounts.values()) {
    const sum = sums.get(key) ?? 0;
    if (sum !== held) faults.push(`${key}: held is ${held}, its open holds sum to ${sum}`);
  }
  return faults;
}

async function readSnapshot(connection: Connection, whose: Whose): Promise<Result<Snapshot>> {
  const keys = tenantKeys(whose.book, whose.tenant);
  const answer = await connection.run({
    tenant: keys,
    keys: [],
    args: ['snapshot', '0', String(ACCOUNTS_MAX), String(HOLDS_MAX)],
    alone: true,
  });
  if (!answer.ok) return answer;
  const [, now, lastSeq, written, accountCount, holdCount, accounts, holds] = answer.value;
  const keyOf = (rest: string): string => `${keyPart(whose.book)}:${keyPart(whose.tenant)}:${rest}`;
  return ok({
    nowMs: numberOf(now),
    lastSeq: numberOf(lastSeq),
    written: numberOf(written),
    complete: numberOf(accountCount) <= ACCOUNTS_MAX && numberOf(holdCount) <= HOLDS_MAX,
    accounts: new Map(
      listOf(accounts).map((one) => {
        const [rest = '', spent, held, overrun, granted, largest, first] = listOf(one).map(textOf);
        const balance = {
          key: keyOf(rest),
          spent: numberOf(spent),
          held: numberOf(held),
          overrun: numberOf(overrun),
          granted: numberOf(granted),
          limitMax: largest === '' ? null : numberOf(largest),
          rolling: isRolling(rest),
          firstSeq: numberOf(first),
        };
        return [balance.key, balance];
      }),
    ),
    holds: listOf(holds).map((one): HeldRead => {
      const [part = '', state = '', seq, lines = ''] = listOf(one).map(textOf);
      return {
        id: unpart(part),
        state,
        seq: numberOf(seq),
        lines: lines
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => {
            const [rest = '', , amount] = line.split(' ');
            return { account: keyOf(rest), amount: numberOf(amount) };
          }),
      };
    }),
  });
}

async function readJournal(
  connection: Connection,
  whose: Whose,
  lastSeq: number,
): Promise<Result<readonly EntryRead[]>> {
  const { journal } = tenantKeys(whose.book, whose.tenant);
  const all: EntryRead[] = [];
  for (let from = '-'; ;) {
    const page = await connection.command('XRANGE', journal, from, `${lastSeq}-0`, 'COUNT', String(PAGE));
    if (!page.ok) return page;
    const entries = listOf(page.value).map((one) => readEntry(one as never, whose));
    all.push(...entries);
    if (entries.length < PAGE) return ok(all);
    must(all.length <= 4 * JOURNAL_MAX, 'a journal has a bound');
    from = `(${entries.at(-1)?.entry.seq ?? 0}-0`;
  }
}

const unpart = (part: string): string =>
  part.replace(/%([0-9a-f]{2})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
