/**
 * The data folder: `--home`, else SPILLWAY_HOME, else the platform's place for application data. Made for the owner only,
 * since it holds prompts and answers.
 */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { denied, ok } from '../../contract/denials.ts';
import type { Denial, Result } from '../../contract/denials.ts';
import { systemCodeOf } from './failures.ts';

export interface Home {
  readonly folder: string;
  readonly source: 'flag' | 'SPILLWAY_HOME' | 'platform';
  readonly databaseFile: string;
  readonly logsFolder: string;
}

/** Finds the folder, makes it where it is missing, and proves that it can be written. */
export function openHome(
  ask: { readonly flag?: string | undefined; readonly environment?: NodeJS.ProcessEnv } = {},
): Result<Home> {
  const { folder, source } = homeFolder(ask.flag, ask.environment ?? process.env);
  const home: Home = {
    folder,
    source,
    databaseFile: join(folder, 'spillway.sqlite'),
    logsFolder: join(folder, 'logs'),
  };
  try {
    makeFolder(folder);
    if (!statSync(folder).isDirectory()) return notUsable(home, 'a file stands in its place');
    proveWritable(folder);
    return ok(home);
  } catch (error) {
    return notUsable(home, reasonOf(error));
  }
}

function homeFolder(flag: string | undefined, environment: NodeJS.ProcessEnv): Pick<Home, 'folder' | 'source'> {
  if (flag !== undefined && flag.trim() !== '') return { folder: absolute(flag), source: 'flag' };
  const variable = environment['SPILLWAY_HOME'];
  if (variable !== undefined && variable.trim() !== '') return { folder: absolute(variable), source: 'SPILLWAY_HOME' };
  return { folder: envPaths('Spillway', { suffix: '' }).data, source: 'platform' };
}

/** Desktop starters and unit files pass `~` on as it stands; only shells expand it. */
function absolute(folder: string): string {
  const trimmed = folder.trim();
  return /^~(?=$|[\\/])/.test(trimmed) ? join(homedir(), trimmed.slice(1)) : resolve(trimmed);
}

function proveWritable(folder: string): void {
  const probe = join(folder, `.write-check-${process.pid}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600 });
  } catch (error) {
    // On a full disk old runs can still be read; writes are refused one by one.
    if (!['ENOSPC', 'EDQUOT'].includes(systemCodeOf(error) ?? '')) throw error;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Level by level: mkdir's own `recursive` never returns where a parent is there but takes no folders (as in /proc). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another start made it in between.
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  }
}

function notUsable(home: Home, reason: string): { ok: false; denial: Denial } {
  const next =
    home.source === 'flag'
      ? 'Give another folder with --home.'
      : home.source === 'SPILLWAY_HOME'
        ? 'Set SPILLWAY_HOME to a folder that you can write.'
        : 'Set SPILLWAY_HOME to a folder that you can write, or give one with --home.';
  return denied('storage-failed', `The data folder ${home.folder} cannot be used: ${reason}.`, {
    field: home.source === 'flag' ? '--home' : 'SPILLWAY_HOME',
    next,
  });
}

function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'this account may not write there';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a file stands in its place';
    case 'ENAMETOOLONG':
      return 'its name is too long';
    case 'ENOENT':
      return 'it cannot be made there';
    case null:
      throw error;
    default:
      return `the system answered ${code}`;
  }
}
