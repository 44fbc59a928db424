/** Starting a program where there is no network: a namespace of its own, on Linux. Where that cannot be done nothing is started. */
import { execFile } from 'node:child_process';

/** What stands before the command; null = this machine cannot do it. Tried once in a process. */
export function withoutNetwork(): Promise<readonly string[] | null> {
  known ??= find();
  return known;
}

let known: Promise<readonly string[] | null> | null = null;

/**
 * The first two also give a user namespace: a program in it has no rights over the machine's own network, so that it cannot go
 * back there, not even as root.
 */
const WAYS: readonly (readonly string[])[] = [
  ['unshare', '--map-current-user', '--net', '--'],
  ['unshare', '--map-root-user', '--net', '--'],
];

async function find(): Promise<readonly string[] | null> {
  if (process.platform !== 'linux') return null;
  for (const way of WAYS) if (await works(way)) return way;
  return null;
}

/** It works when what is started in it sees no way out: a table of routes without an entry. */
function works([command = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, [...args, 'cat', '/proc/self/net/route'], { timeout: 5_000 }, (error, stdout) =>
      resolve(error === null && stdout.trim().split('\n').length <= 1),
    );
  });
}
