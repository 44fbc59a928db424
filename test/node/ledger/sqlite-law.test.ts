/** What only the ledger in SQLite has: the law in the schema, other connections, groups, and disks that fail. */
import BetterSqlite3 from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Result } from '../../../shared/contract/denials.ts';
import type { ReserveAsk } from '../../../shared/engine/ledger/store.ts';
import { openLedgerStore } from '../../../shared/node/storage/ledger-store.ts';
import { schemaVersion } from '../../../shared/node/storage/migrations.ts';
import { value } from '../storage/samples.ts';
import { START_MS, detailOf, goldenLines, grantOf, lineOf, reserveOf, settleOf, voidOf } from './asks.ts';
import { freshFile, freshLedger } from './sqlite.ts';
import { expectSound, refused, reserved, sums } from './store-contract.ts';

function rawConnection(file: string): Database {
  const database = new BetterSqlite3(file, { fileMustExist: true, timeout: 0 });
  onTestFinished(() => {
    database.close();
  });
  return database;
}

/** A ledger with one settled call, one open hold and a grant in it. */
async function filledFile(): Promise<{ file: string; open: ReserveAsk; done: ReserveAsk }> {
  const file = freshFile();
  const store = freshLedger(file);
  const done = reserveOf(goldenLines('ada'));
  const open = reserveOf(goldenLines('grace'));
  await reserved(store, done);
  await reserved(store, open);
  value(await store.resolve(settleOf(done, 1_969)));
  value(await store.grant(grantOf(500)));
  await expectSound(store);
  await store.close();
  return { file, open, done };
}

const voidOfEntry2 = `INSERT INTO ledger_journal (at_ms, operation, book, reservation_id, resolves, key, owner, tenant, lines,
  reason) SELECT at_ms, 'void', book, reservation_id, 2, key, owner, tenant, lines, reason FROM ledger_journal WHERE seq = 2;`;

const sameAsEntry2 = (id: string): string =>
  sameReservation(`'${id}', key`, 2).replace('WHERE seq = 1', 'WHERE seq = 2');

describe('the database holds the law too', () => {
  const breaches: [string, string, RegExp][] = [
    ['an entry changed', `UPDATE ledger_journal SET lines = '[]' WHERE seq = 1`, /never changed/],
    ['an entry deleted', 'DELETE FROM ledger_journal WHERE seq = 1', /never deleted/],
    [
      'a second resolution',
      `INSERT INTO ledger_journal (at_ms, operation, book, reservation_id, resolves, key, owner, tenant, lines, reason)
       SELECT at_ms, 'void', book, reservation_id, 1, key, owner, tenant, lines, reason FROM ledger_journal WHERE seq = 1`,
      /UNIQUE.*resolves/,
    ],
    [
      'a resolution of nothing',
      `INSERT INTO ledger_journal (at_ms, operation, book, reservation_id, resolves, key, owner, tenant, lines, reason)
       SELECT at_ms, 'void', book, reservation_id, 999, key, owner, tenant, lines, reason FROM ledger_journal WHERE seq = 1`,
      /FOREIGN KEY/,
    ],
    ['a key twice', sameReservation(`'another', key`), /UNIQUE.*key/],
    ['a key again after a charge', sameReservation(`'another', key`, 1), /only after a void/],
    ['a key again after another key', sameReservation(`'another', key`, 2), /only after a void/],
    ['a key again after nothing', sameReservation(`'another', key`, 999), /only after a void/],
    [
      'a grant that follows',
      `DROP TRIGGER ledger_key_follows_a_void; INSERT INTO ledger_journal (at_ms, operation, book, owner, tenant, lines,
       reason, follows) VALUES (1, 'grant', 'real', '', '', '[]', '', 2)`,
      /CHECK.*follows/,
    ],
    ['an id twice', sameReservation(`reservation_id, 'another'`), /UNIQUE.*reservation_id/],
    [
      'an unknown operation',
      `INSERT INTO ledger_journal (at_ms, operation, book, owner, tenant, lines, reason) VALUES (1, 'pay', 'real', '', '', '[]', '')`,
      /CHECK/,
    ],
    [
      'more than the limit',
      'UPDATE ledger_accounts SET held = limit_max + overrun - spent + 1 WHERE id = 1',
      /CHECK.*limit_max/,
    ],
    ['less than nothing', 'UPDATE ledger_accounts SET spent = -1', /CHECK.*spent/],
    ['a fraction', 'UPDATE ledger_accounts SET spent = 0.5', /cannot store REAL/],
    [
      'more than can be counted',
      'UPDATE ledger_accounts SET limit_max = NULL, spent = 1000000000000001',
      /CHECK.*spent/,
    ],
    ['an overrun without a charge', 'UPDATE ledger_accounts SET overrun = spent + 1', /CHECK.*overrun/],
    ['a hold of no entry', 'INSERT INTO ledger_holds VALUES (999, 1)', /FOREIGN KEY/],
    [
      'an account twice',
      'UPDATE ledger_accounts SET key = (SELECT key FROM ledger_accounts WHERE id = 1)',
      /UNIQUE.*key/,
    ],
  ];
  test('a key again after its void is the law too, once', async () => {
    const { file } = await filledFile();
    const database = rawConnection(file);
    database.exec(`${voidOfEntry2} ${sameAsEntry2('again')}`);
    expect(database.prepare('SELECT reservation_id, follows FROM ledger_journal WHERE seq = 6').get()).toEqual({
      reservation_id: 'again',
      follows: 2,
    });
    expect(() => database.exec(sameAsEntry2('once more'))).toThrow(/UNIQUE.*ledger_one_key/);
    // Of entry 1's key something was sent: the void of another one does not free it.
    expect(() => database.exec(sameReservation(`'another', key`, 2))).toThrow(/only after a void/);
  });

  test.each(breaches)('%s is refused', async (_name, sql, message) => {
    const { file } = await filledFile();
    expect(() => rawConnection(file).exec(sql)).toThrow(message);
    await expectSound(freshLedger(file));
  });
});

