import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { ExportOptions } from '../../../shared/contract/experiments.ts';
import type { LedgerEntry } from '../../../shared/contract/ledger.ts';
import { DEFAULT_DIRECTORY } from '../../../shared/contract/plans.ts';
import type { LedgerStore } from '../../../shared/engine/ledger/store.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import { createChunkedExports } from '../../../shared/node/csv/chunked-exports.ts';
import { balanceColumns, journalColumns, reservationColumns } from '../../../shared/node/csv/ledger-columns.ts';
import { type LedgerTable, ledgerExport } from '../../../shared/node/ledger/ledger-export.ts';
import { value } from '../storage/samples.ts';
import { START_MS, forfeitOf, goldenLines, grantOf, lineOf, reserveOf, settleOf } from './asks.ts';

const csv: ExportOptions = { format: 'csv', profile: 'machine', separator: ',', decimalMark: '.' };

async function textOf(store: LedgerStore, what: LedgerTable, options = csv): Promise<string> {
  const parts = { store, directory: () => DEFAULT_DIRECTORY };
  const { lines } = ledgerExport(parts, { what, book: 'simulated', atMs: START_MS, options });
  let text = '';
  for await (const one of lines) text += one;
  return text;
}

const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true }) as never;

/** ada is settled, grace forfeited, linus open; ada has a grant; `=cmd` is somebody's name. */
async function filled(): Promise<LedgerStore> {
  const store = createMemoryStore({ nowMs: () => START_MS });
  const [ada, grace, linus] = [
    reserveOf(goldenLines('ada'), { id: 'r-ada' }),
    reserveOf(goldenLines('grace'), { id: 'r-grace' }),
    reserveOf([{ name: '=cmd' }], { id: 'r-linus', owner: '@owner' }),
  ];
  for (const ask of [ada, grace, linus]) value(await store.reserve(ask));
  value(await store.resolve(settleOf(ada, 2_073)));
  value(await store.resolve(forfeitOf(grace)));
  value(await store.grant(grantOf(500, lineOf(), { reason: '-1 for the workshop' })));
  return store;
}

