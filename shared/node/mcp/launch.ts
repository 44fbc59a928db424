/** What stands before a server's command, so that it runs without network where that was said, and ends when we do. */
import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * A network of its own, empty; null = this machine cannot do it. The user namespace goes with it: a program in it has no rights
 * over the machine's own network, so that it cannot go back there, not even as root. Tried once in a process.
 */
export function withoutNetwork(): Promise<readonly string[] | null> {
  const ways = ['--map-current-user', '--map-root-user'].map((map) => ['unshare', map, '--net', '--']);
  // It works when what is started in it sees no way out: a table of routes without an entry.
  noNetwork ??= firstThatWorks(ways, ['cat', '/proc/self/net/route'], (text) => text.trim().split('\n').length <= 1);
  return noNetwork;
}

/**
 * The kernel ends it when we end, also when we are killed and can end nothing ourselves. Empty where the machine does not have
 * that: there a server still sees the end of its stdin.
 */
export async function withParent(): Promise<readonly string[]> {
  parentBound ??= firstThatWorks([['setpriv', '--pdeathsig', 'KILL', '--']], ['true'], () => true);
  return (await parentBound) ?? [];
}

/** Where a command is, by the PATH that it will have; false = nowhere. What stands before it would say so in its own words. */
export async function isProgram(
  command: string,
  about: { readonly path: string; readonly cwd: string },
): Promise<boolean> {
  const places = command.includes('/') ? [''] : about.path.split(delimiter);
  for (const place of places) {
    const file = command.startsWith('/') ? command : join(place === '' ? about.cwd : place, command);
    try {
      await access(file, constants.X_OK);
      if ((await stat(file)).isFile()) return true;
    } catch {
      // Not there: on to the next place.
    }
  }
  return false;
}

let noNetwork: Promise<readonly string[] | null> | null = null;
let parentBound: Promise<readonly string[] | null> | null = null;

async function firstThatWorks(
  ways: readonly (readonly string[])[],
  program: readonly string[],
  isRight: (stdout: string) => boolean,
): Promise<readonly string[] | null> {
  if (process.platform !== 'linux') return null;
  for (const way of ways) {
    const [command = '', ...args] = [...way, ...program];
    const works = await new Promise<boolean>((resolve) => {
      execFile(command, args, { timeout: 5_000 }, (error, stdout) => resolve(error === null && isRight(stdout)));
    });
    if (works) return way;
  }
  return null;
}