describe('the audit finds what was changed behind the ledger', () => {
  const tenantKey = lineOf({ scope: 'tenant', name: 'acme', window: 'month' }).key;
  const adaKey = lineOf({ name: 'ada' }).key;
  const changes: [string, string, (string | RegExp)[]][] = [
    [
      'a balance lowered',
      `UPDATE ledger_accounts SET spent = spent - 1 WHERE scope = 'tenant'`,
      [`${tenantKey}: spent is 1968, its entries sum to 1969`],
    ],
    ['a hold raised', `UPDATE ledger_accounts SET held = held + 5 WHERE scope = 'tenant'`, [/held is 2439.*2434/]],
    ['an overrun added', `UPDATE ledger_accounts SET overrun = 5 WHERE name = 'ada'`, [/overrun is 5.*sum to 0/]],
    ['a grant added', `UPDATE ledger_accounts SET granted = 600 WHERE name = 'ada'`, [/granted is 600.*sum to 500/]],
    ['an account gone', `DELETE FROM ledger_accounts WHERE name = 'ada'`, [`${adaKey}: entries, but no balance`]],
    ['an account without entries', `UPDATE ledger_accounts SET key = 'x' WHERE name = 'ada'`, [/^x: /, /^x: /, adaKey]],
    ['a hold gone', 'DELETE FROM ledger_holds', [/is open in the journal and not among the holds/]],
    ['a hold that was resolved', 'INSERT INTO ledger_holds VALUES (1, 1)', [/is held and not open in the journal/]],
    [
      'an entry changed',
      `DROP TRIGGER ledger_journal_is_not_changed;
       UPDATE ledger_journal SET lines = replace(lines, '1969', '1968') WHERE operation = 'settle'`,
      ['entry 3 is not what was written', /ada.*spent is 1969, its entries sum to 1968/, /acme:month.*1968/],
    ],
    [
      'a word of an entry changed',
      `DROP TRIGGER ledger_journal_is_not_changed; UPDATE ledger_journal SET user = 'bob' WHERE seq = 2`,
      [/^entry 2 is not what was written$/],
    ],
    ...['at_ms = at_ms + 1', "detail = replace(detail, 'ada', 'bob')", "reason = 'x'", 'expires_at_ms = 1'].map(
      (change): [string, string, (string | RegExp)[]] => [
        `${change} where it was something else`,
        `DROP TRIGGER ledger_journal_is_not_changed; UPDATE ledger_journal SET ${change} WHERE seq = 2`,
        [/^entry 2 is not what was written$/],
      ],
    ),
    [
      'noise where the lines stood',
      `DROP TRIGGER ledger_journal_is_not_changed; UPDATE ledger_journal SET lines = '[["a' WHERE operation = 'grant'`,
      ['entry 4 is not what was written', 'entry 4 cannot be read', /granted is 500.*sum to 0/],
    ],
    [
      'a key that was sent, given again',
      `DROP TRIGGER ledger_key_follows_a_void; ${sameReservation(`'again', key`, 1)}; INSERT INTO ledger_holds VALUES (5, 1);
       UPDATE ledger_accounts SET held = held + 2434`,
      [/^entry 5 has a key of which something was sent$/, /grace.*held is 4868/],
    ],
    [
      'an entry deleted',
      `DROP TRIGGER ledger_journal_is_not_deleted; DELETE FROM ledger_journal WHERE operation = 'grant'`,
      [`${adaKey}: granted is 500, its entries sum to 0`],
    ],
  ];

  test.each(changes)('%s', async (_name, sql, faults) => {
    const { file } = await filledFile();
    rawConnection(file).exec(sql);
    const audit = value(await freshLedger(file).audit(START_MS));
    expect(audit.sound).toBe(false);
    expect(audit.faults).toEqual(
      faults.map((fault) =>
        typeof fault === 'string' ? expect.stringContaining(fault) : expect.stringMatching(fault),
      ),
    );
  });
});

