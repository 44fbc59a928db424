import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acquireLock, lockHolder } from '../../shared/node/storage/lock.ts';
import { freshFolder, value } from '../node/storage/samples.ts';
import { startChild } from './child.ts';

const mine = { pid: process.pid, host: 'test', url: null } as const;

describe('the lock of the data folder', () => {
  test('held by a living process: a second start is told who and where', async () => {
    const folder = freshFolder();
    const child = startChild('hold-lock', folder);
    expect(await child.line()).toBe('held');
    expect(acquireLock({ folder }, mine)).toEqual({
      ok: false,
      denial: {
        code: 'busy',
        message: `Spillway already runs here (pid ${child.pid}, http://127.0.0.1:11480).`,
        next: 'Open that address, or set SPILLWAY_HOME to another folder.',
      },
    });
    expect(lockHolder({ folder })).toEqual({ pid: child.pid, host: 'browser', url: 'http://127.0.0.1:11480' });
  });

  test('kill -9 of its holder frees it, whatever stands in lock.json', async () => {
    const folder = freshFolder();
    const child = startChild('hold-lock', folder);
    await child.line();
    await child.kill();
    // As if the number of the dead holder had been given to a process that lives: this one.
    writeFileSync(join(folder, 'lock.json'), JSON.stringify({ ...mine, host: 'browser' }));
    const lock = value(acquireLock({ folder }, mine));
    expect(lockHolder({ folder })).toEqual(mine);
    lock.release();
  });

  test('the same process cannot take it twice, and can after it was released', () => {
    const folder = freshFolder();
    const first = value(acquireLock({ folder }, mine));
    expect(acquireLock({ folder }, mine)).toMatchObject({
      ok: false,
      denial: { code: 'busy', next: 'Use that one, or set SPILLWAY_HOME to another folder.' },
    });
    first.release();
    first.release();
    first.update(mine);
    expect(lockHolder({ folder })).toBeNull();
    value(acquireLock({ folder }, mine)).release();
  });

  test('a holder without a readable lock.json is still a holder', async () => {
    const folder = freshFolder();
    const child = startChild('hold-lock', folder);
    await child.line();
    for (const text of ['', '{"pid":', '{"pid":"x"}', '[]']) {
      writeFileSync(join(folder, 'lock.json'), text);
      expect(acquireLock({ folder }, mine)).toMatchObject({
        denial: { code: 'busy', message: `Spillway already runs on the data folder ${folder}.` },
      });
    }
  });

  test('a lock file that is no database is made anew', () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'lock.sqlite'), 'no database at all, but long enough to look at it twice. '.repeat(20));
    value(acquireLock({ folder }, mine)).release();
  });

  test('a folder that is not there is a refusal, not a crash', () => {
    expect(acquireLock({ folder: join(freshFolder(), 'missing') }, mine)).toMatchObject({
      ok: false,
      denial: { code: 'storage-failed' },
    });
  });

  test('of many that start at once, one gets it', async () => {
    const folder = freshFolder();
    const children = Array.from({ length: 4 }, () => startChild('hold-lock', folder));
    const said = await Promise.all(children.map((child) => child.line()));
    expect(said.filter((line) => line === 'held')).toHaveLength(1);
    expect(said.filter((line) => line?.startsWith('refused Spillway already runs'))).toHaveLength(3);
  });
});

test('a lock.json that cannot be written does not stop the lock', () => {
  const folder = freshFolder();
  mkdirSync(join(folder, 'lock.json', 'in the way'), { recursive: true });
  const lock = value(acquireLock({ folder }, mine));
  expect(lockHolder({ folder })).toBeNull();
  expect(acquireLock({ folder }, mine)).toMatchObject({ denial: { code: 'busy' } });
  lock.release();
  value(acquireLock({ folder }, mine)).release();
});
