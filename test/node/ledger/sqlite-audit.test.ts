/** The audit over SQLite: it lets others in, judges one moment, and reads journals that are older than their checksums. */
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ReserveAsk } from '../../../shared/engine/ledger/store.ts';
import { migrations } from '../../../shared/node/storage/migrations.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import { clock, freshHome, value } from '../storage/samples.ts';
import { START_MS, forfeitOf, grantOf, lineOf, reserveOf, settleOf, voidOf } from './asks.ts';
import { freshFile, freshLedger } from './sqlite.ts';
import { expectSound, reserved } from './store-contract.ts';

/** As the page of the audit; it is not told what that is, only that a journal of many pages takes many turns. */
const PAGES = 6;
const PAIRS = 250 * PAGES;

async function longLedger(): Promise<{ file: string; store: ReturnType<typeof freshLedger> }> {
  const file = freshFile();
  const store = freshLedger(file, { synchronous: 'normal' });
  const asks = Array.from({ length: PAIRS }, (_, index) => reserveOf([{ name: `user-${index}`, limit: null }]));
  await Promise.all(asks.map((ask) => store.reserve(ask)));
  await Promise.all(asks.map((ask, index) => (index % 2 === 0 ? store.resolve(settleOf(ask, 5)) : null)));
  return { file, store };
}

