/** The ledger in SQLite and the end of its process: kill -9 under load, again and again on one database. */
import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../shared/contract/ledger.ts';
import { createRandom } from '../../shared/engine/context-lab/random.ts';
import type { LedgerStore } from '../../shared/engine/ledger/store.ts';
import { START_MS, forfeitOf, lineOf } from '../node/ledger/asks.ts';
import { freshFile, freshLedger } from '../node/ledger/sqlite.ts';
import { value } from '../node/storage/samples.ts';
import { startChild } from './child.ts';
import type { Child } from './child.ts';
import { LANES, loadAsk, loadCharge, loadEnd } from './ledger-load.ts';

const KILLS = 50;
const SEED = 20_261_130;
const ACKNOWLEDGED_MAX = 120;

test(`kill -9 at ${KILLS} random points under load: nothing told is lost, nothing is charged twice, every hold is explained`, async () => {
  const file = freshFile();
  const random = createRandom(SEED);
  const charged = { tenant: 0, users: new Map<string, number>() };
  const seen = { told: 0, untold: 0, openHolds: 0 };
  // The next one starts up while the last one is looked at.
  const start = (round: number): Child => startChild('ledger-load', file, ownerOf(round));
  let next = start(0);
  for (let round = 0; round < KILLS; round += 1) {
    const child = next;
    child.say('go');
    if (round + 1 < KILLS) next = start(round + 1);
    const told = await toldUntilKilled(child, random.below(ACKNOWLEDGED_MAX + 1));
    await checkRound(file, round, told, charged, seen).catch((error: unknown) => {
      throw new Error(`round ${round}, seed ${SEED}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    });
  }
  expect(seen.told).toBeGreaterThan(KILLS);
  // Otherwise the kills came when nothing was under way, and the test has shown nothing.
  expect(seen.openHolds).toBeGreaterThan(KILLS);
});

test('two processes on one file: both get through, and the journal is whole', async () => {
  const file = freshFile();
  const children = [0, 1].map((index) => startChild('ledger-load', file, ownerOf(index)));
  for (const child of children) child.say('go');
  const told = await Promise.all(children.map((child) => toldUntilKilled(child, 1_500)));
  const store = freshLedger(file);
  await expectSoundJournal(store);
  const ids = new Set<string | null>();
  for (let beforeSeq: number | null = null; ;) {
    const page: readonly LedgerEntry[] = value(
      await store.entries({ book: 'simulated', operations: ['reserve'], beforeSeq, limit: 1_000 }),
    );
    for (const entry of page) ids.add(entry.reservationId);
    const last = page.at(-1);
    if (last === undefined) break;
    beforeSeq = last.seq;
  }
  for (const [index, lines] of told.entries()) {
    const reserved = lines.filter((line) => line.startsWith('r')).map((line) => `${ownerOf(index)}/${line.slice(2)}`);
    expect(reserved.filter((id) => !ids.has(id))).toEqual([]);
  }
});

const ownerOf = (round: number): string => `home-1/start-${round}`;

async function toldUntilKilled(child: Child, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count) {
    const line = await child.line();
    if (line === null) throw new Error('the child ended by itself');
    lines.push(line);
  }
  return [...lines, ...(await child.kill())];
}

interface Charged {
  tenant: number;
  readonly users: Map<string, number>;
}

async function checkRound(
  file: string,
  round: number,
  told: readonly string[],
  charged: Charged,
  seen: { told: number; untold: number; openHolds: number },
): Promise<void> {
  const owner = ownerOf(round);
  const store = freshLedger(file);
  await expectSoundJournal(store);
  const calls = await callsOf(store, owner);
  const open = new Set(value(await store.reservations({ book: 'simulated', closed: 0 })).map((hold) => hold.id));

  // Whole or absent: a call has one reservation with all of its lines, and one end or its hold.
  for (const [index, call] of calls) {
    expect(call.reserve.lines).toHaveLength(3);
    expect(call.ends).toHaveLength(open.has(`${owner}/${index}`) ? 0 : 1);
    if (call.ends[0] === undefined) continue;
    const amount = loadCharge(index, false);
    expect(call.ends[0].lines.map((line) => line.amount).slice(0, 2)).toEqual([amount, amount]);
  }
  // Every hold that is open is this child's, and one that its journal says was not ended.
  const unended = [...calls].filter(([, call]) => call.ends.length === 0).map(([index]) => `${owner}/${index}`);
  expect([...open].sort()).toEqual(unended.sort());

  // What was told is there; of what was not told, a lane has one operation at most.
  const toldOf = (mark: string): number[] =>
    told.filter((line) => line.startsWith(mark)).map((line) => Number(line.slice(2)));
  const reserved = toldOf('r');
  const ended = toldOf('e');
  expect(reserved.filter((index) => !calls.has(index))).toEqual([]);
  expect(ended.filter((index) => calls.get(index)?.ends.length !== 1)).toEqual([]);
  expect(calls.size - reserved.length).toBeLessThanOrEqual(LANES);
  expect(calls.size - unended.length - ended.length).toBeLessThanOrEqual(LANES);

  const forfeited = await recover(store, owner, calls, unended);
  for (const index of calls.keys()) {
    const user = `user-${index % 5}`;
    const charge = loadCharge(index, forfeited.has(index));
    charged.tenant += charge;
    charged.users.set(user, (charged.users.get(user) ?? 0) + charge);
  }
  await expectCharged(store, charged);
  await expectSoundJournal(store);
  await store.close();
  seen.told += told.length;
  seen.untold += calls.size - reserved.length;
  seen.openHolds += unended.length;
}

interface Call {
  readonly reserve: LedgerEntry;
  readonly ends: LedgerEntry[];
}

/** All calls of that child by their number. */
async function callsOf(store: LedgerStore, owner: string): Promise<Map<number, Call>> {
  const entries: LedgerEntry[] = [];
  for (let beforeSeq: number | null = null; ;) {
    const page: readonly LedgerEntry[] = value(await store.entries({ book: 'simulated', beforeSeq, limit: 500 }));
    entries.push(...page.filter((entry) => entry.owner === owner));
    const last = page.at(-1);
    if (last === undefined || last.owner !== owner) break;
    beforeSeq = last.seq;
  }
  const calls = new Map<number, Call>();
  for (const entry of entries.reverse()) {
    const index = Number(entry.reservationId?.slice(owner.length + 1));
    if (entry.operation !== 'reserve') calls.get(index)?.ends.push(entry);
    else if (calls.has(index)) throw new Error(`${index} was reserved twice`);
    else calls.set(index, { reserve: entry, ends: [] });
  }
  return calls;
}

/** As a restart does: the calls that were under way are asked for again and change nothing, then open holds are forfeited. */
async function recover(
  store: LedgerStore,
  owner: string,
  calls: ReadonlyMap<number, Call>,
  unended: readonly string[],
): Promise<Set<number>> {
  const newest = async (): Promise<unknown> => value(await store.entries({ book: 'simulated', limit: 1 }));
  const before = await newest();
  const last = [...calls.keys()].slice(-LANES);
  const again = async (index: number): Promise<void> => {
    const ask = { id: `${owner}/${index}`, book: 'simulated', tenant: 'acme' } as const;
    const answer = await store.reserve(loadAsk(owner, index));
    if (calls.get(index)?.ends[0]?.operation === 'void') {
      // Its key is free again, and its id is not: nothing is held under it a second time.
      expect(answer).toMatchObject({ ok: false, denial: { code: 'key-used', field: 'id' } });
      return;
    }
    expect(value(answer)).toMatchObject({ outcome: 'reserved', repeated: true });
    if (calls.get(index)?.ends.length === 0) return;
    expect(value(await store.resolve(loadEnd(ask, index))).repeated).toBe(true);
  };
  await Promise.all(last.map(again));
  expect(await newest()).toEqual(before);
  const ends = unended.map((id) =>
    store.resolve(forfeitOf({ id, book: 'simulated', tenant: 'acme' }, { reason: 'its process ended' })),
  );
  for (const end of await Promise.all(ends)) expect(value(end).repeated).toBe(false);
  return new Set(unended.map((id) => Number(id.slice(owner.length + 1))));
}

/** The balances, summed up by hand from what each call is worth. */
async function expectCharged(store: LedgerStore, charged: Charged): Promise<void> {
  const tenant = lineOf({ scope: 'tenant', name: 'acme', window: 'month' }).key;
  const wanted = new Map([
    [tenant, charged.tenant],
    ...[...charged.users].map(([name, sum]) => [lineOf({ name }).key, sum] as const),
  ]);
  const states = value(await store.accounts({ book: 'simulated', keys: [...wanted.keys()], atMs: START_MS }));
  expect(new Map(states.map(({ key, spent }) => [key, spent]))).toEqual(charged.users.size === 0 ? new Map() : wanted);
  expect(states.filter(({ held }) => held !== 0)).toEqual([]);
}

async function expectSoundJournal(store: LedgerStore): Promise<void> {
  expect(value(await store.audit(START_MS))).toMatchObject({ sound: true, faults: [] });
}
