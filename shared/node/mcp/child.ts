/**
 * A server as a child process, with its bounds: a clean environment, a group of its own, so much memory, no network where that
 * was said, and no more on its streams than can be held. Whatever ends it ends all that it started.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServer } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { createLines } from './lines.ts';
import { isProgram, withParent, withoutNetwork } from './launch.ts';
import { type ProcessFamily, familyOf } from './process-family.ts';

export type LocalServer = Extract<McpServer, { command: string }>;

export interface ChildPorts {
  /** One line of stdout, without its end. */
  onLine(line: string): void;
  /** It has ended, or was ended: why, in words. Comes once. */
  onEnd(why: string): void;
}

export interface Child {
  readonly pid: number;
  /** Refused by throwing: the child has ended, or does not read. */
  write(text: string): void;
  /** Ends it because of what it did. */
  end(why: string): void;
  /** Ends it and all that it started: stdin, then SIGTERM, then SIGKILL. Resolves when they are gone. */
  close(): Promise<void>;
  /** What it last wrote to stderr, for a person. */
  lastWords(): string;
}

/** Why it ended where nothing but us ended it. */
export const CLOSED = 'it was closed';
export const MESSAGE_BYTES_MAX = 64 * 1024 ** 2;
const STDERR_BYTES_MAX = 64 * 1024 ** 2;
const STDERR_KEPT = 2_000;
const UNREAD_BYTES_MAX = 16 * 1024 ** 2;
const LOOK_MS = 500;
/** Clients that start us give us two seconds to end, and that has to do for what we started. */
const GRACE_MS = 700;
const KILL_MS = 5_000;
const POLL_MS = 60;
const LAST_LINES_MS = 300;