/** Turns of the event loop that others had until it was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const over = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  await over;
  return turns;
}

describe('a long journal', () => {
  test('is audited in many turns, and others are let in between', async () => {
    const { store } = await longLedger();
    const audit = store.audit(START_MS);
    // Entries, balances and holds, each read and compared page by page.
    expect(await turnsDuring(audit)).toBeGreaterThan(2 * PAGES);
    expect(value(await audit)).toMatchObject({
      sound: true,
      entries: 1.5 * PAIRS,
      accounts: PAIRS,
      openHolds: PAIRS / 2,
    });
  });

  test('is judged as it was at one moment, whatever is written meanwhile, here and by another process', async () => {
    const { file, store } = await longLedger();
    const other = freshLedger(file, { synchronous: 'normal' });
    let isDone = false;
    let written = 0;
    const audit = store.audit(START_MS).finally(() => {
      isDone = true;
    });
    const writer = async (to: typeof store): Promise<void> => {
      while (!isDone) {
        const ask = reserveOf([{ name: `user-${written % PAIRS}`, limit: null }]);
        written += 1;
        await reserved(to, ask);
        value(await to.resolve(written % 2 === 0 ? settleOf(ask, 3) : voidOf(ask)));
      }
    };
    await Promise.all([writer(store), writer(other)]);
    expect(written).toBeGreaterThan(PAGES);
    expect(value(await audit)).toMatchObject({ sound: true, faults: [], accounts: PAIRS });
    await expectSound(store);
  });

  test('what was asked before it is in it', async () => {
    const { store } = await longLedger();
    const before = value(await store.audit(START_MS)).entries;
    const [, audit] = await Promise.all([store.reserve(reserveOf([{ limit: null }])), store.audit(START_MS)]);
    expect(value(audit).entries).toBe(before + 1);
  });

  test('two at once are both answered', async () => {
    const { store } = await longLedger();
    const [first, second] = await Promise.all([store.audit(START_MS), store.audit(START_MS)]);
    expect(value(second)).toEqual(value(first));
  });

  test('a ledger that is closed meanwhile ends it, and leaves nobody with the file open', async () => {
    const { file, store } = await longLedger();
    const audit = store.audit(START_MS);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    // Nobody else has it open, or this mode could not be taken.
    const alone = new BetterSqlite3(file, { timeout: 0 });
    onTestFinished(() => void alone.close());
    expect(alone.pragma('journal_mode = DELETE', { simple: true })).toBe('delete');
    expect(await audit).toMatchObject({ ok: false, denial: { code: 'storage-failed' } });
    expect(await store.audit(START_MS)).toMatchObject({ ok: false, denial: { code: 'storage-failed' } });
  });

  test('without a write-ahead log it keeps nobody from writing', async () => {
    const file = freshFile();
    const plain = new BetterSqlite3(file);
    plain.pragma('journal_mode = DELETE');
    plain.close();
    const store = freshLedger(file, { synchronous: 'normal' });
    const asks = Array.from({ length: 700 }, (_, index) => reserveOf([{ name: `user-${index}`, limit: null }]));
    await Promise.all(asks.map((ask) => store.reserve(ask)));
    let isDone = false;
    const audit = store.audit(START_MS).finally(() => {
      isDone = true;
    });
    while (!isDone) await reserved(store, reserveOf([{ limit: null }]));
    expect(value(await audit)).toMatchObject({ sound: true });
  });
});

describe('checksums', () => {
  test('whatever texts an entry holds, it is what was written', async () => {
    const file = freshFile();
    const store = freshLedger(file);
    const texts = ['half \ud83d a llama', 'nothing \0 at all', '🦙'.repeat(50), '\ufffd', '"\\', ''];
    for (const text of texts) {
      const ask = reserveOf([{ limit: null }], { key: `key ${text}`, owner: text });
      await reserved(store, { ...ask, detail: { ...ask.detail, model: text, callId: text } });
      value(await store.resolve(settleOf(ask, 5, { reason: text })));
    }
    value(await store.grant(grantOf(5, lineOf(), { reason: 'half \ud83d' })));
    await expectSound(store);
    const raw = new BetterSqlite3(file, { readonly: true });
    onTestFinished(() => void raw.close());
    expect(raw.prepare('SELECT count(*) FROM ledger_journal WHERE checksum IS NULL').pluck().get()).toBe(0);
  });
});

test('a ledger of the version before: its entries have no checksum, its keys are kept, and it goes on', async () => {
  const home = freshHome();
  const old = new BetterSqlite3(home.databaseFile);
  const before = migrations.findIndex((step) => step.includes('ADD COLUMN follows'));
  for (const step of migrations.slice(0, before)) old.exec(step);
  old.pragma(`user_version = ${before}`);
  const asks = ['settled', 'voided', 'open'].map((key) => reserveOf([{ limit: null, amount: 5 }], { key }));
  asks.forEach((ask, index) =>
    old.exec(`${oldReserve(ask, index + 1)}; INSERT INTO ledger_holds VALUES (${index + 1}, 1)`),
  );
  old.exec(`${oldEnd('settle', 1, 4, 5)}; ${oldEnd('void', 2, 5, 0)}; DELETE FROM ledger_holds WHERE seq < 3`);
  const { account, key, endsAtMs } = lineOf();
  old.exec(`INSERT INTO ledger_accounts VALUES (1, '${key}', 'simulated', 'acme', 'user', 'ada', 'day', '${account.period}',
    'tokens', ${endsAtMs}, 'UTC', '[80]', NULL, NULL, 0, 5, 5, 0, '[]', 1)`);
  old.close();

  value(openStore({ home, clock })).store.close();
  const store = freshLedger(home.databaseFile);
  await expectSound(store);
  const again = (of: ReserveAsk | undefined): ReserveAsk =>
    reserveOf([{ limit: null, amount: 5 }], { key: of?.key ?? '' });
  expect(await reserved(store, again(asks[0]))).toMatchObject({ repeated: true, reservation: { id: asks[0]?.id } });
  expect((await reserved(store, again(asks[1]))).repeated).toBe(false);
  expect(await reserved(store, again(asks[2]))).toMatchObject({ repeated: true, reservation: { state: 'open' } });
  value(await store.resolve(forfeitOf(asks[2] ?? reserveOf())));
  expect(value(await store.audit(START_MS))).toMatchObject({ sound: true, entries: 7, openHolds: 1 });
});

const oldLines = (amount: number): string => `[["${lineOf().key}","tokens",${amount},0]]`;

function oldReserve(ask: ReserveAsk, seq: number): string {
  return `INSERT INTO ledger_journal (seq, at_ms, operation, book, reservation_id, key, owner, tenant, user, model, lines,
    input_tokens, output_tokens, reason, expires_at_ms, detail) VALUES (${seq}, ${ask.atMs}, 'reserve', 'simulated',
    '${ask.id}', '${ask.key}', 'o', 'acme', 'ada', 'm', '${oldLines(5)}', 5, 0, '', 1, '${JSON.stringify(ask.detail)}')`;
}

function oldEnd(operation: string, resolves: number, seq: number, amount: number): string {
  return `INSERT INTO ledger_journal (seq, at_ms, operation, book, reservation_id, resolves, key, owner, tenant, lines,
    input_tokens, output_tokens, nano_dollars, source, reason) SELECT ${seq}, at_ms, '${operation}', book, reservation_id,
    seq, key, owner, tenant, '${oldLines(amount)}', 5, 0, 0, 'reported', '' FROM ledger_journal WHERE seq = ${resolves}`;
}
