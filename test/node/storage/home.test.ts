import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openHome } from '../../../shared/node/storage/home.ts';
import { freshFolder, value } from './samples.ts';

describe('the data folder', () => {
  test('is the flag before SPILLWAY_HOME, and is made for the owner only', () => {
    const folder = freshFolder();
    const flag = join(folder, 'a', 'b');
    const variable = join(folder, 'c');
    expect(value(openHome({ flag, environment: { SPILLWAY_HOME: variable } }))).toEqual({
      folder: flag,
      source: 'flag',
      databaseFile: join(flag, 'spillway.sqlite'),
      logsFolder: join(flag, 'logs'),
    });
    expect(value(openHome({ environment: { SPILLWAY_HOME: variable } }))).toMatchObject({
      folder: variable,
      source: 'SPILLWAY_HOME',
    });
    expect(value(openHome({ flag: ' ', environment: { SPILLWAY_HOME: variable } })).source).toBe('SPILLWAY_HOME');
    if (process.platform !== 'win32') expect(statSync(flag).mode & 0o777).toBe(0o700);
  });

  test('an existing folder keeps its mode', () => {
    const folder = join(freshFolder(), 'open');
    mkdirSync(folder, { mode: 0o755 });
    value(openHome({ flag: folder, environment: {} }));
    if (process.platform !== 'win32') expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test.each(['here', 'here/below'])(
    'a file in its place (%s) is a refusal that names the field and the next step',
    (name) => {
      const folder = freshFolder();
      writeFileSync(join(folder, 'here'), '');
      const flag = join(folder, name);
      expect(openHome({ flag, environment: {} })).toEqual({
        ok: false,
        denial: {
          code: 'storage-failed',
          message: `The data folder ${flag} cannot be used: a file stands in its place.`,
          field: '--home',
          next: 'Give another folder with --home.',
        },
      });
      expect(openHome({ environment: { SPILLWAY_HOME: flag } })).toMatchObject({
        denial: { field: 'SPILLWAY_HOME', next: 'Set SPILLWAY_HOME to a folder that you can write.' },
      });
    },
  );

  test.runIf(process.platform === 'linux')('where nothing can be made it says so', () => {
    expect(openHome({ environment: { SPILLWAY_HOME: '/proc/spillway' } })).toMatchObject({
      ok: false,
      denial: { code: 'storage-failed' },
    });
  });

  test('a leading ~ is the home folder of the account', () => {
    const name = `~/${'x'.repeat(300)}`;
    const opened = openHome({ environment: { SPILLWAY_HOME: name } });
    expect(opened).toMatchObject({
      denial: { message: `The data folder ${join(homedir(), name.slice(2))} cannot be used: its name is too long.` },
    });
  });
});