export async function startChild(server: LocalServer, ports: ChildPorts): Promise<Result<Child>> {
  const before = server.network ? [] : await withoutNetwork();
  if (before === null) {
    return denied('unsupported', 'The server may not use the network, and this machine cannot take it away.', {
      next: 'Allow it the network, or run on a Linux that lets programs have a network of their own.',
    });
  }
  const cwd = server.cwd ?? (await mkdtemp(join(tmpdir(), 'spillway-mcp-')));
  const cleanUp = async (): Promise<void> => {
    if (server.cwd === undefined) await rm(cwd, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  };
  if (server.cwd !== undefined && !(await isFolder(server.cwd))) {
    return denied('bad-input', `There is no folder ${server.cwd}.`, { field: 'cwd', next: 'Give one that is there.' });
  }
  const env = { ...basicEnvironment(), ...server.env };
  const wrap = [...before, ...(await withParent())];
  if (wrap.length > 0 && !(await isProgram(server.command, { path: env['PATH'] ?? '', cwd }))) {
    await cleanUp();
    return noProgram(server.command);
  }
  const [command = '', ...args] = [...wrap, server.command, ...server.args];
  const spawned = await spawnOne(command, args, { cwd, env });
  if (!spawned.ok) {
    await cleanUp();
    return spawned;
  }
  return ok(watch(spawned.value, server.memoryMegabytesMax, cleanUp, ports));
}

function watch(process_: Running, megabytesMax: number, cleanUp: () => Promise<void>, ports: ChildPorts): Child {
  const { pid, stdin, stdout, stderr } = process_;
  const family = familyOf(pid);
  families.add(family);
  let ended = false;
  let closing: Promise<void> | null = null;
  let lastWords = '';
  let stderrBytes = 0;

  const finish = (why: string): void => {
    if (ended) return;
    ended = true;
    clearInterval(looking);
    ports.onEnd(why);
    void close();
  };
  const looking = setInterval(() => {
    void family.look(LOOK_MS / 2).then((bytes) => {
      if (bytes !== null && bytes > megabytesMax * 1024 ** 2) {
        family.signal('SIGKILL');
        finish(`it used more than ${megabytesMax} MB of memory`);
      }
    });
  }, LOOK_MS);
  looking.unref();

  const lines = createLines(MESSAGE_BYTES_MAX, (line) => {
    if (!ended) ports.onLine(line);
  });
  stdout.on('data', (chunk: Buffer) => {
    if (!ended && !lines.add(chunk)) finish(`it sent a message of more than ${MESSAGE_BYTES_MAX / 1024 ** 2} MB`);
  });
  stderr.on('data', (chunk: Buffer) => {
    stderrBytes += chunk.length;
    lastWords = `${lastWords}${chunk.subarray(-STDERR_KEPT).toString('utf8')}`.slice(-STDERR_KEPT);
    if (stderrBytes > STDERR_BYTES_MAX) finish(`it wrote more than ${STDERR_BYTES_MAX / 1024 ** 2} MB to stderr`);
  });
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  process_.on('exit', (code, signal) => {
    const why = signal === null ? `it ended with code ${code ?? '?'}` : `it was ended by ${signal}`;
    // What it wrote last may still be on its way; a stream that a child of its own holds open is not waited for.
    const late = setTimeout(() => finish(why), LAST_LINES_MS);
    process_.once('close', () => {
      clearTimeout(late);
      finish(why);
    });
  });

  async function close(): Promise<void> {
    closing ??= endFamily(process_, family).then(async () => {
      families.delete(family);
      await cleanUp();
    });
    return closing;
  }

  return {
    pid,
    write(text) {
      if (ended) throw new Error('the server has ended');
      if (stdin.writableLength > UNREAD_BYTES_MAX) throw new Error('the server does not read what it is sent');
      stdin.write(text);
    },
    end: finish,
    async close() {
      finish(CLOSED);
      await close();
    },
    lastWords: () => lastWords,
  };
}

/** A server that reads the end of stdin leaves by itself; the others are asked once, and then not asked. */
async function endFamily(process_: Running, family: ProcessFamily): Promise<void> {
  await family.look(0);
  process_.stdin.end();
  if (!(await isGoneWithin(family, GRACE_MS))) {
    family.signal('SIGTERM');
    if (!(await isGoneWithin(family, GRACE_MS))) {
      family.signal('SIGKILL');
      // One that forks as fast as it is killed is killed again.
      const untilMs = performance.now() + KILL_MS;
      while (!(await isGoneWithin(family, POLL_MS)) && performance.now() < untilMs) family.signal('SIGKILL');
    }
  }
  for (const stream of [process_.stdin, process_.stdout, process_.stderr]) stream.destroy();
}

async function isGoneWithin(family: ProcessFamily, limitMs: number): Promise<boolean> {
  const untilMs = performance.now() + limitMs;
  do {
    await family.look(POLL_MS / 2);
    if (family.isGone()) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  } while (performance.now() < untilMs);
  return false;
}

/** What is still running when this process ends goes with it, as far as there is time for a signal. */
const families = new Set<ProcessFamily>();
process.on('exit', () => {
  for (const family of families) family.signal('SIGKILL');
});

type Running = ChildProcess & {
  readonly pid: number;
  readonly stdin: NonNullable<ChildProcess['stdin']>;
  readonly stdout: NonNullable<ChildProcess['stdout']>;
  readonly stderr: NonNullable<ChildProcess['stderr']>;
};

function spawnOne(
  command: string,
  args: readonly string[],
  about: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<Result<Running>> {
  return new Promise((resolve) => {
    const isWindows = process.platform === 'win32';
    const no = (error: unknown): void => resolve(notStarted(command, error));
    try {
      const child = spawn(command, args, { ...about, stdio: 'pipe', detached: !isWindows, windowsHide: true });
      child.once('error', no);
      child.once('spawn', () => resolve(ok(child as Running)));
    } catch (error) {
      // A NUL in an argument or in the environment.
      no(error);
    }
  });
}

function notStarted(command: string, error: unknown): Result<never> {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT') return noProgram(command);
  const reason = error instanceof Error ? error.message : String(error);
  return denied('not-allowed', `${command} could not be started: ${reason}.`, {
    field: 'command',
    next: 'Look at the command and its rights.',
  });
}

const noProgram = (command: string): Result<never> =>
  denied('not-found', `There is no program ${command}.`, {
    field: 'command',
    next: 'Install it, or give its whole path.',
  });

/** Where programs are, who runs them and in which language; nothing else of this process is handed on. */
function basicEnvironment(): Record<string, string> {
  return Object.fromEntries(
    BASIC_NAMES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
}

const BASIC_NAMES =
  process.platform === 'win32'
    ? [
        ...['APPDATA', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PATHEXT', 'PROCESSOR_ARCHITECTURE'],
        ...['SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'PROGRAMFILES', 'COMSPEC'],
      ]
    : ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
