import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { CallId, CellKey, RunId } from '../../shared/contract/ids.ts';
import { useWal } from '../../shared/node/storage/database.ts';
import { storageDenial } from '../../shared/node/storage/failures.ts';
import type { Home } from '../../shared/node/storage/home.ts';
import { isMarkedClosed } from '../../shared/node/storage/integrity.ts';
import { schemaVersion } from '../../shared/node/storage/migrations.ts';
import { openStore } from '../../shared/node/storage/store.ts';
import { clock, freshHome, freshStore, samplePlan, sampleRecord, sampleRun, value } from '../node/storage/samples.ts';
import { startChild } from './child.ts';

const runId = 'run-1' as RunId;

describe('kill -9 in the middle of writes', () => {
  test('everything that was told is there, nothing is half there, and the run is marked interrupted', async () => {
    const home = freshHome();
    const child = startChild('write-calls', home.folder);
    let told = -1;
    while (told < 40) told = Number(await child.line());
    const rest = await child.kill();
    told = Number(rest.at(-1) ?? told);

    const opened = value(openStore({ home, clock }));
    expect(opened.notices).toEqual([]);
    const { store } = opened;
    const ids = new Set(store.calls({ runId, limit: 200_000 }).map((call) => call.id));
    for (let index = 0; index <= told; index += 1) expect(ids.has(`call-${index}` as CallId)).toBe(true);
    // At most the one that was stored and not yet told.
    expect(ids.size).toBeLessThanOrEqual(told + 2);
    expect(store.call(`call-${told}` as CallId)?.request.messages[0]?.content).toMatch(new RegExp(`days\\. ${told}$`));

    const cells = store.cells(runId);
    const done = cells.filter((cell) => cell.state === 'done');
    expect(store.run(runId)).toMatchObject({
      state: 'running',
      cellsDone: done.length,
      tokensEvaluated: 31 * done.length,
    });
    expect(value(store.interruptOpenRuns()).map((run) => [run.id, run.state])).toEqual([[runId, 'interrupted']]);
    expect(store.cells(runId).filter((cell) => cell.state === 'running')).toEqual([]);
    expect([...store.rows(runId)]).toHaveLength(done.length);
    store.close();
  });
});

