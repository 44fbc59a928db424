/** How a start script finds out what can run here. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isOlderThanSources } from '../../scripts/builds.ts';
import { findElectron, hasDisplay } from '../../scripts/electron-binary.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-scripts-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const put = (path: string, text = ''): string => {
  const file = join(folder, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
};

describe('Electron is found by file', () => {
  test('not there', () => {
    expect(findElectron(folder, { platform: 'linux', environment: {} })).toBeNull();
    put('path.txt', 'electron');
    expect(findElectron(folder, { platform: 'linux', environment: {} })).toBeNull();
  });

  test.each([
    ['linux', 'electron'],
    ['win32', 'electron.exe'],
    ['darwin', 'Electron.app/Contents/MacOS/Electron'],
  ] as const)('%s', (platform, name) => {
    const file = put(`dist/${name}`);
    expect(findElectron(folder, { platform, environment: {} })).toBe(file);
  });

  test('where its note says, and where a person says', () => {
    const noted = put('dist/odd-name');
    put('path.txt', 'odd-name\n');
    expect(findElectron(folder, { platform: 'linux', environment: {} })).toBe(noted);
    const own = put('own/electron');
    expect(
      findElectron(folder, { platform: 'linux', environment: { ELECTRON_OVERRIDE_DIST_PATH: join(folder, 'own') } }),
    ).toBe(own);
    expect(
      findElectron(folder, {
        platform: 'linux',
        environment: { ELECTRON_OVERRIDE_DIST_PATH: join(folder, 'nowhere') },
      }),
    ).toBeNull();
  });

  test('a Linux needs a display', () => {
    expect(hasDisplay({ platform: 'linux', environment: {} })).toBe(false);
    expect(hasDisplay({ platform: 'linux', environment: { DISPLAY: ':0' } })).toBe(true);
    expect(hasDisplay({ platform: 'darwin', environment: {} })).toBe(true);
  });
});

describe('a build is made again', () => {
  const at = (file: string, seconds: number): void => {
    utimesSync(file, seconds, seconds);
  };
  const build = { config: 'x', result: 'dist/index.html', sources: ['source', 'lock.json', 'missing'] };

  test('when it is missing or anything it is made from is newer', () => {
    const source = put('source/deep/page.tsx');
    const lock = put('lock.json');
    const settle = (): void => {
      at(source, 100);
      at(lock, 100);
      for (const inner of ['source/deep', 'source']) at(join(folder, inner), 100);
    };
    settle();
    expect(isOlderThanSources(folder, build)).toBe(true);
    const result = put('dist/index.html');
    at(result, 200);
    expect(isOlderThanSources(folder, build)).toBe(false);
    at(source, 300);
    expect(isOlderThanSources(folder, build)).toBe(true);
    settle();
    at(lock, 300);
    expect(isOlderThanSources(folder, build)).toBe(true);
    settle();
    // A file that was taken away shows in its folder.
    at(join(folder, 'source/deep'), 300);
    expect(isOlderThanSources(folder, build)).toBe(true);
  });
});

describe('npm start', () => {
  test.each([
    [
      'no Electron',
      { DISPLAY: ':0' },
      'Electron is not installed (npx install-electron fetches it): Spillway opens in the browser instead.',
    ],
    ...(process.platform === 'linux'
      ? [
          [
            'no display',
            { DISPLAY: '', WAYLAND_DISPLAY: '' },
            'There is no display for the desktop window: Spillway opens in the browser instead.',
          ] as const,
        ]
      : []),
  ] as const)(
    'with %s says so in one line and goes on in the browser, with the same options',
    async (_what, environment, line) => {
      const start = fileURLToPath(new URL('../../scripts/start.ts', import.meta.url));
      const env = { ...process.env, ...environment, ELECTRON_OVERRIDE_DIST_PATH: join(folder, 'nowhere') };
      // Asked for help, the host needs no page: nothing is built for this.
      const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', start, '--help'], { env });
      expect(stdout.split('\n').slice(0, 2)).toEqual([line, 'Spillway in the browser.']);
    },
  );
});