describe('tables', () => {
  test('journal: newest first, a row for each account, names and reasons that are no formulas', async () => {
    const text = await textOf(await filled(), 'journal');
    expect(text.split('\r\n')[0]).toBe(journalColumns.map((column) => column.name).join(','));
    const rows = rowsOf(text);
    expect(
      rows.map(({ seq, operation, line, scope, amount }) => [seq, operation, line, scope, amount].join(' ')),
    ).toEqual([
      '6 grant 1 user 500',
      '5 forfeit 1 user 2434',
      '5 forfeit 2 tenant 2434',
      '4 settle 1 user 2073',
      '4 settle 2 tenant 2073',
      '3 reserve 1 user 2434',
      '2 reserve 1 user 2434',
      '2 reserve 2 tenant 2434',
      '1 reserve 1 user 2434',
      '1 reserve 2 tenant 2434',
    ]);
    expect(rows[4]).toEqual({
      seq: '4',
      at: '2026-11-14T22:44:03.000Z',
      operation: 'settle',
      book: 'simulated',
      simulated: 'true',
      reservation_id: 'r-ada',
      key: 'key-r-ada',
      owner: 'home-1/start-1',
      tenant: 'acme',
      user: 'ada',
      model: 'llama3.2:3b',
      line: '2',
      scope: 'tenant',
      scope_name: 'acme',
      window: 'month',
      period: '2026-11',
      unit: 'tokens',
      amount: '2073',
      overrun: '0',
      account: 'simulated:acme:tenant:acme:month:2026-11:tokens',
      input_tokens: '2034',
      output_tokens: '39',
      charge_source: 'reported',
      reason: '',
    });
    expect([rows[0]?.['reason'], rows[5]?.['scope_name'], rows[5]?.['owner']]).toEqual([
      "'-1 for the workshop",
      "'=cmd",
      "'@owner",
    ]);
  });

  test('balances: with what the plans say now', async () => {
    const rows = rowsOf(await textOf(await filled(), 'balances'));
    expect(Object.keys(rows[0] ?? {})).toEqual(balanceColumns.map((column) => column.name));
    expect(rows.find((row) => row['scope_name'] === 'ada')).toEqual({
      book: 'simulated',
      simulated: 'true',
      tenant: 'acme',
      scope: 'user',
      scope_name: 'ada',
      window: 'day',
      period: '2026-11-14',
      time_zone: 'UTC',
      ends_at: '2026-11-15T00:00:00.000Z',
      unit: 'tokens',
      limit: '6500',
      granted: '500',
      spent: '2073',
      held: '0',
      free: '4427',
      overrun: '0',
      alerts_percent: '80',
      alerts_raised_percent: '',
      account: 'simulated:acme:user:ada:day:2026-11-14:tokens',
    });
    expect(rows.map((row) => row['held']).sort()).toEqual(['0', '0', '0', '2434']);
  });

  test('reservations: open ones first, empty where nothing is charged yet', async () => {
    const rows = rowsOf(await textOf(await filled(), 'reservations'));
    expect(Object.keys(rows[0] ?? {})).toEqual(reservationColumns.map((column) => column.name));
    expect(
      rows.map(({ reservation_id: id, state, charged_input_tokens: charged, charge_source: source, closed_at: at }) => [
        id,
        state,
        charged,
        source,
        at,
      ]),
    ).toEqual([
      ['r-linus', 'open', '', '', ''],
      ['r-grace', 'forfeited', '2034', 'reserved', '2026-11-14T22:44:03.000Z'],
      ['r-ada', 'settled', '2034', 'reported', '2026-11-14T22:44:03.000Z'],
    ]);
    expect(rows[2]?.['accounts']?.split(' | ')).toHaveLength(2);
  });

  test.each(['journal', 'balances', 'reservations'] as const)('%s: JSON has the rows of the CSV', async (what) => {
    const store = await filled();
    const [text, json] = [await textOf(store, what), await textOf(store, what, { ...csv, format: 'json' })];
    const rows = JSON.parse(json) as Record<string, unknown>[];
    expect(rows.map((row) => Object.keys(row))).toEqual(rowsOf(text).map((row) => Object.keys(row)));
  });

  test.each(['journal', 'balances', 'reservations'] as const)('%s of an empty book', async (what) => {
    const store = createMemoryStore({ nowMs: () => START_MS });
    expect((await textOf(store, what)).split('\r\n')).toHaveLength(2);
    expect(await textOf(store, what, { ...csv, format: 'json' })).toBe('[]\n');
  });

  test('spreadsheets get their BOM once', async () => {
    const text = await textOf(await filled(), 'journal', { ...csv, profile: 'spreadsheet', separator: ';' });
    expect([text.startsWith('\ufeffseq;at;'), text.split('\ufeff').length]).toEqual([true, 2]);
  });
});

/** A journal of so many entries that makes each when it is asked for, and says how it was asked. */
function endless(count: number): { store: LedgerStore; asked: { beforeSeq: number | null; limit: number }[] } {
  const asked: { beforeSeq: number | null; limit: number }[] = [];
  const line = lineOf();
  const entryOf = (seq: number): LedgerEntry => ({
    seq,
    at: '2026-11-14T22:44:02.000Z',
    operation: 'reserve',
    book: 'simulated',
    reservationId: `r${seq}`,
    key: `k${seq}`,
    owner: 'home/start',
    tenant: 'acme',
    user: 'ada',
    model: 'llama3.2:3b',
    lines: [{ account: line.key, unit: 'tokens', amount: 2_434, overrun: 0 }],
    inputTokens: 2_034,
    outputTokens: 400,
    source: null,
    reason: '',
  });
  const store = {
    ...createMemoryStore({ nowMs: () => START_MS }),
    entries: async ({ beforeSeq = null, limit }: { beforeSeq?: number | null; limit: number }) => {
      asked.push({ beforeSeq, limit });
      const newest = Math.min(count, (beforeSeq ?? count + 1) - 1);
      return ok(Array.from({ length: Math.min(limit, newest) }, (_, index) => entryOf(newest - index)));
    },
  } as LedgerStore;
  return { store, asked };
}