describe('another process on the same file', () => {
  test('20 users at once over two connections: exactly 3', async () => {
    const file = freshFile();
    const stores = [freshLedger(file), freshLedger(file)] as const;
    const asks = Array.from({ length: 20 }, (_, index) => reserveOf(goldenLines(`user-${index}`)));
    const answers = await Promise.all(asks.map((ask, index) => stores[index % 2 === 0 ? 0 : 1].reserve(ask)));
    expect(answers.filter((answer) => value(answer).outcome === 'reserved')).toHaveLength(3);
    await expectSound(stores[0]);
  });

  test('what it wrote counts at once: holds, keys, resolutions, grants', async () => {
    const file = freshFile();
    const [console, commandLine] = [freshLedger(file), freshLedger(file)];
    const ask = reserveOf([{ amount: 5_000 }], { key: 'one' });
    await reserved(console, ask);
    await refused(commandLine, reserveOf([{ amount: 1_001 }]));
    value(await commandLine.grant(grantOf(1)));
    await reserved(console, reserveOf([{ amount: 1_001 }]));
    expect((await reserved(commandLine, { ...ask, id: 'again' })).repeated).toBe(true);
    value(await commandLine.resolve(settleOf(ask, 7)));
    expect(value(await console.resolve(voidOf(ask)))).toMatchObject({
      repeated: true,
      reservation: { state: 'settled' },
    });
    expect(await sums(console, ask)).toEqual([[7, 1_001]]);
    await expectSound(console);
  });

  test('one that holds the file: all that was asked is denied, nothing is half done, and it works afterwards', async () => {
    const file = freshFile();
    const store = freshLedger(file);
    const other = rawConnection(file);
    other.exec('BEGIN IMMEDIATE');
    const asks = Array.from({ length: 3 }, () => reserveOf([{ amount: 1 }]));
    const answers = await Promise.all(asks.map((ask) => store.reserve(ask)));
    for (const answer of answers) expect(answer).toMatchObject({ denial: { code: 'busy', retryAfterMs: 1_000 } });
    // Reading goes on meanwhile.
    expect(value(await store.entries({ book: 'simulated', limit: 10 }))).toEqual([]);
    other.exec('COMMIT');
    for (const ask of asks) expect((await reserved(store, ask)).repeated).toBe(false);
    await expectSound(store);
  });
});