describe('a damaged file is moved aside with a message, and never deleted', () => {
  /** A store with enough in it to have a middle; closed, so that all of it is in the one file. */
  function filledHome(): Home {
    const home = freshHome();
    const store = freshStore(home);
    value(
      store.openRun(
        sampleRun(),
        Array.from({ length: 300 }, (_, index) => samplePlan(index)),
      ),
    );
    for (let index = 0; index < 300; index += 1) {
      const change = { id: `call-${index}`, runId, cellKey: `cell-${index}` as CellKey };
      value(store.callClosed(sampleRecord({ ...change, reply: { answer: `answer ${index}`.repeat(20) } })));
    }
    store.close();
    expect(existsSync(`${home.databaseFile}-wal`)).toBe(false);
    return home;
  }

  const overwrite = (file: string, at: number, bytes: Buffer): void => {
    const all = readFileSync(file);
    bytes.copy(all, at);
    writeFileSync(file, all);
  };

  const damages: [string, (file: string) => void][] = [
    [
      '1 KB overwritten in the middle',
      (file) => overwrite(file, Math.floor(statSync(file).size / 2 / 4_096) * 4_096, Buffer.alloc(1_024, 0xa5)),
    ],
    ['a garbage header', (file) => overwrite(file, 0, Buffer.alloc(100, 0x5a))],
    ['the first half only', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['cut in the middle of a page', (file) => truncateSync(file, 4_096 * 3 + 100)],
    ['zero bytes', (file) => truncateSync(file, 0)],
    ['ten bytes', (file) => truncateSync(file, 10)],
    ['another kind of file', (file) => writeFileSync(file, '%PDF-1.7\n'.repeat(1_000))],
    ['zeros', (file) => writeFileSync(file, Buffer.alloc(20_000))],
  ];

  test.each(damages)('%s', (_name, damage) => {
    const home = filledHome();
    damage(home.databaseFile);
    const damaged = readFileSync(home.databaseFile);
    const opened = value(openStore({ home, clock }));
    const movedTo = opened.movedTo ?? '';
    expect(basename(movedTo)).toBe('spillway.damaged-2026-11-14T09-30-00Z.sqlite');
    expect(dirname(movedTo)).toBe(home.folder);
    expect(readFileSync(movedTo).equals(damaged)).toBe(true);
    expect(opened.notices).toHaveLength(1);
    expect(opened.notices[0]).toMatchObject({ level: 'error', next: expect.stringContaining('Keep the moved file') });
    expect(opened.notices[0]?.text).toContain(`It was moved to ${movedTo}, and a new one was made.`);
    expect(opened.store.runs()).toEqual([]);
    value(opened.store.openRun(sampleRun(), [samplePlan(0)]));
    opened.store.close();

    // The next start finds a sound file and says nothing; a second damage gets a name of its own.
    const again = value(openStore({ home, clock }));
    expect([again.notices, again.movedTo, again.store.runs().length]).toEqual([[], null, 1]);
    again.store.close();
    writeFileSync(home.databaseFile, 'again');
    const second = value(openStore({ home, clock }));
    expect(basename(second.movedTo ?? '')).toBe('spillway.damaged-2026-11-14T09-30-00Z-2.sqlite');
    second.store.close();
  });

  test('wherever 1 KB is overwritten, either the start notices or no wrong text is ever handed out', () => {
    const home = filledHome();
    const sound = readFileSync(home.databaseFile);
    const names = new Set<string>();
    for (let at = 0; at + 1_024 < sound.length; at += Math.max(1_024, Math.floor(sound.length / 40))) {
      writeFileSync(home.databaseFile, sound);
      overwrite(home.databaseFile, at, Buffer.alloc(1_024, 0xa5));
      const opened = value(openStore({ home, clock }));
      names.add(opened.movedTo === null ? 'sound' : 'moved');
      if (opened.movedTo === null) {
        // The kilobyte fell into unused room: all that was there is there.
        expect(opened.store.cells(runId)).toHaveLength(300);
        expect([...opened.store.rows(runId)].map((row) => row.answer)).toEqual(
          Array.from({ length: 300 }, (_, index) => `answer ${index}`.repeat(20)),
        );
      }
      opened.store.close();
    }
    expect(names).toContain('moved');
  });

  test('what belongs to the file goes along with it, and a log without its file is not played into a new one', () => {
    const home = filledHome();
    writeFileSync(home.databaseFile, 'damaged');
    writeFileSync(`${home.databaseFile}-wal`, 'the log');
    const opened = value(openStore({ home, clock }));
    expect(readFileSync(`${opened.movedTo}-wal`, 'utf8')).toBe('the log');
    opened.store.close();

    const open = freshHome();
    const store = freshStore(open);
    value(store.callClosed(sampleRecord()));
    const crashed = freshHome();
    const database = readFileSync(open.databaseFile).fill(0xa5, 4_096, 8_192);
    const log = readFileSync(`${open.databaseFile}-wal`);
    writeFileSync(crashed.databaseFile, database);
    writeFileSync(`${crashed.databaseFile}-wal`, log);
    const moved = value(openStore({ home: crashed, clock }));
    expect(readFileSync(moved.movedTo ?? '').equals(database)).toBe(true);
    expect(readFileSync(`${moved.movedTo}-wal`).equals(log)).toBe(true);
    moved.store.close();

    const other = freshHome();
    writeFileSync(`${other.databaseFile}-wal`, 'the log');
    const { store: fresh } = value(openStore({ home: other, clock }));
    expect(readdirSync(other.folder)).toContain('spillway.sqlite-orphan-wal');
    fresh.close();
  });

  test('a half-made database of a crashed first start is no damage', () => {
    const home = freshHome();
    writeFileSync(`${home.databaseFile}.new`, 'half');
    const opened = value(openStore({ home, clock }));
    expect([opened.notices, opened.movedTo]).toEqual([[], null]);
    opened.store.close();
    expect(existsSync(`${home.databaseFile}.new`)).toBe(false);
  });

  test('a torn end of the write-ahead log costs only what was not committed', () => {
    const home = freshHome();
    const store = freshStore(home);
    value(store.callClosed(sampleRecord()));
    const copy = freshHome();
    for (const suffix of ['', '-wal'])
      writeFileSync(`${copy.databaseFile}${suffix}`, readFileSync(`${home.databaseFile}${suffix}`));
    appendFileSync(`${copy.databaseFile}-wal`, Buffer.alloc(3_000, 0x77));
    const opened = value(openStore({ home: copy, clock }));
    expect(opened.movedTo).toBeNull();
    expect(opened.store.call('call-1' as CallId)).toEqual(sampleRecord());
    opened.store.close();
  });
});

test('a start reads everything, unless the file is the one that was closed in good order', () => {
  const home = freshHome();
  const store = freshStore(home);
  value(store.callClosed(sampleRecord()));
  // Open, or ended without a close: it is looked at.
  expect(isMarkedClosed(home.databaseFile)).toBe(false);
  store.close();
  expect(isMarkedClosed(home.databaseFile)).toBe(true);
  const again = freshStore(home);
  expect(isMarkedClosed(home.databaseFile)).toBe(false);
  again.close();
  appendFileSync(home.databaseFile, '');
  utimesSync(home.databaseFile, 1_700_000_000, 1_700_000_000);
  expect(isMarkedClosed(home.databaseFile)).toBe(false);
  expect(freshStore(home).calls()).toHaveLength(1);
});

test('a database from the future is a named refusal, and not a byte of it changes', () => {
  const home = freshHome();
  freshStore(home).close();
  const database = new BetterSqlite3(home.databaseFile);
  database.pragma(`user_version = ${schemaVersion + 1}`);
  database.close();
  const before = readFileSync(home.databaseFile);
  expect(openStore({ home, clock })).toEqual({
    ok: false,
    denial: {
      code: 'storage-newer',
      message: `${home.databaseFile} was made by a newer Spillway (version ${schemaVersion + 1}; this one knows up to ${schemaVersion}). It was left as it is.`,
      next: 'Update Spillway, or set SPILLWAY_HOME to another folder.',
    },
  });
  expect(readFileSync(home.databaseFile).equals(before)).toBe(true);
  expect(readdirSync(home.folder)).toEqual(['spillway.sqlite', 'spillway.sqlite-closed']);
});

test('a database that another program holds is refused as busy, and is there again afterwards', () => {
  const home = freshHome();
  const store = freshStore(home);
  const other = new BetterSqlite3(home.databaseFile);
  other.exec('BEGIN IMMEDIATE');
  expect(store.callClosed(sampleRecord())).toMatchObject({ ok: false, denial: { code: 'busy', retryAfterMs: 1_000 } });
  expect(store.calls()).toEqual([]);
  other.exec('COMMIT');
  expect(store.callClosed(sampleRecord()).ok).toBe(true);
  store.close();
  other.pragma('journal_mode = DELETE');
  other.exec('BEGIN EXCLUSIVE');
  expect(openStore({ home, clock })).toMatchObject({ ok: false, denial: { code: 'busy' } });
  other.close();
  expect(freshStore(home).calls()).toHaveLength(1);
});

test('a full disk refuses the write, keeps what was there, and takes the same record later', () => {
  const home = freshHome();
  const big = sampleRecord({ id: 'big', rawReply: randomBytes(300_000).toString('base64') });
  const full = value(openStore({ home, clock, fileBytesMax: 250_000 })).store;
  value(full.callClosed(sampleRecord()));
  for (const attempt of [1, 2]) {
    expect(full.callClosed(big), `attempt ${attempt}`).toMatchObject({
      ok: false,
      denial: { code: 'storage-full', message: expect.stringContaining('Nothing that was saved is lost.') },
    });
  }
  expect(full.putDocument({ name: 'x', text: big.rawReply })).toMatchObject({ denial: { code: 'storage-full' } });
  expect(full.call('call-1' as CallId)).toEqual(sampleRecord());
  expect(full.calls()).toHaveLength(1);
  value(full.callClosed(sampleRecord({ id: 'small' })));
  full.close();

  const store = freshStore(home);
  value(store.callClosed(big));
  expect(store.call('big' as CallId)).toEqual(big);
  expect(store.calls()).toHaveLength(3);
});

test('a file system without WAL gives a notice, not a failure', () => {
  const memory = new BetterSqlite3(':memory:');
  expect(useWal(memory)).toMatchObject({ level: 'warning', text: expect.stringContaining('(mode memory)') });
  memory.close();
});

test('an error that is none of the disk or of SQLite is a bug and is thrown on', () => {
  expect(() => storageDenial(new TypeError('x'), 'file')).toThrow(TypeError);
});