describe('a long journal', () => {
  test('every entry once, read page by page from below the last one, and only as far as it is read', async () => {
    const { store, asked } = endless(120_000);
    const exports = createChunkedExports();
    const opened = value(
      exports.open(
        ledgerExport(
          { store, directory: () => DEFAULT_DIRECTORY },
          { what: 'journal', book: 'simulated', atMs: START_MS, options: csv },
        ),
      ),
    );
    expect(opened).toEqual({
      exportId: opened.exportId,
      name: 'spillway-ledger-journal-2026-11-14-224402-simulated.csv',
      mime: 'text/csv; charset=utf-8',
      rows: null,
    });
    expect(asked).toHaveLength(0);
    const first = value(await exports.read(opened.exportId));
    const pagesOfAChunk = asked.length;
    expect(pagesOfAChunk).toBeLessThan(10);
    let rest = first.chunk;
    let expected = 120_000;
    let longest = 0;
    for (let chunk = first; ; chunk = value(await exports.read(opened.exportId))) {
      if (chunk !== first) rest += chunk.chunk;
      longest = Math.max(longest, chunk.chunk.length);
      const lines = rest.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('seq,')) continue;
        if (!line.startsWith(`${expected},`)) throw new Error(`after ${expected + 1} comes ${line.slice(0, 40)}`);
        expected -= 1;
      }
      if (chunk.done) break;
    }
    expect([expected, rest]).toEqual([0, '']);
    expect(longest).toBeLessThan(500_000);
    expect(asked.every(({ limit }) => limit <= 1_000)).toBe(true);
  });

  test('two that read one export at once get different chunks', async () => {
    const { store } = endless(20_000);
    const exports = createChunkedExports();
    const source = ledgerExport(
      { store, directory: () => DEFAULT_DIRECTORY },
      { what: 'journal', book: 'simulated', atMs: START_MS, options: csv },
    );
    const { exportId } = value(exports.open(source));
    const chunks = await Promise.all([exports.read(exportId), exports.read(exportId)]);
    const text = chunks.map((chunk) => value(chunk).chunk).join('');
    const seqs = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => Number(line.split(',')[0]));
    expect(seqs).toEqual(seqs.map((_, index) => 20_000 - index));
  });
});

test('entries of several tenants may have one number: each is given once, also where a page ends between them', async () => {
  // Like the journals of a Redis: three tenants, every number three times.
  const { store } = endless(3_000);
  const tenants = ['acme', 'globex', 'initech'];
  const shared = {
    ...store,
    entries: async (query: Parameters<LedgerStore['entries']>[0]) => {
      const found = value(await store.entries({ ...query, limit: query.limit }));
      return ok(found.flatMap((entry) => tenants.map((tenant) => ({ ...entry, tenant }))).slice(0, query.limit));
    },
  } as LedgerStore;
  const rows = rowsOf(await textOf(shared, 'journal'));
  expect(rows).toHaveLength(9_000);
  expect(new Set(rows.map((row) => `${row['seq']} ${row['tenant']}`)).size).toBe(9_000);
});

test('a store that fails in the middle ends the export with its refusal', async () => {
  const { store } = endless(100_000);
  let pages = 0;
  const failing = {
    ...store,
    entries: async (query: Parameters<LedgerStore['entries']>[0]) =>
      (pages += 1) > 12 ? denied('ledger-unavailable', 'Redis does not answer.') : store.entries(query),
  } as LedgerStore;
  const exports = createChunkedExports();
  const source = ledgerExport(
    { store: failing, directory: () => DEFAULT_DIRECTORY },
    { what: 'journal', book: 'simulated', atMs: START_MS, options: csv },
  );
  const { exportId } = value(exports.open(source));
  let read = await exports.read(exportId);
  while (read.ok && !read.value.done) read = await exports.read(exportId);
  expect(read).toMatchObject({ ok: false, denial: { code: 'ledger-unavailable' } });
  expect(await exports.read(exportId)).toMatchObject({ ok: false, denial: { code: 'not-found' } });
});