test('the rolling minute keeps the seconds it needs, and no more', async () => {
  const file = freshFile();
  const store = freshLedger(file);
  for (let second = 0; second < 200; second += 1) {
    const ask = reserveOf([{ window: 'minute', amount: 1, limit: null }], { atMs: START_MS + second * 1_000 });
    await reserved(store, ask);
    if (second > 0) value(await store.resolve(settleOf(ask, 1)));
  }
  // The last 61, and the first, which still holds something.
  const count = rawConnection(file).prepare('SELECT count(*) FROM ledger_buckets').pluck().get();
  expect(count).toBe(62);
});

describe('grouped commit', () => {
  test('what arrives in one turn is one transaction, and is answered when it is in the file', async () => {
    const file = freshFile();
    const flushes: (() => void)[] = [];
    const store = freshLedger(file, { schedule: (flush) => flushes.push(flush) });
    const other = rawConnection(file);
    const count = (): unknown => other.prepare('SELECT count(*) FROM ledger_journal').pluck().get();
    const version = (): unknown => other.pragma('data_version', { simple: true });
    const before = version();

    const asks = Array.from({ length: 100 }, () => reserveOf([{ amount: 1 }]));
    const seen: unknown[] = [];
    const answers = asks.map(async (ask) => {
      const answer = await store.reserve(ask);
      seen.push(count());
      return answer;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([flushes.length, count(), seen]).toEqual([1, 0, []]);
    expect(version()).toBe(before);
    flushes[0]?.();
    expect(count()).toBe(100);
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ value: { outcome: 'reserved' } });
    expect(new Set(seen)).toEqual(new Set([100]));
    expect(flushes).toHaveLength(1);
  });

  test('callbacks of one turn share a group, whatever awaits between them', async () => {
    const store = freshLedger();
    const order: string[] = [];
    const call = async (): Promise<void> => {
      order.push('asked');
      value(await store.reserve(reserveOf([{ amount: 1 }])));
      order.push('answered');
    };
    await Promise.all(
      [1, 2, 3].map(() => new Promise<void>((resolve, reject) => setImmediate(() => call().then(resolve, reject)))),
    );
    expect(order).toEqual(['asked', 'asked', 'asked', 'answered', 'answered', 'answered']);
  });

  test('operations of one group see each other in their order, reads too', async () => {
    const store = freshLedger();
    const ask = reserveOf([{ amount: 5 }]);
    const query = { book: 'simulated', keys: [ask.lines[0]?.key ?? ''], atMs: START_MS } as const;
    const [first, held, settled, after] = await Promise.all([
      store.reserve(ask),
      store.accounts(query),
      store.resolve(settleOf(ask, 3)),
      store.accounts(query),
    ]);
    expect([first.ok, settled.ok]).toEqual([true, true]);
    expect([value(held)[0], value(after)[0]]).toMatchObject([
      { spent: 0, held: 5 },
      { spent: 3, held: 0 },
    ]);
  });

  test('a bug in one operation costs that one: the others of its group are done, and nothing of it is left', async () => {
    const store = freshLedger();
    const asks = [1, 2, 3, 4, 5].map((amount) => reserveOf([{ amount }]));
    const broken = { ...detailOf(), callId: 7n } as unknown as ReserveAsk['detail'];
    const results = await Promise.allSettled(
      asks.map((ask, index) => store.reserve(index === 2 ? { ...ask, detail: broken } : ask)),
    );
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(await sums(store, asks[0] ?? reserveOf())).toEqual([[0, 12]]);
    expect(value(await store.entries({ book: 'simulated', limit: 10 }))).toHaveLength(4);
    await expectSound(store);
  });

  test('a law of the schema that is broken is a bug: thrown, and undone', async () => {
    const file = freshFile();
    const store = freshLedger(file);
    const ask = reserveOf([{ amount: 5 }]);
    await reserved(store, ask);
    rawConnection(file).exec(`CREATE TRIGGER refuses BEFORE UPDATE ON ledger_accounts WHEN new.spent = 13
      BEGIN SELECT RAISE (ABORT, 'no thirteen'); END`);
    await expect(store.resolve(settleOf(ask, 13))).rejects.toThrow('no thirteen');
    expect(await sums(store, ask)).toEqual([[0, 5]]);
    expect(value(await store.resolve(settleOf(ask, 12))).repeated).toBe(false);
    await expectSound(store);
  });

  test('more than fits into one group is done in several', async () => {
    const store = freshLedger();
    const asks = Array.from({ length: 2_300 }, () => reserveOf([{ amount: 1, limit: 2_200 }]));
    const answers = await Promise.all(asks.map((ask) => store.reserve(ask)));
    expect(answers.filter((answer) => value(answer).outcome === 'reserved')).toHaveLength(2_200);
  });

  test('closing commits what waits; what comes later is denied', async () => {
    const file = freshFile();
    const store = freshLedger(file);
    const answer = store.reserve(reserveOf([{ amount: 1 }]));
    await store.close();
    expect((await answer).ok).toBe(true);
    expect(await store.reserve(reserveOf([{ amount: 1 }]))).toMatchObject({ denial: { code: 'storage-failed' } });
    await store.close();
    expect(value(await freshLedger(file).entries({ book: 'simulated', limit: 10 }))).toHaveLength(1);
  });

  test('a change of how it waits for the disk commits what was asked before', async () => {
    const store = freshLedger(freshFile(), { schedule: () => undefined });
    const answer = store.reserve(reserveOf([{ amount: 1 }]));
    store.setSynchronous('normal');
    expect((await answer).ok).toBe(true);
  });
});

