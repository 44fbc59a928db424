/**
 * A child process and all that it started, as far as the platform shows it: how much memory they hold together, and how they are
 * ended. A process that left its group is found by who started it, and known again by when it began.
 */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Tells a process from a later one with the same number; '' where the platform does not say. */
  readonly began: string;
  readonly bytes: number;
}

export interface ProcessFamily {
  /**
   * Bytes of memory of all of them; null = the platform does not say. Also takes note of who belongs to them. What was seen at
   * most `ageMs` ago, for whomever, will do.
   */
  look(ageMs: number): Promise<number | null>;
  /** To the group and to everybody of them that was seen in the last look. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** As of the last look: nobody of them is left. */
  isGone(): boolean;
}

export function familyOf(pid: number): ProcessFamily {
  /** By number: when it began. */
  let seen = new Map<number, string>();
  let hasGroup = true;
  let isKnown = false;
  return {
    async look(ageMs) {
      const rows = await processTable(ageMs);
      isKnown = rows !== null;
      if (rows === null) return null;
      // Numbers are used again: who is not there any more, or began later, is not ours.
      const members = membersOf(rows, pid, seen).slice(0, SEEN_MAX);
      seen = new Map(members.map((member) => [member.pid, member.began]));
      hasGroup = members.some(({ group }) => group === pid);
      return members.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    signal(signal) {
      if (hasGroup) send(process.platform === 'win32' ? pid : -pid, signal);
      for (const member of seen.keys()) send(member, signal);
    },
    isGone: () => (isKnown ? seen.size === 0 : !isAlive(process.platform === 'win32' ? pid : -pid)),
  };
}

const SEEN_MAX = 10_000;

function membersOf(rows: readonly ProcessRow[], root: number, seen: ReadonlyMap<number, string>): ProcessRow[] {
  const isOurs = ({ pid, group, began }: ProcessRow): boolean =>
    seen.has(pid) ? seen.get(pid) === began : group === root;
  const members = new Set(rows.filter(isOurs).map(({ pid }) => pid));
  for (let found = true; found;) {
    found = false;
    for (const { pid, parent } of rows) {
      if (members.has(pid) || !members.has(parent)) continue;
      members.add(pid);
      found = true;
    }
  }
  return rows.filter(({ pid }) => members.has(pid));
}

let table: { readonly at: number; readonly rows: Promise<ProcessRow[] | null> } | null = null;

/** Every server looks at the same table. */
function processTable(ageMs: number): Promise<ProcessRow[] | null> {
  if (table === null || performance.now() - table.at > ageMs) {
    table = { at: performance.now(), rows: readTable().catch(() => null) };
  }
  return table.rows;
}

function readTable(): Promise<ProcessRow[] | null> {
  if (process.platform === 'linux') return readProc();
  return process.platform === 'win32' ? Promise.resolve(null) : readPs();
}

async function readProc(): Promise<ProcessRow[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(names.map((name) => readOne(Number(name))));
  return rows.filter((row) => row !== null);
}

/** Fields of /proc/PID/stat after the name in brackets: state, parent, group, …, 19th start time, 21st resident pages. */
async function readOne(pid: number): Promise<ProcessRow | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return null;
    const [parent, group] = [Number(fields[1]), Number(fields[2])];
    return { pid, parent, group, began: fields[19] ?? '', bytes: Number(fields[21]) * PAGE_BYTES };
  } catch {
    return null;
  }
}

/** On machines with larger pages the sum comes out too small there, never too large. */
const PAGE_BYTES = 4_096;

async function readPs(): Promise<ProcessRow[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,pgid=,rss=,lstart='], {
    maxBuffer: 16_000_000,
    timeout: 5_000,
  });
  return parsePs(stdout);
}

/** Lines of `ps -axo pid=,ppid=,pgid=,rss=,lstart=`; memory in kilobytes. */
export function parsePs(text: string): ProcessRow[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S.*)$/.exec(line);
    if (match === null) return [];
    const [pid, parent, group, kilobytes] = match.slice(1, 5).map(Number);
    return [
      { pid: pid ?? 0, parent: parent ?? 0, group: group ?? 0, began: match[5] ?? '', bytes: (kilobytes ?? 0) * 1_024 },
    ];
  });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