test('a full disk denies the whole group, keeps what was there, and takes the same asks later', async () => {
  const file = freshFile();
  const full = freshLedger(file, { fileBytesMax: 400_000 });
  const kept: ReserveAsk[] = [];
  const refusedOnes: Result<unknown>[] = [];
  for (let group = 0; refusedOnes.length === 0 && group < 1_000; group += 1) {
    const asks = Array.from({ length: 50 }, () => reserveOf([{ amount: 1, limit: null }]));
    const answers = await Promise.all(asks.map((ask) => full.reserve(ask)));
    if (answers.every((answer) => answer.ok)) kept.push(...asks);
    else refusedOnes.push(...answers);
  }
  expect(refusedOnes).toHaveLength(50);
  for (const answer of refusedOnes) expect(answer).toMatchObject({ ok: false, denial: { code: 'storage-full' } });
  expect(await sums(full, kept[0] ?? reserveOf())).toEqual([[0, kept.length]]);
  await expectSound(full);
  await full.close();
  const store = freshLedger(file);
  expect(value(await store.reservations({ book: 'simulated', closed: 0 }))).toHaveLength(kept.length);
  await reserved(store, reserveOf([{ amount: 1, limit: null }]));
  await expectSound(store);
});

describe('opening', () => {
  const open = (file: string): ReturnType<typeof openLedgerStore> =>
    openLedgerStore({ file, nowMs: () => START_MS, synchronous: 'full' });

  test('a file of another version is refused by name', () => {
    const file = freshFile();
    const raw = rawConnection(file);
    raw.pragma(`user_version = ${schemaVersion - 1}`);
    expect(open(file)).toMatchObject({
      ok: false,
      denial: { code: 'storage-failed', message: expect.stringContaining(file) },
    });
    raw.pragma(`user_version = ${schemaVersion + 1}`);
    expect(open(file)).toMatchObject({ ok: false, denial: { code: 'storage-newer' } });
  });

  test('a file that is not there is not made', () => {
    const file = `${freshFile()}-none`;
    expect(open(file)).toMatchObject({ ok: false, denial: { code: 'storage-failed' } });
  });
});

/** The reservation of entry 1 once more, under another id or key. */
function sameReservation(idAndKey: string, follows: number | null = null): string {
  return `INSERT INTO ledger_journal (at_ms, operation, book, reservation_id, key, owner, tenant, lines, reason,
    expires_at_ms, detail, follows) SELECT at_ms, operation, book, ${idAndKey}, owner, tenant, lines, reason, expires_at_ms,
    detail, ${follows ?? 'NULL'} FROM ledger_journal WHERE seq = 1`;
}
